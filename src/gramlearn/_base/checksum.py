"""sum_k w_k x_k modulo 2^64 for each block of a table, with the x_k its words and the w_k random odd numbers.

It tells tables apart that differ by accident, not by intent, and takes a tenth of the time of a cryptographic
hash: less than to read the table. A change of one word always shows.
"""

import numpy as np

_BLOCK = 1 << 22  # bytes


def checksum(X: np.ndarray) -> bytes:
    """The same for the same table, in memory or mapped into it; two differ in it with near certainty."""
    n, width = len(X), X[:1].nbytes
    rows = max(_BLOCK // max(width, 1), 1)
    rng = np.random.default_rng(0)
    weights = rng.integers(2**64, size=-(-rows * width // 8), dtype=np.uint64) | np.uint64(1)
    sums = [_of_block(X[start : start + rows], weights) for start in range(0, n, rows)]
    return f"{X.dtype.str} {X.shape} ".encode() + np.array(sums, dtype=np.uint64).tobytes()


def _of_block(X: np.ndarray, weights: np.ndarray) -> np.uint64:
    raw = np.ascontiguousarray(X).reshape(-1).view(np.uint8)
    words = np.pad(raw, (0, -raw.size % 8)).view(np.uint64) if raw.size % 8 else raw.view(np.uint64)
    found: np.uint64 = words @ weights[: words.size]
    return found
