"""X as a design takes it: points with features, or the kernels themselves, and the points S to be PSD on."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import assert_all_finite

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_count, check_extent, check_flag, check_symmetric
from gramlearn.estimators._inputs import FLOATS, two_sides, validated, validated_array
from gramlearn.kernels.families import GaussianKernel, PolynomialKernel, read_kernels
from gramlearn.kernels.kernel import Kernel, OneFeature, PrecomputedKernel
from gramlearn.methods.kernel_design.comparisons import read_rows
from gramlearn.methods.kernel_design.kernel import PointSet
from gramlearn.side_information import Triplets

_Sides = tuple[PointSet, PointSet]
_LARGEST = 10_000  # points in S: 800 MB a kernel
_ROUNDING = 1e-10  # of the largest kernel value: what a sum of rounding errors stays far below
_WIDTHS = (0.1, 1.0, 10.0)  # gamma of the Gaussians of the default family, over the variance


class DesignPoints(ABC):
    """The training points, and how new ones are read."""

    training: PointSet

    has_features: bool
    """Whether the identity key of points is their features."""

    @property
    @abstractmethod
    def features(self) -> np.ndarray:
        """The feature of each kernel, and -1 of kernels of all features."""

    @abstractmethod
    def reads(self, weights: np.ndarray) -> np.ndarray:
        """The columns of the identity key that kernels with these weights look at."""

    @abstractmethod
    def new(self, estimator: Any, X: Any, reads: np.ndarray) -> PointSet:
        """New points, of which the columns in `reads` must be finite."""

    @abstractmethod
    def two_new(self, estimator: Any, X: Any, Y: Any, reads: np.ndarray) -> _Sides:
        """New points and others; raises where there is no telling their kernel."""

    @abstractmethod
    def new_pairs(self, estimator: Any, pairs: Any, reads: np.ndarray) -> _Sides:
        """The two sides of pairs of new points; raises likewise."""

    @abstractmethod
    def pairs_of(self, point_set: PointSet, i: np.ndarray, j: np.ndarray) -> _Sides:
        """The points i and the points j of some; raises likewise."""


@final
@dataclass(frozen=True, eq=False)
class FeaturePoints(DesignPoints):
    """Points n x d, and kernels that are functions of them."""

    training: PointSet
    has_features = True

    @property
    def features(self) -> np.ndarray:
        return np.asarray([getattr(kernel, "feature", -1) for kernel in self.training.kernels])

    def reads(self, weights: np.ndarray) -> np.ndarray:
        used = np.unique(self.features[weights != 0])
        return np.arange(self.training.points.shape[1]) if -1 in used else used

    def new(self, estimator: Any, X: Any, reads: np.ndarray) -> PointSet:
        # What the kernel does not read need not be known.
        given = validated(estimator, X, reset=False, dtype=FLOATS, ensure_all_finite=False)
        assert_all_finite(given[:, reads], input_name="X")
        points = given.astype(np.float64, copy=False)
        return PointSet(self.training.kernels, points, points, given.dtype)

    def two_new(self, estimator: Any, X: Any, Y: Any, reads: np.ndarray) -> _Sides:
        return self.new(estimator, X, reads), self.new(estimator, Y, reads)

    def pairs_of(self, point_set: PointSet, i: np.ndarray, j: np.ndarray) -> _Sides:
        return point_set.subset(i), point_set.subset(j)

    def new_pairs(self, estimator: Any, pairs: Any, reads: np.ndarray) -> _Sides:
        sides = two_sides(estimator, pairs, ensure_all_finite=False)
        first, second = (side.toarray() if issparse(side) else side for side in sides)
        for side in (first, second):
            assert_all_finite(side[:, reads], input_name="pairs")
        kernels = self.training.kernels
        return PointSet(kernels, first, first), PointSet(kernels, second, second)


@final
@dataclass(frozen=True, eq=False)
class KernelRows(DesignPoints):
    """Kernels as matrices: a point is its row of values with all training points.

    Rows that differ by no more than rounding are the same point. Two random combinations of their values, in
    units of `unit`, tell them apart.
    """

    training: PointSet
    unit: float
    has_features = False

    @property
    def features(self) -> np.ndarray:
        return np.full(len(self.training.kernels), -1)

    def reads(self, weights: np.ndarray) -> np.ndarray:
        return np.arange(self.training.identity_key.shape[1])

    def new(self, estimator: Any, X: Any, reads: np.ndarray) -> PointSet:
        del estimator, reads
        values = _read_matrices(X)
        shape, expected = values.shape[1:], (len(self.training.points), len(self.training.kernels))
        if shape != expected:
            raise ValueError(
                f"`X` has values of {shape[1]} kernels with {shape[0]} points; the training had {expected[1]} "
                f"kernels of {expected[0]} points: pass one row a new point, a column for each of those."
            )
        return _precomputed(values, self.unit)

    def two_new(self, estimator: Any, X: Any, Y: Any, reads: np.ndarray) -> _Sides:
        raise ValueError(
            "precomputed kernels say nothing about two new points; use kernel_matrix(X), of new points with "
            "the training points, or pass functions as `kernels`."
        )

    def new_pairs(self, estimator: Any, pairs: Any, reads: np.ndarray) -> _Sides:
        return self.two_new(estimator, pairs, pairs, reads)

    def pairs_of(self, point_set: PointSet, i: np.ndarray, j: np.ndarray) -> _Sides:
        # Row j of the training points is column j of the values of others with them.
        if len(point_set.points) != len(self.training.points):
            raise ValueError(
                f"`X` has {len(point_set.points)} points, and the precomputed kernels have "
                f"{len(self.training.points)}: they say nothing about two new points; pass X of the training "
                "points, or functions as kernels."
            )
        return point_set.subset(i), self.training.subset(j)


def is_precomputed(kernels: Any) -> bool:
    """Whether X holds the kernels themselves."""
    return isinstance(kernels, str) and kernels == "precomputed"


def read_design_points(estimator: Any, X: Any) -> DesignPoints:
    """X and the family, as the estimator's `kernels` and `weak` say."""
    kernels, weak = estimator.kernels, check_flag(estimator.weak, "weak")
    if is_precomputed(kernels):
        if weak:
            raise ValueError(
                '`weak=True` takes kernels of one feature each, and kernels="precomputed" has no features; '
                "pass one matrix a feature and weak=False."
            )
        values = _read_matrices(X)
        if values.shape[0] != values.shape[1]:
            raise ValueError(
                f"`X` has shape {values.shape}, whose first two numbers differ; pass the m kernels of n "
                "training points as a list of matrices n x n, or an array n x n x m, by np.stack(..., axis=-1)."
            )
        for p in range(values.shape[2]):
            check_symmetric(values[:, :, p], f"X[:, :, {p}]")
        estimator.n_features_in_ = values.shape[1]
        unit = _ROUNDING * float(np.abs(values).max()) * values[0].size ** 0.5 or 1.0
        return KernelRows(_precomputed(values, unit), unit)
    points = check_extent(validated(estimator, X, dtype=np.float64), power=2)
    return FeaturePoints(PointSet(_family(kernels, points, weak), points, points))


