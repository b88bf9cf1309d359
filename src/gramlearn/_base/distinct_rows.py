"""Distinct rows: sort by the first column, ties by the next, and keep each that differs from the one before.

`numpy.unique(table, axis=0)` gives the same, but calls back into Python to compare rows: a Ctrl-C there becomes
a TypeError about the type of the table, and the interrupt is lost. A sort by columns has no such calls.
"""

from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.arrays import constant, to_numpy
from gramlearn._base.points import rows_at

_ROWS = 1 << 16  # that are looked at in one piece


class DistinctRows(NamedTuple):
    """rows[kind] is the table; rows = table[first], in ascending order; each stands there `counts` times."""

    rows: np.ndarray
    first: np.ndarray
    kind: np.ndarray
    counts: np.ndarray


def distinct_rows(table: np.ndarray) -> DistinctRows:
    """List each row once; rows without columns are all equal. A vector is a table of one column."""
    columns = table[:, None] if table.ndim == 1 else table
    n = len(columns)
    # Stable, so that `first` is the first of its kind. The key that counts most comes last.
    order = np.lexsort(columns.T[::-1]) if columns.shape[1] else np.arange(n)
    ordered = columns[order]
    is_new = np.ones(n, dtype=bool)
    is_new[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    kind = np.empty(n, dtype=np.intp)
    kind[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    return DistinctRows(table[first], first, kind, np.bincount(kind, minlength=len(first)))


def numbers_of_equal_rows(X: Any) -> np.ndarray | None:
    """A number for each row, the same for equal rows alone, or None where no two rows are equal.

    One pass adds up the columns with random weights, in the same order for each row, so that equal rows have
    equal sums to the last digit. Only rows with a sum that is there twice are compared.
    """
    n, d = (int(size) for size in X.shape)
    weights = np.random.default_rng(0).uniform(1.0, 2.0, d).tolist()
    sums = np.zeros(n)
    for start in range(0, n, _ROWS):
        rows = slice(start, start + _ROWS)
        # Where X is; what a GPU has is fetched once.
        columns = (weight * X[rows, f] for f, weight in enumerate(weights))
        sums[rows] = to_numpy(sum(columns, start=constant(0.0, X, min(_ROWS, n - start))))
    order = np.argsort(sums, kind="stable")
    is_same = np.diff(sums[order]) == 0
    is_twice = np.concatenate([is_same, [False]]) | np.concatenate([[False], is_same])
    twice = np.sort(order[is_twice[:n]])
    if not twice.size:
        return None
    found = distinct_rows(to_numpy(rows_at(X, twice)))
    if len(found.first) == len(twice):
        return None
    numbers = np.arange(n)
    numbers[twice] = twice[found.first][found.kind]
    return numbers.astype(np.int32 if n <= 2**31 else np.int64)
