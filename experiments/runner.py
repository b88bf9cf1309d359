"""Run an experiment: compute the parts that are missing, keep each at once, and sum up.

A part that raises is recorded with its error and the others go on; the next run tries it again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from benchmarks.meter import commit, machine, versions

from experiments.experiment import Experiment, Part, Result, checked_parts
from experiments.store import Store
from gramlearn import datasets

__all__ = ["Run", "compute_missing", "open_run"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "gramlearn")


@final
@dataclass(frozen=True)
class Run:
    """One run of an experiment: which one, how, and where its results are."""

    name: str
    experiment: Experiment
    quick: bool
    seed: int
    store: Store
    parts: tuple[Part, ...]

    @property
    def folder(self) -> Path:
        """Where the results are."""
        return self.store.folder

    def records(self) -> list[dict[str, Any]]:
        """What there is of each part, finished or failed, in the order of the parts."""
        found = (self.store.read(part) for part in self.parts)
        return [record for record in found if record is not None]

    def results(self) -> list[Result]:
        """The results of the finished parts."""
        done = [record for record in self.records() if record["status"] == "done"]
        return [Result(record["parameters"], record["result"]) for record in done]


def open_run(name: str, experiment: Experiment, quick: bool, seed: int, out: Path) -> Run:
    """A run and its folder, `out`/NAME; a quick run and each other seed have folders of their own."""
    data = {known: datasets.load(known).source for known in experiment.data}
    ending = ("-quick" if quick else "") + (f"-seed{seed}" if seed else "")
    store = Store(out / (name + ending), experiment.version, data)
    parts = tuple(checked_parts(experiment, quick, seed))
    return Run(name, experiment, quick, seed, store, parts)


def compute_missing(run: Run, report: Callable[[Part | None], object] = lambda part: None) -> None:
    """Compute what is not there. `report` gets each part before it, and None when it is over."""
    facts = {"commit": commit(), "machine": machine(), "versions": _versions()}
    for part in run.parts:
        report(part)
        kept = run.store.read(part)
        if kept is None or kept["status"] != "done":
            _compute(run, part, facts)
        report(None)


def _compute(run: Run, part: Part, facts: dict[str, Any]) -> None:
    began = time.perf_counter()
    try:
        outcome: dict[str, Any] = {"status": "done", "result": run.experiment.compute(part)}
    except Exception as error:
        outcome = _failed(error)
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    facts = {"seconds": time.perf_counter() - began, "date": date, **facts}
    try:
        run.store.write(part, {**outcome, **facts})
    except (TypeError, ValueError) as error:  # what compute gave does not fit into JSON
        run.store.write(part, {**_failed(error), **facts})


def _failed(error: Exception) -> dict[str, Any]:
    return {"status": "failed", "error": f"{type(error).__name__}: {error}"}


def _versions() -> dict[str, str]:
    found = versions(_PACKAGES)
    # Without an installation there is no version, but there is the commit.
    return {"gramlearn": "not installed, run from its sources", **found}
