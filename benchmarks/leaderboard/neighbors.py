"""Errors of 1 and of 5 nearest neighbors: learned from one half of a set, at defaults, and judged on the other.

Every contestant gets the same halves, with features standardized by the half that is learned from; one row is
for points as they come. A table of its own has gramlearn's default with one part switched off at a time.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import numpy as np
from experiments.experiment import Part, Result
from experiments.isolated import Package, call_isolated, limit_seconds, try_fit
from experiments.reproductions.shared.by_set import BySet, picture
from experiments.reproductions.shared.choosing import split_by_class
from tools import environments
from tools.neighbor_vote import vote

from benchmarks.leaderboard.board import Board
from benchmarks.leaderboard.fits import (
    DEFAULT,
    HERE,
    METRIC_LEARN,
    METRIC_LEARN_SDML,
    OURS,
    PLAIN,
    RAW,
    SWITCHED_OFF,
    learn_elsewhere,
)
from benchmarks.leaderboard.sets import SETS, load_set
from benchmarks.leaderboard.standing import join_groups, list_standing

_LIMIT = 60.0  # seconds of the processor for one fit
_COUNTS = (1, 5)  # neighbors that vote
_TOGETHER = 2  # draws in a part: a method that was too slow on the first is not tried on the second
# Raised when the fits of a group change, so that those of the others need not be run again.
_VERSIONS = {"scikit-learn": 1, "gramlearn": 1, "switched off": 3, "metric-learn": 3, "SDML": 1}
_HERE = {"scikit-learn": HERE, "gramlearn": DEFAULT, "switched off": SWITCHED_OFF}
_ELSEWHERE = {
    "metric-learn": (METRIC_LEARN, Package("metric_learn", environments.METRIC_LEARN)),
    "SDML": (METRIC_LEARN_SDML, Package("metric_learn", environments.METRIC_LEARN_SDML)),
}
_CONTESTANTS = (*HERE, OURS, *METRIC_LEARN, *METRIC_LEARN_SDML)
_SHADES = 12.0  # percent, beyond which the color of the picture stays the same


@final
class Half:
    """One half to learn from and one to judge by."""

    def __init__(self, X: np.ndarray, y: np.ndarray, seed: int) -> None:
        learn, rest = split_by_class(y, seed)
        mean, deviation = X[learn].mean(axis=0), X[learn].std(axis=0)
        Z = (X - mean) / np.where(deviation > 0, deviation, 1.0)
        self.raw, self.raw_test = X[learn], X[rest]
        self.X, self.X_test = Z[learn], Z[rest]
        self.y, self.y_test = y[learn], y[rest]
        self.seed = seed

    def errors(self, points: np.ndarray, others: np.ndarray) -> dict[str, float]:
        """Of each number of neighbors."""
        if not (np.isfinite(points).all() and np.isfinite(others).all()):
            raise ValueError("the learned coordinates are not finite")
        return {
            f"error{k}": float(np.mean(vote(points, self.y, others, k) != self.y_test))
            for k in _COUNTS
        }

    def judge(self, name: str) -> dict[str, Any]:
        """The errors of one of those here, and the seconds of its fit."""
        X, X_test = (self.raw, self.raw_test) if name == RAW else (self.X, self.X_test)
        began = time.process_time()
        with limit_seconds(_LIMIT):
            embedding = (HERE | DEFAULT | SWITCHED_OFF)[name](X, self.y, self.seed)
        seconds = time.process_time() - began
        return {**self.errors(embedding(X), embedding(X_test)), "seconds": seconds}


@final
class Neighbors(Board):
    """The board, by sets and groups of contestants."""

    claim: str = "errors of nearest neighbors under metrics learned from classes, at defaults"
    version: int = 1
    titles = SETS
    n_draws = 10
    quick_set = "iris"
    n_quick_draws = 2

    def source_of(self, name: str) -> str | None:
        return None if name == "digits" else name

    def parts(self, quick: bool) -> list[Part]:
        """Draws by draws, so that what an interrupted run has found is of all sets."""
        groups = list(_HERE) if quick else list(_VERSIONS)
        starts = range(0, len(self.draws), _TOGETHER)
        return [
            self._part(name, group, draws)
            for draws in (self.draws[k : k + _TOGETHER] for k in starts)
            for group in groups
            for name in self.sets
        ]

    def _part(self, name: str, group: str, draws: Sequence[int]) -> Part:
        what = {"set": name, "group": group, "version": _VERSIONS[group]}
        id = f"{name}-{group.replace(' ', '-').lower()}"
        some = (Part(f"{id}-r{k}", {**what, "draw": k}) for k in draws)
        return Part.of_draws(f"{id}-r{'-'.join(map(str, draws))}", some)

    def compute(self, part: Part) -> dict[str, Any]:
        first = part.draws[0].parameters
        X, y = load_set(first["set"])
        # By the number of the draw, not by the seed of the part: all groups get the same halves.
        halves = [Half(X, y, draw.parameters["draw"]) for draw in part.draws]
        if first["group"] in _HERE:
            names = _HERE[first["group"]]
            found = [
                {name: try_fit(lambda h=h, n=name: h.judge(n)) for name in names} for h in halves
            ]
            return {"draws": found}
        return {"draws": _judge_elsewhere(halves, *_ELSEWHERE[first["group"]])}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        others = _only(results, _CONTESTANTS)
        variants = _only(results, [PLAIN, OURS, *SWITCHED_OFF])
        rows, errors = [], []
        for some, head in ((others, "contestant"), (variants, "gramlearn, without one part")):
            boards = {k: errors_of(some, k) for k in _COUNTS}
            rows += list_standing({f"k = {k}": boards[k] for k in _COUNTS}, PLAIN, SETS, head)
            errors += [row for k in _COUNTS for row in _errors(boards[k], k)]
        return rows + errors

    def figure(self, results: Sequence[Result]) -> Any:
        label = "error of 5 nearest neighbors below that of standardized features, %"
        return picture(
            errors_of(_only(results, _CONTESTANTS), 5), SETS, PLAIN, _SHADES, ".1f", label
        )


def errors_of(results: Sequence[Result], k: int) -> BySet:
    """In percent, with the groups of contestants joined."""
    return join_groups(results, f"error{k}", lambda of: str(of["set"]), unit=100.0, gained=False)


def _only(results: Sequence[Result], names: Collection[str]) -> list[Result]:
    """The same with the answers of some contestants alone."""
    found = []
    for result in results:
        value = {name: answer for name, answer in result.value.items() if name in names}
        found += [Result(result.parameters, value)] if value else []
    return found


def _judge_elsewhere(
    halves: Sequence[Half], names: Mapping[str, str], package: Package
) -> list[dict[str, Any]]:
    calls = [
        {"name": name, "X": half.X, "y": half.y, "seed": half.seed}
        for half in halves
        for name in names.values()
    ]
    kinds = [str(call["name"]) for call in calls]
    answers = iter(call_isolated(learn_elsewhere, package, calls, _LIMIT, True, kinds))
    found = []
    for half in halves:
        of_half = {}
        for name in names:
            answer = next(answers)
            if answer["status"] == "done":
                L = answer.pop("L")
                answer |= half.errors(half.X @ L.T, half.X_test @ L.T)
            of_half[name] = answer
        found.append(of_half)
    return found


def _errors(errors: BySet, k: int) -> list[dict[str, str]]:
    """Sets by contestants."""
    rows = []
    for name in errors.sets:
        row = {f"error, %, k = {k}": SETS[name]}
        for method in errors.methods:
            scores = errors.scores(name, method)
            row[method] = f"{np.mean(scores):.1f}" if scores else "none"
        rows.append(row)
    return rows
