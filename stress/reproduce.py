"""From the id of a task to the smallest program that shows its finding."""

from typing import Any

from stress.outcome import Finding
from stress.tasks import STREAMS, Task

__all__ = ["write_drawn_program", "write_smallest_program"]


def write_drawn_program(task: Task) -> str:
    """The program of a task as it was drawn."""
    return STREAMS[task.stream].program(task.draw(), task.id)


def write_smallest_program(task: Task, finding: Finding, seconds: float = 60.0) -> str:
    """The program of the smallest thing that shows the finding; as it was drawn if it does not show it now."""
    stream, drawn = STREAMS[task.stream], task.draw()

    def shown(one: Any) -> list[Finding]:
        return [
            found for found in stream.attempt(one).findings if _has_same_finding(found, finding)
        ]

    if not shown(drawn):
        said = f"{task.id}: {finding.words}\nwhich is not to be seen any more"
        return stream.program(drawn, said)
    smallest = stream.shrink(drawn, lambda one: bool(shown(one)), seconds)
    return stream.program(smallest, f"{task.id}: {shown(smallest)[0].words}")


def _has_same_finding(one: Finding, other: Finding) -> bool:
    return (one.kind, one.key) == (other.kind, other.key)
