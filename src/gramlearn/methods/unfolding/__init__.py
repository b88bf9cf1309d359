"""Maps that keep distances of neighbors and unfold the rest."""

from gramlearn.methods.unfolding.logdet import unfolding_problem
from gramlearn.methods.unfolding.max_variance import Unfolding, unfold

__all__ = ["Unfolding", "unfold", "unfolding_problem"]
