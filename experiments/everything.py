"""All experiments in one go: quick ones first, two processes, and what measures seconds alone at the end.

What fails is named in the summary and stops nothing else.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from experiments import reproductions
from experiments.provenance import row_of
from experiments.report import failures, write_report
from experiments.runner import Run, open_run
from experiments.tables import markdown_table
from experiments.workers import Job, compute_jobs

__all__ = ["Everything", "compute_everything", "open_everything", "summary"]


@final
@dataclass(frozen=True)
class Everything:
    """The runs, in the order they are computed, and why an experiment is not among them or not written up."""

    runs: list[Run]
    troubles: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every part of every experiment is finished, and written up."""
        return not self.troubles and all(run.outcome().is_complete for run in self.runs)


def open_everything(quick: bool, seed: int, out: Path, seconds: Mapping[str, float]) -> Everything:
    """Open all experiments; `seconds` are what they took before, which the order follows."""
    runs, troubles = [], {}
    for name in reproductions.names():
        try:
            runs.append(open_run(name, reproductions.find(name), quick, seed, out))
        except Exception as error:  # its data are not here, or a package that it asks for
            troubles[name] = str(error)
    runs.sort(key=lambda run: (run.experiment.timed, seconds.get(run.name, float("inf"))))
    return Everything(runs, troubles)


def compute_everything(
    everything: Everything,
    n_workers: int,
    limit: float,
    report: Callable[[Job, bool], object] = lambda job, is_over: None,
) -> None:
    """Compute what is missing, and write up each experiment as soon as its last part is over."""
    jobs = [Job(run, part) for run in everything.runs for part in run.missing()]
    left = Counter(job.run.name for job in jobs)

    def after(job: Job, is_over: bool) -> None:
        report(job, is_over)
        left[job.run.name] -= is_over
        if is_over and not left[job.run.name]:
            _write_up(everything, job.run)

    for run in everything.runs:
        if not left[run.name] and not (run.folder / "results.json").exists():
            _write_up(everything, run)
    compute_jobs([job for job in jobs if not job.is_timed], n_workers, limit, after)
    compute_jobs([job for job in jobs if job.is_timed], 1, limit, after)


def _write_up(everything: Everything, run: Run) -> None:
    try:
        write_report(run)
    except Exception as error:
        everything.troubles[run.name] = f"{type(error).__name__}: {error}"


def summary(everything: Everything, minutes: float) -> str:
    """How many parts, seconds and bytes each experiment took, and all that went wrong."""
    outcomes = [run.outcome() for run in everything.runs]
    rows = [row_of(outcome) for outcome in outcomes]
    lines = [markdown_table(rows), ""] if rows else []
    lines += [line.replace("- ", f"- {o.name}/", 1) for o in outcomes for line in failures(o)]
    lines += [f"- {name}: {words}" for name, words in everything.troubles.items()]
    state = "complete" if everything.is_complete else "not complete"
    return "\n".join([*lines, f"{state}, after {minutes:.3g} minutes."]) + "\n"
