"""H v = A(Phi o A* v) + loss*'' v: minus the second derivative of the dual, on a working set.

A* v = sum_k v_k B_k with B_k = Q' A_k Q in the frame Q of X, and Phi the divided differences of grad phi*, so
that Q (Phi o S) Q' is what X does when Y moves by Q S Q'. A product takes two matrix products of the size of
the working set.
"""

from collections.abc import Callable
from functools import cached_property
from typing import final

from gramlearn._base.arrays import Array, concat, eye, largest, namespace, read, where_true
from gramlearn._base.matrices import transpose
from gramlearn.problem.linear_maps import LinearMap, joined, joint_adjoint, joint_apply, split

_ENTRIES = 80  # of matrices that the preconditioner uses
_ELEMENTS = 40_000_000  # the most numbers of V
_LEFT = 1e-3  # the least share of the diagonal that stays in D


@final
class Hessian:
    """H v = A(D grad phi*(Y)[A* v]) + loss*'' v, on a subset of the constraints."""

    def __init__(self, maps: list[LinearMap], Phi: Array, second: Array, rank: int) -> None:
        self._maps = [m for m in maps if m.size]
        self._Phi = Phi
        self._second = second
        self.size = int(second.shape[0])
        self.rank = rank

    @cached_property
    def _lower(self) -> Array:
        """Phi on and below the diagonal, where every entry below it stands for the one above it, too."""
        xp, identity = namespace(self._second), eye(self.rank, self._second)
        return (2 * xp.tril(xp.ones_like(identity)) - identity) * self._Phi

    @cached_property
    def diagonal(self) -> Array:
        """(H_kk)_k."""
        return concat([m.diagonal(self._Phi) for m in self._maps], self._second) + self._second

    def product(self, v: Array) -> Array:
        """H v: two matrix products of the size of the working set."""
        return joint_apply(self._maps, self._Phi * joint_adjoint(self._maps, v)) + self._second * v

    def in_single(self) -> Callable[[Array], Array]:
        """The same product with the matrix products in single precision, at half the cost.

        Scaled to entries of about 1, so that nothing overflows; good to six digits, which is more than
        a Newton direction needs.
        """
        xp = namespace(self._second)
        scale = max((m.magnitude() for m in self._maps), default=0.0) or 1.0
        peak = read(xp.max(xp.abs(self._Phi))) or 1.0
        maps = joined(self._maps, scale)
        # Entries below rounding would make subnormal numbers, at which processors are slow.
        share = self._Phi / peak
        Phi = xp.astype(xp.where(share > 1e-12, share, xp.zeros_like(share)), xp.float32)

        def product(v: Array) -> Array:
            size = read(xp.max(xp.abs(v))) or 1.0
            image = joint_apply(maps, Phi * joint_adjoint(maps, xp.astype(v / size, xp.float32)))
            return (size * scale**2 * peak) * xp.astype(image, v.dtype) + self._second * v

        return product

    def preconditioner(self, diagonal: Array) -> Callable[[Array], Array]:
        """Solve (D + V V') x = v: H on the entries of matrices that matter most, and its diagonal elsewhere.

        Column q of V holds sqrt(Phi_ij) B_k[i, j], of an entry (i, j) that is large on average; D is what is
        left of the diagonal. Where X is large in a few directions, these make nearly all of H.
        """
        xp = namespace(diagonal)
        pieces = split(self._maps, 1 / xp.sqrt(diagonal))
        spreads = [m.spread(piece) for m, piece in zip(self._maps, pieces, strict=True)]
        size = sum(spreads[1:], start=spreads[0])
        Phi = self._lower
        count = min(_ENTRIES, self.rank * (self.rank + 1) // 2, max(8, _ELEMENTS // self.size))
        best = largest(xp.reshape(Phi * size[:, None] * size[None, :], (-1,)), count)
        i, j = best // self.rank, best % self.rank
        V = concat([m.entries(i, j) for m in self._maps], diagonal)
        V = V * xp.sqrt(xp.take(xp.reshape(Phi, (-1,)), best))
        D = xp.maximum(diagonal - xp.vecdot(V, V), _LEFT * diagonal)
        W = V / D[:, None]
        inner = xp.linalg.inv(eye(int(V.shape[1]), V) + transpose(V) @ W)
        return lambda v: v / D - W @ (inner @ (v @ W))

    def matrix(self) -> Array:
        """H written out; for small working sets, or where Phi is a number and there are few directions."""
        xp = namespace(self._second)
        if self._Phi.shape[0] == 1:
            rows = [concat([a.gram(b).T for b in self._maps], self._second).T for a in self._maps]
            second = eye(self.size, self._second) * self._second
            return self._Phi[0, 0] * concat(rows, self._second) + second
        weights = xp.reshape(self._lower, (-1,))
        # Where X has a low rank most of Phi is zero.
        kept = where_true(weights > 0)
        V = concat([m.entries(kept // self.rank, kept % self.rank) for m in self._maps], weights)
        V = V * xp.sqrt(xp.take(weights, kept))
        return V @ V.T + eye(self.size, self._second) * self._second
