"""B_k = sum_s w_s (p_i + sign p_j)(p_i + sign p_j)': pairs of rows of a table, directions never stored.

Where B_k is one product, w (p_i p_j' + p_j p_i') / 2 as that of a similarity, <B_k, S> is an entry of P S P'.
For many constraints on few points this takes less than a product with each direction, and nothing cancels.
Squared distances would cancel, so they have their directions always.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from gramlearn._base.arrays import (
    Array,
    added_at,
    chunks,
    concat,
    constant,
    count_true,
    every_row,
    flat_index,
    in_single,
    machine_eps,
    namespace,
    read,
)
from gramlearn._base.matrices import symmetric_part, transpose
from gramlearn._base.pair_norms import pair_squared_norms, pair_sums
from gramlearn.problem.linear_maps.base import Estimates, LinearMap, Products, RankOnes
from gramlearn.problem.linear_maps.directions import DirectionMap
from gramlearn.problem.linear_maps.indexed import IndexedMap, Product, as_product

# A working set whose directions take no more than this is kept in memory instead of made anew.
_DIRECTIONS_BYTES = 1 << 30
# Norms between which single precision neither overflows nor loses more to small numbers than to rounding.
_SINGLE_REACH = (1e-8, 1e15)
_LEFT_OUT = 3e-4  # the share of the squares that a scan may leave out
_SAMPLE = 1000  # points from which that share is estimated
_OUTLYING = 100.0  # a point that loses this many times that share makes all columns be kept


@final
@dataclass(frozen=True)
class PointMap(IndexedMap):
    """B_k from pairs of rows of `points`; the directions are made chunk by chunk, never all at once.

    Those of a working set may be `stacked` if they take little memory, unless the map is one of many: then
    `out_of` says how many constraints these have together.
    """

    points: Array
    out_of: int = 0

    @property
    def _is_small(self) -> bool:
        """Whether it has fewer directions than points, so that these are cheaper to multiply."""
        return 2 * self.size * len(self.directions) < int(self.points.shape[0])

    @property
    def _product(self) -> Product | None:
        """B_k as one product of two points, where that is less work than its directions."""
        n, r = (int(k) for k in self.points.shape)
        # The gain must pay for reading entries of a matrix in no order.
        if 2 * n * (n + r) > self.size * len(self.directions) * r:
            return None
        return as_product(self.directions)

    def restrict(self, Q: Array, products: Products | None = None) -> LinearMap:
        if self._is_small:
            return self.stacked(slice(0, self.size)).restrict(Q)
        products = {} if products is None else products
        key = (id(self.points), "double")
        if key not in products:
            products[key] = self.points @ Q
        return replace(self, points=products[key])

    def materialize_rows(self, rows: Array) -> LinearMap:
        chosen = self.index_rows(rows)
        if chosen._product is not None or self.out_of:
            return chosen
        size = chosen.size * len(self.directions) * int(self.points.shape[1]) * 8
        return chosen.stacked(slice(0, chosen.size)) if size <= _DIRECTIONS_BYTES else chosen

    def detached(self) -> DirectionMap:
        return self.stacked(slice(0, self.size))

    def stacked(self, rows: slice) -> DirectionMap:
        """Make the directions of a slice of the constraints."""
        z = [
            pair_sums(
                self.points, self.indices[d.first][rows], self.indices[d.second][rows], d.sign
            )
            for d in self.directions
        ]
        stacked = z[0] if len(z) == 1 else concat(z, self.points)
        return DirectionMap(stacked, tuple(d.weight for d in self.directions))

    def _chunks(self) -> list[slice]:
        width = len(self.directions) * int(self.points.shape[1])
        return list(chunks(self.size, width, self.points))

    def traces(self, x: Array) -> Array:
        # One number for all needs no pass over the points.
        is_one = x.shape[0] == 1
        points = self.points if is_one else self.points * namespace(x).sqrt(x)
        total = None
        for d in self.directions:
            i, j = self.indices[d.first], self.indices[d.second]
            part = pair_squared_norms(points, i, j, d.sign, self.out_of)
            # In place, for there may be more constraints than memory for another copy of what is found.
            if d.weight != 1:
                part *= d.weight
            if total is None:
                total = part
            else:
                total += part
        if is_one:
            total *= x
        return total

    def magnitudes(self, x: Array) -> Array:
        # A difference z of points p and q has the rounding of the points: |z|^2 is off by eps times this.
        xp = namespace(x)
        eps = machine_eps(self.points)
        points = self.points * xp.sqrt(x)
        norms = xp.linalg.vector_norm(points, axis=1)
        total = constant(0.0, self.points, self.size)
        for d in self.directions:
            i, j = self.indices[d.first], self.indices[d.second]
            square = pair_squared_norms(points, i, j, d.sign, self.out_of)
            if d.sign:
                reach = xp.take(norms, i) + xp.take(norms, j)
                square = square + 2 * reach * xp.sqrt(square) + eps * reach**2
            total = total + abs(d.weight) * square
        return total

    def apply(self, S: Array) -> Array:
        if (product := self._product) is not None:
            return product.weight * self._entries_of(product, self.points @ S)
        return concat([self.stacked(rows).apply(S) for rows in self._chunks()], self.points)

    def _entries_of(self, product: Product, left: Array) -> Array:
        """(p_i' S p_j)_k, from P S."""
        xp, n = namespace(left), int(self.points.shape[0])
        i, j = self.indices[product.first], self.indices[product.second]
        return xp.take(xp.reshape(left @ transpose(self.points), (-1,)), flat_index(i, j, n))

    def adjoint(self, v: Array) -> Array:
        if (product := self._product) is None:
            return self._summed(DirectionMap.adjoint, v, 2)
        xp, n = namespace(v), int(self.points.shape[0])
        i, j = self.indices[product.first], self.indices[product.second]
        W = added_at(constant(0.0, v, n * n), flat_index(i, j, n), product.weight * v)
        return symmetric_part(transpose(self.points) @ (xp.reshape(W, (n, n)) @ self.points))

    def absolute_sum(self, v: Array) -> Array:
        return self._summed(DirectionMap.absolute_sum, v, 2)

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
        # Differences do not change when all points move, and single precision has more digits near 0.
        differences = all(d.sign == -1 for d in self.directions)
        key = (id(self.points), "centered" if differences else "single")
        if key not in products:
            products[key] = _leading_columns(self.points, F, differences)
        points, reach, lost = products[key]
        if not _SINGLE_REACH[0] < reach < _SINGLE_REACH[1]:
            return super().estimates(F, {})
        values = replace(self, points=points).traces(constant(1.0, points, 1))
        # Rounded points move a difference z by at most 2 u reach, its own rounding by u |z|, and a sum of r
        # squares is off by (r + 1) u |z|^2, to first order. With 4 reach |z| <= 32 |z|^2 + reach^2 / 8 that is
        # a part of |z|^2 and a number; the rest is for what is done with the values, in their precision.
        u = machine_eps(points) / 2
        left_out = (1 + 64 * u) * (2 * lost) ** 2
        relative, absolute = u * (F.shape[0] + 64), u * reach**2 / 4 + left_out
        if not self.is_nonnegative:
            absolute, relative = relative * 4 * reach**2 + absolute, 0.0
        return Estimates(values, relative, absolute * sum(abs(d.weight) for d in self.directions))

    def matrices(self) -> Array:
        return self.stacked(slice(0, self.size)).matrices()

    def entries(self, i: Array, j: Array) -> Array:
        return concat([self.stacked(rows).entries(i, j) for rows in self._chunks()], self.points)

    def sizes(self) -> Array:
        xp = namespace(self.points)
        return 2 * xp.max(xp.abs(self.points), axis=0)

    def in_single(self, scale: float) -> "PointMap":
        xp = namespace(self.points)
        return replace(self, points=xp.astype(self.points * scale**-0.5, xp.float32))

    def rank_ones(self) -> RankOnes:
        xp, like, size = namespace(self.points), self.points, self.size
        count = len(self.directions)

        def each(values: list[Array]) -> Array:
            return xp.reshape(xp.stack(values, axis=1), (-1,))

        return RankOnes(
            self.points,
            every_row(size + 1, like) * count,
            each([self.indices[d.first] for d in self.directions]),
            each([self.indices[d.second if d.sign else d.first] for d in self.directions]),
            each([constant(float(d.sign), like, size) for d in self.directions]),
            each([constant(d.weight, like, size) for d in self.directions]),
        )

    def few_rank_ones(self) -> RankOnes | None:
        few = self.size * len(self.directions) <= int(self.points.shape[1])
        return self.rank_ones() if few else None

    def gram(self, other: LinearMap) -> Array:
        return self.stacked(slice(0, self.size)).gram(other)

    def diagonal(self, Phi: Array) -> Array:
        if (product := self._product) is not None and Phi.shape[0] > 1:
            # <B, Phi o B> = (w^2 / 2) [(p o p)' Phi (q o q) + (p o q)' Phi (p o q)] for B = w (pq' + qp') / 2
            squares = replace(self, points=self.points**2)
            crossed = concat([self._crossed(product, rows, Phi) for rows in self._chunks()], Phi)
            both = squares._entries_of(product, squares.points @ Phi) + crossed
            return product.weight**2 / 2 * both
        return concat([self.stacked(rows).diagonal(Phi) for rows in self._chunks()], self.points)

    def _crossed(self, product: Product, rows: slice, Phi: Array) -> Array:
        """(p_i o p_j)' Phi (p_i o p_j) for a slice of the constraints."""
        xp = namespace(Phi)
        i, j = (self.indices[side][rows] for side in (product.first, product.second))
        both = xp.take(self.points, i, axis=0) * xp.take(self.points, j, axis=0)
        return xp.vecdot(both @ Phi, both)


def _leading_columns(points: Array, F: Array, centered: bool) -> tuple[Array, float, float]:
    """(points @ F in single precision, largest norm of a row, the same of what was left out).

    Only the columns that make up nearly all of the squares are kept: where X is nearly of low rank, as under
    the von Neumann divergence, a scan of a few columns decides all but a few constraints. The product in
    double precision is never whole.
    """
    xp = namespace(points)
    n, r = (int(k) for k in points.shape)
    sample = points[:: -(-n // _SAMPLE), :]
    center = xp.mean(sample, axis=0, keepdims=True) if centered else xp.zeros_like(sample[:1, :])
    energy = xp.mean(((sample - center) @ F) ** 2, axis=0)
    total = read(xp.sum(energy))
    order = xp.argsort(-energy)
    tails = total - xp.cumulative_sum(xp.take(energy, order))
    kept = 1 + count_true(tails > _LEFT_OUT * total)
    F = xp.take(F, order, axis=1)
    leading, reach, lost = _product(points, F, center, min(kept, r))
    if lost**2 > _OUTLYING * _LEFT_OUT * total:
        # A point that the sample did not show has most of its squares elsewhere.
        leading, reach, lost = _product(points, F, center, r)
    return leading, reach, lost


def _product(points: Array, F: Array, center: Array, kept: int) -> tuple[Array, float, float]:
    xp = namespace(points)
    n, r = (int(k) for k in points.shape)
    leading = xp.empty_like(points[:, :kept], dtype=xp.float32)
    shift = center @ F
    reach = lost = constant(0.0, points, 1)
    for rows in chunks(n, r, points):
        product = points[rows, :] @ F
        product -= shift
        leading[rows, :] = in_single(product[:, :kept])
        reach = xp.maximum(reach, xp.max(xp.vecdot(product, product)))
        if kept < r:
            rest = product[:, kept:]
            lost = xp.maximum(lost, xp.max(xp.vecdot(rest, rest)))
    return leading, read(reach[0]) ** 0.5, read(lost[0]) ** 0.5
