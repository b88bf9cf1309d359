"""Distinct rows: sort by the first column, ties by the next, and keep each that differs from the one before.

`numpy.unique(table, axis=0)` gives the same, but calls back into Python to compare rows: a Ctrl-C there becomes
a TypeError about the type of the table, and the interrupt is lost. A sort by columns has no such calls.
"""

from typing import NamedTuple

import numpy as np


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
