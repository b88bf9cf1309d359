"""How much of each run there is, what it took, and the data, machines and versions behind it.

In a line for one experiment, as a chapter of tables and lists for all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.judging import listed
from experiments.outcome import Outcome
from experiments.tables import markdown_table

__all__ = ["chapter", "one_line", "row_of"]


def one_line(outcome: Outcome) -> str:
    """Parts, seed, data, seconds and memory, machines and versions."""
    row = row_of(outcome)
    parts = [f"{row['finished']} parts" + (" (quick)" if outcome.quick else "")]
    parts += [f"seed {outcome.seed}", f"version {outcome.experiment.version}"]
    parts += [f"data: {source}" for source in outcome.records[0]["data"].values()]
    parts.append(f"{row['seconds']} s in all")
    if row["most memory"]:
        parts.append(f"at most {row['most memory']}")
    return "; ".join([*parts, *dict.fromkeys(map(_place, outcome.records))]) + "."


def row_of(outcome: Outcome) -> dict[str, str]:
    """What came of it, as a row of a table."""
    return {
        "experiment": outcome.name,
        "finished": f"{len(outcome.done)} of {outcome.n_parts}",
        "failed": str(len(outcome.failed)),
        "seconds": _seconds(outcome.seconds),
        "most memory": _memory(outcome.memory_bytes),
    }


def chapter(outcomes: Sequence[Outcome]) -> list[str]:
    """What each experiment took, and all together; every file of data, and every place, once."""
    memory = [o.memory_bytes for o in outcomes if o.memory_bytes is not None]
    rows = [
        row_of(o)
        | {
            "timed": _timed(o),
            "seed": str(o.seed),
            "version": str(o.experiment.version),
        }
        for o in outcomes
    ]
    rows.append(
        dict.fromkeys(rows[0], "")
        | {
            "experiment": "**all**",
            "finished": f"{sum(len(o.done) for o in outcomes)} of {sum(o.n_parts for o in outcomes)}",
            "failed": str(sum(len(o.failed) for o in outcomes)),
            "seconds": _seconds(sum(o.seconds for o in outcomes)),
            "most memory": _memory(max(memory, default=None)),
        }
    )
    data: dict[str, None] = {}
    places: dict[str, list[str]] = {}
    for outcome in outcomes:
        data |= dict.fromkeys(outcome.records[0]["data"].values())
        for words in dict.fromkeys(map(_place, outcome.records)):
            places.setdefault(words, []).append(outcome.name)
    return [
        "## Circumstances",
        "",
        "Seconds are by the clock, part by part. `run --all` computes two parts at a time, if it is not told "
        "otherwise, but for those that are timed, which have nothing beside them.",
        "",
        markdown_table(rows),
        "",
        "Computed by:",
        "",
        *(f"- {words}: {listed(names)}." for words, names in places.items()),
        "",
        *(["Data:", "", *(f"- {source}" for source in sorted(data)), ""] if data else []),
    ]


def _timed(outcome: Outcome) -> str:
    """How many parts had nothing beside them."""
    parts = outcome.experiment.parts(outcome.quick) if outcome.experiment.timed else []
    count = sum(part.timed for part in parts)
    return "" if not count else "all" if count == len(parts) else str(count)


def _place(record: Mapping[str, Any]) -> str:
    machine = record["machine"]
    words = [f"{name} {version}" for name, version in record["versions"].items()]
    words += [f"commit {record['commit']}"] if record["commit"] else []
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {', '.join(words)}"
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 99.5 else f"{seconds:.2g}"


def _memory(found: int | None) -> str:
    return "" if found is None else f"{found / 2**30:.2g} GiB"
