"""What a contestant is: it answers an instance, and times its answers itself.

It runs in a process of its own, so that nobody's memory or threads are counted as another's. Its
answers are handed to the judge when it is done; what the judge does is not on its clock.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.instance import Instance, Spec

__all__ = ["Answer", "Contestant", "refuse_all_but_itml"]


class Answer(NamedTuple):
    """What a contestant has after some seconds: an X for the judge, or a gap it certifies."""

    seconds: float
    X: Any = None  # r x r
    relative_gap: float | None = None
    note: str = ""
    duals: Any = None  # one for each constraint: they prove the gap


class Contestant(ABC):
    """One way to solve an instance; a file holds one, as CONTESTANT."""

    summary: str  # one line for the list
    certifies: bool = False  # whether its last answer has duals, which prove how good it is
    libraries: tuple[str, ...] = ("numpy",)  # which arrays it can work on
    packages: tuple[str, ...] = ()  # whose versions belong to the result
    requirements: tuple[str, ...] = ()  # given, it runs in an environment of its own with these
    solves: int = 1  # how many times it starts anew to make its curve

    def refuses(self, spec: Spec) -> str | None:
        """Say why this instance is beyond it, or nothing."""
        del spec
        return None

    def warm_up(self, instance: Instance) -> None:
        """Do what is done once a process, such as compiling. Timed apart."""
        del instance

    @abstractmethod
    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        """Give answers, better and better, none of which took much more than `limit` seconds.

        The answers that were given before an exception are kept beside its message.
        """


def refuse_all_but_itml(spec: Spec) -> str | None:
    """For those that know one problem only: LogDet with its slack, on pairs."""
    if (spec.regularizer, spec.loss, spec.kind) == ("LogDet", "LogDetSlack", "pairs"):
        return None
    return "it solves LogDet with LogDetSlack on pairs only"
