"""sum_{j != i} |K_ij| - K_ii: what rows of K = sum_p alpha_p K_p lack of diagonal dominance, and their cuts.

With the signs of K at some alpha, row i is dominant at that alpha, and at others at least as much, where

    C_i alpha >= 0,    C_ip = K_p(x_i, x_i) - sum_{j != i} sign(K_ij) K_p(x_i, x_j)

The matrices are kept where all of them fit into a quarter of a gigabyte, and are computed some rows at a time
otherwise.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from gramlearn.kernels.kernel import Kernel

_KEPT = 2**25  # numbers kept at most: 256 MiB
_BLOCK = 2**22  # numbers of one kernel at a time, or of all: 32 MiB


class GramRows:
    """The kernels K_p over n points, by rows."""

    def __init__(self, kernels: Sequence[Kernel], points: np.ndarray) -> None:
        self._kernels, self._points = tuple(kernels), points
        n, m = len(points), len(self._kernels)
        self._kept: np.ndarray | None = None
        if m * n * n <= _KEPT:
            self._kept = np.stack([kernel(points, points) for kernel in self._kernels])
        self.diagonal = np.column_stack(
            [kernel.paired(points, points) for kernel in self._kernels]
        )  # n x m

    def excess(self, weights: np.ndarray) -> np.ndarray:
        """sum_{j != i} |K_ij| - K_ii of each row."""
        sums = np.concatenate([np.abs(K).sum(axis=1) for K in self._blocks(weights)])
        diagonal = self.diagonal @ weights
        return np.asarray(sums - np.abs(diagonal) - diagonal)

    def cuts(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """C_i for some rows: len(rows) x m."""
        signs = np.sign(self._combined(weights, rows))
        signs[np.arange(len(rows)), rows] = 0.0
        off_diagonal = [
            np.vecdot(self._of_kernel(p, rows), signs) for p in range(len(self._kernels))
        ]
        return np.asarray(self.diagonal[rows] - np.column_stack(off_diagonal))

    def _blocks(self, weights: np.ndarray) -> Iterator[np.ndarray]:
        """K, some rows at a time."""
        n = len(self._points)
        if self._kept is not None:
            yield (weights @ self._kept.reshape(len(weights), -1)).reshape(n, n)
            return
        for rows in np.array_split(np.arange(n), -(-n * n // _BLOCK)):
            yield self._combined(weights, rows)

    def _combined(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if self._kept is None:
            return combination(self._kernels, weights, self._points[rows], self._points)
        return np.asarray(np.tensordot(weights, self._kept[:, rows], 1))

    def _of_kernel(self, p: int, rows: np.ndarray) -> np.ndarray:
        if self._kept is None:
            return self._kernels[p](self._points[rows], self._points)
        return np.asarray(self._kept[p][rows])


def combination(
    kernels: Sequence[Kernel], weights: np.ndarray, A: np.ndarray, B: np.ndarray
) -> np.ndarray:
    """sum_p weights_p K_p(a, b) for all a and b; kernels without weight are not computed."""
    K = np.zeros((len(A), len(B)))
    for kernel, weight in zip(kernels, weights, strict=True):
        if weight:
            K += weight * kernel(A, B)
    return K
