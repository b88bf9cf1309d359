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

from gramlearn._base.arrays import (
    Array,
    as_real,
    count_true,
    eye,
    machine_eps,
    namespace,
    read,
    to_numpy,
)
from gramlearn._base.matrices import eigh, svd, triangle_of
from gramlearn._base.points import column_means, rows_at
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
) -> Array:
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
        directions = _where(X, check_basis(basis, rank))
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


def orthonormal(directions: Array) -> Array:
    """An orthonormal basis of the span of the columns."""
    gram, xp = directions.T @ directions, namespace(directions)
    if read(xp.max(xp.abs(gram - eye(gram.shape[0], gram)))) <= _ORTHONORMAL:
        return xp.asarray(directions, copy=True)
    U, s, _ = svd(directions)
    independent = count_true(s > _DEPENDENT * s[0]) if s.shape[0] and read(s[0]) > 0 else 0
    if not independent:
        raise ValueError("`basis` spans no direction: all of its columns are zero.")
    return xp.asarray(U[:, :independent], copy=True)


def _singular_vectors(X: Any, classes: Classes, rank: int, rng: np.random.Generator) -> Array:
    del classes
    rank = min(rank, *X.shape)
    if min(X.shape) <= _EXACT:
        return _exact_singular_vectors(X, rank)
    from sklearn.utils.extmath import randomized_svd

    seed = int(rng.integers(2**31))
    found = randomized_svd(_for_scikit_learn(X), rank, n_iter=7, random_state=seed)[2].T
    return _where(X, found)


def _exact_singular_vectors(X: Any, rank: int) -> Array:
    """From the Gram matrix of the shorter side where that is exact enough, and otherwise from X itself.

    Rounding of X'X is that of an X that differs by eps (s_1 / s_k) |X|, where s_k is the least singular value
    that is kept: up to a ratio of 1e3, that is the thirteenth digit. A sparse X is never written out.
    """
    wide, is_sparse = X.shape[0] < X.shape[1], issparse(X)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # of points that are too large for their squares
        gram = X @ X.T if wide else X.T @ X
    gram = gram.toarray() if is_sparse else gram
    xp = namespace(gram)
    if is_sparse or _LEAST_SQUARE < read(xp.max(xp.linalg.diagonal(gram))) < np.inf:
        squares, U = eigh(gram)
        squares, U = xp.flip(squares)[:rank], xp.flip(U, axis=1)[:, :rank]
        if is_sparse or read(squares[-1] - _WELL_CONDITIONED**2 * squares[0]) >= 0:
            kept = count_true(squares > gram.shape[0] * machine_eps(gram) * squares[0])
            return X.T @ U[:, :kept] if wide else U[:, :kept]
    _, s, Vt = svd(X if wide else triangle_of(X))
    return Vt[: min(rank, count_true(s > _DEPENDENT * s[0])), :].T


def _class_means(X: Any, classes: Classes, rank: int, rng: np.random.Generator) -> Array:
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
        every = [column_means(rows_at(X, rows)) for rows in classes]
        return _cluster_means(namespace(every[0]).stack(every), rank, rng)
    # The first classes take one cluster more where the rank is not a multiple of their number.
    counts = [rank // len(classes) + (k < rank % len(classes)) for k in range(len(classes))]
    parts = zip(classes, counts, strict=True)
    means = [_cluster_means(rows_at(X, rows), count, rng) for rows, count in parts]
    return namespace(means[0]).concat(means, axis=1)


def _subset(X: Any, classes: Classes, rank: int, rng: np.random.Generator) -> Array:
    del classes
    rows = rng.choice(X.shape[0], size=min(rank, X.shape[0]), replace=False)
    return _written_out(rows_at(X, np.sort(rows))).T


def _cluster_means(X: Any, count: int, rng: np.random.Generator) -> Array:
    from sklearn.cluster import KMeans

    count = min(count, X.shape[0])
    if count == X.shape[0]:
        return _written_out(X).T
    clusters = KMeans(count, n_init=1, random_state=int(rng.integers(2**31)))
    return _where(X, clusters.fit(_for_scikit_learn(X)).cluster_centers_.T)


def _written_out(X: Any) -> Array:
    return X.toarray() if issparse(X) else X


def _for_scikit_learn(X: Any) -> Any:
    """Points in host memory, where its k-means and randomized singular vectors are computed."""
    return X if issparse(X) else to_numpy(X)


def _where(X: Any, found: np.ndarray) -> Array:
    """What was found, where the points are."""
    return found if issparse(X) else as_real(found, X)


_BASES: Mapping[str, Callable[[Any, Classes, int, np.random.Generator], Array]] = {
    "svd": _singular_vectors,
    "means": lambda X, classes, rank, rng: _cluster_means(X, rank, rng),
    "class_means": _class_means,
    "subset": _subset,
}
