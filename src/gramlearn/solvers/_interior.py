"""X = Q Q' > 0 and lo < lam < hi, each with its multipliers: where an interior-point step starts.

X need not be X(lam). Where grad phi(X) - Z = Y0 - sum_k lam_k A_k, and loss_k*'(lam_k) - t_k is the difference
of the multipliers of the two ends, the gap is what X and Z, and lam and its multipliers, have as products.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from gramlearn._arrays import Array, constant, eye, namespace, read, symmetric_part, transpose
from gramlearn.dual import Dual, Part
from gramlearn.linear_maps import LinearMap
from gramlearn.primal import PrimalPoint
from gramlearn.solvers._symmetric import Coordinates, joint_adjoint, joint_apply
from gramlearn.spectral import ConjugatePoint

__all__ = ["Interior", "centered", "central_prices"]

_MARGIN = 1e-3  # of its size that a t is kept away from the end of its domain, to have a price
_SHARE = 0.1  # of the residual that the multiplier of X starts with, at least


@final
@dataclass(frozen=True, eq=False)
class Interior:
    """X = Q Q' with Q'ZQ = diag(z), and lam with u, v > 0 where its box ends below and above."""

    dual: Dual
    frame: Array  # Q
    cone: Array  # z
    lam: Array
    below: Array  # u, and 0 where the box has no end
    above: Array  # v

    @property
    def is_inside(self) -> bool:
        """Whether X has a multiplier yet."""
        return read(namespace(self.cone).min(self.cone)) > 0

    @cached_property
    def at(self) -> ConjugatePoint:
        """phi* at the Y of X."""
        return self.dual.regularizer.at_gradient(self.frame)

    @cached_property
    def judged(self) -> PrimalPoint:
        """X with these lam, for a certificate."""
        return PrimalPoint(self.dual, self.at, self.lam)

    @cached_property
    def maps(self) -> list[LinearMap]:
        """The B_k = Q' A_k Q."""
        return [part.map.restrict(self.frame) for part in self.dual.parts]

    @property
    def t(self) -> Array:
        """t_k = offset_k + <A_k, X>."""
        return self.judged.t

    @cached_property
    def residual(self) -> Array:
        """Q' (grad phi(X) - Y0 + sum_k lam_k A_k) Q, which Q'ZQ is to be."""
        Q, image = self.frame, self.at.image
        if not self.dual.regularizer.is_invariant:
            image = transpose(self.turn) @ image @ self.turn
        prices = joint_adjoint(self.maps, self.lam)
        return symmetric_part(image - transpose(Q) @ (self.dual.origin.matrix @ Q) + prices)

    @property
    def imbalance(self) -> Array:
        """Q' (grad phi(X) - Z - Y0 + sum_k lam_k A_k) Q, which is to be 0."""
        return self.residual + eye(int(self.cone.shape[0]), self.cone) * (self.own - self.cone)

    @property
    def turn(self) -> Array:
        """U'Q, with the eigenvectors U of X."""
        return transpose(self.at.frame) @ self.frame

    @property
    def own(self) -> float:
        """What X Z becomes beside mu: 1 where phi is the barrier itself."""
        return 1.0 if self.dual.regularizer.is_invariant else 0.0

    @cached_property
    def rooms(self) -> tuple[Array, Array]:
        """(lam - lo, hi - lam), and 1 where the box has no end."""
        xp = namespace(self.lam)
        lo, hi = self.dual.box
        one = xp.ones_like(self.lam)
        return (
            xp.where(xp.isfinite(lo), self.lam - lo, one),
            xp.where(xp.isfinite(hi), hi - self.lam, one),
        )

    @property
    def count(self) -> int:
        """How many products are to become mu."""
        xp = namespace(self.lam)
        ends = [xp.astype(xp.isfinite(end), xp.int64) for end in self.dual.box]
        return int(self.cone.shape[0]) + sum(int(xp.sum(end)) for end in ends)

    @property
    def mu(self) -> float:
        """The mean product."""
        cone = read(namespace(self.cone).sum(self.cone))
        return self.mean_product(self.below, self.above, self.rooms, cone)

    def mean_product(
        self, below: Array, above: Array, rooms: tuple[Array, Array], XZ: float
    ) -> float:
        """The mean of u (lam - lo), v (hi - lam) and of what tr XZ is above that of the own barrier."""
        xp = namespace(below)
        inside = max(XZ - self.own * int(self.cone.shape[0]), 0.0)
        return (
            read(xp.sum(below * rooms[0])) + read(xp.sum(above * rooms[1])) + inside
        ) / self.count


