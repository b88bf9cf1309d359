"""One worker, with all the parts, in this process: the reference for every other crew."""

from collections.abc import Callable, Sequence
from typing import Any, final

from gramlearn._base.workers.crew import Crew, Worker


@final
class Here(Crew):
    """A crew of one."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def place(self, make: Callable[[Sequence[int]], Worker], sizes: Sequence[int]) -> None:
        self._worker = make(range(len(sizes)))

    @property
    def n_places(self) -> int:
        return 1

    def map(self, question: str, *args: Any) -> list[Any]:
        return [getattr(self._worker, question)(*args)]

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker = None
