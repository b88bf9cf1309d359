"""B_k = sum_s w_s (e_i + sign e_j)(e_i + sign e_j)': entries of X itself, no direction ever written out.

Where X is the kernel, rows i and j of the points are those of the identity. B_k then has four entries, so the
map and its adjoint only read and write entries, and restricting to X = Q S Q' costs nothing: the points become
the rows of Q.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import final

from gramlearn._base.arrays import Array, added_at, constant, every_row, eye, flat_index, namespace
from gramlearn.problem.linear_maps.base import Entries, ImplicitMap, LinearMap, Products
from gramlearn.problem.linear_maps.indexed import IndexedMap
from gramlearn.problem.linear_maps.points import PointMap


@final
@dataclass(frozen=True)
class CoordinateMap(IndexedMap, ImplicitMap):
    """B_k over rows of the identity; `like` is a vector of the dimension of X, for its type and device."""

    like: Array
    # A working set: once restricted, its directions are kept in memory.
    is_materialized: bool = False

    @property
    def _dimension(self) -> int:
        return int(self.like.shape[0])

    def restrict(self, Q: Array, products: Products | None = None) -> LinearMap:
        del products  # there is no product to share
        rows = PointMap(self.indices, self.directions, Q)
        return rows.materialize_rows(every_row(self.size, Q)) if self.is_materialized else rows

    def materialize_rows(self, rows: Array) -> "CoordinateMap":
        return replace(self.index_rows(rows), is_materialized=True)

    def _entries(self) -> Iterator[tuple[float, Array, Array]]:
        """(w, i, j): every B_k is the sum of w e_i e_j' over these, i and j one for each k."""
        for d in self.directions:
            a, b = self.indices[d.first], self.indices[d.second]
            yield d.weight, a, a
            if d.sign:
                yield d.weight * d.sign, a, b
                yield d.weight * d.sign, b, a
                yield d.weight, b, b

    def nonzeros(self) -> Entries:
        xp, every = namespace(self.like), every_row(self.size, self.like)
        parts = [
            (
                every,
                *(xp.astype(x, xp.int64, copy=False) for x in (i, j)),
                constant(w, self.like, self.size),
            )
            for w, i, j in self._entries()
        ]
        return Entries(*(xp.concat(list(column)) for column in zip(*parts, strict=True)))

    def traces(self, x: Array) -> Array:
        return self._sum_diagonal(x, lambda w: w)

    def magnitudes(self, x: Array) -> Array:
        return self._sum_diagonal(x, abs)

    def _sum_diagonal(self, x: Array, weigh: Callable[[float], float]) -> Array:
        x = x if x.shape[0] == self._dimension else x * constant(1.0, self.like, self._dimension)
        xp, total = namespace(x), constant(0.0, self.like, self.size)
        for w, i, j in self._entries():
            total = total + weigh(w) * xp.where(i == j, xp.take(x, i), constant(0.0, x, self.size))
        return total

    def apply(self, S: Array) -> Array:
        xp, total = namespace(S), constant(0.0, S, self.size)
        flat = xp.reshape(S, (-1,))
        for w, i, j in self._entries():
            total = total + w * xp.take(flat, flat_index(i, j, self._dimension))
        return total

    def adjoint(self, v: Array) -> Array:
        xp, n = namespace(v), self._dimension
        flat = constant(0.0, v, n * n)
        for w, i, j in self._entries():
            flat = added_at(flat, flat_index(i, j, n), w * v)
        return xp.reshape(flat, (n, n))

    def spread(self, v: Array) -> Array:
        # The diagonal of zz' with z = e_a + sign e_b is e_a + e_b, and (1 + sign)^2 e_a where a = b.
        xp = namespace(v)
        total = constant(0.0, v, self._dimension)
        for d in self.directions:
            size = abs(d.weight) * xp.abs(v)
            a, b = self.indices[d.first], self.indices[d.second]
            if d.sign:
                total = added_at(total, b, xp.where(a == b, xp.zeros_like(size), size))
                size = xp.where(a == b, (1 + d.sign) ** 2 * size, size)
            total = added_at(total, a, size)
        return total

    def written_out(self) -> PointMap:
        return PointMap(self.indices, self.directions, eye(self._dimension, self.like))

    def matrices(self) -> Array:
        return self.written_out().matrices()

    def sizes(self) -> Array:
        return 2 * namespace(self.like).ones_like(self.like)

    def in_single(self, scale: float) -> "CoordinateMap":
        xp = namespace(self.like)
        scaled = tuple(d._replace(weight=d.weight / scale) for d in self.directions)
        return replace(self, like=xp.astype(self.like, xp.float32), directions=scaled)
