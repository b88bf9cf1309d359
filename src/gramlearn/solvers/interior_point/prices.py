"""u (lam - lo) = v (hi - lam) = mu and s = t + u - v = loss*'(lam): the prices of an interior point.

They are the same whatever is measured: X enters by its t alone, so that a matrix and a vector of weights share
what is here.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from gramlearn._base.arrays import Array, clipped, namespace
from gramlearn.problem.losses import Loss

INF = float("inf")
_MARGIN = 1e-3  # the share of its size by which a t is kept inside its domain, to have a price
_BISECTIONS = 16

Changes = list[tuple[Array, Array]]  # of every multiplier, and of its room


class Rows(Protocol):
    """Constraints with one loss; `unit` is the usual size of t."""

    @property
    def loss(self) -> Loss:
        """What t costs."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def unit(self) -> float:
        """The usual size of t."""


class Losses(Protocol):
    """The losses of all constraints, and the box of their prices."""

    @property
    def box(self) -> tuple[Array, Array]:
        """(lo, hi)."""

    def each(self, function: Callable[..., Array], *vectors: Array) -> Array:
        """Join function(rows, piece, ...) over constraints with one loss."""


@dataclass(frozen=True, eq=False)
class InsidePrices:
    """lam with u, v > 0 where its box ends below and above.

    s is inside the domain of a smooth loss, with multipliers where that ends below and above. In the limit it
    is t + u - v, and lam is loss'(s). All four multipliers are 0 where there is no end.
    """

    dual: Any  # it has `Losses`
    lam: Array
    inside: Array  # s
    multipliers: tuple[Array, ...]  # u, v, and those of s

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

        def aim(part: Rows, price: Array, s: Array) -> Array:
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

        def room(part: Rows, s: Array, side: int) -> Array:
            end = part.loss.domain()[side] if part.loss.is_smooth else INF
            return namespace(s).abs(s - end)

        return (
            self.dual.each(lambda p, s: room(p, s, 0), self.inside),
            self.dual.each(lambda p, s: room(p, s, 1), self.inside),
        )

    @cached_property
    def rooms(self) -> tuple[Array, Array]:
        """(lam - lo, hi - lam), INF where the box has no end."""
        lo, hi = self.dual.box
        return self.lam - lo, hi - self.lam

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """Every multiplier with its room."""
        return list(zip(self.multipliers, (*self.rooms, *self.domain_rooms), strict=True))

    @property
    def curvature(self) -> Array:
        """D: by how much t has to change with lam, for s = t + u - v at the next multipliers."""
        return sum((multiplier / room for multiplier, room in self.pairs[:2]), start=self.slope)

    def multipliers_at(self, mu: float, first: Changes | None) -> list[Array]:
        """The multipliers whose products are mu, corrected by the products of a first step's changes."""
        zero = namespace(self.lam).zeros_like(self.lam)
        goals = [mu - change * way for change, way in first or [(zero, zero)] * 4]
        return [
            namespace(zero).where(multiplier > 0, goal / room, zero)
            for goal, (multiplier, room) in zip(goals, self.pairs, strict=True)
        ]

    def lack(self, t: Array, fresh: list[Array]) -> Array:
        """What D dlam - dt has to be, for lam to be the price of its s at these multipliers.

        Along the tangent where loss*' is s, and with what the multipliers of s add to its price.
        """
        below, above = fresh[:2]
        return t - (self.aim + self.slope * (self.lam - self._full_price(fresh))) + below - above

    def follow(self, fresh: list[Array], dlam: Array) -> tuple[Array, list[Array]]:
        """By how much s, from its aim, and the multipliers change with a change of lam."""
        xp = namespace(dlam)
        inside = self.slope * (self.lam + dlam - self._full_price(fresh))
        ways = (dlam, -dlam, inside, -inside)
        changes = [
            xp.where(multiplier > 0, new - multiplier * (1 + way / room), xp.zeros_like(dlam))
            for new, way, (multiplier, room) in zip(fresh, ways, self.pairs, strict=True)
        ]
        return inside, changes

    def _full_price(self, fresh: list[Array]) -> Array:
        """The price of s, and what its multipliers add to it."""
        under, over = fresh[2:]
        return self.price - under + over


def changes_of(lam: Array, inside: Array, multipliers: list[Array]) -> Changes:
    """Every change of a multiplier with that of its room, of changes of lam and s."""
    return list(zip(multipliers, (lam, -lam, inside, -inside), strict=True))


def inside_domain(part: Rows, t: Array) -> Array:
    """t, kept inside the domain of its loss by a small margin."""
    if not part.loss.is_smooth or not part.loss.has_domain:
        return t
    low, high = part.loss.domain()
    margin = _MARGIN * part.loss.scale(t, part.unit)
    return clipped(clipped(t, low=low + margin), high=high - margin)


def central_prices(part: Rows, t: Array, mu: float) -> Array:
    """Give the lam with t - loss*'(lam) + mu / (lam - lo) - mu / (hi - lam) = 0, or one near it."""
    xp = namespace(t)
    lo, hi = part.loss.box(t, part.size)
    ends_below, ends_above = (bool(xp.all(xp.isfinite(end))) for end in (lo, hi))
    bound = part.loss.conjugate_derivative(xp.zeros_like(t))
    if part.loss.is_smooth:
        t = inside_domain(part, t)
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


def _balanced(part: Rows, t: Array, mu: float, ends_below: bool, ends_above: bool) -> Array:
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
