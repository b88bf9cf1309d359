"""lam with Y0 - sum_k lam_k A_k inside the domain of phi*, for problems whose start lies outside.

LogDet asks for Y < 0, which a linear term can break at lam = 0. Shifted by kappa I, with kappa above the
largest eigenvalue of Y, any lam is inside; Newton steps on the shifted dual then pull the eigenvalues down,
and kappa follows them until it is not needed any more. Where it cannot reach zero there is no such lam, and
the primal is unbounded.
"""

from dataclasses import replace

from gramlearn._arrays import Array, eye, namespace, read, symmetric_part
from gramlearn.dual import Dual
from gramlearn.solvers._newton import newton_step

__all__ = ["enter_domain"]

_STEPS = 200
_ACCURACY = 0.1


def enter_domain(dual: Dual, lam: Array) -> Array | None:
    """Find a lam at which the dual is finite, or None where there is none."""
    xp = namespace(lam)
    identity = eye(dual.Y0.shape[0], dual.Y0)
    size = read(xp.max(xp.abs(dual.Y0)))
    top = _largest_eigenvalue(dual, lam)
    shift = top + max(abs(top), size)
    for _ in range(_STEPS):
        if top < 0:
            return lam
        if dual.size == 0 or shift <= 1e-10 * size:
            return None
        better = newton_step(replace(dual, Y0=dual.Y0 - shift * identity).at(lam), _ACCURACY)
        if better is not None:
            lam = better.lam
            top = _largest_eigenvalue(dual, lam)
        shift = top + 0.5 * (shift - top)
    return None


def _largest_eigenvalue(dual: Dual, lam: Array) -> float:
    Y = symmetric_part(dual.Y0 - dual.adjoint(lam))
    return read(namespace(Y).linalg.eigvalsh(Y)[-1])
