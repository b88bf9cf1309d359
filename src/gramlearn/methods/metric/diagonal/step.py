"""One Newton step along the central path of weights: (w^2 h'' + w z + B'D^-1 B) x = right side, with dw = w x.

Here B = A diag(w), and D = loss*'' + u / (lam - lo) + v / (hi - lam) as for a matrix. Where products of all
rows of B are many, conjugate gradients solve the system, and the rows that weigh most, with a sample of the
others, precondition it: late on the path few statements weigh anything.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import issparse

from gramlearn._base.matrices import weighted_gram
from gramlearn.methods.metric.diagonal.point import InsideWeights
from gramlearn.solvers.interior_point.prices import Changes, changes_of
from gramlearn.solvers.krylov import conjugate_gradients

INF = float("inf")
_FRACTION = 0.99  # of the way to the boundary that a step may go
_SHORT = 0.1  # a step shorter than this is tried again, nearer to the path
_LEAST_STEP = 1e-9
_REFINEMENTS = 2
_LEAST_SHARE = 1e-12  # of the curvature of w along a statement: holds it where nothing else does
_PRODUCTS = 4e9  # multiplications that a factorization may take
_ACCURACY = 1e-2  # of a system that is not factorized as a whole
_ROUGH = 0.1  # the same of a step that only tells how far one can go


class _Step(NamedTuple):
    """dw = w x, and the changes of z, of lam, of s, and of the multipliers."""

    x: np.ndarray
    z: np.ndarray
    lam: np.ndarray
    inside: np.ndarray
    multipliers: list[np.ndarray]

    @property
    def changes(self) -> Changes:
        """By how much every multiplier and its room change."""
        return changes_of(self.lam, self.inside, self.multipliers)


def advance(point: InsideWeights) -> InsideWeights | None:
    """Go one step along the central path (Mehrotra), or give None where rounding allows none."""
    try:
        system = _System.at(point)
    except LinAlgError:
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


def _mu_after(point: InsideWeights, step: _Step, size: float) -> float:
    """The mean product after a step."""
    pairs = [
        (multiplier + size * change, room + size * way)
        for (multiplier, room), (change, way) in zip(point.pairs, step.changes, strict=True)
    ]
    return point.mean_product(pairs, point.w * (1 + size * step.x) * (point.z + size * step.z))


def _moved(point: InsideWeights, step: _Step, size: float) -> InsideWeights | None:
    if not size >= _LEAST_STEP:
        return None
    moved = replace(
        point,
        w=point.w * (1 + size * step.x),
        z=point.z + size * step.z,
        lam=point.lam + size * step.lam,
        inside=point.aim + size * step.inside,
        multipliers=tuple(
            multiplier + size * change
            for multiplier, change in zip(point.multipliers, step.multipliers, strict=True)
        ),
    )
    positive = (moved.w, moved.z, *moved.rooms, *moved.domain_rooms)
    return (
        moved if all(np.min(room) > 0 for room in positive) and np.isfinite(moved.w).all() else None
    )


def _reach(point: InsideWeights, step: _Step) -> float:
    """How long a step may be before something ceases to be positive."""
    if not all(np.isfinite(part).all() for part in (*step[:-1], *step.multipliers)):
        return 0.0
    falls = [-step.x, -step.z / point.z]
    for (multiplier, room), (change, way) in zip(point.pairs, step.changes, strict=True):
        ends = multiplier > 0
        falls += [-way[ends] / room[ends], -change[ends] / multiplier[ends]]
    fastest = max(float(np.max(fall, initial=0.0)) for fall in falls)
    return 1 / fastest if fastest > 0 else INF


@final
@dataclass(frozen=True, eq=False)
class _System:
    """The equations at one point, with what solves them: all of them, or nearly."""

    point: InsideWeights
    upper: np.ndarray  # w^2 h'' + w z
    D: np.ndarray
    lifted: np.ndarray  # D, and a little where it is zero
    precondition: Callable[[np.ndarray], np.ndarray]
    is_exact: bool

    @staticmethod
    def at(point: InsideWeights) -> "_System":
        sizes = point.sums.sizes
        upper = point.bend + point.w * point.z
        D = point.curvature
        # A target has no curvature and no end: a weight holds it, and refinement removes the difference.
        lifted = np.maximum(D, _LEAST_SHARE * sizes**2 / np.max(upper))
        lifted = np.where(lifted > 0, lifted, 1.0)
        c, d = point.dual.differences.shape
        most = int(max(_PRODUCTS / d**2, min((_PRODUCTS / d) ** 0.5, d)))
        chosen, weights = _chosen_rows(point, upper, 1 / lifted, most)
        B = point.dual.differences.rows(chosen) * point.w[None, :]
        return _System(point, upper, D, lifted, _factorized(B, weights, upper), c <= most)

    def step(self, mu: float, first: _Step | None, refinements: int = _REFINEMENTS) -> _Step:
        """Solve for the step to the point of the path at mu, corrected by the products of a first step."""
        point = self.point
        wz = point.w * point.z
        goal = mu + point.barrier_offset - wz
        if first is not None:
            goal = goal - point.w * first.x * first.z
        fresh = point.multipliers_at(mu, None if first is None else first.changes)
        right = goal - point.w * (point.residual - point.z)
        accuracy = _ROUGH if first is None and mu == 0 else _ACCURACY
        x, lam = self._solve(right, point.lack(point.sums.t, fresh), refinements, accuracy)
        inside, changes = point.follow(fresh, lam)
        return _Step(x, (goal - wz * x) / point.w, lam, inside, changes)

    def _solve(
        self, first: np.ndarray, second: np.ndarray, refinements: int, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give (x, dlam) with upper x + B'dlam = first and D dlam - B x = second.

        Where a statement is on its bound, D is nearly zero and dlam mostly rounding: the residuals of both
        equations correct it.
        """
        left, below = first, second
        x, lam = np.zeros_like(first), np.zeros_like(second)
        for k in range(refinements + 1 if self.is_exact else 1):
            if k:
                left = first - self.upper * x - self._adjoint(lam)
                below = second + self._times(x) - self.D * lam
            dx = self._inverse(left - self._adjoint(below / self.lifted), accuracy)
            x = x + dx
            lam = lam + (self._times(dx) + below) / self.lifted
        return x, lam

    def _inverse(self, right: np.ndarray, accuracy: float) -> np.ndarray:
        """(upper + B' lifted^-1 B)^-1 times the right side."""
        if self.is_exact:
            return self.precondition(right)
        w, gram = self.point.w, self.point.dual.differences.quick_gram(1 / self.lifted)
        found: np.ndarray = conjugate_gradients(
            lambda x: self.upper * x + w * gram(w * x),
            self.precondition,
            right,
            accuracy,
            in_preconditioned_norm=True,
        )
        return found

    def _times(self, x: np.ndarray) -> np.ndarray:
        return self.point.dual.differences.times(self.point.w * x)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self.point.w * self.point.dual.differences.adjoint(v)


