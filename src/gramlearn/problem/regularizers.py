"""LogDet, von Neumann, Frobenius, Schatten: five scalar functions each, see `spectral`."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

from gramlearn._base.arrays import Array, exponential, namespace
from gramlearn._base.validation import LARGEST_EXPONENT, check_positive
from gramlearn.problem.losses import BoundedLoss, KLSlack, LogDetSlack
from gramlearn.problem.spectral import CholeskyPoint, ConjugatePoint, Regularizer

INF = float("inf")


@final
@dataclass(frozen=True)
class LogDet(Regularizer):
    """phi(X) = -log det X, so D(X, X0) = tr X X0^-1 - log det X X0^-1 - r.

    h(x) = -log x and h*(y) = -1 - log(-y) for y < 0. Invariant under every change of basis; X keeps
    exactly the range of X0.
    """

    keeps_range: ClassVar[bool] = True
    needs_interior: ClassVar[bool] = True
    is_invariant: ClassVar[bool] = True
    is_self_concordant: ClassVar[bool] = True
    is_own_barrier: ClassVar[bool] = True
    form: ClassVar[str | None] = "inverse"
    slack_loss: ClassVar[type[BoundedLoss]] = LogDetSlack
    point_type: ClassVar[type[ConjugatePoint]] = CholeskyPoint

    def value(self, x: Array) -> Array:
        xp = namespace(x)
        inside = x > 0
        return xp.where(inside, -xp.log(xp.where(inside, x, xp.ones_like(x))), xp.full_like(x, INF))

    def derivative(self, x: Array) -> Array:
        return -1 / x

    def conjugate(self, y: Array) -> Array:
        return self.value(-y) - 1

    def conjugate_derivative(self, y: Array) -> Array:
        return -1 / y

    def conjugate_second(self, y: Array) -> Array:
        return 1 / (y * y)


@final
@dataclass(frozen=True)
class VonNeumann(Regularizer):
    """phi(X) = tr(X log X - X), so D(X, X0) = tr(X log X - X log X0 - X + X0).

    h(x) = x log x - x and h*(y) = exp y. X stays within the range of X0 and may lose rank.
    """

    keeps_range: ClassVar[bool] = True
    needs_interior: ClassVar[bool] = False
    form: ClassVar[str | None] = "exponential"
    slack_loss: ClassVar[type[BoundedLoss]] = KLSlack

    def value(self, x: Array) -> Array:
        xp = namespace(x)
        positive = xp.where(x > 0, x, xp.ones_like(x))
        inside = xp.where(x > 0, positive * xp.log(positive) - positive, xp.zeros_like(x))
        return xp.where(x >= 0, inside, xp.full_like(x, INF))

    def derivative(self, x: Array) -> Array:
        return namespace(x).log(x)

    def conjugate(self, y: Array) -> Array:
        return exponential("exp", y)

    conjugate_derivative = conjugate_second = conjugate


def _power(x: Array, exponent: float) -> Array:
    """max(x, 0) ** exponent, 0 for x <= 0."""
    xp = namespace(x)
    inside = x > 0
    return xp.where(inside, xp.where(inside, x, xp.ones_like(x)) ** exponent, xp.zeros_like(x))


class _PowerTrace(Regularizer):
    """phi(X) = tr(X^p) / p: h(x) = x^p / p and h*(y) = max(y, 0)^q / q with 1/p + 1/q = 1."""

    keeps_range: ClassVar[bool] = False
    needs_interior: ClassVar[bool] = False

    @property
    @abstractmethod
    def p(self) -> float:
        """The exponent, greater than 1."""

    @property
    def has_convex_gradient(self) -> bool:
        return self.p <= 2

    @property
    def q(self) -> float:
        """The exponent of the conjugate, p / (p - 1)."""
        return self.p / (self.p - 1)

    def value(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.where(x >= 0, _power(x, self.p) / self.p, xp.full_like(x, INF))

    def derivative(self, x: Array) -> Array:
        return _power(x, self.p - 1)

    def conjugate(self, y: Array) -> Array:
        return _power(y, self.q) / self.q

    def conjugate_derivative(self, y: Array) -> Array:
        return _power(y, self.q - 1)

    def conjugate_second(self, y: Array) -> Array:
        return (self.q - 1) * _power(y, self.q - 2)


@final
@dataclass(frozen=True)
class Frobenius(_PowerTrace):
    """phi(X) = |X|_F^2 / 2 on positive semidefinite X, so D(X, X0) = |X - X0|_F^2 / 2.

    h(x) = x^2 / 2 and h*(y) = max(y, 0)^2 / 2. The prior may be zero, and X may have any range.
    """

    p: ClassVar[float] = 2.0


@final
@dataclass(frozen=True)
class Schatten(_PowerTrace):
    """phi(X) = tr(X^p) / p on positive semidefinite X, for p > 1; p = 2 is Frobenius.

    h(x) = x^p / p and h*(y) = max(y, 0)^q / q with 1/p + 1/q = 1. A p near 1 favors low rank.
    """

    p: float = 2.0

    def __post_init__(self) -> None:
        if check_positive(self.p, "p", "Schatten", largest=LARGEST_EXPONENT) <= 1:
            raise ValueError(f"`Schatten(p={self.p!r})`: p must be greater than 1; got {self.p}.")

    @classmethod
    def examples(cls) -> list[Regularizer]:
        return [cls(1.5), cls(2.0), cls(3.0)]


_BY_NAME: Mapping[str, Regularizer] = {
    "logdet": LogDet(),
    "von_neumann": VonNeumann(),
    "frobenius": Frobenius(),
}


def read_regularizer(given: Any) -> Regularizer:
    """A regularizer by its name, or as it is."""
    if isinstance(given, Regularizer):
        return given
    if not isinstance(given, str) or given not in _BY_NAME:
        raise ValueError(
            f"`regularizer={given!r}` is not known; choose one of {', '.join(map(repr, _BY_NAME))}, or pass an "
            "object such as Schatten(1.5)."
        )
    return _BY_NAME[given]
