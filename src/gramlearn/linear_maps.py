"""S -> (<B_k, S>)_k on symmetric r x r matrices, and its adjoint: the linear algebra of constraints.

Restricting to X = Q S Q' replaces B_k by Q' B_k Q. The same operation serves the range of a prior, the
basis of a Hessian and the factor of a scan: <B_k, F F'> is the trace of the map restricted to F.

Three forms, one contract. `PointMap` keeps indices and points, for all constraints of a problem;
`DirectionMap` keeps the directions of a working set; `MatrixMap` keeps arbitrary matrices.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

from gramlearn._arrays import (
    Array,
    chunks,
    concat,
    constant,
    namespace,
    pair_squared_norms,
    read,
    transpose,
)

__all__ = [
    "Direction",
    "DirectionMap",
    "Estimates",
    "LinearMap",
    "MatrixMap",
    "PointMap",
    "Products",
]

# A working set whose directions take no more than this is kept in memory instead of made anew.
_DIRECTIONS_BYTES = 1 << 30
# Norms between which single precision neither overflows nor loses more to small numbers than to rounding.
_SINGLE_REACH = (1e-8, 1e15)
_SUBNORMAL_ROOT = 1e-18


# What maps over the same points, restricted to the same Q, share: points @ Q, by points and precision.
Products = dict[tuple[int, str], Any]


class LinearMap(ABC):
    """S -> (<B_k, S>)_k on symmetric r x r matrices."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of B_k."""

    @property
    @abstractmethod
    def is_nonnegative(self) -> bool:
        """Whether every B_k is known to be positive semidefinite."""

    @abstractmethod
    def restrict(self, Q: Array, products: Products | None = None) -> "LinearMap":
        """The map S -> (<Q' B_k Q, S>)_k.

        Maps over the same points, restricted to the same Q, share their product through `products`.
        """

    @abstractmethod
    def take(self, rows: Array) -> "LinearMap":
        """The map of these rows only, in the form that is fastest to apply."""

    @abstractmethod
    def select(self, rows: Array) -> "LinearMap":
        """The map of these rows only, in the form it has."""

    @abstractmethod
    def traces(self, x: Array) -> Array:
        """(<B_k, diag(x)>)_k for x >= 0; x of length 1 stands for x I."""

    @abstractmethod
    def apply(self, S: Array) -> Array:
        """(<B_k, S>)_k."""

    @abstractmethod
    def adjoint(self, v: Array) -> Array:
        """sum_k v_k B_k."""

    @abstractmethod
    def spread(self, v: Array) -> Array:
        """sum_k |v_k| |diag B_k|."""

    @abstractmethod
    def squares(self, v: Array) -> Array:
        """sum_k v_k B_k o B_k."""

    def estimates(self, F: Array, products: Products) -> "Estimates":
        """(<B_k, F F'>)_k, perhaps in single precision, with a bound on the error of that."""
        return Estimates(self.restrict(F, products).traces(constant(1.0, F, 1)), 0.0, 0.0)

    @abstractmethod
    def matrices(self) -> Array:
        """(B_k)_k, written out; for small maps only."""

    @abstractmethod
    def magnitude(self) -> float:
        """A number that no entry of a B_k exceeds by much."""

    @abstractmethod
    def in_single(self, scale: float) -> "LinearMap":
        """The map of the B_k / scale, in single precision."""

    @abstractmethod
    def diagonal(self, Phi: Array) -> Array:
        """(<B_k, Phi o B_k>)_k."""


class Estimates(NamedTuple):
    """Values that are off by at most relative |value| + absolute."""

    values: Array
    relative: float
    absolute: float

    def bounds(self, low: float = 1.0, high: float = 1.0) -> tuple[Array, Array]:
        """What the values are at least, times `low`, and at most, times `high`."""
        if self.relative == 0:  # of either sign
            return low * self.values - self.absolute, high * self.values + self.absolute
        least = (low * (1 - self.relative)) * self.values - self.absolute
        return least, (high * (1 + self.relative)) * self.values + self.absolute


