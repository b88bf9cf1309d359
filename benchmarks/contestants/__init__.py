"""Contestants, one file each: whoever answers an instance. They are found, not listed."""

import importlib
import pkgutil
from pathlib import Path

from benchmarks.contestants._base import Answer, Contestant

__all__ = ["Answer", "Contestant", "find", "names"]


def names() -> list[str]:
    """The contestants there are."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if not module.name.startswith("_"))


def find(name: str) -> Contestant:
    """Give the contestant of a file here, or of any module written with its dots."""
    if "." not in name and name not in names():
        raise ValueError(f"there is no contestant {name!r}; choose one of {', '.join(names())}.")
    module = importlib.import_module(name if "." in name else f"benchmarks.contestants.{name}")
    return module.CONTESTANT
