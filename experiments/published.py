"""Results that docs/reproduction.md is written from: one small file for each experiment, in the repository.

    a run  ->  NAME.json: one line a part, circumstances once  ->  the document

A file is read only if version, parameters and seed are still those of the experiment.
"""

import json
from pathlib import Path
from typing import Any

from tools.atomic_files import write_atomically

from experiments.experiment import Experiment, Result, checked_parts
from experiments.runs import Outcome

FOLDER = Path(__file__).resolve().parent / "published"
_PLACE = ("data", "commit", "machine", "versions")  # the same for all parts, or nearly all
_OWN = ("id", "parameters", "seed", "status", "error", "seconds", "memory_bytes", "date")


def publish(outcome: Outcome, folder: Path) -> None:
    """Write the file of an experiment, with what its tables, figure and claims need."""
    places: list[dict[str, Any]] = []
    lines = []
    for record in outcome.records:
        place = {name: record[name] for name in _PLACE}
        if place not in places:
            places.append(place)
        kept = {name: record[name] for name in _OWN if name in record}
        if record["status"] == "done":
            result = Result(record["parameters"], record["result"])
            kept["result"] = outcome.experiment.kept(result)
        lines.append(_format_compactly({**kept, "place": places.index(place)}))
    head = {"experiment": outcome.name, "version": outcome.experiment.version, "places": places}
    text = _format_compactly(head)[:-1] + ',"parts":[\n' + ",\n".join(lines) + "\n]}\n"
    write_atomically(folder / f"{outcome.name}.json", text)


def read_published(name: str, experiment: Experiment, folder: Path) -> Outcome | None:
    """The published results of this version of an experiment; None where there are none."""
    file = folder / f"{name}.json"
    try:
        return _read_outcome(name, experiment, json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{file} is not what was published of {name}, or damaged ({type(error).__name__}); take it from "
            "the repository again, or remove it and publish a run."
        ) from error


def _read_outcome(name: str, experiment: Experiment, found: dict[str, Any]) -> Outcome | None:
    parts = checked_parts(experiment, False, 0)
    if found["version"] != experiment.version:
        return None
    by_id = {record["id"]: record for record in found["parts"]}
    records = []
    for part in parts:
        record = by_id.get(part.id)
        parameters = json.loads(
            _format_compactly(part.parameters)
        )  # a tuple is a list once it is written
        if record and (record["parameters"], record["seed"]) == (parameters, part.seed):
            records.append({**record, **found["places"][record["place"]]})
    outcome = Outcome(name, experiment, False, 0, len(parts), records)
    outcome.results(), outcome.seconds  # all that is asked of it is there
    return outcome if records else None


def _format_compactly(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
