"""python -m experiments list | run NAME | run --all | table NAME | report"""

import argparse
import sys
import time
from pathlib import Path

from tools.arguments import file, folder, whole_number
from tqdm import tqdm

from experiments import reproductions
from experiments.experiment import Part
from experiments.pages import write_page
from experiments.published import FOLDER, read_published
from experiments.run_all import Job, compute_all, open_all, write_summary_of_all
from experiments.runs import Run, compute_missing, find_run_folder, open_run
from experiments.summary import write_section, write_summary

_HERE = Path(__file__).resolve().parent
_OUT = _HERE / "results"
_PAGE = _HERE.parent / "docs" / "reproduction.md"
_WORKERS, _LIMIT = 2, 3600


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give the exit status: 0, 1 for what is not complete, 2 for what the user can mend."""
    args = _parser().parse_args(arguments)
    commands = {
        "list": _list,
        "run": _run_all if getattr(args, "all", False) else _run,
        "table": _table,
        "report": _report,
    }
    try:
        return commands[args.command](args)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the experiments and their claims")
    run = commands.add_parser("run", help="compute what is missing, and sum up")
    table = commands.add_parser("table", help="print the results so far as Markdown")
    report = commands.add_parser("report", help="write the document from the results")
    for command in (run, table):
        chosen = command.add_mutually_exclusive_group(required=True) if command is run else command
        chosen.add_argument(
            "name",
            metavar="NAME",
            nargs="?" if command is run else None,
            help="one of those that `list` names",
        )
        if command is run:
            chosen.add_argument("--all", action="store_true", help="all of those")
        command.add_argument("--quick", action="store_true", help="a few small parts, in seconds")
        command.add_argument(
            "--seed", type=whole_number(0), default=0, metavar="N", help="default: 0"
        )
    run.add_argument(
        "--workers",
        type=whole_number(1),
        default=_WORKERS,
        metavar="N",
        help=f"with --all: processes, of one thread each (default: {_WORKERS})",
    )
    run.add_argument(
        "--limit",
        type=whole_number(1),
        default=_LIMIT,
        metavar="SECONDS",
        help=f"with --all: what one part may take (default: {_LIMIT})",
    )
    for command in (run, table, report):
        command.add_argument(
            "--out", type=folder, default=_OUT, metavar="DIR", help=f"default: {_OUT}"
        )
    report.add_argument("--to", type=file, default=_PAGE, metavar="FILE", help=f"default: {_PAGE}")
    report.add_argument(
        "--published",
        type=folder,
        default=FOLDER,
        metavar="DIR",
        help=f"the results that the document is written from, small (default: {FOLDER})",
    )
    return parser


def _list(args: argparse.Namespace) -> int:
    width = max(map(len, reproductions.names()))
    for name in reproductions.names():
        experiment = reproductions.find(name)
        sets = f"data set{'s' * (len(experiment.data) > 1)} {', '.join(experiment.data)}"
        needs = f" Needs the {sets}." if experiment.data else ""
        print(f"{name:{width}} {experiment.paper}: {experiment.claim}{needs}")
    return 0


def _open(args: argparse.Namespace) -> Run:
    return open_run(args.name, reproductions.find(args.name), args.quick, args.seed, args.out)


def _run(args: argparse.Namespace) -> int:
    run = _open(args)
    try:
        # disable=None: a bar on a terminal, nothing in a log.
        with tqdm(total=len(run.parts), desc=run.name, disable=None) as bar:

            def report(part: Part | None) -> None:
                bar.update() if part is None else bar.set_postfix_str(part.id)

            compute_missing(run, report)
    except KeyboardInterrupt:
        return _interrupted([run], run.folder)
    print(write_summary(run), end="")
    return int(not run.outcome().is_complete)


def _run_all(args: argparse.Namespace) -> int:
    began = time.monotonic()
    known = (
        (name, read_published(name, reproductions.find(name), FOLDER))
        for name in reproductions.names()
    )
    seconds = {name: outcome.seconds for name, outcome in known if outcome}
    opened = open_all(args.quick, args.seed, args.out, seconds)
    count = sum(len(run.parts) for run in opened.runs)
    done = count - sum(len(run.missing()) for run in opened.runs)
    try:
        with tqdm(total=count, initial=done, desc="all", disable=None) as bar:

            def report(job: Job, is_over: bool) -> None:
                bar.update() if is_over else bar.set_postfix_str(str(job))

            compute_all(opened, args.workers, args.limit, report)
    except KeyboardInterrupt:
        return _interrupted(opened.runs, args.out)
    print(write_summary_of_all(opened, (time.monotonic() - began) / 60), end="")
    return int(not opened.is_complete)


def _interrupted(runs: list[Run], folder: Path) -> int:
    finished = sum(len(run.outcome().done) for run in runs)
    print(
        f"interrupted; {finished} of {sum(len(run.parts) for run in runs)} parts are finished and kept in "
        f"{folder}, and the same command goes on from there",
        file=sys.stderr,
    )
    return 130


def _table(args: argparse.Namespace) -> int:
    known = read_published(args.name, reproductions.find(args.name), FOLDER)
    place = find_run_folder(args.name, args.quick, args.seed, args.out)
    if known and not (args.quick or args.seed or place.is_dir()):
        print(f"There is no run in {place}; this is what was published.", file=sys.stderr)
        print(write_section(known), end="")
        return 0
    outcome = _open(args).outcome()
    if not outcome.records:
        options = " --quick" * args.quick + f" --seed {args.seed}" * bool(args.seed)
        options += f" --out {args.out}" * (args.out != _OUT)
        raise FileNotFoundError(
            f"there are no results in {place}; `python -m experiments run {args.name}{options}` makes some."
        )
    print(write_section(outcome), end="")
    return 0


def _report(args: argparse.Namespace) -> int:
    if args.out != _OUT and not args.out.is_dir():
        raise FileNotFoundError(f"there is no folder {args.out}; pass as --out where runs are.")
    missing = write_page(args.out, args.published, args.to)
    for name, why in missing.items():
        print(f"{name}: {why}", file=sys.stderr)
    print(f"wrote {args.to}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
