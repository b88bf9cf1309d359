"""rank = 1 for the best score of a set, ..., the mean of both for equals; its mean over the sets.

A contestant without an answer on some draw of a set comes last there. Against another it wins or loses a set
where the mean difference, draw by draw, is more than its standard error, and ties otherwise.
"""

from collections.abc import Sequence
from statistics import mean, median
from typing import NamedTuple, final

import numpy as np
from experiments.reproductions.shared.by_set import BySet
from scipy.stats import rankdata

_ROUNDING = 1e-9


@final
class Tally(NamedTuple):
    """On how many sets one is better than another, about the same, and worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} / {self.ties} / {self.losses}"


def mean_ranks(scores: BySet) -> dict[str, float]:
    """Of each contestant, over all sets."""
    methods, ranks = scores.methods, []
    for name in scores.sets:
        found = (scores.scores(name, method) for method in methods)
        # Equal up to what a vote can differ by through rounding.
        costs = [_cost(scores, round(mean(s), 9)) if s else float("inf") for s in found]
        ranks.append(rankdata(costs))
    return {m: float(mean(column)) for m, column in zip(methods, np.transpose(ranks), strict=True)}


def tally(scores: BySet, method: str, other: str) -> Tally:
    """Over the sets on which the other has an answer; one without an answer itself loses."""
    outcomes = []
    for name in scores.answered(scores.sets, other):
        if not scores.scores(name, method):
            outcomes.append(1)
            continue
        above = scores.above([name], method, other)
        worse_by = _cost(scores, above.center)
        is_clear = _is_beyond(abs(worse_by), above.error)
        outcomes.append((1 if worse_by > 0 else -1) if is_clear else 0)
    return Tally(outcomes.count(-1), outcomes.count(0), outcomes.count(1))


def harmed(scores: BySet, method: str, other: str) -> list[str]:
    """The sets on which it is worse than the other, by more than a standard error."""
    names = scores.answered(scores.sets, method, other)
    above = {name: scores.above([name], method, other) for name in names}
    return [name for name, by in above.items() if _is_beyond(_cost(scores, by.center), by.error)]


def _is_beyond(value: float, error: float) -> bool:
    """Above it; where one draw of all makes a difference, both are the same number up to rounding."""
    return value > error * (1 + _ROUNDING)


def median_seconds(scores: BySet, method: str) -> float | None:
    """Of one fit, over all draws that have one."""
    found: Sequence[float] = [
        draw[method]["seconds"]
        for draws in scores.draws.values()
        for draw in draws
        if "seconds" in draw.get(method, {})
    ]
    return median(found) if found else None


def _cost(scores: BySet, value: float) -> float:
    """The same with the better ones smaller."""
    return -value if scores.gained else value
