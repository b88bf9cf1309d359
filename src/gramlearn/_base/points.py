"""|x|^2, mean, x_i - x_j: points, one a row, dense of any library or sparse, asked the same questions."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramlearn._base.arrays import (
    Array,
    added_at,
    as_index,
    constant,
    is_numpy,
    namespace,
    to_numpy,
)


def row_squares(Z: Any) -> Array:
    """|z|^2 for each row z."""
    if issparse(Z):
        return np.asarray(Z.multiply(Z).sum(axis=1)).reshape(-1)
    return namespace(Z).vecdot(Z, Z)


def column_means(X: Any) -> Array:
    """The mean of each column, a vector."""
    return np.asarray(X.mean(axis=0)).reshape(-1) if issparse(X) else namespace(X).mean(X, axis=0)


def rows_at(X: Any, rows: Any) -> Any:
    """The rows of these numbers, in that order, where X is."""
    return X[rows] if issparse(X) else namespace(X).take(X, as_index(rows, X), axis=0)


def group_sums(X: Array, groups: Array, n_groups: int) -> Array:
    """The sum of the rows of each group, numbered from 0."""
    if is_numpy(X):
        n = len(X)
        members = csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, n_groups))
        return members.T @ X
    return added_at(constant(0.0, X, (n_groups, X.shape[1])), as_index(groups, X), X)


def group_sizes(groups: Array, n_groups: int) -> np.ndarray:
    """How many rows each group has: counted where their numbers are, and told in host memory."""
    if is_numpy(groups):
        return np.bincount(groups, minlength=n_groups)
    xp = namespace(groups)
    ones = xp.ones_like(groups, dtype=xp.int64)
    return to_numpy(added_at(as_index(np.zeros(n_groups, dtype=np.int64), groups), groups, ones))


def centered(X: Any) -> Array:
    """Dense points without their mean: distances do not see it, and have more digits near the origin."""
    return X - namespace(X).mean(X, axis=0)
