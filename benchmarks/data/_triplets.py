"""Triplets of near neighbors: each point, one of its nearest of its class, one of its nearest of other classes.

d(i, j) + margin <= d(i, k),     margin = a tenth of the mean squared distance
"""

import numpy as np

__all__ = ["find_margin", "neighbor_triplets"]

_NEAR = 5  # neighbors of the class; a point with 30 triplets has 6 of other classes
_MARGIN = 0.1


def neighbor_triplets(
    points: np.ndarray, y: np.ndarray, total: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, k), equally many for each point, which has every near j with every near k."""
    n = len(points)
    far, left = divmod(total, n * _NEAR)
    if left:
        raise ValueError(f"{n} points have a multiple of {n * _NEAR} triplets; got {total}.")
    squared = _squared_distances(points)
    np.fill_diagonal(squared, np.inf)
    same = y[:, None] == y[None, :]
    j = np.argsort(np.where(same, squared, np.inf), axis=1, kind="stable")[:, :_NEAR]
    k = np.argsort(np.where(same, np.inf, squared), axis=1, kind="stable")[:, :far]
    i = np.arange(n)[:, None]
    if not (np.isfinite(squared[i, j]) & same[i, j]).all() or same[i, k].any():
        raise ValueError(f"a class has too few of {n} points for its neighbors; take more points.")
    shape = (n, _NEAR, far)
    columns = (i[:, :, None], j[:, :, None], k[:, None, :])
    first, near, other = (np.broadcast_to(column, shape).reshape(-1).copy() for column in columns)
    return first, near, other


def find_margin(points: np.ndarray) -> float:
    """A tenth of the mean squared distance of two different points."""
    n = len(points)
    return _MARGIN * float(_squared_distances(points).sum()) / (n * (n - 1))


def _squared_distances(points: np.ndarray) -> np.ndarray:
    norms = np.sum(points**2, axis=1)
    squared = np.maximum(norms[:, None] + norms[None, :] - 2 * points @ points.T, 0.0)
    np.fill_diagonal(squared, 0.0)
    return squared
