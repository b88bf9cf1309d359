"""A run of an experiment: compute the missing parts, and store each at once in parts/ID.json.

A file is written whole or not at all, so a run that is killed goes on where it was. A part is taken from its
file only if version, parameters, seed and data are still the same. One that raises is recorded with its error
and the others go on; the next run tries it again.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from tools.atomic_files import UnwritableError, write_atomically
from tools.meter import PeakMemory, describe_commit, describe_machine, list_versions

from experiments.experiment import Experiment, Part, Result, checked_parts, results_of

_PACKAGES = ("numpy", "scipy", "scikit-learn", "gramlearn")


@final
@dataclass(frozen=True)
class Outcome:
    """What came of an experiment, wherever it was kept: records in the order of the parts, of so many parts."""

    name: str
    experiment: Experiment
    quick: bool
    seed: int
    n_parts: int
    records: list[dict[str, Any]]

    @property
    def done(self) -> list[dict[str, Any]]:
        """The records of the finished parts."""
        return [record for record in self.records if record["status"] == "done"]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The records of the parts that raised."""
        return [record for record in self.records if record["status"] == "failed"]

    @property
    def is_complete(self) -> bool:
        """Whether every part is finished."""
        return len(self.done) == self.n_parts

    def results(self) -> list[Result]:
        """What the finished parts gave."""
        records = [(record["parameters"], record["result"]) for record in self.done]
        return [result for record in records for result in results_of(*record)]

    @property
    def seconds(self) -> float:
        """What all parts took together."""
        return sum(record["seconds"] for record in self.records)

    @property
    def memory_bytes(self) -> int | None:
        """The most memory that a process held during a part; None where it was not always measured."""
        measured = [record.get("memory_bytes") for record in self.done]
        return max(measured) if measured and all(measured) else None


@final
@dataclass(frozen=True)
class Run:
    """One run of an experiment: which one, how, where its results are, and where each data set came from."""

    name: str
    experiment: Experiment
    quick: bool
    seed: int
    folder: Path
    data: dict[str, str]
    parts: tuple[Part, ...]

    def outcome(self) -> Outcome:
        """The outcome of the run so far."""
        records = [record for record in map(self.read, self.parts) if record is not None]
        return Outcome(self.name, self.experiment, self.quick, self.seed, len(self.parts), records)

    def missing(self) -> list[Part]:
        """The parts that are not finished."""
        finished = {record["id"] for record in self.outcome().done}
        return [part for part in self.parts if part.id not in finished]

    def read(self, part: Part) -> dict[str, Any] | None:
        """The record of this very part, finished or failed; None where there is none."""
        path = self._path(part)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except PermissionError:
            raise UnwritableError(
                f"{path} may not be read; ask for the right, or pass another folder as --out."
            ) from None
        # None there, or another file than ours; something else in its place, writing will say what.
        except (OSError, ValueError, RecursionError):
            return None
        key = self._key(part)
        same = isinstance(record, dict) and {name: record.get(name) for name in key} == key
        return record if same and _is_whole(record) else None

    def write(self, part: Part, facts: dict[str, Any]) -> None:
        """Store the record of a part."""
        record = {**self._key(part), **facts}
        write_atomically(self._path(part), json.dumps(record, indent=1, allow_nan=False) + "\n")

    def _key(self, part: Part) -> dict[str, Any]:
        """All that a result depends on."""
        key = {"id": part.id, "parameters": part.parameters, "seed": part.seed}
        key |= {"version": self.experiment.version, "data": self.data}
        return json.loads(json.dumps(key, allow_nan=False))  # a tuple is a list once it is written

    def _path(self, part: Part) -> Path:
        return self.folder / "parts" / f"{part.id}.json"


def _is_whole(record: dict[str, Any]) -> bool:
    """Whether this is a complete record, as `write` stores it."""
    named = {"done": ("result", dict), "failed": ("error", str)}.get(str(record.get("status")))
    return named is not None and isinstance(record.get(named[0]), named[1])


def find_run_folder(name: str, quick: bool, seed: int, out: Path) -> Path:
    """`out`/NAME; a quick run and each other seed have folders of their own."""
    return out / (name + ("-quick" if quick else "") + (f"-seed{seed}" if seed else ""))


def open_run(name: str, experiment: Experiment, quick: bool, seed: int, out: Path) -> Run:
    """A run and its folder."""
    from gramlearn import datasets

    data = {known: datasets.load(known).source for known in experiment.data}
    parts = tuple(checked_parts(experiment, quick, seed))
    return Run(name, experiment, quick, seed, find_run_folder(name, quick, seed, out), data, parts)


# -- computing parts -------------------------------------------------------------------------------


def compute_missing(run: Run, report: Callable[[Part | None], object] = lambda part: None) -> None:
    """Compute what is not there. `report` gets each part before it, and None when it is over."""
    facts, missing = record_circumstances(), {part.id for part in run.missing()}
    for part in run.parts:
        report(part)
        if part.id in missing:
            compute_part(run, part, facts)
        report(None)


def record_circumstances() -> dict[str, Any]:
    """What a record says about the place it was made at."""
    # Without an installation there is no version, but there is the commit.
    found = {"gramlearn": "not installed, run from its sources", **list_versions(_PACKAGES)}
    return {"commit": describe_commit(), "machine": describe_machine(), "versions": found}


def compute_part(run: Run, part: Part, facts: dict[str, Any]) -> None:
    """Compute one part and keep it, or the error it raised."""
    began = time.perf_counter()
    with PeakMemory("numpy") as memory:
        try:
            outcome: dict[str, Any] = {"status": "done", "result": run.experiment.compute(part)}
        except Exception as error:
            outcome = _describe_failure(error)
    facts = {"seconds": time.perf_counter() - began, **facts}
    if memory.level is not None and memory.above is not None:
        facts["memory_bytes"] = memory.level + memory.above
    try:
        _write_record(run, part, outcome, facts)
    except (TypeError, ValueError) as error:  # what compute gave does not fit into JSON
        _write_record(run, part, _describe_failure(error), facts)


def record_lost_part(run: Run, part: Part, error: Exception, seconds: float) -> None:
    """Keep the error of a part whose process could not do so itself."""
    _write_record(
        run, part, _describe_failure(error), {"seconds": seconds, **record_circumstances()}
    )


def _write_record(run: Run, part: Part, outcome: dict[str, Any], facts: dict[str, Any]) -> None:
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    run.write(part, {**outcome, "date": date, **facts})


def _describe_failure(error: Exception) -> dict[str, Any]:
    return {"status": "failed", "error": f"{type(error).__name__}: {error}"}
