"""Rows that count, and for each of the others why it does not: nothing is dropped silently."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from gramlearn.files.formats.table import Table, shown
from gramlearn.files.ids import id_texts
from gramlearn.files.points import IN_BOTH, OF_SEVERAL, Points
from gramlearn.files.words import number_of
from gramlearn.sources.errors import FileError

# What a role speaks of, where points are of two tables. All others may speak of either.
_PART = {
    "query": "queries",
    "anchor": "queries",
    "chosen": "documents",
    "passedover": "documents",
    "positive": "documents",
    "negative": "documents",
    "document": "documents",
}
_ROW_NUMBER = re.compile(r"(0|[1-9]\d{0,17})(\.0)?", re.ASCII)
_SHOWN = 3  # kinds of dropped rows that a summary has an example of


@final
@dataclass(frozen=True)
class Dropped:
    """A row that is not used: where it is, and why."""

    place: str
    reason: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class UsedRows:
    """The rows of a table; some are dropped on the way, each for the first reason that is found."""

    def __init__(self, table: Table, points: Points) -> None:
        self.table = table
        self.points = points
        self.is_used = np.ones(table.n_rows, dtype=bool)
        self._why: dict[int, tuple[str, str]] = {}
        self._unknown: str | None = None

    def drop(self, rows: Any, kind: str, reason: Callable[[int], str]) -> None:
        """Drop rows, by a mask or by numbers, that are not dropped yet."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        for row in rows[self.is_used[rows]].tolist():
            self._why[row] = (kind, reason(row))
        self.is_used[rows] = False

    @property
    def kept(self) -> np.ndarray:
        """The numbers of the rows that count so far."""
        return np.flatnonzero(self.is_used)

    @property
    def dropped(self) -> list[Dropped]:
        """In the order of the file."""
        return [
            Dropped(self.table.place(row), reason, kind)
            for row, (kind, reason) in sorted(self._why.items())
        ]

    def find_ids(self, role: str, column: str, texts: Sequence[str | None]) -> np.ndarray:
        """The point of each id of a column; rows without one are dropped, and have a negative number."""
        part = self._part_of(role)
        found = self.points.rows_of(("" if text is None else text for text in texts), part)
        is_empty = np.fromiter((text is None for text in texts), dtype=bool, count=len(texts))
        found[is_empty] = -1
        self.drop(
            is_empty, "without an id", lambda row: f"there is no id in the column {shown(column)}"
        )
        among = part or "points"
        if self.points.ids is None:
            among += " (their ids are row numbers)"
        unknown = np.flatnonzero(found == -1)
        if self._unknown is None and np.any(self.is_used[unknown]):
            self._unknown = texts[unknown[self.is_used[unknown]][0]]
        self.drop(
            unknown,
            "with an unknown id",
            lambda row: f"the id {shown(texts[row])} is not among the {among}",
        )
        self.drop(
            found == IN_BOTH,
            "with an id of both tables",
            lambda row: (
                f"the id {shown(texts[row])} is in both tables; say which column speaks of which by the names "
                "query and document"
            ),
        )
        self.drop(
            found == OF_SEVERAL,
            "with the text of several points",
            lambda row: (
                f"{shown(texts[row])} is no id, and the text of several {part or 'points'}; name the one "
                "that is meant by its id"
            ),
        )
        return found

    def find_all(self, columns: dict[str, str]) -> dict[str, np.ndarray]:
        """The points of several roles; a row that names the same one twice is dropped."""
        texts = {role: id_texts(self.table.columns[column]) for role, column in columns.items()}
        self._check_counted_from_0(texts)
        found = {role: self.find_ids(role, columns[role], texts[role]) for role in columns}
        self.drop_equal(found)
        return found

    def _check_counted_from_0(self, texts: Mapping[str, Sequence[str | None]]) -> None:
        """Row numbers up to n and without 0 are those of someone who counts from 1: all would be shifted."""
        if self.points.ids is not None:
            return
        for part, rows in self.points.parts.items():
            roles = [role for role in texts if (self._part_of(role) or "points") == part]
            numbers = {
                int(text.removesuffix(".0"))
                for role in roles
                for text in set(texts[role])
                if text is not None and _ROW_NUMBER.fullmatch(text)
            }
            if numbers and min(numbers) >= 1 and max(numbers) == len(rows):
                raise FileError(
                    f"{self.table.source} has {len(rows):,} among its ids and 0 nowhere, as if it counted the "
                    f"{len(rows):,} {part} from 1, but without a column of ids row numbers from 0 are the ids; "
                    "subtract 1, or pass `ids` with the points."
                )

    def _part_of(self, role: str) -> str | None:
        """Which of two tables a role speaks of; None for either, and for the only one."""
        return _PART.get(role) if self.points.n_queries is not None else None

    def drop_equal(self, found: dict[str, np.ndarray]) -> None:
        """Drop rows in which two roles are of the same point."""
        roles = list(found)
        for k, role in enumerate(roles):
            for other in roles[:k]:
                self.drop(
                    found[role] == found[other],
                    "with an item judged with itself",
                    partial(self._judged_with_itself, found[role]),
                )

    def _judged_with_itself(self, found: np.ndarray, row: int) -> str:
        return f"the item {shown(self.points.name_of(int(found[row])))} is judged with itself"

    def numbers(self, column: str, *, above: float = -np.inf, kind: str) -> np.ndarray:
        """The numbers of a column; rows without one, or with one that is not above, are dropped."""
        cells = self.table.columns[column]
        numbers = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if (number := number_of(cell)) is not None:
                numbers[row] = number
        expected = "a number" if above == -np.inf else f"a number above {above:g}"
        self.drop(
            ~(np.isfinite(numbers) & (numbers > above)),
            kind,
            lambda row: (
                f"the column {shown(column)} has {shown(cells[row])}, but {expected} is expected"
            ),
        )
        return numbers

    def check_any(self) -> None:
        """An error that says why, if nothing is left."""
        if self.is_used.any():
            return
        row, (_, reason) = min(self._why.items())
        n_rows = self.table.n_rows
        sentence = (
            f"none of the {n_rows:,} rows of {self.table.source} can be used: {reason} "
            f"({self.table.place(row)})"
        )
        if self._unknown is not None:
            names = [part for part in self.points.parts.values() if len(part)]
            examples = " or ".join(shown(self.points.name_of(part[0])) for part in names)
            sentence += f"; judgments have ids like {shown(self._unknown)}, "
            sentence += f"{self.points.source} has ids like {examples}"
            if self.points.ids is None:
                sentence += ", for without a column of ids row numbers are the ids"
        else:
            others = Counter(kind for kind, _ in self._why.values())
            if len(others) > 1:
                counted = ", ".join(f"{count:,} {kind}" for kind, count in others.most_common())
                sentence += f"; there are {counted}"
        raise FileError(f"{sentence}.")


def summarize(dropped: list[Dropped]) -> str:
    """How many rows of each kind were dropped, each with its first example."""
    if not dropped:
        return ""
    counts = Counter(one.kind for one in dropped)
    first: dict[str, Dropped] = {}
    for one in dropped:
        first.setdefault(one.kind, one)
    parts = [
        f"{count:,} {kind}, such as: {first[kind].reason} ({first[kind].place})"
        for kind, count in counts.most_common()
    ]
    more = f"; and {len(parts) - _SHOWN} more kinds" if len(parts) > _SHOWN else ""
    return f"{len(dropped):,} dropped: " + "; ".join(parts[:_SHOWN]) + more
