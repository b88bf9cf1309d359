"""A w, A'v and A' diag(c) A w for a_kq = sum_s weight_s (p_iq - p_jq)^2: compiled passes over the pairs.

Matrix products cannot do this without writing the c x d squares to memory first. Numba is imported with this
module, and this module only when the first large scan needs it. Large scans are cut into slices, one a thread,
as those of `pair_scan` are. Sums are made in the precision of the points.

Pairs are (weight_s, i, j), with one row of i and j a row of A, and a column for each s.
"""

from typing import Any

import numpy as np

from gramlearn._base.compilation import compiled
from gramlearn._base.pair_scan import in_slices

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def times(points: np.ndarray, pairs: Pairs, w: np.ndarray) -> np.ndarray:
    """A w."""
    weight, first, second = pairs

    def scan(first: np.ndarray, second: np.ndarray) -> Any:
        out = np.empty(len(first), points.dtype)
        _times(points, weight, first, second, w, out)
        return out

    return np.concatenate(in_slices(points.shape[1], first, second)(scan))


def adjoint(points: np.ndarray, pairs: Pairs, v: np.ndarray) -> np.ndarray:
    """A'v."""
    weight, first, second = pairs

    def scan(first: np.ndarray, second: np.ndarray, v: np.ndarray) -> Any:
        out = np.zeros(points.shape[1], points.dtype)
        _adjoint(points, weight, first, second, v, out)
        return out

    return np.sum(in_slices(points.shape[1], first, second, v)(scan), axis=0)


def gram_times(points: np.ndarray, pairs: Pairs, c: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A' diag(c) A w, in one pass."""
    weight, first, second = pairs

    def scan(first: np.ndarray, second: np.ndarray, c: np.ndarray) -> Any:
        out = np.zeros(points.shape[1], points.dtype)
        _gram_times(points, weight, first, second, c, w, out)
        return out

    return np.sum(in_slices(points.shape[1], first, second, c)(scan), axis=0)


_FAST: Any = {"reassoc", "contract", "nsz", "arcp"}  # a NaN is never lost on the way


@compiled(nogil=True, fastmath=_FAST)
def _write_row(points, weight, first, second, row):  # type: ignore[no-untyped-def]
    for s in range(weight.shape[0]):
        i, j, size = first[s], second[s], weight[s]
        if s == 0:
            for q in range(row.shape[0]):
                z = points[i, q] - points[j, q]
                row[q] = size * z * z
        else:
            for q in range(row.shape[0]):
                z = points[i, q] - points[j, q]
                row[q] += size * z * z


@compiled(nogil=True, fastmath=_FAST)
def _times(points, weight, first, second, w, out):  # type: ignore[no-untyped-def]
    row = np.empty_like(w)
    for k in range(out.shape[0]):
        _write_row(points, weight, first[k], second[k], row)
        total = points.dtype.type(0)
        for q in range(row.shape[0]):
            total += row[q] * w[q]
        out[k] = total


@compiled(nogil=True, fastmath=_FAST)
def _adjoint(points, weight, first, second, v, out):  # type: ignore[no-untyped-def]
    row = np.empty_like(out)
    for k in range(v.shape[0]):
        if v[k] != 0:
            _write_row(points, weight, first[k], second[k], row)
            for q in range(row.shape[0]):
                out[q] += v[k] * row[q]


@compiled(nogil=True, fastmath=_FAST)
def _gram_times(points, weight, first, second, c, w, out):  # type: ignore[no-untyped-def]
    row = np.empty_like(out)
    for k in range(c.shape[0]):
        _write_row(points, weight, first[k], second[k], row)
        total = points.dtype.type(0)
        for q in range(row.shape[0]):
            total += row[q] * w[q]
        total *= c[k]
        for q in range(row.shape[0]):
            out[q] += total * row[q]
