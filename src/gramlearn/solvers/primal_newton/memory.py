"""M^-1 -> (I - W W'A) M^-1 (I - A W W') + W W', with W'A W = I: a preconditioner that knows A along some W.

These are directions of conjugate gradients for earlier Newton systems. Where X has turned thin, it hardly
changes any more in its thick directions, nor does B* d B: from one barrier to the next the systems have the
same few directions in which the usual preconditioner is poor, and to find them anew takes most of the time.
"""

from dataclasses import dataclass, replace
from typing import Protocol, Self, final

from gramlearn._base.arrays import Array, is_finite, namespace, where_true
from gramlearn._base.matrices import eigh, symmetric_part, transpose

_KEPT = 40  # products that are remembered, the last ones
_INDEPENDENT = (
    1e-3  # the least eigenvalue of W'A W, against the largest, for directions of length 1
)


class Inverse(Protocol):
    """An approximate inverse of a system over symmetric matrices."""

    @property
    def known(self) -> list[tuple[Array, Array]]:
        """Pairs of a direction and its product with the system."""

    @property
    def largest(self) -> Array:
        """The largest number in it, which must not overflow."""

    def apply(self, residual: Array) -> Array:
        """Multiply with it."""

    def in_single(self) -> "Inverse":
        """The same in single precision."""


@final
@dataclass(frozen=True, eq=False)
class Memory:
    """Directions dX and their products B* d B dX, both in the frame Q of the X they were made for."""

    frame: Array
    directions: Array
    products: Array

    @classmethod
    def of(
        cls, pairs: list[tuple[Array, Array]], inverse: Inverse, frame: Array, h: Array
    ) -> "Memory":
        """Remember pairs (S, S + h B* d B h S), after those that the preconditioner knew already."""
        xp = namespace(frame)
        pairs = [*inverse.known, *pairs][-_KEPT:]
        S, image = (xp.stack([xp.astype(pair[k], frame.dtype) for pair in pairs]) for k in (0, 1))
        return cls(frame, h * S, (image - S) / h)

    def deflation(self, frame: Array, h: Array, inverse: Inverse) -> Inverse:
        """The preconditioner for a system at another X, or the given one where nothing can be made of these."""
        xp = namespace(frame)
        turn = xp.linalg.solve(frame, self.frame)
        back = xp.linalg.solve(self.frame, frame)
        S = turn @ self.directions @ transpose(turn) / h
        image = S + h * (transpose(back) @ self.products @ back)
        if not (is_finite(S) and is_finite(image)):
            return inverse
        count = int(S.shape[0])
        S, image = xp.reshape(S, (count, -1)), xp.reshape(image, (count, -1))
        lengths = xp.sqrt(xp.sum(S**2, axis=1))[:, None]
        S, image = S / lengths, image / lengths
        values, vectors = eigh(symmetric_part(S @ transpose(image)))
        kept = where_true(values > _INDEPENDENT * xp.max(values))
        turn = transpose(xp.take(vectors, kept, axis=1) / xp.sqrt(xp.take(values, kept)))
        W, AW = turn @ S, turn @ image
        return Deflation(inverse, W, AW, frame.shape) if is_finite(W) and is_finite(AW) else inverse


@final
@dataclass(frozen=True, eq=False)
class Deflation:
    """The rows of W are directions, those of AW their products."""

    inverse: Inverse
    W: Array
    AW: Array
    shape: tuple[int, int]

    @property
    def known(self) -> list[tuple[Array, Array]]:
        shape = self.shape
        xp = namespace(self.W)
        rows = range(int(self.W.shape[0]))
        return [(xp.reshape(self.W[k, :], shape), xp.reshape(self.AW[k, :], shape)) for k in rows]

    @property
    def largest(self) -> Array:
        xp = namespace(self.W)
        return xp.max(xp.stack([self.inverse.largest, xp.max(xp.abs(self.AW))]))

    def apply(self, residual: Array) -> Array:
        xp = namespace(residual)
        flat = xp.reshape(residual, (-1,))
        known = self.W @ flat
        rest = self.inverse.apply(xp.reshape(flat - known @ self.AW, residual.shape))
        z = xp.reshape(rest, (-1,))
        return xp.reshape(z + (known - self.AW @ z) @ self.W, residual.shape)

    def in_single(self) -> Self:
        xp = namespace(self.W)
        W, AW = (xp.astype(x, xp.float32) for x in (self.W, self.AW))
        return replace(self, inverse=self.inverse.in_single(), W=W, AW=AW)
