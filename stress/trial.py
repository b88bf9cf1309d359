"""Ask one question of the library, under watch, and have the answer judged.

Findings beside those of the judge: an exception that is no sentence for the user, a warning that leaked, an
input that was changed, a solve that does not come back.
"""

import time
from functools import cache
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import gramlearn
from stress.judge import Claim, judge
from stress.outcome import Finding, Outcome, drop_repeated
from stress.question import Clause, Question
from stress.second_opinion import optimal_value
from stress.watch import LIMIT, OutOfTime, Watched, describe_exception, is_sentence, watch_call

__all__ = ["ask", "compile_first"]

_HANGS = 3.0  # so many limits without the end of an iteration are a hang
_AGREE = 1e-4  # relative: Clarabel's own accuracy, with room
_OBJECTION = "cannot solve this problem"


@final
class _Clock:
    """A callback that stops a solve after so many seconds of processor time."""

    def __init__(self, limit: float) -> None:
        self.end = time.process_time() + limit

    def __call__(self, record: object) -> bool:
        del record
        return time.process_time() > self.end


def ask(question: Question, limit: float = LIMIT) -> Outcome:
    """Solve it and judge the answer."""
    before = [x.tobytes() for x in question.arrays()]
    solver = question.solver
    compile_first(question.regularizer, solver)
    seen = _solve(question, solver, limit)
    if seen.error is not None and _OBJECTION in str(seen.error):
        solver = "auto"
        seen = _solve(question, solver, limit)
    if seen.error is not None:
        return _judge_failure(seen, solver)
    solution = seen.result
    findings = seen.leaks((ConvergenceWarning,))
    if [x.tobytes() for x in question.arrays()] != before:
        words = "an array that was given has changed"
        findings.append(Finding("changed input", "changed input", words))
    findings += judge(question, Claim.of(solution))
    if question.has_second_opinion and solution.status is gramlearn.Status.OPTIMAL:
        findings += _ask_second_opinion(question, solution.primal)
    name = solution.status.name
    return Outcome("answered", name, solver, seen.seconds, repr(solution), drop_repeated(findings))


@cache
def compile_first(regularizer: str, solver: str) -> None:
    """Compile what is compiled at first use, so that no question pays for it."""
    rows = {"i": np.array([0, 1]), "j": np.array([1, 2])}
    clause = Clause("SquaredDistances", rows, "Hard", {"upper": 1.0})
    _solve(Question(regularizer, {}, np.eye(3), "matrix", (clause,), solver), solver, 600.0)


def _solve(question: Question, solver: str, limit: float) -> Watched:
    def call() -> Any:
        problem = question.build()
        solution = gramlearn.solve(problem, solver, question.tol, callback=_Clock(limit))
        _ = solution.matrix
        return solution

    return watch_call(call, _HANGS * limit)


def _ask_second_opinion(question: Question, primal: float) -> list[Finding]:
    value = optimal_value(question)
    if value is None or abs(value - primal) <= _AGREE * max(abs(value), abs(primal), 1e-3):
        return []
    words = f"OPTIMAL with {primal:.9g}, but CVXPY finds {value:.9g}"
    return [Finding("certificate", f"second opinion {question.regularizer}", words)]


def _judge_failure(seen: Watched, solver: str) -> Outcome:
    error = seen.error
    if error is not None and is_sentence(error):
        return Outcome("refused", solver=solver, seconds=seen.seconds, words=str(error))
    if isinstance(error, OutOfTime):
        words = f"no iteration ended within {seen.seconds:.0f} s"
        hang = Finding("hang", "hang", words)
        return Outcome("unfinished", "", solver, seen.seconds, words, (hang,))
    assert error is not None
    finding = describe_exception(error)
    return Outcome("broken", "", solver, seen.seconds, finding.words, (finding,))
