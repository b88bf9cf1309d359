"""X = Q Q' > 0 and lo < lam < hi, each with its multipliers: where an interior-point step starts.

X need not be X(lam). Where grad phi(X) - Z = Y0 - sum_k lam_k A_k, and loss_k*'(lam_k) - t_k is the difference
of the multipliers of the two ends, the gap is what X and Z, and lam and its multipliers, have as products.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from gramlearn._base.arrays import (
    Array,
    clipped,
    constant,
    count_true,
    eye,
    is_finite,
    namespace,
    read,
    symmetric_part,
    transpose,
)
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.linear_maps import LinearMap, joint_adjoint, joint_apply
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.symmetric import Coordinates

INF = float("inf")
_MARGIN = 1e-3  # the share of its size by which a t is kept inside its domain, to have a price
_BISECTIONS = 16
_SHARE = 0.1  # the least share of the residual that the multiplier of X starts with


@final
@dataclass(frozen=True, eq=False)
class Interior:
    """X = Q Q' with Q'ZQ = diag(z), and lam with u, v > 0 where its box ends below and above.

    s is inside the domain of a smooth loss, with multipliers where that ends below and above. In the limit it
    is t + u - v, and lam is loss'(s). All four multipliers are 0 where there is no end.
    """

    dual: Dual
    frame: Array  # Q
    cone: Array  # z
    lam: Array
    inside: Array  # s
    multipliers: tuple[Array, ...]  # u, v, and those of s

    @staticmethod
    def without_multipliers(dual: Dual, frame: Array, lam: Array) -> "Interior":
        """X and lam, all of whose multipliers and s are 0."""
        zero = namespace(lam).zeros_like(lam)
        cone = constant(0.0, lam, int(frame.shape[0]))
        return Interior(dual, frame, cone, lam, zero, (zero,) * 4)

    @property
    def is_inside(self) -> bool:
        """Whether X has a multiplier yet."""
        return read(namespace(self.cone).min(self.cone)) > 0

    @cached_property
    def at(self) -> ConjugatePoint:
        """phi* at the Y of X."""
        return self.dual.regularizer.at_gradient(self.frame)

    @cached_property
    def primal_point(self) -> PrimalPoint:
        """X with these lam, for a certificate."""
        return PrimalPoint(self.dual, self.at, self.lam)

    @cached_property
    def maps(self) -> list[LinearMap]:
        """The B_k = Q' A_k Q."""
        return [part.map.restrict(self.frame) for part in self.dual.parts]

    @property
    def t(self) -> Array:
        """t_k = offset_k + <A_k, X>."""
        return self.primal_point.t

    @cached_property
    def price(self) -> Array:
        """loss'(s); lam where there is no slope."""
        price = self.dual.each(
            lambda p, v, s: p.loss.price(s) if p.loss.is_smooth else v, self.lam, self.inside
        )
        return clipped(price, *self.dual.box)

    @cached_property
    def aim(self) -> Array:
        """loss*' at the price of s: s itself, or the bound where s is on its right side."""

        def aim(part: Part, price: Array, s: Array) -> Array:
            bound = part.loss.conjugate_derivative(0 * price)
            return namespace(s).where(price != 0, s, bound) if part.loss.is_smooth else bound

        return self.dual.each(aim, self.price, self.inside)

    @cached_property
    def slope(self) -> Array:
        """By how much s changes with lam: loss*'' at the price of s, less what its multipliers hold back.

        Not at lam, since an exponential of a lam that is far off tells nothing about the optimum.
        """
        free = self.dual.each(lambda p, v: p.loss.conjugate_second(v), self.price)
        held = sum(multiplier / room for multiplier, room in self.pairs[2:])
        xp = namespace(free)
        bent = free > 0
        return xp.where(bent, 1 / (1 / xp.where(bent, free, 1 + free) + held), free)

    @cached_property
    def domain_rooms(self) -> tuple[Array, Array]:
        """The distances of s from the ends of the domain of a smooth loss, INF where it has none."""

        def room(part: Part, s: Array, side: int) -> Array:
            end = part.loss.domain()[side] if part.loss.is_smooth else INF
            return namespace(s).abs(s - end)

        return (
            self.dual.each(lambda p, s: room(p, s, 0), self.inside),
            self.dual.each(lambda p, s: room(p, s, 1), self.inside),
        )

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
        z = self.cone
        return self.residual + eye(int(z.shape[0]), z) * (self.barrier_offset - z)

    @property
    def turn(self) -> Array:
        """U'Q, with the eigenvectors U of X."""
        return transpose(self.at.frame) @ self.frame

    @property
    def barrier_offset(self) -> float:
        """What is added to mu in X Z = mu I: 1 where phi is the barrier itself."""
        return 1.0 if self.dual.regularizer.is_own_barrier else 0.0

    @cached_property
    def rooms(self) -> tuple[Array, Array]:
        """(lam - lo, hi - lam), INF where the box has no end."""
        lo, hi = self.dual.box
        return self.lam - lo, hi - self.lam

    @cached_property
    def count(self) -> int:
        """The number of products that shall become mu."""
        return int(self.cone.shape[0]) + sum(count_true(m > 0) for m in self.multipliers)

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """Every multiplier with its room."""
        return list(zip(self.multipliers, (*self.rooms, *self.domain_rooms), strict=True))

    @property
    def mu(self) -> float:
        """The mean product."""
        cone = read(namespace(self.cone).sum(self.cone))
        return self.mean_product(self.pairs, cone)

    def mean_product(self, pairs: list[tuple[Array, Array]], XZ: float) -> float:
        """The mean of multipliers times rooms, and of what tr XZ is above that of the own barrier."""
        xp = namespace(self.lam)
        products = [m * xp.where(xp.isfinite(room), room, xp.ones_like(room)) for m, room in pairs]
        inside = max(XZ - self.barrier_offset * int(self.cone.shape[0]), 0.0)
        return (sum(read(xp.sum(product)) for product in products) + inside) / self.count


