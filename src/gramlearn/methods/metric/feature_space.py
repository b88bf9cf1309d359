"""p(x) = U' phi(x): coordinates of points in an orthonormal basis of directions of feature space (J12 3.6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import Array, clipped, namespace, read, to_numpy
from gramlearn._base.distances import equal_rows, powers_between, squared_distances
from gramlearn._base.points import rows_at
from gramlearn._base.validation import check_basis, check_choice, check_extent
from gramlearn.kernels.low_rank.columns import combined_factor, incomplete_cholesky, nystroem
from gramlearn.kernels.low_rank.factor import LowRankKernel, check_rank
from gramlearn.kernels.low_rank.spectral import spectral_factor, spectral_factor_of
from gramlearn.kernels.matrix import KernelMatrix, read_kernel_matrix
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.clustering.kernel_kmeans import kernel_kmeans

_WITH_GAMMA = ("poly", "polynomial", "rbf", "sigmoid")
_BASES = ("cholesky", "subset", "spectral", "random", "kmeans")
_ROUNDING = 64  # ulps of a kernel value that a function of points may be wrong by
_SAMPLE = 1000  # points whose distances stand for those of all, where all are too many


@final
@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """Points in the feature space of a kernel k0, by coordinates in a basis U."""

    base: KernelMatrix  # k0, and the points
    coordinates: LowRankKernel  # p, and its rows for the points
    keeps_rest: bool  # whether U is a given basis, and directions outside it count as well
    is_whole: bool  # whether all directions count; a basis alone may not tell points apart

    @classmethod
    def of(
        cls, X: Any, kernel: Any, params: Any, rank: Any, basis: Any, complement: bool, rng: Any
    ) -> "FeatureSpace":
        """The span of all points, or of a basis: of at most `rank` directions, or as it is given."""
        params = _with_defaults(X, kernel, params)
        base = read_kernel_matrix(X, kernel, params)
        found = _coordinates(X, kernel, params, rank, basis, rng)
        check_extent(found.factor, of="coordinates under its kernel")
        has_basis = rank is not None or not isinstance(basis, str)
        return cls(base, found, has_basis and complement, complement or not has_basis)

    def coincide(self, i: Any, j: Any) -> Array:
        """Whether points are equal, to rounding: in feature space, or as the basis sees them."""
        if not self.is_whole:
            return equal_rows(_to_rounding(self.coordinates.factor), i, j)
        size = self._sizes(i, j)
        rounding = _ROUNDING * self.base.eps * size
        return size - 2 * self.base.entries(i, j) <= rounding

    def rest(self, i: Any, j: Any) -> Array:
        """Squared distances of k0 less what the coordinates have of them."""
        plain = self._sizes(i, j) - 2 * self.base.entries(i, j)
        return clipped(plain - squared_distances(self.coordinates.factor, i, j), low=0.0)

    def rest_between(self, rows: Any, others: Any) -> Array:
        """The same between each of `rows` and each of `others`."""
        diagonal, P = self.base.diagonal(), self.coordinates.factor
        plain = rows_at(diagonal, rows)[:, None] + rows_at(diagonal, others)
        plain = plain - 2 * rows_at(self.base.columns(others), rows)
        return clipped(plain - powers_between(rows_at(P, rows), rows_at(P, others), 2), low=0.0)

    def _sizes(self, i: Any, j: Any) -> Array:
        """k0(x_i, x_i) + k0(x_j, x_j)."""
        diagonal = self.base.diagonal()
        return rows_at(diagonal, i) + rows_at(diagonal, j)

    def places(self, alpha: float) -> Places:
        """The points with the distances that count, under the prior `alpha` times the kernel."""
        P = alpha**0.5 * self.coordinates.factor
        if not self.keeps_rest:
            return Places(P)
        return Places(
            P,
            lambda i, j: alpha * self.rest(i, j),
            lambda rows, others: alpha * self.rest_between(rows, others),
        )

    def sample(self, rng: np.random.Generator) -> Array:
        """Points with the distances that count: by their coordinates, or some of them in all directions."""
        if not self.keeps_rest:
            return _to_rounding(self.coordinates.factor)
        rows = np.sort(rng.permutation(self.base.n_points)[:_SAMPLE])
        some = KernelMatrix.precomputed(rows_at(self.base.columns(rows), rows), self.base.eps)
        return _to_rounding(spectral_factor_of(some).factor)


def _with_defaults(X: Array, kernel: Any, params: Any) -> dict[str, Any]:
    """The parameters of a kernel; without a gamma, 1 / (d var X), as in SVC, where the kernel has one."""
    if not (params is None or isinstance(params, Mapping)):
        raise TypeError(
            '`kernel_params` must be a dict of parameters by their names, such as {"gamma": 0.1}; got '
            f"{params!r:.40}."
        )
    given = dict(params or {})
    if isinstance(kernel, str) and kernel in _WITH_GAMMA and given.get("gamma") is None:
        variance = read(namespace(X).var(X))
        given["gamma"] = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    return given


def _to_rounding(P: Array) -> Array:
    """Coordinates without their last digits: points that are equal but for rounding are equal."""
    xp = namespace(P)
    unit = 1e-10 * read(xp.max(xp.abs(P))) or 1.0
    return unit * xp.round(P / unit)


def _coordinates(
    X: Array, kernel: Any, params: Any, rank: Any, basis: Any, rng: np.random.Generator
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
        labels = to_numpy(kernel_kmeans(near.factor, rank, n_init=1, random_state=rng).labels)
        J = (labels[:, None] == np.arange(rank)).astype(float)
        J /= np.maximum(J.sum(axis=0), 1.0)
    return combined_factor(X, kernel, J, **params)
