"""Signed squared norms of sums and differences of rows of `points`.

    squared distance        (p_i - p_j)' X (p_i - p_j)
    similarity              p_i' X p_j = |p_i + p_j|_X^2 / 4 - |p_i - p_j|_X^2 / 4

Without `points` the rows are those of the identity: X is the kernel itself, and i, j number its rows.
A new kind is its index arrays, as fields, and a table of directions.
"""

from abc import abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, final

from gramlearn._base.arrays import Array, as_index, as_real, chunks, constant, where_true
from gramlearn._base.validation import check_indices, check_points
from gramlearn.problem.constraints.base import Constraints, check_offset
from gramlearn.problem.linear_maps import CoordinateMap, Direction, LinearMap, PointMap


@dataclass(frozen=True, eq=False, kw_only=True)
class PointConstraints(Constraints):
    """t = sum_s w_s |p_a + sign p_b|_X^2: a table of directions over columns of row numbers."""

    points: Any = None
    offset: Any = 0.0
    n_points: int | None = None  # how many points i, j number, where that is known

    words: ClassVar[str]

    @property
    @final
    def columns(self) -> dict[str, Any]:
        """The index arrays by the names of their arguments, which are all that have a position."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if not f.kw_only}
        return {name: x for name, x in given.items() if x is not None}

    @property
    @abstractmethod
    def directions(self) -> tuple[Direction, ...]:
        """The table of A_k, which numbers the columns in their order."""

    def __post_init__(self) -> None:
        points = None if self.points is None else check_points(self.points, "points")
        limit = None if points is None else int(points.shape[0])
        columns = {
            name: check_indices(x, name, limit, may_be_narrow=True)
            for name, x in self.columns.items()
        }
        sizes = {name: int(x.shape[0]) for name, x in columns.items()}
        if len(set(sizes.values())) > 1:
            given = ", ".join(f"`{name}` has {size}" for name, size in sizes.items())
            raise ValueError(f"the index arrays must have one length; {given} entries.")
        for name, x in columns.items():
            object.__setattr__(self, name, x)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "offset", check_offset(self.offset, next(iter(sizes.values()))))

    @property
    @final
    def size(self) -> int:
        return int(next(iter(self.columns.values())).shape[0])

    @final
    def restricted_map(self, basis: Array | None, dimension: int, like: Array) -> LinearMap:
        columns = tuple(as_index(x, like) for x in self.columns.values())
        if self.points is None:
            if self.n_points not in (None, dimension):
                raise ValueError(
                    f"the constraints are about {self.n_points} points, but the prior has {dimension} rows; "
                    "the two must agree."
                )
            for name, x in self.columns.items():
                check_indices(x, name, dimension, may_be_narrow=True)
            if basis is None:
                return CoordinateMap(columns, self.directions, constant(0.0, like, dimension))
            rows = basis
        else:
            if int(self.points.shape[1]) != dimension:
                raise ValueError(
                    f"`points` have {self.points.shape[1]} columns, but the prior is a matrix of size "
                    f"{dimension}; the two must agree."
                )
            rows = as_real(self.points, like)
            rows = rows if basis is None else rows @ basis
        return PointMap(columns, self.directions, rows)

    def describe(self, k: int) -> str:
        return self.words.format(*(int(x[k]) for x in self.columns.values()))

    @classmethod
    @final
    def examples(cls, n: int) -> list[Constraints]:
        # Rows that never wrap around: a circle of comparisons would contradict itself.
        columns = [[k + shift for k in range(n - 3)] for shift in range(4)]
        wanted = [f.default is MISSING for f in fields(cls) if not f.kw_only]
        counts = range(sum(wanted), len(wanted) + 1)
        return [cls(*columns[:count]) for count in counts]


@final
@dataclass(frozen=True, eq=False)
class SquaredDistances(PointConstraints):
    """t = (p_i - p_j)' X (p_i - p_j): squared distances of pairs of points."""

    i: Any
    j: Any

    words: ClassVar[str] = "squared distance of points {} and {}"
    directions: ClassVar[tuple[Direction, ...]] = (Direction(1.0, 0, -1, 1),)

    def __post_init__(self) -> None:
        super().__post_init__()
        i, j = self.i, as_index(self.j, self.i)
        for rows in chunks(self.size, 1, i):
            itself = where_true(i[rows] == j[rows])
            if itself.shape[0]:
                k = rows.start + int(itself[0])
                raise ValueError(
                    f"pair {k} is ({int(i[k])}, {int(j[k])}); a point has no distance from itself. Leave such "
                    "pairs out."
                )


@final
@dataclass(frozen=True, eq=False)
class Similarities(PointConstraints):
    """t = p_i' X p_j: entries K_ij of the kernel."""

    i: Any
    j: Any

    words: ClassVar[str] = "similarity of points {} and {}"
    directions: ClassVar[tuple[Direction, ...]] = (
        Direction(0.25, 0, 1, 1),
        Direction(-0.25, 0, -1, 1),
    )


@final
@dataclass(frozen=True, eq=False)
class DiagonalEntries(PointConstraints):
    """t = p_i' X p_i: diagonal entries K_ii, squared norms of points."""

    i: Any

    words: ClassVar[str] = "squared norm of point {}"
    directions: ClassVar[tuple[Direction, ...]] = (Direction(1.0, 0, 0, 0),)


@dataclass(frozen=True, eq=False)
class _Comparisons(PointConstraints):
    """Two pairs compared: (i, j) with (i, k), or with (k, l) where l is given."""

    i: Any
    j: Any
    k: Any
    l: Any = None  # noqa: E741 - the fourth letter of (i, j, k, l)

    @final
    def describe(self, k: int) -> str:
        points = [int(x[k]) for x in self.columns.values()]
        first, second = self._second_pair
        return self.words.format(points[0], points[1], points[first], points[second])

    @property
    def _second_pair(self) -> tuple[int, int]:
        return (0, 2) if self.l is None else (2, 3)


@final
@dataclass(frozen=True, eq=False)
class DistanceComparisons(_Comparisons):
    """t = d(i, j) - d(i, k), or d(i, j) - d(k, l) with `l`, where d is the squared distance."""

    words: ClassVar[str] = "squared distance of points {} and {} less that of {} and {}"

    @property
    def directions(self) -> tuple[Direction, ...]:
        first, second = self._second_pair
        return Direction(1.0, 0, -1, 1), Direction(-1.0, first, -1, second)


@final
@dataclass(frozen=True, eq=False)
class SimilarityComparisons(_Comparisons):
    """t = K_ij - K_ik, or K_ij - K_kl with `l`."""

    words: ClassVar[str] = "similarity of points {} and {} less that of {} and {}"

    @property
    def directions(self) -> tuple[Direction, ...]:
        first, second = self._second_pair
        return (
            Direction(0.25, 0, 1, 1),
            Direction(-0.25, 0, -1, 1),
            Direction(-0.25, first, 1, second),
            Direction(0.25, first, -1, second),
        )
