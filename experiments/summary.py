"""The files that summarize a run: table.md with verdicts and circumstances, results.csv and figure.png.

The data, machines and versions behind runs are a line for one experiment, and a chapter for all of them.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from tools.atomic_files import save_figure_atomically, write_atomically

from experiments.experiment import Claim
from experiments.intervals import listed
from experiments.runs import Outcome, Run

VERDICTS = ("agrees", "differs", "not judged", "on a stand-in")
_SAID = {
    "differs": ("differs", "differ"),
    "not judged": ("is not judged", "are not judged"),
    "on a stand-in": ("is on a stand-in", "are on a stand-in"),
}


def write_summary(run: Run) -> str:
    """Write the table, the figure and the records as CSV; give the table as Markdown."""
    outcome = run.outcome()
    text = write_section(outcome)
    write_atomically(run.folder / "results.csv", _write_csv(outcome.records))
    write_atomically(run.folder / "table.md", text)
    draw(outcome, run.folder / "figure.png")
    return text


def draw(outcome: Outcome, path: Path) -> None:
    """Write the figure, where there are results and Matplotlib."""
    results = outcome.results()
    if results and find_spec("matplotlib"):
        save_figure_atomically(path, outcome.experiment.figure(results).savefig)


def _write_csv(records: list[dict[str, Any]]) -> str:
    """One row a part; nested names are joined by dots, such as machine.cores."""
    rows = [_flatten(record) for record in records]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flatten(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            row |= _flatten(value, f"{prefix}{name}.")
        else:
            row[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return row


# -- Markdown --------------------------------------------------------------------------------------


def write_table(rows: list[dict[str, str]]) -> str:
    """A table of rows; where the columns change, another one."""
    tables = []
    for head, of_head in groupby(rows, key=list):
        lines = [_write_row(head), _write_row(["---"] * len(head))]
        tables.append(
            "\n".join(lines + [_write_row([row[column] for column in head]) for row in of_head])
        )
    return "\n\n".join(tables)


def _write_row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_section(outcome: Outcome) -> str:
    """The claim, the circumstances, the table, what failed, and the verdicts where the run is whole."""
    experiment = outcome.experiment
    lines = [f"### {outcome.name}", "", f"{experiment.paper}: {experiment.claim}", ""]
    lines += [describe_run(outcome), ""]
    results = outcome.results()
    if results:
        lines += [write_table(experiment.table(results)), ""]
    lines += list_failures(outcome)
    if results and outcome.is_complete and not outcome.quick:
        lines += write_verdicts(experiment.claims(results))
    return "\n".join(lines).rstrip("\n") + "\n"


def list_failures(outcome: Outcome) -> list[str]:
    """A line for each part that failed."""
    return [f"- {record['id']} failed: {record['error'].rstrip('.')}." for record in outcome.failed]


# -- claims ----------------------------------------------------------------------------------------


def choose_verdict(claim: Claim) -> str:
    """One of VERDICTS, each claim in one of them."""
    if claim.agrees is None:
        return "not judged"
    if claim.stand_in:
        return "on a stand-in"
    return "agrees" if claim.agrees else "differs"


def write_verdicts(claims: Sequence[Claim]) -> list[str]:
    """A table of the claims, then what stood in for data, and a reason for each claim that is not met."""
    rows: list[dict[str, str]] = []
    notes: dict[tuple[str, str], list[str]] = {}
    for number, claim in enumerate(claims, 1):
        word = choose_verdict(claim)
        if claim.stand_in:
            word = f"{_verdict_without_stand_in(claim)}, on a stand-in"
            notes.setdefault(("on a stand-in", claim.stand_in + "."), []).append(str(number))
        if not claim.agrees:
            why = claim.reason or "the reason is not known."
            notes.setdefault((_verdict_without_stand_in(claim), why), []).append(str(number))
        rows.append(
            {
                "": str(number),
                "claim": claim.words,
                "the paper": claim.paper,
                "here": claim.ours,
                "they agree where": claim.criterion,
                "verdict": word,
            }
        )
    lines = [write_table(rows), ""]
    for (word, why), numbers in notes.items():
        one, many = _SAID[word]
        who = f"Claim{'s' * (len(numbers) > 1)} {listed(numbers)}"
        lines += [f"{who} {many if len(numbers) > 1 else one}: {why}", ""]
    return lines


def _verdict_without_stand_in(claim: Claim) -> str:
    return choose_verdict(replace(claim, stand_in=""))


# -- circumstances ---------------------------------------------------------------------------------


def describe_run(outcome: Outcome) -> str:
    """Parts, seed, data, seconds and memory, machines and versions."""
    row = make_row(outcome)
    parts = [f"{row['finished']} parts" + (" (quick)" if outcome.quick else "")]
    parts += [f"seed {outcome.seed}", f"version {outcome.experiment.version}"]
    parts += [f"data: {source}" for source in outcome.records[0]["data"].values()]
    parts.append(f"{row['seconds']} s in all")
    if row["most memory"]:
        parts.append(f"at most {row['most memory']}")
    return "; ".join([*parts, *dict.fromkeys(map(_describe_place, outcome.records))]) + "."


def make_row(outcome: Outcome) -> dict[str, str]:
    """What came of it, as a row of a table."""
    return {
        "experiment": outcome.name,
        "finished": f"{len(outcome.done)} of {outcome.n_parts}",
        "failed": str(len(outcome.failed)),
        "seconds": _format_seconds(outcome.seconds),
        "most memory": _format_memory(outcome.memory_bytes),
    }


def write_costs(outcomes: Sequence[Outcome]) -> list[str]:
    """What each experiment took, and all together; every file of data, and every place, once."""
    memory = [o.memory_bytes for o in outcomes if o.memory_bytes is not None]
    rows = [
        make_row(o)
        | {"timed": _count_timed(o), "seed": str(o.seed), "version": str(o.experiment.version)}
        for o in outcomes
    ]
    rows.append(
        dict.fromkeys(rows[0], "")
        | {
            "experiment": "**all**",
            "finished": f"{sum(len(o.done) for o in outcomes)} of {sum(o.n_parts for o in outcomes)}",
            "failed": str(sum(len(o.failed) for o in outcomes)),
            "seconds": _format_seconds(sum(o.seconds for o in outcomes)),
            "most memory": _format_memory(max(memory, default=None)),
        }
    )
    data: dict[str, None] = {}
    places: dict[str, list[str]] = {}
    for outcome in outcomes:
        data |= dict.fromkeys(outcome.records[0]["data"].values())
        for words in dict.fromkeys(map(_describe_place, outcome.records)):
            places.setdefault(words, []).append(outcome.name)
    return [
        "## Circumstances",
        "",
        "Seconds are by the clock, part by part. `run --all` computes two parts at a time, if it is not told "
        "otherwise, but for those that are timed, which have nothing beside them.",
        "",
        write_table(rows),
        "",
        "Computed by:",
        "",
        *(f"- {words}: {listed(names)}." for words, names in places.items()),
        "",
        *(["Data:", "", *(f"- {source}" for source in sorted(data)), ""] if data else []),
    ]


def _count_timed(outcome: Outcome) -> str:
    """How many parts had nothing beside them."""
    parts = outcome.experiment.parts(outcome.quick) if outcome.experiment.timed else []
    count = sum(part.timed for part in parts)
    return "" if not count else "all" if count == len(parts) else str(count)


def _describe_place(record: Mapping[str, Any]) -> str:
    machine = record["machine"]
    words = [f"{name} {version}" for name, version in record["versions"].items()]
    words += [f"commit {record['commit']}"] if record["commit"] else []
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {', '.join(words)}"
    )


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 99.5 else f"{seconds:.2g}"


def _format_memory(found: int | None) -> str:
    return "" if found is None else f"{found / 2**30:.2g} GiB"
