"""Workers on the machines of a Dask cluster: one at each of its processes, where it keeps its parts in memory.

Every question is one task for each worker, pinned to where that worker stands. A task that is pinned to a
process which is gone would wait forever, so that while tasks run, the list of processes is watched: where one
has gone, another one makes the worker anew, which reads its parts again. A process with the resource "GPU" has
its points there; what travels are arrays of NumPy.
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from gramlearn._base.workers import posts
from gramlearn._base.workers.crew import Crew, Maker, PartsLostError
from gramlearn._base.workers.in_dask import (
    Failed,
    GoneError,
    answer_at_worker,
    joined_at_worker,
    make_at_worker,
)
from gramlearn._base.workers.lazy import is_lazy

SomeAnswer = TypeVar("SomeAnswer")

_LOOK = 0.5  # seconds between two looks at the list of processes
_PATIENCE = 30.0  # seconds in which a process that was lost may come back
_USABLE = 0.5  # the share of a process's memory for a worker: Dask spills from 0.6 of it on
_MOST_LOST = 10  # times in a row that a process may go before a question is answered
_LONG = 10.0  # seconds in which an answer is to arrive, once it is there, at first
_WIDE = 8  # answers that are joined at one place, so that no place receives more
_MAKING = ("make",)  # the name under which losses of workers that are being made are counted
_LARGE = 1 << 20  # bytes of a question that are better sent apart from the tasks


class _Place(NamedTuple):
    """Where a worker stands, and with which parts."""

    address: str
    parts: tuple[int, ...]


@final
class OnDask(Crew):
    """Workers on the cluster of a `distributed.Client`."""

    own_room = "half of a worker's memory, less the points"

    def __init__(self, client: Any, memory: float = float("inf")) -> None:
        if not all(hasattr(client, name) for name in ("submit", "scatter", "scheduler_info")):
            raise TypeError(
                f"`client` must be a distributed.Client; got {type(client).__name__}. Make one with "
                "distributed.Client(address), or leave it out."
            )
        if client.asynchronous:
            raise TypeError(
                "`client` is asynchronous, and a fit waits for answers; pass one that is made without "
                "asynchronous=True."
            )
        self._client = client
        self._limit = memory
        self._name = uuid.uuid4().hex
        self._places: list[_Place] = []
        self._make: Any = None
        self._shared: Any = None
        self._n_lost: Counter[tuple[str, ...]] = Counter()  # while so something was asked
        self._present()
        self._is_aside = _step_aside()

    def place(self, make: Maker, sizes: Sequence[int], shared: Any) -> None:
        memory = self._present()
        self._make, self._shared = make, shared
        dealt = _dealt(sizes, len(memory))
        places = zip(sorted(memory), dealt, strict=True)
        self._places = [_Place(address, parts) for address, parts in places]
        self._settle_at(range(len(self._places)))

    def room_beside(self, shared: Any) -> tuple[int, float]:
        memory = self._present()
        least = min(memory.values()) - bytes_in(shared)
        return len(memory), min(least, self._limit)

    @property
    def n_places(self) -> int:
        return len(self._places)

    def computed(self, X: Any) -> Any:
        return self._client.compute(X).result()

    def map(self, question: str, *args: Any) -> list[Any]:
        return self._fetch(lambda: self._ask(question, args), _named(question, args))

    def reduce(
        self, join: Callable[[SomeAnswer, SomeAnswer], SomeAnswer], question: str, *args: Any
    ) -> SomeAnswer:
        def ask() -> list[Any]:
            answers = self._ask(question, args)
            while len(answers) > _WIDE:
                groups = [answers[k : k + _WIDE] for k in range(0, len(answers), _WIDE)]
                answers = [
                    self._client.submit(joined_at_worker, join, *group, pure=False)
                    for group in groups
                ]
            return answers

        return reduce(join, self._fetch(ask, _named(question, args)))

    def close(self) -> None:
        from distributed import fire_and_forget, rejoin

        present = self._memory() if self._client.status == "running" else {}
        for number, place in enumerate(self._places):
            if place.address in present:
                fire_and_forget(self._submit(place.address, posts.forget, (self._name, number)))
        self._places = []
        if self._is_aside:
            self._is_aside = False
            rejoin()

    # ---- tasks ------------------------------------------------------------------------------

    def _ask(self, question: str, args: tuple[Any, ...]) -> list[Any]:
        """Ask every worker; the answers stay where they are until they are fetched."""
        size = bytes_in(args)
        self.moved += size * len(self._places)
        sent = self._sent(args) if size > _LARGE else args
        return [
            self._submit(place.address, answer_at_worker, self._name, number, question, sent)
            for number, place in enumerate(self._places)
        ]

    def _submit(self, address: str, function: Callable[..., Any], *args: Any) -> Any:
        return self._client.submit(
            function, *args, workers=[address], allow_other_workers=False, pure=False
        )

    def _fetch(self, ask: Callable[[], list[Any]], name: tuple[str, ...]) -> list[Any]:
        """Ask, and wait for answers. Where a worker is gone, make it anew and raise PartsLostError.

        Losses are counted for each question by its name: of a worker that was made anew others are asked
        first, and it may answer these each time.
        """
        futures: list[Any] = []
        try:
            futures += ask()
            answers = [self._wait_for(future) for future in futures]
        except GoneError as gone:
            self._client.cancel(futures)
            self._count_loss(name)
            self._settle_at({*self._lost(), *gone.numbers})
            raise PartsLostError from None
        except Exception:
            self._check_connected()
            raise
        self._n_lost[name] = 0
        self.moved += sum(bytes_in(answer) for answer in answers)
        return answers

    def _wait_for(self, future: Any) -> Any:
        """The answer of a task; GoneError where it will never come."""
        try:
            while not _is_there(future):
                self._check_none_lost()
            return self._brought(future)
        except GoneError:
            raise
        except Exception as error:
            # A process that is gone takes its tasks, and what they need, along.
            self._check_none_lost()
            if _is_of_cluster(error):
                raise GoneError from None
            raise

    def _brought(self, future: Any) -> Any:
        """What a task has found; one that is large sets out anew each time."""
        patience = _LONG
        while True:
            try:
                found = future.result(timeout=patience)
                break
            except TimeoutError:
                if future.status == "error":
                    raise  # one of Dask itself
                self._check_none_lost()
                patience *= 2
        if isinstance(found, Failed):
            raise found.error
        return found

    def _check_none_lost(self) -> None:
        if lost := self._lost():
            raise GoneError(*lost)

    def _lost(self) -> list[int]:
        """The numbers of the workers whose process is gone."""
        present = self._memory()
        return [k for k, place in enumerate(self._places) if place.address not in present]

    def _check_connected(self) -> None:
        if self._client.status != "running":
            raise ValueError(
                f"`client` is {self._client.status}; pass a distributed.Client that is connected."
            )

    def _present(self) -> dict[str, float]:
        """The bytes that a worker may use, for every process of the cluster, of which there must be some."""
        memory = self._memory()
        if not memory:
            raise ValueError(
                "`client` is connected to a cluster without workers; start some, or wait for them with "
                "client.wait_for_workers(1)."
            )
        return memory

    def _memory(self) -> dict[str, float]:
        """The bytes that a worker may use, for every process of the cluster."""
        self._check_connected()
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {
            address: _USABLE * known["memory_limit"] if known["memory_limit"] else float("inf")
            for address, known in workers.items()
        }

    # ---- where workers stand ----------------------------------------------------------------

    def _settle_at(self, numbers: Iterable[int]) -> None:
        """Make these workers where they are to stand, and again where a process goes meanwhile."""
        waiting = set(numbers)
        while waiting:
            if lost := self._lost():
                self._move(lost)
                # Who stands beside others now has less memory than before, and begins anew as well.
                crowded = {self._places[number].address for number in lost}
                waiting |= {k for k, place in enumerate(self._places) if place.address in crowded}
            try:
                made = self._make_at(sorted(waiting))
                for future in made:
                    self._wait_for(future)
                self._n_lost[_MAKING] = 0
                return
            except GoneError:
                self._count_loss(_MAKING)

    def _make_at(self, numbers: Sequence[int]) -> list[Any]:
        memory, crowd = self._memory(), Counter(place.address for place in self._places)
        make, shared = self._sent(self._make), self._sent(self._shared)
        taken = bytes_in(self._shared)
        made = []
        for number in numbers:
            address, parts = self._places[number]
            usable = min((memory.get(address, 0.0) - taken) / crowd[address], self._limit)
            of_worker = (self._name, number, make, parts, shared, usable)
            made.append(self._submit(address, make_at_worker, *of_worker))
        return made

    def _move(self, lost: Sequence[int]) -> None:
        """Choose other processes for these workers: those that have come back, if there are as many."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            memory = self._memory()
            stays = [place.address for k, place in enumerate(self._places) if k not in lost]
            crowd = {address: stays.count(address) for address in memory}
            if list(crowd.values()).count(0) >= len(lost) or time.monotonic() > deadline:
                break
            time.sleep(_LOOK)
        if not memory:
            raise MemoryError(
                f"all workers of the cluster are gone, and none came back within {_PATIENCE:g} seconds; start "
                "some, and fit again."
            )
        for number in lost:
            address = min(sorted(crowd), key=lambda address: crowd[address])
            crowd[address] += 1
            self._places[number] = self._places[number]._replace(address=address)

    def _count_loss(self, name: tuple[str, ...]) -> None:
        self._n_lost[name] += 1
        if self._n_lost[name] >= _MOST_LOST:
            raise MemoryError(
                f"workers of the cluster were lost {_MOST_LOST} times before they gave an answer, perhaps "
                "for want of memory, which their logs tell; give them more, or more of them."
            )

    def _sent(self, shared: Any) -> Any:
        """What several workers need, on its way to one of them: others get it there.

        A Dask array is put together there. To send to all at once would wait for those that are just going.
        """
        if is_lazy(shared):
            return self._client.compute(shared)
        try:
            return self._client.scatter([shared], hash=False)[0]
        except Exception as error:
            if _is_of_cluster(error) or isinstance(error, TimeoutError):
                raise GoneError from None
            raise


