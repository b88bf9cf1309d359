"""One Newton step along the central path of   phi(X) - <Y0, X> + sum_k loss_k(t_k)   with X and lam apart.

The variables are X = Q Q', the multiplier Z of X >= 0, lam inside its box, and the multipliers u, v of the ends
of the box. On the path

    grad phi(X) - Z - Y0 + sum_k lam_k A_k = 0          X Z = mu I
    t_k - loss_k*'(lam_k) + u_k - v_k = 0               u_k (lam_k - lo_k) = v_k (hi_k - lam_k) = mu

and mu goes to 0. X need not be X(lam) on the way: with large prices the lam whose X(lam) is of any use lie in
a thin slab, and a method that has to stay in it creeps. -log det is a barrier itself: for LogDet phi is left
out and X Z = (1 + mu) I instead, so that Z becomes X^-1.

The frame Q is such that Q'ZQ is diagonal, z. With dX = Q S Q' the steps of Nesterov and Todd make
dZ = T - sqrt(z_i z_j) S, and with dlam, du and dv eliminated one system in S is left, of r(r+1)/2 unknowns:

    (P + sqrt(z_i z_j) + B* D^-1 B) S = right side,     D = loss*'' + u / (lam - lo) + v / (hi - lam)

with B_k = Q' A_k Q and P the second derivative of phi in the frame.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from gramlearn._arrays import (
    Array,
    cholesky_or_none,
    concat,
    constant,
    eye,
    is_finite,
    namespace,
    read,
    symmetric_part,
    transpose,
)
from gramlearn.dual import Dual
from gramlearn.solvers._interior import Interior
from gramlearn.solvers._symmetric import Coordinates, factorized, joint_adjoint, joint_apply

__all__ = ["advanced"]

INF = float("inf")
_FRACTION = 0.99  # of the way to the boundary that a step may go
_SHORT = 0.1  # a step shorter than this is tried again, nearer to the path
_LEAST_STEP = 1e-9
_REFINEMENTS = 2
_CURVING = 100.0  # times as much curvature of a loss* ends a step early
_HALVINGS = 40
_LEAST_SHARE = (
    1e-12  # of the curvature of X along a constraint, that holds it where nothing else does
)


class _Step(NamedTuple):
    """dX = Q X Q', Q' dZ Q = Z, and the changes of lam and of the multipliers of its box."""

    X: Array
    Z: Array
    lam: Array
    below: Array
    above: Array


def advanced(point: Interior) -> Interior | None:
    """Go one step along the central path (Mehrotra), or None where rounding leaves no way."""
    system = _System.of(point)
    if system is None:
        return None
    mu = point.mu
    affine = system.step(0.0, None, refinements=0)
    reach = min(1.0, _reach(point, affine))
    if not reach > 0:
        return None
    share = (_mu_after(point, affine, reach) / mu) ** 3 if mu > 0 else 0.0
    goal = min(max(share, (1 - reach) ** 3, 1e-6), 1.0) * mu
    step = system.step(goal, affine)
    size = min(1.0, _FRACTION * _reach(point, step))
    if not size >= _SHORT:
        step = system.step(max(goal, 0.5 * mu), None)
        size = min(1.0, _FRACTION * _reach(point, step))
    return _moved(point, step, _curbed(point, step, size))


def _mu_after(point: Interior, step: _Step, size: float) -> float:
    """The mean product after a step."""
    (low, high), identity = point.rooms, eye(int(point.cone.shape[0]), point.cone)
    XZ = (identity + size * step.X) * (identity * point.cone + size * step.Z)
    return point.mean_product(
        point.below + size * step.below,
        point.above + size * step.above,
        (low + size * step.lam, high - size * step.lam),
        read(namespace(XZ).sum(XZ)),
    )


def _moved(point: Interior, step: _Step, size: float) -> Interior | None:
    """Take the step, and turn the frame so that Z is diagonal in it again."""
    if not size >= _LEAST_STEP:
        return None
    xp = namespace(point.lam)
    identity = eye(int(point.cone.shape[0]), point.cone)
    C = cholesky_or_none(identity + size * step.X)
    if C is None:
        return None
    Z = transpose(C) @ (identity * point.cone + size * step.Z) @ C
    cone, V = xp.linalg.eigh(symmetric_part(Z))
    moved = replace(
        point,
        frame=point.frame @ (C @ V),
        cone=cone,
        lam=point.lam + size * step.lam,
        below=point.below + size * step.below,
        above=point.above + size * step.above,
    )
    inside = all(read(xp.min(room)) > 0 for room in (cone, *moved.rooms))
    return moved if inside and is_finite(moved.frame) else None


def _curbed(point: Interior, step: _Step, size: float) -> float:
    """Cut a step short where the curvature of a loss* would become much more than that of the model."""
    xp = namespace(point.lam)
    limit = _CURVING * _curvature(point)
    for _ in range(_HALVINGS):
        second = _second(point.dual, point.lam + size * step.lam)
        if bool(xp.all(second <= limit)):
            break
        size /= 2
    return size


def _reach(point: Interior, step: _Step) -> float:
    """How long a step may be before something ceases to be positive."""
    xp = namespace(point.lam)
    scaled = step.Z / xp.sqrt(point.cone[:, None] * point.cone[None, :])
    if not all(is_finite(part) for part in (*step, scaled)):
        return 0.0
    low, high = point.rooms
    lo, hi = (xp.isfinite(end) for end in point.dual.box)
    nothing = xp.zeros_like(step.lam)
    falls = [
        -xp.where(lo, step.lam, nothing) / low,
        xp.where(hi, step.lam, nothing) / high,
        -step.below / xp.where(lo, point.below, xp.ones_like(low)),
        -step.above / xp.where(hi, point.above, xp.ones_like(low)),
        -xp.linalg.eigvalsh(step.X),
        -xp.linalg.eigvalsh(scaled),
    ]
    fastest = max(read(xp.max(fall)) for fall in falls)
    return 1 / fastest if fastest > 0 else INF


@final
@dataclass(frozen=True, eq=False)
class _System:
    """The equations at one point, factorized."""

    point: Interior
    inverse: Callable[[Array], Array]  # of P + sqrt(z_i z_j) + B* D^-1 B
    upper: Array  # P + sqrt(z_i z_j), written out
    D: Array
    lifted: Array  # D, and a little where it is zero
    coordinates: Coordinates

    @staticmethod
    def of(point: Interior) -> "_System | None":
        xp = namespace(point.lam)
        z, dual = point.cone, point.dual
        coordinates = Coordinates(int(z.shape[0]), z)
        upper = eye(coordinates.size, z) * xp.sqrt(coordinates.entries(z[:, None] * z[None, :]))
        if not dual.regularizer.is_invariant:
            T = coordinates.congruence(point.turn)
            upper = upper + transpose(T) @ (T / coordinates.entries(point.at.kernel)[:, None])
        D = _curvature(point)
        # A target has no curvature and no end: it is held by a weight, and what that leaves is refined away.
        one = constant(1.0, z, (1, 1))
        norms = concat([m.diagonal(one) for m in point.maps if m.size], z)
        lifted = xp.maximum(D, _LEAST_SHARE * norms / read(xp.max(xp.linalg.diagonal(upper))))
        lifted = xp.where(lifted > 0, lifted, xp.ones_like(lifted))
        inverse = factorized(coordinates, point.maps, upper, 1 / lifted)
        if inverse is None:
            return None
        return _System(point, inverse, upper, D, lifted, coordinates)

    def step(self, mu: float, first: _Step | None, refinements: int = _REFINEMENTS) -> _Step:
        """Solve for the step to the point of the path at mu, corrected by the products of a first step."""
        point = self.point
        xp = namespace(point.lam)
        z, (low, high) = point.cone, point.rooms
        lo, hi = (xp.isfinite(end) for end in point.dual.box)
        zero = xp.zeros_like(point.lam)
        geometric = xp.sqrt(z[:, None] * z[None, :])
        centre = eye(int(z.shape[0]), z) * (mu + point.own - z)
        goal_below, goal_above = zero + mu, zero + mu
        if first is not None:
            # In the scaling of Nesterov and Todd dX and dZ are these; their Jordan product is left over.
            scaled = xp.sqrt(geometric)
            dX, dZ = scaled * first.X, first.Z / scaled
            centre = centre - symmetric_part(dX @ dZ)
            goal_below = goal_below - first.below * first.lam
            goal_above = goal_above + first.above * first.lam
        root = xp.sqrt(z)
        T = 2 * xp.sqrt(geometric) * centre / (root[:, None] + root[None, :])
        below = xp.where(lo, goal_below / low, zero)
        above = xp.where(hi, goal_above / high, zero)
        derivative = point.dual.each(lambda p, v: p.loss.conjugate_derivative(v), point.lam)
        X, lam = self._solve(T - point.imbalance, point.t - derivative + below - above, refinements)
        return _Step(
            X,
            T - geometric * X,
            lam,
            xp.where(lo, below - point.below * (1 + lam / low), zero),
            xp.where(hi, above - point.above * (1 - lam / high), zero),
        )

    def _solve(self, first: Array, second: Array, refinements: int) -> tuple[Array, Array]:
        """Give (S, dlam) with upper S + B* dlam = first and D dlam - B S = second.

        Where a constraint is on its bound D is next to nothing, and rounding in S is all that dlam shows. What
        is left of both equations corrects it.
        """
        maps, D, lifted, coordinates = self.point.maps, self.D, self.lifted, self.coordinates
        right = coordinates.vector(first)
        s, lam = 0.0 * right, 0.0 * second
        left, below = right, second
        for k in range(refinements + 1):
            if k:
                S = coordinates.matrix(s)
                left = right - self.upper @ s - coordinates.vector(joint_adjoint(maps, lam))
                below = second + joint_apply(maps, S) - D * lam
            ds = self.inverse(left - coordinates.vector(joint_adjoint(maps, below / lifted)))
            s = s + ds
            lam = lam + (joint_apply(maps, coordinates.matrix(ds)) + below) / lifted
        return coordinates.matrix(s), lam


def _curvature(point: Interior) -> Array:
    """loss*'' and what the multipliers of the ends of the box add to it."""
    low, high = point.rooms
    return _second(point.dual, point.lam) + point.below / low + point.above / high


def _second(dual: Dual, lam: Array) -> Array:
    return dual.each(lambda part, v: part.loss.conjugate_second(v), lam)
