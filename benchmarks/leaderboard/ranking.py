"""rank = 1 for the least error of a set, ..., the mean of both for equals; its mean over the sets.

A contestant without an answer on some draw of a set comes last there. Against another it wins or loses a set
where the mean difference, draw by draw, is more than its standard error, and ties otherwise.
"""

from collections.abc import Sequence
from statistics import mean, median
from typing import NamedTuple, final

import numpy as np
from experiments.reproductions.shared.by_set import BySet
from scipy.stats import rankdata


@final
class Tally(NamedTuple):
    """On how many sets one is better than another, about the same, and worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} / {self.ties} / {self.losses}"


def mean_ranks(errors: BySet) -> dict[str, float]:
    """Of each contestant, over all sets."""
    methods = errors.methods
    ranks = []
    for name in errors.sets:
        scores = (errors.scores(name, method) for method in methods)
        # Equal up to what a vote can differ by through rounding.
        ranks.append(rankdata([round(mean(s), 9) if s else float("inf") for s in scores]))
    return {m: float(mean(column)) for m, column in zip(methods, np.transpose(ranks), strict=True)}


def tally(errors: BySet, method: str, other: str) -> Tally:
    """Over the sets on which the other has an answer; one without an answer itself loses."""
    outcomes = []
    for name in errors.answered(errors.sets, other):
        if not errors.scores(name, method):
            outcomes.append(1)
            continue
        above = errors.above([name], method, other)
        outcomes.append(0 if abs(above.center) <= above.error else (1 if above.center > 0 else -1))
    return Tally(outcomes.count(-1), outcomes.count(0), outcomes.count(1))


def harmed(errors: BySet, method: str, other: str) -> list[str]:
    """The sets on which it is worse than the other, by more than a standard error."""
    names = errors.answered(errors.sets, method, other)
    above = {name: errors.above([name], method, other) for name in names}
    return [name for name, by in above.items() if by.center > by.error]


def median_seconds(errors: BySet, method: str) -> float | None:
    """Of one fit, over all draws that have one."""
    found: Sequence[float] = [
        draw[method]["seconds"]
        for draws in errors.draws.values()
        for draw in draws
        if "seconds" in draw.get(method, {})
    ]
    return median(found) if found else None
