"""From X = F F' to a cut: the half of the vertices with the larger f_i'g, for random directions g.

The directions are normal, and one is the leading one of F. The best of these cuts are improved by
swapping the pair of vertices that gains most, w(i) + w(j) - 2 A_ij, where w is the weight across less that
within, until none gains.
"""

import numpy as np

__all__ = ["best_halves"]

_IMPROVED = 10  # so many of the cuts are improved by swaps


def best_halves(
    A: np.ndarray, F: np.ndarray, n_rounds: int, rng: np.random.Generator
) -> np.ndarray:
    """Labels 0 and 1, as many of each, of the lightest cut found; A has an even number of vertices."""
    n = A.shape[0]
    leading = np.linalg.svd(F, full_matrices=False)[2][0]
    directions = np.column_stack([leading, rng.standard_normal((F.shape[1], n_rounds))])
    order = np.argsort(F @ directions, axis=0, kind="stable")
    signs = np.ones((n, directions.shape[1]))
    np.put_along_axis(signs, order[: n // 2], -1.0, axis=0)
    agreement = np.sum(signs * (A @ signs), axis=0)  # the total weight less twice the cut, twice
    best = np.argsort(-agreement, kind="stable")[:_IMPROVED]
    improved = [_swapped(A, signs[:, k]) for k in best]
    sides = max(improved, key=lambda s: float(s @ A @ s))
    return np.asarray(sides[0] * sides < 0, dtype=np.int64)  # the first vertex is on side 0


def _swapped(A: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Swap pairs of vertices as long as the cut gets lighter."""
    s = sides.copy()
    least = 1e-12 * max(float(A.sum()), 1e-300)
    while True:
        across = -s * (A @ s)
        left, right = np.flatnonzero(s > 0), np.flatnonzero(s < 0)
        gain = across[left][:, None] + across[right][None, :] - 2 * A[np.ix_(left, right)]
        k = int(np.argmax(gain))
        if not gain.ravel()[k] > least:
            return s
        s[left[k // len(right)]], s[right[k % len(right)]] = -1.0, 1.0
