"""Arrays of .npy as columns: mapped into memory for as long as a chunk of them is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from gramlearn._base.validation import describe_value
from gramlearn.sources.columns import CHUNK_ROWS, Columns, Kind, cut
from gramlearn.sources.errors import FileError
from gramlearn.sources.npy import read_npy
from gramlearn.sources.stamp import Stamp


@final
@dataclass(frozen=True)
class NpyTable:
    """One file: an array of m numbers, which is one column, or m x w, which is w of them."""

    stamp: Stamp
    names: tuple[str, ...]
    n_rows: int
    dtype: np.dtype[Any]

    @classmethod
    def open(
        cls, path: str | Path, argument: str, names: Sequence[Sequence[str]], kind: Kind
    ) -> Self:
        """The table of a file that an argument names; `names` has those of its columns, for each width."""
        if not isinstance(path, str | Path):
            raise TypeError(
                f"`{argument}` must be the path of a .npy file; got {describe_value(path)}."
            )
        stamp = Stamp.of(path)
        array = read_npy(path)
        given = array.shape[1:] or (1,)
        fitting = [some for some in names if given == (len(some),)]
        if array.ndim not in (1, 2) or not fitting:
            wanted = " or ".join(
                "(m,)" if len(some) == 1 else f"(m, {len(some)})" for some in names
            )
            raise FileError(
                f"{stamp.name} has the shape {array.shape}; `{argument}` must have the shape {wanted}."
            )
        if array.dtype.kind not in kind.letters:
            raise FileError(
                f"{stamp.name} holds numbers of type {array.dtype}; `{argument}` must hold {kind.words}."
            )
        if not len(array):
            raise FileError(
                f"{stamp.name} has no rows; leave out `{argument}`, or name a file that has some."
            )
        return cls(stamp, tuple(fitting[0]), len(array), array.dtype)

    def read(self, rows: slice | np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Some of its columns, copied, for the file may be mapped no longer than this takes."""
        self.stamp.check()
        array = read_npy(self.stamp.path)
        if len(array) != self.n_rows or array.dtype != self.dtype:
            raise FileError(
                self.stamp.changed(f"it had {self.n_rows:,} rows then and has {len(array):,}")
            )
        table = array.reshape(self.n_rows, -1)[rows]
        return {name: np.array(table[:, k]) for k, name in enumerate(self.names) if name in names}


@final
@dataclass(frozen=True)
class NpyColumns(Columns):
    """The columns of one or several arrays of one length."""

    tables: tuple[NpyTable, ...]
    chunk_rows: int = CHUNK_ROWS

    def __post_init__(self) -> None:
        first, *others = self.tables
        for other in others:
            if other.n_rows != first.n_rows:
                raise FileError(
                    f"{first.stamp.name} has {first.n_rows:,} rows and {other.stamp.name} has "
                    f"{other.n_rows:,}; each row of one belongs to the same row of the other."
                )

    @property
    def types(self) -> Mapping[str, np.dtype[Any]]:
        return {name: table.dtype for table in self.tables for name in table.names}

    @cached_property
    def sizes(self) -> Sequence[int]:
        return cut(self.tables[0].n_rows, self.chunk_rows)

    @property
    def source(self) -> str:
        return self.tables[0].stamp.name

    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        return self._read(self.rows(chunk), names)

    def take(self, chunk: int, names: Sequence[str], rows: np.ndarray) -> list[np.ndarray]:
        return self._read(self.rows(chunk).start + rows, names)

    def _read(self, rows: slice | np.ndarray, names: Sequence[str]) -> list[np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for table in self.tables:
            if set(names) & set(table.names):
                found.update(table.read(rows, names))
        return [found[name] for name in names]

    @property
    def marks(self) -> list[bytes]:
        return [table.stamp.mark for table in self.tables]

    def in_chunks_of(self, n_rows: int) -> "NpyColumns":
        return replace(self, chunk_rows=n_rows)

    def place(self, chunk: int, row: int) -> str:
        return f"{self.source}, row {self.rows(chunk).start + row}"

    def title(self, chunk: int, name: str) -> str:
        del chunk
        table = next(table for table in self.tables if name in table.names)
        return f"column {table.names.index(name)} of {table.stamp.name}"
