"""python -m experiments list | run NAME | table NAME"""

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from experiments import reproductions
from experiments.experiment import Part
from experiments.report import markdown, write_report
from experiments.runner import Run, compute_missing, open_run
from gramlearn.datasets import DatasetNotFoundError

__all__ = ["main"]

_OUT = Path(__file__).resolve().parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give the exit status: 0, 1 where a part failed, 2 for what the user can mend."""
    args = _parser().parse_args(arguments)
    if args.command == "list":
        return _list()
    try:
        run = open_run(args.name, reproductions.find(args.name), args.quick, args.seed, args.out)
        return {"run": _run, "table": _table}[args.command](run)
    except (DatasetNotFoundError, FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the experiments and their claims")
    run = commands.add_parser("run", help="compute what is missing, and sum up")
    table = commands.add_parser("table", help="print the results so far as Markdown")
    for command in (run, table):
        command.add_argument("name", metavar="NAME", help="one of those that `list` names")
        command.add_argument("--quick", action="store_true", help="a few small parts, in seconds")
        command.add_argument("--seed", type=_count, default=0, metavar="N", help="default: 0")
        command.add_argument(
            "--out", type=Path, default=_OUT, metavar="DIR", help=f"default: {_OUT}"
        )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"it must be a whole number from 0; got {text}")
    return int(text)


def _list() -> int:
    for name in reproductions.names():
        experiment = reproductions.find(name)
        needs = f" Needs the data set {', '.join(experiment.data)}." if experiment.data else ""
        print(f"{name:22} {experiment.paper}: {experiment.claim}{needs}")
    return 0


def _run(run: Run) -> int:
    try:
        # disable=None: a bar on a terminal, nothing in a log.
        with tqdm(total=len(run.parts), desc=run.name, disable=None) as bar:

            def report(part: Part | None) -> None:
                bar.update() if part is None else bar.set_postfix_str(part.id)

            compute_missing(run, report)
    except KeyboardInterrupt:
        finished = len(run.results())
        print(
            f"interrupted; {finished} of {len(run.parts)} parts are finished and kept in {run.folder}, and "
            "the same command goes on from there",
            file=sys.stderr,
        )
        return 130
    print(write_report(run), end="")
    return int(len(run.results()) < len(run.parts))


def _table(run: Run) -> int:
    print(markdown(run), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