def _chosen_rows(
    point: InsideWeights, upper: np.ndarray, weights: np.ndarray, most: int
) -> tuple[Any, np.ndarray]:
    """Up to so many rows of B and their weights: those that weigh most, and every so many of the others.

    The others have so many times their weight. What a row weighs is its curvature against that of w.
    """
    if len(weights) <= most:
        return slice(None), weights
    sizes = point.dual.differences.uncanceled.times(point.w / np.sqrt(upper))
    order = np.argsort(-weights * sizes**2, kind="stable")
    heavy, others = order[: most // 2], order[most // 2 :]
    stride = -(-len(others) // (most - most // 2))
    sample = others[stride // 2 :: stride]
    share = len(others) / len(sample)
    chosen = np.concatenate([heavy, sample])
    return chosen, np.concatenate([weights[heavy], share * weights[sample]])


def _factorized(
    B: Any, weights: np.ndarray, upper: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """r -> (diag(upper) + B' diag(weights) B)^-1 r, by the smaller of its two systems."""
    c, d = B.shape
    if d <= c:
        gram = _gram(B, weights)
        gram[np.diag_indices(d)] += upper
        return _scaled_solve(gram)
    # (U + B'WB)^-1 = U^-1 - U^-1 B' (W^-1 + B U^-1 B')^-1 B U^-1, and W^-1 is nearly 0 where a row weighs most.
    small = _gram(B.T, 1 / upper)
    small[np.diag_indices(c)] += 1 / weights
    solve = _scaled_solve(small)
    return lambda r: np.asarray((r - B.T @ solve(B @ (r / upper))) / upper)


def _gram(B: Any, weights: np.ndarray) -> np.ndarray:
    """B' diag(weights) B, for weights above 0."""
    if issparse(B):
        return np.asarray((B.T @ (B * weights[:, None])).toarray())
    return np.asarray(weighted_gram(B, weights))


def _scaled_solve(M: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """r -> M^-1 r, by the factors of M in units that make its diagonal 1."""
    scale = 1 / np.sqrt(M.diagonal())
    factor = cho_factor(scale[:, None] * M * scale, check_finite=False)
    return lambda r: np.asarray(scale * cho_solve(factor, scale * r, check_finite=False))
