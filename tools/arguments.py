"""Argument types for argparse: a bad argument is refused in one sentence."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

__all__ = ["file", "folder", "positive", "whole_number"]


def whole_number(least: int) -> Callable[[str], int]:
    """Whole numbers from `least`, which is not negative."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ArgumentTypeError(f"it must be a whole number from {least}; got {text}")
        return int(text)

    return read


def positive(text: str) -> float:
    """A number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"it must be a positive number; got {text}")
    return value


def folder(text: str) -> Path:
    """A folder, which need not be there."""
    return _path(text, "folder", Path.is_dir)


def file(text: str) -> Path:
    """A file, which need not be there."""
    return _path(text, "file", lambda path: not path.is_dir())


def _path(text: str, kind: str, is_one: Callable[[Path], bool]) -> Path:
    path = Path(text)
    try:
        is_refused = not text or (path.exists() and not is_one(path))
    except OSError as error:
        raise ArgumentTypeError(f"{error.strerror}: {text:.60}") from None
    if is_refused:
        raise ArgumentTypeError(f"it must be a {kind}; got {text or 'nothing'}")
    return path
