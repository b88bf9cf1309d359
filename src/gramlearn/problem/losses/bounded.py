"""loss(t) = penalty(t) on the wrong side of a bound b, and 0 on the right one.

A loss punishes t above an upper bound, below a lower bound, or off a target:

    Hinge(C=10.0, upper=1.0)      LogDetSlack(C=2.0, lower=b)      Hard(equal=1.0)

Bounds and weights are one number, or one for each constraint. Written without a bound a loss is a
template, which side information completes. A new loss is a two-sided penalty with minimum 0 at the bound b,
its conjugate with two derivatives, and the reach of lam; the one-sided forms follow, since the
conjugate of the one-sided penalty is the same function on half the box.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, final

from gramlearn._base.arrays import (
    Array,
    as_real,
    clipped,
    constant,
    is_array,
    is_finite,
    namespace,
    read,
    rows_of,
)
from gramlearn._base.validation import as_float, as_numbers, check_per_constraint, check_positive
from gramlearn.problem.losses.base import INF, Loss

_KINDS = {1: "upper", -1: "lower", 0: "equal"}
_RELATIONS = {1: "at most", -1: "at least", 0: "equal to"}


def numbers(x: Any, name: str, size: int, like: Array) -> Any:
    """One number stays a float; a sequence becomes an array of the library of `like`."""
    if isinstance(x, int | float) and math.isfinite(as_float(x)):
        return float(x)
    x = as_real(as_numbers(x, name), like)
    check_per_constraint(x, name, size)
    if not is_finite(x):
        raise ValueError(f"`{name}` contains NaN or infinity; every constraint needs a number.")
    return read(x) if x.ndim == 0 else namespace(like).astype(x, like.dtype, copy=False)


def _least(x: Any) -> float:
    if not is_array(x):
        return float(x)
    return read(namespace(x).min(x)) if x.shape[0] else INF


def _short(x: Any) -> str:
    return str(x) if isinstance(x, int | float) else "[...]" if is_array(x) else f"{x!r:.40}"


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedLoss(Loss):
    """A penalty on the wrong side of a bound b: above `upper`, below `lower`, or off `equal`."""

    upper: Any = None
    lower: Any = None
    equal: Any = None

    needs_positive_bound: ClassVar[bool] = False
    needs_target: ClassVar[bool] = False  # it has `equal` bounds only

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Refuse a bound without its name: it does not say on which side t may be."""
        del named
        surplus = given[sum(not field.kw_only for field in fields(cls)) :]
        if surplus:
            words = ", ".join(_short(x) for x in given)
            raise TypeError(
                f"`{cls.__name__}({words})`: {_short(surplus[0])} has no name; pass the bound as one of "
                "upper=, lower= and equal=."
            )
        return super().__new__(cls)

    # -- what a new loss states: the two-sided penalty, weighted by w --

    @abstractmethod
    def penalty(self, t: Array) -> Array:
        """The two-sided penalty, 0 at t = b."""

    @abstractmethod
    def reach(self) -> tuple[Any, Any]:
        """(least, largest) lam of the two-sided penalty."""

    @abstractmethod
    def penalty_conjugate(self, lam: Array) -> Array:
        """The conjugate of the penalty, for lam within reach."""

    def penalty_derivative(self, t: Array) -> Array:
        """The derivative of the penalty; optional, and where `is_smooth` says so."""
        raise NotImplementedError(f"{type(self).__name__} has no derivative.")

    # -- what follows for all of them --

    @property
    def side(self) -> int:
        """+1 for an upper bound, -1 for a lower one, 0 for a target."""
        return 1 if self.upper is not None else -1 if self.lower is not None else 0

    @property
    def bound(self) -> Any:
        """b, whichever side it bounds."""
        given = [b for b in (self.upper, self.lower, self.equal) if b is not None]
        name = type(self).__name__
        if len(given) != 1:
            raise ValueError(
                f"`{name}` has {len(given) or 'no'} bounds; pass exactly one of upper=, lower= and equal="
                + (". For an interval, make one term for each end." if given else ".")
            )
        return given[0]

    @final
    def value(self, t: Array) -> Array:
        return self._on_the_wrong_side(self.penalty, t)

    @final
    def price(self, t: Array) -> Array:
        return self._on_the_wrong_side(self.penalty_derivative, t)

    def _on_the_wrong_side(self, function: Callable[[Array], Array], t: Array) -> Array:
        xp = namespace(t)
        if self.side == 0:
            return function(t)
        wrong = t > self.bound if self.side > 0 else t < self.bound
        # On the right side the function is not asked for t, where it may not even be finite.
        zero = xp.zeros_like(t)
        return xp.where(wrong, function(xp.where(wrong, t, zero + self.bound)), zero)

    @final
    def conjugate(self, lam: Array) -> Array:
        xp = namespace(lam)
        lo, hi = self._ends()
        closed = (lam >= lo) & ((lam < hi) if self.has_open_end else (lam <= hi))
        inside = xp.where(closed, lam, xp.zeros_like(lam))
        return xp.where(closed, self.penalty_conjugate(inside), xp.full_like(lam, INF))

    def _ends(self) -> tuple[Any, Any]:
        least, largest = self.reach()
        return (0.0 if self.side > 0 else least), (0.0 if self.side < 0 else largest)

    @final
    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        zero = constant(0.0, like, size)
        lo, hi = self._ends()
        return zero + lo, zero + hi

    @final
    def excess(self, t: Array) -> Array:
        xp = namespace(t)
        off = t - self.bound
        return xp.abs(off) if self.side == 0 else clipped(self.side * off, low=0.0)

    @final
    def scale(self, t: Array, unit: float = 1.0) -> Array:
        xp = namespace(t)
        size = xp.abs(xp.zeros_like(t) + self.bound)
        return xp.where(size > 0, size, xp.full_like(size, unit))

    @final
    def is_slack(self, low: Array, high: Array) -> Array:
        xp = namespace(low)
        if self.side == 0:
            return xp.zeros_like(low, dtype=xp.bool)
        return high <= self.bound if self.side > 0 else low >= self.bound

    @property
    @final
    def can_be_slack(self) -> bool:
        return self.side != 0

    @final
    def describe(self, k: int) -> str:
        bound = self.bound[k] if is_array(self.bound) else self.bound
        return f"{_RELATIONS[self.side]} {float(bound):.6g}"

    @final
    def prepare(self, size: int, like: Array) -> Self:
        kind = _KINDS[self.side]
        bound = numbers(self.bound, kind, size, like)
        if self.needs_positive_bound and _least(bound) <= 0:
            raise ValueError(
                f"`{type(self).__name__}({kind}=...)` measures the ratio t / {kind}, so bounds must be "
                f"positive; the least is {_least(bound):.6g}. Use Hinge or SquaredHinge for other bounds."
            )
        return replace(self, **{kind: bound, "weight": check_weight(self, size, like)})

    @final
    def take(self, rows: Array | slice) -> Self:
        kind = _KINDS[self.side]
        return replace(
            self, **{kind: rows_of(self.bound, rows), "weight": rows_of(self.weight, rows)}
        )


@dataclass(frozen=True, eq=False)
class PricedLoss(BoundedLoss):
    """A penalty in proportion to its strength, C times the weight."""

    C: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self.C, "C", type(self).__name__)

    @property
    @final
    def strength(self) -> Any:
        """C w."""
        return self.C * self.weight

    @classmethod
    def examples(cls) -> list[Loss]:
        return [cls(2.0, upper=1.5), cls(0.5, lower=0.7), cls(1.0, equal=1.2)]


def check_weight(loss: Loss, size: int, like: Array) -> Any:
    """Positive numbers, one a row."""
    weight = numbers(loss.weight, "weight", size, like)
    if _least(weight) <= 0:
        raise ValueError(
            f"`{type(loss).__name__}(weight=...)` must be positive; the least weight is "
            f"{_least(weight):.6g}. Leave out constraints that should not count."
        )
    return weight
