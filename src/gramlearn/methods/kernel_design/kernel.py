"""k(x, y) = sum_p alpha_p k_p(x, y) + beta delta(x, y): a designed kernel as a function of new points.

delta(x, y) is 1 where x and y are the same point in all that the kernel reads: of weak kernels, the features
that have a weight. Of points that are distinct in these, a principal submatrix of a diagonally dominant K is
dominant again, and points that are not share their rows: the kernel is PSD wherever K is.

The similarity of two points is the sum without the identity. It is what comparisons were about, and what keeps
them; the kernel differs from it where the two are the same point.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.kernels.kernel import Kernel
from gramlearn.methods.kernel_design.dominance_rows import combination

_LARGEST = 3000  # points whose eigenvalues are computed


class PointSet(NamedTuple):
    """Points as base kernels take them.

    `kernels` give their values with training points, the rows of `identity_key` tell them apart, and
    `precision` is that in which they came.
    """

    kernels: Sequence[Kernel]
    points: np.ndarray
    identity_key: np.ndarray
    precision: Any = np.float64

    def subset(self, rows: np.ndarray) -> "PointSet":
        """Some of the points."""
        return self._replace(points=self.points[rows], identity_key=self.identity_key[rows])


@final
@dataclass(frozen=True, eq=False)
class DesignedKernel:
    """The kernel of a design.

    Attributes
    ----------
    weights, identity :
        alpha, and beta.
    reads : vector of column numbers
        The columns of the identity key that it looks at.
    """

    weights: np.ndarray
    identity: float
    reads: np.ndarray

    def __call__(self, new: PointSet, training: PointSet) -> np.ndarray:
        """All k(x, y), a row for each of the first points and a column for each of the second."""
        similarity = combination(new.kernels, self.weights, new.points, training.points)
        # A point that came in single precision is the same as what it was rounded from.
        precision = min(new.precision, training.precision, key=lambda kind: np.dtype(kind).itemsize)
        keys = [x.identity_key[:, self.reads].astype(precision) for x in (new, training)]
        return similarity + self.identity * _same_rows(*keys)

    def size_on(self, point_set: PointSet) -> float:
        """max_i sum_p |alpha_p k_p(x_i, x_i)| + |beta|: the size of its parts."""
        parts = self._paired_parts(point_set, point_set.points)
        total = sum((np.abs(part) for part in parts), np.zeros(len(point_set.points)))
        return float(total.max()) + abs(self.identity)

    def distinct(self, point_set: PointSet) -> np.ndarray:
        """The first point of each kind that the kernel can tell apart, in ascending order."""
        return np.sort(distinct_rows(point_set.identity_key[:, self.reads]).first)

    def paired_similarity(self, new: PointSet, other: PointSet) -> np.ndarray:
        """Of row t with row t of the other, without the identity."""
        return sum(self._paired_parts(new, other.points), np.zeros(len(new.points)))

    def _paired_parts(self, new: PointSet, other: np.ndarray) -> Iterator[np.ndarray]:
        """weights_p k_p(x, y) of row t with row t of the other, for each kernel with a weight."""
        for kernel, weight in zip(new.kernels, self.weights, strict=True):
            if weight:
                yield weight * kernel.paired(new.points, other)


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """x -> k(x, S) V diag(s)^(-1/2) with K = V diag(s) V' on S, of the largest positive eigenvalues s.

    K is decomposed when it is first asked for, as many who want a kernel want no coordinates. A K of zeros has
    one coordinate, which is 0.
    """

    kernel: DesignedKernel
    S: PointSet
    n_components: int | None

    @cached_property
    def weights(self) -> np.ndarray:
        """V diag(s)^(-1/2)."""
        from scipy.linalg import eigh

        K, n = self.kernel(self.S, self.S), len(self.S.points)
        count = n if self.n_components is None else min(self.n_components, n)
        s, V = eigh((K + K.T) / 2, subset_by_index=(n - count, n - 1))
        kept = np.flatnonzero(s > n * np.finfo(float).eps * s[-1])[::-1]
        return V[:, kept] / np.sqrt(s[kept]) if kept.size else np.zeros((n, 1))

    def __call__(self, new: PointSet) -> np.ndarray:
        return self.kernel(new, self.S) @ self.weights


def least_dominance(K: np.ndarray) -> float:
    """min_i K_ii - sum_{j != i} |K_ij|: by Gershgorin a lower bound of the eigenvalues."""
    diagonal = np.diagonal(K)
    return float(np.min(diagonal + np.abs(diagonal) - np.abs(K).sum(axis=1)))


def least_eigenvalue(K: np.ndarray) -> float:
    """The least eigenvalue; above 3000 points Gershgorin's bound of it."""
    from scipy.linalg import eigh

    if len(K) > _LARGEST:
        return least_dominance(K)
    return float(eigh((K + K.T) / 2, eigvals_only=True, subset_by_index=(0, 0))[0])


def shift_for(kernel: DesignedKernel, point_set: PointSet) -> float:
    """What beta lacks for the kernel to be PSD on these points."""
    points = point_set.subset(kernel.distinct(point_set))
    return max(-least_eigenvalue(kernel(points, points)), 0.0)


def shares_of(features: np.ndarray, n_features: int, parts: np.ndarray) -> np.ndarray:
    """mean_t |sum_p parts_tp| over the kernels p of each feature, as a share of the sum over all features."""
    size = [np.abs(parts[:, features == f].sum(axis=1)).mean() for f in range(n_features)]
    return np.asarray(size) / (sum(size) or 1.0)


def _same_rows(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    kinds = distinct_rows(np.concatenate([A, B])).kind
    return np.asarray(kinds[: len(A), None] == kinds[None, len(A) :])
