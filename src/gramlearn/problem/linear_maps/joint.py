"""Several maps as one: a vector over all constraints is the pieces of the maps, one after another."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

from gramlearn._base.arrays import Array, concat
from gramlearn.problem.linear_maps.base import LinearMap
from gramlearn.problem.linear_maps.directions import DirectionMap, join_directions


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


def joined(maps: list[LinearMap], single: float | None = None) -> list[LinearMap]:
    """The same B_k in the same order, in fewer maps: one product takes less time than two of half the size.

    With `single`, in single precision and divided by that number.
    """
    found: list[LinearMap] = []
    for weights, group in groupby(maps, key=lambda m: m.stacked_weights):
        if weights is not None:
            found.append(join_directions(cast(list[DirectionMap], list(group)), single))
        else:
            found += [m if single is None else m.in_single(single) for m in group]
    return found
