"""B_k as a stack of dense matrices."""

from dataclasses import dataclass, replace
from typing import final

from gramlearn._base.arrays import Array, every_row, namespace, where_true
from gramlearn._base.matrices import transpose
from gramlearn.problem.linear_maps.base import LinearMap, Products, RankOnes


@final
@dataclass(frozen=True)
class MatrixMap(LinearMap):
    """B_k as a stack of c dense r x r matrices."""

    stack: Array
    is_nonnegative: bool = False

    @property
    def size(self) -> int:
        return int(self.stack.shape[0])

    def restrict(self, Q: Array, products: Products | None = None) -> "MatrixMap":
        del products  # matrices belong to one map
        return MatrixMap(transpose(Q) @ (self.stack @ Q), self.is_nonnegative)

    def materialize_rows(self, rows: Array) -> "MatrixMap":
        return MatrixMap(namespace(rows).take(self.stack, rows, axis=0), self.is_nonnegative)

    index_rows = materialize_rows

    def traces(self, x: Array) -> Array:
        xp = namespace(self.stack)
        return xp.sum(xp.linalg.diagonal(self.stack) * x, axis=-1)

    def magnitudes(self, x: Array) -> Array:
        xp = namespace(self.stack)
        return xp.sum(xp.abs(xp.linalg.diagonal(self.stack)) * x, axis=-1)

    def apply(self, S: Array) -> Array:
        return namespace(S).tensordot(self.stack, S, axes=((1, 2), (0, 1)))

    def adjoint(self, v: Array) -> Array:
        return namespace(v).tensordot(v, self.stack, axes=((0,), (0,)))

    def spread(self, v: Array) -> Array:
        xp = namespace(v)
        # No entry exceeds the sum of its row, nor that of its column.
        return xp.abs(v) @ xp.sum(xp.abs(self.stack), axis=2)

    def absolute_sum(self, v: Array) -> Array:
        # B^2 / |B|, which is B for a positive B of rank one, takes no eigenvectors.
        xp = namespace(v)
        size = xp.sqrt(xp.sum(self.stack * self.stack, axis=(1, 2)))
        weights = v / xp.where(size > 0, size, xp.ones_like(size))
        return xp.tensordot(weights, self.stack @ self.stack, axes=((0,), (0,)))

    def squares(self, v: Array) -> Array:
        return namespace(v).tensordot(v, self.stack * self.stack, axes=((0,), (0,)))

    def matrices(self) -> Array:
        return self.stack

    def entries(self, i: Array, j: Array) -> Array:
        xp = namespace(self.stack)
        flat = xp.reshape(self.stack, (self.size, -1))
        return xp.take(flat, i * self.stack.shape[1] + j, axis=1)

    def sizes(self) -> Array:
        xp = namespace(self.stack)
        return xp.sqrt(xp.max(xp.abs(self.stack), axis=(0, 1)))

    def in_single(self, scale: float) -> "MatrixMap":
        xp = namespace(self.stack)
        return replace(self, stack=xp.astype(self.stack / scale, xp.float32))

    def rank_ones(self) -> RankOnes:
        xp = namespace(self.stack)
        e, U = xp.linalg.eigh(self.stack)
        size = xp.abs(e)
        matters = size > 1e-15 * xp.max(size, axis=1, keepdims=True)
        scaled = xp.permute_dims(U * xp.sqrt(size)[:, None, :], (0, 2, 1))
        chosen = where_true(xp.reshape(matters, (-1,)))
        rows = xp.take(xp.reshape(scaled, (-1, self.stack.shape[1])), chosen, axis=0)
        counts = xp.cumulative_sum(xp.sum(xp.astype(matters, xp.int64), axis=1))
        first = every_row(int(chosen.shape[0]), rows)
        start = xp.concat([xp.zeros_like(counts[:1]), counts])
        weight = xp.sign(xp.take(xp.reshape(e, (-1,)), chosen))
        return RankOnes(rows, start, first, first, xp.zeros_like(weight), weight)

    def diagonal(self, Phi: Array) -> Array:
        return namespace(Phi).sum(self.stack * (Phi * self.stack), axis=(1, 2))
