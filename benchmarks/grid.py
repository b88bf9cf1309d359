"""Real data: one table for all problems on the same pairs.

rows: regularizer + loss        columns: prices        cell: seconds, passes to a gap of 1e-6
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

from benchmarks.judge import LOSSES, REGULARIZERS
from benchmarks.wording import describe_instance, format_number, name_pair, name_problem

__all__ = ["group_real", "write_grid"]

_GAP = "1e-06"
_CHOICE = "auto"
_ORDER = [
    name_pair({"regularizer": regularizer, "loss": loss})
    for regularizer, loss in product(REGULARIZERS, LOSSES)
]
Run = dict[str, Any]


def group_real(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs on the same real points with the same pairs, on the same machine."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        spec = run["instance"]
        if spec["is_real"]:
            key = f"{describe_instance(spec)} {spec['seed']} {run['machine']}"
            groups.setdefault(key, []).append(run)
    return list(groups.values())


def write_grid(runs: list[Run]) -> str:
    """One table for each contestant that took part."""
    spec = runs[0]["instance"]
    seed = f", seed {spec['seed']}" if spec["seed"] else ""
    parts = [f"### {describe_instance(spec)}{seed}", _describe_cells(runs)]
    names = dict.fromkeys(r["contestant"] for run in runs for r in run["results"])
    skipped = []
    for name in sorted(names, key=lambda name: (name != _CHOICE, name)):
        cells = {_place(run): _cell(r) for run, r in _results_of(runs, name)}
        if not cells:
            skipped.append(name)
            continue
        parts.append(f"**{name}**" + _count_reached(runs, name))
        parts.append(_lay_out(cells))
    parts += [f"{name} took no part: {_find_reason(runs, name)}." for name in skipped]
    troubles = [
        f"- {r['contestant']}, {name_problem(run['instance'])}: {r['reason'].rstrip('.')}."
        for run in runs
        for r in run["results"]
        if r["status"] == "failed"
    ]
    if troubles:
        parts.append("\n".join(["What failed:", "", *troubles]))
    return "\n\n".join(parts)


def _results_of(runs: list[Run], name: str) -> list[tuple[Run, dict[str, Any]]]:
    """Where a contestant took part."""
    pairs = ((run, r) for run in runs for r in run["results"])
    return [(run, r) for run, r in pairs if r["contestant"] == name and r["status"] != "skipped"]


def _find_reason(runs: list[Run], name: str) -> str:
    reasons = (r["reason"] for run in runs for r in run["results"] if r["contestant"] == name)
    return str(next(reasons)).rstrip(".")


def _place(run: Run) -> tuple[str, float]:
    return name_pair(run["instance"]), float(run["instance"]["price"])


def _describe_cells(runs: list[Run]) -> str:
    machine = runs[0]["machine"]
    where = machine.get("gpu") or f"{machine['processor']}" if machine else ""
    passes = [p for run in runs for r in run["results"] for p in r.get("pass_seconds", [])]
    words = "Seconds and passes to a relative gap of 1e-6, or the gap that was left and after how many seconds"
    if passes:
        words += f"; a pass takes {format_number(min(passes))} to {format_number(max(passes))} s"
    return f"{words}. {where}".strip()


def _count_reached(runs: list[Run], name: str) -> str:
    results = [r for _, r in _results_of(runs, name)]
    reached = sum(r["reached"][_GAP] is not None for r in results)
    return f": 1e-6 on {reached} of {len(results)}"


def _lay_out(cells: dict[tuple[str, float], str]) -> str:
    rows = sorted({row for row, _ in cells}, key=_ORDER.index)
    prices = sorted({price for _, price in cells})
    lines = [["", *(f"C = {price:g}" for price in prices)], ["---"] * (len(prices) + 1)]
    lines += [[row, *(cells.get((row, price), "") for price in prices)] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(result: dict[str, Any]) -> str:
    seconds = result["reached"][_GAP]
    if seconds is not None:
        # Other work on the machine can only make a pass look longer.
        passes = format_number(seconds / min(result["pass_seconds"]))
        return f"{format_number(seconds)} s, {passes}"
    gaps = [a for a in result["curve"] if a["relative_gap"] is not None]
    if not gaps:
        return "failed" if result["status"] == "failed" else "no gap"
    best = min(gaps, key=lambda answer: answer["relative_gap"])
    last = max(a["seconds"] for a in result["curve"])
    return f"gap {format_number(best['relative_gap'])} after {format_number(last)} s"
