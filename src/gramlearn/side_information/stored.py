"""Statements that are read chunk by chunk, in every pass anew, and never held whole.

The terms of a chunk are those of the same rows in memory. Over all chunks they add up to the terms of all rows,
so that whatever is a sum over constraints (a value, a gradient, a Hessian) is a sum over chunks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NoReturn, Self, final

import numpy as np

from gramlearn._base.ahead import at_once, made_ahead
from gramlearn._base.validation import check_count, generator
from gramlearn.problem.constraints.indexed import IndexedTerm
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import tables
from gramlearn.side_information.digest import digest
from gramlearn.side_information.indexing import distinct_numbers
from gramlearn.side_information.layout import Chunk, Layout
from gramlearn.side_information.stated import Stated
from gramlearn.sources.columns import Columns, SomeRows
from gramlearn.sources.parquet_columns import ParquetColumns

_NARROW = 2**31  # points whose row numbers have 32 bits
_NUMBER_BYTES = 8
_SHARE = 0.05  # of the memory there is, for chunks of which a sample is taken


@dataclass(frozen=True, eq=False, repr=False)
class StoredStatements(ABC):
    """Statements about n_points points, in files or in memory, chunk by chunk.

    They travel to other processes as names and counts, and are read there. Statements that are listed again are
    not merged: each counts, as in `Pairs` and `Triplets` each adds to the weight.
    """

    columns: Columns
    layout: Layout
    n_points: Any
    n_drawn: int = 0  # the last so many were not given

    def __post_init__(self) -> None:
        n_points = tables.check_n_points(self.n_points, type(self).__name__)
        object.__setattr__(self, "n_points", n_points)

    @classmethod
    @final
    def open(
        cls,
        path: Any,
        n_points: Any,
        points: Mapping[str, str],
        flags: Mapping[str, Any],
        numbers: Mapping[str, Any],
    ) -> Self:
        """Those of Parquet files."""
        layout = Layout(points, flags, numbers)
        return cls(ParquetColumns.open(path, layout.wanted), layout, n_points)

    @abstractmethod
    def _check(self, points: Sequence[np.ndarray], place: Callable[[int], str]) -> None:
        """Refuse statements that say nothing, such as one about the distance of a point from itself."""

    @abstractmethod
    def _uses(self, found: Chunk, name: str) -> np.ndarray | None:
        """A mask of the statements for which a number counts; None where it counts for all."""

    @abstractmethod
    def _state(self, found: Chunk, loss: BoundedLoss, bounds: Any) -> list[Stated]:
        """What statements ask for: the same list for every chunk, but for its sizes."""

    def _consistent(self, found: Chunk) -> Chunk:
        """Statements without those that contradict each other outright."""
        return found

    @abstractmethod
    def _in_memory(self, found: Chunk) -> Any:
        """Statements as `Pairs` or `Triplets`."""

    @abstractmethod
    def _order(self, found: Chunk) -> np.ndarray:
        """The rows of a chunk in the order of its terms."""

    @abstractmethod
    def _name(self, found: Chunk, row: int) -> str:
        """Name a statement in the user's words."""

    @property
    @final
    def size(self) -> int:
        """How many statements there are."""
        return self.columns.n_rows

    @property
    @final
    def n_given(self) -> int:
        """How many of them were given: the first ones."""
        return self.size - self.n_drawn

    @property
    @final
    def shape(self) -> tuple[int]:
        """(n_points,), as that of statements in memory."""
        return (self.n_points,)

    @property
    @final
    def digest(self) -> str:
        """The same for the same files, unchanged, and for the same numbers in memory."""
        layout = repr((self.layout.points, self.layout.flags, self.layout.numbers, self.n_points))
        return digest(type(self).__name__, [layout.encode(), *self.columns.marks])

    @property
    @final
    def n_chunks(self) -> int:
        """How many chunks there are; the files alone decide."""
        return self.columns.n_chunks

    @final
    def in_chunks_of(self, n_rows: int) -> Self:
        """The same statements, read in chunks of about n_rows; what is learned from them is the same.

        A fit makes chunks smaller itself, down to 65,536 statements, where its `memory_limit` asks for that.
        Even smaller ones take less memory, and more time; larger ones are quicker on a GPU.
        """
        return replace(self, columns=self.columns.in_chunks_of(n_rows))

    @final
    def rows(self, chunk: int) -> slice:
        """The places of the statements of a chunk among all."""
        return self.columns.rows(chunk)

    @final
    def bytes_of(self, chunk: int) -> int:
        """The memory that the terms of a chunk take."""
        points = len(self.layout.points) * self._row_type.itemsize
        numbers = sum(isinstance(given, str) for given in self.layout.numbers.values())
        return self.columns.sizes[chunk] * (points + numbers * _NUMBER_BYTES)

    @final
    def bytes_to_read(self, chunk: int) -> int:
        """The most memory that reading a chunk takes, its terms included.

        Rows as they are stored count four times: decoded, put together, and what allocators keep of both; the
        terms count twice. Pages of the file that the system keeps in spare memory do not count.
        """
        as_stored = self.columns.bytes_of(chunk, self.layout.stored.values())
        return 4 * as_stored + 2 * self.bytes_of(chunk)

    @final
    def indexed_terms(
        self, chunk: int, loss: BoundedLoss, bounds: Any = None
    ) -> Sequence[IndexedTerm]:
        """The terms of a chunk: the same list for every chunk, where some may be empty.

        Parameters
        ----------
        chunk : int
        loss : BoundedLoss
            A template without a bound, such as Hinge(C=10.0).
        bounds : (upper, lower), optional
            Squared distances for the pairs that have no bound of their own.
        """
        start, terms = self.rows(chunk).start, []
        for stated in self._state(self.statements(chunk), loss, bounds):
            terms.append(stated.indexed(start))
            start += terms[-1].size
        return terms

    @final
    def read(self) -> Any:
        """All statements in memory, as `Pairs` or `Triplets`."""
        return self._in_memory(Chunk.join([self.statements(k) for k in range(self.n_chunks)]))

    @final
    def sample(self, n: int, random_state: Any = None) -> Any:
        """So many statements in memory, each equally likely; all where there are no more.

        It takes a pass over the chunks of Parquet, and reads no other rows of .npy; what is drawn is checked.
        The same seed draws the same statements, however they are cut. Of those drawn, pairs that are stated to
        be similar and not to be are left out.
        """
        n = check_count(n, "n")
        if n < self.size:
            drawn = np.sort(distinct_numbers(generator(random_state), self.size, n))
        else:
            drawn = np.arange(self.size)
        rows = [self.rows(k) for k in range(self.n_chunks)]
        ends = np.searchsorted(drawn, [some.start for some in rows] + [self.size])
        inside = (drawn[start:stop] for start, stop in pairwise(ends))
        chosen = tuple(places - some.start for places, some in zip(inside, rows, strict=True))
        some = replace(self, columns=SomeRows(self.columns, chosen))
        chunks = [k for k in range(self.n_chunks) if chosen[k].size]
        each = max(self.bytes_to_read(k) for k in chunks)
        parts = made_ahead(some.statements, chunks, at_once(each, _SHARE))
        found = self._consistent(Chunk.join(list(parts)))
        if not found.size:
            raise ValueError(
                f"{self.columns.source}: each of the {min(n, self.size):,} pairs drawn is stated to be similar "
                "and not to be; list a pair as one of the two."
            )
        return self._in_memory(found)

    @final
    def describe(self, k: int) -> str:
        """Name the statement at place k in the user's words, with its file; reads a chunk."""
        chunk = self.columns.chunk_of(k)
        found = self.statements(chunk)
        row = int(self._order(found)[k - self.rows(chunk).start])
        return f"{self._name(found, row)} ({self.columns.place(chunk, row)})"

    @final
    def check_fits(self, n_rows: int) -> None:
        """Refuse points that are not the ones the indices were made for, as far as numbers tell."""
        if n_rows != self.n_points:
            raise ValueError(
                f"side information in {self.columns.source} was opened with n_points={self.n_points} but "
                f"received {n_rows} rows; open it with n_points=len(X) of the X that it numbers the rows of."
            )

    @final
    def __repr__(self) -> str:
        chunks = f"{self.n_chunks} chunk" + "s" * (self.n_chunks != 1)
        return (
            f"{type(self).__name__}({self.size:,} statements of {self.columns.source} in {chunks}, "
            f"n_points={self.n_points})"
        )

    @final
    def __getitem__(self, rows: Any) -> NoReturn:
        """Refuse to follow a subset of the points, such as a fold: statements would be renumbered in memory."""
        raise TypeError(f"{self!r} does not follow a subset of X; pass {IN_MEMORY}.")

    __iter__ = None

    # -- reading --

    @property
    def _row_type(self) -> np.dtype[Any]:
        return np.dtype(np.int32 if self.n_points <= _NARROW else np.int64)

    @final
    def statements(self, chunk: int) -> Chunk:
        """The statements of a chunk, as they stand in the files, checked."""
        stored, layout = self.layout.stored, self.layout
        arrays = self.columns.read(chunk, list(stored.values()))
        found = dict(zip(stored, arrays, strict=True))
        points = tuple(self._row_numbers(chunk, name, found.pop(name)) for name in layout.points)
        self._check(points, lambda row: self.columns.place(chunk, row))
        flags = {
            name: self._flags(chunk, name, found.get(name, x)) for name, x in layout.flags.items()
        }
        numbers = {name: found.get(name, given) for name, given in layout.numbers.items()}
        raw = Chunk(points, flags | numbers)
        return Chunk(points, flags | {name: self._number(chunk, name, raw) for name in numbers})

    def _row_numbers(self, chunk: int, name: str, given: np.ndarray) -> np.ndarray:
        least, largest = int(given.min()), int(given.max())
        if least < 0 or largest >= self.n_points:
            row = int(np.argmax((given < 0) | (given >= self.n_points)))
            raise ValueError(
                f"{self._title(chunk, name)} refers to row {int(given[row])} of X "
                f"({self.columns.place(chunk, row)}), but n_points is {self.n_points}: rows are 0 to "
                f"{self.n_points - 1}."
            )
        return np.ascontiguousarray(given, dtype=self._row_type)

    def _flags(self, chunk: int, name: str, given: Any) -> np.ndarray:
        """Booleans, one for each statement."""
        if not isinstance(given, np.ndarray):
            return np.broadcast_to(given, self.columns.sizes[chunk])
        if given.dtype.kind == "b":
            return given
        wrong = (given > 1) | (given < -1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{self._title(chunk, name)} is {int(given[row])} ({self.columns.place(chunk, row)}); it must "
                "be a boolean, or 1 for yes and 0 or -1 for no."
            )
        return np.asarray(given > 0)

    def _title(self, chunk: int, name: str) -> str:
        """The column that an argument was told to read, in the user's words."""
        return self.columns.title(chunk, self.layout.stored[name])

    def _number(self, chunk: int, name: str, found: Chunk) -> Any:
        """None, one number, or one for each statement, right wherever it counts."""
        given = found.numbers[name]
        if not isinstance(given, np.ndarray):
            return given
        mask = self._uses(found, name)
        rows = None if mask is None else np.flatnonzero(mask)
        used = given if rows is None else given[rows]

        def describe(k: int) -> str:
            row = k if rows is None else int(rows[k])
            return f"{self._name(found, row)} ({self.columns.place(chunk, row)})"

        tables.check_numbers(used, name, used, describe, positive=name == "weight")
        return given.astype(np.float64, copy=False)


# What to pass where statements on a disk cannot be taken.
IN_MEMORY = "what its `read()` gives, or its `sample(n)` if that is too much for memory"


def refuse_stored(side: object, name: str) -> None:
    """Refuse statements on a disk where they would have to be held whole."""
    if isinstance(side, StoredStatements):
        raise TypeError(
            f"{name} is {type(side).__name__}, statements that are read in chunks, and is needed in memory "
            f"here; pass {IN_MEMORY}."
        )
