"""The gramlearn command: a verb for each thing that is done with files, `gramlearn VERB --help` for each.

Exit codes: 0 for done, 1 for an answer to look at (not certified, infeasible, of no help), 2 for what the user
can fix (one sentence on stderr says how), 130 for Ctrl-C.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from gramlearn.app.output import DONE, INTERRUPTED, LOOK, WRONG, say, warnings_said
from gramlearn.app.verb import Verb

_DESCRIPTION = "Learn a similarity from examples: a kernel or a metric, certified by a duality gap."
_VERBS = (
    "fit",
    "score",
    "transform",
    "neighbors",
    "cluster",
    "nearest-correlation",
    "inspect",
    "export",
    "report",
    "studio",
    "demo",
    "completion",
)
_TRACEBACK = "GRAMLEARN_TRACEBACK"
# What the library calls an argument, and what the command does.
_OPTIONS = {
    "X": "--points",
    "points": "--points",
    "ids": "--ids",
    "side": "--side",
    "y": "--labels",
    "label_column": "--labels",
    "id_column": "--id-column",
    "item_column": "--item-column",
    "vector_column": "--vector-column",
    "columns": "--column",
    "shape": "--shape",
    "percentiles": "--percentiles",
    "n_clusters": "--clusters",
    "queries_only": "--queries-only",
    "metric": "--metric",
    "center": "--center",
    "to": "--to",
    "fixed": "--fixed",
    "weights": "--weights",
    "min_eigenvalue": "--min-eigenvalue",
    "time_limit": "--time-limit",
}
_EPILOG = "Exit codes: 0 done, 1 an answer to look at, 2 usage or a file, 130 Ctrl-C."


class _Parser(argparse.ArgumentParser):
    """argparse, with one sentence instead of the usage in front of an error."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {message}; `{self.prog} --help` lists what can be given\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        return DONE
    try:
        with warnings_said():
            code = _load(given.command).run(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        say("gramlearn: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has seen enough; nothing is left to flush at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (ValueError, TypeError, OSError, ImportError) as error:
        say(f"gramlearn {given.command}: {_sentence(error)}")
        return LOOK if _is_an_answer(error) else WRONG
    except (
        Exception
    ) as error:  # of this library or below: said in a line, and never taken for an answer
        if os.environ.get(_TRACEBACK):
            raise
        say(
            f"gramlearn {given.command}: unexpected {type(error).__name__}: {_sentence(error)[:300]} "
            f"(with {_TRACEBACK}=1 it says where)"
        )
        return WRONG


def make_parser() -> argparse.ArgumentParser:
    """All verbs with their arguments."""
    parser = _Parser(prog="gramlearn", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"gramlearn {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="VERB", parser_class=_Parser)
    for name in _VERBS:
        verb = _load(name)
        example = "\n".join(f"  {line}" for line in verb.example.strip().splitlines())
        own = commands.add_parser(
            name,
            help=verb.help,
            description=verb.description,
            epilog=f"example:\n{example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.add_arguments(own)
    return parser


def _load(name: str) -> Verb:
    module = import_module(f"gramlearn.app.verbs.{name.replace('-', '_')}")
    verb = module.VERB
    assert isinstance(verb, Verb)
    return verb


def _is_an_answer(error: Exception) -> bool:
    """Whether it is proven that there is no answer."""
    from gramlearn.problem.status import InfeasibleError

    return isinstance(error, InfeasibleError)


def _sentence(error: Exception) -> str:
    """What is wrong, in a line; of the system's errors the file and the reason."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename} could not be opened: {error.strerror.lower()}."
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    words = " ".join(str(error).split())
    return re.sub(r"`(\w+)(=[^`]*)?`(?: \(--[\w-]+\))?", lambda m: _OPTIONS.get(m[1], m[0]), words)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gramlearn")
    except PackageNotFoundError:
        return "(version unknown: not installed, but run from its sources)"
