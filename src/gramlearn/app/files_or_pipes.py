"""A path, or "-" for stdin and stdout: what needs a file is given one."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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


def check_places(out: str, as_json: bool, *inputs: str | None) -> None:
    """Whether the answer has a place: not over what is read, and not beside --json on stdout."""
    from gramlearn.files.writing import check_writable

    if out == "-":
        if as_json:
            raise ValueError("--json and -o - both want stdout; give one of them a file.")
        return
    for path in inputs:
        if path not in (None, "-") and Path(out).exists() and Path(out).samefile(str(path)):
            raise ValueError(f"-o {out} is a file that is read, and stays; choose another name.")
    check_writable(out)
