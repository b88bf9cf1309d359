"""Which rows, in one bit each, and prices of which most are at an end of their box, in three bits each.

A site keeps these for every constraint it has, between two passes over them, where its points are.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

from gramlearn._base.arrays import (
    Array,
    every_row,
    namespace,
    scatter,
    where_true,
)
from gramlearn._base.bits import bits_of, booleans_of
from gramlearn.problem.losses import Loss


@final
@dataclass(frozen=True, eq=False)
class PackedRows:
    """Some of the rows 0, ..., size - 1, ascending."""

    size: int
    count: int
    bits: Array | None  # None where these are all

    @classmethod
    def of(cls, rows: Array, size: int) -> "PackedRows":
        """Pack row numbers."""
        count = int(rows.shape[0])
        if count == size:
            return cls(size, size, None)
        xp = namespace(rows)
        return cls(size, count, bits_of(scatter(xp.ones_like(rows, dtype=xp.bool), rows, size)))

    @classmethod
    def where(cls, mask: Array) -> "PackedRows":
        """Pack the rows at which a vector of booleans holds."""
        return cls.of(where_true(mask), int(mask.shape[0]))

    def mask(self, like: Array) -> Array:
        """Whether each of all rows is one of these, on the device of `like`."""
        xp = namespace(like)
        if self.bits is None:
            return xp.ones_like(every_row(self.size, like), dtype=xp.bool)
        return booleans_of(self.bits, self.size)

    def rows(self, like: Array) -> Array:
        """The row numbers, on the device of `like`."""
        return every_row(self.size, like) if self.bits is None else where_true(self.mask(like))


class PackedPrices(NamedTuple):
    """The prices of some rows of a part: which are at the lower or upper end of their box, and the others."""

    rows: PackedRows
    low: PackedRows
    high: PackedRows
    inside: Array

    @classmethod
    def of(cls, lam: Array, loss: Loss, rows: PackedRows) -> "PackedPrices":
        """Pack lam at these rows, whose loss tells the box."""
        lo, hi = loss.box(lam, int(lam.shape[0]))
        at_low, at_high = lam == lo, lam == hi
        low, high = PackedRows.where(at_low), PackedRows.where(at_high)
        return cls(rows, low, high, lam[~(at_low | at_high)])

    def at(self, wanted: PackedRows, loss: Loss, like: Array) -> Array:
        """The prices of some rows, which have this loss, zero where none are known."""
        xp, own, rows = namespace(like), self.rows.rows(like), wanted.rows(like)
        at_low, at_high = self.low.mask(like), self.high.mask(like)
        inside = scatter(self.inside, where_true(~(at_low | at_high)), self.rows.count)
        at_low, at_high, inside = (
            xp.take(scatter(x, own, self.rows.size), rows) for x in (at_low, at_high, inside)
        )
        lo, hi = loss.box(like, wanted.count)
        return xp.where(at_low, lo, xp.where(at_high, hi, inside))
