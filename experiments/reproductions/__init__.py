"""The experiments, one file each; a file has one object, EXPERIMENT, and its name is the name."""

import difflib
import importlib
import pkgutil
from pathlib import Path

from experiments.experiment import Experiment

__all__ = ["find", "names"]


def names() -> list[str]:
    """The experiments there are."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if not module.name.startswith("_"))


def find(name: str) -> Experiment:
    """The experiment of this name."""
    if name not in names():
        near = difflib.get_close_matches(name, names()) or names()
        raise ValueError(f"there is no experiment {name!r}; choose one of {', '.join(near)}.")
    experiment: Experiment = importlib.import_module(f"{__name__}.{name}").EXPERIMENT
    return experiment
