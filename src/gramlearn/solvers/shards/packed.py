"""Which rows, in one bit each, and prices of which most are at an end of their box, in three bits each.

A site keeps these for every constraint it has, between two passes over them.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from gramlearn._base.arrays import Array, as_index, as_real, every_row, scatter, to_numpy
from gramlearn.problem.losses import Loss


@final
@dataclass(frozen=True, eq=False)
class PackedRows:
    """Some of the rows 0, ..., size - 1, ascending."""

    size: int
    count: int
    bits: np.ndarray | None  # None where these are all

    @classmethod
    def of(cls, rows: Array, size: int) -> "PackedRows":
        """Pack row numbers."""
        count = int(rows.shape[0])
        if count == size:
            return cls(size, size, None)
        mask = np.zeros(size, dtype=bool)
        mask[to_numpy(rows)] = True
        return cls(size, count, np.packbits(mask))

    def rows(self, like: Array) -> Array:
        """The row numbers, in the library and on the device of `like`."""
        if self.bits is None:
            return every_row(self.size, like)
        return as_index(np.flatnonzero(np.unpackbits(self.bits, count=self.size)), like)


class PackedPrices(NamedTuple):
    """The prices of some rows of a part: which are at the lower or upper end of their box, and the others."""

    rows: PackedRows
    low: PackedRows
    high: PackedRows
    inside: np.ndarray

    @classmethod
    def of(cls, lam: Array, loss: Loss, rows: PackedRows) -> "PackedPrices":
        """Pack lam at these rows, whose loss tells the box."""
        prices = to_numpy(lam)
        lo, hi = (to_numpy(end) for end in loss.box(lam, int(lam.shape[0])))
        at_low, at_high = prices == lo, prices == hi
        size = int(prices.shape[0])
        low, high = (PackedRows.of(np.flatnonzero(at), size) for at in (at_low, at_high))
        return cls(rows, low, high, prices[~(at_low | at_high)])

    def everywhere(self, loss: Loss, like: Array) -> Array:
        """The prices of all rows of the part, with this loss, zero where none are known."""
        rows = self.rows.rows(like)
        lo, hi = (to_numpy(end) for end in loss.take(rows).box(like, self.rows.count))
        low, high = (some.rows(np.empty(0)) for some in (self.low, self.high))
        prices = np.empty(self.rows.count)
        is_inside = np.ones(self.rows.count, dtype=bool)
        for at, end in ((low, lo), (high, hi)):
            prices[at] = end[at]
            is_inside[at] = False
        prices[is_inside] = self.inside
        return scatter(as_real(prices, like), rows, self.rows.size)
