"""The one loop: begin, then step, until an answer is certified, a limit is reached, or someone stops it.

A method proposes candidates, which its problem judges. The loop keeps the best, decides how the run ends, keeps
the limits and the history, calls the callback, and hands over the best answer on Ctrl-C.
"""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, final

from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.warnings import warn
from gramlearn.problem.certificate import UNKNOWN, Certificate
from gramlearn.problem.solution import CertifiedAnswer, Record
from gramlearn.problem.status import SolveInterrupted, Status

__all__ = ["Candidate", "Limits", "Method", "Run", "State", "iterate", "warn_unless_solved"]

INF = float("inf")
_OF_USE = 0.1  # a relative gap that leaves a digit


class Candidate(Protocol):
    """An answer that was judged."""

    @property
    def certificate(self) -> Certificate:
        """By the problem that it is an answer of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """Where a method stands between two steps.

    `candidate` is what was judged last, of the whole problem; `certificate` is what the history shows of this
    step: its certificate, or an estimate. `ending` is what the method itself found out: INFEASIBLE,
    UNBOUNDED, OVERFLOW or STALLED, and `conflict` names the constraints that contradict each other.
    """

    candidate: Any | None = None
    certificate: Certificate = UNKNOWN
    ending: Status | None = None
    conflict: tuple[str, ...] = ()

    @property
    def details(self) -> Mapping[str, Any]:
        """The method's own numbers, for the history."""
        return {}

    def status(self, tol: float) -> Status | None:
        """Whether it is over: the candidate is good enough, or the method found no way on."""
        if self.candidate is not None and self.candidate.certificate.is_within(tol):
            return Status.OPTIMAL
        return self.ending


SomeState = TypeVar("SomeState", bound=State)
SomeCandidate = TypeVar("SomeCandidate", bound=Candidate)
SomeAnswer = TypeVar("SomeAnswer")


class Method(ABC, Generic[SomeState, SomeCandidate, SomeAnswer]):
    """What the loop runs: a start, steps, and the answer that the best candidate becomes."""

    def before(self) -> SomeCandidate | None:
        """What there is to show before the first step, if anything."""
        return None

    @abstractmethod
    def begin(self, tol: float) -> SomeState:
        """Look at the problem."""

    @abstractmethod
    def step(self, state: SomeState, tol: float) -> SomeState:
        """Improve the state; nothing of the old one is changed."""

    def settle(self, state: SomeState) -> SomeState:
        """Judge the state as it is now, at the end of a run that was cut short."""
        return state

    @abstractmethod
    def answer(self, best: SomeCandidate, run: "Run") -> SomeAnswer:
        """What the user gets."""


@final
@dataclass(frozen=True)
class Limits:
    """When to stop: the tolerance, and the limits on iterations and seconds."""

    tol: float
    max_iter: int
    time_limit: float


class Run(NamedTuple):
    """How a run went, beside the answer itself."""

    status: Status
    history: list[Record]
    seconds: float
    conflict: tuple[str, ...]


def iterate(
    method: Method[Any, Any, SomeAnswer],
    limits: Limits,
    callback: Callable[[Record], object] | None,
) -> SomeAnswer:
    """Run a method to its end. The callback receives every record, and stops the run by returning True."""
    began = time.perf_counter()
    history: list[Record] = []
    best, state = method.before(), None
    try:
        state = method.begin(limits.tol)
        while True:
            best = _better(best, state, limits.tol)
            seconds = time.perf_counter() - began
            history.append(Record(len(history), seconds, state.certificate, state.details))
            stopped = callback is not None and callback(history[-1]) is True
            status = _ending(state, limits, len(history) - 1, seconds, stopped)
            if status is not None:
                break
            state = method.step(state, limits.tol)
        if not status.is_answer:
            best = _better(best, method.settle(state), limits.tol)
        conflict = state.conflict
    except KeyboardInterrupt:
        # One look tells how good the present state is; a second Ctrl-C does without.
        with contextlib.suppress(KeyboardInterrupt):
            best = best if state is None else _better(best, method.settle(state), limits.tol)
        if best is None:
            raise
        run = Run(Status.INTERRUPTED, history, time.perf_counter() - began, ())
        raise SolveInterrupted(method.answer(best, run)) from None
    assert best is not None
    return method.answer(best, Run(status, history, time.perf_counter() - began, conflict))


def _better(best: Any | None, state: State, tol: float) -> Any | None:
    """The better of the best so far and the candidate of this state, by the worse of gap and violation.

    A candidate that ends the run is the answer: it is good enough, or the proof that there is none.
    """
    new, status = state.candidate, state.status(tol)
    if new is None or best is None:
        return new or best
    settles = status is not None and status.is_answer
    return new if settles or new.certificate.badness < best.certificate.badness else best


def _ending(
    state: State, limits: Limits, iterations: int, seconds: float, stopped: bool
) -> Status | None:
    """Decide whether the run is over: an answer first, then the limits."""
    status = state.status(limits.tol)
    if status is not None:
        return status
    if stopped:
        return Status.STOPPED
    if iterations >= limits.max_iter:
        return Status.ITERATION_LIMIT
    return Status.TIME_LIMIT if seconds >= limits.time_limit else None


def warn_unless_solved(
    answer: CertifiedAnswer, limits: Limits, go_on: str = "continue with start=solution"
) -> None:
    """Give a ConvergenceWarning where the tolerance was not reached; `go_on` says what else the user can do."""
    if not answer.status.is_answer and not answer.certificate.is_within(limits.tol):
        warn(_advice(answer, limits, go_on), ConvergenceWarning)


def _advice(answer: CertifiedAnswer, limits: Limits, go_on: str) -> str:
    what = {
        Status.ITERATION_LIMIT: f"stopped after max_iter={limits.max_iter} iterations",
        Status.TIME_LIMIT: f"stopped at time_limit={limits.time_limit:g} s",
        Status.STOPPED: "was stopped by the callback",
        Status.STALLED: "found no step that improves the dual any more",
        Status.OVERFLOW: "has an optimum that is too large for this precision, and ended",
    }[answer.status]
    advice = {
        Status.ITERATION_LIMIT: f"raise max_iter, or {go_on}",
        Status.TIME_LIMIT: f"raise time_limit, or {go_on}",
        Status.STOPPED: go_on,
        Status.STALLED: "rescale the points or the bounds, or raise tol",
        Status.OVERFLOW: "make linear terms smaller, or bound the matrix from above",
    }[answer.status]
    accuracy = (
        "The result is accurate to that gap"
        if answer.relative_gap < _OF_USE
        else "The result is not yet of use"
    )
    return (
        f"the solve {what} with relative gap {answer.relative_gap:.1e} and violation "
        f"{answer.violation:.1e}, tol={limits.tol:g}. {accuracy}; {advice}."
    )
