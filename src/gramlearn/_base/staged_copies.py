"""From host memory to a GPU beside what it computes, piece by piece, through memory that it reads by itself.

A plain copy waits for all that the GPU was asked for before, and what it is asked for next waits for the copy.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import Array, namespace

_PIECE_BYTES = 1 << 24  # memory of that kind takes long to get


def sent(x: np.ndarray, like: Array, dtype: Any) -> Array:
    """A copy of x, perhaps of another type, on the device of `like`; whole when this returns."""
    torch, device = namespace(like), like.device
    dtype = torch.from_numpy(np.empty(0, dtype=x.dtype)).dtype if dtype is None else dtype
    out = torch.empty(x.shape, dtype=dtype, device=device)
    stream = torch.cuda.Stream(device)
    # What was computed before may still be written to the same memory, which was given free since.
    stream.wait_stream(torch.cuda.current_stream(device))
    step = max(1, _PIECE_BYTES * len(x) // x.nbytes)
    with torch.cuda.stream(stream):
        for start in range(0, len(x), step):
            piece = x[start : start + step]
            staged = torch.empty(piece.shape, dtype=dtype, pin_memory=True)
            np.copyto(staged.numpy(), piece, casting="unsafe")
            out[start : start + step].copy_(staged, non_blocking=True)
    stream.synchronize()
    return out


def free_bytes(like: Array) -> int:
    """The memory of the device of `like` that is free, or kept by PyTorch for what comes next."""
    cuda, device = namespace(like).cuda, like.device
    free, _ = cuda.mem_get_info(device)
    return int(free + cuda.memory_reserved(device) - cuda.memory_allocated(device))
