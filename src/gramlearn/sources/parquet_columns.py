"""Columns of Parquet files: row groups are read one after another, small ones together, large ones in parts.

Parquet decodes a row group from its beginning. A pass over the parts of a large one takes up where the part
before ended, so that it is decoded once; a part that is read out of turn is reached from the beginning.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self, final

import numpy as np

from gramlearn.sources.columns import CHUNK_ROWS, NUMBERS, Columns, Wanted, cut
from gramlearn.sources.errors import FileError
from gramlearn.sources.parquet import opened_parquet
from gramlearn.sources.stamp import Stamp

_KEPT_OPEN = 4  # row groups that were read in part
_BATCH = 1 << 16  # rows that are decoded at once of a row group that is read in parts


class Piece(NamedTuple):
    """Rows of one row group."""

    file: int
    group: int
    start: int
    stop: int
    is_whole: bool


def plan_chunks(groups: Sequence[Sequence[int]], chunk_rows: int) -> list[list[Piece]]:
    """The pieces of each chunk, given the sizes of the row groups of each file: at most 3/2 of `chunk_rows`."""
    chunks: list[list[Piece]] = []
    filled, limit = chunk_rows, chunk_rows + chunk_rows // 2
    for file, sizes in enumerate(groups):
        for group, size in enumerate(sizes):
            if size > limit:
                stop = 0
                for part in cut(size, chunk_rows):
                    chunks.append([Piece(file, group, stop, stop + part, False)])
                    stop += part
                filled = chunk_rows
            elif size:
                if filled >= chunk_rows or filled + size > limit:
                    chunks.append([])
                    filled = 0
                chunks[-1].append(Piece(file, group, 0, size, True))
                filled += size
    return chunks


@final
@dataclass(frozen=True)
class ParquetFile:
    """A file, and the sizes of its row groups."""

    stamp: Stamp
    groups: tuple[int, ...]

    def check(self, n_rows: int, expected: int) -> None:
        """Refuse a file that has another number of rows than it had."""
        if n_rows != expected:
            how = f"it had {expected:,} rows in a place where it has {n_rows:,}"
            raise FileError(self.stamp.changed(how))


@final
@dataclass(frozen=True, eq=False)
class ParquetColumns(Columns):
    """The wanted columns of one Parquet file, or of several with the same ones, one after another."""

    files: tuple[ParquetFile, ...]
    wanted: tuple[Wanted, ...]
    stored: Mapping[str, np.dtype[Any]]
    chunk_rows: int = CHUNK_ROWS
    _readers: "_Readers" = field(default_factory=lambda: _Readers(), repr=False)

    @classmethod
    def open(cls, path: Any, wanted: Sequence[Wanted], chunk_rows: int = CHUNK_ROWS) -> Self:
        """Of a path, a list of them, or a folder, whose files are taken in the order of their names."""
        files: list[ParquetFile] = []
        types: dict[str, np.dtype[Any]] = {}
        for each in _list_files(path):
            stamp = Stamp.of(each)
            with opened_parquet(each) as (file, name, _):
                known = {column.name: _dtype_of(column.type) for column in file.schema_arrow}
                for some in wanted:
                    found = some.check(known, name)
                    types[some.column] = np.promote_types(found, types.get(some.column, found))
                groups = range(file.metadata.num_row_groups)
                sizes = tuple(int(file.metadata.row_group(k).num_rows) for k in groups)
            files.append(ParquetFile(stamp, sizes))
        if not any(size for file in files for size in file.groups):
            first, *others = (file.stamp.name for file in files)
            have = f"{first} and {len(others)} more have" if others else f"{first} has"
            raise FileError(f"{have} no rows; name a file that has some.")
        return cls(tuple(files), tuple(wanted), types, chunk_rows)

    @property
    def types(self) -> Mapping[str, np.dtype[Any]]:
        return self.stored

    @cached_property
    def _chunks(self) -> list[list[Piece]]:
        return plan_chunks([file.groups for file in self.files], self.chunk_rows)

    @cached_property
    def sizes(self) -> Sequence[int]:
        return [sum(piece.stop - piece.start for piece in pieces) for pieces in self._chunks]

    @property
    def source(self) -> str:
        first, *others = (file.stamp.name for file in self.files)
        return f"{first} and {len(others)} more" if others else first

    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        parts = [self._read_pieces(pieces, names) for pieces in _by_file(self._chunks[chunk])]
        if len(parts) == 1:
            return parts[0]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def _read_pieces(self, pieces: list[Piece], names: Sequence[str]) -> list[np.ndarray]:
        """Of one file: either whole row groups, or a part of one."""
        file, first = self.files[pieces[0].file], pieces[0]
        wanted = list(dict.fromkeys(names))
        file.stamp.check()
        if first.is_whole:
            with opened_parquet(file.stamp.path) as (opened, _, _):
                groups = [piece.group for piece in pieces]
                table = opened.read_row_groups(groups, columns=wanted)
        else:
            sizes = cut(file.groups[first.group], self.chunk_rows)
            table = self._readers.read(file, first, sizes, wanted)
        file.check(table.num_rows, sum(piece.stop - piece.start for piece in pieces))
        kinds = {some.column: some.kind for some in self.wanted}
        columns = []
        for name in names:
            column = table.column(name)
            if column.null_count and kinds[name] != NUMBERS:
                raise FileError(self._where_null(pieces, name, column))
            columns.append(np.asarray(column.to_numpy()))
        return columns

    def _where_null(self, pieces: list[Piece], name: str, column: Any) -> str:
        row = int(np.argmax(np.asarray(column.is_null())))
        return (
            f"{self._place(pieces, row)}: nothing stands in the column {name!r}; fill it in, or leave out "
            "the row."
        )

    @property
    def marks(self) -> list[bytes]:
        return [file.stamp.mark for file in self.files]

    def in_chunks_of(self, n_rows: int) -> "ParquetColumns":
        return replace(self, chunk_rows=n_rows)

    def place(self, chunk: int, row: int) -> str:
        return self._place(self._chunks[chunk], row)

    def _place(self, pieces: list[Piece], row: int) -> str:
        for piece in pieces:
            size = piece.stop - piece.start
            if row < size:
                name = self.files[piece.file].stamp.name
                return f"{name}, row group {piece.group}, row {piece.start + row} of it"
            row -= size
        raise IndexError(row)


class _Readers:
    """Row groups that were read in part, each at the row where its reading goes on.

    They belong to this process: a copy in another one begins with none.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[Any, ...], Iterator[Any]] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Readers, ())

    def read(self, file: ParquetFile, piece: Piece, sizes: list[int], names: Sequence[str]) -> Any:
        """The rows of a piece, as a table of Arrow; `sizes` are those of all pieces of its row group."""
        key = (piece.file, piece.group, tuple(names))
        # Taken out while it is read, so that two threads never share one.
        parts = self._open.pop((*key, piece.start), None)
        if parts is None:
            parts = _parts_of(file.stamp.path, piece, sizes, list(names))
        table = next(parts)
        if piece.stop < sum(sizes):
            self._open[(*key, piece.stop)] = parts
            while len(self._open) > _KEPT_OPEN:
                self._open.popitem(last=False)
        return table


