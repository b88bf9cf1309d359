"""sum_{j != i} |K_ij| - K_ii: what rows of K = sum_p alpha_p K_p lack of diagonal dominance, and their cuts.

With the signs of K at some alpha, row i is dominant at that alpha, and at others at least as much, where

    C_i alpha >= 0,    C_ip = K_p(x_i, x_i) - sum_{j != i} sign(K_ij) K_p(x_i, x_j)

K is symmetric: of each block of rows the columns before it are those of earlier blocks. Values of the kernels
are kept for as many blocks as fit into a gigabyte, and computed again each time for the others.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from gramlearn.kernels.kernel import Kernel

_KEPT = 2**27  # numbers kept at most: 1 GiB
_BLOCK = 2**22  # numbers of one kernel in a block at most: 32 MiB
_BLOCKS, _LEAST = 16, 64  # as many blocks, or more, of at least as many rows


class GramRows:
    """The kernels K_p over n points, by rows."""

    def __init__(self, kernels: Sequence[Kernel], points: np.ndarray) -> None:
        self._kernels, self._points = tuple(kernels), points
        n, m = len(points), len(self._kernels)
        rows = max(1, min(max(n // _BLOCKS, _LEAST), _BLOCK // n))
        self._starts = range(0, n, rows)
        self._kept: list[np.ndarray] = []
        left = _KEPT
        for start in self._starts:
            block, others = points[start : start + rows], points[start:]
            left -= m * len(block) * len(others)
            if left < 0:
                break
            values = np.empty((m, len(block), len(others)))
            for p, kernel in enumerate(self._kernels):
                values[p] = kernel(block, others)
            self._kept.append(values)
        self.diagonal = np.column_stack(
            [kernel.paired(points, points) for kernel in self._kernels]
        )  # n x m

    def excess(self, weights: np.ndarray) -> np.ndarray:
        """sum_{j != i} |K_ij| - K_ii of each row."""
        sums = np.zeros(len(self._points))
        for start, K in self._blocks(weights):
            end = start + len(K)
            np.abs(K, out=K)
            sums[start:end] += K.sum(axis=1)
            sums[end:] += K[:, len(K) :].sum(axis=0)
        diagonal = self.diagonal @ weights
        return np.asarray(sums - np.abs(diagonal) - diagonal)

    def cuts(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """C_i for some rows: len(rows) x m."""
        values = [kernel(self._points[rows], self._points) for kernel in self._kernels]
        signs = np.sign(sum(weight * K for weight, K in zip(weights, values, strict=True)))
        signs[np.arange(len(rows)), rows] = 0.0
        off_diagonal = np.column_stack([np.vecdot(K, signs) for K in values])
        return np.asarray(self.diagonal[rows] - off_diagonal)

    def _blocks(self, weights: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Some rows of K at a time, from their first column on."""
        points, rows = self._points, self._starts.step
        for start, values in zip(self._starts, self._kept, strict=False):
            yield start, (weights @ values.reshape(len(weights), -1)).reshape(values.shape[1:])
        for start in self._starts[len(self._kept) :]:
            block = points[start : start + rows]
            yield start, combination(self._kernels, weights, block, points[start:])


def combination(
    kernels: Sequence[Kernel], weights: np.ndarray, A: np.ndarray, B: np.ndarray
) -> np.ndarray:
    """sum_p weights_p K_p(a, b) for all a and b; kernels without weight are not computed."""
    K = np.zeros((len(A), len(B)))
    for kernel, weight in zip(kernels, weights, strict=True):
        if weight:
            K += weight * kernel(A, B)
    return K
