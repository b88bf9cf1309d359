"""sum_q w_q (p_iq + sign p_jq)^2 for every pair, and sum_k v_k (p_iq + sign p_jq)^2 for every feature: compiled.

A product of a matrix cannot do this without writing the c x d squares to memory first. Numba is imported with
this module, and this module only when the first large scan needs it. Large scans are cut into slices, one a
thread, as those of `pair_scan` are.
"""

from typing import Any

import numpy as np

from gramlearn._base.compilation import compiled
from gramlearn._base.pair_scan import in_slices


def weighted_sums(
    points: np.ndarray, i: np.ndarray, j: np.ndarray, sign: float, w: np.ndarray
) -> np.ndarray:
    """(sum_q w_q (p_iq + sign p_jq)^2)_k."""
    work = in_slices(points.shape[1], i, j)
    pieces = work(lambda i, j: _weigh(points, i, j, sign, w, np.empty(len(i))))
    return np.concatenate(pieces)


def sums_of_rows(
    points: np.ndarray, i: np.ndarray, j: np.ndarray, sign: float, v: np.ndarray
) -> np.ndarray:
    """(sum_k v_k (p_iq + sign p_jq)^2)_q."""
    work = in_slices(points.shape[1], i, j, v)
    pieces = work(lambda i, j, v: _add_rows(points, i, j, sign, v, np.zeros(points.shape[1])))
    return np.sum(pieces, axis=0)


_FAST: Any = {"reassoc", "contract", "nsz", "arcp"}  # a NaN is never lost on the way


@compiled(nogil=True, fastmath=_FAST)
def _weigh(points, i, j, sign, w, out):  # type: ignore[no-untyped-def]
    for k in range(i.shape[0]):
        first, second = i[k], j[k]
        total = 0.0
        for q in range(w.shape[0]):
            z = points[first, q] + sign * points[second, q]
            total += w[q] * z * z
        out[k] = total
    return out


@compiled(nogil=True, fastmath=_FAST)
def _add_rows(points, i, j, sign, v, out):  # type: ignore[no-untyped-def]
    for k in range(i.shape[0]):
        first, second, weight = i[k], j[k], v[k]
        if weight == 0.0:
            continue
        for q in range(out.shape[0]):
            z = points[first, q] + sign * points[second, q]
            out[q] += weight * z * z
    return out
