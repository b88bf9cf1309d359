"""What is left of a run: results.json, results.csv, table.md and figure.png in its folder."""

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tools.whole_files import figure_whole, write_whole

from experiments.outcome import Outcome
from experiments.provenance import one_line
from experiments.runner import Run
from experiments.tables import markdown_table
from experiments.verdicts import judged

__all__ = ["draw", "failures", "markdown", "write_report"]


def write_report(run: Run) -> str:
    """Write all files of a run; give the table as Markdown."""
    outcome = run.outcome()
    text = markdown(outcome)
    write_whole(run.folder / "results.json", json.dumps(_summary(outcome), indent=1) + "\n")
    write_whole(run.folder / "results.csv", _csv(outcome.records))
    write_whole(run.folder / "table.md", text)
    draw(outcome, run.folder / "figure.png")
    return text


def draw(outcome: Outcome, path: Path) -> None:
    """Write the figure, where there are results and Matplotlib."""
    results = outcome.results()
    if results and find_spec("matplotlib"):
        figure_whole(path, outcome.experiment.figure(results).savefig)


def markdown(outcome: Outcome) -> str:
    """The claim, the circumstances, the table, what failed, and the verdicts where the run is whole."""
    experiment = outcome.experiment
    lines = [f"### {outcome.name}", "", f"{experiment.paper}: {experiment.claim}", ""]
    lines += [one_line(outcome), ""]
    results = outcome.results()
    if results:
        lines += [markdown_table(experiment.table(results)), ""]
    lines += failures(outcome)
    if results and outcome.is_complete and not outcome.quick:
        lines += judged(experiment.claims(results))
    return "\n".join(lines).rstrip("\n") + "\n"


def failures(outcome: Outcome) -> list[str]:
    """A line for each part that failed."""
    return [f"- {record['id']} failed: {record['error'].rstrip('.')}." for record in outcome.failed]


def _summary(outcome: Outcome) -> dict[str, Any]:
    results = outcome.results()
    return {
        "experiment": outcome.name,
        "paper": outcome.experiment.paper,
        "claim": outcome.experiment.claim,
        "version": outcome.experiment.version,
        "seed": outcome.seed,
        "quick": outcome.quick,
        "table": outcome.experiment.table(results) if results else [],
        "parts": outcome.records,
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
