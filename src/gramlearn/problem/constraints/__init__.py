"""t_k = offset_k + <A_k, X>, k = 1..c: what users say about a symmetric matrix X."""

from gramlearn.problem.constraints.base import Constraints
from gramlearn.problem.constraints.matrices import DenseMatrices, SparseMatrices, Trace
from gramlearn.problem.constraints.points import (
    DiagonalEntries,
    DistanceComparisons,
    PointConstraints,
    Similarities,
    SimilarityComparisons,
    SquaredDistances,
)

__all__ = [
    "Constraints",
    "DenseMatrices",
    "DiagonalEntries",
    "DistanceComparisons",
    "PointConstraints",
    "Similarities",
    "SimilarityComparisons",
    "SparseMatrices",
    "SquaredDistances",
    "Trace",
]
