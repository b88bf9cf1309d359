"""a,b -> columns: CSV, TSV and tables with spaces, row by row with the line that each row begins in.

Cells stay text, for "007" is an id and 7 another. Columns that are not ids may be asked for as numbers, which
are converted block by block: so a hundred thousand rows of a hundred numbers take seconds, and the memory of
the numbers.
"""

import csv
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, TextIO

import numpy as np

from gramlearn.files.formats.table import Table, counted, listed, shown
from gramlearn.sources.errors import FileError

# Of the names of the columns, those that stay text; all others become numbers where all of their cells are.
TextColumns = Callable[[list[str]], Collection[str]]

_BLOCK = 4096  # rows that become numbers at once
_LONGEST_CELL = 1 << 26  # letters
_DELIMITERS = ",;\t|"
_TREC = ["query", "iteration", "document", "relevance"]


def read_delimited(
    file: TextIO, name: str, delimiter: str | None, as_text: TextColumns | None = None
) -> Table:
    """The table of a file whose cells are between delimiters; None finds which one the first line has."""
    first_line = ""
    n_blank = 0
    for first_line in file:
        if first_line.strip():
            break
        n_blank += 1
    else:
        raise FileError(f"{name} is empty.")
    lines = chain([first_line], file)
    reader = csv.reader(
        lines,
        delimiter=delimiter or _find_delimiter(first_line),
        strict=True,
        skipinitialspace=True,
    )
    with long_cells():
        return _read(_numbered(reader, name, n_blank), name, as_text)


def read_trec(file: TextIO, name: str) -> Table:
    """Judgments of TREC: query, iteration, document, relevance, with spaces between them and no header."""
    lines, rows = array("q"), []
    for number, line in enumerate(file, start=1):
        cells = line.split()
        if cells and len(cells) != len(_TREC):
            raise FileError(
                f"{name}, line {number} has {counted(len(cells), 'cell')}; qrels of TREC have four: query, "
                "iteration, document, relevance."
            )
        if cells:
            lines.append(number)
            rows.append(cells)
    if not rows:
        raise FileError(f"{name} is empty.")
    columns = dict(zip(_TREC, map(list, zip(*rows, strict=True)), strict=True))
    del columns["iteration"]  # which says nothing
    return Table(name, columns, len(rows), np.asarray(lines))


def looks_like_trec(line: str) -> bool:
    """Whether a line is four cells of which the last is a whole number, such as "301 0 FBIS3-10082 1"."""
    cells = line.split()
    return (
        len(cells) == len(_TREC)
        and "," not in line
        and cells[3].lstrip("+-").isdigit()
        and (cells[1] in ("0", "Q0") or cells[1].isdigit())
    )


def is_number(cell: str) -> bool:
    """Whether a cell is a number as tables have it; Python reads 1_000 as one, too."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


@contextmanager
def long_cells() -> Iterator[None]:
    """Cells may hold whole documents; the limit of `csv` belongs to the process and is put back."""
    usual = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _find_delimiter(line: str) -> str:
    """The one that stands most often outside of quotation marks; the comma where none does."""
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _numbered(reader: Any, name: str, n_blank: int) -> Iterator[tuple[int, list[str]]]:
    """(the line that it begins in, its cells) of each row that has any."""
    begins = 1 + n_blank
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileError(f"{name}, line {begins}: {_why(str(error))}.") from error
        if row:
            yield begins, row
        begins = 1 + n_blank + reader.line_num


def _why(message: str) -> str:
    if "unexpected end" in message:
        return (
            "a quotation mark is opened here and never closed; close it, or double those in a cell"
        )
    if "larger than field limit" in message:
        return f"a cell has more than {_LONGEST_CELL:,} letters; is a quotation mark never closed?"
    if "expected after" in message:
        return "a cell goes on after its closing quotation mark; double those that belong to a cell"
    return message


def _read(
    numbered: Iterator[tuple[int, list[str]]], name: str, as_text: TextColumns | None
) -> Table:
    begins, first = next(numbered)
    first = [cell.strip() for cell in first]
    second = next(numbered, None)
    ahead = [] if second is None else [second]
    has_header = _is_header(first, second and second[1], f"{name}, line {begins}")
    names = first if has_header else [str(k + 1) for k in range(len(first))]
    if not has_header:
        ahead.insert(0, (begins, first))
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise FileError(
            f"{name} has two columns with the name {shown(twice)}; give them different names."
        )
    texts = set(names) if as_text is None else set(as_text(names))
    gathered = _Columns(names, texts)
    lines = array("q")
    block: list[list[str]] = []
    for line, row in chain(ahead, numbered):
        if len(row) != len(names):
            raise FileError(
                f"{name}, line {line} has {counted(len(row), 'cell')}, but line {begins} has {len(names):,}; "
                "put cells that hold the delimiter into quotation marks."
            )
        lines.append(line)
        block.append(row)
        if len(block) * len(names) >= _BLOCK * 64 or len(block) == _BLOCK:
            gathered.add(block)
            block = []
    if block:
        gathered.add(block)
    if not lines:
        raise FileError(f"{name} has a header and no rows; its columns are {listed(names)}.")
    return Table(name, gathered.finished(), len(lines), np.asarray(lines), has_header=has_header)


def _is_header(first: list[str], second: list[str] | None, place: str) -> bool:
    """Whether the first row names the columns: it has words, and numbers only as names count up."""
    numbers = [cell for cell in first if is_number(cell)]
    if not numbers:
        return True
    words = [cell for cell in first if cell and cell not in numbers]
    if not all(cell.isdigit() for cell in numbers):
        return False
    values = [int(cell[:20]) for cell in numbers]
    if words:
        return values == sorted(set(values))
    if values != list(range(len(first) - first.count(""))) or len(values) < 2:
        return False
    # pandas names columns so where nobody did; but such a row may be a point as well.
    if first[0] == "" or (second and not all(cell.strip().isdigit() for cell in second)):
        return True
    raise FileError(
        f"{place} is {shown(','.join(first))}, which may be a header or a row; begin the file with a line "
        "of names."
    )


class _Columns:
    """Columns that grow by blocks of rows."""

    def __init__(self, names: list[str], texts: set[str]) -> None:
        self._names = names
        self._texts = [k for k, name in enumerate(names) if name in texts]
        self._others = [k for k, name in enumerate(names) if name not in texts]
        self._pieces: list[list[Any]] = [[] for _ in names]

    def add(self, rows: list[list[str]]) -> None:
        """Take these rows, and their cells."""
        for k in reversed(self._texts):
            self._pieces[k].append([row.pop(k) for row in rows])
        if not self._others:
            return
        if not any("_" in "".join(row) for row in rows):
            try:
                numbers = np.array(rows, dtype=np.float64)
            except ValueError:
                pass
            else:
                for c, k in enumerate(self._others):
                    self._pieces[k].append(numbers[:, c])
                return
        for k, cells in zip(self._others, zip(*rows, strict=True), strict=True):
            self._pieces[k].append(_as_numbers(cells))

    def finished(self) -> dict[str, Any]:
        finished: dict[str, Any] = {}
        for name, pieces in zip(self._names, self._pieces, strict=True):
            if all(isinstance(piece, np.ndarray) for piece in pieces):
                finished[name] = np.concatenate(pieces)
            else:
                finished[name] = [cell for piece in pieces for cell in piece]
            pieces.clear()
        return finished


def _as_numbers(cells: tuple[str, ...]) -> np.ndarray | tuple[str, ...]:
    if any("_" in cell for cell in cells):
        return cells
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return cells
