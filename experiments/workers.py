"""Parts, computed in processes of their own: jobs -> records on disk, whatever becomes of a process.

A process that is killed, or that takes longer than the limit, fails its part alone: the error is kept, and the
other parts go on.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from tools.process_pool import Lost, spread
from tools.whole_files import UnwritableError

from experiments.experiment import Part
from experiments.runner import Run, circumstances, compute_part, give_up

__all__ = ["Job", "compute_jobs"]


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
    for job, ended in spread(_compute, jobs, n_workers, limit, lambda job: report(job, False)):
        if isinstance(ended, Lost):
            give_up(job.run, job.part, _error_of(ended, limit), ended.seconds)
        report(job, True)


def _error_of(lost: Lost, limit: float) -> Exception:
    if lost.status is None:
        return TimeoutError(f"it took more than the {limit:g} s that a part is given")
    return RuntimeError(f"its process ended with the status {lost.status}")


def _compute(job: Job) -> None:
    """What a process does with a job."""
    try:
        compute_part(job.run, job.part, _facts())
    except UnwritableError:  # the process that gives the jobs finds the same, and says so
        sys.exit()


@cache
def _facts() -> dict[str, Any]:
    """The circumstances of this process."""
    return circumstances()
