"""lam with Y0 - sum_k lam_k A_k < 0, for problems whose start lies outside the domain of phi*.

A linear term can push Y out of the domain at lam = 0. Shifted by kappa I, with kappa above the largest
eigenvalue of Y, any lam is inside; Newton steps that raise log det(kappa I - Y), whatever the losses cost, pull
the eigenvalues down, and kappa follows them until it is not needed any more.

Where the steps end first there is no such lam: X = (kappa I - Y)^-1 then has <A_k, X> = 0, or on the side that
costs nothing, and <Y, X> > 0, so the objective falls without end along X.
"""

from dataclasses import dataclass, replace
from typing import Self, final

from gramlearn._arrays import Array, namespace, read, symmetric_part
from gramlearn.dual import Dual, Part
from gramlearn.losses import Loss
from gramlearn.regularizers import LogDet
from gramlearn.solvers._newton import newton_step

__all__ = ["enter_domain"]

_STEPS = 300
_ACCURACY = 0.1


def enter_domain(dual: Dual, lam: Array) -> Array | None:
    """Find a lam of the box with Y < 0, or None where there is none."""
    xp = namespace(lam)
    free = tuple(Part(part.map, _Costless(of=part.loss), 0.0) for part in dual.parts)
    barrier = replace(dual, regularizer=LogDet(), parts=free, constant=0.0)
    top = _largest_eigenvalue(dual, lam)
    shift = top + max(abs(top), read(xp.max(xp.abs(dual.origin.matrix))), 1.0)
    for _ in range(_STEPS):
        if top < 0:
            return lam
        if dual.size == 0:
            return None
        point = replace(barrier, origin=dual.origin.shifted(-shift)).at(lam)
        better = newton_step(point, _ACCURACY)
        if better is None or better.value - point.value <= 1e-9:
            F = point.conjugate.factor
            # <Y, X> = kappa tr X - r at the X of the shifted problem.
            if shift * read(xp.sum(F * F)) > F.shape[0]:
                return None
        lam = lam if better is None else better.lam
        top = _largest_eigenvalue(dual, lam)
        shift = top + 0.1 * (shift - top)
    return None


def _largest_eigenvalue(dual: Dual, lam: Array) -> float:
    Y = symmetric_part(dual.origin.matrix - dual.adjoint(lam))
    return read(namespace(Y).linalg.eigvalsh(Y)[-1])


@final
@dataclass(frozen=True, eq=False)
class _Costless(Loss):
    """loss*(lam) = 0 on the box of another loss."""

    of: Loss

    @property
    def has_open_end(self) -> bool:
        return self.of.has_open_end

    @property
    def can_be_slack(self) -> bool:
        return self.of.can_be_slack

    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        return self.of.box(like, size)

    def conjugate(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    def conjugate_derivative(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    def conjugate_second(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    def take(self, rows: Array) -> Self:
        return replace(self, of=self.of.take(rows))

    def value(self, t: Array) -> Array:
        return namespace(t).zeros_like(t)

    def excess(self, t: Array) -> Array:
        return namespace(t).zeros_like(t)

    def scale(self, t: Array, unit: float = 1.0) -> Array:
        return namespace(t).full_like(t, unit)

    def is_slack(self, low: Array, high: Array) -> Array:
        return self.of.is_slack(low, high)

    def prepare(self, size: int, like: Array) -> Self:
        return replace(self, of=self.of.prepare(size, like))

    def describe(self, k: int) -> str:
        return self.of.describe(k)

    @classmethod
    def examples(cls) -> list[Loss]:
        return []
