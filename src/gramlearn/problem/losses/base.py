"""loss(t) of one constraint, with its conjugate loss*(lam) = sup_t lam t - loss(t) and the box of lam."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self, final

from gramlearn._base.arrays import Array, clipped, concat, is_array, namespace, read

INF = float("inf")
_UNSURE = 1e-9  # of a bound: a larger rounding error of t counts as a violation


class Curve(NamedTuple):
    """loss*'(lam) in one of the forms that compiled loops know, with the bound b and the strength g.

    "constant" is b, "rational" b / (1 - lam b / g), "exponential" b exp(lam / g), "affine" b + lam / g.
    """

    form: str
    bound: Any
    strength: Any = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Loss(ABC):
    """loss(t), convex, with conjugate loss*(lam) on the box [lo, hi]."""

    weight: Any = 1.0

    is_hard: ClassVar[bool] = (
        False  # infinite on one side of a bound: the problem may be infeasible
    )
    is_fixed: ClassVar[bool] = False  # the box is a point: nothing to solve for
    is_smooth: ClassVar[bool] = False  # loss' exists inside the domain, and `price` gives it

    @abstractmethod
    def value(self, t: Array) -> Array:
        """loss(t), +inf outside the domain."""

    @abstractmethod
    def conjugate(self, lam: Array) -> Array:
        """loss*(lam), +inf outside the box, never NaN."""

    @abstractmethod
    def conjugate_derivative(self, lam: Array) -> Array:
        """loss*'(lam) inside the box: the t that lam prices."""

    @abstractmethod
    def conjugate_second(self, lam: Array) -> Array:
        """loss*''(lam) inside the box."""

    @abstractmethod
    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        """(lo, hi), vectors of `size`."""

    def excess(self, t: Array) -> Array:
        """How far t lies on the wrong side of the bound, 0 if it does not or there is no bound."""
        return namespace(t).zeros_like(t)

    def scale(self, t: Array, unit: float = 1.0) -> Array:
        """The size of t against which an excess is measured: |b|, and `unit` where b is 0 or missing."""
        return namespace(t).full_like(t, unit)

    @abstractmethod
    def is_slack(self, low: Array, high: Array) -> Array:
        """Whether the loss vanishes on all of [low, high], so that lam = 0 is right."""

    @property
    def has_open_end(self) -> bool:
        """Whether the conjugate reaches +inf where the box ends at the top."""
        return False

    @property
    @abstractmethod
    def can_be_slack(self) -> bool:
        """Whether the loss vanishes on a half-line; if not, every constraint matters everywhere."""

    @abstractmethod
    def prepare(self, size: int, like: Array) -> Self:
        """Check against the number of constraints and bring the numbers to the library of `like`."""

    @abstractmethod
    def describe(self, k: int) -> str:
        """Say what is asked of t_k, such as "at most 1.5"."""

    @abstractmethod
    def take(self, rows: Array | slice) -> Self:
        """Keep the constraints at these rows only; a slice of them without a copy."""

    @final
    def followed_by(self, others: "Sequence[Loss]") -> Self:
        """The losses of these constraints, and then of others: the same in all but what each has of its own."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(
            self,
            **{
                name: concat([x, *(getattr(other, name) for other in others)], x)
                for name, x in own.items()
                if is_array(x)
            },
        )

    @classmethod
    @abstractmethod
    def examples(cls) -> list["Loss"]:
        """Instances that the catalogue tests run on."""

    def domain(self) -> tuple[Any, Any]:
        """(least, largest) t at which the loss is finite."""
        return -INF, INF

    @property
    def has_open_domain(self) -> bool:
        """Whether the loss is infinite at the finite end of its domain too."""
        return False

    def price(self, t: Array) -> Array:
        """loss'(t), the lam at which fenchel_young(t, lam) = 0; infinite at the end of the domain."""
        raise NotImplementedError(f"{type(self).__name__} has no derivative.")

    def is_flat(self, t: Array) -> Array:
        """Whether loss' does not change around t."""
        return self.is_slack(t, t)

    @property
    def curve(self) -> Curve | None:
        """The form of loss*', or None where it has another one than those of `Curve`."""
        return None

    @property
    @final
    def has_domain(self) -> bool:
        """Whether some t cost infinity."""
        least, largest = self.domain()
        return is_array(least) or is_array(largest) or (least, largest) != (-INF, INF)

    @final
    def fenchel_young(self, t: Array, lam: Array) -> Array:
        """loss(t) + loss*(lam) - lam t >= 0, and 0 where lam is the price of t."""
        return self.value(t) + self.conjugate(lam) - lam * t

    @final
    def outside(self, t: Array) -> Array:
        """How far t lies outside the domain, where the loss is infinite."""
        low, high = self.domain()
        return clipped(low - t, low=0.0) + clipped(t - high, low=0.0)

    @final
    def value_inside(self, t: Array) -> Array:
        """loss(t), at the nearest t inside the domain."""
        return self.value(self._inside(t)) if self.has_domain else self.value(t)

    def _inside(self, t: Array) -> Array:
        low, high = self.domain()
        return clipped(clipped(t, low=low), high=high)

    @final
    def gap(self, t: Array, lam: Array) -> Array:
        """What this constraint adds to the gap at X(lam).

        A t outside the domain counts as the nearest t inside, at the price lam of the difference: its
        infinite loss is reported as a violation instead.
        """
        if not self.has_domain:
            return self.fenchel_young(t, lam)
        inside = self._inside(t)
        return self.fenchel_young(inside, lam) + namespace(t).abs(lam * (t - inside))

    @final
    def gap_error(self, t: Array, lam: Array, t_error: Array) -> Array:
        """By how much more this constraint may add to the gap, if t is off by up to `t_error`."""
        xp = namespace(t)
        here = self.gap(t, lam)
        there = xp.maximum(self.gap(t + t_error, lam), self.gap(t - t_error, lam))
        return xp.where(xp.isinf(here), xp.zeros_like(t), clipped(there - here, low=0.0))

    @final
    def severity(self, t: Array, unit: float = 1.0) -> Array:
        """How badly t violates the bound: |t - b| / (|t| + |b|), the same for t/b as for b/t."""
        return self.excess(t) / (namespace(t).abs(t) + self.scale(t, unit))

    @final
    def violation(self, t: Array, unit: float = 1.0, t_error: Array | None = None) -> float:
        """How far a t lies outside the domain, relative to the bound; the largest of all.

        With a `t_error`, by which t may be off, it is how far t may lie outside, if more than `_UNSURE`.
        """
        if not self.has_domain or t.shape[0] == 0:
            return 0.0
        xp, scale = namespace(t), self.scale(t, unit)
        outside = self.outside(t) / scale
        if t_error is not None:
            most = xp.maximum(self.outside(t - t_error), self.outside(t + t_error)) / scale
            outside = xp.where(most > _UNSURE, most, outside)
        return read(xp.max(outside))
