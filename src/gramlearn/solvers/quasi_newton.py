"""lam <- clip(lam + s H g): quasi-Newton steps on a sparse dual, for kernels over many points.

g is the gradient of the dual, H the inverse Hessian that limited-memory BFGS builds from the last few steps, on
the variables that are not held at an end of their box; s is 1, or less where the dual does not rise enough. A
step computes the positive eigenvalues of a sparse matrix, starting from those of the last step. (Z11 takes
gradient steps of a fixed length.) Where the problem has a capacity B, tr X^p <= B replaces tr X^p / p.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import is_numpy
from gramlearn._base.validation import check_count
from gramlearn.problem.dual import Part
from gramlearn.problem.problem import Problem
from gramlearn.problem.sparse_dual import SparseDual, SparsePoint
from gramlearn.problem.status import Status
from gramlearn.solvers.line_search import Step, line_search
from gramlearn.solvers.loop import State
from gramlearn.solvers.solver import Answer, Solver, Start

_TRIES, _MORE_TRIES = 4, 17  # of the sizes 1, 1/4, 1/16, ... of a step
_SHARE = 0.05  # the largest share of the gap that errors of eigenvalues may make up


@final
@dataclass(frozen=True, eq=False)
class QuasiNewtonState(State):
    """A lam, and the last steps with what they did to the gradient."""

    sparse: SparseDual
    point: SparsePoint
    steps: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    evaluations: int = 1

    @property
    def details(self) -> Mapping[str, Any]:
        details: dict[str, Any] = {"evaluations": self.evaluations}
        if self.point.value > -np.inf:
            details |= {"rank": self.point.part.theta.shape[0], "price": self.point.price}
        return details


@final
@dataclass(frozen=True)
class QuasiNewton(Solver[QuasiNewtonState]):
    """Limited-memory BFGS on the dual of a sparse problem, projected on its box.

    Parameters
    ----------
    memory : int
        How many steps are remembered.

    Where the problem bounds its capacity, the details of the history have the `price` that would do the same.
    """

    memory: int = 12

    default_max_iter = 1000

    def __post_init__(self) -> None:
        check_count(self.memory, "memory")

    def objection(self, problem: Problem) -> str | None:
        dual = problem.dual
        if not is_numpy(dual.like):
            return "sparse matrices are SciPy's, with NumPy arrays only"
        phi = dual.regularizer
        if phi.keeps_range or np.any(phi.conjugate(np.asarray([-1.0, 0.0]))):
            return f"{type(phi).__name__} needs more than the positive eigenvalues of Y"
        if problem.space.basis is not None:
            return "the prior is not diagonal, so that Y is not sparse"
        fixed = [part.map for part, _ in dual.origin.fixed]
        if any(part.map.nonzeros() is None for part in dual.parts) or any(
            linear.nonzeros() is None and linear.few_rank_ones() is None for linear in fixed
        ):
            return "constraints on `points` or with dense matrices make Y dense"
        return None

    def init(self, problem: Problem, start: Start | None, tol: float) -> QuasiNewtonState:
        dual = problem.dual
        if start is not None:
            pieces = start.duals
        elif problem.capacity is None:
            pieces = [np.zeros(part.size) for part in dual.parts]
        else:
            # A norm bound scales the positive part of Y, so there must be one.
            pieces = [_price_of_zero(part) for part in dual.parts]
        lo, _ = dual.box
        lam = np.clip(np.concatenate([*pieces, np.zeros(0)]), lo, dual.ceiling(np.zeros(dual.size)))
        sparse = SparseDual(problem)
        point = SparsePoint(sparse, lam, None, _accuracy(tol, 1.0))
        if point.value == -np.inf:
            return QuasiNewtonState(sparse, point, ending=Status.OVERFLOW)
        return _with_candidate(QuasiNewtonState(sparse, point), problem)

    def step(self, problem: Problem, state: QuasiNewtonState, tol: float) -> QuasiNewtonState:
        point = state.point
        lo, hi = problem.dual.box
        ceiling = problem.dual.ceiling(point.lam)
        g = point.gradient
        free = ~(((point.lam <= lo) & (g < 0)) | ((point.lam >= hi) & (g > 0)))
        uphill = np.where(free, g, 0.0)
        accuracy = _accuracy(tol, point.certificate.relative_gap)
        other, evaluations = None, state.evaluations

        def take(size: float) -> Step | None:
            nonlocal evaluations
            lam = np.clip(point.lam + size * direction, lo, ceiling)
            promise = float(g @ (lam - point.lam))
            if promise < 0:
                return None
            tried = SparsePoint(state.sparse, lam, point, accuracy)
            evaluations += 1
            if tried.value == -np.inf:
                # Outside the domain of a loss*, or so far out that something overflows.
                return Step(None, -np.inf, promise)
            noise = point.certificate.gap * 1e-3 + tried.value_error
            return Step(tried, tried.value - point.value + noise, promise)

        # Where steps from before an end of the box was met mislead, the last step and g itself remain.
        for steps, tries in ((state.steps, _TRIES), (state.steps[-1:], _MORE_TRIES)):
            direction = _uphill(uphill, steps, free)
            # The noise is part of the rise of each step.
            other = line_search(take, point, -np.inf, tries=tries, shrink=0.25)
            if other is not None:
                break
        if other is None:
            return replace(state, ending=Status.STALLED)
        moved, bent = other.lam - point.lam, point.gradient - other.gradient
        steps = (*steps, (moved, bent))[-self.memory :]
        state = replace(state, point=other, steps=steps, evaluations=evaluations)
        return _with_candidate(state, problem)

    def settle(self, problem: Problem, state: QuasiNewtonState) -> QuasiNewtonState:
        return state if state.point.value == -np.inf else _with_candidate(state, problem)


def _accuracy(tol: float, gap: float) -> float:
    """How accurate eigenvalues must be, at this gap and this tolerance: a small share of the gap."""
    return float(np.clip(_SHARE * gap, max(_SHARE * tol, 1e-12), _SHARE * max(tol, 1e-3)))


def _price_of_zero(part: Part) -> np.ndarray:
    """The lam of X = 0: the derivative of the loss, or an end of the box where it has a kink."""
    zero = np.zeros(part.size)
    if part.loss.is_smooth:
        return np.asarray(part.loss.price(part.offset + zero))
    lo, hi = part.loss.box(zero, part.size)
    slope = part.offset - part.loss.conjugate_derivative(zero)
    end = np.where(slope > 0, hi, lo)
    return np.where(np.isfinite(end) & (slope != 0), end, 0.0)


def _uphill(
    g: np.ndarray, steps: tuple[tuple[np.ndarray, np.ndarray], ...], free: np.ndarray
) -> np.ndarray:
    """H g on the free variables, by the two loops of limited-memory BFGS."""
    kept = []
    for moved, bent in steps:
        s, y = moved * free, bent * free
        sy = float(s @ y)
        # Only steps that show curvature of the right sign keep H positive definite.
        if sy > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            kept.append((s, y, sy))
    q, weights = g.copy(), []
    for s, y, sy in reversed(kept):
        weights.append(float(s @ q) / sy)
        q -= weights[-1] * y
    if kept:
        _, y, sy = kept[-1]
        q *= sy / float(y @ y)
    for (s, y, sy), weight in zip(kept, reversed(weights), strict=True):
        q += (weight - float(y @ q) / sy) * s
    return q


def _with_candidate(state: QuasiNewtonState, problem: Problem) -> QuasiNewtonState:
    """The state with the certificate of its point."""
    point = state.point
    rows, values = problem.dual.every_row, problem.dual.split(point.lam)
    answer = Answer(point.certificate, point.factor, rows, values)
    return replace(state, certificate=answer.certificate, candidate=answer)
