"""Solvers: frozen parameters with init and step. None of them loops; `_loop.run` does."""

from gramlearn.solvers._loop import Limits, Solver, run
from gramlearn.solvers.augmented_lagrangian import AugmentedLagrangian
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.projections import Projections
from gramlearn.solvers.working_set import WorkingSet

__all__ = [
    "AugmentedLagrangian",
    "Limits",
    "PrimalNewton",
    "Projections",
    "Solver",
    "WorkingSet",
    "run",
]
