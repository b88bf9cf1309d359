"""d_k = q_i - q_j: differences of rows of a matrix Q, and sums over them, for pairs (i_k, j_k).

Maximum variance unfolding sees S only through d_k' S d_k, and its multipliers only through sum_k w_k d_k d_k'.
With n points, m pairs and Q of p columns, products of the m x p matrix of all d_k would cost m p^2 each time.
Here sparse sums over the pairs of a point come before or after a product with Q, and that is n p^2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.linalg.blas import dtrmm

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
        """d_k' A d_k for a symmetric A: twice that of what is above its diagonal, and the diagonal once."""
        half = A.copy()
        half[np.diag_indices_from(half)] /= 2
        # The transposes are in the order of BLAS.
        above = self.rows(dtrmm(2.0, half.T, Q.T, lower=1, overwrite_b=0).T)
        return np.asarray(np.einsum("kp,kp->k", above, self.rows(Q)))

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
