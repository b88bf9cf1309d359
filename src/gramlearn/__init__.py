"""gramlearn learns a similarity from examples, with a certificate of how close to optimal it is."""

from gramlearn import datasets
from gramlearn.active import pairs_to_ask, select_pairs
from gramlearn.base_kernels import (
    BaseKernel,
    gaussian_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    sigmoid_kernel,
)
from gramlearn.clustering import Clustering, kernel_kmeans
from gramlearn.comparison_score import TripletScorer, comparisons_kept
from gramlearn.constrained_clustering import constrained_kmeans
from gramlearn.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SimilarityComparisons,
    SparseMatrices,
    SquaredDistances,
    Trace,
)
from gramlearn.design_path import DesignPath
from gramlearn.estimators import (
    POLA,
    ColoredMVU,
    ConstrainedKMeans,
    KernelDesigner,
    KernelKMeans,
    KernelLearner,
    MaximumVarianceUnfolding,
    MetricLearner,
    MinimumVolumeEmbedding,
    NonparametricKernel,
    OnlineMetricLearner,
    OnlinePCA,
    SemiSupervisedEmbedding,
    StructurePreservingEmbedding,
)
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.kernel_design import DesignProblem, KernelDesign
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge
from gramlearn.low_rank import LowRankKernel, incomplete_cholesky, nystroem
from gramlearn.low_rank_spectral import spectral_factor
from gramlearn.manifold_kernel import ManifoldKernel
from gramlearn.mutual_information import normalized_mutual_information
from gramlearn.pair_counting import pair_accuracy
from gramlearn.problem import Problem, Term
from gramlearn.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from gramlearn.retrieval import average_precision, recall_at_k
from gramlearn.side_information import (
    Bounds,
    ContradictionError,
    Pairs,
    Triplets,
    from_classes,
    from_clicks,
    from_judgments,
    from_labels,
    from_similarities,
    percentile_bounds,
    relative_bounds,
    triplets_from_labels,
)
from gramlearn.solution import Solution
from gramlearn.solve import solve
from gramlearn.space import Factor, Zeros
from gramlearn.special import (
    BalancedCut,
    CapacityAnswer,
    DefiniteBoost,
    balanced_cut,
    collapsing_classes_problem,
    grown,
    large_margin_problem,
    nearest_correlation,
    nonparametric_problem,
    solve_nonparametric,
    unfold,
    unfolding_problem,
)
from gramlearn.status import InfeasibleError, SolveInterrupted, Status

__all__ = [
    "POLA",
    "BalancedCut",
    "BaseKernel",
    "Bounds",
    "CapacityAnswer",
    "Clustering",
    "ColoredMVU",
    "ConstrainedKMeans",
    "ContradictionError",
    "DefiniteBoost",
    "DenseMatrices",
    "DesignPath",
    "DesignProblem",
    "DiagonalEntries",
    "DistanceComparisons",
    "Factor",
    "Frobenius",
    "Hard",
    "Hinge",
    "InfeasibleError",
    "KLSlack",
    "KernelDesign",
    "KernelDesigner",
    "KernelKMeans",
    "KernelLearner",
    "Linear",
    "LogDet",
    "LogDetSlack",
    "LowRankKernel",
    "ManifoldKernel",
    "MaximumVarianceUnfolding",
    "MetricLearner",
    "MinimumVolumeEmbedding",
    "NonparametricKernel",
    "OnlineMetricLearner",
    "OnlinePCA",
    "Pairs",
    "Problem",
    "Schatten",
    "SemiSupervisedEmbedding",
    "Similarities",
    "SimilarityComparisons",
    "Solution",
    "SolveInterrupted",
    "SparseMatrices",
    "Square",
    "SquaredDistances",
    "SquaredHinge",
    "Status",
    "StructurePreservingEmbedding",
    "Term",
    "Trace",
    "TripletScorer",
    "Triplets",
    "VonNeumann",
    "Zeros",
    "average_precision",
    "balanced_cut",
    "collapsing_classes_problem",
    "comparisons_kept",
    "constrained_kmeans",
    "datasets",
    "from_classes",
    "from_clicks",
    "from_judgments",
    "from_labels",
    "from_similarities",
    "gaussian_kernel",
    "grown",
    "incomplete_cholesky",
    "kernel_kmeans",
    "laplacian",
    "laplacian_kernel",
    "large_margin_problem",
    "linear_kernel",
    "nearest_correlation",
    "neighbor_graph",
    "nonparametric_problem",
    "normalized_mutual_information",
    "nystroem",
    "pair_accuracy",
    "pairs_to_ask",
    "percentile_bounds",
    "polynomial_kernel",
    "recall_at_k",
    "relative_bounds",
    "select_pairs",
    "sigmoid_kernel",
    "solve",
    "solve_nonparametric",
    "spectral_factor",
    "triplets_from_labels",
    "unfold",
    "unfolding_problem",
]
