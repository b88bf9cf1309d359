"""A path, or "-" for stdin and stdout: what needs a file is given one."""

import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_READ = (
    "model",
    "points",
    "queries",
    "ids",
    "queries_ids",
    "side",
    "links",
    "matrix",
    "weights",
    "fixed",
    "center",
)


@contextmanager
def written_to(path: str, ending: str = "") -> Iterator[str]:
    """The path to write to; for "-" a file whose bytes then go to stdout."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / f"stdout{ending}"
        yield str(beside)
        with beside.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def load_model(path: str) -> Any:
    """The model of a file, or of stdin."""
    from gramlearn.estimators.saving import load

    with stored(path) as file:
        return load(file)


@contextmanager
def stored(path: str) -> Iterator[str]:
    """The path to read; for "-" a file with the bytes of stdin."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / "stdin"
        with beside.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(beside)


def check_places(given: Namespace) -> None:
    """Whether the answer has a place, known before the work: not over what is read, nor beside --json."""
    from gramlearn.files.writing import check_writable

    if given.out == "-" and given.json:
        raise ValueError("--json and -o - both want stdout; give one of them a file.")
    check_not_read(given)
    for place in (given.out, getattr(given, "dropped", None)):
        if place not in (None, "-"):
            check_writable(place)


def check_not_read(given: Namespace) -> None:
    """Whether nothing that is read would be written over."""
    read = [Path(path) for name in _READ if (path := getattr(given, name, None)) not in (None, "-")]
    for option, name in (("-o", "out"), ("--dropped", "dropped")):
        place = getattr(given, name, None)
        if place in (None, "-") or not Path(place).exists():
            continue
        if any(path.exists() and path.samefile(place) for path in read):
            raise ValueError(
                f"{option} {place} is a file that is read, and stays; choose another name."
            )
