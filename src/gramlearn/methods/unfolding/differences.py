"""d_k = q_i - q_j: differences of rows of a matrix Q, and sums over them, for pairs (i_k, j_k).

Maximum variance unfolding sees S only through d_k' S d_k, and its multipliers only through sum_k w_k d_k d_k'.
With n points, m pairs and Q of p columns, products of the m x p matrix of all d_k would cost m p^2 each time.
Here sparse sums over the pairs of a point come before or after a product with Q, and that is n p^2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

_BLOCK = 128  # products of fewer columns are not divided further


@final
@dataclass(frozen=True, eq=False)
class Differences:
    """The pairs (i_k, j_k) of n points; Q has a row for each point."""

    i: np.ndarray
    j: np.ndarray
    n: int

    def take(self, k: np.ndarray) -> "Differences":
        """Those of some pairs only."""
        return Differences(self.i[k], self.j[k], self.n)

    @cached_property
    def _incidence(self) -> Any:
        """C, sparse and m x n: the rows of C Q are the d_k."""
        from scipy.sparse import coo_array

        m = self.i.shape[0]
        k, signs = np.arange(m), np.ones(m)
        places = np.concatenate([k, k]), np.concatenate([self.i, self.j])
        return coo_array((np.concatenate([signs, -signs]), places), shape=(m, self.n)).tocsr()

    def rows(self, Q: np.ndarray) -> np.ndarray:
        """The d_k, one a row."""
        return np.asarray(self._incidence @ Q)

    def values(self, Q: np.ndarray, A: np.ndarray) -> np.ndarray:
        """d_k' A d_k for a symmetric A: twice that of blocks below its diagonal, and those along it once."""
        half = 2.0 * A
        for block in _blocks(A.shape[0]):
            half[block, block] = A[block, block]
        below = self.rows(multiply_lower(Q, half))
        return np.asarray(np.einsum("kp,kp->k", below, self.rows(Q)))

    def squares(self, Q: np.ndarray) -> np.ndarray:
        """d_k' d_k."""
        D = self.rows(Q)
        return np.asarray(np.einsum("kp,kp->k", D, D))

    def weighted(self, Q: np.ndarray, weights: np.ndarray, less: float = 0.0) -> np.ndarray:
        """sum_k weights_k d_k d_k' - less Q'Q, from differences: with the Laplacian, digits would cancel."""
        C = self._incidence
        sums = (C * weights[:, None]).T @ (C @ Q)
        if less:
            sums -= less * Q
        total = np.empty((Q.shape[1], Q.shape[1]))
        _fill_symmetric(total, Q, sums)
        return total

    def laplacian(self, weights: np.ndarray) -> Any:
        """The sparse matrix of v -> sum_k weights_k (v_i - v_j)^2."""
        C = self._incidence
        return C.T @ (C * weights[:, None])

    def products(self, Q: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """scale_k scale_l d_k' d_l, with all their digits."""
        D = self.rows(Q)
        D *= scale[:, None]
        return D @ D.T

    def quick_products(self, Q: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The same from products of rows of Q, which are fewer; digits cancel if rows have much in common."""
        scaled = self._incidence * scale[:, None]
        return np.asarray(scaled @ (scaled @ (Q @ Q.T)).T)


def multiply_lower(Q: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Q A for an A that is zero above its blocks along the diagonal, whatever stands there.

    SciPy has a function for it, with threads of its own: they and those of NumPy would wait for each other.
    """
    out = np.empty_like(Q)
    for block in _blocks(A.shape[0]):
        np.matmul(Q[:, block.start :], A[block.start :, block], out=out[:, block])
    return out


def _blocks(p: int) -> list[slice]:
    return [slice(at, min(at + _BLOCK, p)) for at in range(0, p, _BLOCK)]


def _fill_symmetric(out: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """A'B, which is symmetric, in little more than half of the multiplications."""
    p = A.shape[1]
    if p <= _BLOCK:
        np.matmul(A.T, B, out=out)
        return
    h = p // 2
    np.matmul(A[:, h:].T, B[:, :h], out=out[h:, :h])
    out[:h, h:] = out[h:, :h].T
    _fill_symmetric(out[:h, :h], A[:, :h], B[:, :h])
    _fill_symmetric(out[h:, h:], A[:, h:], B[:, h:])
