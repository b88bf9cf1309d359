"""Published methods, a folder or a file each: arrays in, an answer out."""

from gramlearn.methods.balanced_cut import BalancedCut, balanced_cut
from gramlearn.methods.clustering import Clustering, constrained_kmeans, kernel_kmeans
from gramlearn.methods.correlation import NearestCorrelation, nearest_correlation
from gramlearn.methods.definite_boost import DefiniteBoost
from gramlearn.methods.full_rank_prior import full_rank_prior
from gramlearn.methods.kernel_design import DesignPath, DesignProblem, KernelDesign
from gramlearn.methods.metric import collapsing_classes_problem, large_margin_problem
from gramlearn.methods.nonparametric import (
    CapacityAnswer,
    nonparametric_problem,
    solve_nonparametric,
)
from gramlearn.methods.unfolding import Unfolding, unfold, unfolding_problem

__all__ = [
    "BalancedCut",
    "CapacityAnswer",
    "Clustering",
    "DefiniteBoost",
    "DesignPath",
    "DesignProblem",
    "KernelDesign",
    "NearestCorrelation",
    "Unfolding",
    "balanced_cut",
    "collapsing_classes_problem",
    "constrained_kmeans",
    "full_rank_prior",
    "kernel_kmeans",
    "large_margin_problem",
    "nearest_correlation",
    "nonparametric_problem",
    "solve_nonparametric",
    "unfold",
    "unfolding_problem",
]
