"""B_k by their entries: w at (i, j), and at (j, i), one row of a table each."""

from dataclasses import dataclass, replace
from typing import final

from gramlearn._base.arrays import Array, added_at, constant, every_row, namespace, where_true
from gramlearn._base.matrices import transpose
from gramlearn.problem.linear_maps.base import Entries, ImplicitMap, Products
from gramlearn.problem.linear_maps.matrices import MatrixMap


@final
@dataclass(frozen=True)
class SparseMap(ImplicitMap):
    """B_k with few entries, those of B_0 first; `like` is a vector of the dimension of X, for its type."""

    table: Entries
    count: int
    like: Array
    is_nonnegative: bool = False

    @property
    def size(self) -> int:
        return self.count

    @property
    def _dimension(self) -> int:
        return int(self.like.shape[0])

    def nonzeros(self) -> Entries:
        return self.table

    def restrict(self, Q: Array, products: Products | None = None) -> MatrixMap:
        # Q' B Q = Q[i]' diag(w) Q[j]: only the rows of Q that B touches are read.
        del products
        xp, r = namespace(Q), int(Q.shape[1])
        k, i, j, w = self.table
        stack = []
        for row in range(self.count):
            mine = where_true(k == row)
            left, right = (xp.take(Q, xp.take(side, mine), axis=0) for side in (i, j))
            stack.append(transpose(left) @ (xp.take(w, mine)[:, None] * right))
        whole = xp.stack(stack) if stack else constant(0.0, Q, (0, r, r))
        return MatrixMap(whole, self.is_nonnegative)

    def materialize_rows(self, rows: Array) -> MatrixMap:
        return self.index_rows(rows).written_out()

    def index_rows(self, rows: Array) -> "SparseMap":
        xp, count = namespace(rows), int(rows.shape[0])
        k, i, j, w = self.table
        # Row by row, the entries from start[row] to start[row + 1].
        start = xp.searchsorted(k, every_row(self.count + 1, self.like))
        sizes = xp.take(start, rows + 1) - xp.take(start, rows)
        place = xp.repeat(every_row(count, self.like), sizes)
        before = xp.cumulative_sum(sizes) - sizes - xp.take(start, rows)
        kept = every_row(int(place.shape[0]), self.like) - xp.take(before, place)
        return replace(
            self, table=Entries(place, *(xp.take(x, kept) for x in (i, j, w))), count=count
        )

    def traces(self, x: Array) -> Array:
        x = x if x.shape[0] == self._dimension else x * constant(1.0, self.like, self._dimension)
        xp = namespace(x)
        k, i, j, w = self.table
        on_diagonal = xp.where(i == j, w * xp.take(x, i), xp.zeros_like(w))
        return added_at(constant(0.0, x, self.count), k, on_diagonal)

    def magnitudes(self, x: Array) -> Array:
        w = namespace(x).abs(self.table.w)
        return replace(self, table=self.table._replace(w=w)).traces(x)

    def apply(self, S: Array) -> Array:
        xp = namespace(S)
        k, i, j, w = self.table
        values = w * xp.take(xp.reshape(S, (-1,)), i * self._dimension + j)
        return added_at(constant(0.0, S, self.count), k, values)

    def adjoint(self, v: Array) -> Array:
        xp, n = namespace(v), self._dimension
        k, i, j, w = self.table
        return xp.reshape(added_at(constant(0.0, v, n * n), i * n + j, w * xp.take(v, k)), (n, n))

    def spread(self, v: Array) -> Array:
        xp = namespace(v)
        k, i, _, w = self.table
        # No entry exceeds the sum of its row, nor that of its column.
        return added_at(constant(0.0, v, self._dimension), i, xp.abs(w * xp.take(v, k)))

    def written_out(self) -> MatrixMap:
        return MatrixMap(self.matrices(), self.is_nonnegative)

    def matrices(self) -> Array:
        xp, n = namespace(self.like), self._dimension
        k, i, j, w = self.table
        flat = added_at(constant(0.0, self.like, self.count * n * n), (k * n + i) * n + j, w)
        return xp.reshape(flat, (self.count, n, n))

    def sizes(self) -> Array:
        return self.written_out().sizes()

    def in_single(self, scale: float) -> MatrixMap:
        return self.written_out().in_single(scale)