def centered(dual: Dual, frame: Array, lam: Array, mu: float) -> Interior:
    """Give X and lam multipliers whose products are mu, those of X larger where the residual is large.

    What is left of grad phi(X) = Y0 - sum_k lam_k A_k is then no larger than a few times Z, and the steps that
    make it vanish are not cut short by Z.
    """
    xp = namespace(lam)
    zero, none = xp.zeros_like(lam), constant(0.0, lam, int(frame.shape[0]))
    point = Interior(dual, frame, none, lam, zero, zero)
    largest = read(xp.max(xp.abs(point.residual)))
    below, above = (
        xp.where(xp.isfinite(end), mu / room, zero)
        for end, room in zip(dual.box, point.rooms, strict=True)
    )
    cone = none + (point.own + max(mu, _SHARE * largest))
    return replace(point, cone=cone, below=below, above=above)


def central_prices(part: Part, t: Array, mu: float) -> Array:
    """Give the lam with t - loss*'(lam) + mu / (lam - lo) - mu / (hi - lam) = 0, or one near it.

    It is exact where loss*' is a constant and the box ends on both sides, as for a hinge.
    """
    xp = namespace(t)
    lo, hi = part.loss.box(t, part.size)
    ends_below, ends_above = (bool(xp.all(xp.isfinite(end))) for end in (lo, hi))
    if ends_below and ends_above:
        width = hi - lo
        pull = width * (t - part.loss.conjugate_derivative(xp.zeros_like(t)))
        size = xp.sqrt(pull**2 + 4 * mu**2) + 2 * mu
        # From the nearer end, so that its distance has all its digits.
        return xp.where(
            pull < 0, lo + 2 * mu * width / (size - pull), hi - 2 * mu * width / (size + pull)
        )
    if not part.loss.is_smooth:
        # Without a slope, and with one end at most: the price of a t as far from its bound, on the right side.
        off = xp.abs(t - part.loss.conjugate_derivative(xp.zeros_like(t)))
        inside = mu / xp.clip(off, min=float(xp.finfo(t.dtype).eps))
        return lo + inside if ends_below else hi - inside if ends_above else xp.zeros_like(t)
    low, high = part.loss.domain()
    if part.loss.has_domain:
        # At the end of its domain a price is infinite.
        margin = _MARGIN * part.loss.scale(t, part.unit)
        t = xp.clip(xp.clip(t, min=low + margin), max=high - margin)
    price = part.loss.price(t)
    if not (ends_below or ends_above):
        return price
    end, side = (lo, 1.0) if ends_below else (hi, -1.0)
    room = side * (price - end)
    curvature = part.loss.conjugate_second(price)
    return end + side * (room + xp.sqrt(room**2 + 4 * mu / curvature)) / 2


def rounded(point: Interior, to_ends: bool) -> Array:
    """Give lam with sum_k lam_k A_k = Y0 - grad phi(X) + Z, so that a certificate may rest on it.

    With `to_ends`, every price that is next to an end of its box goes there. The others change, each by the
    less, the less room it has.
    """
    dual, (low, high) = point.dual, point.rooms
    xp = namespace(point.lam)
    lo, hi = dual.box
    none = xp.zeros_like(point.lam)
    ends, down, up = point.lam, none > 0, none > 0
    if to_ends:
        # Where there is one end only, the price itself tells what is little.
        width = xp.where(xp.isfinite(hi - lo), hi - lo, xp.abs(point.lam))
        width = dual.each(lambda part, w: w / part.unit, width)
        down, up = low < point.below * width, high < point.above * width
        ends = xp.where(down, lo, xp.where(up, hi, point.lam))
    room = xp.where(xp.isfinite(lo), low, xp.abs(point.lam))
    room = xp.minimum(room, xp.where(xp.isfinite(hi), high, xp.abs(point.lam)))
    weights = xp.where(down | up, none, room**2)
    coordinates = Coordinates(int(point.cone.shape[0]), point.cone)
    change = joint_adjoint(point.maps, point.lam - ends) - point.imbalance
    inverse = xp.linalg.pinv(coordinates.gram(point.maps, weights))
    shares = coordinates.matrix(inverse @ coordinates.vector(change))
    return xp.clip(ends + weights * joint_apply(point.maps, shares), lo, hi)
