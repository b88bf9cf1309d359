"""Processes that compute parts, on one thread each: jobs -> records on disk, whatever becomes of a process.

A process that is killed, or that takes longer than the limit, fails its part alone: the error is kept,
another process takes its place, and the other parts go on.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from typing import final

from benchmarks.whole_files import UnwritableError

from experiments.experiment import Part
from experiments.runner import Run, circumstances, compute_part, give_up

__all__ = ["Job", "compute_jobs"]

_MOMENT = 5.0  # seconds that a process whose pipe has ended is given to end, too
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")


@final
@dataclass(frozen=True)
class Job:
    """One part of one run."""

    run: Run
    part: Part

    @property
    def is_timed(self) -> bool:
        """Whether its seconds count, so that nothing else may run beside it."""
        return self.run.experiment.timed and self.part.timed

    def __str__(self) -> str:
        return f"{self.run.name}/{self.part.id}"


def compute_jobs(
    jobs: Sequence[Job],
    n_workers: int,
    limit: float,
    report: Callable[[Job, bool], object] = lambda job, is_over: None,
) -> None:
    """Compute and keep all of them; no part may take more than `limit` seconds.

    `report` gets each job as it begins, with False, and when it is over, with True.
    """
    waiting = deque(jobs)
    crew = [_Worker() for _ in range(min(n_workers, len(waiting)))]
    try:
        while waiting or any(worker.job for worker in crew):
            for worker in crew:
                if waiting and worker.job is None:
                    job = waiting.popleft()
                    worker.begin(job)
                    report(job, False)
            ended = _come_to_an_end(crew, limit)
            for k, worker in enumerate(crew):
                if worker in ended and worker.job is not None:
                    job, error = worker.job, worker.end(limit)
                    if error is not None:
                        give_up(job.run, job.part, error, worker.seconds)
                        crew[k] = _Worker()
                    report(job, True)
    finally:
        for worker in crew:
            worker.stop()


@final
class _Worker:
    """A process, and the job it is at."""

    def __init__(self) -> None:
        context = get_context("spawn")  # a fork would inherit threads that do not run
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _one_thread():
            self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.job: Job | None = None
        self._is_ready = False
        self._began = 0.0

    @property
    def seconds(self) -> float:
        """How long it has been at its job."""
        return time.monotonic() - self._began

    def begin(self, job: Job) -> None:
        """Give it a job, once it has loaded what it needs."""
        if not self._is_ready:
            with suppress(EOFError):  # it ended while it was loading
                self.connection.recv()
            self._is_ready = True
        self.job, self._began = job, time.monotonic()
        with suppress(OSError):  # a process that has ended is noticed when it is waited for
            self.connection.send((job.run, job.part))

    def end(self, limit: float) -> Exception | None:
        """The end of its job; an error where the process kept nothing."""
        self.job = None
        if not self.connection.poll():
            self.stop()
            return TimeoutError(f"it took more than the {limit:g} s that a part is given")
        try:
            self.connection.recv()
        except EOFError:
            self._process.join(_MOMENT)  # for its own status, before it is killed
            self.stop()
            return RuntimeError(f"its process ended with the status {self._process.exitcode}")
        return None

    def stop(self) -> None:
        """End the process, whatever it is at."""
        with suppress(
            OSError, AttributeError
        ):  # with what it has started; Windows has no such groups
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self.connection.close()


def _come_to_an_end(crew: Sequence[_Worker], limit: float) -> list[_Worker]:
    """Wait until a job is over, or its process, or its time; give the workers whose it is."""
    busy = {worker.connection: worker for worker in crew if worker.job}
    left = min((limit - worker.seconds for worker in busy.values()), default=0.0)
    heard = connection.wait(list(busy), timeout=max(left, 0.0))
    return [w for pipe, w in busy.items() if pipe in heard or w.seconds >= limit]


@contextmanager
def _one_thread() -> Iterator[None]:
    """An environment for processes that are to have one thread; libraries read it as they are loaded."""
    names = [f"{library}_NUM_THREADS" for library in _THREADS]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(jobs: connection.Connection) -> None:
    """The process: one part after the other, until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives the jobs
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    facts = circumstances()
    jobs.send(None)  # ready
    while True:
        try:
            run, part = jobs.recv()
        except EOFError:
            return
        try:
            compute_part(run, part, facts)
        except UnwritableError:  # the process that gives the jobs finds the same, and says so
            return
        jobs.send(None)
