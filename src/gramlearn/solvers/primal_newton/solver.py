"""X <- F L L' F' with L L' = I + S, S the Newton direction of the primal: on a path from X0 to the optimum.

    1. begin with a sample of the constraints, with a barrier so strong that X stays next to the prior (see
       `barrier`), and with ramps in place of kinks (see `smoothing`)
    2. take Newton steps until the barrier and the ramps are all that keeps X from the optimum
    3. weaken the barrier, or center the ramps at the prices found and make them narrower, whichever adds more
       to the gap
    4. take four times as many constraints where a sample shows no more, and in the end all that cost something
       or are near their bounds; the gap over these is the gap over all

A full step succeeds nearly always, and any number of constraints come and go with it. The path is long where
prices are large, and short where the optimum is near the prior.
"""

from dataclasses import dataclass, replace
from typing import final

from gramlearn._base.arrays import Array, is_finite, namespace, read
from gramlearn._base.validation import check_count
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.problem import Problem
from gramlearn.problem.status import Status
from gramlearn.solvers.primal_newton.barrier import BarrierPoint
from gramlearn.solvers.primal_newton.beginning import beats_prior, begin_at_prior, begin_near
from gramlearn.solvers.primal_newton.direction import (
    Accuracy,
    newton_direction,
    promised_fall,
    search_along,
)
from gramlearn.solvers.primal_newton.stage import ENOUGH, LAST, NEGLIGIBLE, REFINEMENT
from gramlearn.solvers.primal_newton.state import PrimalState, answered, at_prices, look, look_again
from gramlearn.solvers.solver import Solver, Start

INF = float("inf")
_COARSE_TOL = 0.05  # promised relative fall of the value at which a sample is solved well enough
_WEAKER = 4.0  # the factor by which the barrier falls
_CENTERED = 0.6  # a promised fall of this share of nu r is small enough for a weaker barrier
_KINKED_CENTERED = 0.3  # the same with ramps
_LAST_CENTERED = 0.03  # the same with ramps, where the barrier gets no weaker
_SETTLED = 0.1  # a part of the gap is settled where a step promises less than this share of it
_NARROWER = 1.3  # the factor by which ramps narrow
# The same without a barrier, where the first step of a stage came out as promised up to such a share.
_MUCH_NARROWER, _EASY = 5.0, 0.02
_ACCURACY = 0.1  # residual of the Newton system, far from the optimum
_TRIES = 25  # of the sizes 1, 1/2, 1/4, ... of a step
_ALIKE = 10.0  # a ratio of what barrier and ramps add to the gap, up to which both are changed
_THIN = 0.05  # the least ratio of eigenvalues of X that a sample shows, against its error
_ROUGH = 0.1  # what ramps may add to the relative gap of a sample that is solved well enough
_FAINT = 0.01  # the same for the barrier, which costs little to weaken further
_DRIFT = 0.4  # by how much a t may have changed since the last look, before the next stage
# A given X is of no use where a step promises a fall of so many times the gap that is tolerated, and of what
# the barrier adds to the gap.
_FAR, _OFF_PATH = 30.0, 0.3
_NEAR_END = 3.0  # times the tolerated gap: by so much the quadratic model of a last step may be off


