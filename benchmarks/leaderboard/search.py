"""Who improves a search: maps learned from judged statements, some of them wrong.

Recall at 10 is the share of the 10 nearest that are of the query's group, and MAP the mean average precision.
Queries are points that no statement is about, of groups that statements are about ("seen") and of others
("unseen"). All but the adapter of PyTorch, which is tuned by statements held back, run at their defaults.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from experiments.experiment import Part, Result
from experiments.isolated import Package, call_isolated, limit_seconds, try_fit
from experiments.reproductions.shared.by_set import BySet, picture
from tools import environments

from benchmarks.leaderboard.board import Board
from benchmarks.leaderboard.search_rivals import learn_adapter, learn_itml
from benchmarks.leaderboard.search_tasks import (
    KINDS,
    SCORES,
    SETS,
    SOURCES,
    Embedding,
    Task,
    load_task,
)
from benchmarks.leaderboard.standing import join_groups, list_gains, list_standing

PLAIN = "plain"
OURS = "gramlearn"
_LIMIT = 120.0  # seconds of the processor for one fit
_COUNTS = (200, 2000, 20000)
_WRONG = (0.0, 0.1, 0.2)
_SHADES = 20.0  # points of MAP, beyond which the color of the picture stays the same


def _as_it_is(task: Task) -> Embedding:
    del task
    return lambda points: points


def _ours(task: Task) -> Embedding:
    from gramlearn import MetricLearner

    learner = MetricLearner(random_state=task.draw).fit(task.X_train, side=task.side)
    return lambda points: np.asarray(learner.transform(points))


@final
class Rival(NamedTuple):
    """A function in an environment of its own, and the kinds of statements that it knows."""

    learn: Any
    package: Package
    kinds: tuple[str, ...] = KINDS


_HERE = {PLAIN: _as_it_is, OURS: _ours}
_ELSEWHERE = {
    "metric-learn ITML": Rival(
        learn_itml, Package("metric_learn", environments.METRIC_LEARN), ("pairs",)
    ),
    "linear adapter": Rival(learn_adapter, Package("torch", environments.TORCH)),
}
# Raised when the fits of a contestant change, so that those of the others need not be run again.
_VERSIONS = {PLAIN: 1, OURS: 4, "metric-learn ITML": 1, "linear adapter": 1}


@final
class Search(Board):
    """The board: a part is one contestant on one draw, with each share of wrong statements."""

    claim: str = (
        "MAP and recall at 10, %, of searches under maps learned from judged statements. Of two gains in a "
        "cell the first is that of queries of seen groups, the other that of unseen ones"
    )
    version: int = 1
    titles = SETS
    n_draws = 5
    quick_set = "digits"

    def source_of(self, name: str) -> str | None:
        return SOURCES[name].name

    def parts(self, quick: bool) -> list[Part]:
        """Draw by draw, so that what an interrupted run has found is of all sets."""
        counts, contestants = ((200,), list(_HERE)) if quick else (_COUNTS, list(_VERSIONS))
        return [
            self._part(contestant, name, kind, count, draw)
            for draw in self.draws
            for name in self.sets
            for kind in KINDS
            for count in counts
            for contestant in contestants
            if contestant in _HERE or kind in _ELSEWHERE[contestant].kinds
        ]

    def _part(self, contestant: str, name: str, kind: str, count: int, draw: int) -> Part:
        what = {"set": name, "kind": kind, "count": count, "draw": draw, "contestant": contestant}
        what["version"] = _VERSIONS[contestant]
        id = f"{name}-{kind}-{count}-{contestant.lower().replace(' ', '-')}-r{draw}"
        shares = (Part(f"{id}-w{100 * wrong:.0f}", {**what, "wrong": wrong}) for wrong in _WRONG)
        return Part.of_draws(id, shares)

    def compute(self, part: Part) -> dict[str, Any]:
        contestant = part.draws[0].parameters["contestant"]
        keys = ("set", "kind", "count", "wrong", "draw")
        tasks = [load_task(*(one.parameters[key] for key in keys)) for one in part.draws]
        if contestant in _HERE:
            answers = [try_fit(lambda task=task: judge_here(contestant, task)) for task in tasks]
        else:
            answers = judge_elsewhere(contestant, tasks)
        return {"draws": [{contestant: answer} for answer in answers]}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for kind, of_kind in _by_kind(results).items():
            boards = {score: scores_of(of_kind, score) for score in SCORES}
            titles = {
                _name(r.parameters): SETS.get(r.parameters["set"], r.parameters["set"])
                for r in of_kind
            }
            rows += list_standing(boards, PLAIN, titles, f"contestant, {kind}")
            for score in ("MAP", "recall"):
                two = {label: boards[label] for label in SCORES if label.startswith(score)}
                for key, unit, words in (
                    ("count", 1.0, f"number of {kind}"),
                    ("wrong", 100.0, "wrong, %"),
                ):
                    families = _families(of_kind, key, unit)
                    rows += list_gains(two, PLAIN, families, ("points", f"{score}, {words}"))
        return rows

    def figure(self, results: Sequence[Result]) -> Any:
        kind, of_kind = next(iter(_by_kind(results).items()))
        # Of each number of statements one column, whatever share of them is wrong.
        of_numbers = [
            Result(r.parameters | {"draw": (r.parameters["draw"], r.parameters["wrong"])}, r.value)
            for r in of_kind
        ]
        scores = join_groups(of_numbers, SCORES[0], "{set}, {count}".format_map, unit=100.0)
        label = f"mean average precision of seen groups above that of plain points, %, by {kind}"
        return picture(scores, {name: name for name in scores.sets}, PLAIN, _SHADES, ".0f", label)


def judge_here(contestant: str, task: Task) -> dict[str, Any]:
    """The scores of one of ours, and the seconds of its fit."""
    began = time.process_time()
    with limit_seconds(_LIMIT):
        embedding = _HERE[contestant](task)
    seconds = time.process_time() - began
    return {**task.judge(embedding), "seconds": seconds}


def judge_elsewhere(
    name: str, tasks: Sequence[Task], may_make: bool = True
) -> list[dict[str, Any]]:
    """The scores of maps that another package learned; one that was ended is not tried on the next task."""
    learn, package, _ = _ELSEWHERE[name]
    calls = []
    for task in tasks:
        table = np.asarray(task.side.statement_points())
        alike = np.asarray(task.side.near_and_far()[2])[: len(table)]  # of triplets: i and j
        calls.append({"X": task.X_train, "table": table, "alike": alike, "seed": task.draw})
    kinds = [name] * len(calls)
    answers = call_isolated(learn, package, calls, _LIMIT, may_make, kinds)
    for task, answer in zip(tasks, answers, strict=True):
        if answer["status"] == "done":
            L = answer.pop("L")
            answer |= task.judge(lambda points, L=L: points @ L.T)
    return answers


def scores_of(results: Sequence[Result], score: str) -> BySet:
    """In percent, with the contestants joined; a set is the points, the statements and their wrong share."""
    return join_groups(results, score, _name, unit=100.0)


def _name(parameters: Mapping[str, Any]) -> str:
    words = "{set}, {count} {kind}".format_map(parameters)
    return f"{words}, {100 * parameters['wrong']:.0f} % wrong"


def _by_kind(results: Sequence[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.parameters["kind"], []).append(result)
    return found


def _families(results: Sequence[Result], key: str, unit: float) -> dict[tuple[str, ...], list[str]]:
    """The names of sets with the same value of a parameter: of all points, and of the same ones."""
    every: dict[tuple[str, ...], dict[str, None]] = {}
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for result in results:
        of = result.parameters
        value = f"{unit * of[key]:.0f}"
        every.setdefault(("all", value), {})[_name(of)] = None
        found.setdefault((SETS.get(of["set"], of["set"]), value), {})[_name(of)] = None
    return {words: list(names) for words, names in (every | found).items()}
