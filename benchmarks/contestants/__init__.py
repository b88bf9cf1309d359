"""Contestants, one file each: methods that solve an instance. They are found, not listed."""

import importlib
import pkgutil
from pathlib import Path

from benchmarks.contestants._base import Answer, Contestant

__all__ = ["Answer", "Contestant", "find", "names"]


def names() -> list[str]:
    """The names of all contestants."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if not module.name.startswith("_"))


def find(name: str) -> Contestant:
    """Give the contestant of a file here, or of any module written with its dots."""
    has_dots = "." in name
    if not has_dots and name not in names():
        raise ValueError(f"there is no contestant {name!r}; choose one of {', '.join(names())}.")
    if not all(word.isidentifier() for word in name.split(".")):
        raise ValueError(f"there is no contestant {name!r}: a module is written as package.module.")
    try:
        module = importlib.import_module(name if has_dots else f"{__name__}.{name}")
    except Exception as error:  # whatever a module of the user's own does
        raise ValueError(
            f"the contestant {name!r} cannot be imported ({type(error).__name__}: {error}); mend it, or choose "
            f"one of {', '.join(names())}."
        ) from error
    if not hasattr(module, "CONTESTANT"):
        raise ValueError(
            f"the module {name!r} has no CONTESTANT; let it name one, as the files here do."
        )
    return module.CONTESTANT
