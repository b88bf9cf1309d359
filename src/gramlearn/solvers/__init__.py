"""Solvers: frozen parameters with init and step. None of them loops; `_loop.run` does."""

from gramlearn.solvers._loop import Limits, Solver, run, warn_unless_solved
from gramlearn.solvers.interior_point import InteriorPoint
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.projections import Projections
from gramlearn.solvers.quasi_newton import QuasiNewton
from gramlearn.solvers.working_set import WorkingSet

__all__ = [
    "InteriorPoint",
    "Limits",
    "PrimalNewton",
    "Projections",
    "QuasiNewton",
    "Solver",
    "WorkingSet",
    "run",
    "warn_unless_solved",
]
