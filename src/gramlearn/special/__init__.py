"""Problems with names of their own, as special cases of the one problem."""

from gramlearn.special.balanced_cut import BalancedCut, balanced_cut
from gramlearn.special.capacity import CapacityAnswer
from gramlearn.special.definite_boost import DefiniteBoost
from gramlearn.special.grown import grown
from gramlearn.special.nearest_correlation import nearest_correlation
from gramlearn.special.nonparametric import nonparametric_problem, solve_nonparametric
from gramlearn.special.semidefinite_metrics import (
    collapsing_classes_problem,
    large_margin_problem,
)
from gramlearn.special.unfolding import unfolding_problem
from gramlearn.special.variance_unfolding import Unfolding, unfold

__all__ = [
    "BalancedCut",
    "CapacityAnswer",
    "DefiniteBoost",
    "Unfolding",
    "balanced_cut",
    "collapsing_classes_problem",
    "grown",
    "large_margin_problem",
    "nearest_correlation",
    "nonparametric_problem",
    "solve_nonparametric",
    "unfold",
    "unfolding_problem",
]
