"""d(x, y) = (x - y)' W (x - y): a learned metric as a function of new points, in the library of its arrays.

    full        W = A'A = L'L                      x -> L x
    low rank    W = I + R (F - I) R',  R'R = I     x -> x + R (F^(1/2) - I) R'x
    diagonal    W = diag(w)                        x_f -> sqrt(w_f) x_f

The root of W is the symmetric one: of all L with L'L = W it moves the points least, and the identity stays the
identity. The low-rank form takes d k numbers and never writes out a d x d matrix (J12 3.6).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, svds

from gramlearn._base.arrays import (
    Array,
    clipped,
    count_true,
    every_row,
    eye,
    inverse_or_zero,
    machine_eps,
    namespace,
)
from gramlearn._base.distances import squared_distances
from gramlearn._base.matrices import eigh, svd, symmetric_part, triangle_of
from gramlearn._base.points import centered, column_means, row_squares, rows_at

_LARGEST = 20_000  # features for which W is written out: 3 GB
_ROUNDING = 10 * float(np.finfo(float).eps)  # a share of the largest number of a column
_ROWS = 1 << 16  # whose differences from the mean are in memory at a time
_LARGEST_OUTPUT = 10**9  # numbers of a transformed sparse X: 8 GB


class MetricMap(ABC):
    """x -> L x with L'L = W. X may be sparse wherever rows of points are taken."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """d, the columns of the points."""

    @property
    @abstractmethod
    def components(self) -> Array:
        """L, d x d."""

    @property
    @abstractmethod
    def matrix(self) -> Array:
        """W, d x d."""

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """W_ff: what a difference of 1 in feature f alone measures, squared."""

    @abstractmethod
    def learned_in(self) -> tuple[Array, Array]:
        """(R, F): W is R F R' within the span of R, d x k, and the identity beyond it."""

    @abstractmethod
    def transform(self, X: Any) -> Array:
        """X L', whose plain squared distances are the learned ones, in the precision of X."""

    @abstractmethod
    def squared_lengths(self, Z: Any) -> Array:
        """z' W z for each row z of Z."""

    @abstractmethod
    def squared_distances(self, X: Any, i: Any, j: Any) -> Array:
        """(x_i - x_j)' W (x_i - x_j) of pairs of rows of X."""

    @abstractmethod
    def leading_components(self, X: Any, count: int) -> Array:
        """The rows, count x d, of the L that keeps most of the distances between these points."""


@final
@dataclass(frozen=True, eq=False)
class FullMap(MetricMap):
    """W = A'A, with A of r rows and d columns: it has twice the digits of W where features differ in units."""

    factor: Array

    @property
    def n_features(self) -> int:
        return int(self.factor.shape[1])

    @cached_property
    def components(self) -> Array:
        # A = U S V' and L = V S V', without W in between, which squares the ratio of the units.
        _, s, Vt = svd(self.factor)
        return symmetric_part((Vt.T * s) @ Vt)

    @property
    def matrix(self) -> Array:
        return self.factor.T @ self.factor

    @property
    def diagonal(self) -> Array:
        return row_squares(self.factor.T)

    def learned_in(self) -> tuple[Array, Array]:
        return eye(self.n_features, self.factor), self.matrix

    def transform(self, X: Any) -> Array:
        return X @ _in_precision_of(X, self.components)

    def squared_lengths(self, Z: Any) -> Array:
        return row_squares(Z @ self.factor.T)

    def squared_distances(self, X: Any, i: Any, j: Any) -> Array:
        return squared_distances(X @ self.factor.T, i, j)

    def leading_components(self, X: Any, count: int) -> Array:
        return _principal_components(self, X, count)


