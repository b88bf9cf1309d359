"""From the id of a task to the smallest program that shows what it found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stress.calls import Call, attempt
from stress.code import program
from stress.outcome import Finding, Outcome
from stress.question import Question
from stress.shrink import shrink
from stress.tasks import STREAMS, Task
from stress.trial import ask

__all__ = ["listing", "reproduction"]


def listing(task: Task) -> str:
    """The program of a task as it was drawn."""
    return _printed(task.draw(), task.id)


def reproduction(task: Task, finding: Finding, seconds: float = 60.0) -> str:
    """The program of the smallest thing that shows the finding; as it was drawn if it does not show it now."""
    drawn = task.draw()
    shows = _shows(STREAMS[task.stream].attempt, finding)
    if not shows(drawn):
        return _printed(drawn, f"{task.id}: {finding.words}\nwhich is not to be seen any more")
    smallest = (
        shrink(drawn, shows, seconds) if isinstance(drawn, Question) else _shrunk_call(drawn, shows)
    )
    words = next(f.words for f in _findings(smallest) if _same(f, finding))
    return _printed(smallest, f"{task.id}: {words}")


def _same(one: Finding, other: Finding) -> bool:
    return (one.kind, one.key) == (other.kind, other.key)


def _shows(attempt_one: Callable[[Any], Outcome], finding: Finding) -> Callable[[Any], bool]:
    return lambda drawn: any(_same(found, finding) for found in attempt_one(drawn).findings)


def _findings(drawn: Any) -> tuple[Finding, ...]:
    return (ask(drawn) if isinstance(drawn, Question) else attempt(drawn)).findings


def _shrunk_call(call: Call, shows: Callable[[Any], bool]) -> Call:
    """Leave out oddities, arguments and the side information, one after another, while the finding stays."""
    progress = True
    while progress:
        progress = False
        candidates = [
            replace(call, oddities=call.oddities[:k] + call.oddities[k + 1 :])
            for k in range(len(call.oddities))
        ]
        candidates += [
            replace(call, arguments=call.arguments[:k] + call.arguments[k + 1 :])
            for k in range(len(call.arguments))
        ]
        candidates += [replace(call, side=None)] if call.side else []
        for candidate in candidates:
            if shows(candidate):
                call, progress = candidate, True
                break
    return call


def _printed(drawn: Any, comment: str) -> str:
    return program(drawn, comment) if isinstance(drawn, Question) else drawn.program(comment)
