"""Projections on one constraint after another, as the papers do it."""

from gramlearn.solvers.projections.solver import Projections

__all__ = ["Projections"]
