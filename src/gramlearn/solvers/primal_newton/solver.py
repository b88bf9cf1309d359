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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    count_true,
    eye,
    is_array,
    is_finite,
    machine_eps,
    namespace,
    read,
)
from gramlearn._base.validation import check_count
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.dual import Dual
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.scan import near_rows
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import State
from gramlearn.solvers.primal_newton.barrier import BarrierPoint
from gramlearn.solvers.primal_newton.direction import (
    Accuracy,
    newton_direction,
    promised_fall,
    search_along,
)
from gramlearn.solvers.primal_newton.memory import Memory
from gramlearn.solvers.primal_newton.smoothing import can_be_smoothed
from gramlearn.solvers.primal_newton.stage import Stage
from gramlearn.solvers.solver import Answer, Solver, Start
from gramlearn.solvers.working_set.infeasibility import end_infeasible, find_impossible

INF = float("inf")
_REFINEMENT = 4  # how many times more constraints are looked at next
_COARSE_TOL = 0.05  # promised relative fall of the value at which a sample is solved well enough
_STRAIN = 2.0  # by how much the first step may change X, against its own size
_WEAKER = 4.0  # the factor by which the barrier falls
_CENTERED = 0.6  # a promised fall of this share of nu r is small enough for a weaker barrier
_KINKED_CENTERED = 0.3  # the same with ramps
_LAST_CENTERED = 0.03  # the same with ramps, where the barrier gets no weaker
_LAST = 0.3  # share of the tolerated gap that the barrier may make in the end
_SETTLED = 0.1  # a part of the gap is settled where a step promises less than this share of it
_NEGLIGIBLE = 0.5  # a barrier of this share of the divergence's second derivative is left out
_WIDTH = 0.25  # of the first ramps, in the unit of their t
_NARROWER = 1.3  # the factor by which they narrow
_WARM_WIDTH = 0.02  # of the ramps where duals are given
_ACCURACY = 0.1  # residual of the Newton system, far from the optimum
_TRIES = 25  # of the sizes 1, 1/2, 1/4, ... of a step
_ALIKE = 10.0  # a ratio of what barrier and ramps add to the gap, up to which both are changed
_THIN = 0.05  # the least ratio of eigenvalues of X that a sample shows, against its error
_ROUGH = 0.1  # what ramps may add to the relative gap of a sample that is solved well enough
_FAINT = 0.01  # the same for the barrier, which costs little to weaken further
_DRIFT = 0.1  # by how much a t may have changed since the last look, before the next stage
_MOST = 0.75  # where this share of the constraints matters, all are taken: they need not be looked for again
# A given X is of no use where a step promises a fall of so many times the gap that is tolerated, and of what
# the barrier adds to the gap.
_FAR, _OFF_PATH = 30.0, 0.3
_NEAR_END = 3.0  # times the tolerated gap: by so much the quadratic model of a last step may be off
_FLOOR = 1e-10  # the least eigenvalue of X to start with, against the largest


@final
@dataclass(frozen=True, eq=False)
class PrimalState(State):
    """The stage and the point, and how far X went since the last look at the constraints.

    The primal of the details is that of the stage, and falls until the next. The gap is an estimate between two
    looks at all constraints.
    """

    stage: Stage
    point: BarrierPoint
    stages: int = 0
    drift: float = 0.0
    memory: Memory | None = None
    is_given: bool = False  # X was given, and may be far from the path

    @property
    def details(self) -> Mapping[str, Any]:
        return {
            "working": self.point.primal.dual.size,
            "active": count_true(self.point.primal.lam != 0),
            "stages": self.stages,
            "barrier": self.stage.nu,
            "primal": self.point.value,
            "is_estimate": self.candidate is None and not self.stage.is_whole,
        }


