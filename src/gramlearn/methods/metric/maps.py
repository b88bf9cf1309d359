"""d(x, y) = (x - y)' W (x - y): a learned metric as a function of new points.

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

from gramlearn._base.distances import squared_distances

_LARGEST = 20_000  # features for which W is written out: 3 GB
_LARGEST_OUTPUT = 10**9  # numbers of a transformed sparse X: 8 GB


class MetricMap(ABC):
    """x -> L x with L'L = W. X may be sparse wherever rows of points are taken."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """d, the columns of the points."""

    @property
    @abstractmethod
    def components(self) -> np.ndarray:
        """L, d x d."""

    @property
    @abstractmethod
    def matrix(self) -> np.ndarray:
        """W, d x d."""

    @property
    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """W_ff: what a difference of 1 in feature f alone measures, squared."""

    @abstractmethod
    def learned_in(self) -> tuple[np.ndarray, np.ndarray]:
        """(R, F): W is R F R' within the span of R, d x k, and the identity beyond it."""

    @abstractmethod
    def transform(self, X: Any) -> np.ndarray:
        """X L', whose plain squared distances are the learned ones, in the precision of X."""

    @abstractmethod
    def squared_lengths(self, Z: Any) -> np.ndarray:
        """z' W z for each row z of Z."""

    @abstractmethod
    def squared_distances(self, X: Any, i: Any, j: Any) -> np.ndarray:
        """(x_i - x_j)' W (x_i - x_j) of pairs of rows of X."""

    @abstractmethod
    def leading_components(self, X: Any, count: int) -> np.ndarray:
        """The rows, count x d, of the L that keeps most of the distances between these points."""


@final
@dataclass(frozen=True, eq=False)
class FullMap(MetricMap):
    """W = A'A, with A of r rows and d columns: it has twice the digits of W where features differ in units."""

    factor: np.ndarray

    @property
    def n_features(self) -> int:
        return int(self.factor.shape[1])

    @cached_property
    def components(self) -> np.ndarray:
        # A = U S V' and L = V S V', without W in between, which squares the ratio of the units.
        _, s, Vt = np.linalg.svd(self.factor, full_matrices=False)
        root = (Vt.T * s) @ Vt
        return np.asarray((root + root.T) / 2)

    @property
    def matrix(self) -> np.ndarray:
        return np.asarray(self.factor.T @ self.factor)

    @property
    def diagonal(self) -> np.ndarray:
        return row_squares(self.factor.T)

    def learned_in(self) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(self.n_features), self.matrix

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.components.astype(X.dtype, copy=False))

    def squared_lengths(self, Z: Any) -> np.ndarray:
        return row_squares(np.asarray(Z @ self.factor.T))

    def squared_distances(self, X: Any, i: Any, j: Any) -> np.ndarray:
        return np.asarray(squared_distances(np.asarray(X @ self.factor.T), i, j))

    def leading_components(self, X: Any, count: int) -> np.ndarray:
        return _principal_components(self, X, count)


