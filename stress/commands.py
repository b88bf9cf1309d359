"""Command lines with mistakes: each must end with one sentence and status 1 or 2, never with a traceback.

A good line of a program is spoiled: words are exchanged, put in, left out or said twice. It is run in this
process, in a folder of its own, up to the point where the work would begin: what comes there is understood.
"""

import contextlib
import importlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final
from unittest.mock import patch

import numpy as np

from stress.code import comment_out
from stress.outcome import Finding, Outcome, drop_repeated
from stress.watch import OutOfTime, describe_exception, watch_call

__all__ = ["PROGRAMS", "CommandLine", "attempt", "draw", "shrink"]


class _AtWork(BaseException):
    """Raised where the work would begin: the command line has been read."""


def _end_instead(*args: object, **options: object) -> None:
    raise _AtWork


class Program(NamedTuple):
    """Where its `main` is, good lines of it, and what is put in the place of its work and of its folders."""

    module: str
    lines: tuple[str, ...]
    instead: Mapping[str, Any]


PROGRAMS: Mapping[str, Program] = {
    "gramlearn": Program(
        "gramlearn.app.command",
        ("demo --data wine --seed 1 --out out", "demo", "--version"),
        {"gramlearn.app.demo.learn": _end_instead},
    ),
    "python -m experiments": Program(
        "experiments.__main__",
        (
            "list",
            "run exact_and_approximate --quick --seed 3 --out out",
            "run --all --workers 2 --limit 5 --out out",
            "table exact_and_approximate --quick --seed 3 --out out",
            "report --out out --to page.md --published published",
        ),
        {
            "experiments.__main__.compute_missing": _end_instead,
            "experiments.__main__.open_all": _end_instead,
            "experiments.__main__._OUT": Path("results"),
            "experiments.__main__._PAGE": Path("page.md"),
            "experiments.__main__.FOLDER": Path("published"),
        },
    ),
    "python -m benchmarks": Program(
        "benchmarks.__main__",
        (
            "list",
            "run --quick --only gramlearn --data blobs --sizes small --seed 1 --limit 2 --threads 1 --out out",
            "table --out out",
            "plot --out out",
        ),
        {
            "benchmarks.__main__.limit_threads": _end_instead,
            "benchmarks.__main__.run_instance": _end_instead,
            "benchmarks.__main__._OUT": Path("results"),
        },
    ),
    "python -m stress": Program(
        "stress.__main__",
        (
            "run --minutes 1 --count 2 --seed 3 --stream mild --only LogDet --jobs 1 --out out",
            "report out --no-examples --seconds 1",
            "show out wild-0-57 --smallest",
            "publish out --seconds 1",
            "page",
        ),
        {
            "stress.__main__.try_tasks": _end_instead,
            "stress.__main__.RESULTS": Path("results.json"),
            "stress.__main__.PAGE": Path("page.md"),
        },
    ),
}
_WORDS = (
    "", " ", "-", "--", "=", "0", "-1", "2.5", "1e400", "nan", "inf", "9" * 5000, "\u00b2", "\u0663",
    "nonsense", "--nonsense", "--seed=", "--out=", "-x", "a\0b", "x" * 5000, "missing/folder", "a-file",
    "a-file/below", "/dev/null", "/proc/nothing", "\udcff", "*", "LogDet", "exact_and_approximate",
    "wild-0-0", "run", "--help",
)  # fmt: skip


@final
@dataclass(frozen=True)
class CommandLine:
    """A program and its words."""

    name: str
    words: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """The program."""
        return [self.name]

    def program(self, comment: str = "") -> str:
        """The program that runs this command line."""
        said = comment_out(comment)
        line = f"CommandLine({self.name!r}, {self.words!r})"
        return f"from stress.commands import CommandLine, attempt\n\n{said}print(attempt({line}))\n"


def draw(seed: int, index: int) -> CommandLine:
    """Draw line number `index`: a good one, spoiled in one to three places."""
    rng = np.random.default_rng([81, seed, index])
    name = list(PROGRAMS)[index % len(PROGRAMS)]
    lines = PROGRAMS[name].lines
    words = lines[int(rng.integers(len(lines)))].split()
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(words) + 1))
        wrong = _WORDS[int(rng.integers(len(_WORDS)))]
        words[at : at + 1] = ([wrong], [wrong, *words[at : at + 1]], [], 2 * words[at : at + 1])[
            int(rng.integers(4))
        ]
    return CommandLine(name, tuple(words))


def attempt(line: CommandLine) -> Outcome:
    """Run it; check its status and its error message."""
    program = PROGRAMS[line.name]
    main = importlib.import_module(program.module).main
    printed, said = io.StringIO(), io.StringIO()

    def call() -> Any:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            try:
                return main(list(line.words))
            except SystemExit as ending:
                return ending.code or 0
            except _AtWork:
                return 0

    with contextlib.ExitStack() as stack:
        stack.enter_context(_enter_new_folder())
        for place, value in program.instead.items():
            stack.enter_context(patch(place, value))
        seen = watch_call(call)
    findings = seen.leaks(())
    words = _drop_usage(said.getvalue())
    if isinstance(seen.error, OutOfTime):
        return Outcome("unfinished", "", "", seen.seconds, "", drop_repeated(findings))
    if seen.error is not None:
        found = describe_exception(seen.error)
        findings.append(found._replace(key=f"{found.key} {line.name}"))
    elif seen.result not in (0, 1, 2):
        key = f"status {seen.result} {line.name}"
        findings.append(Finding("status", key, f"it ended with the status {seen.result!r}"))
    elif seen.result == 2 and len(words) != 1:
        key = f"words {line.name}"
        findings.append(Finding("words", key, f"{len(words)} sentences on what is wrong: {words}"))
    ending = "broken" if seen.error else "refused" if seen.result else "answered"
    return Outcome(ending, "", "", seen.seconds, " ".join(words)[:500], drop_repeated(findings))


def shrink(line: CommandLine, shows: Callable[[CommandLine], bool], seconds: float) -> CommandLine:
    """Leave out words while the finding stays."""
    del seconds  # it takes a moment
    for k in reversed(range(len(line.words))):
        shorter = replace(line, words=line.words[:k] + line.words[k + 1 :])
        if shows(shorter):
            line = shorter
    return line


@contextlib.contextmanager
def _enter_new_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a-file").write_text("nothing\n", encoding="utf-8")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _drop_usage(text: str) -> list[str]:
    """The lines of an error but for argparse's usage, which goes before its sentence."""
    return [
        line for line in text.splitlines() if line.strip() and not line.startswith(("usage:", " "))
    ]
