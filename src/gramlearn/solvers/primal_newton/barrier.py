"""D_phi(X, X0) + losses + nu D_LogDet(X, X0): the primal with a barrier, which keeps X away from singular.

Where prices are large, phi hardly matters beside the losses, and X comes next to the boundary of the cone,
where no Newton step is long. With a large nu the optimum is next to X0. A few steps for each of a falling
sequence of nu follow it to the optimum without a barrier; on the way the gap is about nu r. LogDet is such a
barrier itself: there the sequence is one of rising prices.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from gramlearn._base.arrays import Array, clipped, eye, is_finite, machine_eps, namespace, read
from gramlearn._base.matrices import cholesky_or_none, eigh, eigvalsh, symmetric_part, transpose
from gramlearn.problem.curved import Curved
from gramlearn.problem.primal import PrimalPoint

INF = float("inf")
_SAME = 1.0  # the logarithm of a ratio of lengths up to which two directions of X count as equally thick
_LEAST = 0.5  # share of an eigenvalue that a step leaves as the Newton step has it


@final
@dataclass(frozen=True, eq=False)
class BarrierPoint:
    """A primal point and the strength nu of the barrier; x0 is the spectrum of the prior.

    Where the prior is zero, x0 is the usual size of an X that satisfies the constraints. `held` is the strength
    that X has been brought to, if that is another. Everything is in the frame Q of X = Q diag(x) Q'.
    """

    primal: PrimalPoint
    nu: float
    x0: Array
    held: float = 0.0

    @cached_property
    def value(self) -> float:
        """The objective with the barrier."""
        return self.primal.value + sum(self._barrier)

    @cached_property
    def _barrier(self) -> list[float]:
        """The terms of nu D_LogDet(X, X0)."""
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
        """Phi with 1/Phi the second derivative of the divergence and the barrier, entry by entry.

        An eigenvalue that only the barrier holds up is to fall with nu. The second derivative of a barrier
        that is four times weaker asks for a step to -2 of its size; that of the former to the right place.
        """
        Phi, x = self.primal.at.divided_differences, self.primal.at.spectrum
        nu = self.strength
        if not nu:
            return Phi
        return Phi / (1 + nu * Phi / (x[:, None] * x[None, :]))

    @property
    def strength(self) -> float:
        """The strength of the barrier that X has been brought to."""
        return max(self.nu, self.held)

    @property
    def curved(self) -> Curved:
        """The constraints with curvature."""
        return self.primal.curved

    @cached_property
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
        values = eigvalsh(self.primal.residual * root[:, None] * root[None, :])
        return read(xp.max(xp.abs(values)))

    def along(self, dX: Array) -> "Ray":
        """The curve of points that begins with X + Q dX Q'."""
        root = namespace(dX).sqrt(self.primal.at.spectrum)
        return Ray(self, symmetric_part(dX / root[:, None] / root[None, :]))


@final
@dataclass(frozen=True, eq=False)
class Ray:
    """X -> F L L' F' with L L' = I + size S, or where that is nearly singular, L = diagonal + size tril(S).

    S is dX in the frame F of X = F F', whose columns are the directions of X, the thickest first. Its entry
    S_ij turns a thick direction j toward a thin one i, by a small angle even where S_ij is large. X must then
    become thicker along i, by S_ij^2: a triangular L does so, and leaves alone what is thicker.
    """

    start: BarrierPoint
    S: Array

    @cached_property
    def _thickest_first(self) -> tuple[Array, Array]:
        """(W, W'SW): F W has the directions of X as columns, and W'SW is diagonal among those alike."""
        xp = namespace(self.S)
        W, thickness = self.start.primal.at.axes
        S = transpose(W) @ self.S @ W
        group = xp.floor(xp.log(thickness[0] / thickness) / _SAME)
        among = xp.where(group[:, None] == group[None, :], S, xp.zeros_like(S))
        # Eigenvectors of one group after the other: the shifts keep their eigenvalues apart.
        apart = 4 * xp.max(xp.sum(xp.abs(among), axis=1))
        _, V = eigh(among + eye(int(S.shape[0]), S) * (apart * group))
        return W @ V, symmetric_part(transpose(V) @ S @ V)

    def at(self, size: float) -> BarrierPoint | None:
        """The point for a step of this size, which is positive definite for any; None where it overflows."""
        here = self.start.primal
        factor = here.at.factor @ self._turn(size)
        if not is_finite(factor):
            return None
        at = here.dual.regularizer.at_gradient(factor)
        return replace(self.start, primal=here.moved(at), held=0.0)

    def _turn(self, size: float) -> Array:
        """L, for a step of this size."""
        xp = namespace(self.S)
        identity = eye(int(self.S.shape[0]), self.S)
        if cholesky_or_none((1 - _LEAST) * identity + size * self.S) is not None:
            return xp.linalg.cholesky(identity + size * self.S)
        W, S = self._thickest_first
        f = self._shrunk(W, size * xp.linalg.diagonal(S), size)
        return W @ (size * xp.tril(S, k=-1) + identity * xp.sqrt(f))

    def _shrunk(self, W: Array, s: Array, size: float) -> Array:
        """f, for which the Newton step has 1 + s: the factors by which X becomes thinner along the F W.

        Where it is mostly the barrier that holds X up, the value along such a direction is about
        z f + k (f - 1)^2 / 2 - nu log f, and f is where this is least. The slope at f = 1 and s tell k, and
        z = nu - (held + k) s, with the strength `held` that the Newton step was made for.
        """
        xp, start, root = namespace(s), self.start, namespace(s).sqrt(self.start.primal.at.spectrum)
        # 1 + s down to the least, and from there an exponential with the same slope.
        below = xp.minimum(s + 1 - _LEAST, xp.zeros_like(s))
        f = xp.where(below < 0, _LEAST * xp.exp(below / _LEAST), 1 + s)
        nu, held = start.nu + start.stiffness, start.strength + start.stiffness
        slope = xp.linalg.diagonal(transpose(W) @ (start.residual * root[:, None] * root) @ W)
        k = -size * slope / xp.where(s < 0, s, -xp.ones_like(s)) - held
        is_held = (s < 0) & (slope > 0) & (k <= held)
        k = clipped(xp.where(is_held, k, xp.ones_like(k)), low=1e-9 * held)
        b = nu - (held + k) * s - k
        c = xp.sqrt(b**2 + 4 * k * nu)
        least = xp.where(b > 0, 2 * nu / (xp.abs(b) + c), (xp.abs(b) + c) / (2 * k))
        f = xp.where(is_held, least, f)
        # An eigenvalue that falls by more than this in one step takes long to come back.
        return xp.maximum(f, xp.full_like(f, 1e-8))
