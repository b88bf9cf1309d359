"""loss(t) = slope t: a linear term of the objective."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

from gramlearn._base.arrays import Array, constant, namespace, rows_of
from gramlearn.problem.losses.base import INF, Loss
from gramlearn.problem.losses.bounded import check_weight, numbers


@final
@dataclass(frozen=True, eq=False)
class Linear(Loss):
    """loss(t) = slope t; loss*(lam) = 0 at the one point lam = slope.

    The trace norm, <L, K> and other linear objectives: they would cancel inside a Bregman divergence.
    """

    slope: Any = 1.0

    is_fixed: ClassVar[bool] = True

    @property
    def _price(self) -> Any:
        return self.slope * self.weight

    def value(self, t: Array) -> Array:
        return self._price * t

    def conjugate(self, lam: Array) -> Array:
        xp = namespace(lam)
        return xp.where(lam == self._price, xp.zeros_like(lam), xp.full_like(lam, INF))

    def conjugate_derivative(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    conjugate_second = conjugate_derivative

    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        point = constant(0.0, like, size) + self._price
        return point, point

    def is_slack(self, low: Array, high: Array) -> Array:
        del high
        xp = namespace(low)
        return xp.zeros_like(low, dtype=xp.bool)

    @property
    def can_be_slack(self) -> bool:
        return False

    def describe(self, k: int) -> str:
        del k
        return "as small as possible"

    def prepare(self, size: int, like: Array) -> Self:
        slope = numbers(self.slope, "slope", size, like)
        return replace(self, slope=slope, weight=check_weight(self, size, like))

    def take(self, rows: Array | slice) -> Self:
        return replace(self, slope=rows_of(self.slope, rows), weight=rows_of(self.weight, rows))

    @classmethod
    def examples(cls) -> list[Loss]:
        return [cls(0.3)]
