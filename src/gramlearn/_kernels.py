"""Compiled inner loops: out_k = |p_i + sign p_j|^2 for every pair k = (i, j), in one pass.

A matrix product cannot do this without writing the c x r differences to memory first. Numba is
imported with this module, and this module only when the first large scan needs it. The plain body of
the same function is `_arrays.pair_squared_norms`; a test compares the two.
"""

import numba

__all__ = ["pair_squared_norms"]


# Reassociation lets the sum over q use vector instructions; "nnan" and "ninf" are left out, so that a
# NaN is never lost on the way.
@numba.njit(parallel=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def pair_squared_norms(points, i, j, sign, out):  # type: ignore[no-untyped-def]
    """Write |points[i[k]] + sign * points[j[k]]|^2 into out[k]."""
    n_pairs = i.shape[0]
    n_columns = points.shape[1]
    zero = points.dtype.type(0)  # sums stay in the precision of the points
    sign = points.dtype.type(sign)
    for k in numba.prange(n_pairs):
        first = i[k]
        second = j[k]
        total = zero
        for q in range(n_columns):
            z = points[first, q] + sign * points[second, q]
            total += z * z
        out[k] = total
