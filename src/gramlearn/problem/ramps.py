"""loss(t) = max over lam of   lam (t - b) - [(lam - c)^2 - c^2] / (2 s): a hinge with a ramp for a kink.

Its price is lam(t) = c + s (t - b), cut off at the ends of the box. The ramp is (hi - lo) / s wide, and only
constraints on it have curvature. With c the price at the optimum the ramp changes nothing, however wide it is:
so after every round c becomes the price that the round came to (an augmented Lagrangian), and the ramp may stay
wide enough for Newton's method.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from gramlearn._base.arrays import Array, clipped, is_finite, namespace, rows_of
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.losses import Loss


@dataclass(frozen=True, eq=False)
class _Ramp(Loss):
    """A loss with loss*(lam) = b lam on the box, and a ramp of this slope through (b, center)."""

    kinked: Loss
    center: Any
    slope: Any

    is_smooth: ClassVar[bool] = True

    def _bound(self, like: Array) -> Array:
        return self.kinked.conjugate_derivative(namespace(like).zeros_like(like))

    def _cost(self, lam: Array) -> Array:
        return lam * (lam / 2 - self.center) / self.slope

    def price(self, t: Array) -> Array:
        lo, hi = self.kinked.box(t, int(t.shape[0]))
        return clipped(self._uncut(t), lo, hi)

    def _uncut(self, t: Array) -> Array:
        return self.center + self.slope * (t - self._bound(t))

    def value(self, t: Array) -> Array:
        lam = self.price(t)
        return lam * (t - self._bound(t)) - self._cost(lam)

    def conjugate(self, lam: Array) -> Array:
        return self.kinked.conjugate(lam) + self._cost(lam)

    def conjugate_derivative(self, lam: Array) -> Array:
        return self._bound(lam) + (lam - self.center) / self.slope

    def conjugate_second(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam) + 1 / self.slope

    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        return self.kinked.box(like, size)

    def is_slack(self, low: Array, high: Array) -> Array:
        return (self.price(low) == 0) & (self.price(high) == 0)

    def is_flat(self, t: Array) -> Array:
        lo, hi = self.kinked.box(t, int(t.shape[0]))
        uncut = self._uncut(t)
        return (uncut <= lo) | (uncut >= hi)

    @property
    def can_be_slack(self) -> bool:
        return self.kinked.can_be_slack

    def prepare(self, size: int, like: Array) -> Self:
        return replace(self, kinked=self.kinked.prepare(size, like))

    def describe(self, k: int) -> str:
        return self.kinked.describe(k)

    def take(self, rows: Array | slice) -> Self:
        return replace(
            self,
            kinked=self.kinked.take(rows),
            center=rows_of(self.center, rows),
            slope=rows_of(self.slope, rows),
        )

    @classmethod
    def examples(cls) -> list[Loss]:
        return []


def can_be_smoothed(part: Part, like: Array) -> bool:
    """Whether a loss has kinks alone: loss* is linear on a finite box, as that of a hinge."""
    curve = part.loss.curve
    ends = part.loss.box(like, min(part.size, 1))
    return curve is not None and curve.form == "constant" and all(is_finite(end) for end in ends)


def smoothed(dual: Dual, width: float, centers: list[Array] | None = None) -> Dual:
    """The dual with ramps in place of kinks, of this width in the units of each part.

    Without centers, every ramp has its middle at the bound.
    """
    parts = []
    for k, part in enumerate(dual.parts):
        if not part.loss.is_smooth:
            lo, hi = part.loss.box(dual.like, part.size)
            center = (lo + hi) / 2 if centers is None else centers[k]
            ramp = _Ramp(part.loss, center, (hi - lo) / (width * part.unit))
            part = replace(part, loss=ramp)
        parts.append(part)
    return replace(dual, parts=tuple(parts))
