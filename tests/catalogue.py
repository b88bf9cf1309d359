"""All regularizers, losses, constraints and solvers, found by walking the subclasses.

A new class is held to the theorems of its kind as soon as it exists: it brings its own
`examples()`, and no list has to be edited.
"""

import dataclasses
import importlib
import inspect
import pkgutil
from itertools import combinations
from typing import Any

from gramlearn.problem.constraints import Constraints
from gramlearn.problem.losses import BoundedLoss, Loss
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers import Solver

__all__ = [
    "BOUNDED_LOSSES",
    "BOUNDED_LOSS_TYPES",
    "LOSSES",
    "N_POINTS",
    "REGULARIZERS",
    "SOLVERS",
    "all_constraints",
    "concrete",
    "covering",
    "name_of",
]

N_POINTS = 5  # examples of constraints are over this many points


def _import_all(name: str) -> None:
    """Import a module, and all of its submodules if it is a package."""
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        importlib.import_module(found.name)


def concrete(base: type) -> list[type]:
    """Give all final classes of the library below `base`, in the order of their names."""
    below = {cls for child in base.__subclasses__() for cls in (child, *concrete(child))}
    own = [cls for cls in below if cls.__module__.startswith("gramlearn.")]
    public = [cls for cls in own if not cls.__name__.startswith("_")]
    return sorted((c for c in public if not inspect.isabstract(c)), key=lambda c: c.__qualname__)


def name_of(part: Any) -> str:
    """Schatten(p=3.0): the class, and the numbers it does not have by default."""
    if isinstance(part, type):
        return part.__name__
    given = [
        f"{field.name}={value}"
        for field in dataclasses.fields(part)
        if isinstance(value := getattr(part, field.name), int | float) and value != field.default
    ]
    # Comparisons have two examples, one with four index arrays.
    given += ["l"] if getattr(part, "l", None) is not None else []
    return f"{type(part).__name__}({','.join(given)})"


def all_constraints(n: int = N_POINTS) -> list[Constraints]:
    return [c for cls in concrete(Constraints) for c in cls.examples(n)]


def covering(rows: list[tuple[int, ...]], strength: int) -> list[tuple[int, ...]]:
    """Few rows that still have every combination of `strength` entries of any row: greedy, most first."""
    columns = list(combinations(range(len(rows[0])), strength))
    met: set[tuple[int, ...]] = set()
    kept = []
    for least in range(len(columns), 0, -1):
        for row in rows:
            new = {(k, *[row[c] for c in chosen]) for k, chosen in enumerate(columns)} - met
            if len(new) >= least:
                kept.append(row)
                met |= new
    return kept


for _name in ("problem", "solvers"):
    _import_all(f"gramlearn.{_name}")

REGULARIZERS: list[Regularizer] = [r for c in concrete(Regularizer) for r in c.examples()]
LOSSES: list[Loss] = [loss for cls in concrete(Loss) for loss in cls.examples()]
BOUNDED_LOSS_TYPES: list[type[BoundedLoss]] = concrete(BoundedLoss)
BOUNDED_LOSSES: list[BoundedLoss] = [loss for c in BOUNDED_LOSS_TYPES for loss in c.examples()]
SOLVERS: list[Solver] = [cls() for cls in concrete(Solver)]
