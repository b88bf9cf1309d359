"""Run all experiments: quick ones first, in a few processes, and timed parts alone at the end.

What fails stops nothing else: a part whose process is killed or takes longer than the limit fails alone, with
its error kept, and all that went wrong is named in the summary.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, final

from tools.atomic_files import UnwritableError
from tools.process_pool import Lost, run_tasks

from experiments import reproductions
from experiments.experiment import Part
from experiments.runs import Run, compute_part, open_run, record_circumstances, record_lost_part
from experiments.summary import list_failures, make_row, write_summary, write_table


@final
class Job(NamedTuple):
    """One part of one run."""

    run: Run
    part: Part

    @property
    def is_timed(self) -> bool:
        """Whether its seconds count, so that nothing else may run beside it."""
        return self.run.experiment.timed and self.part.timed

    def __str__(self) -> str:
        return f"{self.run.name}/{self.part.id}"


@final
@dataclass(frozen=True)
class AllRuns:
    """The runs, in the order they are computed, and why an experiment is not among them or not summed up."""

    runs: list[Run]
    troubles: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every part of every experiment is finished, and summed up."""
        return not self.troubles and all(run.outcome().is_complete for run in self.runs)


def open_all(quick: bool, seed: int, out: Path, seconds: Mapping[str, float]) -> AllRuns:
    """Open all experiments; `seconds` are what they took before, which the order follows."""
    runs, troubles = [], {}
    for name in reproductions.names():
        try:
            runs.append(open_run(name, reproductions.find(name), quick, seed, out))
        except Exception as error:  # its data are not here, or a package that it asks for
            troubles[name] = str(error)
    runs.sort(key=lambda run: (run.experiment.timed, seconds.get(run.name, float("inf"))))
    return AllRuns(runs, troubles)


def compute_all(
    opened: AllRuns,
    n_workers: int,
    limit: float,
    report: Callable[[Job, bool], object] = lambda job, is_over: None,
) -> None:
    """Compute what is missing, no part in more than `limit` seconds; sum up a run when its last part is over.

    `report` gets each job as it begins, with False, and when it is over, with True.
    """
    jobs = [Job(run, part) for run in opened.runs for part in run.missing()]
    left = Counter(job.run.name for job in jobs)
    for run in opened.runs:
        if not left[run.name] and not (run.folder / "table.md").exists():
            _sum_up(opened, run)
    alone = [job for job in jobs if job.is_timed]
    beside = [job for job in jobs if not job.is_timed]
    for some, workers in ((beside, n_workers), (alone, 1)):
        for job in _run_jobs(some, workers, limit, report):
            report(job, True)
            left[job.run.name] -= 1
            if not left[job.run.name]:
                _sum_up(opened, job.run)


def _run_jobs(
    jobs: Sequence[Job], n_workers: int, limit: float, report: Callable[[Job, bool], object]
) -> Any:
    """Each job as it is over, its record kept."""
    for job, ended in run_tasks(_compute, jobs, n_workers, limit, lambda job: report(job, False)):
        if isinstance(ended, Lost):
            error: Exception = RuntimeError(f"its process ended with the status {ended.status}")
            if ended.status is None:
                error = TimeoutError(f"it took more than the {limit:g} s that a part is given")
            record_lost_part(job.run, job.part, error, ended.seconds)
        yield job


def _compute(job: Job) -> None:
    """What a process does with a job."""
    try:
        compute_part(job.run, job.part, _describe_process())
    except UnwritableError:  # the process that gives the jobs finds the same, and says so
        sys.exit()


@cache
def _describe_process() -> dict[str, Any]:
    """The circumstances of this process, which do not change while it runs."""
    return record_circumstances()


def _sum_up(opened: AllRuns, run: Run) -> None:
    try:
        write_summary(run)
    except Exception as error:
        opened.troubles[run.name] = f"{type(error).__name__}: {error}"


def write_summary_of_all(opened: AllRuns, minutes: float) -> str:
    """How many parts, seconds and bytes each experiment took, and all that went wrong."""
    outcomes = [run.outcome() for run in opened.runs]
    rows = [make_row(outcome) for outcome in outcomes]
    lines = [write_table(rows), ""] if rows else []
    lines += [line.replace("- ", f"- {o.name}/", 1) for o in outcomes for line in list_failures(o)]
    lines += [f"- {name}: {words}" for name, words in opened.troubles.items()]
    state = "complete" if opened.is_complete else "not complete"
    return "\n".join([*lines, f"{state}, after {minutes:.3g} minutes."]) + "\n"
