"""Slack measured by a divergence: C D(t, b) on the wrong side of a positive bound b (K09 6.2.1)."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from gramlearn._base.arrays import Array, exponential, namespace
from gramlearn.problem.losses.base import INF, Curve
from gramlearn.problem.losses.bounded import PricedLoss


@dataclass(frozen=True, eq=False)
class _Slack(PricedLoss):
    """C D(t, b), finite for t > 0."""

    needs_positive_bound: ClassVar[bool] = True
    is_smooth: ClassVar[bool] = True

    @final
    def domain(self) -> tuple[Any, Any]:
        return (-INF if self.side > 0 else 0.0), INF


@final
@dataclass(frozen=True, eq=False)
class LogDetSlack(_Slack):
    """loss(t) = C (t/b - log(t/b) - 1) on the wrong side of b > 0.

    loss*(lam) = -C log(1 - lam b/C) for lam < C / b. The slack of K09 6.2.1 and of ITML:
    relative error, whatever the units.
    """

    @property
    def has_open_end(self) -> bool:
        return self.side >= 0

    @property
    def has_open_domain(self) -> bool:
        return self.side <= 0

    def penalty(self, t: Array) -> Array:
        xp = namespace(t)
        inside = t > 0
        u, log = _log_ratio(xp.where(inside, t, xp.ones_like(t)), self.bound)
        return xp.where(inside, self.strength * (u - log), xp.full_like(t, INF))

    def penalty_derivative(self, t: Array) -> Array:
        xp = namespace(t)
        inside = xp.where(t > 0, t, xp.ones_like(t))
        # 1/b - 1/t, with all its digits near t = b.
        slope = self.strength / self.bound * ((inside - self.bound) / inside)
        return xp.where(t > 0, slope, xp.full_like(t, -INF))

    @property
    def curve(self) -> Curve:
        return Curve("rational", self.bound, self.strength)

    def reach(self) -> tuple[Any, Any]:
        # A few ulp short of C / b, so that 1 - lam b / C never rounds to 0 inside the box.
        return -INF, self.strength / self.bound * (1 - 1e-15)

    def penalty_conjugate(self, lam: Array) -> Array:
        return -self.strength * namespace(lam).log1p(-lam * (self.bound / self.strength))

    def conjugate_derivative(self, lam: Array) -> Array:
        return self.bound / (1 - lam * (self.bound / self.strength))

    def conjugate_second(self, lam: Array) -> Array:
        return self.conjugate_derivative(lam) ** 2 / self.strength


@final
@dataclass(frozen=True, eq=False)
class KLSlack(_Slack):
    """loss(t) = C (t log(t/b) - t + b) on the wrong side of b > 0.

    loss*(lam) = C b (exp(lam/C) - 1). The slack that K09 6.2.1 pairs with the von Neumann divergence.
    """

    def penalty(self, t: Array) -> Array:
        xp = namespace(t)
        positive = xp.where(t > 0, t, xp.ones_like(t))
        u, log = _log_ratio(positive, self.bound)
        entropy = xp.where(t > 0, positive / self.bound * log - u, xp.ones_like(t))
        inside = self.strength * self.bound * entropy
        return xp.where(t >= 0, inside, xp.full_like(t, INF))

    def penalty_derivative(self, t: Array) -> Array:
        xp = namespace(t)
        positive = t > 0
        slope = self.strength * _log_ratio(xp.where(positive, t, xp.ones_like(t)), self.bound)[1]
        return xp.where(positive, slope, xp.full_like(t, -INF))

    @property
    def curve(self) -> Curve:
        return Curve("exponential", self.bound, self.strength)

    def reach(self) -> tuple[Any, Any]:
        return -INF, INF

    def penalty_conjugate(self, lam: Array) -> Array:
        return self.strength * self.bound * exponential("expm1", lam / self.strength)

    def conjugate_derivative(self, lam: Array) -> Array:
        return self.bound * exponential("exp", lam / self.strength)

    def conjugate_second(self, lam: Array) -> Array:
        return self.conjugate_derivative(lam) / self.strength


def _log_ratio(t: Array, b: Any) -> tuple[Array, Array]:
    """u = t/b - 1 and log(t/b) for t > 0, with all their digits near t = b and near t = 0."""
    xp = namespace(t)
    u = (t - b) / b
    near = xp.abs(u) < 0.5
    return u, xp.where(near, xp.log1p(xp.where(near, u, xp.zeros_like(u))), xp.log(t / b))