@final
@dataclass(frozen=True, eq=False)
class LowRankMap(MetricMap):
    """W = I + R (F - I) R' with R of d rows and k orthonormal columns, and F positive semidefinite."""

    basis: Array
    inner: Array

    @property
    def n_features(self) -> int:
        return int(self.basis.shape[0])

    @cached_property
    def root(self) -> Array:
        """F^(1/2)."""
        return symmetric_root(self.inner)

    @property
    def components(self) -> Array:
        return self._written_out(self.root)

    @property
    def matrix(self) -> Array:
        return self._written_out(self.inner)

    @property
    def diagonal(self) -> Array:
        xp = namespace(self.basis)
        return 1.0 + xp.vecdot(self.basis @ (self.inner - self._eye), self.basis)

    @property
    def _eye(self) -> Array:
        return eye(self.inner.shape[0], self.inner)

    def learned_in(self) -> tuple[Array, Array]:
        return self.basis, self.inner

    def _written_out(self, F: Array) -> Array:
        d = self.n_features
        _check_written_out(
            d, "`basis_` and `inner_` hold all of it, and pair_distance and transform use them"
        )
        return eye(d, F) + self.basis @ (F - self._eye) @ self.basis.T

    def transform(self, X: Any) -> Array:
        if issparse(X) and X.shape[0] * X.shape[1] > _LARGEST_OUTPUT:
            raise ValueError(
                f"`X` is sparse, and transformed it would be dense, {X.shape[0]} x {X.shape[1]}; "
                "pass n_components= to MetricLearner, use pair_distance, or transform fewer rows at a time."
            )
        R, change = (_in_precision_of(X, A) for A in (self.basis, self.root - self._eye))
        moved = (X @ R) @ change @ R.T
        return (X.toarray() if issparse(X) else X) + moved

    def squared_lengths(self, Z: Any) -> Array:
        inside = Z @ self.basis
        # What lies outside the basis, and what F makes of what lies inside: both at least 0.
        outside = clipped(row_squares(Z) - row_squares(inside), low=0.0)
        return outside + row_squares(inside @ self.root)

    def squared_distances(self, X: Any, i: Any, j: Any) -> Array:
        inside = X @ self.basis
        learned = squared_distances(inside @ self.root, i, j)
        return distances_beyond(X, inside, i, j) + learned

    def leading_components(self, X: Any, count: int) -> Array:
        return _principal_components(self, X, count)


@final
@dataclass(frozen=True, eq=False)
class DiagonalMap(MetricMap):
    """W = diag(w): each feature times a number. Of sparse points the images are sparse."""

    weights: Array

    @property
    def n_features(self) -> int:
        return int(self.weights.shape[0])

    @property
    def components(self) -> Array:
        return self._written_out(self._root)

    @property
    def matrix(self) -> Array:
        return self._written_out(self.weights)

    @property
    def diagonal(self) -> Array:
        return self.weights

    def learned_in(self) -> tuple[Array, Array]:
        return eye(self.n_features, self.weights), self.matrix

    @property
    def _root(self) -> Array:
        return namespace(self.weights).sqrt(self.weights)

    def _written_out(self, diagonal: Array) -> Array:
        why = "`feature_weights_` holds all of it, and pair_distance and transform use that"
        _check_written_out(self.n_features, why)
        return eye(self.n_features, diagonal) * diagonal

    def transform(self, X: Any) -> Any:
        return scaled_columns(X, _in_precision_of(X, self._root))

    def squared_lengths(self, Z: Any) -> Array:
        return row_squares(self.transform(Z))

    def squared_distances(self, X: Any, i: Any, j: Any) -> Array:
        return squared_distances(self.transform(X), i, j)

    def leading_components(self, X: Any, count: int) -> Array:
        # A feature's share is its weight times its variance, which no choice of units changes.
        xp = namespace(self.weights)
        order = xp.argsort(-self.weights * column_variances(X), stable=True)[:count]
        is_chosen = order[:, None] == every_row(self.n_features, order)
        return xp.where(is_chosen, self._root, xp.zeros_like(self._root))


def _in_precision_of(X: Any, A: Array) -> Array:
    """A with numbers of the type of X."""
    return namespace(A).astype(A, X.dtype, copy=False)


def _check_written_out(d: int, instead: str) -> None:
    if d > _LARGEST:
        raise ValueError(f"a matrix of {d} x {d} numbers is not made; {instead}.")


def scaled_columns(X: Any, scale: Array) -> Any:
    """Each column times its number; of a sparse X a sparse matrix."""
    return X.multiply(scale[None, :]).tocsr() if issparse(X) else X * scale


