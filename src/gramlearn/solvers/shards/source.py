"""Where shards of constraints come from: statements about points, which are read in chunks.

A source is small enough to be sent to other machines, and reads statements where it is used. A shard is a
chunk of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, final

from gramlearn._base.arrays import Array, as_index, as_real
from gramlearn.problem.dual import Dual, Origin, Part
from gramlearn.problem.linear_maps import Direction, PointMap
from gramlearn.problem.losses import Loss


class IndexedTerm(Protocol):
    """Constraints by row numbers of points, with their loss."""

    @property
    def columns(self) -> tuple[Any, ...]:
        """Row numbers, one vector a column."""

    @property
    def directions(self) -> tuple[Direction, ...]:
        """How the points of a row are put together."""

    @property
    def loss(self) -> Loss:
        """The losses, with their bounds."""


class Statements(Protocol):
    """Statements about points that are read chunk by chunk."""

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""

    def rows(self, chunk: int) -> slice:
        """The numbers of a chunk's statements."""

    def bytes_of(self, chunk: int) -> int:
        """What a chunk takes in memory."""

    def bytes_to_read(self, chunk: int) -> int:
        """What reading a chunk takes, beside that."""

    def indexed_terms(self, chunk: int, loss: Any, bounds: Any = None) -> Sequence[IndexedTerm]:
        """The terms of a chunk, as many and in the same order for each."""


@final
@dataclass(frozen=True, eq=False)
class Source:
    """Statements about points, and the dual they belong to, without its parts."""

    common: Dual
    spectrum: Array  # of the prior
    statements: Statements
    loss: Any
    bounds: Any = None

    def over(self, points: Any) -> "Opened":
        """The source where it is used, over points in memory."""
        points = as_real(points)
        origin = Origin(as_real(self.common.origin.slope, points))
        return Opened(self, points, replace(self.common, origin=origin))

    @property
    def sizes(self) -> list[int]:
        """What each shard takes in memory, in bytes."""
        return [self.statements.bytes_of(shard) for shard in range(self.statements.n_chunks)]


@final
@dataclass(frozen=True, eq=False)
class Opened:
    """A source where it is used, with the points in memory and statements still to be read."""

    source: Source
    points: Array
    common: Dual

    def read(self, shard: int) -> Dual:
        """The dual with the constraints of one shard."""
        source, parts = self.source, []
        for term in source.statements.indexed_terms(shard, source.loss, source.bounds):
            columns = tuple(as_index(column, self.points) for column in term.columns)
            linear = PointMap(columns, tuple(term.directions), self.points, may_stack=False)
            parts.append(Part(linear, term.loss.prepare(linear.size, self.points), 0.0))
        return replace(self.common, parts=tuple(parts))

    def first(self, shard: int) -> int:
        """The number of the first statement of a shard."""
        return int(self.source.statements.rows(shard).start)
