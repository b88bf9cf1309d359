"""phi(X) = sum_i h(x_i) over the eigenvalues x_i of X, and its conjugate phi*(Y) = sum_i h*(y_i).

A regularizer is five scalar functions: h, h', and the conjugate h* with two derivatives, where h is
+inf for negative arguments, so that the conjugate carries the constraint that X is positive
semidefinite. Everything about matrices is derived from them here, once:

    X = grad phi*(Y) = Q diag(x) Q'                 Q = U, x = h*'(y), for Y = U diag(y) U'
    D grad phi*(Y)[S] = Q (Phi o (Q' S Q)) Q'       Phi = first divided differences of h*'

LogDet needs no eigenvectors: with -Y = L L' and Q = L^-T the gradient is Q Q' and its derivative X S X, so
x = 1 and Phi = 1.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    constant,
    eye,
    is_finite,
    machine_eps,
    namespace,
    read,
)
from gramlearn._base.matrices import (
    cholesky_or_none,
    eigh,
    eigvalsh,
    inverse_of_lower,
    log_abs_det,
    svd,
    symmetric_part,
    transpose,
)
from gramlearn.problem.losses import BoundedLoss, SquaredHinge

INF = float("inf")


class Decomposed(Protocol):
    """X = Q diag(x) Q' = F F': what constraints need to know of it."""

    @property
    def frame(self) -> Array:
        """Q."""

    @property
    def spectrum(self) -> Array:
        """x; of length 1 where it is the same number everywhere."""

    @property
    def factor(self) -> Array:
        """F."""


class ConjugatePoint(ABC):
    """phi* at one Y: its value, its gradient X = F F', and its derivative through (Q, Phi).

    The value alone is cheap, for line searches; the rest is computed when asked for, and once.
    """

    value: float

    @abstractmethod
    def __init__(self, regularizer: "Regularizer", Y: Array) -> None: ...

    @classmethod
    @abstractmethod
    def of_gradient(cls, regularizer: "Regularizer", F: Array) -> "ConjugatePoint":
        """The point at which the gradient is X = F F', for a square F of full rank."""

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
    def axes(self) -> tuple[Array, Array]:
        """(W, s): the columns of F W are orthogonal, of the lengths s, the longest first."""

    @property
    @abstractmethod
    def divided_differences(self) -> Array:
        """Phi of the derivative, r x r or 1 x 1 (the same number everywhere)."""

    @property
    @abstractmethod
    def image(self) -> Array:
        """Q' Y Q."""

    @property
    @abstractmethod
    def potential(self) -> float:
        """phi(X) = <X, Y> - phi*(Y)."""

    @property
    @abstractmethod
    def log_det(self) -> float:
        """log det X."""

    @abstractmethod
    def divergence(self, R: Array, error: float = 0.0) -> float:
        """D(X, X') = phi*(Y') - phi*(Y) - <X, Y' - Y> with Q' (Y - Y') Q = R; +inf outside the domain.

        Never too small: the rounding error of terms that cancel is added. With an error it is the largest
        for any matrix within that distance of R, in the spectral norm.
        """

    @abstractmethod
    def rounding(self, s: Array) -> float:
        """By how much phi*(Y) may be off, if Y[i, j] is off by up to sqrt(s_i s_j)."""

    def weighed(self, s: Array) -> float:
        """sum_ij sqrt(s_i s_j) |X_ij|: <E, X> is not larger, for any |E[i, j]| <= sqrt(s_i s_j)."""
        xp = namespace(s)
        G = xp.sqrt(s)[:, None] * self.factor
        return read(xp.sum(xp.abs(G @ transpose(G))))

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
            return  # Y overflowed: outside the domain
        xp = namespace(Y)
        self._y, self._u = eigh(symmetric_part(Y))
        value = read(xp.sum(regularizer.conjugate(self._y)))
        self.value = INF if value != value else value  # inf - inf overflows, too

    @classmethod
    def of_gradient(cls, regularizer: "Regularizer", F: Array) -> "SpectralPoint":
        xp = namespace(F)
        u, s, _ = svd(F)
        # Products with smaller eigenvalues would underflow.
        x = clipped(s * s, low=float(xp.finfo(F.dtype).smallest_normal) ** 0.5)
        point = cls.__new__(cls)
        point._regularizer = regularizer
        point._y, point._u = regularizer.derivative(x), u
        point.value = read(xp.sum(regularizer.conjugate(point._y)))
        return point

    @property
    def frame(self) -> Array:
        return self._u

    @cached_property
    def spectrum(self) -> Array:
        return self._regularizer.conjugate_derivative(self._y)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        xp, x = namespace(self._y), self.spectrum
        order = xp.argsort(x, descending=True)
        return xp.take(eye(int(x.shape[0]), x), order, axis=1), xp.sqrt(xp.take(x, order))

    @cached_property
    def divided_differences(self) -> Array:
        return divided_differences(self._regularizer, self._y)

    @property
    def image(self) -> Array:
        return eye(self._y.shape[0], self._y) * self._y

    @property
    def potential(self) -> float:
        return read(namespace(self._y).sum(self.spectrum * self._y)) - self.value

    @property
    def log_det(self) -> float:
        xp = namespace(self._y)
        return read(xp.sum(xp.log(self.spectrum)))

    def rounding(self, s: Array) -> float:
        # No eigenvalue of Y moves farther than the sum of s, and phi* is monotone. Where h*' is convex, that
        # shift also bounds the terms of second and higher order; the first order is small where X is.
        xp = namespace(s)
        moved = read(xp.sum(self._regularizer.conjugate(self._y + xp.sum(s))))
        if not moved < INF:
            return INF
        if not self._regularizer.has_convex_gradient:
            return moved - self.value
        beyond = moved - self.value - read(xp.sum(s) * xp.sum(self.spectrum))
        return self.weighed(s) + max(beyond, 0.0)

    def divergence(self, R: Array, error: float = 0.0) -> float:
        xp = namespace(R)
        if not is_finite(R):
            return INF
        y = eigvalsh(self.image - R) + error
        value = read(xp.sum(self._regularizer.conjugate(y)))
        if not value < INF:
            return INF
        inner = read(xp.sum(self.spectrum * (xp.linalg.diagonal(R) + error)))
        rounding = 8 * machine_eps(R) * (abs(value) + abs(self.value) + abs(inner))
        return max(value - self.value + inner, 0.0) + rounding


