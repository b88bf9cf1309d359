"""S -> sum_k d_k B_k <B_k, S>: the second derivative of the losses at one X, over constraints that are curved.

B_k is A_k in the frame of X, and d_k = loss_k''(t_k). A Newton direction needs products with it, and for its
preconditioner a few r x r matrices, so that it does not matter where the constraints are.
"""

from abc import ABC, abstractmethod
from typing import Any, Self, final

from gramlearn._base.arrays import Array, concat, every_row, namespace, read
from gramlearn._base.matrices import transpose
from gramlearn.problem.linear_maps import LinearMap, joined, joint_adjoint, joint_apply, split


class Curved(ABC):
    """S -> sum_k d_k B_k <B_k, S>."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of constraints."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest d_k."""

    @property
    @abstractmethod
    def magnitude(self) -> float:
        """A number that no entry of a B_k exceeds by much, never zero."""

    @abstractmethod
    def product(self, S: Array) -> Array:
        """sum_k d_k B_k <B_k, S>."""

    @abstractmethod
    def trace(self, Phi: Array) -> float:
        """sum_k d_k <B_k, Phi o B_k>."""

    @abstractmethod
    def spread(self) -> Array:
        """sum_k sqrt(d_k) |B_k|, see `LinearMap.absolute_sum`."""

    @abstractmethod
    def squares(self, K: Array) -> tuple[Array, Array]:
        """sum_k d_k C_k o C_k, and sum_k d_k c_k c_k' over their diagonals c_k, for C_k = K' B_k K."""

    @abstractmethod
    def gram(self, coordinates: Any) -> Array:
        """sum_k d_k b_k b_k', over the coordinates b_k of every B_k: see `Coordinates`."""

    @abstractmethod
    def gathered(self) -> tuple[list[LinearMap], Array]:
        """The B_k and d_k themselves; for few constraints."""

    @abstractmethod
    def sample(self, least: int) -> "Curved":
        """Every k-th constraint, k times as curved, so that there are at least so many."""

    @abstractmethod
    def in_single(self, scale: float, peak: float) -> "Curved":
        """The same of B_k / scale and d_k (scale peak)^2, in single precision."""


@final
class CurvedHere(Curved):
    """Constraints in the memory of this process."""

    def __init__(self, maps: list[LinearMap], curvature: Array, rank: int) -> None:
        self.maps, self.curvature, self._rank = maps, curvature, rank

    @property
    def size(self) -> int:
        return int(self.curvature.shape[0])

    @property
    def largest(self) -> float:
        return read(namespace(self.curvature).max(self.curvature))

    @property
    def magnitude(self) -> float:
        return max(m.magnitude() for m in self.maps) or 1.0

    def _pieces(self, vector: Array) -> "zip[tuple[LinearMap, Array]]":
        return zip(self.maps, split(self.maps, vector), strict=True)

    def product(self, S: Array) -> Array:
        return joint_adjoint(self.maps, self.curvature * joint_apply(self.maps, S))

    def trace(self, Phi: Array) -> float:
        pieces = self._pieces(self.curvature)
        return sum(read(namespace(d).sum(d * m.diagonal(Phi))) for m, d in pieces)

    def spread(self) -> Array:
        roots = namespace(self.curvature).sqrt(self.curvature)
        return sum(m.absolute_sum(root) for m, root in self._pieces(roots))

    def squares(self, K: Array) -> tuple[Array, Array]:
        xp = namespace(K)
        rotated = [(m.restrict(K), d) for m, d in self._pieces(self.curvature)]
        every = every_row(self._rank, K)
        diagonals = [m.entries(every, every) * xp.sqrt(d)[:, None] for m, d in rotated]
        return sum(m.squares(d) for m, d in rotated), sum(transpose(b) @ b for b in diagonals)

    def gram(self, coordinates: Any) -> Array:
        return coordinates.gram(self.maps, self.curvature)

    def gathered(self) -> tuple[list[LinearMap], Array]:
        return self.maps, self.curvature

    def sample(self, least: int) -> "CurvedHere":
        k = self.size // least
        return self if k <= 1 else self.every(k, 0)

    def every(self, k: int, first: int) -> "CurvedHere":
        """Every k-th constraint of each map, from so many on, k times as curved."""
        curvature = self.curvature
        rows = [every_row(-(-(m.size - first) // k), curvature) * k + first for m in self.maps]
        some = [m.materialize_rows(chosen) for m, chosen in zip(self.maps, rows, strict=True)]
        pieces = zip(split(self.maps, curvature), rows, strict=True)
        chosen = k * concat([d[taken] for d, taken in pieces], curvature)
        return CurvedHere(joined(some), chosen, self._rank)

    def in_single(self, scale: float, peak: float) -> Self:
        xp = namespace(self.curvature)
        curvature = xp.astype(self.curvature * (scale * peak) ** 2, xp.float32)
        return type(self)(joined(self.maps, scale), curvature, self._rank)
