"""A table: columns by name, and the place in the file that each row came from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

_SHOWN_NAMES = 12
_SHOWN_LETTERS = 60


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length. A column is a list of cells, or an array; an array of vectors has two dimensions.

    Attributes
    ----------
    source : str
        The file, as the user named it.
    columns : dict of str to list or array
        None is a cell that the file does not have.
    n_rows : int
    lines : one number for each row, optional
        The line that the row begins in, counted from 1. Rows of a file without lines are counted from 0.
    unit : str
        What `lines` counts.
    has_header : bool
        Whether the names of the columns are those of the file; otherwise they are "1", "2", and so on.
    undecided : mask of the rows, optional
        Which rows say that whoever was asked could not tell.
    notes : tuple of str
        What has to be said of the file, in a sentence each.
    """

    source: str
    columns: dict[str, Any]
    n_rows: int
    lines: Sequence[int] | np.ndarray | None = None
    unit: str = "line"
    has_header: bool = True
    undecided: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """Where a row is, such as "judgments.csv, line 12"."""
        if self.lines is None:
            return f"{self.source}, row {row} counted from 0"
        return f"{self.source}, {self.unit} {self.lines[row]}"

    def with_columns(self, columns: dict[str, Any]) -> "Table":
        """The same rows with other columns."""
        return replace(self, columns=columns)


def shown(text: Any) -> str:
    """A cell as it is quoted in a message: in quotation marks, on one line, and not too long."""
    if not isinstance(text, str):
        text = str(text)
    return repr(text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 3] + "...")


def counted(n: int, noun: str) -> str:
    """A number and what it counts, such as "1 cell" and "2,000 cells"."""
    return f"{n:,} {noun}" + "s" * (n != 1)


def listed(names: Iterable[str]) -> str:
    """Names of columns as a message lists them: the first few, and how many more."""
    names = list(names)
    words = ", ".join(shown(name) for name in names[:_SHOWN_NAMES])
    more = len(names) - _SHOWN_NAMES
    return f"{words} and {more:,} more" if more > 0 else words
