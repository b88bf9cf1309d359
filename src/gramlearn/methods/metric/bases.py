"""R'R = I with d rows and at most k columns: the directions in which a metric of low rank may differ (J12 3.6).

    "svd"            the leading right singular vectors of X
    "means"          means of k clusters of the points
    "class_means"    of c classes: means of k / c clusters of each, or of k clusters of the c means if c > k
    "subset"         k of the points, drawn at random
    a d x k matrix   its columns

X may be sparse, and is never centered: the origin is a point like any other to a kernel. Columns that depend
on the others are dropped.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.threads import threads_that_help
from gramlearn._base.validation import check_basis, check_choice, check_count

Classes = list[np.ndarray] | None
_DEPENDENT = 1e-10  # singular values below this share of the largest are rounding
_WELL_CONDITIONED = (
    1e-4  # singular values down to this share of the largest are found from their squares
)
_LEAST_SQUARE = 1e-250  # squares of smaller numbers lose digits, or are 0
_ORTHONORMAL = (
    1e-13  # products of columns that differ from those of an orthonormal basis by no more
)
_EXACT = 1000  # up to this many rows or columns, singular vectors are computed exactly


def basis_of(
    basis: Any, X: Any, classes: Classes, rank: int | None, rng: np.random.Generator
) -> np.ndarray:
    """Orthonormal columns that span the basis asked for; `classes` are the rows of each class, where known.

    A matrix needs no rank: it has one.
    """
    if rank is not None and check_count(rank, "rank") > X.shape[1]:
        raise ValueError(
            f"`rank={rank}` is more than the {X.shape[1]} features of X; pass at most that many, or None."
        )
    if isinstance(basis, str):
        assert rank is not None
        with threads_that_help():
            directions = check_choice(basis, "basis", _BASES)(X, classes, rank, rng)
    else:
        directions = check_basis(basis, rank)
        if directions.shape[0] != X.shape[1]:
            raise ValueError(
                f"`basis` has {directions.shape[0]} rows, but X has {X.shape[1]} features; its columns are "
                "directions in the space of the features."
            )
    return orthonormal(directions)


def check_basis_name(basis: Any) -> None:
    """A basis is known by its name, whether there is a rank to use it with or not; or it is a matrix."""
    if isinstance(basis, str):
        check_choice(basis, "basis", _BASES)


def orthonormal(directions: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of the columns."""
    gram = directions.T @ directions
    if np.abs(gram - np.eye(len(gram))).max() <= _ORTHONORMAL:
        return np.ascontiguousarray(directions)
    U, s, _ = np.linalg.svd(directions, full_matrices=False)
    independent = s > _DEPENDENT * s[0] if s.size and s[0] > 0 else np.zeros(s.shape, dtype=bool)
    if not independent.any():
        raise ValueError("`basis` spans no direction: all of its columns are zero.")
    return np.ascontiguousarray(U[:, independent])


def _singular_vectors(X: Any, classes: Classes, rank: int, rng: np.random.Generator) -> np.ndarray:
    del classes
    rank = min(rank, *X.shape)
    if min(X.shape) <= _EXACT:
        return _exact_singular_vectors(X, rank)
    from sklearn.utils.extmath import randomized_svd

    seed = int(rng.integers(2**31))
    return np.asarray(randomized_svd(X, rank, n_iter=7, random_state=seed)[2].T)


def _exact_singular_vectors(X: Any, rank: int) -> np.ndarray:
    """From the Gram matrix of the shorter side where that is exact enough, and otherwise from X itself.

    Rounding of X'X is that of an X that differs by eps (s_1 / s_k) |X|, where s_k is the least singular value
    that is kept: up to a ratio of 1e3, that is the thirteenth digit. A sparse X is never written out.
    """
    wide, is_sparse = X.shape[0] < X.shape[1], issparse(X)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # of points that are too large for their squares
        gram = X @ X.T if wide else X.T @ X
    if is_sparse or _LEAST_SQUARE < gram.diagonal().max() < np.inf:
        squares, U = np.linalg.eigh(gram.toarray() if is_sparse else gram)
        squares, U = squares[::-1][:rank], U[:, ::-1][:, :rank]
        if is_sparse or squares[-1] >= _WELL_CONDITIONED**2 * squares[0]:
            U = U[:, squares > gram.shape[0] * np.finfo(float).eps * squares[0]]
            return np.asarray(X.T @ U if wide else U)
    # The triangle of X = QR has the singular values and right singular vectors of X.
    _, s, Vt = np.linalg.svd(X if wide else np.linalg.qr(X, mode="r"), full_matrices=False)
    return np.asarray(Vt[s > _DEPENDENT * s[0]][:rank].T)


def _class_means(X: Any, classes: Classes, rank: int, rng: np.random.Generator) -> np.ndarray:
    if classes is None:
        raise ValueError(
            '`basis="class_means"` needs the class of each point; pass `y`, or choose another basis.'
        )
    if not classes:
        raise ValueError(
            '`basis="class_means"` needs the class of some points, and all labels in `y` mean unknown (-1, NaN '
            "or None); pass labels, or choose another basis."
        )
    if len(classes) > rank:
        means = np.stack([np.asarray(X[rows].mean(axis=0)).reshape(-1) for rows in classes])
        return _cluster_means(means, rank, rng)
    # The first classes take one cluster more where the rank is not a multiple of their number.
    counts = [rank // len(classes) + (k < rank % len(classes)) for k in range(len(classes))]
    parts = zip(classes, counts, strict=True)
    return np.hstack([_cluster_means(X[rows], count, rng) for rows, count in parts])


def _subset(X: Any, classes: Classes, rank: int, rng: np.random.Generator) -> np.ndarray:
    del classes
    rows = rng.choice(X.shape[0], size=min(rank, X.shape[0]), replace=False)
    chosen = X[np.sort(rows)]
    return np.asarray(chosen.toarray() if issparse(chosen) else chosen).T


def _cluster_means(X: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import KMeans

    count = min(count, X.shape[0])
    if count == X.shape[0]:
        return np.asarray(X.toarray() if issparse(X) else X).T
    means = KMeans(count, n_init=1, random_state=int(rng.integers(2**31))).fit(X).cluster_centers_
    return np.asarray(means).T


_BASES: Mapping[str, Callable[[Any, Classes, int, np.random.Generator], np.ndarray]] = {
    "svd": _singular_vectors,
    "means": lambda X, classes, rank, rng: _cluster_means(X, rank, rng),
    "class_means": _class_means,
    "subset": _subset,
}
