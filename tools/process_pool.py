"""Compute function(task) for many tasks in processes of one thread each; a process may die or hang.

A process that is killed, or that takes longer than the limit, loses its task alone: another one takes its
place, and the other tasks go on. (The pools of concurrent.futures and of joblib break where one process dies,
and cannot end a task that takes too long.)
"""

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from typing import Any, NamedTuple, TypeVar, final

from tools.meter import THREADS

__all__ = ["Lost", "run_tasks"]

Task = TypeVar("Task")

_MOMENT = 5.0  # seconds that a process whose pipe has ended is given to end, too
_LOADING = 300.0  # seconds that a process is waited for until it has loaded what it needs


class Lost(NamedTuple):
    """What became of a task without an answer: the status of its process, or None where it took too long."""

    status: int | None
    seconds: float


def run_tasks(
    function: Callable[[Task], Any],
    tasks: Iterable[Task],
    n_workers: int,
    limit: float,
    begun: Callable[[Task], object] = lambda task: None,
) -> Iterator[tuple[Task, Any]]:
    """Give (task, function(task)) as they come, and (task, Lost) where that never came.

    No task may take more than `limit` seconds; `begun` gets each as it begins. Tasks are asked for one after
    another, as there are hands for them.
    """
    waiting = iter(tasks)
    first = list(itertools.islice(waiting, n_workers))
    waiting = itertools.chain(first, waiting)
    workers = [_Worker(function) for _ in first]
    try:
        while True:
            for k, worker in enumerate(workers):
                if worker.is_busy:
                    continue
                for task in itertools.islice(waiting, 1):
                    if worker.has_ended:
                        workers[k] = _Worker(function)
                    workers[k].begin(task)
                    begun(task)
            busy = [worker for worker in workers if worker.is_busy]
            if not busy:
                return
            for worker in _wait_for_finished(busy, limit):
                yield worker.task, worker.end()
    finally:
        for worker in workers:
            worker.stop()


@final
class _Worker:
    """A process, and the task it is at."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        context = get_context("spawn")  # a fork would inherit threads that do not run
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_run_worker, args=(function, theirs), daemon=True)
        with _limited_to_one_thread():
            self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.task: Any = None
        self.is_busy = self.has_ended = self._is_ready = False
        self._began = 0.0

    @property
    def seconds(self) -> float:
        """How long it has been at its task."""
        return time.monotonic() - self._began

    def begin(self, task: Any) -> None:
        """Give it a task, once it has loaded what it needs: those seconds are no task's."""
        if not self._is_ready:
            with suppress(EOFError, OSError):  # it ended while it was loading
                if self.connection.poll(_LOADING):
                    self.connection.recv()
            self._is_ready = True
        self.task, self.is_busy, self._began = task, True, time.monotonic()
        with suppress(OSError):  # a process that has ended is noticed when it is waited for
            self.connection.send(task)

    def end(self) -> Any:
        """The answer to its task, or how it was lost."""
        self.is_busy, seconds = False, self.seconds
        if not self.connection.poll():
            self._kill()
            return Lost(None, seconds)
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self._process.join(_MOMENT)  # for its own status, before it is killed
            self._kill()
            return Lost(self._process.exitcode, seconds)

    def stop(self) -> None:
        """Stop the process, whatever it is doing; an idle one ends by itself and cleans up."""
        if self.has_ended:
            return
        self.connection.close()
        if not self.is_busy:
            self._process.join(_MOMENT)
        self._kill()

    def _kill(self) -> None:
        with suppress(OSError, AttributeError):
            os.killpg(self._process.pid, signal.SIGKILL)  # and what it has started
        self._process.kill()
        self._process.join()
        self.connection.close()
        self.has_ended = True


def _wait_for_finished(busy: Sequence[_Worker], limit: float) -> list[_Worker]:
    """Wait until a task, its process or its time has ended; give the workers concerned."""
    left = min(limit - worker.seconds for worker in busy)
    heard = connection.wait([worker.connection for worker in busy], timeout=max(left, 0.0))
    return [worker for worker in busy if worker.connection in heard or worker.seconds >= limit]


@contextmanager
def _limited_to_one_thread() -> Iterator[None]:
    """An environment for processes that are to have one thread; libraries read it as they are loaded."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _run_worker(function: Callable[[Any], Any], tasks: connection.Connection) -> None:
    """The process: one task after the other, until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives the tasks
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    tasks.send(None)  # ready
    while True:
        try:
            task = tasks.recv()
        except (EOFError, ConnectionError):
            return
        answer = function(task)
        with suppress(ConnectionError):
            tasks.send(answer)
