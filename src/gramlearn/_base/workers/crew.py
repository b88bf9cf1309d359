"""place, map, reduce: parts of something large are placed once, asked often, and their answers added up.

A crew makes a worker at each place from the numbers of some parts, such as chunks of a file, which the worker
reads itself. A question is the name of a method of the workers and its arguments, which are small, as the
answers are. What is large never travels.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, ClassVar, Protocol, TypeVar, final

SomeAnswer = TypeVar("SomeAnswer")


class Worker(Protocol):
    """What stands at one place, and answers questions by its methods."""

    def close(self) -> None:
        """Let go of everything."""


class Maker(Protocol):
    """How a worker is made, wherever it is to stand."""

    def __call__(self, parts: Sequence[int], shared: Any, memory: float) -> Worker:
        """A worker with the parts of these numbers, what all workers share, and so many bytes to use."""


class PartsLostError(Exception):
    """A worker is gone, and another one has its parts: what the former knew must be asked for anew."""


class Crew(ABC):
    """Workers, each with some of the parts."""

    moved = 0  # bytes that questions and answers have moved between processes
    own_room: ClassVar[str]  # what a worker may use where no limit is given

    @abstractmethod
    def place(self, make: Maker, sizes: Sequence[int], shared: Any) -> None:
        """Make the workers of parts that have these sizes, in bytes; `shared` is an array that all need."""

    @abstractmethod
    def room_beside(self, shared: Any) -> tuple[int, float]:
        """At how many places there would be workers, and the bytes that each might use."""

    def computed(self, X: Any) -> Any:
        """The numbers of an array of Dask, in this process."""
        return X.compute()

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
            Where a worker is gone. Another one has its parts by then.
        """

    def reduce(
        self, join: Callable[[SomeAnswer, SomeAnswer], SomeAnswer], question: str, *args: Any
    ) -> SomeAnswer:
        """Ask every worker, and join the answers by two, in the order of the workers."""
        return reduce(join, self.map(question, *args))

    @abstractmethod
    def close(self) -> None:
        """Let the workers go."""

    @final
    def __enter__(self) -> "Crew":
        return self

    @final
    def __exit__(self, *error: object) -> None:
        self.close()
