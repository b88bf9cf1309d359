"""Losses of the distance from a bound b: 0 or infinite, linear, quadratic."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from gramlearn._base.arrays import Array, namespace
from gramlearn.problem.losses.base import INF, Curve, Loss
from gramlearn.problem.losses.bounded import BoundedLoss, PricedLoss


@dataclass(frozen=True, eq=False)
class _PolyhedralLoss(BoundedLoss):
    """loss*(lam) = b lam on the box."""

    @property
    @final
    def curve(self) -> Curve:
        return Curve("constant", self.bound)

    @final
    def penalty_conjugate(self, lam: Array) -> Array:
        return lam * self.bound

    @final
    def conjugate_derivative(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam) + self.bound

    @final
    def conjugate_second(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)


@final
@dataclass(frozen=True, eq=False)
class Hard(_PolyhedralLoss):
    """loss(t) = 0 on the right side of b, +inf on the wrong one; loss*(lam) = b lam.

    lam in [0, inf) for an upper bound, all reals for a target. Weights make no difference.
    """

    is_hard: ClassVar[bool] = True

    def penalty(self, t: Array) -> Array:
        xp = namespace(t)
        return xp.where(t == self.bound, xp.zeros_like(t), xp.full_like(t, INF))

    def domain(self) -> tuple[Any, Any]:
        return (-INF if self.side > 0 else self.bound), (INF if self.side < 0 else self.bound)

    def reach(self) -> tuple[Any, Any]:
        return -INF, INF

    @classmethod
    def examples(cls) -> list[Loss]:
        return [cls(upper=1.5), cls(lower=0.7), cls(equal=1.2)]


@final
@dataclass(frozen=True, eq=False)
class Hinge(PricedLoss, _PolyhedralLoss):
    """loss(t) = C |t - b| on the wrong side of b; loss*(lam) = b lam for |lam| <= C."""

    def penalty(self, t: Array) -> Array:
        return self.strength * namespace(t).abs(t - self.bound)

    def reach(self) -> tuple[Any, Any]:
        return -self.strength, self.strength


@dataclass(frozen=True, eq=False)
class _QuadraticLoss(PricedLoss):
    """loss(t) = (C/2) (t - b)^2 on the wrong side; loss*(lam) = b lam + lam^2 / (2C)."""

    is_smooth: ClassVar[bool] = True

    @final
    def penalty(self, t: Array) -> Array:
        return self.strength / 2 * (t - self.bound) ** 2

    @final
    def penalty_derivative(self, t: Array) -> Array:
        return self.strength * (t - self.bound)

    @property
    @final
    def curve(self) -> Curve:
        return Curve("affine", self.bound, self.strength)

    @final
    def reach(self) -> tuple[Any, Any]:
        return -INF, INF

    @final
    def penalty_conjugate(self, lam: Array) -> Array:
        return lam * self.bound + lam * lam / (2 * self.strength)

    @final
    def conjugate_derivative(self, lam: Array) -> Array:
        return self.bound + lam / self.strength

    @final
    def conjugate_second(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam) + 1 / self.strength


@final
@dataclass(frozen=True, eq=False)
class SquaredHinge(_QuadraticLoss):
    """loss(t) = (C/2) (t - b)^2 on the wrong side of b; loss*(lam) = b lam + lam^2 / (2C)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.equal is not None:
            raise ValueError("`SquaredHinge` takes upper= or lower=; for a target use Square.")

    @classmethod
    def examples(cls) -> list[Loss]:
        return [cls(2.0, upper=1.5), cls(0.5, lower=0.7)]


@final
@dataclass(frozen=True, eq=False)
class Square(_QuadraticLoss):
    """loss(t) = (C/2) (t - b)^2 with `equal=b`; loss*(lam) = b lam + lam^2 / (2C), lam any real."""

    needs_target: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.upper is not None or self.lower is not None:
            raise ValueError("`Square` takes equal= only; for one-sided bounds use SquaredHinge.")

    @classmethod
    def examples(cls) -> list[Loss]:
        return [cls(1.0, equal=1.2)]
