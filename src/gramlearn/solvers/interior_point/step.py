"""One Newton step along the central path of   phi(X) - <Y0, X> + sum_k loss_k(t_k)   with X and lam apart.

The variables are X = Q Q', the multiplier Z of X >= 0, lam inside its box, the multipliers u, v of its ends,
and s inside the domain of the loss. On the path

    grad phi(X) - Z - Y0 + sum_k lam_k A_k = 0          X Z = mu I
    s_k = t_k + u_k - v_k = loss_k*'(lam_k)             u_k (lam_k - lo_k) = v_k (hi_k - lam_k) = mu

and mu goes to 0. X need not be X(lam) on the way: with large prices, only the lam of a thin slab have a useful
X(lam), and a method that stays in it is slow. -log det is a barrier itself: for LogDet phi is left out and
X Z = (1 + mu) I instead, so that Z becomes X^-1. Where the domain of a loss ends, s also has a multiplier,
which is added to its price loss'(s), and whose product with the distance from the end is mu.

The frame Q is such that Q'ZQ is diagonal, z. With dX = Q S Q' the steps of Nesterov and Todd make
dZ = T - sqrt(z_i z_j) S, and with dlam, du and dv eliminated one system in S is left, of r(r+1)/2 unknowns:

    (P + sqrt(z_i z_j) + B* D^-1 B) S = right side,     D = loss*'' + u / (lam - lo) + v / (hi - lam)

with B_k = Q' A_k Q and P the second derivative of phi in the frame.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from gramlearn._base.arrays import Array, concat, constant, eye, is_finite, namespace, read
from gramlearn._base.matrices import cholesky_or_none, symmetric_part, transpose
from gramlearn.problem.linear_maps import joint_adjoint, joint_apply
from gramlearn.solvers.interior_point.point import Interior
from gramlearn.solvers.interior_point.prices import Changes, changes_of
from gramlearn.solvers.symmetric import Coordinates, factorize

INF = float("inf")
_FRACTION = 0.99  # of the way to the boundary that a step may go
_SHORT = 0.1  # a step shorter than this is tried again, nearer to the path
_LEAST_STEP = 1e-9
_REFINEMENTS = 2
_LEAST_SHARE = 1e-12  # of the curvature of X along a constraint: holds it where nothing else does


class _Step(NamedTuple):
    """dX = Q X Q', Q' dZ Q = Z, and the changes of lam, of s, and of all multipliers."""

    X: Array
    Z: Array
    lam: Array
    inside: Array
    multipliers: list[Array]


def advance(point: Interior) -> Interior | None:
    """Go one step along the central path (Mehrotra), or give None where rounding allows none."""
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
    return _moved(point, step, size)


def _mu_after(point: Interior, step: _Step, size: float) -> float:
    """The mean product after a step."""
    identity = eye(int(point.cone.shape[0]), point.cone)
    XZ = (identity + size * step.X) * (identity * point.cone + size * step.Z)
    pairs = [
        (multiplier + size * change, room + size * way)
        for (multiplier, room), (change, way) in zip(point.pairs, _changes(step), strict=True)
    ]
    return point.mean_product(pairs, read(namespace(XZ).sum(XZ)))


def _changes(step: _Step) -> Changes:
    """By how much every multiplier and its room change."""
    return changes_of(step.lam, step.inside, step.multipliers)


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
        inside=point.aim + size * step.inside,
        multipliers=tuple(
            multiplier + size * change
            for multiplier, change in zip(point.multipliers, step.multipliers, strict=True)
        ),
    )
    inside = all(read(xp.min(room)) > 0 for room in (cone, *moved.rooms, *moved.domain_rooms))
    return moved if inside and is_finite(moved.frame) else None


def _reach(point: Interior, step: _Step) -> float:
    """How long a step may be before something ceases to be positive."""
    xp = namespace(point.lam)
    scaled = step.Z / xp.sqrt(point.cone[:, None] * point.cone[None, :])
    if not all(is_finite(part) for part in (*step[:-1], *step.multipliers, scaled)):
        return 0.0
    nothing = xp.zeros_like(step.lam)
    falls = [-xp.linalg.eigvalsh(step.X), -xp.linalg.eigvalsh(scaled)]
    for (multiplier, room), (change, way) in zip(point.pairs, _changes(step), strict=True):
        ends = multiplier > 0
        falls += [
            xp.where(ends, -way / room, nothing),
            xp.where(ends, -change / xp.where(ends, multiplier, 1 + nothing), nothing),
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
        if not dual.regularizer.is_own_barrier:
            T = coordinates.congruence(point.turn)
            upper = upper + transpose(T) @ (
                T / coordinates.entries(point.at.divided_differences)[:, None]
            )
        D = point.curvature
        # A target has no curvature and no end: a weight holds it, and refinement removes the difference.
        one = constant(1.0, z, (1, 1))
        norms = concat([m.diagonal(one) for m in point.maps if m.size], z)
        lifted = xp.maximum(D, _LEAST_SHARE * norms / read(xp.max(xp.linalg.diagonal(upper))))
        lifted = xp.where(lifted > 0, lifted, xp.ones_like(lifted))
        inverse = factorize(coordinates, point.maps, upper, 1 / lifted)
        if inverse is None:
            return None
        return _System(point, inverse, upper, D, lifted, coordinates)

    def step(self, mu: float, first: _Step | None, refinements: int = _REFINEMENTS) -> _Step:
        """Solve for the step to the point of the path at mu, corrected by the products of a first step."""
        point = self.point
        xp = namespace(point.lam)
        z = point.cone
        geometric = xp.sqrt(z[:, None] * z[None, :])
        middle = eye(int(z.shape[0]), z) * (mu + point.barrier_offset - z)
        if first is not None:
            # dX and dZ in the scaling of Nesterov and Todd; their Jordan product is the second-order term.
            scaled = xp.sqrt(geometric)
            dX, dZ = scaled * first.X, first.Z / scaled
            middle = middle - symmetric_part(dX @ dZ)
        root = xp.sqrt(z)
        T = 2 * xp.sqrt(geometric) * middle / (root[:, None] + root[None, :])
        fresh = point.multipliers_at(mu, None if first is None else _changes(first))
        X, lam = self._solve(T - point.imbalance, point.lack(point.t, fresh), refinements)
        inside, changes = point.follow(fresh, lam)
        return _Step(X, T - geometric * X, lam, inside, changes)

    def _solve(self, first: Array, second: Array, refinements: int) -> tuple[Array, Array]:
        """Give (S, dlam) with upper S + B* dlam = first and D dlam - B S = second.

        Where a constraint is on its bound, D is nearly zero and dlam mostly rounding: the residuals of both
        equations correct it.
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
