"""S -> (<B_k, S>)_k on symmetric r x r matrices, and its adjoint: the linear algebra of constraints."""

from gramlearn.linear_maps._base import Entries, Estimates, LinearMap, Products, RankOnes
from gramlearn.linear_maps._indexed import Direction
from gramlearn.linear_maps.coordinates import CoordinateMap
from gramlearn.linear_maps.directions import DirectionMap
from gramlearn.linear_maps.matrices import MatrixMap
from gramlearn.linear_maps.points import PointMap
from gramlearn.linear_maps.sparse import SparseMap

__all__ = [
    "CoordinateMap",
    "Direction",
    "DirectionMap",
    "Entries",
    "Estimates",
    "LinearMap",
    "MatrixMap",
    "PointMap",
    "Products",
    "RankOnes",
    "SparseMap",
]
