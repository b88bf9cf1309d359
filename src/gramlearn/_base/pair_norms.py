"""|p_i + sign p_j|^2 of pairs of rows, and p_i + sign p_j themselves: plain, or compiled where that pays."""

import sys

import numpy as np

from gramlearn._base.arrays import Array, chunks, constant, is_numpy, is_on_gpu, namespace

# A scan from this size on is compiled, even if Numba has to be loaded for it (about half a second): the two
# versions round differently, and an answer must not depend on what was solved before it.
_COMPILED_FROM_ELEMENTS = 4_000_000
_COMPILED_ON_GPU_FROM = (
    10_000_000_000  # a tenth of a second; to compile takes one or two, once a machine
)
_PLAIN_DEVICES: set[str] = set()  # on which nothing could be compiled


def pair_sums(points: Array, i: Array, j: Array, sign: int) -> Array:
    """p_i + sign p_j for every pair of rows of `points`; sign 0 leaves j out.

    Many go through a compiled body, and fewer as well where that has been compiled: it gives the same numbers.
    """
    xp = namespace(points)
    if not sign:
        return xp.take(points, i, axis=0)
    is_there = "gramlearn._base.pair_scan" in sys.modules
    least = _COMPILED_FROM_ELEMENTS >> 7 if is_there else _COMPILED_FROM_ELEMENTS
    if isinstance(points, np.ndarray) and i.shape[0] * points.shape[1] >= least:
        from gramlearn._base.pair_scan import pair_sums as compiled

        out = np.empty((i.shape[0], points.shape[1]), dtype=points.dtype)
        compiled(points, i, j, float(sign), out)
        return out
    first, second = xp.take(points, i, axis=0), xp.take(points, j, axis=0)
    return first - second if sign < 0 else first + second


def pair_squared_norms(points: Array, i: Array, j: Array, sign: int, out_of: int = 0) -> Array:
    """|p_i + sign p_j|^2 for every pair of rows of `points`; sign 0 leaves j out.

    The c x r differences are never stored. Large scans go through a compiled body, and so do the parts of one
    over `out_of` pairs.
    """
    xp = namespace(points)
    n_pairs, n_columns = i.shape[0], points.shape[1]
    out = constant(0.0, points, n_pairs)
    if n_pairs and _ran_compiled(points, i, j, sign, out, max(n_pairs, out_of)):
        return out
    for rows in chunks(n_pairs, n_columns, points):
        z = xp.take(points, i[rows], axis=0)
        if sign:
            other = xp.take(points, j[rows], axis=0)
            z = z - other if sign < 0 else z + other
        # A norm is one reduction; libraries that fuse nothing would write z * z to memory for a dot.
        out[rows] = xp.linalg.vector_norm(z, axis=1) ** 2
    return out


def _ran_compiled(points: Array, i: Array, j: Array, sign: int, out: Array, out_of: int) -> bool:
    """Run the compiled body of a scan where that pays and can be, and say whether it did."""
    elements = out_of * points.shape[1]
    if is_numpy(points):
        if elements < _COMPILED_FROM_ELEMENTS:
            return False
        from gramlearn._base.pair_scan import pair_squared_norms as compiled

        compiled(points, i, j, float(sign), out)
        return True
    if not is_on_gpu(points):
        return False
    device = str(points.device)
    if elements < _COMPILED_ON_GPU_FROM or device in _PLAIN_DEVICES:
        return False
    try:
        from gramlearn._base.pair_scan_gpu import pair_squared_norms as compiled_on_gpu

        compiled_on_gpu(points, i, j, float(sign), out)
    except (
        Exception
    ):  # of many kinds: without Triton or a C compiler, and on a GPU that it does not know
        _PLAIN_DEVICES.add(device)
        return False
    return True
