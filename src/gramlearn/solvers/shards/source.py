"""Where shards of constraints come from: statements about points, which are read in chunks.

A source is small enough to be sent to other machines, and reads statements where it is used. A shard is a
chunk of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, cast, final

import numpy as np

from gramlearn._base.arrays import (
    Array,
    as_index,
    as_real,
    concat,
    to_numpy,
)
from gramlearn._base.distances import along_line, squared_distances
from gramlearn._base.distinct_rows import numbers_of_equal_rows
from gramlearn.problem.dual import Dual, Origin, Part
from gramlearn.problem.linear_maps import Direction, PointMap
from gramlearn.problem.losses import BoundedLoss
from gramlearn.solvers.shards.packed import PackedRows

_HOST, _NONE = np.zeros(0), np.zeros(0, dtype=int)


class IndexedTerm(Protocol):
    """Constraints by row numbers of points, with their loss."""

    @property
    def columns(self) -> tuple[Any, ...]:
        """Row numbers, one vector a column."""

    @property
    def directions(self) -> tuple[Direction, ...]:
        """How the points of a row are put together."""

    @property
    def loss(self) -> BoundedLoss:
        """The losses, with their bounds."""

    @property
    def rows(self) -> slice:
        """The places of these constraints among all."""


class Statements(Protocol):
    """Statements about points that are read chunk by chunk."""

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""

    @property
    def n_given(self) -> int:
        """How many statements were given: the first ones."""

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

    def over(self, points: Any, given: Any = None, rounding: float = 0.0) -> "Opened":
        """The source where it is used, over points in memory, which were made of the `given` ones.

        Those that are no farther apart than `rounding` count as equal, and so do those that were given equal.
        """
        points = as_real(points)
        origin = Origin(as_real(self.common.origin.slope, points))
        numbers = numbers_of_equal_rows(points if given is None else given)
        near = near_others(points, rounding) if rounding else None
        return Opened(self, points, numbers, near, rounding, replace(self.common, origin=origin))

    @property
    def is_infinite_at_zero(self) -> bool:
        """Whether to ask equal points to lie apart costs infinity."""
        return bool(replace(self.loss, lower=1.0).has_domain)

    @property
    def sizes(self) -> list[int]:
        """What each shard takes in memory, in bytes."""
        return [self.statements.bytes_of(shard) for shard in range(self.statements.n_chunks)]


def near_others(points: Array, reach: float) -> np.ndarray | None:
    """Which points may be no farther than `reach` from another one; None where none is.

    They are no farther apart along any line, so that neighbors on one line tell.
    """
    places, rounding = along_line(points)
    places = to_numpy(places)
    order = np.argsort(places)
    close = np.flatnonzero(np.diff(places[order]) <= reach + rounding)
    if not close.size:
        return None
    near = np.zeros(len(places), dtype=bool)
    near[order[close]] = near[order[close + 1]] = True
    return near


class Shard(NamedTuple):
    """The dual with the constraints of one shard, without those that no X can satisfy.

    These ask points that are equal to lie apart. `impossible` are the numbers of those that were given.
    """

    dual: Dual
    impossible: np.ndarray


def joined_parts(parts: Sequence[Part]) -> Part:
    """The constraints of the same part of several shards."""
    first, *others = parts
    if not others:
        return first
    maps = [cast(PointMap, part.map) for part in parts]
    columns = zip(*(linear.indices for linear in maps), strict=True)
    indices = tuple(concat(list(column), column[0]) for column in columns)
    loss = first.loss.followed_by([part.loss for part in others])
    return replace(first, map=replace(maps[0], indices=indices), loss=loss)


@final
@dataclass(frozen=True, eq=False)
class Opened:
    """A source where it is used, with the points in memory and statements still to be read."""

    source: Source
    points: Array
    numbers: np.ndarray | None  # the same for equal points; None where there are no equal ones
    near: (
        np.ndarray | None
    )  # which points may be no farther than `rounding` from another; None: none is
    rounding: float
    common: Dual
    _impossible: dict[int, list[PackedRows]] = field(default_factory=dict)  # of shards read before

    def read(self, shard: int) -> Shard:
        """Read the constraints of one shard."""
        source, parts, impossible = self.source, [], []
        terms = source.statements.indexed_terms(shard, source.loss, source.bounds)
        if shard not in self._impossible:
            self._impossible[shard] = [self._find_impossible(term) for term in terms]
        for term, lost in zip(terms, self._impossible[shard], strict=True):
            every = term.loss.prepare(len(term.columns[0]), self.points)
            rows = lost.rows(_HOST) if lost.count else _NONE
            columns, loss = term.columns, every
            if rows.size:
                kept = np.delete(np.arange(len(columns[0])), rows)
                columns = tuple(column[kept] for column in columns)
                loss = every.take(as_index(kept, self.points))
            impossible.append(term.rows.start + rows)
            brought = tuple(as_index(column, self.points) for column in columns)
            linear = PointMap(brought, tuple(term.directions), self.points, self._n_rows)
            parts.append(Part(linear, loss, 0.0))
        lost_rows = np.concatenate(impossible)
        given = lost_rows[lost_rows < source.statements.n_given]
        return Shard(replace(self.common, parts=tuple(parts)), given)

    @property
    def _n_rows(self) -> int:
        """How many statements all shards have."""
        statements = self.source.statements
        return statements.rows(statements.n_chunks - 1).stop

    def first(self, shard: int) -> int:
        """The number of the first statement of a shard."""
        return int(self.source.statements.rows(shard).start)

    def _find_impossible(self, term: IndexedTerm) -> PackedRows:
        """The rows of a term that want a squared distance of at least something, of points that are equal."""
        equal = np.zeros(len(term.columns[0]), dtype=bool)
        if term.loss.lower is None or len(term.directions) > 1:
            return PackedRows.where(equal)
        (d,) = term.directions
        i, j = (to_numpy(term.columns[k]) for k in (d.first, d.second))
        if self.numbers is not None:
            equal |= self.numbers[i] == self.numbers[j]
        if self.near is not None:
            rows = np.flatnonzero(self.near[i] & self.near[j])
            squares = to_numpy(squared_distances(self.points, i[rows], j[rows]))
            equal[rows] |= squares <= self.rounding**2
        return PackedRows.where(equal)
