"""phi(X) = sum_i h(x_i) over the eigenvalues x_i of X, and its conjugate phi*(Y) = sum_i h*(y_i).

A regularizer is five scalar functions: h, h', and the conjugate h* with two derivatives, where h is
+inf for negative arguments, so that the conjugate carries the constraint that X is positive
semidefinite. Everything about matrices is derived from them here, once:

    X = grad phi*(Y) = Q diag(x) Q'                 Q = U, x = h*'(y), for Y = U diag(y) U'
    D grad phi*(Y)[S] = Q (Phi o (Q' S Q)) Q'       Phi = first divided differences of h*'

LogDet needs no eigenvectors: with -Y = L L' and Q = L^-T the gradient is Q Q' and its derivative X S X, so
x = 1 and Phi = 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

from gramlearn._arrays import (
    Array,
    cholesky_or_none,
    constant,
    is_finite,
    namespace,
    read,
    symmetric_part,
    transpose,
)
from gramlearn._validation import check_positive

__all__ = ["ConjugatePoint", "Frobenius", "LogDet", "Regularizer", "Schatten", "VonNeumann"]

INF = float("inf")


class ConjugatePoint(ABC):
    """phi* at one Y: its value, its gradient X = F F', and its derivative through (Q, Phi).

    The value alone is cheap, for line searches; the rest is computed when asked for, and once.
    """

    value: float

    @abstractmethod
    def __init__(self, regularizer: "Regularizer", Y: Array) -> None: ...

    @property
    @abstractmethod
    def frame(self) -> Array:
        """Q of the gradient X = Q diag(x) Q' and the derivative S -> Q (Phi o (Q' S Q)) Q'."""

    @property
    @abstractmethod
    def spectrum(self) -> Array:
        """x of the gradient; of length 1 where it is the same number everywhere."""

    @property
    @abstractmethod
    def kernel(self) -> Array:
        """Phi of the derivative, r x r or 1 x 1 (the same number everywhere)."""

    @cached_property
    def factor(self) -> Array:
        """F with F F' = X."""
        return self.frame * namespace(self.spectrum).sqrt(self.spectrum)


@final
class SpectralPoint(ConjugatePoint):
    """phi* at Y through the eigendecomposition Y = U diag(y) U'."""

    def __init__(self, regularizer: "Regularizer", Y: Array) -> None:
        self._regularizer = regularizer
        self.value = INF
        if not is_finite(Y):
            return  # an overflow on the way here: outside the domain, and nothing to decompose
        xp = namespace(Y)
        self._y, self._u = xp.linalg.eigh(symmetric_part(Y))
        value = read(xp.sum(regularizer.conjugate(self._y)))
        self.value = INF if value != value else value  # inf - inf overflows, too

    @property
    def frame(self) -> Array:
        return self._u

    @cached_property
    def spectrum(self) -> Array:
        return self._regularizer.conjugate_derivative(self._y)

    @cached_property
    def kernel(self) -> Array:
        return divided_differences(self._regularizer, self._y)


@final
class CholeskyPoint(ConjugatePoint):
    """-log det's conjugate at Y through -Y = L L': phi*(Y) = -r - 2 sum log L_ii."""

    def __init__(self, regularizer: "Regularizer", Y: Array) -> None:
        del regularizer  # the closed form belongs to LogDet alone
        xp = namespace(Y)
        self._lower = cholesky_or_none(-symmetric_part(Y))
        if self._lower is None:
            self.value = INF
        else:
            pivots = xp.linalg.diagonal(self._lower)
            self.value = -float(Y.shape[0]) - 2 * read(xp.sum(xp.log(pivots)))

    @cached_property
    def frame(self) -> Array:
        return transpose(namespace(self._lower).linalg.inv(self._lower))

    @cached_property
    def spectrum(self) -> Array:
        return constant(1.0, self._lower, 1)

    @cached_property
    def kernel(self) -> Array:
        return constant(1.0, self._lower, (1, 1))


def divided_differences(regularizer: "Regularizer", y: Array) -> Array:
    """Phi_ij = (h*'(y_i) - h*'(y_j)) / (y_i - y_j), and h*'' at the middle where the slopes are close."""
    xp = namespace(y)
    slope = regularizer.conjugate_derivative(y)
    rise = slope[:, None] - slope[None, :]
    # The quotient loses digits as eps |slope| / |rise|, the middle as rise^2: balanced at 1e-5.
    close = xp.abs(rise) <= 1e-5 * (xp.abs(slope[:, None]) + xp.abs(slope[None, :]))
    run = y[:, None] - y[None, :]
    middle = regularizer.conjugate_second((y[:, None] + y[None, :]) / 2)
    return xp.where(close, middle, rise / xp.where(close, xp.ones_like(run), run))


