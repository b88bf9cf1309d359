"""A square matrix in a file: numbers alone, or with names in the first row, the first column, or both.

    ,a,b            1.0,0.4
    a,1.0,0.4       0.4,1.0
    b,0.4,1.0

Empty cells, NA and NaN are unknown. `.npy` has no names.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from gramlearn.files.errors import FileError
from gramlearn.files.writing import replacing

_UNKNOWN = ("", "na", "n/a", "nan", "null", "none", "?")
_TRUTHS = {"true": 1.0, "yes": 1.0, "x": 1.0, "false": 0.0, "no": 0.0}
_SEPARATORS = ",;\t "


@final
@dataclass(frozen=True, eq=False)
class Matrix:
    """Entries, NaN where they are unknown, and the names of rows; None where there are none."""

    values: np.ndarray
    names: list[str] | None = None


def read_matrix(path: str | Path) -> Matrix:
    """The square matrix of a .npy file, or of a table of text."""
    path = Path(path)
    try:
        if path.suffix == ".npy":
            values = np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
            return Matrix(_check_square(values, path))
        rows = _rows_of(path.read_bytes(), path)
    except ValueError as error:
        raise error if isinstance(error, FileError) else FileError(f"{path}: {error}") from error
    return _parse(rows, path)


def write_matrix(path: str | Path, matrix: Matrix) -> None:
    """As it was read: .npy, or a table with the names in the first row and column."""
    path = Path(path)
    with replacing(path) as beside:
        if path.suffix == ".npy":
            with beside.open("wb") as file:
                np.save(file, matrix.values)
            return
        with beside.open("w", encoding="utf-8", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            if matrix.names is not None:
                writer.writerow(["", *matrix.names])
            for k, row in enumerate(matrix.values):
                name = [] if matrix.names is None else [matrix.names[k]]
                writer.writerow([*name, *(repr(float(value)) for value in row)])


def _rows_of(data: bytes, path: Path) -> list[tuple[int, list[str]]]:
    """The rows that hold something, with the numbers of their lines."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no text in UTF-8; save it as CSV in UTF-8.") from error
    first = text.lstrip().partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count) if first else ","
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    rows = [(line, row) for line, row in rows if any(row)]
    if not rows:
        raise FileError(f"{path} is empty; a matrix was expected, a row a line.")
    return rows


def _parse(rows: list[tuple[int, list[str]]], path: Path) -> Matrix:
    # Of a row of names more than the first cell is a word.
    header = None
    if any(_number(cell) is None for cell in rows[0][1][1:] or rows[0][1]):
        header, rows = rows[0][1], rows[1:]
    has_names = bool(rows) and all(_number(row[0]) is None for _, row in rows)
    names = [row[0] for _, row in rows] if has_names else None
    start = 1 if has_names else 0
    if header is not None and (names is None or len(header) == len(rows) + 1):
        columns = header[start:]
        if names is not None and columns != names:
            raise FileError(
                f"{path} has other names in its first row than in its first column; they shall be the same, in "
                "the same order."
            )
        names = columns
    values = np.empty((len(rows), len(rows)))
    for k, (line, row) in enumerate(rows):
        if len(row) - start != len(rows):
            raise FileError(
                f"{path}, line {line} has {len(row) - start} entries, but the matrix has {len(rows)} rows; it "
                "must be square."
            )
        for j, cell in enumerate(row[start:]):
            number = _number(cell)
            if number is None:
                raise FileError(
                    f"{path}, line {line}, column {j + start + 1}: {cell[:40]!r} is no number; leave a cell "
                    "empty where it is unknown."
                )
            values[k, j] = number
    return Matrix(values, names)


def _number(cell: str) -> float | None:
    word = cell.lower()
    if word in _UNKNOWN:
        return float("nan")
    if word in _TRUTHS:
        return _TRUTHS[word]
    try:
        return float(cell)
    except ValueError:
        return None


def _check_square(values: np.ndarray, path: Path) -> np.ndarray:
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise FileError(f"{path} has shape {values.shape}; a square matrix was expected.")
    return values
