"""Solvers: frozen parameters with init and step. None of them loops; `_loop.run` does."""

from gramlearn.solvers._loop import Limits, Solver, run
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.working_set import WorkingSet

__all__ = ["Limits", "PrimalNewton", "Solver", "WorkingSet", "run"]
