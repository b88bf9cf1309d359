"""The experiments, each a file in the folder of its paper: it has one object, EXPERIMENT, and its name."""

import difflib
import importlib
import pkgutil
from pathlib import Path

from experiments.experiment import Experiment

PAPERS = ("k09", "j12", "f07", "z11")


def names() -> list[str]:
    """The experiments there are."""
    return sorted(_papers())


def _papers() -> dict[str, str]:
    """The paper of each experiment."""
    return {
        module.name: paper
        for paper in PAPERS
        for module in pkgutil.iter_modules([str(Path(__file__).parent / paper)])
        if not module.name.startswith("_")
    }


def find(name: str) -> Experiment:
    """The experiment of this name."""
    if name not in names():
        near = difflib.get_close_matches(name, names()) or names()
        raise ValueError(f"there is no experiment {name!r}; choose one of {', '.join(near)}.")
    module = importlib.import_module(f"{__name__}.{_papers()[name]}.{name}")
    experiment: Experiment = module.EXPERIMENT
    return experiment
