"""D_phi(X, X0) + losses + nu D_LogDet(X, X0): the primal with a barrier, which keeps X away from singular.

Where prices are large, phi hardly matters beside the losses, and X comes next to the boundary of the cone,
where no Newton step is long. With a large nu the optimum is next to X0. A few steps for each of a falling
sequence of nu follow it to the optimum without a barrier; on the way the gap is about nu r. LogDet is such a
barrier itself: there the sequence is one of rising prices.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from gramlearn._base.arrays import (
    Array,
    eye,
    is_finite,
    machine_eps,
    namespace,
    read,
    symmetric_part,
    transpose,
)
from gramlearn.problem.linear_maps import LinearMap
from gramlearn.problem.primal import PrimalPoint

INF = float("inf")
_HALF = 0.5  # the least share of an eigenvalue that a step leaves as the Newton step has it


@final
@dataclass(frozen=True, eq=False)
class BarrierPoint:
    """A primal point and the strength nu of the barrier; x0 is the spectrum of the prior.

    Everything is in the frame Q of X = Q diag(x) Q'.
    """

    primal: PrimalPoint
    nu: float
    x0: Array

    @cached_property
    def value(self) -> float:
        """The objective with the barrier."""
        return self.primal.value + sum(self._barrier)

    @property
    def _barrier(self) -> list[float]:
        if not self.nu:
            return [0.0]
        at, xp = self.primal.at, namespace(self.x0)
        trace = read(xp.sum(at.factor**2 / self.x0[:, None]))
        log_det = at.log_det - read(xp.sum(xp.log(self.x0)))
        return [self.nu * trace, -self.nu * log_det, -self.nu * float(self.x0.shape[0])]

    @property
    def is_finite(self) -> bool:
        """Whether the value and the gradient are numbers."""
        return abs(self.value) < INF and is_finite(self.residual)

    @property
    def noise(self) -> float:
        """A bound on the rounding error of the value."""
        size = sum(abs(term) for term in self._barrier)
        return self.primal.noise + 8 * machine_eps(self.x0) * size

    @property
    def gap(self) -> float:
        """That of the primal point, without the barrier."""
        return self.primal.gap

    @cached_property
    def residual(self) -> Array:
        """Q' (grad) Q of the objective with the barrier."""
        R = self.primal.residual
        if not self.nu:
            return R
        Q, x = self.primal.at.frame, self.primal.at.spectrum
        inverse = eye(int(Q.shape[0]), Q) / x
        return symmetric_part(R + self.nu * (transpose(Q) @ (Q / self.x0[:, None]) - inverse))

    @cached_property
    def softness(self) -> Array:
        """Phi with 1/Phi the second derivative of the divergence and the barrier, entry by entry."""
        Phi, x = self.primal.at.divided_differences, self.primal.at.spectrum
        if not self.nu:
            return Phi
        return Phi / (1 + self.nu * Phi / (x[:, None] * x[None, :]))

    @property
    def curved(self) -> tuple[list[LinearMap], Array]:
        """The constraints with curvature, and that."""
        return self.primal.curved

    @property
    def stiffness(self) -> float:
        """The least second derivative of the divergence against that of a barrier with nu = 1."""
        xp = namespace(self.x0)
        Phi, x = self.primal.at.divided_differences, self.primal.at.spectrum
        return read(xp.min(x**2 / xp.linalg.diagonal(Phi)))

    @property
    def strain(self) -> float:
        """How far X would move at nu = 1, against its own size: the largest eigenvalue of x^1/2 R x^1/2."""
        xp, x = namespace(self.x0), self.primal.at.spectrum
        root = xp.sqrt(x)
        values = xp.linalg.eigvalsh(self.primal.residual * root[:, None] * root[None, :])
        return read(xp.max(xp.abs(values)))

    def along(self, dX: Array) -> "Ray":
        """The curve of points that begins with X + Q dX Q'."""
        root = namespace(dX).sqrt(self.primal.at.spectrum)
        s, U = namespace(dX).linalg.eigh(symmetric_part(dX / root[:, None] / root[None, :]))
        return Ray(self, s, U)


@final
@dataclass(frozen=True, eq=False)
class Ray:
    """X -> F U diag(f(size s)) U' F': to first order the Newton step, and positive definite for any size.

    f(s) = 1 + s down to a half, and from there an exponential with the same slope.
    """

    start: BarrierPoint
    s: Array
    U: Array

    def at(self, size: float) -> BarrierPoint:
        """The point for a step of this size."""
        here, xp = self.start.primal, namespace(self.s)
        s = size * self.s
        below = xp.minimum(s + _HALF, xp.zeros_like(s))
        f = xp.where(s < -_HALF, _HALF * xp.exp(below / _HALF), 1 + s)
        # An eigenvalue that falls by more than this in one step takes long to come back.
        f = xp.maximum(f, xp.full_like(f, 1e-8))
        at = here.at.stretched(self.U, f)
        return replace(self.start, primal=PrimalPoint(here.dual, at))
