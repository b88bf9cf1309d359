"""python -m stress.faults sigint | kill | studio | scarce: signals, killed runs, and scarce resources.

    python -m stress.faults sigint --out stress/results/sigint.json    SIGINT at 100 random moments of every fit
    python -m stress.faults kill --out stress/results/kills.json       SIGKILL at 100 of two commands
    python -m stress.faults studio --out stress/results/studio.json    SIGKILL of the server that takes answers
    python -m stress.faults scarce --out stress/results/scarcity.json  full disk, no rights, address space, ...

What was found goes to the file that --out names, as JSON, after each step; the status is 1 where anything is
wrong.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.atomic_files import write_atomically

from stress.fits import FITS
from stress.interrupts import interrupt_fits
from stress.kills import COMMANDS, kill_runs
from stress.scarcity import SCARCITIES, try_scarcity
from stress.studio_kills import kill_studio

__all__ = ["is_flawless", "main"]

_SECOND = 1.0  # in which control comes back


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give the exit status."""
    args = _parser().parse_args(arguments)
    found: list[dict[str, Any]] = []
    for one in _found(args):
        found.append(one)
        print(json.dumps(one), flush=True)
        if args.out:
            write_atomically(args.out, json.dumps(found, indent=1) + "\n")
    return int(not all(map(is_flawless, found)))


def is_flawless(found: dict[str, Any]) -> bool:
    """Whether nothing was found."""
    late = (found.get("seconds_to_control") or {}).get("largest") or 0.0
    counts = ("next_fit_differs", "traces_left", "pieces_left_at_the_end", "troubles")
    return late <= _SECOND and not any(found.get(key) for key in counts)


def _found(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    if args.command == "sigint":
        for name in args.only or FITS:
            yield interrupt_fits(name, args.moments, args.seed, args.size)
    elif args.command == "kill":
        for name in args.only or COMMANDS:
            with tempfile.TemporaryDirectory() as folder:
                yield kill_runs(name, args.moments, args.seed, Path(folder))
    elif args.command == "studio":
        with tempfile.TemporaryDirectory() as folder:
            yield kill_studio(args.moments, args.seed, Path(folder))
    else:
        for name in args.only or SCARCITIES:
            yield try_scarcity(name)


def _parser() -> argparse.ArgumentParser:
    words = dict.fromkeys(("sigint", "kill", "studio", "scarce"))
    parser = argparse.ArgumentParser(
        prog="python -m stress.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=list(words))
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=float, default=0.5, help="of the fits (default: 0.5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this one (repeatable)")
    parser.add_argument("--out", type=Path, metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
