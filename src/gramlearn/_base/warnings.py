"""Warnings that point at the line that called the library, however deep they arise; and none of NumPy."""

import contextvars
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

# scikit-learn's as well: fit_transform and pipelines call `fit` from lines of its own.
_INSIDE = frozenset({"gramlearn", "sklearn"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the nearest caller outside of the library and of scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame) in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def is_called_by(package: str) -> bool:
    """Whether it is a line of this package that called the library."""
    frame = sys._getframe(1)
    while _package(frame) == "gramlearn" and frame.f_back is not None:
        frame = frame.f_back
    return _package(frame) == package


def without_overflow_warnings(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function that takes back steps at which numbers overflow.

    In a context of its own, so that Ctrl-C at any moment leaves the caller's error state as it was.
    """

    def quietly() -> Any:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            return function(*args)

    return contextvars.copy_context().run(quietly)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]
