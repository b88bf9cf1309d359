"""B_k = sum_s w_s (p_i + sign p_j)(p_i + sign p_j)': pairs of rows of a table, directions never stored."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from gramlearn._arrays import Array, chunks, concat, constant, namespace, pair_squared_norms, read
from gramlearn.linear_maps._base import Estimates, LinearMap, Products
from gramlearn.linear_maps.directions import DirectionMap

__all__ = ["Direction", "PointMap"]

# A working set whose directions take no more than this is kept in memory instead of made anew.
_DIRECTIONS_BYTES = 1 << 30
# Norms between which single precision neither overflows nor loses more to small numbers than to rounding.
_SINGLE_REACH = (1e-8, 1e15)
_NOTHING = 1e-14


class Direction(NamedTuple):
    """weight * |p_first + sign p_second|_X^2; first and second number the index arrays."""

    weight: float
    first: int
    sign: int
    second: int


@final
@dataclass(frozen=True)
class PointMap(LinearMap):
    """B_k from pairs of rows of `points`; the directions are made chunk by chunk, never all at once."""

    points: Array
    indices: tuple[Array, ...]
    directions: tuple[Direction, ...]

    @property
    def size(self) -> int:
        return int(self.indices[0].shape[0])

    @property
    def is_nonnegative(self) -> bool:
        return min(d.weight for d in self.directions) >= 0

    @property
    def _is_small(self) -> bool:
        """Whether it has fewer directions than points, so that these are cheaper to multiply."""
        return 2 * self.size * len(self.directions) < int(self.points.shape[0])

    def restrict(self, Q: Array, products: Products | None = None) -> LinearMap:
        if self._is_small:
            return self.stacked(slice(0, self.size)).restrict(Q)
        products = {} if products is None else products
        key = (id(self.points), "double")
        if key not in products:
            products[key] = self.points @ Q
        return replace(self, points=products[key])

    def select(self, rows: Array) -> "PointMap":
        xp = namespace(self.points)
        return replace(self, indices=tuple(xp.take(i, rows) for i in self.indices))

    def take(self, rows: Array) -> LinearMap:
        chosen = self.select(rows)
        size = chosen.size * len(self.directions) * int(self.points.shape[1]) * 8
        return chosen.stacked(slice(0, chosen.size)) if size <= _DIRECTIONS_BYTES else chosen

    def stacked(self, rows: slice) -> DirectionMap:
        """Make the directions of a slice of the constraints."""
        xp = namespace(self.points)
        z = []
        for d in self.directions:
            part = xp.take(self.points, self.indices[d.first][rows], axis=0)
            if d.sign:
                part = part + d.sign * xp.take(self.points, self.indices[d.second][rows], axis=0)
            z.append(part)
        return DirectionMap(
            xp.concat(z) if len(z) > 1 else z[0], tuple(d.weight for d in self.directions)
        )

    def _chunks(self) -> list[slice]:
        return list(
            chunks(self.size, len(self.directions) * int(self.points.shape[1]), self.points)
        )

    def traces(self, x: Array) -> Array:
        # One number for all needs no pass over the points.
        is_one = x.shape[0] == 1
        points = self.points if is_one else self.points * namespace(x).sqrt(x)
        parts = [
            d.weight
            * pair_squared_norms(points, self.indices[d.first], self.indices[d.second], d.sign)
            for d in self.directions
        ]
        total = sum(parts[1:], start=parts[0])
        return total * x if is_one else total

    def apply(self, S: Array) -> Array:
        return concat([self.stacked(rows).apply(S) for rows in self._chunks()], self.points)

    def adjoint(self, v: Array) -> Array:
        return self._summed(DirectionMap.adjoint, v, 2)

    def squares(self, v: Array) -> Array:
        return self._summed(DirectionMap.squares, v, 2)

    def spread(self, v: Array) -> Array:
        return self._summed(DirectionMap.spread, v, 1)

    def _summed(
        self, method: Callable[[DirectionMap, Array], Array], v: Array, dimensions: int
    ) -> Array:
        """Add up what a method gives for the directions of each chunk."""
        shape = (int(self.points.shape[1]),) * dimensions
        pieces = (method(self.stacked(rows), v[rows]) for rows in self._chunks())
        return sum(pieces, start=constant(0.0, self.points, shape))

    def estimates(self, F: Array, products: Products) -> "Estimates":
        xp = namespace(F)
        if F.dtype != xp.float64 or self._is_small:
            return super().estimates(F, products)
        key = (id(self.points), "single")
        if key not in products:
            points = _rounded_product(self.points, F)
            products[key] = points, read(xp.max(xp.linalg.vector_norm(points, axis=1)))
        points, reach = products[key]
        if not _SINGLE_REACH[0] < reach < _SINGLE_REACH[1]:
            return super().estimates(F, {})
        values = replace(self, points=points).traces(constant(1.0, points, 1))
        # Rounded points move a difference z by at most 2 u reach, its own rounding by u |z|, and a sum of r
        # squares is off by (r + 1) u |z|^2, to first order. With 4 reach |z| <= 32 |z|^2 + reach^2 / 8 that is
        # a part of |z|^2 and a number; the rest is for what is done with the values, in their precision.
        u = float(xp.finfo(points.dtype).eps) / 2
        relative, absolute = u * (F.shape[0] + 64), u * reach**2 / 4
        if not self.is_nonnegative:
            absolute = relative * 4 * reach**2 + absolute
            absolute, relative = absolute * sum(abs(d.weight) for d in self.directions), 0.0
        return Estimates(values, relative, absolute)

    def matrices(self) -> Array:
        return self.stacked(slice(0, self.size)).matrices()

    def magnitude(self) -> float:
        xp = namespace(self.points)
        return (2 * read(xp.max(xp.abs(self.points)))) ** 2

    def in_single(self, scale: float) -> "PointMap":
        xp = namespace(self.points)
        return replace(self, points=xp.astype(self.points * scale**-0.5, xp.float32))

    def diagonal(self, Phi: Array) -> Array:
        return concat([self.stacked(rows).diagonal(Phi) for rows in self._chunks()], self.points)


def _rounded_product(points: Array, Q: Array) -> Array:
    """points @ Q rounded to single precision, chunk by chunk; the product in double is never whole.

    Columns that are nothing beside the others become 0: their squares would be subnormal, and processors are
    slow at such numbers. What that takes away is far below rounding.
    """
    xp = namespace(points)
    out = xp.empty_like(points, dtype=xp.float32)
    size = xp.zeros_like(Q[0, :])
    for rows in chunks(int(points.shape[0]), int(points.shape[1]), points):
        product = points[rows, :] @ Q
        size = xp.maximum(size, xp.max(xp.abs(product), axis=0))
        out[rows, :] = xp.astype(product, xp.float32)
    counts = size > _NOTHING * xp.max(size)
    return out if bool(xp.all(counts)) else out * xp.astype(counts, xp.float32)