def as_task(x: Any) -> Any:
    """An object that is a task of its own in a graph, on which others may depend."""
    from dask.delayed import delayed

    return delayed(x, traverse=False)


def current_client() -> Any:
    """The client that Dask would use, or None where there is none."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _step_aside() -> bool:
    """In a task, leave the thread to those that will be asked of the same process; whether that was done.

    A process with one thread would wait for itself for ever.
    """
    from distributed import get_worker, secede
    from distributed.threadpoolexecutor import thread_state

    try:
        get_worker()
    except ValueError:
        return False
    is_of_task = getattr(thread_state, "proceed", False)  # and has not stepped aside before
    if is_of_task:
        secede()
    return is_of_task


def _named(question: str, args: tuple[Any, ...]) -> tuple[str, ...]:
    """A question without its numbers."""
    return (question, *(x for x in args if isinstance(x, str)))


def _is_of_cluster(error: Exception) -> bool:
    """Whether a task failed for want of its process, and not for what it does."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return isinstance(error, KilledWorker | CommClosedError | CancelledError)


def _is_there(future: Any) -> bool:
    """Whether a task is done, within the time of a look."""
    from distributed import wait

    try:
        with future.client.as_current():  # which need not be the one that Dask would use
            wait([future], timeout=_LOOK)
    except TimeoutError:
        return False
    return True


def _dealt(sizes: Sequence[int], n_places: int) -> list[tuple[int, ...]]:
    """Numbers of parts for each place, neighbors together, of about the same size in all."""
    ends = np.cumsum(sizes)
    middles = (ends - np.asarray(sizes) / 2) / max(ends[-1], 1) if len(sizes) else ends
    place = np.minimum((middles * n_places).astype(int), n_places - 1)
    return [tuple(np.flatnonzero(place == k).tolist()) for k in range(n_places)]


def bytes_in(x: Any) -> int:
    """What the arrays in nested tuples and dictionaries take, in bytes."""
    if isinstance(x, tuple | list):
        return sum(bytes_in(part) for part in x)
    if isinstance(x, dict):
        return sum(bytes_in(part) for part in x.values())
    return int(getattr(x, "nbytes", 8))
