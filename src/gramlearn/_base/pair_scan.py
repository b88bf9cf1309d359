"""Compiled inner loops: |p_i + sign p_j|^2, or p_i + sign p_j itself, for every pair k = (i, j), in one pass.

A matrix product cannot do the first without writing the c x r differences to memory, and NumPy writes three
times as much for the second. Numba is imported with this module, and this module only when the first large
scan needs it. The plain body of the same function is `pair_norms.pair_squared_norms`; a test compares the two.
`pair_scan_gpu` is for GPUs.

Large scans are cut into slices, one a thread, as many as NUMBA_NUM_THREADS says, or fewer: see
`threads_of_scan`. Threads of Numba's own end the process where a second Python thread scans at the same time,
or a fork of one that has scanned.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numba
import numpy as np

from gramlearn._base.compilation import compiled
from gramlearn._base.threads import threads_of_scan

_SLICE = 2_000_000  # numbers, from which a thread of its own pays: a millisecond


def pair_squared_norms(
    points: np.ndarray, i: np.ndarray, j: np.ndarray, sign: float, out: np.ndarray
) -> None:
    """Write |points[i[k]] + sign * points[j[k]]|^2 into out[k]."""
    scan: Any = partial(_scan, np.ascontiguousarray(points), sign=sign)
    rows = np.ascontiguousarray(i), np.ascontiguousarray(j)
    in_slices(points.shape[1], *rows, out)(lambda i, j, out: scan(i, j, out=out))


def pair_sums(
    points: np.ndarray, i: np.ndarray, j: np.ndarray, sign: float, out: np.ndarray
) -> None:
    """Write points[i[k]] + sign * points[j[k]] into row k of out."""
    add: Any = partial(_add, np.ascontiguousarray(points), sign=sign)
    rows = np.ascontiguousarray(i), np.ascontiguousarray(j)
    in_slices(points.shape[1], *rows, out)(lambda i, j, out: add(i, j, out=out))


def in_slices(width: int, *vectors: np.ndarray) -> Callable[[Callable[..., Any]], list[Any]]:
    """Run a scan of so many numbers a pair on slices of these vectors, one a thread, and list what it gives."""
    count = vectors[0].shape[0] * width // _SLICE
    threads = max(min(threads_of_scan(numba.config.NUMBA_NUM_THREADS), count), 1)
    slices = [np.array_split(vector, threads) for vector in vectors]

    def run(scan: Callable[..., Any]) -> list[Any]:
        if threads < 2:
            return [scan(*vectors)]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(scan, *slices))

    return run


# Reassociation lets the sum over q use vector instructions; "nnan" and "ninf" are left out, so that a
# NaN is never lost on the way.
@compiled(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _scan(points, i, j, sign, out):  # type: ignore[no-untyped-def]
    n_pairs = i.shape[0]
    n_columns = points.shape[1]
    zero = points.dtype.type(0)  # sums stay in the precision of the points
    sign = points.dtype.type(sign)
    for k in range(n_pairs):
        first = i[k]
        second = j[k]
        total = zero
        for q in range(n_columns):
            z = points[first, q] + sign * points[second, q]
            total += z * z
        out[k] = total


@compiled(nogil=True)
def _add(points, i, j, sign, out):  # type: ignore[no-untyped-def]
    n_columns = points.shape[1]
    sign = points.dtype.type(sign)
    for k in range(i.shape[0]):
        first = i[k]
        second = j[k]
        for q in range(n_columns):
            out[k, q] = points[first, q] + sign * points[second, q]
