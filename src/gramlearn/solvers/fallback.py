"""Try solvers one after another, until one of them finds an answer.

A stage is a problem and a solver with its limit of iterations. All stages have the same problem, except for its
precision: where single precision fails, double precision may continue.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

from gramlearn._base.arrays import concat
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.losses import Linear
from gramlearn.problem.problem import Problem
from gramlearn.problem.refutation import Refutation
from gramlearn.problem.solution import Solution
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Attempt, Method, Run, State
from gramlearn.solvers.solver import Answer, Solver, Solving, Start

INF = float("inf")
_FAILED_IN_SINGLE = 3e-4  # a gap or violation above which double precision continues
_SINGLE_ROUNDING = 2e-6  # 16 rounding errors of single precision
_ROUNDING = 1e-9  # a relative gap that no solver makes smaller


class Stage(NamedTuple):
    """A solver to try, with its limit of iterations."""

    problem: Problem
    solver: Solver[Any]
    max_iter: float


class StageAnswer(NamedTuple):
    """An answer of a stage, whose problem knows its precision."""

    solving: Solving
    answer: Answer

    @property
    def certificate(self) -> Certificate:
        return self.answer.certificate


class Ended(NamedTuple):
    """How a stage ended."""

    status: Status
    answer: StageAnswer
    conflict: tuple[str, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class FallbackState(State):
    """The attempt of the present stage, the stages left, and how the earlier ones ended.

    Where `unbounded` is set, the attempt asks whether the hard constraints of an unbounded problem contradict
    each other.
    """

    attempt: Attempt
    rest: tuple[Stage, ...]
    unbounded: Ended | None = None
    last: Status | None = None
    least_badness: float = INF

    @property
    def details(self) -> Mapping[str, Any]:
        return self.attempt.details


@final
@dataclass(frozen=True, eq=False)
class Fallback(Method[FallbackState, StageAnswer, Solution]):
    """Stages, one after another, until there is an answer.

    They begin at `start`. `stages_of` lists the stages for another
    problem: this one in double precision (if `may_widen`), or the question whether its hard constraints
    contradict each other.
    """

    stages: tuple[Stage, ...]
    start: Start | None
    stages_of: Callable[[Problem], list[Stage]]
    may_widen: bool = False

    @property
    def problem(self) -> Problem:
        return self.stages[0].problem

    def before(self) -> StageAnswer:
        solving = self._solving(self.stages[0])
        return StageAnswer(solving, solving.before())

    def begin(self, tol: float) -> FallbackState:
        return self.step(FallbackState(self._attempt(self.stages[0], tol), self.stages[1:]), tol)

    def step(self, state: FallbackState, tol: float) -> FallbackState:
        """A step of the present stage, or the beginning of the next."""
        try:
            return self._look(replace(state, attempt=state.attempt.step()), tol)
        except (MemoryError, RuntimeError):
            if state.attempt.method.problem.dtype == self.problem.dtype:
                raise
            # There is no memory for double precision.
            return replace(state, candidate=None, ending=state.last)

    def settle(self, state: FallbackState) -> FallbackState:
        """Certify the point of the present stage; a contradiction that is not proven yet does not count."""
        if state.unbounded is not None:
            return state
        return replace(state, candidate=_best_of(state.attempt.settle()))

    def answer(self, best: StageAnswer, run: Run) -> Solution:
        return best.solving.answer(best.answer, run)

    def _attempt(self, stage: Stage, tol: float) -> Attempt:
        return Attempt(self._solving(stage), tol, stage.max_iter)

    def _solving(self, stage: Stage) -> Solving:
        start = None if self.start is None else self.start.within(stage.problem)
        return Solving(stage.problem, stage.solver, start)

    def _look(self, state: FallbackState, tol: float) -> FallbackState:
        """Show the step in the history; where the attempt has ended, decide what comes next."""
        attempt = state.attempt
        state = replace(state, certificate=attempt.certificate, candidate=None)
        status, conflict = attempt.status, attempt.state.conflict
        if state.unbounded is not None:
            if status is None:
                return state
            ended = state.unbounded
            if status is Status.INFEASIBLE:
                # The parts with something to solve for are the same, and so is the proof.
                proof = ended.answer._replace(answer=attempt.settle().best.answer)
                ended = Ended(status, proof, conflict)
            return self._conclude(replace(state, unbounded=None), ended, tol)
        candidate = _best_of(attempt if status is None else attempt.settle())
        if status is None:
            return replace(state, candidate=candidate)
        ended = Ended(status, candidate, conflict)
        problem = candidate.solving.problem
        # Hard constraints may exclude every X, whatever linear terms reward.
        is_question = any(part.loss.has_domain for part in problem.dual.parts)
        if status is not Status.UNBOUNDED or not is_question:
            return self._conclude(state, ended, tol)
        question = Fallback(tuple(self.stages_of(_without_linear(problem))), None, self.stages_of)
        return replace(state, candidate=candidate, attempt=Attempt(question, tol), unbounded=ended)

    def _conclude(self, state: FallbackState, ended: Ended, tol: float) -> FallbackState:
        """End as the stage did, or begin the next one."""
        is_wide = ended.answer.solving.problem.dtype != self.problem.dtype
        if is_wide and _is_contradiction_by_rounding(ended):
            return replace(state, ending=state.last)
        least = min(state.least_badness, ended.answer.certificate.badness)
        rest = self._next(state, ended, least, is_wide) if _may_be_better(ended) else ()
        state = replace(
            state, candidate=ended.answer, rest=rest[1:], last=ended.status, least_badness=least
        )
        if not rest:
            return replace(state, ending=ended.status, conflict=ended.conflict)
        return replace(state, attempt=self._attempt(rest[0], tol))

    def _next(
        self, state: FallbackState, ended: Ended, least: float, is_wide: bool
    ) -> tuple[Stage, ...]:
        """The stages that are left; in place of the last one, those in double precision."""
        if not self.may_widen or is_wide or len(state.rest) > 1:
            return state.rest
        try:
            wide = replace(ended.answer.solving.problem, dtype="float64")
            wide.free_duals(None if self.start is None else self.start.duals)
        except (ValueError, TypeError, MemoryError, RuntimeError):
            # The prior is semidefinite up to single precision only, or the device has no double precision.
            return state.rest
        return () if least <= _FAILED_IN_SINGLE else tuple(self.stages_of(wide))


def _best_of(attempt: Attempt) -> StageAnswer:
    assert attempt.best is not None
    return StageAnswer(attempt.method, attempt.best)


def _may_be_better(ended: Ended) -> bool:
    """Whether another solver may do better: not where there is an answer, or only rounding is left."""
    if ended.status is Status.STALLED:
        return ended.answer.certificate.badness > _ROUNDING
    if ended.status in (Status.OVERFLOW, Status.UNBOUNDED):
        return ended.answer.solving.problem.dtype == "float32"
    return ended.status is Status.ITERATION_LIMIT


def _without_linear(problem: Problem) -> Problem:
    nothing = Linear(0.0)
    terms = [replace(t, loss=nothing) if t.loss.is_fixed else t for t in problem.terms]
    return replace(problem, terms=terms)


def _is_contradiction_by_rounding(ended: Ended) -> bool:
    """Whether bounds contradict each other by no more than the rounding of single precision."""
    if ended.status is not Status.INFEASIBLE:
        return False
    dual = ended.answer.solving.problem.dual
    if not dual.parts:
        return False
    v = concat(ended.answer.solving.every_value(ended.answer.answer), dual.like)
    room, terms = Refutation(dual, v, dual.like).room
    return -room <= _SINGLE_ROUNDING * terms
