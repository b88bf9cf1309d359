"""Booleans in one bit each, on any device."""

import numpy as np

from gramlearn._base.arrays import Array, is_numpy, namespace


def bits_of(mask: Array) -> Array:
    """Booleans, eight to a byte: numbers of 8 bits, with zeros after the last."""
    if is_numpy(mask):
        return np.packbits(mask)
    xp = namespace(mask)
    device = mask.device
    none = xp.zeros(-int(mask.shape[0]) % 8, dtype=mask.dtype, device=device)
    filled = xp.concat([mask, none])
    eights = xp.reshape(xp.astype(filled, xp.uint8), (-1, 8))
    return xp.sum(eights * _powers(eights), axis=1, dtype=xp.uint8)


def booleans_of(bits: Array, size: int) -> Array:
    """The booleans, so many, that `bits_of` has packed."""
    if is_numpy(bits):
        return np.unpackbits(bits, count=size).view(bool)
    return namespace(bits).reshape((bits[:, None] & _powers(bits)) != 0, (-1,))[:size]


def _powers(bits: Array) -> Array:
    """128, 64, ..., 1 beside bits of a byte."""
    powers = [1 << k for k in range(7, -1, -1)]
    return namespace(bits).asarray(powers, dtype=bits.dtype, device=bits.device)
