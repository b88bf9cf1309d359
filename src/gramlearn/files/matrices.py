"""A square matrix in a file: numbers alone, or with names in the first row, the first column, or both.

    ,a,b            a,b             1.0,0.4
    a,1.0,0.4       1.0,0.4         0.4,1.0
    b,0.4,1.0       0.4,1.0

Empty cells, NA and NaN are unknown. `.npy` has no names. "-" is stdin and stdout.
"""

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, final

import numpy as np

from gramlearn.files.formats.delimited import is_number, long_cells
from gramlearn.files.writing import replacing
from gramlearn.sources.errors import FileError
from gramlearn.sources.npy import read_npy
from gramlearn.sources.opening import name_of, opened, opened_text

_NPY = b"\x93NUMPY"
_UNKNOWN = ("", "na", "n/a", "nan", "null", "none", "?")
_TRUTHS = {"true": 1.0, "yes": 1.0, "x": 1.0, "false": 0.0, "no": 0.0}
_SEPARATORS = "\t;, "  # whichever of them comes first, for commas may stand in numbers

Row = tuple[int, list[str]]  # the line that it ends in, and its cells


@final
@dataclass(frozen=True, eq=False)
class Matrix:
    """Entries, NaN where they are unknown, and the names of rows; None where there are none."""

    values: np.ndarray
    names: list[str] | None = None


def read_matrix(path: str | Path, *, of_truths: bool = False) -> Matrix:
    """The square matrix of a .npy file, or of a table of text; `of_truths` also takes yes and no."""
    name = name_of(path)
    if str(path) != "-" and _is_npy(path):
        values = np.asarray(read_npy(path), dtype=np.float64)
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise FileError(f"{name} has shape {values.shape}; a square matrix was expected.")
        return Matrix(values)
    with opened_text(path) as text:
        rows = _read_rows(text, name)
    return _parse(rows, name, of_truths)


def _is_npy(path: str | Path) -> bool:
    with opened(path) as file:
        return file.read(len(_NPY)) == _NPY


def write_matrix(path: str | Path, matrix: Matrix) -> None:
    """As it was read: .npy, or a table with the names in the first row and column."""
    if str(path) == "-":
        _write_table(sys.stdout, matrix)
        return
    if Path(path).suffix not in ("", ".csv", ".txt", ".npy"):
        raise FileError(
            f"{path} says no format that a matrix is written in; end it in .csv or .npy."
        )
    with replacing(path) as beside:
        if Path(path).suffix == ".npy":
            with beside.open("wb") as file:
                np.save(file, matrix.values)
            return
        with beside.open("w", encoding="utf-8", newline="") as text:
            _write_table(text, matrix)


def _write_table(file: TextIO, matrix: Matrix) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if matrix.names is not None:
        writer.writerow(["", *matrix.names])
    for k, row in enumerate(matrix.values):
        name = [] if matrix.names is None else [matrix.names[k]]
        writer.writerow([*name, *(repr(float(value)) for value in row)])


def _read_rows(file: TextIO, name: str) -> list[Row]:
    """The rows that hold something."""
    lines = list(file)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise FileError(f"{name} is empty; a matrix was expected, a row a line.")
    separator = next((each for each in _SEPARATORS if each in first.strip()), ",")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    rows = []
    with long_cells():
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if separator in ";\t":
                    cells = [_with_point(cell) for cell in cells]
                # Spaces at the end of a line are no cell.
                while separator == " " and cells and not cells[-1]:
                    cells.pop()
                if any(cells):
                    rows.append((reader.line_num, cells))
        except csv.Error as error:
            raise FileError(f"{name}, line {reader.line_num}: {error}.") from error
    return rows


def _with_point(cell: str) -> str:
    """Where commas separate no cells, one in a number is what others write as a point."""
    number = cell.replace(",", ".")
    return number if cell.count(",") == 1 and is_number(number) else cell


def _parse(rows: list[Row], name: str, of_truths: bool) -> Matrix:
    """What is a name and what an entry follows from how many rows and columns there are."""
    first, column = rows[0][1], [row[0] for _, row in rows]
    shape = (len(rows), len(first))
    has_both = shape[0] == shape[1] and _has_both_names(first, column, name, of_truths)
    has_header = has_both or (shape[1] == shape[0] - 1 and _are_names(first))
    has_column = has_both or (shape[1] == shape[0] + 1 and _are_names(column))
    entries = rows[has_header:]
    names = column[has_header:] if has_column else first if has_header else None
    start = int(has_column)
    values = np.empty((len(entries), len(entries)))
    for k, (line, row) in enumerate(entries):
        if len(row) - start != len(entries):
            raise FileError(
                f"{name}, line {line} has {len(row) - start} entries, but the matrix has {len(entries)} rows; "
                "it must be square."
            )
        for j, cell in enumerate(row[start:]):
            number = _number(cell, of_truths)
            if number is None:
                raise FileError(
                    f"{name}, line {line}, column {j + start + 1}: {cell[:40]!r} is no number; leave a cell "
                    "empty where it is unknown."
                )
            values[k, j] = number
    return Matrix(values, names)


def _has_both_names(first: list[str], column: list[str], name: str, of_truths: bool) -> bool:
    """Whether the first row and the first column of a square table are names.

    A symmetric matrix has equal numbers there, too: so its first cell must be none, and names that are numbers
    must be whole.
    """
    corner, header = first[0], first[1:]
    if is_number(corner) or (of_truths and corner.lower() in _TRUTHS):
        return False
    has_word = any(_is_word(cell) for cell in header)
    if header == column[1:]:
        are_whole = all(cell.isdecimal() for cell in header)
        return len(set(header)) == len(header) and (has_word or are_whole)
    if has_word:
        raise FileError(
            f"{name} has other names in its first row than in its first column; they shall be the same, in the "
            "same order."
        )
    return False


def _are_names(cells: list[str]) -> bool:
    """Whether they are no entries: a word is among them, or they count rows from 0 or from 1."""
    counts = (list(map(str, range(k, k + len(cells)))) for k in (0, 1))
    return any(map(_is_word, cells)) or cells in counts


def _is_word(cell: str) -> bool:
    return not is_number(cell) and cell.lower() not in _UNKNOWN


def _number(cell: str, of_truths: bool) -> float | None:
    word = cell.lower()
    if word in _UNKNOWN:
        return float("nan")
    if of_truths and word in _TRUTHS:
        return _TRUTHS[word]
    return float(cell) if is_number(cell) else None