@final
@dataclass(frozen=True)
class PrimalNewton(Solver[PrimalState]):
    """Newton on the primal: any regularizer and prior, losses with a derivative, and hinges.

    Parameters
    ----------
    first : int
        How many constraints that cost nothing yet are kept near, at least.
    sample : int
        Problems of more constraints are first brought near their optimum on a sample of at least so many, and
        of four times as many as X has entries.
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
        dual = problem.dual
        is_smooth = all(part.loss.is_smooth for part in dual.parts)
        entries = dual.rank * (dual.rank + 1) // 2
        if dual.size <= entries and not (is_smooth and dual.regularizer.is_self_concordant):
            return (
                f"it has {dual.size} constraints, and except for LogDet without a hinge more are needed than X "
                f"has entries ({entries})"
            )
        for part in dual.parts:
            name = type(part.loss).__name__
            if not (part.loss.is_smooth or can_be_smoothed(part, dual.like)):
                return f"{name} has no derivative everywhere, and is no hinge"
            # Where t may be zero or less, such a loss is infinite, at the start or later.
            offset = part.offset
            is_positive = (
                bool(namespace(offset).all(offset >= 0)) if is_array(offset) else offset >= 0
            )
            if part.size and part.loss.has_domain and not (part.map.is_nonnegative and is_positive):
                return f"{name} is infinite for some t that these constraints may have"
        return None

    def init(self, problem: Problem, start: Start | None, tol: float) -> PrimalState:
        if start is not None and (near := self._begin_near(problem, start, tol)) is not None:
            return near
        dual, x0, stride = problem.dual, _reference(problem), 1
        entries = dual.rank * (dual.rank + 1) // 2
        while dual.size > max(self.sample, 4 * entries) * stride:
            stride *= _REFINEMENT
        at = dual.regularizer.at_gradient(eye(dual.rank, x0) * namespace(x0).sqrt(x0))
        state = self._look(problem, at, Stage(stride, 0.0, _width(dual, _WIDTH), [], dual), x0)
        if not state.point.is_finite:
            return _refuse(problem, state)
        return _with_barrier(state, _first_barrier(state.point))

    def _begin_near(self, problem: Problem, start: Start, tol: float) -> PrimalState | None:
        """The state at a given X, or at X(lam); None where there is none."""
        dual, x0 = problem.dual, _reference(problem)
        at = _point_of(dual, start)
        if at is None:
            return None
        stage = Stage(1, 0.0, _width(dual, _WARM_WIDTH), [], dual, centers=list(start.duals))
        priced = sum(count_true(lam != 0) for lam in start.duals)
        state = self._look(problem, at, stage, x0, everywhere=2 * priced > dual.size)
        point = state.point
        if not point.is_finite:
            return None
        if start.is_answer:
            # At its own prices, so that it is not lost where nothing better is found.
            state = _answered(state, _at_prices(state, start.duals))
        exact = point.primal.with_losses(state.stage.exact)
        if exact.gap <= 0.8 * tol * max(abs(exact.value), dual.least):
            return self._look_again(problem, state)
        if dual.regularizer.is_own_barrier:
            return replace(state, is_given=True)
        if not exact.gap < INF:
            return replace(_with_barrier(state, _first_barrier(point)), is_given=True)
        # The barrier for which X is next to the optimum, if it is that for any.
        nu = max(exact.gap, _LAST * tol * abs(exact.value)) / dual.rank
        if dual.regularizer.keeps_range and nu <= _NEGLIGIBLE * point.stiffness:
            nu = 0.0
        return replace(_with_barrier(state, nu), is_given=True)

    def step(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        point, stage = state.point, state.stage
        dX, memory = newton_direction(point, self._accuracy(state, tol), state.memory)
        if not is_finite(dX):
            return self._stall(problem, state, tol)
        promise = promised_fall(point, dX)
        if state.is_given:
            tolerated = tol * max(abs(point.primal.value), stage.exact.least)
            of_barrier = stage.exact.rank * (stage.nu + point.stiffness)
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
        exact = better.primal.with_losses(stage.exact)
        drift = 0.0 if stage.is_whole else state.drift + _change(point, better)
        state = replace(state, point=better, drift=drift, memory=memory, candidate=None)
        against = max(abs(exact.value), stage.exact.least)
        losses = stage.exact.gap(exact.t, exact.lam) if stage.width else 0.0
        of_barrier = stage.exact.rank * stage.nu  # what it adds to the gap, near its optimum
        if stage.stride == 1:
            gap, dual = exact.gap, exact.value - exact.gap
            estimate = Certificate(exact.value, dual, gap, 0.0, 1.0, stage.exact.least)
            state = replace(state, certificate=estimate)
            if gap <= 0.8 * tol * against:
                if is_still:
                    return self._stall(problem, state, tol)
                return self._look_again(problem, state)
            # Once it is settled, what it does add: more where X is large against the prior.
            if promise <= _SETTLED * (gap - losses):
                of_barrier = max(of_barrier, gap - losses)
        is_last = of_barrier <= 1.5 * _LAST * tol * against
        enough = _SETTLED * losses
        if stage.nu:
            share = _CENTERED
            if stage.width:
                share = _LAST_CENTERED if is_last else _KINKED_CENTERED
            strength = point.strength + point.stiffness
            enough = max(enough, share * stage.exact.rank * strength)
        elif stage.stride > 1:
            enough = max(enough, _COARSE_TOL * against)
        if promise / 2 > enough and not is_still:
            return state
        least = stage.nu if is_last else stage.nu * _LAST * tol * against / of_barrier
        further = self._advance(problem, state, losses, against, least)
        is_stuck = is_still and further.stage is stage
        return self._stall(problem, state, tol) if is_stuck else further

    def settle(self, problem: Problem, state: PrimalState) -> PrimalState:
        return self._look_again(problem, state)

    def _accuracy(self, state: PrimalState, tol: float) -> Accuracy:
        """The residual to which the next Newton system is solved."""
        stage, point = state.stage, state.point
        against = max(abs(point.primal.value), stage.exact.least)
        rank = stage.exact.rank
        if stage.stride > 1 or rank * stage.nu > 1.5 * _LAST * tol * against:
            return Accuracy(_ACCURACY)
        # The gap after a step is about half the squared residual that it leaves, in the norm of Phi.
        xp, R = namespace(point.residual), point.residual
        size = read(xp.sum(point.softness * R**2)) ** 0.5
        least = (0.4 * tol * against) ** 0.5 / size if size > 0 else 1.0
        if stage.width:
            losses = stage.exact.gap(point.primal.t, point.primal.lam)
            fine = min(max(least, 1e-3), _ACCURACY)
            return Accuracy(_ACCURACY, fine, 0.8 * tol * against - losses, foresees=True)
        forcing = min(_ACCURACY, (point.gap / against) ** 0.5) if against > 0 else _ACCURACY
        # That holds for small residuals. A large value may allow a gap at which they are not small.
        usual = min(max(least, forcing, 1e-6), _ACCURACY)
        return Accuracy(usual, min(usual, max(least, 1e-6)), _NEAR_END * tol * against)

    def _advance(
        self, problem: Problem, state: PrimalState, losses: float, against: float, least: float
    ) -> PrimalState:
        """The next stage: more constraints, a weaker barrier, or narrower ramps around the present prices.

        Of the last two, that which keeps X farther from the optimum, or both. The barrier becomes no weaker
        than `least`.
        """
        stage, point = state.stage, state.point
        rank, nu = stage.exact.rank, stage.nu
        is_done = losses <= _ROUGH * against and rank * nu <= _FAINT * against
        if stage.stride > 1 and (is_done or self._shows_no_more(state)):
            stage = replace(stage, stride=max(1, stage.stride // _REFINEMENT), centers=None)
        weakens = nu > least and losses <= _ALIKE * nu * rank
        narrows = stage.width > 0 and stage.stride == state.stage.stride
        if weakens:
            weaker = max(nu / _WEAKER, least)
            # Where X may become singular, nothing else than the barrier keeps it from that.
            if stage.exact.regularizer.keeps_range and weaker <= _NEGLIGIBLE * point.stiffness:
                weaker = 0.0
            stage = replace(stage, nu=weaker)
        if narrows and (not weakens or nu * rank <= _ALIKE * losses):
            centers = stage.all_prices(point.primal, problem.dual)
            stage = replace(stage, width=stage.width / _NARROWER, centers=centers)
        drifted = state.drift > _DRIFT and not stage.is_whole
        if drifted or stage.stride != state.stage.stride:
            looked = self._look(problem, point.primal.at, stage, point.x0)
            looked = replace(looked, point=replace(looked.point, held=nu), memory=state.memory)
            return replace(looked, stages=state.stages + 1, certificate=state.certificate)
        primal = point.primal
        if stage.width != state.stage.width:
            primal = primal.repriced(stage.smooth())
        point = BarrierPoint(primal, stage.nu, point.x0, held=nu)
        return replace(state, stage=stage, point=point, stages=state.stages + 1)

    def _shows_no_more(self, state: PrimalState) -> bool:
        """Whether X is so thin in a direction that the error of a sample matters, which is entries / size."""
        primal, stage = state.point.primal, state.stage
        _, s = primal.at.axes
        entries = stage.exact.rank * (stage.exact.rank + 1) / 2
        size = sum(int(rows.shape[0]) for rows in stage.rows)
        return read(s[-1]) ** 2 * size < _THIN * entries * read(s[0]) ** 2

    def _look(
        self,
        problem: Problem,
        at: ConjugatePoint,
        stage: Stage,
        x0: Array,
        *,
        everywhere: bool = False,
    ) -> PrimalState:
        """Find the constraints that matter at X, all or among a sample; `everywhere`, all do."""
        dual = problem.dual
        rows = dual.every_row if everywhere else near_rows(dual, at, stage.stride, self.first)
        if stage.stride == 1 and sum(int(r.shape[0]) for r in rows) >= _MOST * dual.size:
            rows = dual.every_row
        stage = stage.over(rows, dual)
        primal = PrimalPoint(stage.smooth(), at)
        return PrimalState(stage, BarrierPoint(primal, stage.nu, x0))

    def _look_again(self, problem: Problem, state: PrimalState) -> PrimalState:
        """Certify X over all constraints, at the prices it has, and go on with those that matter."""
        stage, primal = state.stage, state.point.primal
        if stage.stride > 1 or not stage.is_whole:
            # A constraint of which nothing is known yet has no price.
            centers = None if stage.stride > 1 else stage.all_prices(primal, problem.dual)
            stage = replace(stage, stride=1, centers=centers)
            looked = self._look(problem, primal.at, stage, state.point.x0)
            state = replace(looked, stages=state.stages + 1, memory=state.memory)
            stage, primal = state.stage, state.point.primal
        if not state.point.is_finite:
            return _refuse(problem, state)
        return _answered(state, primal.with_losses(stage.exact))

    def _certify_ahead(
        self, problem: Problem, state: PrimalState, dX: Array, promise: float, tol: float
    ) -> PrimalState | None:
        """The answer at X with the prices of the next step, if these prove that X is good enough.

        A constraint that leaves its ramp in a step changes the prices by leaps, and with large prices the dual
        of the next X may not even exist. To first order the prices that Newton foresees have none of this.
        """
        stage, primal = state.stage, state.point.primal
        tolerated = 0.8 * tol * max(abs(primal.value), stage.exact.least)
        if promise / 2 + stage.exact.gap(primal.t, primal.lam) > tolerated:
            return None
        ahead = primal.foreseeing(stage.exact, dX)
        if not ahead.gap <= tolerated:
            return None
        duals = stage.all_prices(ahead, problem.dual)
        if not stage.is_whole:
            looked = self._look(problem, primal.at, stage, state.point.x0)
            state = replace(looked, stages=state.stages + 1)
        state = _answered(state, _at_prices(state, duals))
        return state if state.status(tol) is not None else None

    def _stall(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        """No step lowers the value: certify what there is, and say so."""
        state = self._look_again(problem, state)
        return state if state.status(tol) is not None else replace(state, ending=Status.STALLED)


def _reference(problem: Problem) -> Array:
    """The spectrum of the prior; where it is zero up to rounding, the size at which t is about its bound."""
    s, xp = problem.space.spectrum, namespace(problem.space.spectrum)
    is_zero = s <= problem.dual.rank * machine_eps(s) * read(xp.max(s))
    if problem.regularizer.keeps_range or not bool(xp.any(is_zero)):
        return s
    one = xp.ones_like(s)
    return xp.where(is_zero, problem.dual.multiple_at_bounds(one) * one, s)


def _width(dual: Dual, width: float) -> float:
    """That of the first ramps, or 0 where no loss has a kink."""
    return 0.0 if all(part.loss.is_smooth for part in dual.parts) else width


def _first_barrier(point: BarrierPoint) -> float:
    """The strength with which the first step moves X by no more than it should."""
    return max(point.strain / _STRAIN - point.stiffness, 0.0)


def _change(here: BarrierPoint, there: BarrierPoint) -> float:
    """The largest change of a t, against its size or a tenth of the usual size."""
    dual, xp = here.primal.dual, namespace(here.primal.t)
    if not dual.size:
        return 0.0
    change = dual.each(
        lambda part, s, t: xp.abs(t - s) / (xp.abs(s) + xp.abs(t) + 0.1 * part.unit),
        here.primal.t,
        there.primal.t,
    )
    return 2 * read(xp.max(change))


def _refuse(problem: Problem, state: PrimalState) -> PrimalState:
    """A constraint costs infinity at X: prove that no X can change that, or leave it to another solver."""
    stage, primal = state.stage, state.point.primal
    pieces = zip(stage.exact.parts, stage.exact.split(primal.t), stage.rows, strict=True)
    lost = [rows[namespace(t).isinf(part.loss.value(t))] for part, t, rows in pieces]
    proof = find_impossible(problem, lost)
    if proof is None:
        return replace(state, ending=Status.STALLED)
    found = primal.at.factor, -INF, INF
    ended: PrimalState = end_infeasible(problem, state, problem.dual.every_row, proof, found)
    return ended


def _with_barrier(state: PrimalState, nu: float) -> PrimalState:
    point = BarrierPoint(state.point.primal, nu, state.point.x0)
    return replace(state, stage=replace(state.stage, nu=nu), point=point)


def _at_prices(state: PrimalState, duals: Sequence[Array]) -> PrimalPoint:
    """The same X at these prices of all constraints, in place of its own."""
    exact, primal = state.stage.exact, state.point.primal
    pieces = zip(duals, state.stage.rows, strict=True)
    lam = clipped(concat([lam[rows] for lam, rows in pieces], primal.t), *exact.box)
    return PrimalPoint(exact, primal.at, lam, primal)


def _answered(state: PrimalState, primal: PrimalPoint) -> PrimalState:
    """The state with this X, at these prices, as an answer with its certificate."""
    stage = state.stage
    certificate, lam = primal.certify()
    answer = Answer(certificate, primal.at.factor, stage.rows, stage.exact.split(lam))
    return replace(state, certificate=certificate, candidate=answer)


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
