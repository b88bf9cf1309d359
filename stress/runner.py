"""Try tasks in worker processes, one for each core, and record the outcome of each.

A worker that does not answer in time is killed, one that dies is replaced, and both are findings. Only this
process writes, so the file of a run has whole lines whatever happens to a worker; killed itself, it goes on
where it was.
"""

import itertools
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.process_pool import Lost, run_tasks

from stress.outcome import Finding, Outcome
from stress.store import Store
from stress.tasks import STREAMS, Task

__all__ = ["PATIENCE", "attempt_task", "list_streams", "list_tasks", "try_tasks"]

PATIENCE = (
    180.0  # seconds on the wall for one task, judged in 60 digits on a machine that may be shared
)


def list_tasks(
    streams: Sequence[str], seed: int, done: set[str], count: int | None, only: Sequence[str]
) -> Iterator[Task]:
    """Tasks that are not done, the streams in turn; `only` those with all of these words among their labels."""
    indices = itertools.count() if count is None else range(count)
    for index in indices:
        for stream in streams:
            task = Task(stream, seed, index)
            if task.id not in done and (not only or set(only) <= set(task.draw().labels)):
                yield task


def try_tasks(
    tasks: Iterator[Task],
    store: Store,
    seconds: float,
    jobs: int,
    report: Callable[[dict[str, Any]], object] = lambda line: None,
    patience: float = PATIENCE,
) -> int:
    """Try tasks until none is left or the time is over; give the number of tasks tried."""
    end = time.monotonic() + seconds
    in_time = itertools.takewhile(lambda task: time.monotonic() < end, tasks)
    tried = 0
    for task, answer in run_tasks(attempt_task, in_time, jobs, patience):
        line = _record_lost(task, answer) if isinstance(answer, Lost) else answer
        store.add(line)
        report(line)
        tried += 1
    return tried


def _record_lost(task: Task, lost: Lost) -> dict[str, Any]:
    """The record of a task whose process died or hung."""
    if lost.status is None:
        words = f"no answer within {lost.seconds:.0f} s on the wall, and no signal was heard"
        finding = Finding("hang", "hang", words)
    else:
        words = f"the process ended with status {lost.status}"
        finding = Finding("death", f"death {lost.status}", words)
    drawn = task.draw()
    solver = getattr(drawn, "solver", "")  # of a problem
    return task.line(Outcome("unfinished", "", solver, 0.0, words, (finding,)), drawn.labels)


def attempt_task(task: Task) -> dict[str, Any]:
    """The line of a task; an error of drawing, trying or judging it is a finding, too, with its own lines."""
    try:
        return task.attempt()
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.name}"
        words = f"{type(error).__name__}: {error} ({place}, of the tool itself)"
        finding = Finding("tool", f"{type(error).__name__} {place}", words)
        return task.line(Outcome("broken", words=words, findings=(finding,)), [])


def list_streams(groups: Sequence[str]) -> list[str]:
    """The streams of these groups; of all where none is named."""
    return [name for name, stream in STREAMS.items() if not groups or stream.group in groups]