def _parts_of(path: str, first: Piece, sizes: list[int], names: list[str]) -> Iterator[Any]:
    """The parts of a row group, from one of them on."""
    with opened_parquet(path) as (file, _, arrow):
        batches = file.iter_batches(_BATCH, row_groups=[first.group], columns=names)
        start, left = 0, None
        for size in sizes:
            found, missing = [], size
            while missing and (batch := left or next(batches, None)) is not None:
                found.append(batch.slice(0, missing))
                left = batch.slice(missing) if len(batch) > missing else None
                missing -= len(found[-1])
            if start >= first.start:
                yield _moved_to_table(found, arrow)
            start += size


def _moved_to_table(batches: list[Any], arrow: Any) -> Any:
    """The batches as a table, and no longer in the list, which would keep them until the next part is read."""
    table = arrow.Table.from_batches(batches)
    batches.clear()
    return table


def _by_file(pieces: list[Piece]) -> list[list[Piece]]:
    """The pieces of a chunk, those of one file together."""
    return [list(group) for _, group in groupby(pieces, key=lambda piece: piece.file)]


def _list_files(path: Any) -> Sequence[str | Path]:
    """The files that are meant: a path, each of a list, or each in a folder and the folders in it."""
    if not isinstance(path, str | Path):
        paths = list(path) if isinstance(path, Iterable) else [path]
        if not all(isinstance(each, str | Path) for each in paths):
            raise TypeError(
                f"`path` must be a Parquet file, a folder of them or a list of such; got {path!r:.60}."
            )
        if not paths:
            raise FileError("`path` is an empty list; name at least one Parquet file.")
        return [file for each in paths for file in _list_files(each)]
    if not Path(path).is_dir():
        return [path]
    found = [
        file
        for file in sorted(Path(path).rglob("*"))
        # What begins so, or lies in a folder that does, is kept by the tools that write such folders.
        if file.suffix in (".parquet", ".pq")
        and not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts)
    ]
    if not found:
        raise FileError(f"{path} is a folder without a file whose name ends in .parquet.")
    return found


def _dtype_of(type_: Any) -> np.dtype[Any]:
    """That of NumPy, an object for what is no number."""
    try:
        return np.dtype(type_.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return np.dtype(object)
