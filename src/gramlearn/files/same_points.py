"""sum_k hash(id_k, x_k) modulo 2^128: whether points are the same, whatever their order.

Vectors are compared in single precision, as which most files have them. Like a checksum, it tells points apart
that differ by accident, not by intent.
"""

from hashlib import blake2b

import numpy as np

from gramlearn.files.points import Points

_BLOCK = 1 << 20  # numbers


def fingerprint(points: Points) -> str:
    """The same for the same ids with the same vectors, in any order."""
    n, width = points.X.shape
    weights = np.random.default_rng(0).integers(2**64, size=width, dtype=np.uint64) | np.uint64(1)
    rows = max(_BLOCK // max(width, 1), 1)
    total = 0
    for start in range(0, n, rows):
        with np.errstate(over="ignore"):
            # Plus zero, for -0.0 is equal to 0.0 and has other bits.
            X = np.ascontiguousarray(points.X[start : start + rows], dtype=np.float32) + np.float32(
                0
            )
        words = (X.view(np.uint32).astype(np.uint64) @ weights).tolist()
        total += sum(_hash(points.name_of(start + k), word) for k, word in enumerate(words))
    return f"{total % 2**128:032x}"


def fingerprint_of_ids(points: Points) -> str:
    """The same for the same ids, in any order."""
    total = sum(_hash(points.name_of(row), 0) for row in range(len(points)))
    return f"{total % 2**128:032x}"


def are_numbered(points: Points) -> bool:
    """Whether the ids are row numbers."""
    if points.ids is None:
        return True
    return all(text == str(row) for row, text in enumerate(points.ids))


def _hash(name: str, word: int) -> int:
    text = name.encode("utf-8", "surrogatepass") + b"\0" + word.to_bytes(8, "little")
    return int.from_bytes(blake2b(text, digest_size=16).digest(), "little")
