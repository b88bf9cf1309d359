"""place, map, reduce: parts of something large are placed once, asked often, and their answers added up.

A crew makes a worker at each place from what it is given, such as a list of chunks to read. A question is the
name of a method of the workers and its arguments, which are small, as the answers are. What is large never
travels.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Protocol, TypeVar, final

SomeAnswer = TypeVar("SomeAnswer")


class Worker(Protocol):
    """What stands at one place, and answers questions by its methods."""

    def close(self) -> None:
        """Let go of everything."""


class PartsLostError(Exception):
    """A place is gone, and its parts stand elsewhere now: what was known of them must be asked for anew."""


class Crew(ABC):
    """Workers, each with some of the parts."""

    @abstractmethod
    def place(self, make: Callable[[Sequence[int]], Worker], sizes: Sequence[int]) -> None:
        """Make the workers: each of the numbers of some parts, which have these sizes in bytes."""

    @property
    @abstractmethod
    def n_places(self) -> int:
        """How many workers there are."""

    @abstractmethod
    def map(self, question: str, *args: Any) -> list[Any]:
        """Ask every worker, and list the answers.

        Raises
        ------
        PartsLostError
            Where a worker is gone. The crew has placed its parts elsewhere by then.
        """

    def reduce(self, join: Callable[[Any, Any], Any], question: str, *args: Any) -> Any:
        """Ask every worker, and join the answers by two."""
        return joined(join, self.map(question, *args))

    @abstractmethod
    def close(self) -> None:
        """Let the workers go."""

    @final
    def __enter__(self) -> "Crew":
        return self

    @final
    def __exit__(self, *error: object) -> None:
        self.close()


def joined(join: Callable[[Any, Any], Any], answers: Sequence[Any]) -> Any:
    """join(join(a, b), c), ... of at least one answer."""
    return reduce(join, answers)
