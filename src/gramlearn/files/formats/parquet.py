"""Parquet -> columns: numbers as arrays, lists of one length as vectors, all else as lists of cells."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gramlearn.files.formats.table import Table
from gramlearn.sources.errors import FileError
from gramlearn.sources.parquet import opened_parquet


def read_parquet(path: str | Path) -> Table:
    """The table of a Parquet file, float32 kept."""
    with _opened_file(path) as (file, name, arrow):
        return _table(file.read(), name, arrow)


def count_rows(path: str | Path) -> int:
    """How many rows a Parquet file says that it has."""
    with _opened_file(path) as (file, _, _):
        return int(file.metadata.num_rows)


def read_parquet_blocks(path: str | Path, n_rows: int) -> Iterator[Table]:
    """The same rows, at most so many at a time."""
    first = 0
    with _opened_file(path) as (file, name, arrow):
        for batch in file.iter_batches(n_rows):
            table = _table(arrow.Table.from_batches([batch]), name, arrow)
            yield replace(table, lines=range(first, first + table.n_rows), unit="row")
            first += table.n_rows


@contextmanager
def _opened_file(path: str | Path) -> Iterator[tuple[Any, str, Any]]:
    """The same, of a file that has rows."""
    with opened_parquet(path) as (file, name, arrow):
        if not file.metadata.num_rows:
            raise FileError(f"{name} has no rows.")
        yield file, name, arrow


def _table(found: Any, name: str, arrow: Any) -> Table:
    names = found.column_names
    if len(set(names)) < len(names):
        raise FileError(f"{name} has two columns with the same name; give them different names.")
    columns = {key: _cells(found.column(k), arrow) for k, key in enumerate(names)}
    return Table(name, columns, found.num_rows)


def _cells(column: Any, arrow: Any) -> Any:
    kinds = arrow.types
    if column.null_count == 0:
        if kinds.is_integer(column.type) or kinds.is_floating(column.type):
            return column.to_numpy()
        if _is_list_of_numbers(column.type, kinds):
            vectors = _as_vectors(column, kinds.is_fixed_size_list(column.type))
            if vectors is not None:
                return vectors
            return [np.asarray(cell, dtype=np.float64) for cell in column.to_pylist()]
    return column.to_pylist()


def _is_list_of_numbers(type_: Any, kinds: Any) -> bool:
    is_list = kinds.is_list(type_) or kinds.is_large_list(type_) or kinds.is_fixed_size_list(type_)
    return is_list and (kinds.is_integer(type_.value_type) or kinds.is_floating(type_.value_type))


def _as_vectors(column: Any, are_of_one_length: bool) -> np.ndarray | None:
    """n x d, if all lists have d numbers."""
    parts = []
    for chunk in column.chunks:
        numbers = chunk.flatten()
        if not len(chunk):
            continue
        if numbers.null_count or len(numbers) % len(chunk):
            return None
        width = len(numbers) // len(chunk)
        if not are_of_one_length and np.any(np.asarray(chunk.value_lengths()) != width):
            return None
        parts.append(numbers.to_numpy(zero_copy_only=False).reshape(len(chunk), width))
    if len({part.shape[1] for part in parts}) != 1:
        return None
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
