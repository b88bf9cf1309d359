"""Nonparametric kernels from pairs and a graph, with a price or a bound on capacity (Z11)."""

from gramlearn.methods.nonparametric.capacity import CapacityAnswer
from gramlearn.methods.nonparametric.problem import nonparametric_problem, solve_nonparametric

__all__ = ["CapacityAnswer", "nonparametric_problem", "solve_nonparametric"]
