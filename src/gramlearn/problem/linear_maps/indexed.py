"""B_k = sum_s w_s (p_i + sign p_j)(p_i + sign p_j)', written as row numbers i, j and a table of directions."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, final

from gramlearn._base.arrays import Array, namespace
from gramlearn.problem.linear_maps.base import LinearMap


class Direction(NamedTuple):
    """weight * |p_first + sign p_second|_X^2; first and second number the index arrays."""

    weight: float
    first: int
    sign: int
    second: int


@dataclass(frozen=True)
class IndexedMap(LinearMap):
    """B_k by numbers of rows, one index array a column, and directions that are the same for all k."""

    indices: tuple[Array, ...]
    directions: tuple[Direction, ...]

    @property
    @final
    def size(self) -> int:
        return int(self.indices[0].shape[0])

    @property
    @final
    def is_nonnegative(self) -> bool:
        return min(d.weight for d in self.directions) >= 0

    @final
    def index_rows(self, rows: Array) -> Self:
        xp = namespace(rows)
        return replace(self, indices=tuple(xp.take(i, rows) for i in self.indices))