@final
@dataclass(frozen=True)
class PrimalNewton(Solver[PrimalState]):
    """Newton on the primal: any regularizer and prior, losses with a derivative, and hinges.

    Parameters
    ----------
    first : int
        How many constraints that cost nothing yet are kept near, at least.
    sample : int
        Problems of more constraints are first brought near their optimum on a sample: every 4th, 16th, ... of
        them, down to so many or to twice as many as X has entries.
    """

    first: int = 5000
    sample: int = 4000

    default_max_iter = 500

    def __post_init__(self) -> None:
        check_count(self.first, "first")
        check_count(self.sample, "sample")

    def objection(self, problem: Problem) -> str | None:
        if (objection := super().objection(problem)) is not None:
            return objection
        pool, dual = problem.pool, problem.pool.dual
        entries = dual.rank * (dual.rank + 1) // 2
        if pool.size <= entries and not (pool.is_smooth and dual.regularizer.is_self_concordant):
            return (
                f"it has {pool.size} constraints, and except for LogDet without a hinge more are needed than X "
                f"has entries ({entries})"
            )
        return pool.objection()

    def init(self, problem: Problem, start: Start | None, tol: float) -> PrimalState:
        near = None if start is None else begin_near(problem, start, tol, self.first)
        return near or begin_at_prior(problem, self.first, self.sample)

    def step(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        point, stage, dual = state.point, state.stage, problem.pool.dual
        if state.is_given and not beats_prior(problem, state):
            return self.init(problem, None, tol)
        dX, memory = newton_direction(point, self._accuracy(state, tol), state.memory)
        if not is_finite(dX):
            return self._stall(problem, state, tol)
        promise = promised_fall(point, dX)
        if state.is_given:
            tolerated = tol * max(abs(point.primal.value), dual.least)
            of_barrier = dual.rank * (stage.nu + point.stiffness)
            if promise / 2 > max(_FAR * tolerated, _OFF_PATH * of_barrier):
                return self.init(problem, None, tol)
            state = replace(state, is_given=False)
        if stage.width and stage.stride == 1:
            ahead = self._certify_ahead(problem, state, dX, promise, tol)
            if ahead is not None:
                return ahead
        better = search_along(point.along(dX), promise, _TRIES)
        is_still = better is None and promise <= point.noise
        if is_still:
            better = point  # a step changes no digit of the value: the next stage may
        if better is None or not better.is_finite:
            return self._stall(problem, state, tol)
        fall = point.value - better.value
        is_easy = state.is_fresh and abs(fall - promise / 2) <= _EASY * promise / 2
        exact = better.primal.with_kinks()
        drift = 0.0
        if not stage.is_whole:
            drift = state.drift + better.primal.costs.change_from(point.primal.costs)
        state = replace(
            state, point=better, drift=drift, memory=memory, candidate=None, is_fresh=False
        )
        against = max(abs(exact.value), dual.least)
        losses = exact.costs.mismatch if stage.width else 0.0
        of_barrier = dual.rank * stage.nu  # what it adds to the gap, near its optimum
        if stage.stride == 1:
            gap, below = exact.gap, exact.value - exact.gap
            estimate = Certificate(exact.value, below, gap, 0.0, 1.0, dual.least)
            state = replace(state, certificate=estimate)
            if gap <= ENOUGH * tol * against:
                if is_still:
                    return self._stall(problem, state, tol)
                return look_again(problem, state, self.first)
            # Once it is settled, what it does add: more where X is large against the prior.
            if promise <= _SETTLED * (gap - losses):
                of_barrier = max(of_barrier, gap - losses)
        is_last = of_barrier <= 1.5 * LAST * tol * against
        enough = _SETTLED * losses
        if stage.nu:
            share = _CENTERED
            if stage.width:
                share = _LAST_CENTERED if is_last else _KINKED_CENTERED
            strength = point.strength + point.stiffness
            enough = max(enough, share * dual.rank * strength)
        elif stage.stride > 1:
            enough = max(enough, _COARSE_TOL * against)
        if promise / 2 > enough and not is_still:
            return state
        least = stage.nu if is_last else stage.nu * LAST * tol * against / of_barrier
        further = self._advance(problem, state, losses, against, least, is_easy)
        is_stuck = is_still and further.stage is stage
        return self._stall(problem, state, tol) if is_stuck else further

    def settle(self, problem: Problem, state: PrimalState) -> PrimalState:
        return look_again(problem, state, self.first)

    def _accuracy(self, state: PrimalState, tol: float) -> Accuracy:
        """The residual to which the next Newton system is solved."""
        stage, point = state.stage, state.point
        dual = point.primal.dual
        against, rank = max(abs(point.primal.value), dual.least), dual.rank
        if stage.stride > 1 or rank * stage.nu > 1.5 * LAST * tol * against:
            return Accuracy(_ACCURACY)
        # The gap after a step is about half the squared residual that it leaves, in the norm of Phi.
        xp, R = namespace(point.residual), point.residual
        size = read(xp.sum(point.softness * R**2)) ** 0.5
        least = (0.4 * tol * against) ** 0.5 / size if size > 0 else 1.0
        if stage.width:
            losses = point.primal.costs.with_kinks().mismatch
            fine = min(max(least, 1e-3), _ACCURACY)
            return Accuracy(_ACCURACY, fine, ENOUGH * tol * against - losses, certifies_x=True)
        forcing = min(_ACCURACY, (point.gap / against) ** 0.5) if against > 0 else _ACCURACY
        # That holds for small residuals. A large value may allow a gap at which they are not small.
        usual = min(max(least, forcing, 1e-6), _ACCURACY)
        return Accuracy(usual, min(usual, max(least, 1e-6)), _NEAR_END * tol * against)

    def _advance(
        self,
        problem: Problem,
        state: PrimalState,
        losses: float,
        against: float,
        least: float,
        is_easy: bool,
    ) -> PrimalState:
        """The next stage: more constraints, a weaker barrier, or narrower ramps around the present prices.

        Of the last two, that which keeps X farther from the optimum, or both. The barrier becomes no weaker
        than `least`.
        """
        stage, point = state.stage, state.point
        regularizer, rank, nu = problem.pool.dual.regularizer, problem.pool.dual.rank, stage.nu
        is_done = losses <= _ROUGH * against and rank * nu <= _FAINT * against
        if stage.stride > 1 and (is_done or self._shows_no_more(state)):
            stage = replace(stage, stride=max(1, stage.stride // REFINEMENT), prices=None)
        weakens = nu > least and losses <= _ALIKE * nu * rank
        narrows = stage.width > 0 and stage.stride == state.stage.stride
        if weakens:
            weaker = max(nu / _WEAKER, least)
            # Where X may become singular, nothing else than the barrier keeps it from that.
            # More constraints may make it thinner than the sample did.
            is_faint = weaker <= NEGLIGIBLE * point.stiffness
            is_known = stage.stride == state.stage.stride
            if regularizer.keeps_range and is_faint and is_known:
                weaker = 0.0
            stage = replace(stage, nu=weaker)
        if narrows and (not weakens or nu * rank <= _ALIKE * losses):
            prices = stage.working.everywhere(point.primal.costs)
            factor = _MUCH_NARROWER if is_easy and not nu else _NARROWER
            stage = replace(stage, width=stage.width / factor, prices=prices)
        drifted = state.drift > _DRIFT and not stage.is_whole
        if drifted or stage.stride != state.stage.stride:
            looked = look(problem.pool, point.primal.at, stage, point.x0, self.first)
            looked = replace(looked, point=replace(looked.point, held=nu), memory=state.memory)
            return replace(
                looked, stages=state.stages + 1, certificate=state.certificate, is_fresh=True
            )
        primal = point.primal
        if stage.width != state.stage.width:
            stage = replace(stage, working=stage.working.narrowed(stage.width, stage.prices))
            primal = primal.with_costs(stage.working.costs_again(primal.costs))
        point = BarrierPoint(primal, stage.nu, point.x0, held=nu)
        return replace(state, stage=stage, point=point, stages=state.stages + 1, is_fresh=True)

    def _shows_no_more(self, state: PrimalState) -> bool:
        """Whether X is so thin in a direction that the error of a sample matters, which is entries / size."""
        primal, stage = state.point.primal, state.stage
        _, s = primal.at.axes
        entries = primal.dual.rank * (primal.dual.rank + 1) / 2
        return read(s[-1]) ** 2 * stage.working.size < _THIN * entries * read(s[0]) ** 2

    def _certify_ahead(
        self, problem: Problem, state: PrimalState, dX: Array, promise: float, tol: float
    ) -> PrimalState | None:
        """The answer at X with the prices of the next step, if these prove that X is good enough.

        A constraint that leaves its ramp in a step changes the prices by leaps, and with large prices the dual
        of the next X may not even exist. The prices that the Newton model predicts do not leap.
        """
        stage, primal = state.stage, state.point.primal
        tolerated = ENOUGH * tol * max(abs(primal.value), primal.dual.least)
        if promise / 2 + primal.costs.with_kinks().mismatch > tolerated:
            return None
        ahead = primal.ahead(dX)
        if not ahead.gap <= tolerated:
            return None
        prices = stage.working.everywhere(ahead.costs)
        if not stage.is_whole:
            looked = look(problem.pool, primal.at, stage, state.point.x0, self.first)
            state = replace(looked, stages=state.stages + 1)
        state = answered(state, at_prices(state, prices))
        return state if state.status(tol) is not None else None

    def _stall(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        """No step lowers the value: certify what there is, and say so."""
        state = look_again(problem, state, self.first)
        return state if state.status(tol) is not None else replace(state, ending=Status.STALLED)
