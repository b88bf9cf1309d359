"""X0, a given X or X(lam), and the nu with which the first step moves it by no more than twice its size.

A given X may come from another price, or from a solve that was cut short. It then lies near the optimum with a
barrier that makes as large a gap as X has.
"""

from dataclasses import replace

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    count_true,
    eye,
    machine_eps,
    namespace,
    read,
)
from gramlearn.problem.dual import Dual
from gramlearn.problem.pool import Pool
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.primal_newton.barrier import BarrierPoint
from gramlearn.solvers.primal_newton.stage import ENOUGH, LAST, NEGLIGIBLE, REFINEMENT, Stage
from gramlearn.solvers.primal_newton.state import (
    PrimalState,
    answered,
    at_prices,
    look,
    look_again,
    refuse,
)
from gramlearn.solvers.solver import Start

INF = float("inf")
_STRAIN = 2.0  # by how much the first step may change X, against its own size
_WIDTH = 0.25  # of the first ramps, in the unit of their t
_WARM_WIDTH = 0.02  # of the ramps where duals are given
_PER_ENTRY = 2  # constraints of the first sample for each entry of X
_USELESS = 0.1  # a given X of such a relative gap helps less than the prior
_FLOOR = 1e-10  # the least eigenvalue of X to start with, against the largest


def begin_at_prior(problem: Problem, first: int, sample: int) -> PrimalState:
    """The state at the prior, on a sample of the constraints, with a barrier that keeps X there."""
    pool, x0, stride = problem.pool, reference(problem), 1
    entries = pool.dual.rank * (pool.dual.rank + 1) // 2
    while pool.size > max(sample, _PER_ENTRY * entries) * stride:
        stride *= REFINEMENT
    at = _prior_point(pool.dual, x0)
    state = look(pool, at, Stage(stride, 0.0, _width(pool, _WIDTH)), x0, first)
    if not state.point.is_finite:
        return refuse(problem, state)
    return _with_barrier(state, _first_barrier(state.point))


def begin_near(problem: Problem, start: Start, tol: float, first: int) -> PrimalState | None:
    """The state at a given X, or at X(lam); None where there is none."""
    pool, x0 = problem.pool, reference(problem)
    dual = pool.dual
    at = _point_of(dual, start)
    if at is None:
        return None
    stage = Stage(1, 0.0, _width(pool, _WARM_WIDTH), start.duals or None)  # ramps go through them
    priced = sum(count_true(lam != 0) for lam in start.duals or ())
    state = look(pool, at, stage, x0, first, everywhere=2 * priced > pool.size)
    point = state.point
    if not point.is_finite:
        return None
    if start.is_answer:
        # At its own prices, so that it is not lost where nothing better is found.
        state = answered(state, at_prices(state, start.duals))
    exact = point.primal.with_kinks()
    if exact.gap <= ENOUGH * tol * max(abs(exact.value), dual.least):
        return look_again(problem, state, first)
    state = replace(state, is_given=True)
    if dual.regularizer.is_own_barrier or not exact.gap < INF:
        return state
    # The barrier for which X is next to the optimum, if it is that for any.
    nu = max(exact.gap, LAST * tol * abs(exact.value)) / dual.rank
    if dual.regularizer.keeps_range and nu <= NEGLIGIBLE * point.stiffness:
        nu = 0.0
    return _with_barrier(state, nu)


def beats_prior(problem: Problem, state: PrimalState) -> bool:
    """Whether a given X is a better start than the prior."""
    dual = problem.pool.dual
    exact = state.point.primal.with_kinks()
    if not dual.regularizer.is_own_barrier:
        return exact.gap <= _USELESS * max(abs(exact.value), dual.least)
    # No X(lam) is singular here, so that most X far from the optimum have an infinite gap: the value decides.
    at = _prior_point(dual, state.point.x0)
    prior = PrimalPoint(dual, at, problem.pool.every_cost(at))
    return exact.value <= prior.value


def reference(problem: Problem) -> Array:
    """The spectrum of the prior; where it is zero up to rounding, the size at which t is about its bound."""
    s, xp = problem.space.spectrum, namespace(problem.space.spectrum)
    is_zero = s <= problem.pool.dual.rank * machine_eps(s) * read(xp.max(s))
    if problem.regularizer.keeps_range or not bool(xp.any(is_zero)):
        return s
    one = xp.ones_like(s)
    return xp.where(is_zero, problem.pool.multiple_at_bounds(one) * one, s)


def _prior_point(dual: Dual, x0: Array) -> ConjugatePoint:
    return dual.regularizer.at_gradient(eye(dual.rank, x0) * namespace(x0).sqrt(x0))


def _width(pool: Pool, width: float) -> float:
    """That of the first ramps, or 0 where no loss has a kink."""
    return 0.0 if pool.is_smooth else width


def _first_barrier(point: BarrierPoint) -> float:
    """The strength with which the first step moves X by no more than it should."""
    return max(point.strain / _STRAIN - point.stiffness, 0.0)


def _with_barrier(state: PrimalState, nu: float) -> PrimalState:
    point = BarrierPoint(state.point.primal, nu, state.point.x0)
    return replace(state, stage=replace(state.stage, nu=nu), point=point)


def _point_of(dual: Dual, start: Start) -> ConjugatePoint | None:
    """X; where only lam is known X(lam), kept away from singular, or None where it does not exist."""
    if start.factor is not None:
        return dual.regularizer.at_gradient(start.factor)
    lam = clipped(concat(list(start.duals), dual.like), *dual.box)
    at = dual.regularizer.at(dual.origin.matrix - dual.adjoint(lam))
    if not abs(at.value) < INF:
        return None
    xp, x = namespace(at.spectrum), at.spectrum
    largest = xp.max(x)
    if not read(largest) > 0:
        return None
    x = xp.maximum(x, _FLOOR * largest)
    return dual.regularizer.at_gradient(at.frame * xp.sqrt(x))
