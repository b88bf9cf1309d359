"""S -> (<B_k, S>)_k on symmetric r x r matrices, and its adjoint: the linear algebra of constraints."""

from gramlearn.linear_maps._base import Estimates, LinearMap, Products, RankOnes
from gramlearn.linear_maps._indexed import Direction
from gramlearn.linear_maps.coordinates import CoordinateMap
from gramlearn.linear_maps.directions import DirectionMap
from gramlearn.linear_maps.matrices import MatrixMap
from gramlearn.linear_maps.points import PointMap

__all__ = [
    "CoordinateMap",
    "Direction",
    "DirectionMap",
    "Estimates",
    "LinearMap",
    "MatrixMap",
    "PointMap",
    "Products",
    "RankOnes",
]
