"""B_k = sum_s w_s z_ks z_ks': matrices of low rank, given by their directions z."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from gramlearn._base.arrays import Array, concat, concat_in_single, constant, every_row, namespace
from gramlearn._base.matrices import transpose, weighted_gram
from gramlearn.problem.linear_maps.base import LinearMap, Products, RankOnes


@final
@dataclass(frozen=True)
class DirectionMap(LinearMap):
    """B_k = sum_s w_s z_ks z_ks', the directions z stacked as one (arity * size) x r matrix."""

    z: Array
    weights: tuple[float, ...]

    @property
    def size(self) -> int:
        return int(self.z.shape[0]) // len(self.weights)

    @property
    def is_nonnegative(self) -> bool:
        return min(self.weights) >= 0

    def restrict(self, Q: Array, products: Products | None = None) -> "DirectionMap":
        del products  # directions belong to one map
        return DirectionMap(self.z @ Q, self.weights)

    def materialize_rows(self, rows: Array) -> "DirectionMap":
        xp = namespace(self.z)
        stacked = [rows + s * self.size for s in range(len(self.weights))]
        return DirectionMap(xp.take(self.z, concat(stacked, rows), axis=0), self.weights)

    index_rows = materialize_rows

    def _sum(self, stacked: Array) -> Array:
        """Add up the arity parts of a stacked vector or matrix, with their weights."""
        if self.weights == (1.0,):
            return stacked
        parts = [w * part for w, part in zip(self.weights, self._cut(stacked), strict=True)]
        return sum(parts[1:], start=parts[0])

    def _cut(self, stacked: Array) -> list[Array]:
        """The arity parts of a stacked vector or matrix."""
        size = self.size
        return [stacked[s * size : (s + 1) * size, ...] for s in range(len(self.weights))]

    def traces(self, x: Array) -> Array:
        xp = namespace(self.z)
        if x.shape[0] == 1:
            return self._sum(xp.vecdot(self.z, self.z)) * x
        return self._sum((self.z * self.z) @ x)

    def magnitudes(self, x: Array) -> Array:
        return DirectionMap(self.z, tuple(abs(w) for w in self.weights)).traces(x)

    def apply(self, S: Array) -> Array:
        return self._sum(namespace(self.z).vecdot(self.z @ S, self.z))

    def adjoint(self, v: Array) -> Array:
        stacked = v if self.weights == (1.0,) else concat([w * v for w in self.weights], v)
        return weighted_gram(self.z, stacked)

    def spread(self, v: Array) -> Array:
        xp = namespace(v)
        stacked = concat([abs(w) * xp.abs(v) for w in self.weights], v)
        return stacked @ (self.z * self.z)

    def absolute_sum(self, v: Array) -> Array:
        return DirectionMap(self.z, tuple(abs(w) for w in self.weights)).adjoint(v)

    def squares(self, v: Array) -> Array:
        total = constant(0.0, self.z, (self.z.shape[1], self.z.shape[1]))
        for weight, both in self._pairs_of_directions():
            total = total + weight * (transpose(both * v[:, None]) @ both)
        return total

    def _pairs_of_directions(self) -> Iterator[tuple[float, Array]]:
        """(w_st, z_s o z_t) with B o B = sum_(s >= t) w_st (z_s o z_t)(z_s o z_t)'."""
        parts = self._cut(self.z)
        for s, ws in enumerate(self.weights):
            for t, wt in enumerate(self.weights[: s + 1]):
                yield (1 if s == t else 2) * ws * wt, parts[s] * parts[t]

    def matrices(self) -> Array:
        return self._sum(self.z[:, :, None] * self.z[:, None, :])

    def gram(self, other: LinearMap) -> Array:
        if not isinstance(other, DirectionMap):
            return transpose(other.gram(self))
        # <zz', yy'> = (z'y)^2: no matrix is written out.
        total: Array = 0.0
        for w, z in zip(self.weights, self._cut(self.z), strict=True):
            for v, y in zip(other.weights, other._cut(other.z), strict=True):
                total = total + w * v * (z @ transpose(y)) ** 2
        return total

    def entries(self, i: Array, j: Array) -> Array:
        xp = namespace(self.z)
        return self._sum(xp.take(self.z, i, axis=1) * xp.take(self.z, j, axis=1))

    def sizes(self) -> Array:
        xp = namespace(self.z)
        return xp.maximum(xp.max(self.z, axis=0), -xp.min(self.z, axis=0))

    def in_single(self, scale: float) -> "DirectionMap":
        return join_directions([self], scale)

    @property
    def stacked_weights(self) -> tuple[float, ...]:
        return self.weights

    def rank_ones(self) -> RankOnes:
        xp, size, count = namespace(self.z), self.size, len(self.weights)
        numbers = every_row(size, self.z)[:, None] + every_row(count, self.z)[None, :] * size
        first = xp.reshape(numbers, (-1,))
        weights = xp.stack([constant(w, self.z, size) for w in self.weights], axis=1)
        sign = constant(0.0, self.z, size * count)
        start = every_row(size + 1, self.z) * count
        return RankOnes(self.z, start, first, first, sign, xp.reshape(weights, (-1,)))

    def diagonal(self, Phi: Array) -> Array:
        # <B, Phi o B> = sum_st w_s w_t (z_s o z_t)' Phi (z_s o z_t)
        xp = namespace(self.z)
        total = 0.0
        for weight, both in self._pairs_of_directions():
            is_one = Phi.shape[0] == 1
            image = xp.sum(both, axis=1) ** 2 * Phi[0, 0] if is_one else xp.vecdot(both @ Phi, both)
            total = total + weight * image
        return total


def join_directions(maps: Sequence[DirectionMap], single: float | None = None) -> DirectionMap:
    """The B_k of these maps, whose directions have the same weights, one after another.

    With `single`, in single precision and divided by that number.
    """
    weights = maps[0].weights
    # The first directions of all constraints come before the second ones.
    pieces = [m._cut(m.z)[s] for s in range(len(weights)) for m in maps]
    if single is None:
        return DirectionMap(concat(pieces, maps[0].z), weights)
    if single != 1:
        pieces = [z * single**-0.5 for z in pieces]
    return DirectionMap(concat_in_single(pieces), weights)
