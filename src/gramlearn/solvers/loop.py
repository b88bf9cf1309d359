"""The one loop: begin, then step, until an answer is certified, a limit is reached, or someone stops it.

A method proposes candidates, each with its certificate. The loop keeps the best one, the limits and the
history, decides how the run ends, calls the callback, and returns the best answer on Ctrl-C.
"""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.threads import one_thread, threads_that_help
from gramlearn._base.validation import check_count, check_no_class, check_positive
from gramlearn._base.warnings import warn, without_overflow_warnings
from gramlearn.problem.certificate import UNKNOWN, Certificate
from gramlearn.problem.solution import CertifiedAnswer, Record
from gramlearn.problem.status import SolveInterrupted, Status

INF = float("inf")
# Up to so many multiplications a step, a second thread has nothing to gain.
_SMALL = 50_000_000
_ONE_DIGIT = 0.1  # a relative gap and violation below which one digit is right


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """Where a method stands between two steps.

    `candidate` is the last answer that was certified for the whole problem; `certificate` is what the history
    shows of this step: a certificate, or an estimate. `ending` is what the method itself found out, such as
    INFEASIBLE or STALLED, and `conflict` names the constraints that contradict each other.
    """

    ends_by_gap: ClassVar[bool] = True  # not where the gap is that of one round, and others follow

    candidate: Any = None  # it has a certificate
    certificate: Certificate = UNKNOWN
    ending: Status | None = None
    conflict: tuple[str, ...] = ()

    @property
    def details(self) -> Mapping[str, Any]:
        """The method's own numbers, for the history."""
        return {}

    def status(self, tol: float) -> Status | None:
        """Whether it is over: the candidate is good enough, or the method found no way on."""
        found = self.candidate if self.ends_by_gap else None
        if found is not None and found.certificate.is_within(tol):
            return Status.OPTIMAL
        return self.ending


SomeState = TypeVar("SomeState", bound=State)
SomeCandidate = TypeVar("SomeCandidate", bound=Any)
SomeAnswer = TypeVar("SomeAnswer")


class Method(ABC, Generic[SomeState, SomeCandidate, SomeAnswer]):
    """What the loop runs: a start, steps, and the answer that the best candidate becomes."""

    def before(self) -> SomeCandidate | None:
        """The candidate before the first step, if there is one."""
        return None

    @abstractmethod
    def begin(self, tol: float) -> SomeState:
        """Look at the problem."""

    @abstractmethod
    def step(self, state: SomeState, tol: float) -> SomeState:
        """Improve the state; nothing of the old one is changed."""

    def settle(self, state: SomeState) -> SomeState:
        """Certify the present state, at the end of a run that was cut short."""
        return state

    def is_better(self, new: SomeCandidate, old: SomeCandidate) -> bool:
        """Compare two candidates: by the gap; where one violates more, by the worse of gap and violation."""
        a, b = new.certificate, old.certificate
        # A ratio says nothing where gaps are large: far from the optimum every relative gap is near 1.
        return a.gap < b.gap if a.violation == b.violation else a.badness < b.badness

    def answer(self, best: SomeCandidate, run: "Run") -> SomeAnswer:
        """What the user gets: the candidate itself, told how the run ended, where it is an answer already."""
        changes = {"status": run.status, "history": run.history, "seconds": run.seconds}
        return cast(SomeAnswer, replace(cast(Any, best), **changes))


@final
@dataclass(frozen=True, eq=False)
class Attempt:
    """A method at work: where it stands (None: not begun), its best candidate so far, and its steps.

    The loop runs one attempt. A method made of others, such as a search over prices, holds the attempt of the
    one at work in its own state and steps it: so there is one loop, however deep methods are nested.
    """

    method: Any
    tol: float
    max_iter: float = INF
    state: Any = None
    best: Any = None
    steps: int = -1

    def step(self) -> "Attempt":
        """Begin, or take one step of the method."""
        if self.state is None:
            state = self.method.begin(self.tol)
            best = self.method.before() if state.candidate is None else None
        else:
            best, state = self.best, self.method.step(self.state, self.tol)
        return replace(self, state=state, best=self._better(best, state), steps=self.steps + 1)

    def settle(self) -> "Attempt":
        """Certify the present state, unless that is done."""
        if self.state is None:
            return replace(self, best=self.method.before())
        if self.status is not None and self.status.is_answer:
            return self
        return replace(self, best=self._better(self.best, self.method.settle(self.state)))

    def _better(self, best: Any, state: State) -> Any:
        """The better of the best so far and the candidate of this state.

        A candidate that ends the run is the answer: it is good enough, or the proof that there is none.
        """
        new, status = state.candidate, state.status(self.tol)
        if new is None or best is None:
            return new or best
        settles = status is not None and status.is_answer
        return new if settles or self.method.is_better(new, best) else best

    def answer(self) -> Any:
        """What the best candidate so far would be to a user."""
        run = Run(self.status or Status.STOPPED, [], 0.0, self.state.conflict)
        return self.method.answer(self.best, run)

    @property
    def status(self) -> Status | None:
        """How it ended: an answer first, then the limit."""
        status = self.state and self.state.status(self.tol)
        return status or (Status.ITERATION_LIMIT if self.steps >= self.max_iter else None)

    @property
    def certificate(self) -> Certificate:
        """What the history shows of the last step."""
        return UNKNOWN if self.state is None else self.state.certificate

    @property
    def details(self) -> Mapping[str, Any]:
        """The method's own numbers of the last step."""
        return {} if self.state is None else self.state.details


