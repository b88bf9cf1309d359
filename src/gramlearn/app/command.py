"""The gramlearn command: `gramlearn demo` shows the library at work on real data.

Exit codes: 0 for success, 2 for what the user can fix (one sentence on stderr says how), 130 for
Ctrl-C.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

from gramlearn.app.demo import DATA, PICTURE, UnwritableError, run_demo

_DESCRIPTION = "Learn a kernel or a metric from side information, certified by a duality gap."


class _Parser(argparse.ArgumentParser):
    """argparse, with one sentence instead of the usage in front of an error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; `{self.prog} --help` lists what can be given\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code."""
    parser = _make_parser()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return 0
    try:
        run_demo(given.data, given.out, given.seed)
    except UnwritableError as error:
        return _fail(f"{error}; choose another folder with --out", 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="gramlearn", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"gramlearn {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="learn a metric on real data, certify it, and draw it",
        description=(
            "Learn a metric from pairs of labeled points, print its certificate and the "
            f"nearest-neighbor accuracy on held-out points, and write a picture, {PICTURE}. Needs no "
            "download and takes a few seconds."
        ),
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder for the picture (default: the present one)",
    )
    demo.add_argument(
        "--data",
        type=_data_name,
        default="wine",
        metavar="|".join(DATA),
        help="which data, of those that come with scikit-learn (default: wine)",
    )
    demo.add_argument(
        "--seed",
        type=_seed,
        default=0,
        metavar="N",
        help="seeds the split and the draw of pairs (default: 0)",
    )
    return parser


def _data_name(text: str) -> str:
    if text not in DATA:
        raise argparse.ArgumentTypeError(f"{text!r} is not known, choose {' or '.join(DATA)}")
    return text


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {2**31 - 1}")
    return int(text)


def _version() -> str:
    try:
        return version("gramlearn")
    except PackageNotFoundError:
        return "(version unknown: not installed, but run from its sources)"


def _fail(sentence: str, code: int) -> int:
    print(f"gramlearn: {sentence}", file=sys.stderr)
    return code