def column_variances(X: Any) -> Array:
    """The variance of each column, over n - 1; exactly 0 where it is no more than rounding."""
    n, mean = X.shape[0], column_means(X)
    xp = namespace(mean)
    if issparse(X):
        entries = X.tocoo()
        off = (entries.data - mean[entries.col]) ** 2
        zeros = n - np.bincount(entries.col, minlength=len(mean))
        squares = np.bincount(entries.col, off, minlength=len(mean)) + zeros * mean**2
        largest = np.asarray(abs(X).max(axis=0).todense()).reshape(-1)
    else:
        blocks = [X[start : min(start + _ROWS, n), ...] for start in range(0, n, _ROWS)]
        squares = sum((xp.sum((x - mean) ** 2, axis=0) for x in blocks), xp.zeros_like(mean))
        largest = xp.maximum(xp.abs(xp.max(X, axis=0)), xp.abs(xp.min(X, axis=0)))
    variances = squares / max(n - 1, 1)
    rounding = _ROUNDING * largest
    return xp.where(xp.sqrt(variances) > rounding, variances, xp.zeros_like(variances))


def distances_beyond(X: Any, inside: Array, i: Any, j: Any) -> Array:
    """|x_i - x_j|^2 less what `inside`, the coordinates X R, have of it."""
    return clipped(squared_distances(X, i, j) - squared_distances(inside, i, j), low=0.0)


def distances_beyond_between(X: Any, inside: Array, rows: Any, others: Any) -> Array:
    """The same between each of `rows` and each of `others`; X may be sparse."""
    whole, part = (squares_between(Z, rows, others) for Z in (X, inside))
    return clipped(whole - part, low=0.0)


def squares_between(Z: Any, rows: Any, others: Any) -> Array:
    """|z_i - z_j|^2 by products of the rows of Z, which may be sparse."""
    A, B = rows_at(Z, rows), rows_at(Z, others)
    products = A @ B.T
    products = products.toarray() if issparse(products) else products
    return row_squares(A)[:, None] + row_squares(B) - 2 * products


def principal_directions(points: Array, count: int) -> Array:
    """V' of the centered points U S V', count x d: no other so many directions keep more of the distances."""
    n, d = points.shape
    some = centered(points)
    return _with_signs(svd(triangle_of(some) if n > d else some)[2][:count, :])


def _principal_components(found: MetricMap, X: Any, count: int) -> Array:
    """V'L, count x d, with V the principal directions of the points X L'; of a sparse X fewer than it has."""
    if not issparse(X):
        return found.transform(principal_directions(found.transform(X), count))
    mean = column_means(X)

    def times_root(V: np.ndarray) -> np.ndarray:
        return found.transform(V.reshape(X.shape[1], -1).T).T.reshape(V.shape)

    def transformed(V: np.ndarray) -> np.ndarray:
        moved = times_root(V)
        return np.asarray(X @ moved - mean @ moved)

    def adjoint(U: np.ndarray) -> np.ndarray:
        return times_root(X.T @ U - np.multiply.outer(mean, U.sum(axis=0)))

    # X L' of a sparse X is dense: it is multiplied by, and never written out.
    operator = LinearOperator(
        X.shape, transformed, adjoint, matmat=transformed, rmatmat=adjoint, dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(min(X.shape))
    Vt = svds(operator, count, v0=start, return_singular_vectors="vh")[2]
    return found.transform(_with_signs(Vt[::-1]))


def _with_signs(Vt: Array) -> Array:
    """Rows whose largest entry is positive: the same on every machine."""
    xp, (n, d) = namespace(Vt), Vt.shape
    places = xp.argmax(xp.abs(Vt), axis=1) + d * every_row(n, Vt)
    largest = xp.take(xp.reshape(Vt, (-1,)), places)
    ones = xp.ones_like(largest)
    return Vt * xp.where(largest < 0, -ones, ones)[:, None]


def symmetric_root(W: Array) -> Array:
    """W^(1/2), positive semidefinite."""
    s, V = eigh(symmetric_part(W))
    return (V * namespace(s).sqrt(clipped(s, low=0.0))) @ V.T


def unit_free_root(W: Array) -> Array:
    """A with A'A = W and as many rows as W has rank, which no choice of the units of the features changes.

    The rank is that of W scaled to a diagonal of ones, so that features in small units count as well.
    """
    xp = namespace(W)
    scale = xp.sqrt(clipped(xp.linalg.diagonal(W), low=0.0))
    inverse = inverse_or_zero(scale)
    s, V = eigh(inverse[:, None] * symmetric_part(W) * inverse)
    first = s.shape[0] - count_true(s > s.shape[0] * machine_eps(s) * clipped(s[-1], low=0.0))
    return (V[:, first:] * xp.sqrt(s[first:])).T * scale