@final
@dataclass(frozen=True)
class Limits:
    """When to stop: the tolerance, and the limits on iterations and seconds."""

    tol: float
    max_iter: float = INF
    time_limit: float = INF

    @classmethod
    def read(
        cls,
        tol: float,
        max_iter: int | None,
        time_limit: float | None,
        owner: str,
        least: int = 0,
    ) -> "Limits":
        """Check what the user passed to `owner`; None is no limit, and `least` the least `max_iter`."""
        return cls(
            check_positive(tol, "tol", owner, any_size=True),
            INF if max_iter is None else check_count(max_iter, "max_iter", least=least),
            INF if time_limit is None else check_positive(time_limit, "time_limit", owner),
        )


class Run(NamedTuple):
    """How a run went, beside the answer itself."""

    status: Status
    history: list[Record]
    seconds: float
    conflict: tuple[str, ...]


def check_callback(callback: Any) -> None:
    """Refuse what cannot be called with a record."""
    if not (callback is None or callable(check_no_class(callback, "callback"))):
        raise TypeError(
            f"`callback` must be a function of a Record, or None; got {type(callback).__name__}."
        )


def iterate(
    method: Method[Any, Any, SomeAnswer],
    limits: Limits,
    callback: Callable[[Record], object] | None,
    products: float = INF,
    on_interrupt: Callable[[], object] | None = None,
) -> SomeAnswer:
    """Run a method to its end. The callback receives every record, and stops the run by returning True.

    `products` are the multiplications of a step: few of them are quicker in one thread. So are many, where
    other processes use the cores. `on_interrupt` is called as soon as Ctrl-C comes, before the last look.
    """
    check_callback(callback)
    is_small = products <= _SMALL
    with one_thread(when=is_small), threads_that_help(when=not is_small) as look:
        return without_overflow_warnings(_run, method, limits, callback, look, on_interrupt)


def _run(
    method: Method[Any, Any, SomeAnswer],
    limits: Limits,
    callback: Callable[[Record], object] | None,
    look: Callable[[], None],
    on_interrupt: Callable[[], object] | None,
) -> SomeAnswer:
    began = time.perf_counter()
    history: list[Record] = []
    attempt, stopped = Attempt(method, limits.tol, limits.max_iter), False
    try:
        while True:
            attempt = attempt.step()
            look()
            seconds = time.perf_counter() - began
            history.append(Record(len(history), seconds, attempt.certificate, attempt.details))
            # NumPy's True counts; other values, such as those that `list.append` or a bar return, do not.
            asked = None if callback is None else callback(history[-1])
            stopped = stopped or (isinstance(asked, bool | np.bool_) and bool(asked))
            status = attempt.state.status(limits.tol)
            status = status or (Status.STOPPED if stopped else attempt.status)
            if status is None and seconds >= limits.time_limit:
                status = Status.TIME_LIMIT
            # Limits are kept once there is an answer, however rough.
            if status is not None and (settled := attempt.settle()).best is not None:
                attempt, seconds = settled, time.perf_counter() - began
                run = Run(status, history, seconds, attempt.state.conflict)
                return method.answer(attempt.best, run)
    except KeyboardInterrupt:
        # One look tells how good the present state is; a second Ctrl-C does without.
        with contextlib.suppress(KeyboardInterrupt):
            if on_interrupt is not None:
                on_interrupt()
            attempt = attempt.settle()
        if attempt.best is None:
            raise
        run = Run(Status.INTERRUPTED, history, time.perf_counter() - began, ())
        raise SolveInterrupted(method.answer(attempt.best, run)) from None


def warn_unless_solved(
    answer: CertifiedAnswer,
    limits: Limits,
    go_on: str = "continue with start=solution",
    stalled: tuple[str, str] = (
        "found no step that improves the dual any more",
        "rescale the points or the bounds, or raise tol",
    ),
) -> None:
    """Give a ConvergenceWarning where the tolerance was not reached.

    `go_on` says what the user can do beside raising a limit, and `stalled` what a method that found no way on
    has to say and to advise.
    """
    if answer.status.is_answer or answer.certificate.is_within(limits.tol):
        return
    # A method's own limit is known by what it came to.
    most = int(limits.max_iter) if limits.max_iter < INF else answer.iterations
    what, advice = {
        Status.ITERATION_LIMIT: (
            f"stopped after max_iter={most} iterations",
            f"raise max_iter, or {go_on}",
        ),
        Status.TIME_LIMIT: (
            f"stopped at time_limit={limits.time_limit:g} s",
            f"raise time_limit, or {go_on}",
        ),
        Status.STOPPED: ("was stopped by the callback", "let it run on for a smaller gap"),
        Status.STALLED: stalled,
        Status.OVERFLOW: (
            "has an optimum that is too large for this precision, and ended",
            "make linear terms smaller, or bound the matrix from above",
        ),
    }[answer.status]
    accuracy = (
        "The result is accurate to that gap"
        if answer.certificate.badness < _ONE_DIGIT
        else "The result is not accurate yet"
    )
    warn(
        f"the solve {what} with relative gap {answer.relative_gap:.1e} and violation "
        f"{answer.violation:.1e}, tol={limits.tol:g}. {accuracy}; {advice}.",
        ConvergenceWarning,
    )