@final
@dataclass(frozen=True, eq=False)
class LowRankMap(MetricMap):
    """W = I + R (F - I) R' with R of d rows and k orthonormal columns, and F positive semidefinite."""

    basis: np.ndarray
    inner: np.ndarray

    @property
    def n_features(self) -> int:
        return int(self.basis.shape[0])

    @cached_property
    def root(self) -> np.ndarray:
        """F^(1/2)."""
        return symmetric_root(self.inner)

    @property
    def components(self) -> np.ndarray:
        return self._written_out(self.root)

    @property
    def matrix(self) -> np.ndarray:
        return self._written_out(self.inner)

    @property
    def diagonal(self) -> np.ndarray:
        return 1.0 + np.einsum(
            "fk,fk->f", self.basis @ (self.inner - np.eye(len(self.inner))), self.basis
        )

    def learned_in(self) -> tuple[np.ndarray, np.ndarray]:
        return self.basis, self.inner

    def _written_out(self, F: np.ndarray) -> np.ndarray:
        d, k = self.basis.shape
        _check_written_out(
            d, "`basis_` and `inner_` hold all of it, and pair_distance and transform use them"
        )
        return np.asarray(np.eye(d) + self.basis @ (F - np.eye(k)) @ self.basis.T)

    def transform(self, X: Any) -> np.ndarray:
        if issparse(X) and X.shape[0] * X.shape[1] > _LARGEST_OUTPUT:
            raise ValueError(
                f"`X` is sparse, and transformed it would be dense, {X.shape[0]} x {X.shape[1]}; "
                "pass n_components= to MetricLearner, use pair_distance, or transform fewer rows at a time."
            )
        k = self.basis.shape[1]
        R, change = (A.astype(X.dtype, copy=False) for A in (self.basis, self.root - np.eye(k)))
        moved = (X @ R) @ change @ R.T
        return np.asarray((X.toarray() if issparse(X) else X) + moved)

    def squared_lengths(self, Z: Any) -> np.ndarray:
        inside = np.asarray(Z @ self.basis)
        # What lies outside the basis, and what F makes of what lies inside: both at least 0.
        outside = np.maximum(row_squares(Z) - row_squares(inside), 0.0)
        return np.asarray(outside + row_squares(inside @ self.root))

    def squared_distances(self, X: Any, i: Any, j: Any) -> np.ndarray:
        inside = np.asarray(X @ self.basis)
        learned = squared_distances(inside @ self.root, i, j)
        return np.asarray(distances_beyond(X, inside, i, j) + learned)

    def leading_components(self, X: Any, count: int) -> np.ndarray:
        return _principal_components(self, X, count)


@final
@dataclass(frozen=True, eq=False)
class DiagonalMap(MetricMap):
    """W = diag(w): each feature times a number. Of sparse points the images are sparse."""

    weights: np.ndarray

    @property
    def n_features(self) -> int:
        return len(self.weights)

    @property
    def components(self) -> np.ndarray:
        return self._written_out(np.sqrt(self.weights))

    @property
    def matrix(self) -> np.ndarray:
        return self._written_out(self.weights)

    @property
    def diagonal(self) -> np.ndarray:
        return self.weights

    def learned_in(self) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(self.n_features), self.matrix

    def _written_out(self, diagonal: np.ndarray) -> np.ndarray:
        why = "`feature_weights_` holds all of it, and pair_distance and transform use that"
        _check_written_out(self.n_features, why)
        return np.diag(diagonal)

    def transform(self, X: Any) -> Any:
        return scaled_columns(X, np.sqrt(self.weights).astype(X.dtype, copy=False))

    def squared_lengths(self, Z: Any) -> np.ndarray:
        return row_squares(self.transform(Z))

    def squared_distances(self, X: Any, i: Any, j: Any) -> np.ndarray:
        return np.asarray(squared_distances(self.transform(X), i, j))

    def leading_components(self, X: Any, count: int) -> np.ndarray:
        # A feature's share is its weight times its variance, which no choice of units changes.
        order = np.argsort(-self.weights * column_variances(X), kind="stable")[:count]
        L = np.zeros((count, self.n_features))
        L[np.arange(count), order] = np.sqrt(self.weights[order])
        return L


def _check_written_out(d: int, instead: str) -> None:
    if d > _LARGEST:
        raise ValueError(f"a matrix of {d} x {d} numbers is not made; {instead}.")


def scaled_columns(X: Any, scale: np.ndarray) -> Any:
    """Each column times its number; of a sparse X a sparse matrix."""
    return X.multiply(scale[None, :]).tocsr() if issparse(X) else X * scale


