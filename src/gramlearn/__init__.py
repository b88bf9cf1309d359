"""gramlearn learns a similarity from examples, with a certificate of how close to optimal it is."""

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
from gramlearn.estimators import OnlinePCA
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge
from gramlearn.problem import Problem, Term
from gramlearn.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from gramlearn.side_information import (
    Bounds,
    ContradictionError,
    Pairs,
    Triplets,
    from_labels,
    percentile_bounds,
)
from gramlearn.solution import Solution
from gramlearn.solve import solve
from gramlearn.space import Factor
from gramlearn.special import (
    BalancedCut,
    DefiniteBoost,
    balanced_cut,
    grown,
    nearest_correlation,
    unfolding_problem,
)
from gramlearn.status import InfeasibleError, SolveInterrupted, Status

__all__ = [
    "BalancedCut",
    "Bounds",
    "ContradictionError",
    "DefiniteBoost",
    "DenseMatrices",
    "DiagonalEntries",
    "DistanceComparisons",
    "Factor",
    "Frobenius",
    "Hard",
    "Hinge",
    "InfeasibleError",
    "KLSlack",
    "Linear",
    "LogDet",
    "LogDetSlack",
    "OnlinePCA",
    "Pairs",
    "Problem",
    "Schatten",
    "Similarities",
    "SimilarityComparisons",
    "Solution",
    "SolveInterrupted",
    "SparseMatrices",
    "Square",
    "SquaredDistances",
    "SquaredHinge",
    "Status",
    "Term",
    "Trace",
    "Triplets",
    "VonNeumann",
    "balanced_cut",
    "from_labels",
    "grown",
    "nearest_correlation",
    "percentile_bounds",
    "solve",
    "unfolding_problem",
]
