"""What is left of a run: results.json, results.csv, table.md and figure.png in its folder."""

import csv
import io
import json
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from experiments.runner import Run
from experiments.store import write_whole

__all__ = ["markdown", "write_report"]


def write_report(run: Run) -> str:
    """Write all files of a run; give the table as Markdown."""
    text = markdown(run)
    write_whole(run.folder / "results.json", json.dumps(_summary(run), indent=1) + "\n")
    write_whole(run.folder / "results.csv", _csv(run.records()))
    write_whole(run.folder / "table.md", text)
    results = run.results()
    if results and find_spec("matplotlib"):
        figure = run.experiment.figure(results)
        figure.savefig(run.folder / "figure.png", dpi=150)
    return text


def markdown(run: Run) -> str:
    """The claim, the circumstances, the table, and what failed."""
    records, experiment = run.records(), run.experiment
    if not records:
        raise FileNotFoundError(
            f"there are no results in {run.folder}; `python -m experiments run {run.name}` makes some."
        )
    lines = [f"### {run.name}", "", f"{experiment.paper}: {experiment.claim}", ""]
    lines += [_circumstances(run, records), ""]
    results = run.results()
    if results:
        for head, rows in groupby(experiment.table(results), key=list):
            lines += [_line(head), _line(["---"] * len(head))]
            lines += [_line([row[column] for column in head]) for row in rows] + [""]
    lines += [
        f"- {record['id']} failed: {record['error'].rstrip('.')}."
        for record in records
        if record["status"] == "failed"
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _circumstances(run: Run, records: list[dict[str, Any]]) -> str:
    """One line: how much of the run is there, its seed, and the machines and versions behind it."""
    done = sum(record["status"] == "done" for record in records)
    parts = [f"{done} of {len(run.parts)} parts" + (" (quick)" if run.quick else "")]
    parts += [f"seed {run.seed}", f"version {run.experiment.version}"]
    parts += [f"data: {source}" for source in records[0]["data"].values()]
    seconds = sum(record["seconds"] for record in records)
    parts.append(f"{seconds:.3g} s in all")
    described = []
    for record in records:
        place, packages = record["machine"], record["versions"]
        words = f"{place['processor']}, {place['cores']} cores, {place['system']}; "
        words += ", ".join(f"{package} {version}" for package, version in packages.items())
        described.append(words)
    return "; ".join([*parts, *dict.fromkeys(described)]) + "."


def _summary(run: Run) -> dict[str, Any]:
    results = run.results()
    return {
        "experiment": run.name,
        "paper": run.experiment.paper,
        "claim": run.experiment.claim,
        "version": run.experiment.version,
        "seed": run.seed,
        "quick": run.quick,
        "table": run.experiment.table(results) if results else [],
        "parts": run.records(),
    }


def _csv(records: list[dict[str, Any]]) -> str:
    """One row a part; nested names are joined by dots, such as machine.cores."""
    rows = [_flat(record) for record in records]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{prefix}{name}.")
        else:
            row[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return row
