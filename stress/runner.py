"""Try tasks in worker processes, one for each core, and write down what came of each.

A worker that does not answer in time is killed, one that dies is replaced, and both are findings. Only this
process writes, so the file of a run has whole lines whatever happens to a worker; killed itself, it goes on
where it was.
"""

import contextlib
import itertools
import multiprocessing as mp
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, final

from stress.outcome import Finding, Outcome
from stress.store import Store
from stress.tasks import STREAMS, Task

__all__ = ["PATIENCE", "attempted", "run", "streams_of", "tasks_of"]

PATIENCE = (
    180.0  # seconds on the wall for one task, judged in 60 digits on a machine that may be shared
)
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def tasks_of(
    streams: Sequence[str], seed: int, done: set[str], count: int | None, only: Sequence[str]
) -> Iterator[Task]:
    """Tasks that are not done, the streams in turn; `only` those with all of these words among their labels."""
    indices = itertools.count() if count is None else range(count)
    for index in indices:
        for stream in streams:
            task = Task(stream, seed, index)
            if task.id not in done and (not only or set(only) <= set(task.draw().labels)):
                yield task


def run(
    tasks: Iterator[Task],
    store: Store,
    seconds: float,
    jobs: int,
    report: Callable[[dict[str, Any]], object] = lambda line: None,
    patience: float = PATIENCE,
) -> int:
    """Try tasks until there are none left or the time is over; give the number of those tried."""
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")  # for the workers, which start anew
    end = time.monotonic() + seconds
    workers = [_Worker() for _ in range(jobs)]
    tried = 0
    try:
        while True:
            for k, worker in enumerate(workers):
                if worker.task is not None and worker.waiting > patience:
                    line = worker.given_up()
                    workers[k] = _Worker()
                    store.add(line)
                    report(line)
                    tried += 1
            for worker in workers:
                if worker.task is None and time.monotonic() < end:
                    task = next(tasks, None)
                    if task is not None:
                        worker.give(task)
            busy = {worker.connection: k for k, worker in enumerate(workers) if worker.task}
            if not busy:
                return tried
            for ready in wait(list(busy), timeout=1.0):
                k = busy[ready]  # type: ignore[index]
                line, alive = workers[k].answer()
                if not alive:
                    workers[k] = _Worker()
                store.add(line)
                report(line)
                tried += 1
    finally:
        for worker in workers:
            worker.end()


@final
class _Worker:
    """A process that tries one task after another."""

    def __init__(self) -> None:
        context = mp.get_context("spawn")  # a process of its own, with nothing of this one
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.began = 0.0
        self.is_ready = False

    @property
    def waiting(self) -> float:
        return time.monotonic() - self.began

    def give(self, task: Task) -> None:
        if not self.is_ready:
            self.connection.recv()  # its imports take seconds that are no task's
            self.is_ready = True
        self.task, self.began = task, time.monotonic()
        self.connection.send(task)

    def answer(self) -> tuple[dict[str, Any], bool]:
        """The line of the task, and whether the worker is still there."""
        assert self.task is not None
        try:
            line = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            words = f"the process ended with status {self.process.exitcode}"
            finding = Finding("death", f"death {self.process.exitcode}", words)
            task, self.task = self.task, None
            return _lost(task, finding), False
        self.task = None
        return line, True

    def given_up(self) -> dict[str, Any]:
        """The line of a task that never came back."""
        assert self.task is not None
        words = f"no answer within {self.waiting:.0f} s on the wall, and no signal was heard"
        self.end()
        return _lost(self.task, Finding("hang", "hang", words))

    def end(self) -> None:
        """Without a connection a worker ends by itself, unless it is busy."""
        self.connection.close()
        self.process.join(0.0 if self.task else 5.0)
        self.process.kill()
        self.process.join()


def _lost(task: Task, finding: Finding) -> dict[str, Any]:
    outcome = Outcome("unfinished", words=finding.words, findings=(finding,))
    return task.line(outcome, task.draw().labels)


def _work(connection: Connection) -> None:
    """Say when ready, then answer tasks until the other side is gone, be it before the first."""
    with contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt):
        connection.send(None)
        while True:
            connection.send(attempted(connection.recv()))


def attempted(task: Task) -> dict[str, Any]:
    """The line of a task; an error of drawing, trying or judging it is a finding, too, with its own lines."""
    try:
        return task.attempt()
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.name}"
        words = f"{type(error).__name__}: {error} ({place}, of the tool itself)"
        finding = Finding("tool", f"{type(error).__name__} {place}", words)
        return task.line(Outcome("broken", words=words, findings=(finding,)), [])


def streams_of(groups: Sequence[str]) -> list[str]:
    """The streams of these groups; of all where none is named."""
    return [name for name, stream in STREAMS.items() if not groups or stream.group in groups]
