"""Cyclic Bregman projections with slack, as published (K09 5.1, 6.2.1), compiled.

For pair k with z = p_i - p_j, p = z' X z, its present bound b_k and side delta (1 upper, -1 lower):

    alpha = min(lam_k, delta gamma/(gamma + 1) (1/p - 1/b_k)),     lam_k <- lam_k - alpha
    b_k <- gamma b_k / (gamma + delta alpha b_k)
    X <- X + beta X z z' X,     beta = delta alpha / (1 - delta alpha p)

The minimum is the dual correction; X is a dense r x r matrix. A projection that changes nothing
costs r^2 multiplications, one that does 2 r^2.
"""

import time
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance

_SETTLED = 1e-12  # the relative change of the duals over a cycle below which nothing more happens


@final
class CyclicProjections(Contestant):
    """One projection after another, in the order of the pairs; an answer after a cycle."""

    summary = "cyclic Bregman projections (Kulis et al. 2009, 5.1 and 6.2.1), compiled with Numba"
    packages = ("numba", "numpy")

    def warm_up(self, instance: Instance) -> None:
        state = _start(instance)
        _kernel()(instance.points, instance.i[:1], instance.j[:1], 1, instance.gamma, *state)

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        cycle = _kernel()
        began = time.perf_counter()
        X, lam, b = _start(instance)
        count, shown, change = 0, 0, np.inf
        while change > _SETTLED:
            before = lam.copy()
            pairs = (instance.points, instance.i, instance.j, instance.alike, instance.gamma)
            cycle(*pairs, X, lam, b)
            count += 1
            change = np.abs(lam - before).sum() / max(lam.sum(), 1e-300)
            seconds = time.perf_counter() - began
            late = seconds > limit
            if count <= 10 or count >= 1.1 * shown or late or change <= _SETTLED:
                shown = count
                yield Answer(seconds, X.copy(), note=f"cycle {count}")
                began = (
                    time.perf_counter() - seconds
                )  # what the receiver did meanwhile is not counted
            if late:
                return


def _start(instance: Instance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    c = instance.i.shape[0]
    b = np.full(c, instance.lower)
    b[: instance.alike] = instance.upper
    return np.eye(instance.spec.r), np.zeros(c), b


_COMPILED: dict[str, Any] = {}


def _kernel() -> Any:
    """Compile on first use, so that naming this contestant does not load Numba."""
    if "cycle" not in _COMPILED:
        import numba

        fast = {"reassoc", "contract", "nsz", "arcp"}
        _COMPILED["cycle"] = numba.njit(cache=True, fastmath=fast)(cycle)
    return _COMPILED["cycle"]


def cycle(points, i, j, alike, gamma, X, lam, b):  # type: ignore[no-untyped-def]
    """Project once on every pair; X, lam and b are changed in place."""
    r = points.shape[1]
    z = np.empty(r)
    w = np.empty(r)
    share = gamma / (gamma + 1.0)
    for k in range(i.shape[0]):
        delta = 1.0 if k < alike else -1.0
        for q in range(r):
            z[q] = points[i[k], q] - points[j[k], q]
        p = 0.0
        for a in range(r):
            total = 0.0
            for q in range(r):
                total += X[a, q] * z[q]
            w[a] = total
            p += total * z[a]
        if p <= 0.0:
            continue  # equal points: no X changes their distance
        alpha = min(lam[k], delta * share * (1.0 / p - 1.0 / b[k]))
        if alpha == 0.0:
            continue
        lam[k] -= alpha
        b[k] = gamma * b[k] / (gamma + delta * alpha * b[k])
        beta = delta * alpha / (1.0 - delta * alpha * p)
        for a in range(r):
            scaled = beta * w[a]
            for q in range(r):
                X[a, q] += scaled * w[q]


CONTESTANT = CyclicProjections()
