"""The results as Markdown: seconds and passes to each gap, memory, and what did not work.

An instance of made data has a table of its own; the instances of real data that differ in the problem alone
share one, which `grid` makes.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.grid import group_real, write_grid
from benchmarks.wording import describe_instance, format_number, name_problem

__all__ = ["read_results", "write_table"]

_HEAD = (
    "contestant", "s to 1e-2", "s to 1e-4", "s to 1e-6", "passes to 1e-6",
    "best gap", "after s", "peak memory", "warm-up s",
)  # fmt: skip


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results in a folder, the smaller instances first."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise FileNotFoundError(
            f"there are no results in {folder}; `python -m benchmarks run --out {folder}` makes "
            "some."
        )
    return sorted(map(_read_result, files), key=_sort_key)


def _sort_key(run: dict[str, Any]) -> tuple[int, str]:
    return int(run["instance"]["c"]), str(run["instance"]["name"])


def _read_result(file: Path) -> dict[str, Any]:
    """Read one result; a damaged file is refused, since a table without it would look complete."""
    try:
        run: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        write_table([run]), _sort_key(run)  # all that a table needs is there
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{file} is no result of a benchmark, or a damaged one ({type(error).__name__}); remove it from "
            "the folder, or run that instance again."
        ) from error
    return run


def write_table(runs: list[dict[str, Any]]) -> str:
    """One Markdown table an instance; the instances of the same real data together."""
    made = [_instance(run) for run in runs if not run["instance"]["is_real"]]
    real = [write_grid(group) for group in group_real(runs)]
    return "\n\n".join([*made, *real]) + "\n"


def _instance(run: dict[str, Any]) -> str:
    spec = run["instance"]
    rows = [_row(result) for result in run["results"]]
    rows = [_HEAD, ("---",) * len(_HEAD), *rows]
    lines = [
        f"### {describe_instance(spec)}: {name_problem(spec)}",
        "",
        _describe_circumstances(run),
        "",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    troubles = [
        f"- {result['contestant']} {result['status']}: {result['reason'].rstrip('.')}."
        for result in run["results"]
        if result["reason"]
    ]
    return "\n".join([*lines, "", *troubles] if troubles else lines)


def _describe_circumstances(run: dict[str, Any]) -> str:
    """One line: the machine, the seed, the limits, the bounds."""
    machine, spec, bound = run["machine"], run["instance"], run["bound"]
    parts = []
    if machine:
        parts.append(machine.get("gpu") or f"{machine['processor']}, {machine['cores']} cores")
        threads = set(machine["threads"].values())
        parts += [f"threads: {', '.join(sorted(threads))}"] if threads else []
    limits = sorted({result["limit_seconds"] for result in run["results"]})
    parts.append(f"seed {spec['seed']}")
    parts.append("limit " + " and ".join(f"{limit:g} s" for limit in limits))
    if bound["dual"] is None:
        status = f" ({run['reference']['status']})" if run["reference"] else ""
        parts.append(f"no lower bound{status}")
    else:
        gap = format_number(bound["relative_gap"])
        parts.append(f"optimum {bound['dual']:.9g} to a relative {gap}, by {bound['found_by']}")
    return "; ".join(parts) + "."


def _row(result: dict[str, Any]) -> tuple[str, ...]:
    name, curve, reached = result["contestant"], result["curve"], result["reached"]
    if not curve:
        return (name, result["status"], *[""] * (len(_HEAD) - 2))
    last = reached["1e-06"]
    passes = result["pass_seconds"]
    best = min(curve, key=_gap)
    peak = result["peak_bytes"]
    return (
        name,
        *("never" if seconds is None else format_number(seconds) for seconds in reached.values()),
        # Other work on the machine can only make a pass look longer.
        "never" if last is None else format_number(last / min(passes)),
        format_number(best["relative_gap"]),
        format_number(best["seconds"]),
        "" if peak is None else f"{peak / 2**20:,.0f} MB",
        format_number(result["warm_up_seconds"]),
    )


def _gap(answer: dict[str, Any]) -> float:
    return float("inf") if answer["relative_gap"] is None else answer["relative_gap"]
