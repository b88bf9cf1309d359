"""Tables of the stored results on signals, killed runs, scarce resources and load."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["FOUND", "make_fault_tables"]

FOUND = Path(__file__).resolve().parent / "results"

Row = dict[str, Any]


def make_fault_tables(folder: Path = FOUND) -> dict[str, list[Row]]:
    """A title, and its rows."""
    found = {}
    for name, (title, rows) in _TABLES.items():
        file = folder / f"{name}.json"
        if file.exists():
            found[title] = rows(json.loads(file.read_text(encoding="utf-8")))
    return found


def _signals(found: list[Row]) -> list[Row]:
    return [
        {
            "fit": one["fit"],
            "moments": one["moments"],
            "an answer so far": one["outcomes"].get("answer", 0),
            "as before": one["outcomes"].get("nothing", 0),
            "over by then": one["outcomes"].get("over", 0),
            "control after, at most": f"{one['seconds_to_control']['largest'] or 0:.2f} s",
            "the next fit differs": one["next_fit_differs"],
            "troubles": len(one["troubles"]) + one["traces_left"],
        }
        for one in found
    ]


def _kills(found: list[Row]) -> list[Row]:
    return [
        {
            "command": f"`python -m {one['command']}`",
            "moments": one["moments"],
            "killed": one["killed"],
            "the same results in the end": "yes" if one["same_results"] else "no",
            "pieces left": one["pieces_left_at_the_end"],
            "troubles": len(one["troubles"]),
        }
        for one in found
    ]


def _studio(found: list[Row]) -> list[Row]:
    return [
        {
            "moments": one["moments"],
            "killed": one["killed"],
            "answers confirmed": f"{one['confirmed']:,}",
            "taken back": f"{one['taken_back']:,}",
            "sent again": f"{one['sent_again']:,}",
            "refused": one["refused"],
            "lost, twice, or other than said": len(one["troubles"]),
        }
        for one in found
    ]


def _scarcities(found: list[Row]) -> list[Row]:
    return [
        {
            "what is scarce": one["scarcity"],
            "what is said": one.get("said", f"untried: {one.get('untried')}"),
            "troubles": len(one["troubles"]),
        }
        for one in found
    ]


def _load(found: Row) -> list[Row]:
    facts = {
        "processes, threads of each": f"{found['processes']}, {found['threads']}",
        "minutes": f"{found['minutes']:g}",
        "fits": f"{found['fits']:,}",
        "threads of BLAS in the processes": ", ".join(map(str, found["threads_of_BLAS"])),
        "other answers than alone": len(found["other_answers"]),
        "other bits, with several threads of BLAS": sum(found["other_bits"].values()),
        "by at most, of the largest entry": f"{found['largest_difference']:.0e}",
        "errors": len(found["errors"]),
        "thread limits changed": found["thread_limits_changed"],
        "processes whose memory grew": found["memory_grew"],
    }
    return [{"": name, "found": value} for name, value in facts.items()]


_TABLES: dict[str, tuple[str, Callable[[Any], list[Row]]]] = {
    "sigint": ("Ctrl-C at random moments of a fit", _signals),
    "kills": ("SIGKILL at random moments of a run", _kills),
    "studio": ("SIGKILL of the studio under two clients that answer as fast as they can", _studio),
    "scarcity": ("Too little disk, rights or memory", _scarcities),
    "load": ("Many fits at once", _load),
}
