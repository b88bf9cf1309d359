"""f(X) = sum_ij W_ij (X_ij - C_ij)^2 / 2 with l_ij <= X_ij <= u_ij: what is asked of the entries of X.

For a positive semidefinite S, <S, X> >= 0. So no positive semidefinite X within the bounds is below

    sum_ij min over l_ij <= x <= u_ij of    W_ij (x - C_ij)^2 / 2 - S_ij x

|X_ij| is at most d where the diagonal of X is d. So the bounds are finite, and this one is finite for every S,
with weights of zero, too. Where sum_ij max(S_ij l_ij, S_ij u_ij) < 0, S proves that there is no such X.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

from gramlearn._base.arrays import Array, clipped, eye, machine_eps, namespace, read
from gramlearn.problem.dual import LEAST_SHARE

ROUNDINGS = 16  # of the terms of a sum


class Bound(NamedTuple):
    """A value that no X is below: its rounding is taken off, and `slack`, that of fixed entries."""

    value: float
    rounding: float
    slack: float = 0.0

    def less(self, slack: float) -> "Bound":
        """The bound where <S, X> may be as low as -slack."""
        return Bound(self.value - slack, self.rounding, slack)


@final
@dataclass(frozen=True, eq=False)
class Entries:
    """What is asked of a positive semidefinite matrix whose diagonal is d.

    Attributes
    ----------
    target, weight : arrays n x n
        C and W; where W is zero, C is any number.
    lower, upper : arrays n x n
        l and u, between -d and d; both are d on the diagonal.
    diagonal : float
        d, at least 0.
    """

    target: Array
    weight: Array
    lower: Array
    upper: Array
    diagonal: float

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.target.shape[0])

    @cached_property
    def least(self) -> float:
        """The least size that a gap is relative to."""
        return LEAST_SHARE * self.size

    @cached_property
    def size(self) -> float:
        """The size that f has for a matrix of correlations that have nothing to do with C."""
        return read(namespace(self.target).sum(self.weight * (self.target**2 + 1))) / 2

    def value(self, X: Array) -> float:
        """f(X)."""
        return read(namespace(X).sum(self.weight * (X - self.target) ** 2)) / 2

    def violation(self, X: Array) -> float:
        """By how much an entry of X leaves its bounds, at most."""
        xp = namespace(X)
        return max(read(xp.max(self.lower - X)), read(xp.max(X - self.upper)), 0.0)

    def nearest(self, Y: Array, price: Array) -> Array:
        """Minimize f(X) + sum_ij price_ij (X_ij - Y_ij)^2 / 2 within the bounds."""
        mean = (self.weight * self.target + price * Y) / (self.weight + price)
        return clipped(mean, low=self.lower, high=self.upper)

    def bound(self, S: Array) -> Bound:
        """What no positive semidefinite X within the bounds is below, by a positive semidefinite S."""
        xp = namespace(S)
        is_known = self.weight > 0
        price = xp.where(is_known, self.weight, xp.ones_like(S))
        # Without a weight the least is at an end, which a step beyond every bound leads to.
        free = xp.where(S > 0, self.upper, self.lower)
        x = clipped(
            xp.where(is_known, self.target + S / price, free), low=self.lower, high=self.upper
        )
        near, along = self.weight * (x - self.target) ** 2 / 2, S * x
        size = read(xp.sum(near + xp.abs(along)))
        rounding = ROUNDINGS * machine_eps(S) * size
        return Bound(read(xp.sum(near - along)) - rounding, rounding)

    def refutation(self, S: Array) -> Array:
        """The largest S_ij x within the bounds, for each entry."""
        xp = namespace(S)
        return xp.maximum(S * self.lower, S * self.upper)

    def is_refuted_by(self, S: Array, slack: float = 0.0) -> bool:
        """Whether S proves, beyond its rounding, that no matrix keeps the bounds, where <S, X> >= -slack."""
        xp = namespace(S)
        rounding = ROUNDINGS * self.n * machine_eps(S) * read(xp.sum(xp.abs(S)))
        return read(xp.sum(self.refutation(S))) < -rounding - slack

    def with_diagonal(self, X: Array) -> Array:
        """X scaled from both sides to the diagonal d, which keeps it positive semidefinite."""
        xp = namespace(X)
        size = xp.linalg.diagonal(X)
        is_positive = size > 0
        scale = xp.sqrt(self.diagonal / xp.where(is_positive, size, xp.ones_like(size)))
        scaled = X * scale[:, None] * scale[None, :]
        # It is d up to rounding, but in a row of zeros.
        exact = xp.where(is_positive, xp.full_like(size, self.diagonal), size)
        identity = eye(self.n, X)
        return scaled * (1 - identity) + identity * exact[:, None]
