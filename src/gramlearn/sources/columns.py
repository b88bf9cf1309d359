"""Named columns of one length, read chunk by chunk: a chunk is read again in every pass, and never kept.

Where chunks begin and end is fixed by what is read alone, so that sums over chunks are the same on every
machine, whatever its memory. Columns travel to other processes, which read the files themselves: they hold
names and counts, and no open file.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn.sources.errors import FileError

CHUNK_ROWS = 1 << 22  # 32 MiB of pairs of row numbers: much more than a pass costs beside its rows


class Kind(NamedTuple):
    """What a column must hold, in words, and the letters of NumPy's types that do."""

    words: str
    letters: str


ROW_NUMBERS = Kind("whole numbers (row indices)", "iu")
YES_OR_NO = Kind("booleans, or 1 for yes and 0 or -1 for no", "biu")
NUMBERS = Kind("numbers", "iuf")


class Wanted(NamedTuple):
    """The column of a table that an argument asks for."""

    argument: str
    column: str
    kind: Kind

    def check(self, types: Mapping[str, np.dtype[Any]], source: str) -> np.dtype[Any]:
        """The type of the column; refuse a table that lacks it, or has something else in its place."""
        if self.column not in types:
            known = ", ".join(repr(name) for name in list(types)[:12])
            raise FileError(
                f"{source} has no column {self.column!r}; it has {known}. Name the one that is meant: "
                f"`{self.argument}=` its name."
            )
        found = types[self.column]
        if found.kind not in self.kind.letters:
            raise FileError(
                f"{source} has {_words_of(found)} in the column {self.column!r}; `{self.argument}` must be a "
                f"column of {self.kind.words}."
            )
        return found


def _words_of(dtype: np.dtype[Any]) -> str:
    return "no plain numbers" if dtype.kind == "O" else f"numbers of type {dtype}"


class Columns(ABC):
    """Columns of one length, cut into chunks. Numbers come in the types that they are stored in."""

    @property
    @abstractmethod
    def types(self) -> Mapping[str, np.dtype[Any]]:
        """The columns by name, with the types of their numbers."""

    @property
    @abstractmethod
    def sizes(self) -> Sequence[int]:
        """How many rows each chunk has."""

    @property
    @abstractmethod
    def source(self) -> str:
        """Where they come from, as messages name it."""

    @abstractmethod
    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        """These columns of a chunk; NaN where a column of `NUMBERS` has nothing."""

    @property
    @abstractmethod
    def marks(self) -> list[bytes]:
        """What is the same for the same rows: of a file its path, size and time, of an array its numbers."""

    def take(self, chunk: int, names: Sequence[str], rows: np.ndarray) -> list[np.ndarray]:
        """These columns at some rows of a chunk."""
        return [column[rows] for column in self.read(chunk, names)]

    @abstractmethod
    def place(self, chunk: int, row: int) -> str:
        """Name the row of a chunk in the user's words, such as "pairs.parquet, row group 3, row 17 of it"."""

    def title(self, chunk: int, name: str) -> str:
        """Name a column of a chunk in the user's words."""
        del chunk
        return f"`{name}`"

    @abstractmethod
    def in_chunks_of(self, n_rows: int) -> "Columns":
        """The same columns in chunks of about so many rows."""

    @property
    @final
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return len(self.sizes)

    @final
    @cached_property
    def n_rows(self) -> int:
        """How many rows all chunks have together."""
        return sum(self.sizes)

    @final
    def rows(self, chunk: int) -> slice:
        """Which of all rows a chunk has."""
        start = self.starts[chunk]
        return slice(start, start + self.sizes[chunk])

    @final
    @cached_property
    def starts(self) -> list[int]:
        """The first row of each chunk."""
        return list(accumulate(self.sizes, initial=0))[:-1]

    @final
    def chunk_of(self, row: int) -> int:
        """The chunk that has this one of all rows."""
        return bisect_right(self.starts, row) - 1

    @final
    def bytes_of(self, chunk: int, names: Iterable[str]) -> int:
        """The memory that these columns of a chunk take as they are stored."""
        return self.sizes[chunk] * sum(self.types[name].itemsize for name in names)