def rows_of_dominance(
    psd_points: Any, triplets: Triplets, n_points: int, rng: np.random.Generator
) -> np.ndarray:
    """S: the points of the triplets, all, so many of those in the triplets drawn at random, or these."""
    involved = np.asarray(to_numpy(triplets.involved()))
    if isinstance(psd_points, str):
        rows = {"triplets": involved, "all": np.arange(n_points)}.get(psd_points)
        if rows is None:
            raise ValueError(
                f'`psd_points={psd_points!r}` is not known; choose "triplets", "all", how many points to draw, '
                "or row numbers."
            )
    elif np.ndim(psd_points) == 0:
        rows = np.sort(rng.permutation(involved)[: check_count(psd_points, "psd_points")])
    else:
        rows = np.unique(read_rows(psd_points, n_points))
    if rows.size > _LARGEST:
        raise ValueError(
            f"`psd_points` are {rows.size} points, and a kernel over them is too large; pass psd_points=1000, "
            "which draws so many. The kernel is then known to be positive semidefinite on these only."
        )
    return rows


def _family(kernels: Any, X: np.ndarray, weak: bool) -> tuple[Kernel, ...]:
    """The kernels that are given, or Gaussians as wide as the variance says; of one feature each if weak."""
    d = X.shape[1]
    if weak:
        given = None if kernels is None else read_kernels(kernels)
        return tuple(
            OneFeature(kernel, f)
            for f in range(d)
            for kernel in (_gaussians(_variance(X[:, f])) if given is None else given)
        )
    if kernels is not None:
        return read_kernels(kernels)
    variance = d * _variance(X)
    return (*_gaussians(variance), PolynomialKernel(2, _one_over(variance)))


def _gaussians(variance: float) -> list[GaussianKernel]:
    return [GaussianKernel(width * _one_over(variance)) for width in _WIDTHS]


def _variance(x: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(x.var())


def _one_over(variance: float) -> float:
    if not variance < np.inf or 0 < variance < 1e-300:
        raise ValueError(
            f"`X` has a variance of {variance:.3g}, to which no width can be fitted; rescale it first."
        )
    return 1 / float(variance) if variance > 0 else 1.0


def _read_matrices(X: Any) -> np.ndarray:
    """Kernel values n x n' x m, of a list of matrices or an array that has them along its last axis."""
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        shapes = list(dict.fromkeys(np.shape(matrix) for matrix in X))
        if len(shapes) > 1:
            raise ValueError(
                f"`X` lists kernels of different sizes, such as {shapes[0]} and {shapes[1]}; all must be of "
                "the same points."
            )
        X = np.stack([to_numpy(matrix) for matrix in X], axis=-1)
    values = validated_array(X, "X", allow_nd=True, dtype=np.float64)
    values = values[:, :, None] if values.ndim == 2 else values
    if values.ndim != 3:
        raise ValueError(
            f"`X` has shape {values.shape}; pass a list of kernel matrices, or an array n x n x m."
        )
    return np.asarray(values)


def _precomputed(values: np.ndarray, unit: float) -> PointSet:
    n, _, m = values.shape
    kernels = tuple(PrecomputedKernel(values[:, :, p], f"matrix {p}") for p in range(m))
    rows = values.reshape(n, -1)
    combined = rows @ np.random.default_rng(0).standard_normal((rows.shape[1], 2))
    return PointSet(kernels, np.arange(n)[:, None], np.round(combined / unit))
