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


class Product(NamedTuple):
    """weight (p q' + q p') / 2 of the points p and q in two of the index arrays."""

    weight: float
    first: int
    second: int


def as_product(directions: tuple[Direction, ...]) -> Product | None:
    """The sum of all directions as one product, or None where it is more than one."""
    weights: dict[tuple[int, int], float] = {}
    for weight, first, sign, second in directions:
        terms = [(first, first, 1)]
        if sign:
            terms += [(first, second, 2 * sign), (second, second, 1)]
        for a, b, times in terms:
            pair = (min(a, b), max(a, b))
            weights[pair] = weights.get(pair, 0.0) + weight * times
    left = [Product(weight, *pair) for pair, weight in weights.items() if weight]
    return left[0] if len(left) == 1 else None


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

    @final
    def every(self, stride: int, like: Array) -> Self:
        del like  # the rows are seen through their stride
        return replace(self, indices=tuple(i[::stride] for i in self.indices))