@final
class CholeskyPoint(ConjugatePoint):
    """-log det's conjugate at Y through -Y = L L': phi*(Y) = -r - 2 sum log L_ii."""

    def __init__(self, regularizer: "Regularizer", Y: Array) -> None:
        del regularizer  # the closed form belongs to LogDet alone
        lower = cholesky_or_none(-symmetric_part(Y))
        self._lower: Array = lower
        self._like = Y
        self.value = INF if lower is None else -float(Y.shape[0]) - _log_det(lower)

    @classmethod
    def of_gradient(cls, regularizer: "Regularizer", F: Array) -> "CholeskyPoint":
        del regularizer
        point = cls.__new__(cls)
        point._like = F
        point.__dict__["frame"] = F  # any F with F F' = X is a frame
        point.value = 2 * log_abs_det(F) - float(F.shape[0])
        return point

    @cached_property
    def frame(self) -> Array:
        return transpose(inverse_of_lower(self._lower))

    @cached_property
    def spectrum(self) -> Array:
        return constant(1.0, self._like, 1)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        _, s, V = svd(self.factor)
        return transpose(V), s

    @cached_property
    def divided_differences(self) -> Array:
        return constant(1.0, self._like, (1, 1))

    @property
    def image(self) -> Array:
        return -eye(self._like.shape[0], self._like)

    @property
    def potential(self) -> float:
        return -float(self._like.shape[0]) - self.value

    @property
    def log_det(self) -> float:
        return self.value + float(self._like.shape[0])

    def rounding(self, s: Array) -> float:
        # No eigenvalue of X E is larger than this; -log(1 - e) is what the worst of them does.
        first_order = self.weighed(s)
        return -math.log1p(-first_order) if first_order < 1 else INF

    def divergence(self, R: Array, error: float = 0.0) -> float:
        xp = namespace(R)
        if not is_finite(R):
            return INF
        e = eigvalsh(R)
        if not read(e[0]) - error > -1:
            return INF
        largest = xp.maximum(_excess(e + error), _excess(e - error))  # it is convex
        return max(read(xp.sum(largest)), 0.0)


def _excess(e: Array) -> Array:
    """e - log(1 + e), without the cancellation near 0, where it is e^2 (1/2 - e/3 + ...)."""
    xp = namespace(e)
    return xp.where(xp.abs(e) < 1e-4, e * e * (0.5 - e / 3), e - xp.log1p(e))


def _log_det(lower: Array) -> float:
    """log det(L L')."""
    xp = namespace(lower)
    return 2 * read(xp.sum(xp.log(xp.linalg.diagonal(lower))))


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
    `is_invariant`: D(MXM', MX0M') = D(X, X0) for every invertible M, so that solvers may work in any frame.
    `is_self_concordant`: h(0) = +inf, and the third derivative of h is at most twice the second to the power
    3/2, so that Newton steps on X stay inside and converge fast near the optimum.
    `is_own_barrier`: phi is -log det itself, so that it keeps X inside the cone without another barrier.
    `form`: of X as a function of Y, for projections: "inverse", "exponential", or None where none is cheap.
    `slack_loss`: the loss that measures one number as the divergence measures a matrix.
    """

    keeps_range: ClassVar[bool]
    needs_interior: ClassVar[bool]
    is_invariant: ClassVar[bool] = False
    is_self_concordant: ClassVar[bool] = False
    is_own_barrier: ClassVar[bool] = False
    form: ClassVar[str | None] = None
    slack_loss: ClassVar[type[BoundedLoss]] = SquaredHinge
    point_type: ClassVar[type[ConjugatePoint]] = SpectralPoint

    @property
    def has_convex_gradient(self) -> bool:
        """Whether h*' is convex."""
        return True

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
    def examples(cls) -> list["Regularizer"]:
        """Instances that the catalogue tests run on."""
        return [cls()]

    @final
    def at(self, Y: Array) -> ConjugatePoint:
        """Evaluate phi* at a symmetric matrix Y."""
        return self.point_type(self, Y)

    @final
    def at_gradient(self, F: Array) -> ConjugatePoint:
        """Evaluate phi* at the Y whose gradient is X = F F', for a square F of full rank."""
        return self.point_type.of_gradient(self, F)
