"""metric-learn 0.7.0's ITML, given the same squared bounds, and the price C as its gamma.

Its updates are those of `cyclic_projections`, in Python, the alike pairs first; so the objective is
the same, each pair with the full price. One fit with max_iter = m is what m sweeps give: many fits
make a curve. Release 0.7.0 fails on scikit-learn 1.8 and newer, hence an environment of its own.
"""

import time
import warnings
from collections.abc import Iterator
from typing import final

import numpy as np
from tools.environments import METRIC_LEARN

from benchmarks.contestants._base import Answer, Contestant, refuse_all_but_itml
from benchmarks.instance import Instance, Spec

__all__ = ["CONTESTANT", "fit", "some_of_each_kind"]

_SWEEPS = [m * 10**e for e in range(5) for m in (1, 2, 5)]
_LARGEST_INPUT = 4e9  # bytes of the c x 2 x r array that it makes of the pairs


@final
class MetricLearnITML(Contestant):
    """metric_learn.ITML.fit, from 1 sweep up as far as the limit, and once with its defaults."""

    summary = "metric-learn 0.7.0 ITML with the same squared bounds, fits of 1, 2, 5, ... sweeps"
    packages = ("metric-learn", "scikit-learn", "numpy")
    requirements = METRIC_LEARN
    solves = 3  # 1 + 1/2 + 1/5 + 1/10 + ... of the limit, and once more

    def refuses(self, spec: Spec) -> str | None:
        if refusal := refuse_all_but_itml(spec):
            return refusal
        size = 16 * spec.c * spec.r
        if size <= _LARGEST_INPUT:
            return None
        return f"it holds the pairs as an array c x 2 x r, {size / 1e9:.0f} GB of it here"

    def warm_up(self, instance: Instance) -> None:
        fit(instance, some_of_each_kind(instance, 5), 1, 0.0)

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        rows = np.arange(instance.i.shape[0])
        plan = [(m, 0.0, f"max_iter={m}") for m in _SWEEPS]
        plan += [(1000, 1e-3, "its defaults, max_iter=1000 and tol=1e-3")]
        a_sweep = 0.0
        for sweeps, tol, note in plan:
            if sweeps * a_sweep > limit:
                continue
            seconds, X, taken = fit(instance, rows, sweeps, tol)
            a_sweep = seconds / taken
            ending = f", {taken} sweeps" if tol else ""
            yield Answer(seconds, X, note=note + ending)


def some_of_each_kind(instance: Instance, count: int) -> np.ndarray:
    """The first alike pairs and the first unlike ones, `count` of each where there are as many."""
    unlike = instance.i.shape[0] - instance.alike
    return np.r_[: min(count, instance.alike), instance.alike : instance.alike + min(count, unlike)]


def fit(
    instance: Instance, rows: np.ndarray, sweeps: int, tol: float
) -> tuple[float, np.ndarray, int]:
    """ITML on these pairs of an instance: seconds, X and the sweeps taken."""
    from metric_learn import ITML

    pairs = np.stack([instance.i[rows], instance.j[rows]], axis=1)
    kind = np.where(rows < instance.alike, 1, -1)
    bounds = np.array([instance.upper, instance.lower])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        learner = ITML(
            gamma=instance.spec.price,
            max_iter=sweeps,
            tol=tol,
            preprocessor=instance.points,
        ).fit(pairs, kind, bounds=bounds)
        seconds = time.perf_counter() - began
    return seconds, learner.get_mahalanobis_matrix(), int(learner.n_iter_) + 1


CONTESTANT = MetricLearnITML()
