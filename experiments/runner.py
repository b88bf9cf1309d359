"""Run an experiment: compute the parts that are missing, keep each at once, and sum up.

A part that raises is recorded with its error and the others go on; the next run tries it again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from tools.meter import PeakMemory, commit, machine, versions

from experiments.experiment import Experiment, Part, checked_parts
from experiments.outcome import Outcome
from experiments.store import Store

__all__ = [
    "Run",
    "circumstances",
    "compute_missing",
    "compute_part",
    "give_up",
    "open_run",
    "run_folder",
]

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

    def outcome(self) -> Outcome:
        """What there is of it by now."""
        found = (self.store.read(part) for part in self.parts)
        records = [record for record in found if record is not None]
        return Outcome(self.name, self.experiment, self.quick, self.seed, len(self.parts), records)

    def missing(self) -> list[Part]:
        """The parts that are not finished."""
        finished = {record["id"] for record in self.outcome().done}
        return [part for part in self.parts if part.id not in finished]


def run_folder(name: str, quick: bool, seed: int, out: Path) -> Path:
    """`out`/NAME; a quick run and each other seed have folders of their own."""
    return out / (name + ("-quick" if quick else "") + (f"-seed{seed}" if seed else ""))


def open_run(name: str, experiment: Experiment, quick: bool, seed: int, out: Path) -> Run:
    """A run and its folder."""
    from gramlearn import datasets  # here, so that processes that compute do not wait for it

    data = {known: datasets.load(known).source for known in experiment.data}
    store = Store(run_folder(name, quick, seed, out), experiment.version, data)
    parts = tuple(checked_parts(experiment, quick, seed))
    return Run(name, experiment, quick, seed, store, parts)


def compute_missing(run: Run, report: Callable[[Part | None], object] = lambda part: None) -> None:
    """Compute what is not there. `report` gets each part before it, and None when it is over."""
    facts, missing = circumstances(), {part.id for part in run.missing()}
    for part in run.parts:
        report(part)
        if part.id in missing:
            compute_part(run, part, facts)
        report(None)


def circumstances() -> dict[str, Any]:
    """What a record says about the place it was made at."""
    return {"commit": commit(), "machine": machine(), "versions": _versions()}


def compute_part(run: Run, part: Part, facts: dict[str, Any]) -> None:
    """Compute one part and keep it, or the error it raised."""
    began = time.perf_counter()
    with PeakMemory("numpy") as memory:
        try:
            outcome: dict[str, Any] = {"status": "done", "result": run.experiment.compute(part)}
        except Exception as error:
            outcome = _failed(error)
    facts = {"seconds": time.perf_counter() - began, **facts}
    if memory.level is not None and memory.above is not None:
        facts["memory_bytes"] = memory.level + memory.above
    try:
        _keep(run, part, outcome, facts)
    except (TypeError, ValueError) as error:  # what compute gave does not fit into JSON
        _keep(run, part, _failed(error), facts)


def give_up(run: Run, part: Part, error: Exception, seconds: float) -> None:
    """Keep the error of a part whose process could not do so itself."""
    _keep(run, part, _failed(error), {"seconds": seconds, **circumstances()})


def _keep(run: Run, part: Part, outcome: dict[str, Any], facts: dict[str, Any]) -> None:
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    run.store.write(part, {**outcome, "date": date, **facts})


def _failed(error: Exception) -> dict[str, Any]:
    return {"status": "failed", "error": f"{type(error).__name__}: {error}"}


def _versions() -> dict[str, str]:
    found = versions(_PACKAGES)
    # Without an installation there is no version, but there is the commit.
    return {"gramlearn": "not installed, run from its sources", **found}