def cut(n_rows: int, at_most: int) -> list[int]:
    """Sizes of parts that are about equal and at most so large; none of no rows."""
    n_parts = max(1, -(-n_rows // at_most))
    ends = [n_rows * k // n_parts for k in range(n_parts + 1)]
    return [end - start for start, end in pairwise(ends) if end > start]


@final
@dataclass(frozen=True, eq=False)
class ArrayColumns(Columns):
    """Columns in memory: a chunk is a view of them."""

    arrays: Mapping[str, np.ndarray]
    chunk_rows: int = CHUNK_ROWS

    @property
    def types(self) -> Mapping[str, np.dtype[Any]]:
        return {name: array.dtype for name, array in self.arrays.items()}

    @cached_property
    def sizes(self) -> Sequence[int]:
        n_rows = len(next(iter(self.arrays.values())))
        return cut(n_rows, self.chunk_rows)

    @property
    def source(self) -> str:
        return "memory"

    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        rows = self.rows(chunk)
        return [self.arrays[name][rows] for name in names]

    @property
    def marks(self) -> list[bytes]:
        return [np.ascontiguousarray(array).tobytes() for array in self.arrays.values()]

    def in_chunks_of(self, n_rows: int) -> "ArrayColumns":
        return replace(self, chunk_rows=n_rows)

    def place(self, chunk: int, row: int) -> str:
        return f"row {self.rows(chunk).start + row}"


@final
@dataclass(frozen=True, eq=False)
class SomeRows(Columns):
    """Some rows of each chunk of other columns, ascending."""

    columns: Columns
    chosen: tuple[np.ndarray, ...]

    @property
    def types(self) -> Mapping[str, np.dtype[Any]]:
        return self.columns.types

    @cached_property
    def sizes(self) -> Sequence[int]:
        return [len(rows) for rows in self.chosen]

    @property
    def source(self) -> str:
        return self.columns.source

    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        return self.columns.take(chunk, names, self.chosen[chunk])

    @property
    def marks(self) -> list[bytes]:
        return [*self.columns.marks, *(rows.tobytes() for rows in self.chosen)]

    def in_chunks_of(self, n_rows: int) -> "SomeRows":
        del n_rows  # they are few
        return self

    def place(self, chunk: int, row: int) -> str:
        return self.columns.place(chunk, int(self.chosen[chunk][row]))

    def title(self, chunk: int, name: str) -> str:
        return self.columns.title(chunk, name)


@final
@dataclass(frozen=True, eq=False)
class JoinedColumns(Columns):
    """The rows of several tables, one after another.

    What a table has the same for all of its rows is one number of `constants`, in place of a column.
    """

    parts: tuple[Columns, ...]
    constants: tuple[Mapping[str, float | bool], ...]

    @property
    def types(self) -> Mapping[str, np.dtype[Any]]:
        every: dict[str, np.dtype[Any]] = {}
        for part, constants in zip(self.parts, self.constants, strict=True):
            found = {name: np.dtype(type(value)) for name, value in constants.items()}
            for name, dtype in {**part.types, **found}.items():
                every[name] = np.result_type(dtype, every.get(name, dtype))
        return every

    @cached_property
    def sizes(self) -> Sequence[int]:
        return [size for part in self.parts for size in part.sizes]

    @property
    def source(self) -> str:
        return " and ".join(dict.fromkeys(part.source for part in self.parts))

    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        k, inside = self._part_of(chunk)
        size = self.parts[k].sizes[inside]
        return self._with_constants(k, names, size, partial(self.parts[k].read, inside))

    def take(self, chunk: int, names: Sequence[str], rows: np.ndarray) -> list[np.ndarray]:
        k, inside = self._part_of(chunk)

        def read(stored: Sequence[str]) -> list[np.ndarray]:
            return self.parts[k].take(inside, stored, rows)

        return self._with_constants(k, names, len(rows), read)

    def _with_constants(
        self,
        k: int,
        names: Sequence[str],
        size: int,
        read: Callable[[Sequence[str]], list[np.ndarray]],
    ) -> list[np.ndarray]:
        """What is read of a table, and what is the same for all of its rows."""
        constants = self.constants[k]
        stored = [name for name in names if name not in constants]
        found = dict(zip(stored, read(stored), strict=True))
        return [
            found[name] if name in found else np.broadcast_to(constants[name], size)
            for name in names
        ]

    @property
    def marks(self) -> list[bytes]:
        own = [repr(sorted(constants.items())).encode() for constants in self.constants]
        return own + [mark for part in self.parts for mark in part.marks]

    def in_chunks_of(self, n_rows: int) -> "JoinedColumns":
        return replace(self, parts=tuple(part.in_chunks_of(n_rows) for part in self.parts))

    def place(self, chunk: int, row: int) -> str:
        k, inside = self._part_of(chunk)
        return self.parts[k].place(inside, row)

    def title(self, chunk: int, name: str) -> str:
        k, inside = self._part_of(chunk)
        return self.parts[k].title(inside, name)

    def _part_of(self, chunk: int) -> tuple[int, int]:
        """(the table, its own number of the chunk)."""
        for k, part in enumerate(self.parts):
            if chunk < part.n_chunks:
                return k, chunk
            chunk -= part.n_chunks
        raise IndexError(f"there are {self.n_chunks} chunks")
