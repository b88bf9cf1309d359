"""python -m benchmarks list | run | table | auto | plot | leaderboard"""

import argparse
import math
import signal
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from experiments.run_all import AllRuns, Job, compute_all
from experiments.runs import open_run
from experiments.summary import write_summary
from tools.arguments import positive, whole_number
from tools.meter import limit_threads
from tqdm import tqdm

from benchmarks import contestants, data
from benchmarks.choice import compare_solvers, write_choices
from benchmarks.instance import LIBRARIES, Spec
from benchmarks.judge import LOSSES, REGULARIZERS
from benchmarks.leaderboard.boards import BOARDS
from benchmarks.plot import draw_plot
from benchmarks.report import read_results, write_table
from benchmarks.runner import Limit, run_instance
from benchmarks.sizes import QUICK, REAL, SIZES

_PART_LIMIT = 3600.0  # seconds for a part of a board, whose fits have limits of their own
_AUTO_LIMIT = 120.0  # seconds for a solve of the library's choice
_OUT = Path(__file__).resolve().parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; give the exit status."""
    args = _parser().parse_args(arguments)
    if getattr(args, "threads", None):
        limit_threads(args.threads)
    try:
        commands = {
            "list": _list,
            "run": _run,
            "table": _table,
            "auto": _auto,
            "plot": _plot,
            "leaderboard": _leaderboard,
        }
        return commands[args.command](args)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the contestants, the data and the sizes")
    run = commands.add_parser("run", help="run contestants and judge their answers")
    run.add_argument("--only", action="append", metavar="NAME", help="this contestant (repeatable)")
    run.add_argument("--again", action="store_true", help="what this commit has done already, too")
    auto = commands.add_parser("auto", help="time every solver, and the library's choice of one")
    for command in (run, auto):
        _add_choice_of_instances(command)
    table = commands.add_parser("table", help="print the results as Markdown")
    plot = commands.add_parser("plot", help="draw gap against time, one PNG an instance")
    board = commands.add_parser("leaderboard", help="methods at their defaults, on many sets")
    board.add_argument("board", choices=BOARDS, help="what they are judged by")
    board.add_argument("--quick", action="store_true", help="one small set, in seconds")
    board.add_argument("--draws", type=whole_number(1), metavar="N", help="the first so many alone")
    board.add_argument("--data", action="append", metavar="NAME", help="this set (repeatable)")
    board.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="default: 0")
    workers = "processes, of one thread each (default: 1)"
    board.add_argument("--workers", type=whole_number(1), default=1, metavar="N", help=workers)
    for command in (run, table, plot, board):
        command.add_argument(
            "--out", type=Path, default=_OUT, metavar="DIR", help=f"default: {_OUT}"
        )
    return parser


def _add_choice_of_instances(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--quick", action="store_true", help="one tiny instance, in seconds")
    add("--data", action="append", metavar="NAME", help="these data (repeatable)")
    add("--sizes", nargs="+", choices=SIZES, help="default: those of real --data, otherwise small")
    add("--regularizer", action="append", choices=REGULARIZERS, help="this one (repeatable)")
    add("--loss", action="append", choices=LOSSES, help="this one (repeatable)")
    add("--price", action="append", type=positive, metavar="C", help="this one (repeatable)")
    pairs = "so many pairs or triplets (repeatable)"
    add("--pairs", action="append", type=whole_number(1), metavar="N", help=pairs)
    library = "whose arrays (default: the size's own, mostly numpy)"
    add("--library", choices=LIBRARIES, help=library)
    add("--seed", type=whole_number(0), metavar="N", help="of the data (default: 0)")
    add("--limit", type=positive, metavar="SECONDS", help="for one solve")
    add("--threads", type=whole_number(1), metavar="N", help="of BLAS and of Numba")


def _list(args: argparse.Namespace) -> int:
    del args
    print("contestants")
    for name in contestants.names():
        print(f"  {name:20} {contestants.find(name).summary}")
    print("data\n  " + ", ".join(data.names()))
    print("sizes")
    for name, size in SIZES.items():
        passes = f", {size.limit.passes:,} passes" if size.limit.passes < math.inf else ""
        seconds = f"{size.limit.seconds:g} s{passes}"
        print(f"  {name:20} {seconds} for a contestant on each of {len(size.specs)}")
        for spec in size.specs:
            print(f"  {'':20} {spec.name}")
    return 0


def _run(args: argparse.Namespace) -> int:
    names = args.only or contestants.names()
    for name in names:
        contestants.find(name)
    tasks = _choose_tasks(args)
    runs = []
    # disable=None: a bar on a terminal, nothing in a log.
    with tqdm(total=len(tasks) * len(names), disable=None) as bar:

        def report(what: str) -> None:
            bar.set_description(what) if what else bar.update()

        for spec, limit in tasks.items():
            runs.append(
                run_instance(spec, names, limit, args.out, not args.quick, report, args.again)
            )
            # Real instances are too many; `plot` draws them, too.
            if find_spec("matplotlib") and not spec.is_real:
                draw_plot(runs[-1], args.out)
    print(write_table(runs), end="")
    return 0


def _choose_tasks(args: argparse.Namespace) -> dict[Spec, Limit]:
    """The instances that the options leave, each once, with their limits."""
    unknown = set(args.data or ()) - set(data.names())
    if unknown:
        raise ValueError(
            f"there are no data {', '.join(unknown)}; there are {', '.join(data.names())}."
        )
    tasks: dict[Spec, Limit] = {}
    for spec, limit in _list_instances(args):
        wanted = (
            (args.data, spec.data),
            (args.regularizer, spec.regularizer),
            (args.loss, spec.loss),
            (args.price, spec.price),
            (args.pairs, spec.c),
        )
        if all(not asked or value in asked for asked, value in wanted):
            chosen = replace(spec, seed=args.seed or 0, library=args.library or spec.library)
            if args.limit or chosen.is_on_gpu:
                # On a GPU a pass takes no longer than it takes to ask for it, and says nothing.
                limit = Limit(args.limit or limit.seconds)
            tasks.setdefault(chosen, limit)
    if not tasks:
        raise ValueError("no instance is left; `python -m benchmarks list` names them all.")
    return tasks


def _list_instances(args: argparse.Namespace) -> list[tuple[Spec, Limit]]:
    """Those of the sizes; where no size is asked for, data with real instances have those."""
    sizes = [QUICK] if args.quick else [SIZES[name] for name in args.sizes or (*REAL, "small")]
    listed = [(spec, size.limit) for size in sizes for spec in size.specs]
    if args.quick or args.sizes:
        return listed
    real = {spec.data for spec, _ in listed if spec.is_real} & set(args.data or ())
    return [(spec, limit) for spec, limit in listed if spec.is_real == (spec.data in real)]


def _table(args: argparse.Namespace) -> int:
    print(write_table(read_results(args.out)), end="")
    return 0


def _auto(args: argparse.Namespace) -> int:
    tasks = _choose_tasks(args)
    choices = compare_solvers(tasks, args.limit or _AUTO_LIMIT)
    # disable=None: a bar on a terminal, nothing in a log.
    for line in write_choices(tqdm(choices, total=len(tasks), disable=None)):
        tqdm.write(line)
    return 0


def _plot(args: argparse.Namespace) -> int:
    for run in read_results(args.out):
        path = draw_plot(run, args.out)
        print(
            path or f"{run['instance']['name']}: nobody gave an answer, so there is nothing to draw"
        )
    return 0


def _leaderboard(args: argparse.Namespace) -> int:
    board = BOARDS[args.board](args.seed, args.quick, args.draws, args.data)
    folder = args.out / "leaderboard"
    run = open_run(args.board, board, args.quick, args.seed, folder)
    # disable=None: a bar on a terminal, nothing in a log.
    begun = len(run.parts) - len(run.missing())
    with tqdm(total=len(run.parts), initial=begun, desc=run.name, disable=None) as bar:

        def report(job: Job, is_over: bool) -> None:
            bar.update() if is_over else bar.set_postfix_str(job.part.id)

        compute_all(AllRuns([run]), args.workers, _PART_LIMIT, report)
    print(write_summary(run), end="")
    return int(not run.outcome().is_complete)


if __name__ == "__main__":
    # An ending from outside shall end the contestant's process too, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
