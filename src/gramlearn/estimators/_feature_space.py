"""p(x) = U' phi(x): coordinates of points in an orthonormal basis of directions of feature space (J12 3.6)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gramlearn._base.distances import equal_rows
from gramlearn._base.validation import check_basis, check_choice, check_extent
from gramlearn.estimators._inputs import validated
from gramlearn.kernels.low_rank.columns import combined_factor, incomplete_cholesky, nystroem
from gramlearn.kernels.low_rank.factor import LowRankKernel, check_rank
from gramlearn.kernels.low_rank.spectral import spectral_factor
from gramlearn.kernels.matrix import KernelMatrix
from gramlearn.methods.clustering.kernel_kmeans import kernel_kmeans
from gramlearn.side_information.base import Coincide

__all__ = ["coincide_in", "coordinates_of", "read_points", "to_rounding", "with_defaults"]

_WITH_GAMMA = ("poly", "polynomial", "rbf", "sigmoid")
_BASES = ("cholesky", "subset", "spectral", "random", "kmeans")
_ROUNDING = 64  # ulps of a kernel value that a function of points may be wrong by


def read_points(estimator: Any, X: Any) -> np.ndarray:
    """Points, as float64; a kernel in the precision it came in, on which hangs what is rounding in it."""
    kernel = estimator.kernel
    is_kernel = isinstance(kernel, str) and kernel == "precomputed"
    points = validated(estimator, X, dtype="numeric" if is_kernel else np.float64)
    return np.asarray(check_extent(points, power=2))


def with_defaults(X: np.ndarray, kernel: Any, params: dict[str, Any] | None) -> dict[str, Any]:
    """The parameters of a kernel; without a gamma, 1 / (d var X), as in SVC, where the kernel has one."""
    if not (params is None or isinstance(params, Mapping)):
        raise TypeError(
            '`kernel_params` must be a dict of parameters by their names, such as {"gamma": 0.1}; got '
            f"{params!r:.40}."
        )
    given = dict(params or {})
    if isinstance(kernel, str) and kernel in _WITH_GAMMA and given.get("gamma") is None:
        variance = float(X.var())
        given["gamma"] = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    return given


def to_rounding(P: np.ndarray) -> np.ndarray:
    """Coordinates without their last digits, so that points that are equal but for rounding are equal."""
    unit = 1e-10 * float(np.abs(P).max()) or 1.0
    return np.asarray(unit * np.round(P / unit))


def coincide_in(base: KernelMatrix, coordinates: LowRankKernel, is_whole: bool) -> Coincide:
    """Which points are equal, to rounding: in feature space, or as a basis that is not whole sees them."""
    return (
        partial(_coincide, base)
        if is_whole
        else partial(equal_rows, to_rounding(coordinates.factor))
    )


def _coincide(base: KernelMatrix, i: Any, j: Any) -> np.ndarray:
    diagonal = base.diagonal()
    size = diagonal[i] + diagonal[j]
    return np.asarray(size - 2 * base.entries(i, j) <= _ROUNDING * base.eps * size)


def coordinates_of(
    X: np.ndarray,
    kernel: Any,
    params: dict[str, Any],
    rank: int | None,
    basis: Any,
    rng: np.random.Generator,
) -> LowRankKernel:
    """Coordinates in the span of all points, or in a basis: of at most `rank` directions, or as it is given."""
    found = _coordinates(X, kernel, params, rank, basis, rng)
    check_extent(found.factor, of="coordinates under its kernel")
    return found


def _coordinates(
    X: np.ndarray,
    kernel: Any,
    params: dict[str, Any],
    rank: int | None,
    basis: Any,
    rng: np.random.Generator,
) -> LowRankKernel:
    n = X.shape[0]
    rank = None if rank is None else check_rank(rank, n)
    if not isinstance(basis, str):
        return combined_factor(X, kernel, check_basis(basis, rank), **params)
    check_choice(basis, "basis", dict.fromkeys(_BASES))
    if rank is None:
        return spectral_factor(X, kernel, **params)
    if basis == "cholesky":
        return incomplete_cholesky(X, kernel, rank=rank, tol=0.0, **params)
    if basis == "subset":
        return nystroem(X, kernel, landmarks=rank, random_state=rng, **params)
    if basis == "spectral":
        return spectral_factor(X, kernel, rank=rank, **params)
    if basis == "random":
        J = rng.standard_normal((n, rank))
    else:
        # Clusters in coordinates of a few times as many dimensions, and the means of their points.
        near = incomplete_cholesky(X, kernel, rank=min(n, 3 * rank), tol=0.0, **params)
        labels = kernel_kmeans(near.factor, rank, n_init=1, random_state=rng).labels
        J = (labels[:, None] == np.arange(rank)).astype(float)
        J /= np.maximum(J.sum(axis=0), 1.0)
    return combined_factor(X, kernel, J, **params)
