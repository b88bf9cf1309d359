"""Interior points: a central path in X, for hinges and hard bounds."""

from gramlearn.solvers.interior_point.solver import InteriorPoint

__all__ = ["InteriorPoint"]