def column_variances(X: Any) -> np.ndarray:
    """The variance of each column, over n - 1; exactly 0 where it is no more than rounding."""
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0)).reshape(-1)
    if issparse(X):
        entries = X.tocoo()
        off = (entries.data - mean[entries.col]) ** 2
        zeros = n - np.bincount(entries.col, minlength=len(mean))
        squares = np.bincount(entries.col, off, minlength=len(mean)) + zeros * mean**2
        largest = np.asarray(abs(X).max(axis=0).todense()).reshape(-1)
    else:
        squares, largest = ((X - mean) ** 2).sum(axis=0), np.abs(X).max(axis=0)
    variances = squares / max(n - 1, 1)
    rounding = 10 * np.finfo(float).eps * largest
    return np.where(np.sqrt(variances) > rounding, variances, 0.0)


def distances_beyond(X: Any, inside: np.ndarray, i: Any, j: Any) -> np.ndarray:
    """|x_i - x_j|^2 less what `inside`, the coordinates X R, have of it."""
    rest = squared_distances(X, i, j) - squared_distances(inside, i, j)
    return np.asarray(np.maximum(rest, 0.0))


def distances_beyond_between(X: Any, inside: np.ndarray, rows: Any, others: Any) -> np.ndarray:
    """The same between each of `rows` and each of `others`; X may be sparse."""
    whole, part = (squares_between(Z, rows, others) for Z in (X, inside))
    return np.asarray(np.maximum(whole - part, 0.0))


def squares_between(Z: Any, rows: Any, others: Any) -> np.ndarray:
    """|z_i - z_j|^2 by products of the rows of Z, which may be sparse."""
    A, B = Z[rows], Z[others]
    products = A @ B.T
    products = products.toarray() if issparse(products) else np.asarray(products)
    return np.asarray(row_squares(A)[:, None] + row_squares(B) - 2 * products)


def principal_directions(points: np.ndarray, count: int) -> np.ndarray:
    """V' of the centered points U S V', count x d: no other so many directions keep more of the distances."""
    n, d = points.shape
    centered = points - points.mean(axis=0)
    # The triangle of a QR has the same singular values and right singular vectors.
    triangle = np.linalg.qr(centered, mode="r") if n > d else centered
    return _with_signs(np.linalg.svd(triangle, full_matrices=False)[2][:count])


def _principal_components(found: MetricMap, X: Any, count: int) -> np.ndarray:
    """V'L, count x d, with V the principal directions of the points X L'; of a sparse X fewer than it has."""
    if not issparse(X):
        return found.transform(principal_directions(found.transform(X), count))
    mean = np.asarray(X.mean(axis=0)).reshape(-1)

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


def _with_signs(Vt: np.ndarray) -> np.ndarray:
    """Rows whose largest entry is positive: the same on every machine."""
    largest = Vt[np.arange(len(Vt)), np.argmax(np.abs(Vt), axis=1)]
    return np.asarray(Vt * np.where(largest < 0, -1.0, 1.0)[:, None])


def row_squares(Z: Any) -> np.ndarray:
    """|z|^2 for each row z, of an array or a sparse matrix."""
    if issparse(Z):
        return np.asarray(Z.multiply(Z).sum(axis=1)).reshape(-1)
    return np.einsum("ij,ij->i", Z, Z)


def symmetric_root(W: np.ndarray) -> np.ndarray:
    """W^(1/2), positive semidefinite."""
    s, V = np.linalg.eigh((W + W.T) / 2)
    return np.asarray((V * np.sqrt(np.maximum(s, 0.0))) @ V.T)


def unit_free_root(W: np.ndarray) -> np.ndarray:
    """A with A'A = W and as many rows as W has rank, which no choice of the units of the features changes.

    The rank is that of W scaled to a diagonal of ones, so that features in small units count as well.
    """
    scale = np.sqrt(np.maximum(np.diagonal(W), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    s, V = np.linalg.eigh(inverse[:, None] * ((W + W.T) / 2) * inverse)
    kept = s > len(s) * np.finfo(float).eps * max(s[-1], 0.0)
    return np.asarray((V[:, kept] * np.sqrt(s[kept])).T * scale)