def _inside(part: Part, t: Array) -> Array:
    """t, kept inside the domain of its loss by a small margin."""
    if not part.loss.is_smooth or not part.loss.has_domain:
        return t
    low, high = part.loss.domain()
    margin = _MARGIN * part.loss.scale(t, part.unit)
    return clipped(clipped(t, low=low + margin), high=high - margin)


def center(dual: Dual, frame: Array, lam: Array, mu: float) -> Interior:
    """Give X and lam multipliers whose products are mu, those of X larger where the residual is large.

    The residual of grad phi(X) = Y0 - sum_k lam_k A_k is then at most a few times Z, so that Z does not cut
    short the steps that make it vanish.
    """
    xp = namespace(lam)
    point = Interior.without_multipliers(dual, frame, lam)
    largest = read(xp.max(xp.abs(point.residual)))
    cone = point.cone + (point.barrier_offset + max(mu, _SHARE * largest))
    below, above = (mu / room for room in point.rooms)
    inside = dual.each(_inside, point.t + below - above)
    point = replace(point, cone=cone, inside=inside)
    return replace(point, multipliers=(below, above, *(mu / room for room in point.domain_rooms)))


def central_prices(part: Part, t: Array, mu: float) -> Array:
    """Give the lam with t - loss*'(lam) + mu / (lam - lo) - mu / (hi - lam) = 0, or one near it."""
    xp = namespace(t)
    lo, hi = part.loss.box(t, part.size)
    ends_below, ends_above = (bool(xp.all(xp.isfinite(end))) for end in (lo, hi))
    bound = part.loss.conjugate_derivative(xp.zeros_like(t))
    if part.loss.is_smooth:
        t = _inside(part, t)
        if not (ends_below or ends_above):
            return part.loss.price(t)
        return _balanced(part, t, mu, ends_below, ends_above)
    if ends_below and ends_above:
        # loss*' is a constant, as for a hinge.
        pull = (hi - lo) * (t - bound)
        size = xp.hypot(pull, xp.full_like(pull, 2 * mu)) + 2 * mu
        # From the nearer end, so that its distance has all its digits.
        near = 2 * mu * (hi - lo)
        return xp.where(pull < 0, lo + near / (size - pull), hi - near / (size + pull))
    # With one end at most: the price of a t at this distance from its bound, on the right side.
    distance = xp.maximum(xp.abs(t - bound), _MARGIN * part.loss.scale(t, part.unit))
    if ends_below:
        return lo + mu / distance
    return hi - mu / distance if ends_above else xp.zeros_like(t)


def _balanced(part: Part, t: Array, mu: float, ends_below: bool, ends_above: bool) -> Array:
    """Bisect for `central_prices` over the log of the distance from an end, or of the ratio of both."""
    xp = namespace(t)
    lo, hi = part.loss.box(t, part.size)

    def at(power: Array) -> tuple[Array, Array, Array]:
        """(lam, its distance from below, and from above)."""
        ratio = xp.exp(power * math.log(2.0))
        if not ends_above:
            return lo + ratio, ratio, INF + 0 * t
        if not ends_below:
            return hi - 1 / ratio, INF + 0 * t, 1 / ratio
        low, high = (hi - lo) / (1 + 1 / ratio), (hi - lo) / (1 + ratio)
        return xp.where(ratio < 1, lo + low, hi - high), low, high

    reach = math.log2(float(xp.finfo(t.dtype).max)) / 2
    least, most = xp.full_like(t, -reach), xp.full_like(t, reach)
    for _ in range(_BISECTIONS):
        middle = (least + most) / 2
        lam, low, high = at(middle)
        pull = t - part.loss.conjugate_derivative(lam) + mu / low - mu / high
        least, most = xp.where(pull > 0, middle, least), xp.where(pull > 0, most, middle)
    return at((least + most) / 2)[0]


def fit_prices(point: Interior, to_ends: bool) -> Array:
    """Give lam with sum_k lam_k A_k = Y0 - grad phi(X) + Z, for a certificate.

    With `to_ends`, every price close to an end of its box goes there. The less room another price has, the less
    it changes.
    """
    dual, (low, high) = point.dual, point.rooms
    xp = namespace(point.lam)
    lo, hi = dual.box
    none = xp.zeros_like(point.lam)
    ends, down, up = point.lam, none > 0, none > 0
    if to_ends:
        # With one end only, close is relative to the price itself.
        width = xp.where(xp.isfinite(hi - lo), hi - lo, xp.abs(point.lam))
        width = dual.each(lambda part, w: w / part.unit, width)
        down, up = (m * width > room for m, room in point.pairs[:2])
        ends = xp.where(down, lo, xp.where(up, hi, point.lam))
    room = xp.where(xp.isfinite(lo), low, xp.abs(point.lam))
    room = xp.minimum(room, xp.where(xp.isfinite(hi), high, xp.abs(point.lam)))
    # In units of the largest, whose square may overflow.
    weights = xp.where(down | up, none, (room / xp.max(room)) ** 2)
    coordinates = Coordinates(int(point.cone.shape[0]), point.cone)
    change = joint_adjoint(point.maps, point.lam - ends) - point.imbalance
    gram = coordinates.gram(point.maps, weights)
    if not is_finite(gram):
        return clipped(ends, lo, hi)
    shares = coordinates.matrix(xp.linalg.pinv(gram) @ coordinates.vector(change))
    return clipped(ends + weights * joint_apply(point.maps, shares), lo, hi)
