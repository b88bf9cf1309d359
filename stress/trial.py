"""Ask one question of the library, under watch, and have the answer judged.

Findings beside those of the judge: an exception that is no sentence of the library's own, a warning that
leaked, an input that was changed, a solve that does not come back.
"""

import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import gramlearn
from stress.judge import Claim, Finding, judge
from stress.question import Question

__all__ = ["LIMIT", "Outcome", "ask", "exception_finding", "is_own_sentence"]

LIMIT = 8.0  # seconds of processor time
_HOME = Path(gramlearn.__file__).resolve().parent


@final
@dataclass(frozen=True)
class Outcome:
    """What came of one question: "answered" with a status, "refused" with a sentence, or "broken"."""

    ending: str
    status: str = ""
    solver: str = ""
    seconds: float = 0.0
    words: str = ""
    findings: tuple[Finding, ...] = field(default=())


class _Clock:
    """Stops a solve after so many seconds of processor time."""

    def __init__(self, limit: float) -> None:
        self.began = time.process_time()
        self.limit = limit

    def __call__(self, record: object) -> bool:
        del record
        return self.seconds > self.limit

    @property
    def seconds(self) -> float:
        return time.process_time() - self.began


def ask(question: Question, limit: float = LIMIT) -> Outcome:
    """Solve it and judge the answer."""
    before = [x.copy() for x in question.arrays()]
    clock = _Clock(limit)
    solver = question.solver
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            problem = question.build()
            clock = _Clock(limit)
            try:
                solution = gramlearn.solve(problem, solver, question.tol, callback=clock)
            except ValueError as error:
                if "does not do for this problem" not in str(error):
                    raise
                solver, clock = "auto", _Clock(limit)
                solution = gramlearn.solve(problem, solver, question.tol, callback=clock)
            seconds = clock.seconds
            np.asarray(solution.matrix)
        except (gramlearn.InfeasibleError, ValueError, TypeError) as error:
            if is_own_sentence(error):
                return Outcome("refused", solver=solver, words=str(error))
            return _broken(error, solver, clock)
        except Exception as error:
            return _broken(error, solver, clock)
    findings = [_leak(w) for w in caught if not issubclass(w.category, ConvergenceWarning)]
    after = question.arrays()
    if any(x.tobytes() != y.tobytes() for x, y in zip(before, after, strict=True)):
        findings.append(
            Finding("changed input", "changed input", "an array that was given has changed")
        )
    findings += judge(question, Claim.of(solution))
    return Outcome(
        "answered", solution.status.name, solver, seconds, repr(solution), tuple(findings)
    )


def _broken(error: Exception, solver: str, clock: _Clock) -> Outcome:
    finding = exception_finding(error)
    return Outcome("broken", "", solver, clock.seconds, finding.words, (finding,))


def _place(error: BaseException) -> str:
    """The innermost line of the library on the way to an error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if _HOME in Path(f.filename).resolve().parents]
    if not own:
        return "?"
    return f"{Path(own[-1].filename).resolve().relative_to(_HOME).as_posix()}:{own[-1].name}"


def is_own_sentence(error: BaseException) -> bool:
    """Whether the library itself raised it, in so many words."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and _HOME in Path(frames[-1].filename).resolve().parents


def exception_finding(error: BaseException) -> Finding:
    words = f"{type(error).__name__}: {str(error)[:300]}"
    return Finding("exception", f"{type(error).__name__} {_place(error)}", words)


def _leak(warning: Any) -> Finding:
    words = f"{warning.category.__name__}: {str(warning.message)[:200]}"
    place = Path(warning.filename).name
    return Finding("warning", f"{words} {place}", f"{words} ({place}:{warning.lineno})")