class Direction(NamedTuple):
    """weight * |p_first + sign p_second|_X^2; first and second number the index arrays."""

    weight: float
    first: int
    sign: int
    second: int


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

    def take(self, rows: Array) -> "DirectionMap":
        xp = namespace(self.z)
        stacked = [rows + s * self.size for s in range(len(self.weights))]
        return DirectionMap(xp.take(self.z, concat(stacked, rows), axis=0), self.weights)

    select = take

    def _sum(self, stacked: Array) -> Array:
        """Add up the arity parts of a stacked vector, with their weights."""
        if self.weights == (1.0,):
            return stacked
        parts = [
            w * stacked[s * self.size : (s + 1) * self.size] for s, w in enumerate(self.weights)
        ]
        return sum(parts[1:], start=parts[0])

    def traces(self, x: Array) -> Array:
        xp = namespace(self.z)
        if x.shape[0] == 1:
            return self._sum(xp.vecdot(self.z, self.z)) * x
        return self._sum((self.z * self.z) @ x)

    def apply(self, S: Array) -> Array:
        return self._sum(namespace(self.z).vecdot(self.z @ S, self.z))

    def adjoint(self, v: Array) -> Array:
        stacked = v if self.weights == (1.0,) else concat([w * v for w in self.weights], v)
        return transpose(self.z * stacked[:, None]) @ self.z

    def spread(self, v: Array) -> Array:
        xp = namespace(v)
        stacked = concat([abs(w) * xp.abs(v) for w in self.weights], v)
        return stacked @ (self.z * self.z)

    def squares(self, v: Array) -> Array:
        total = constant(0.0, self.z, (self.z.shape[1], self.z.shape[1]))
        for weight, both in self._pairs_of_directions():
            total = total + weight * (transpose(both * v[:, None]) @ both)
        return total

    def _pairs_of_directions(self) -> Iterator[tuple[float, Array]]:
        """(w_st, z_s o z_t) with B o B = sum_(s >= t) w_st (z_s o z_t)(z_s o z_t)'."""
        size = self.size
        parts = [self.z[s * size : (s + 1) * size, :] for s in range(len(self.weights))]
        for s, ws in enumerate(self.weights):
            for t, wt in enumerate(self.weights[: s + 1]):
                yield (1 if s == t else 2) * ws * wt, parts[s] * parts[t]

    def matrices(self) -> Array:
        size, total = self.size, 0.0
        for s, w in enumerate(self.weights):
            z = self.z[s * size : (s + 1) * size, :]
            total = total + w * z[:, :, None] * z[:, None, :]
        return total

    def magnitude(self) -> float:
        xp = namespace(self.z)
        return read(xp.max(xp.abs(self.z))) ** 2 if self.size else 0.0

    def in_single(self, scale: float) -> "DirectionMap":
        xp = namespace(self.z)
        return DirectionMap(xp.astype(self.z * scale**-0.5, xp.float32), self.weights)

    def diagonal(self, Phi: Array) -> Array:
        # <B, Phi o B> = sum_st w_s w_t (z_s o z_t)' Phi (z_s o z_t)
        xp = namespace(self.z)
        total = 0.0
        for weight, both in self._pairs_of_directions():
            is_one = Phi.shape[0] == 1
            image = xp.sum(both, axis=1) ** 2 * Phi[0, 0] if is_one else xp.vecdot(both @ Phi, both)
            total = total + weight * image
        return total


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
        r = int(self.points.shape[1])
        total = constant(0.0, self.points, (r, r))
        for rows in self._chunks():
            total = total + self.stacked(rows).adjoint(v[rows])
        return total

    def squares(self, v: Array) -> Array:
        r = int(self.points.shape[1])
        total = constant(0.0, self.points, (r, r))
        for rows in self._chunks():
            total = total + self.stacked(rows).squares(v[rows])
        return total

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

    def spread(self, v: Array) -> Array:
        return sum(
            (self.stacked(rows).spread(v[rows]) for rows in self._chunks()),
            start=constant(0.0, self.points, self.points.shape[1]),
        )

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


@final
@dataclass(frozen=True)
class MatrixMap(LinearMap):
    """B_k as a stack of c dense r x r matrices."""

    stack: Array
    known_nonnegative: bool = False

    @property
    def is_nonnegative(self) -> bool:
        return self.known_nonnegative

    @property
    def size(self) -> int:
        return int(self.stack.shape[0])

    def restrict(self, Q: Array, products: Products | None = None) -> "MatrixMap":
        del products  # matrices belong to one map
        return MatrixMap(transpose(Q) @ (self.stack @ Q), self.known_nonnegative)

    def take(self, rows: Array) -> "MatrixMap":
        return MatrixMap(namespace(rows).take(self.stack, rows, axis=0), self.known_nonnegative)

    select = take

    def traces(self, x: Array) -> Array:
        xp = namespace(self.stack)
        return xp.sum(xp.linalg.diagonal(self.stack) * x, axis=-1)

    def apply(self, S: Array) -> Array:
        return namespace(S).tensordot(self.stack, S, axes=((1, 2), (0, 1)))

    def adjoint(self, v: Array) -> Array:
        return namespace(v).tensordot(v, self.stack, axes=((0,), (0,)))

    def spread(self, v: Array) -> Array:
        xp = namespace(v)
        return xp.abs(v) @ xp.abs(xp.linalg.diagonal(self.stack))

    def squares(self, v: Array) -> Array:
        return namespace(v).tensordot(v, self.stack * self.stack, axes=((0,), (0,)))

    def matrices(self) -> Array:
        return self.stack

    def magnitude(self) -> float:
        xp = namespace(self.stack)
        return read(xp.max(xp.abs(self.stack))) if self.size else 0.0

    def in_single(self, scale: float) -> "MatrixMap":
        xp = namespace(self.stack)
        return replace(self, stack=xp.astype(self.stack / scale, xp.float32))

    def diagonal(self, Phi: Array) -> Array:
        return namespace(Phi).sum(self.stack * (Phi * self.stack), axis=(1, 2))


def _rounded_product(points: Array, Q: Array) -> Array:
    """points @ Q rounded to single precision, chunk by chunk; the product in double is never whole.

    What is so small that its square would be subnormal becomes 0: processors are slow at such numbers.
    """
    xp = namespace(points)
    out = xp.empty_like(points, dtype=xp.float32)
    for rows in chunks(int(points.shape[0]), int(points.shape[1]), points):
        product = points[rows, :] @ Q
        product = xp.where(xp.abs(product) > _SUBNORMAL_ROOT, product, xp.zeros_like(product))
        out[rows, :] = xp.astype(product, xp.float32)
    return out
