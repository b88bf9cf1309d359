"""S -> (<B_k, S>)_k on symmetric r x r matrices, and its adjoint: the linear algebra of constraints."""

from gramlearn.problem.linear_maps.base import Entries, Estimates, LinearMap, Products, RankOnes
from gramlearn.problem.linear_maps.coordinates import CoordinateMap
from gramlearn.problem.linear_maps.directions import DirectionMap
from gramlearn.problem.linear_maps.indexed import Direction
from gramlearn.problem.linear_maps.joint import joined, joint_adjoint, joint_apply, split
from gramlearn.problem.linear_maps.matrices import MatrixMap
from gramlearn.problem.linear_maps.points import PointMap
from gramlearn.problem.linear_maps.sparse import SparseMap

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
    "joined",
    "joint_adjoint",
    "joint_apply",
    "split",
]
