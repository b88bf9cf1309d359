"""S -> (<B_k, S>)_k on symmetric r x r matrices, and its adjoint: the contract.

Restricting to X = Q S Q' replaces B_k by Q' B_k Q. The same operation serves the range of a prior, the
basis of a Hessian and the factor of a scan: <B_k, F F'> is the trace of the map restricted to F.

Five forms, one contract. `PointMap` keeps indices and points, for all constraints of a problem;
`CoordinateMap` keeps indices alone, where the points are the rows of the identity; `DirectionMap` keeps the
directions of a working set; `SparseMap` keeps the entries of arbitrary matrices, `MatrixMap` the matrices.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from gramlearn._base.arrays import Array, constant, every_row, is_array, namespace, read
from gramlearn._base.matrices import transpose

# What maps over the same points, restricted to the same Q, share: points @ Q, by points and precision.
Products = dict[tuple[int, str], Any]


class Entries(NamedTuple):
    """The entry w of B_k at (i, j), for every entry of every B_k; the same place may come more than once."""

    k: Array
    i: Array
    j: Array
    w: Array


class RankOnes(NamedTuple):
    """B_k = sum_d weight_d z_d z_d' over start_k <= d < start_(k+1).

    The directions are z_d = rows[first_d] + sign_d rows[second_d].
    """

    rows: Array
    start: Array
    first: Array
    second: Array
    sign: Array
    weight: Array


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
    def materialize_rows(self, rows: Array) -> "LinearMap":
        """The map of these rows only, in the form that is fastest to apply."""

    @abstractmethod
    def index_rows(self, rows: Array) -> "LinearMap":
        """The map of these rows only, in the form it has."""

    def detached(self) -> "LinearMap":
        """The same map without anything it shares with others, so that it can be kept, or sent."""
        return self

    def every(self, stride: int, like: Array) -> "LinearMap":
        """The map of every `stride`-th row, in the form it has; where that can be, without a copy."""
        return self.index_rows(every_row(-(-self.size // stride), like) * stride)

    @abstractmethod
    def traces(self, x: Array) -> Array:
        """(<B_k, diag(x)>)_k for x >= 0; x of length 1 stands for x I."""

    @abstractmethod
    def magnitudes(self, x: Array) -> Array:
        """What each of the `traces` is the sum of, before it cancels: not smaller, and never negative."""

    @abstractmethod
    def apply(self, S: Array) -> Array:
        """(<B_k, S>)_k."""

    @abstractmethod
    def adjoint(self, v: Array) -> Array:
        """sum_k v_k B_k."""

    @abstractmethod
    def spread(self, v: Array) -> Array:
        """s >= 0 with sum_k |v_k| |B_k[i, j]| <= sqrt(s_i s_j): of sum_k v_k B_k before it cancels."""

    @abstractmethod
    def absolute_sum(self, v: Array) -> Array:
        """sum_k v_k P_k, in which nothing cancels for v >= 0: P_k is like the root of B_k^2.

        It is positive semidefinite, and no direction of B_k is lost; for B_k = zz' it is B_k itself.
        """

    @abstractmethod
    def squares(self, v: Array) -> Array:
        """sum_k v_k B_k o B_k."""

    def nonzeros(self) -> "Entries | None":
        """The entries of every B_k, or None where there are too many to name."""
        return None

    def few_rank_ones(self) -> "RankOnes | None":
        """Every B_k as a sum of matrices of rank one, or None where these are more than S has rows."""
        return None

    def estimates(self, F: Array, products: Products) -> "Estimates":
        """(<B_k, F F'>)_k, perhaps in single precision, with a bound on the error of that."""
        return Estimates(self.restrict(F, products).traces(constant(1.0, F, 1)), 0.0, 0.0)

    @abstractmethod
    def matrices(self) -> Array:
        """(B_k)_k, written out; for small maps only."""

    def gram(self, other: "LinearMap") -> Array:
        """(<B_k, C_l>)_kl with the C_l of another map."""
        first, second = self.matrices(), other.matrices()
        xp = namespace(first)
        flat = xp.reshape(second, (other.size, -1))
        return xp.reshape(first, (self.size, -1)) @ transpose(flat)

    @abstractmethod
    def entries(self, i: Array, j: Array) -> Array:
        """The entries (i_q, j_q) of every B_k, as row k."""

    @abstractmethod
    def sizes(self) -> Array:
        """s >= 0 with |B_k[i, j]| <= s_i s_j, or not much more, for every k."""

    def magnitude(self) -> float:
        """A number that no entry of a B_k exceeds by much."""
        if not self.size:
            return 0.0
        sizes = self.sizes()
        return read(namespace(sizes).max(sizes)) ** 2

    @abstractmethod
    def in_single(self, scale: float) -> "LinearMap":
        """The map of the B_k / scale, in single precision."""

    @property
    def stacked_weights(self) -> tuple[float, ...] | None:
        """The weights of its directions, if these are stacked: maps that have the same ones can be joined."""
        return None

    @abstractmethod
    def rank_ones(self) -> RankOnes:
        """Every B_k as a sum of matrices of rank one."""

    @abstractmethod
    def diagonal(self, Phi: Array) -> Array:
        """(<B_k, Phi o B_k>)_k."""


class ImplicitMap(LinearMap):
    """A map of a few entries each, written out for what solvers ask of restricted maps only."""

    @abstractmethod
    def written_out(self) -> LinearMap:
        """The same map with its matrices or directions written out."""

    def absolute_sum(self, v: Array) -> Array:
        return self.written_out().absolute_sum(v)

    def squares(self, v: Array) -> Array:
        return self.written_out().squares(v)

    def entries(self, i: Array, j: Array) -> Array:
        return self.written_out().entries(i, j)

    def rank_ones(self) -> RankOnes:
        return self.written_out().rank_ones()

    def diagonal(self, Phi: Array) -> Array:
        return self.written_out().diagonal(Phi)


class Estimates(NamedTuple):
    """Values that are off by at most relative |value| + absolute."""

    values: Array
    relative: float
    absolute: float

    def bounds(self, offset: Any, low: float = 1.0, high: float = 1.0) -> tuple[Array, Array]:
        """offset + what the values are at least, times `low`, and at most, times `high`."""
        xp = namespace(self.values)
        values = self.values
        least = (low * (1 - self.relative)) * values - low * self.absolute
        most = (high * (1 + self.relative)) * values + high * self.absolute
        if not is_array(offset) and offset == 0:
            return least, most
        if self.absolute > 0:
            # A large offset would swallow the digits of single precision.
            least, most = xp.astype(least, xp.float64), xp.astype(most, xp.float64)
        return offset + least, offset + most
