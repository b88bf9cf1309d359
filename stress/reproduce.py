"""From the id of a task to the smallest program that shows what it found."""

from typing import Any

from stress.outcome import Finding
from stress.tasks import STREAMS, Task

__all__ = ["listing", "reproduction"]


def listing(task: Task) -> str:
    """The program of a task as it was drawn."""
    return STREAMS[task.stream].program(task.draw(), task.id)


def reproduction(task: Task, finding: Finding, seconds: float = 60.0) -> str:
    """The program of the smallest thing that shows the finding; as it was drawn if it does not show it now."""
    stream, drawn = STREAMS[task.stream], task.draw()

    def shown(one: Any) -> list[Finding]:
        return [found for found in stream.attempt(one).findings if _same(found, finding)]

    if not shown(drawn):
        said = f"{task.id}: {finding.words}\nwhich is not to be seen any more"
        return stream.program(drawn, said)
    smallest = stream.shrunk(drawn, lambda one: bool(shown(one)), seconds)
    return stream.program(smallest, f"{task.id}: {shown(smallest)[0].words}")


def _same(one: Finding, other: Finding) -> bool:
    return (one.kind, one.key) == (other.kind, other.key)
