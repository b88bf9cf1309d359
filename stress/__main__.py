"""python -m stress run | report | show | publish | page: random problems and unusual calls, judged."""

import argparse
import hashlib
import os
import platform
import signal
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.atomic_files import write_atomically
from tools.meter import describe_commit, describe_machine
from tqdm import tqdm

from stress.outcome import Finding
from stress.page import PAGE, RESULTS, publish, write_published_page
from stress.report import group_findings, list_outcomes, write_report
from stress.reproduce import write_drawn_program, write_smallest_program
from stress.runner import list_streams, list_tasks, try_tasks
from stress.store import Store
from stress.tasks import STREAMS, Task

_GROUPS = {
    "problems": "random problems, mild and wild",
    "estimators": "odd calls of the estimators",
    "readers": "damaged files, given to all that reads files",
    "commands": "wrong words on the command line",
}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "mpmath", "cvxpy", "clarabel")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give the exit status."""
    args = _parser().parse_args(arguments)
    try:
        return _COMMANDS[args.command](args)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m stress", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    go = commands.add_parser("run", help="try problems and calls; goes on where it was")
    go.add_argument(
        "--minutes", type=float, default=2.0, metavar="M", help="on the wall (default: 2)"
    )
    go.add_argument("--count", type=int, metavar="N", help="at most so many tasks of each stream")
    go.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    for name, words in _GROUPS.items():
        go.add_argument(f"--{name}", action="store_true", help=words)
    go.add_argument("--stream", action="append", choices=STREAMS, help="this stream (repeatable)")
    go.add_argument("--only", action="append", default=[], metavar="WORD",
                    help="tasks with this part, such as LogDet or POLA (repeatable: with all)")  # fmt: skip
    go.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                    help="worker processes (default: one for each core)")  # fmt: skip
    go.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    told = commands.add_parser(
        "report", help="count, and print the smallest program of each finding"
    )
    told.add_argument("folder", type=Path, metavar="FOLDER")
    told.add_argument("--no-examples", action="store_true", help="counts only, at once")
    told.add_argument("--seconds", type=float, default=60.0, help="for making one example smaller")
    show = commands.add_parser("show", help="print the program of one task")
    show.add_argument("folder", type=Path, metavar="FOLDER")
    show.add_argument("id", metavar="ID", help="such as wild-0-57")
    show.add_argument("--smallest", action="store_true", help="that still shows its first finding")
    kept = commands.add_parser("publish", help="keep counts and findings of runs for the page")
    kept.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    kept.add_argument("--seconds", type=float, default=60.0, help="for making one example smaller")
    commands.add_parser("page", help=f"write {PAGE.name} from what was published")
    return parser


def _run(args: argparse.Namespace) -> int:
    groups = [name for name in _GROUPS if getattr(args, name)]
    streams = args.stream or list_streams(groups)
    facts = {
        "seed": args.seed,
        "streams": streams,
        "commit": describe_commit(),
        "machine": describe_machine(),
        "versions": {name: version(name) for name in _PACKAGES},
        "python": platform.python_version(),
    }
    store = Store(args.out, facts)
    tasks = list_tasks(streams, args.seed, store.done, args.count, args.only)
    found = 0
    # disable=None: a bar on a terminal, nothing in a log.
    with tqdm(disable=None, unit=" tasks") as bar:

        def note(line: dict[str, Any]) -> None:
            nonlocal found
            found += bool(line["findings"])
            bar.set_postfix_str(f"{found} with findings")
            bar.update()

        try:
            tried = try_tasks(tasks, store, 60 * args.minutes, args.jobs, note)
        finally:
            store.close()
    print(f"{tried} tried, {found} with findings; `python -m stress report {args.out}` says what.")
    return 1 if found else 0


def _examples(folder: Path, seconds: float) -> Callable[[Task, Finding], str]:
    """The smallest programs, each made once and kept beside the results."""
    folder = folder / "reproductions"

    def example(task: Task, finding: Finding) -> str:
        name = hashlib.sha256(f"{task.id} {finding.kind} {finding.key}".encode()).hexdigest()[:12]
        path = folder / f"{task.id}-{name}.py"
        if not path.exists():
            write_atomically(path, write_smallest_program(task, finding, seconds))
        return path.read_text(encoding="utf-8")

    return example


def _report(args: argparse.Namespace) -> int:
    examples = None if args.no_examples else _examples(args.folder, args.seconds)
    print(write_report(args.folder, examples))
    return 0


def _publish(args: argparse.Namespace) -> int:
    publish(args.folders, _examples(args.folders[0], args.seconds), RESULTS)
    return 0


def _page(args: argparse.Namespace) -> int:
    del args
    write_atomically(PAGE, write_published_page(RESULTS))
    return 0


def _show(args: argparse.Namespace) -> int:
    task = Task.of(args.id)
    if args.smallest:
        known = [line for line in list_outcomes(args.folder) if line["id"] == task.id]
        found = group_findings(known)
        if not found:
            raise ValueError(f"{args.folder} knows of no finding of {task.id}.")
        print(write_smallest_program(task, found[0].finding), end="")
    else:
        print(write_drawn_program(task), end="")
    return 0


_COMMANDS = {"run": _run, "report": _report, "show": _show, "publish": _publish, "page": _page}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