@dataclass(frozen=True)
class Regularizer(ABC):
    """phi(X) = sum_i h(x_i), strictly convex on positive semidefinite X.

    `keeps_range`: the divergence from X0 is finite only for X within the range of X0.
    `needs_interior`: it is finite only for X of the same range, that is, h(0) = +inf.
    """

    keeps_range: ClassVar[bool]
    needs_interior: ClassVar[bool]
    point_type: ClassVar[type[ConjugatePoint]] = SpectralPoint

    @abstractmethod
    def value(self, x: Array) -> Array:
        """h(x), +inf outside the domain."""

    @abstractmethod
    def derivative(self, x: Array) -> Array:
        """h'(x) for x inside the domain."""

    @abstractmethod
    def conjugate(self, y: Array) -> Array:
        """h*(y) = sup_x x y - h(x), +inf outside the domain, never NaN."""

    @abstractmethod
    def conjugate_derivative(self, y: Array) -> Array:
        """h*'(y), the x that attains the supremum."""

    @abstractmethod
    def conjugate_second(self, y: Array) -> Array:
        """h*''(y)."""

    @classmethod
    @abstractmethod
    def examples(cls) -> list["Regularizer"]:
        """Instances that the catalogue tests run on."""

    @final
    def at(self, Y: Array) -> ConjugatePoint:
        """Evaluate phi* at a symmetric matrix Y."""
        return self.point_type(self, Y)


@final
@dataclass(frozen=True)
class LogDet(Regularizer):
    """phi(X) = -log det X, so D(X, X0) = tr X X0^-1 - log det X X0^-1 - r.

    h(x) = -log x and h*(y) = -1 - log(-y) for y < 0. Invariant under every change of basis; X keeps
    exactly the range of X0.
    """

    keeps_range: ClassVar[bool] = True
    needs_interior: ClassVar[bool] = True
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

    @classmethod
    def examples(cls) -> list[Regularizer]:
        return [cls()]


@final
@dataclass(frozen=True)
class VonNeumann(Regularizer):
    """phi(X) = tr(X log X - X), so D(X, X0) = tr(X log X - X log X0 - X + X0).

    h(x) = x log x - x and h*(y) = exp y. X stays within the range of X0 and may lose rank.
    """

    keeps_range: ClassVar[bool] = True
    needs_interior: ClassVar[bool] = False

    def value(self, x: Array) -> Array:
        xp = namespace(x)
        positive = xp.where(x > 0, x, xp.ones_like(x))
        inside = xp.where(x > 0, positive * xp.log(positive) - positive, xp.zeros_like(x))
        return xp.where(x >= 0, inside, xp.full_like(x, INF))

    def derivative(self, x: Array) -> Array:
        return namespace(x).log(x)

    def conjugate(self, y: Array) -> Array:
        return _exp(y)

    def conjugate_derivative(self, y: Array) -> Array:
        return _exp(y)

    def conjugate_second(self, y: Array) -> Array:
        return _exp(y)

    @classmethod
    def examples(cls) -> list[Regularizer]:
        return [cls()]


def _exp(y: Array) -> Array:
    """Give exp y, and +inf in silence where it overflows."""
    xp = namespace(y)
    ceiling = 709.0 if y.dtype == xp.float64 else 88.0
    return xp.where(y > ceiling, xp.full_like(y, INF), xp.exp(xp.clip(y, max=ceiling)))


def _power(x: Array, exponent: float) -> Array:
    """max(x, 0) ** exponent, 0 for x <= 0."""
    xp = namespace(x)
    inside = x > 0
    return xp.where(inside, xp.where(inside, x, xp.ones_like(x)) ** exponent, xp.zeros_like(x))


@final
@dataclass(frozen=True)
class Frobenius(Regularizer):
    """phi(X) = |X|_F^2 / 2 on positive semidefinite X, so D(X, X0) = |X - X0|_F^2 / 2.

    h(x) = x^2 / 2 and h*(y) = max(y, 0)^2 / 2. The prior may be zero, and X may have any range.
    """

    keeps_range: ClassVar[bool] = False
    needs_interior: ClassVar[bool] = False

    def value(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.where(x >= 0, x * x / 2, xp.full_like(x, INF))

    def derivative(self, x: Array) -> Array:
        return +x

    def conjugate(self, y: Array) -> Array:
        return _power(y, 2.0) / 2

    def conjugate_derivative(self, y: Array) -> Array:
        return _power(y, 1.0)

    def conjugate_second(self, y: Array) -> Array:
        return _power(y, 0.0)

    @classmethod
    def examples(cls) -> list[Regularizer]:
        return [cls()]


@final
@dataclass(frozen=True)
class Schatten(Regularizer):
    """phi(X) = tr(X^p) / p on positive semidefinite X, for p > 1; p = 2 is Frobenius.

    h(x) = x^p / p and h*(y) = max(y, 0)^q / q with 1/p + 1/q = 1. A p near 1 favors low rank.
    """

    p: float = 2.0

    keeps_range: ClassVar[bool] = False
    needs_interior: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if check_positive(self.p, "p", "Schatten") <= 1:
            raise ValueError(f"`Schatten(p={self.p!r})`: p must be greater than 1; got {self.p}.")

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

    @classmethod
    def examples(cls) -> list[Regularizer]:
        return [cls(1.5), cls(2.0), cls(3.0)]
