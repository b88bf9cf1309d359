"""d(i, j) <= (1 - eps) b in one class, d(i, j) >= (1 + eps) b in two: the constraints of K09 7.1.

b is the squared distance of i and j before, and eps = 1/4; random pairs, each as likely as any other.
"""

from dataclasses import replace

import numpy as np
from gramlearn.constraints import SquaredDistances

from gramlearn import Term
from gramlearn.problem.losses import BoundedLoss

_EPSILON = 0.25


def draw_pairs(n: int, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """`count` different pairs out of those of n points."""
    first = np.arange(n - 1)
    before = np.append(0, np.cumsum(n - 1 - first))  # pairs whose first point comes earlier
    chosen = rng.choice(before[-1], size=count, replace=False)
    i = np.searchsorted(before, chosen, side="right") - 1
    return i, i + 1 + chosen - before[i]


def make_constraints(
    X: np.ndarray,
    y: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    loss: BoundedLoss,
    eps: float = _EPSILON,
) -> list[Term]:
    """Pairs of one class shall come nearer by a quarter, and those of two classes go farther."""
    squared = np.sum((X[i] - X[j]) ** 2, axis=1)
    moving = squared > 0  # equal points keep their distance, whatever is learned
    i, j, squared = i[moving], j[moving], squared[moving]
    same = y[i] == y[j]
    upper, lower = (1 - eps) * squared[same], (1 + eps) * squared[~same]
    return [
        Term(SquaredDistances(i[same], j[same]), replace(loss, upper=upper)),
        Term(SquaredDistances(i[~same], j[~same]), replace(loss, lower=lower)),
    ]


def share_satisfied(factor: np.ndarray, terms: list[Term], tolerance: float = 1e-3) -> float:
    """The share of the constraints that hold at X = F F', to a relative tolerance."""
    kept = []
    for term in terms:
        pairs, loss = term.constraints, term.loss
        t = np.sum((factor[np.asarray(pairs.i)] - factor[np.asarray(pairs.j)]) ** 2, axis=1)
        kept.append(np.asarray(loss.excess(t)) <= tolerance * np.abs(np.asarray(loss.bound)))
    return float(np.mean(np.concatenate(kept)))
