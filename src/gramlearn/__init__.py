"""gramlearn learns a similarity from examples, with a certificate of how close to optimal it is."""

from gramlearn import datasets
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
from gramlearn.evaluation.agreement import normalized_mutual_information, pair_accuracy
from gramlearn.evaluation.retrieval import average_precision, recall_at_k
from gramlearn.evaluation.triplets import TripletScorer, comparisons_kept
from gramlearn.graphs.neighbors import laplacian, neighbor_graph
from gramlearn.kernels.families import (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from gramlearn.kernels.kernel import Kernel
from gramlearn.kernels.low_rank.columns import incomplete_cholesky, nystroem
from gramlearn.kernels.low_rank.factor import LowRankKernel
from gramlearn.kernels.low_rank.spectral import spectral_factor
from gramlearn.kernels.manifold import ManifoldKernel
from gramlearn.methods import (
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
from gramlearn.methods.clustering.constrained import constrained_kmeans
from gramlearn.methods.clustering.kernel_kmeans import Clustering, kernel_kmeans
from gramlearn.methods.kernel_design.answer import KernelDesign
from gramlearn.methods.kernel_design.path import DesignPath
from gramlearn.methods.kernel_design.problem import DesignProblem
from gramlearn.problem.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SimilarityComparisons,
    SparseMatrices,
    SquaredDistances,
    Trace,
)
from gramlearn.problem.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge
from gramlearn.problem.prior import Factor, Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from gramlearn.problem.solution import Solution
from gramlearn.problem.status import InfeasibleError, SolveInterrupted, Status
from gramlearn.side_information import (
    Bounds,
    ContradictionError,
    Pairs,
    Triplets,
    percentile_bounds,
)
from gramlearn.side_information.active import pairs_to_ask, select_pairs
from gramlearn.solvers.solve import solve

__all__ = [
    "POLA",
    "BalancedCut",
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
    "GaussianKernel",
    "Hard",
    "Hinge",
    "InfeasibleError",
    "KLSlack",
    "Kernel",
    "KernelDesign",
    "KernelDesigner",
    "KernelKMeans",
    "KernelLearner",
    "LaplacianKernel",
    "Linear",
    "LinearKernel",
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
    "PolynomialKernel",
    "Problem",
    "Schatten",
    "SemiSupervisedEmbedding",
    "SigmoidKernel",
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
    "grown",
    "incomplete_cholesky",
    "kernel_kmeans",
    "laplacian",
    "large_margin_problem",
    "nearest_correlation",
    "neighbor_graph",
    "nonparametric_problem",
    "normalized_mutual_information",
    "nystroem",
    "pair_accuracy",
    "pairs_to_ask",
    "percentile_bounds",
    "recall_at_k",
    "select_pairs",
    "solve",
    "solve_nonparametric",
    "spectral_factor",
    "unfold",
    "unfolding_problem",
]
