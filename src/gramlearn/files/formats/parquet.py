"""Parquet -> columns: numbers as arrays, lists of one length as vectors, all else as lists of cells."""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gramlearn.files.errors import FileError, missing_package
from gramlearn.files.formats.opening import name_of, opened
from gramlearn.files.formats.table import Table


def read_parquet(path: str | Path) -> Table:
    """The table of a Parquet file, float32 kept."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise missing_package("pyarrow", "files", "reading Parquet") from error
    name = name_of(path)
    with opened(path) as file:
        _check_begins_well(file, name)
        try:
            # A ParquetFile, for `read_table` takes columns from the names of folders.
            with parquet.ParquetFile(file) as opened_file:
                table = opened_file.read()
        except (arrow.ArrowException, OSError, ValueError) as error:
            why = str(error).split("\n")[0][:200]
            raise FileError(f"{name} is a damaged or unusual Parquet file: {why}.") from error
    names = table.column_names
    if len(set(names)) < len(names):
        raise FileError(f"{name} has two columns with the same name; give them different names.")
    if not table.num_rows:
        raise FileError(f"{name} has no rows.")
    columns = {key: _cells(table.column(k), arrow) for k, key in enumerate(names)}
    return Table(name, columns, table.num_rows)


def _check_begins_well(file: BinaryIO, name: str) -> None:
    head = file.read(4)
    file.seek(0)
    if not head:
        raise FileError(f"{name} is empty.")
    if head != b"PAR1":
        raise FileError(f"{name} is not a Parquet file; state the format that it has.")


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
