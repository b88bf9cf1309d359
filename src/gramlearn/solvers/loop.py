"""The one loop: init, then step until the answer is certified, a limit is reached, or someone stops it."""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.arrays import Array, constant, every_row, namespace, scatter, where_true
from gramlearn._base.warnings import warn
from gramlearn.problem.certificate import UNKNOWN, Certificate
from gramlearn.problem.problem import Problem
from gramlearn.problem.solution import Record, Solution
from gramlearn.problem.status import SolveInterrupted, Status

__all__ = ["Answer", "Limits", "Solver", "prior_answer", "run", "warn_unless_solved"]

INF = float("inf")
_OF_USE = 0.1  # a relative gap that leaves a digit


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """A judged X = F F' with its lam: rows and values of each part of the dual, zero elsewhere."""

    certificate: Certificate
    factor: Array
    rows: list[Array]
    values: list[Array]

    def is_better_than(self, other: "Answer") -> bool:
        """Whether it is closer to optimal: by the worse of relative gap and violation."""
        return self.certificate.badness < other.certificate.badness


class State(ABC):
    """Where a solver stands between two steps."""

    best: Answer
    certificate: Certificate
    ending: Status | None  # what the solver itself found: OPTIMAL, INFEASIBLE, UNBOUNDED or STALLED
    conflict: tuple[str, ...]

    @property
    @abstractmethod
    def details(self) -> Mapping[str, Any]:
        """The solver's own numbers, for the history."""


SomeState = TypeVar("SomeState", bound=State)


class Solver(ABC, Generic[SomeState]):
    """Frozen parameters, with `init` and `step`."""

    default_max_iter: int

    def objection(self, problem: Problem) -> str | None:
        """Say why this problem is not for this solver, or None where it is."""
        del problem
        return None

    @abstractmethod
    def init(self, problem: Problem, start: list[Array] | None, tol: float) -> SomeState:
        """Look at the problem at lam = start (default: zero)."""

    @abstractmethod
    def step(self, problem: Problem, state: SomeState, tol: float) -> SomeState:
        """Improve the state; nothing of the old one is changed."""

    @abstractmethod
    def settle(self, problem: Problem, state: SomeState) -> SomeState:
        """Judge the state as it is now, at the end of a solve that was cut short."""


@final
@dataclass(frozen=True)
class Limits:
    """When to stop: the tolerance, and the limits on iterations and seconds."""

    tol: float
    max_iter: int
    time_limit: float


def run(
    problem: Problem,
    solver: Solver[Any],
    limits: Limits,
    callback: Callable[[Record], object] | None,
    start: list[Array] | None,
) -> Solution:
    """Solve. The callback receives every record, and stops the solve by returning True."""
    began = time.perf_counter()
    history: list[Record] = []
    status: Status | None = None
    best = prior_answer(problem)
    conflict: tuple[str, ...] = ()
    state: Any = None
    try:
        state = solver.init(problem, start, limits.tol)
        while True:
            best, conflict = state.best, state.conflict
            seconds = time.perf_counter() - began
            history.append(Record(len(history), seconds, state.certificate, state.details))
            stopped = callback is not None and callback(history[-1]) is True
            status = _ending(state, limits, len(history) - 1, seconds, stopped)
            if status is not None:
                break
            state = solver.step(problem, state, limits.tol)
        if not status.is_answer:
            best = solver.settle(problem, state).best
    except KeyboardInterrupt:
        # One look tells how good the present state is; a second Ctrl-C does without.
        with contextlib.suppress(KeyboardInterrupt):
            best = best if state is None else solver.settle(problem, state).best
        answer = _solution(problem, best, (), Status.INTERRUPTED, history, began)
        raise SolveInterrupted(answer) from None
    return _solution(problem, best, conflict, status, history, began)


def warn_unless_solved(
    solution: Solution, limits: Limits, go_on: str = "continue with start=solution"
) -> None:
    """Give a ConvergenceWarning where the tolerance was not reached; `go_on` says what else the user can do."""
    if not solution.status.is_answer and not solution.certificate.is_within(limits.tol):
        warn(_advice(solution, limits, go_on), ConvergenceWarning)


def _ending(
    state: State, limits: Limits, iterations: int, seconds: float, stopped: bool
) -> Status | None:
    """Decide whether the solve is over: an answer first, then the limits."""
    if state.ending is not None:
        return state.ending
    if stopped:
        return Status.STOPPED
    if iterations >= limits.max_iter:
        return Status.ITERATION_LIMIT
    return Status.TIME_LIMIT if seconds >= limits.time_limit else None


def prior_answer(problem: Problem) -> Answer:
    """The answer before anything was looked at."""
    s = problem.space.spectrum
    xp, kept = namespace(s), where_true(s > 0)
    # Of a prior of zeros nothing is left: no matrix n x n is written out for it.
    same = every_row(s.shape[0], s)[:, None] == kept[None, :]
    factor = xp.astype(same, s.dtype) * xp.sqrt(xp.take(s, kept))
    rows = [every_row(0, s) for _ in problem.dual.parts]
    values = [constant(0.0, s, 0) for _ in problem.dual.parts]
    return Answer(UNKNOWN, factor, rows, values)


def _solution(
    problem: Problem,
    best: Answer,
    conflict: tuple[str, ...],
    status: Status,
    history: list[Record],
    began: float,
) -> Solution:
    factor = problem.space.lift(best.factor) * best.certificate.scaling**0.5
    seconds = time.perf_counter() - began
    parts = zip(best.values, best.rows, problem.dual.parts, strict=True)
    duals = problem.duals([scatter(values, rows, part.size) for values, rows, part in parts])
    return Solution(problem, factor, duals, best.certificate, status, history, seconds, conflict)


def _advice(solution: Solution, limits: Limits, go_on: str) -> str:
    what = {
        Status.ITERATION_LIMIT: f"stopped after max_iter={limits.max_iter} iterations",
        Status.TIME_LIMIT: f"stopped at time_limit={limits.time_limit:g} s",
        Status.STOPPED: "was stopped by the callback",
        Status.STALLED: "found no step that improves the dual any more",
        Status.OVERFLOW: "has an optimum that is too large for this precision, and ended",
    }[solution.status]
    advice = {
        Status.ITERATION_LIMIT: f"raise max_iter, or {go_on}",
        Status.TIME_LIMIT: f"raise time_limit, or {go_on}",
        Status.STOPPED: go_on,
        Status.STALLED: "rescale the points or the bounds, or raise tol",
        Status.OVERFLOW: "make linear terms smaller, or bound the matrix from above",
    }[solution.status]
    accuracy = (
        "The result is accurate to that gap"
        if solution.relative_gap < _OF_USE
        else "The result is not yet of use"
    )
    return (
        f"the solve {what} with relative gap {solution.relative_gap:.1e} and violation "
        f"{solution.violation:.1e}, tol={limits.tol:g}. {accuracy}; {advice}."
    )
