"""Cells -> X: finite numbers, vectors of one length; or the file, line and column of the first that is not."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramlearn.files.formats.delimited import is_number
from gramlearn.files.formats.table import Table, counted, shown
from gramlearn.sources.errors import FileError

HOW_TO_GET_VECTORS = (
    "a model makes vectors of texts, for example `model = sentence_transformers.SentenceTransformer("
    '"all-MiniLM-L6-v2")` and `np.save("vectors.npy", model.encode(texts))`; give vectors.npy as the points, '
    "and the file of the texts as `ids`."
)
_NUMBERS_AT_ONCE = 1 << 22
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def check_array(X: np.ndarray, name: str) -> np.ndarray:
    """The array of a .npy file, which must be n x d of finite real numbers. It is looked at in chunks."""
    if X.ndim != 2:
        raise FileError(
            f"{name} has the shape {X.shape}; points are n x d, one vector a row, such as (1000, 384)."
        )
    if 0 in X.shape:
        raise FileError(f"{name} has the shape {X.shape}: there is nothing in it.")
    if X.dtype.kind not in "fiub":
        raise FileError(f"{name} holds {X.dtype}; save real numbers, such as float32.")
    if not X.dtype.isnative or X.dtype.itemsize > 8:
        X = X.astype(np.float64 if X.dtype.itemsize > 8 else X.dtype.newbyteorder("="))
    step = max(1, _NUMBERS_AT_ONCE // X.shape[1])
    for start in range(0, len(X) if X.dtype.kind == "f" else 0, step):
        is_finite = np.isfinite(X[start : start + step])
        if not is_finite.all():
            row, column = np.argwhere(~is_finite)[0]
            raise FileError(
                f"{name}, row {start + row}, column {column} counted from 0 is {X[start + row, column]}; leave "
                "such rows out, or fill them in."
            )
    return X


def number_column(table: Table, name: str) -> np.ndarray | str:
    """The numbers of a column; or, in a word, why it has none. A column of numbers with gaps is refused."""
    cells = table.columns[name]
    if isinstance(cells, np.ndarray):
        return cells if cells.ndim == 1 else "vectors"
    kinds = [_kind(cell) for cell in cells]
    n_numbers, n_empty = kinds.count("number"), kinds.count("empty")
    if n_numbers == len(cells):
        return _as_floats(table, name, cells)
    others = len(cells) - n_numbers - n_empty
    if n_numbers <= others:
        return "empty" if n_empty == len(cells) else "text"
    row = next(k for k, kind in enumerate(kinds) if kind != "number")
    place = f"{table.place(row)}: the column {shown(name)}"
    if kinds[row] == "empty":
        raise FileError(
            f"{place} is empty, but a number is expected; leave the row or the column out."
        )
    advice = "leave the row or the column out"
    if _DECIMAL_COMMA.fullmatch(str(cells[row]).strip()):
        advice = "write decimal points, not commas"
    raise FileError(f"{place} has {shown(cells[row])}, but a number is expected; {advice}.")


def stack_columns(table: Table, columns: dict[str, np.ndarray]) -> np.ndarray:
    """n x d of columns of numbers, all finite; single precision where all columns have it."""
    dtype = np.result_type(*columns.values())
    X = np.stack(list(columns.values()), axis=1, dtype=dtype if dtype.kind == "f" else np.float64)
    is_finite = np.isfinite(X)
    if not is_finite.all():
        row, column = np.argwhere(~is_finite)[0]
        name = list(columns)[column]
        raise FileError(
            f"{table.place(int(row))}: the column {shown(name)} has {X[row, column]}, but a finite number is "
            "expected; leave the row or the column out."
        )
    return X


def is_vector_column(cells: Any) -> bool:
    """Whether the cells are lists of numbers, or text that begins as such a list."""
    if isinstance(cells, np.ndarray):
        return cells.ndim == 2
    first = first_filled(cells)
    if isinstance(first, str):
        return first.lstrip().startswith("[")
    return isinstance(first, list | np.ndarray)


def first_filled(cells: Any) -> Any:
    """The first cell that is not empty, or None."""
    return next((cell for cell in cells if _kind(cell) != "empty"), None)


def vector_column(table: Table, name: str) -> np.ndarray:
    """n x d of a column of lists."""
    cells = table.columns[name]
    if not isinstance(cells, np.ndarray) or cells.ndim != 2:
        X: np.ndarray | None = None
        for row, cell in enumerate(cells):
            vector = _vector(table, name, row, cell)
            if X is None:
                X = np.empty((len(cells), len(vector)))
            if len(vector) != X.shape[1]:
                length = counted(len(vector), "number")
                raise FileError(
                    f"{table.place(row)}: the column {shown(name)} has a list of {length}, but "
                    f"the first has {X.shape[1]:,}; all must be of one length."
                )
            X[row] = vector
        cells = X if X is not None else np.empty((0, 0))
    is_finite = np.isfinite(cells)
    if not is_finite.all():
        row, place = (int(k) for k in np.argwhere(~is_finite)[0])
        raise FileError(
            f"{table.place(row)}: the list in {shown(name)} has {cells[row, place]} at place {place}; leave "
            "the row out."
        )
    if not cells.shape[1]:
        raise FileError(f"{table.place(0)}: the column {shown(name)} has a list without numbers.")
    return cells


def _vector(table: Table, name: str, row: int, cell: Any) -> np.ndarray:
    if isinstance(cell, np.ndarray) and cell.ndim == 1:
        return cell
    if isinstance(cell, str) and "..." in cell:
        raise FileError(
            f"{table.place(row)}: the column {shown(name)} has a list that was cut off by '...' when it was "
            "written; write the vectors with np.save, or as JSON lists."
        )
    try:
        vector = np.asarray(_parsed(cell) if isinstance(cell, str) else cell, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        vector = np.empty(())
    if vector.ndim != 1 or cell is None:
        raise FileError(
            f"{table.place(row)}: the column {shown(name)} has {shown(cell)}, but a list of numbers is "
            "expected, such as [0.1, 0.2]."
        )
    return vector


def _parsed(text: str) -> Sequence[Any]:
    """[0.1, 0.2], or [0.1 0.2] as NumPy prints vectors."""
    try:
        numbers = json.loads(text)
    except json.JSONDecodeError:
        return text.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    return numbers if isinstance(numbers, list) else [numbers]


def _kind(cell: Any) -> str:
    if isinstance(cell, int | float | np.number):
        return "number"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return "empty"
    return "number" if isinstance(cell, str) and is_number(cell) else "other"


def _as_floats(table: Table, name: str, cells: list[Any]) -> np.ndarray:
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            numbers[row] = float(cell)
        except OverflowError as error:
            raise FileError(
                f"{table.place(row)}: the column {shown(name)} has a number too large for double precision."
            ) from error
    return numbers
