"""Compiled for GPUs: out_k = |p_i + sign p_j|^2 for every pair k = (i, j), in one pass.

Two rows are read for each pair and one number is written, which is a quarter of what PyTorch moves without it.
Triton is imported with this module, and this module only when the first large scan on a GPU needs it. The plain
body of the same function is `pair_norms.pair_squared_norms`.
"""

import triton
import triton.language as tl

from gramlearn._base.arrays import Array, namespace

_ROWS, _COLUMNS = 4, 128  # of a block of one program
_WARPS = 2


def pair_squared_norms(points: Array, i: Array, j: Array, sign: float, out: Array) -> None:
    """Write |points[i[k]] + sign * points[j[k]]|^2 into out[k]."""
    count, width = int(i.shape[0]), int(points.shape[1])
    steps = (points.stride(0), points.stride(1), i.stride(0), j.stride(0))
    with namespace(points).cuda.device(points.device):
        _scan[(triton.cdiv(count, _ROWS),)](
            points, i, j, out, count, width, *steps, sign, _ROWS, _COLUMNS, num_warps=_WARPS
        )


@triton.jit(do_not_specialize=["count"])
def _scan(  # type: ignore[no-untyped-def]
    points,
    i,
    j,
    out,
    count,
    width,
    row_step,
    column_step,
    i_step,
    j_step,
    sign,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    k = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    is_pair = k < count
    first = tl.load(i + k * i_step, mask=is_pair, other=0).to(tl.int64) * row_step
    second = tl.load(j + k * j_step, mask=is_pair, other=0).to(tl.int64) * row_step
    total = tl.zeros((ROWS,), dtype=points.dtype.element_ty)
    for start in range(0, width, COLUMNS):
        q = start + tl.arange(0, COLUMNS)
        inside = is_pair[:, None] & (q < width)[None, :]
        place = points + (q * column_step)[None, :]
        p = tl.load(place + first[:, None], mask=inside, other=0.0)
        r = tl.load(place + second[:, None], mask=inside, other=0.0)
        z = p + sign.to(p.dtype) * r
        total += tl.sum(z * z, axis=1)
    tl.store(out + k, total, mask=is_pair)
