"""One worker, with all the parts, in this process: the reference for every other crew."""

from collections.abc import Sequence
from typing import Any, final

from gramlearn._base.workers.crew import Crew, Maker, Worker
from gramlearn._base.workers.lazy import is_lazy


@final
class Here(Crew):
    """A crew of one, which may use so many bytes."""

    own_room = "half of the memory that is free"

    def __init__(self, memory: float = float("inf")) -> None:
        self._memory = memory
        self._worker: Worker | None = None

    def place(self, make: Maker, sizes: Sequence[int], shared: Any) -> None:
        shared = self.computed(shared) if is_lazy(shared) else shared
        self._worker = make(range(len(sizes)), shared, self._memory)

    def room_beside(self, shared: Any) -> tuple[int, float]:
        del shared  # which is in memory already
        return 1, self._memory

    @property
    def n_places(self) -> int:
        return 1

    def map(self, question: str, *args: Any) -> list[Any]:
        return [getattr(self._worker, question)(*args)]

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker = None
