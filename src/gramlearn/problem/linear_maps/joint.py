"""Several maps as one: a vector over all constraints is the pieces of the maps, one after another."""

from collections.abc import Sequence
from typing import Any

from gramlearn._base.arrays import Array, concat
from gramlearn.problem.linear_maps.base import LinearMap


def split(parts: Sequence[Any], vector: Array) -> list[Array]:
    """Cut a vector over all constraints into the pieces of these parts, or maps."""
    pieces, start = [], 0
    for part in parts:
        pieces.append(vector[start : start + part.size])
        start += part.size
    return pieces


def joint_apply(maps: list[LinearMap], S: Array) -> Array:
    """(<B_k, S>)_k over all maps."""
    return concat([m.apply(S) for m in maps], S)


def joint_adjoint(maps: list[LinearMap], v: Array) -> Array:
    """sum_k v_k B_k over all maps."""
    return sum(m.adjoint(piece) for m, piece in zip(maps, split(maps, v), strict=True))
