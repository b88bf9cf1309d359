"""Solvers: frozen parameters with init and step. None of them loops; `loop.iterate` does."""

from gramlearn.solvers.interior_point.solver import InteriorPoint
from gramlearn.solvers.primal_newton.solver import PrimalNewton
from gramlearn.solvers.projections.solver import Projections
from gramlearn.solvers.quasi_newton import QuasiNewton
from gramlearn.solvers.solver import Solver
from gramlearn.solvers.working_set.solver import WorkingSet

__all__ = ["InteriorPoint", "PrimalNewton", "Projections", "QuasiNewton", "Solver", "WorkingSet"]
