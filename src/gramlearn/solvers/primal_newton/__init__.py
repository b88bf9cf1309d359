"""Newton on X itself, for losses that have a derivative."""

from gramlearn.solvers.primal_newton.solver import PrimalNewton

__all__ = ["PrimalNewton"]
