"""max over lam in the box   lam t - loss*(lam) - (lam - c)^2 / (2 sigma): a loss with its kink smoothed away.

The dual of a problem with this loss is the old one plus a proximal term around the centre c, and the primal an
augmented Lagrangian. Where c is the optimal lam, the optimum is the same, whatever sigma.
"""

from dataclasses import dataclass, replace
from typing import Any, Self, final

from gramlearn._arrays import Array, namespace, rows_of
from gramlearn.losses import Loss

__all__ = ["smoothed"]


def smoothed(loss: Loss, centre: Array, sigma: Any) -> Loss:
    """Smooth a polyhedral loss, one whose conjugate is b lam, around the prices `centre`."""
    return _Proximal(of=loss, centre=centre, sigma=sigma)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class _Proximal(Loss):
    """The price is c + sigma (t - b), as far as the box of `of` goes."""

    of: Loss
    centre: Array
    sigma: Any

    @property
    def is_smooth(self) -> bool:
        return True

    @property
    def can_be_slack(self) -> bool:
        return self.of.can_be_slack

    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        return self.of.box(like, size)

    def price(self, t: Array) -> Array:
        low, high = self.box(t, int(t.shape[0]))
        bound = self.of.conjugate_derivative(namespace(t).zeros_like(t))
        return namespace(t).clip(self.centre + self.sigma * (t - bound), low, high)

    def value(self, t: Array) -> Array:
        lam = self.price(t)
        return lam * t - self.conjugate(lam)

    def conjugate(self, lam: Array) -> Array:
        return self.of.conjugate(lam) + (lam - self.centre) ** 2 / (2 * self.sigma)

    def conjugate_derivative(self, lam: Array) -> Array:
        return self.of.conjugate_derivative(lam) + (lam - self.centre) / self.sigma

    def conjugate_second(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam) + 1 / self.sigma

    def is_flat(self, t: Array) -> Array:
        low, high = self.box(t, int(t.shape[0]))
        price = self.price(t)
        return (price <= low) | (price >= high)

    def is_slack(self, low: Array, high: Array) -> Array:
        return self.of.is_slack(low, high)

    def excess(self, t: Array) -> Array:
        return self.of.excess(t)

    def scale(self, t: Array, unit: float = 1.0) -> Array:
        return self.of.scale(t, unit)

    def describe(self, k: int) -> str:
        return self.of.describe(k)

    def prepare(self, size: int, like: Array) -> Self:
        return replace(self, of=self.of.prepare(size, like))

    def take(self, rows: Array) -> Self:
        centre, sigma = rows_of(self.centre, rows), rows_of(self.sigma, rows)
        return replace(self, of=self.of.take(rows), centre=centre, sigma=sigma)

    @classmethod
    def examples(cls) -> list[Loss]:
        return []
