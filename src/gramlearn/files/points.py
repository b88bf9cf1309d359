"""X, row k = point k: vectors with the ids, labels and texts that stand beside them in a file.

A vector is a row of .npy, a list in one column, or all numeric columns of a table.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from gramlearn.files.formats.parquet import count_rows, read_parquet_blocks
from gramlearn.files.formats.table import Table, shown
from gramlearn.files.ids import id_texts, other_spelling
from gramlearn.files.point_columns import (
    Beside,
    Named,
    PointColumns,
    check_ids,
    has_label,
    join_labels,
    text_columns,
)
from gramlearn.files.tables import find_format, read_table
from gramlearn.files.vectors import HOW_TO_GET_VECTORS, check_array
from gramlearn.sources.errors import FileError
from gramlearn.sources.npy import read_npy
from gramlearn.sources.opening import name_of, opened_text

UNKNOWN, IN_BOTH, OF_SEVERAL = -1, -2, -3

_FORMATS = ("npy", "csv", "tsv", "jsonl", "json", "parquet")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Points of a file, or of two: those of queries first, then those of documents.

    Attributes
    ----------
    X : array n x d
        A memory map where the file is .npy.
    ids : list of n texts, or None
        None means that row numbers are the ids.
    feature_names : list of d names, or None
    labels : array of n, or None
    items : list of n texts, or None
        What to show of a point: a text, or where its image is.
    source : str
        The file, as messages name it.
    n_queries : int or None
        Of two tables, how many points belong to the first; None for one table.
    left_out : dict of str to str
        Columns that are neither, and why.
    """

    X: np.ndarray
    ids: list[str] | None = None
    feature_names: list[str] | None = None
    labels: np.ndarray | None = None
    items: list[str] | None = None
    source: str = "points"
    n_queries: int | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Points({self.source}: {len(self)} x {self.X.shape[1]})"

    @property
    def parts(self) -> dict[str, range]:
        """The rows of each table: "queries" and "documents", or "points"."""
        if self.n_queries is None:
            return {"points": range(len(self))}
        return {
            "queries": range(self.n_queries),
            "documents": range(self.n_queries, len(self)),
        }

    def rows_of(self, ids: Iterable[Any], part: str | None = None) -> np.ndarray:
        """The row of each id or text; -1 where there is none.

        It is -2 where both tables have it, and -3 where it is no id, but the text of several points.

        Parameters
        ----------
        ids : texts
            Where no id is equal, the point whose item has that text. 7 and 7.0 mean one point, unless the
            points have both.
        part : {"queries", "documents"}, optional
            In which of two tables; without it in both.
        """
        lookups = [
            self._lookups[name] for name in ([part] if part in self._lookups else self.parts)
        ]
        if len(lookups) == 1:
            return np.fromiter((_look_up(lookups[0], text) for text in ids), dtype=np.int64)
        found = []
        for text in ids:
            rows = [row for lookup in lookups if (row := _look_up(lookup, text)) != UNKNOWN]
            found.append(rows[0] if len(rows) == 1 else IN_BOTH if rows else UNKNOWN)
        return np.asarray(found, dtype=np.int64)

    def name_of(self, row: int) -> str:
        """The id of a row; without ids its number, within its table."""
        if self.ids is not None:
            return self.ids[row]
        return str(row if self.n_queries is None or row < self.n_queries else row - self.n_queries)

    @cached_property
    def _lookups(self) -> dict[str, dict[str, int]]:
        lookups = {}
        for part, rows in self.parts.items():
            lookup: dict[str, int] = {}
            if self.items is not None:
                for row in rows:
                    text = self.items[row].strip()
                    lookup[text] = OF_SEVERAL if text in lookup else row
            lookup.update((self.name_of(row), row) for row in rows)
            lookups[part] = lookup
        return lookups

    def summary(self, n_in_all: int | None = None) -> str:
        """What was read, in a line or two; these may be a part of so many."""
        n, d = self.X.shape
        lines = [f"{self.source}: {n_in_all or n:,} points with {d:,} features"]
        if self.left_out:
            words = "; ".join(
                f"{shown(name)} ({why})" for name, why in [*self.left_out.items()][:8]
            )
            more = f"; and {len(self.left_out) - 8:,} more" if len(self.left_out) > 8 else ""
            lines.append(f"Not among the features: {words}{more}.")
        if self.labels is not None and (n_without := n - int(has_label(self.labels).sum())):
            lines.append(f"Without a label: {n_without:,} of {n:,} points.")
        return "\n".join(lines)


def _look_up(lookup: Mapping[str, int], text: str) -> int:
    row = lookup.get(text, UNKNOWN)
    if row == UNKNOWN and (other := other_spelling(text)) is not None:
        return lookup.get(other, UNKNOWN)
    return row


def read_points(
    path: str | Path,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    item_column: str | None = None,
    vector_column: str | None = None,
    ids: str | Path | None = None,
    format: str | None = None,
) -> Points:
    """The points of a file.

    Parameters
    ----------
    path : str or Path
        .npy, .csv, .tsv, .jsonl, .json or .parquet; "-" is stdin.
    id_column, label_column, item_column, vector_column : str, optional
        Columns of a table. Those of ids, items and vectors are found by usual names, labels never.
    ids : str or Path, optional
        A file with one id a line, or a table with a column of ids, for vectors without them.
    format : str, optional
        Without it, that of the suffix.
    """
    named = {
        "id_column": id_column,
        "label_column": label_column,
        "item_column": item_column,
        "vector_column": vector_column,
    }
    if Path(path).is_dir() and (Path(path) / "corpus.jsonl").exists():
        raise FileError(
            f"{path} is a folder of BEIR, which holds texts and no vectors; {HOW_TO_GET_VECTORS}"
        )
    if find_format(path, format, _FORMATS) == "npy":
        points = Points(check_array(read_npy(path), name_of(path)), source=name_of(path))
        if ids is None and any(named.values()):
            first = next(name for name, value in named.items() if value is not None)
            raise FileError(
                f"{name_of(path)} has no columns, so `{first}` cannot be found; pass a table of them as `ids`."
            )
        return points if ids is None else _with_ids(points, ids, named)
    table = read_table(path, format=format, as_text=lambda names: text_columns(names, named))
    points = _of_table(table, named)
    return points if ids is None else _with_ids(points, ids, {})


def _of_table(table: Table, named: Named) -> Points:
    read = PointColumns.of(table, named)
    return Points(
        read.X,
        read.beside.ids,
        read.feature_names,
        read.beside.labels,
        read.beside.items,
        table.source,
        left_out=read.left_out,
    )


def read_point_blocks(
    path: str | Path, n_rows: int, *, format: str | None = None, **named: str | None
) -> tuple[int, Iterator[Points]]:
    """How many points a file has, and these, so many at a time where it is Parquet: it may be of any size.

    Ids are looked at within a block alone. The other arguments are those of `read_points`.
    """
    if named.get("ids") is not None or find_format(path, format, _FORMATS) != "parquet":
        points = read_points(path, format=format, **named)
        return len(points), iter([points])
    columns = {name: column for name, column in named.items() if name != "ids"}
    return count_rows(path), _blocks(path, n_rows, columns)


def _blocks(path: str | Path, n_rows: int, named: Named) -> Iterator[Points]:
    first: Points | None = None
    for table in read_parquet_blocks(path, n_rows):
        points = _of_table(table, named)
        first = first or points
        kinds = [(one.feature_names, one.X.shape[1], one.ids is None) for one in (first, points)]
        if kinds[0] != kinds[1]:
            raise FileError(
                f"{table.place(0)} and those after it have other features than the rows before: a column holds "
                "numbers in one part and words or gaps in another; name the column of vectors, or mend it."
            )
        yield points


def join_points(queries: Points, documents: Points) -> Points:
    """The points of two tables, queries first. An id that both have means two points."""
    names = queries.source, documents.source
    for points in (queries, documents):
        if points.n_queries is not None:
            raise ValueError(f"{points.source} is joined already; join two tables that are not.")
    widths = queries.X.shape[1], documents.X.shape[1]
    if widths[0] != widths[1]:
        raise FileError(
            f"{names[0]} has vectors of {widths[0]:,} numbers and {names[1]} of {widths[1]:,}; both must come "
            "from one model."
        )
    features = queries.feature_names, documents.feature_names
    others = documents.X
    if features[0] is not None and features[1] is not None and features[0] != features[1]:
        if set(features[0]) != set(features[1]):
            odd = sorted(set(features[0]) ^ set(features[1]))[0]
            raise FileError(
                f"{names[0]} and {names[1]} have different features: only one of them has {shown(odd)}."
            )
        place = {name: k for k, name in enumerate(features[1])}
        others = others[:, [place[name] for name in features[0]]]
    both = [queries, documents]
    labels = items = None
    if queries.labels is not None and documents.labels is not None:
        labels = join_labels(queries.labels, documents.labels)
    if queries.items is not None or documents.items is not None:
        items = [
            text
            for points in both
            for text in points.items or map(points.name_of, range(len(points)))
        ]
    ids = None
    if queries.ids is not None or documents.ids is not None:
        ids = [points.name_of(row) for points in both for row in range(len(points))]
    return Points(
        np.concatenate([queries.X, others]),
        ids,
        features[0] or features[1],
        labels,
        items,
        f"{names[0]} and {names[1]}",
        len(queries),
        {**documents.left_out, **queries.left_out},
    )


def _with_ids(points: Points, path: str | Path, named: Named) -> Points:
    """The points with ids, and what else stands beside these, from a file of their own."""
    name = name_of(path)
    suffixes = {suffix.lower() for suffix in Path(path).suffixes} - {".gz"}
    beside = None
    if suffixes & {".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".pq"}:
        table = read_table(path)
        beside = Beside.of(table, named)
        if beside.ids is None:
            raise FileError(
                f"{name} has no column of ids that is found by its name; name it with `id_column`."
            )
        ids = beside.ids
    elif ".npy" in suffixes:
        array = read_npy(path)
        if array.ndim != 1:
            raise FileError(
                f"{name} has the shape {array.shape}; ids are a vector, one for each point."
            )
        ids = check_ids(id_texts(array), lambda row: f"{name}, row {row} counted from 0")
    else:
        with opened_text(path) as file:
            texts: list[str | None] = [line.strip() or None for line in file]
        while texts and texts[-1] is None:
            texts.pop()
        ids = check_ids(texts, lambda row: f"{name}, line {row + 1}")
    if len(ids) != len(points):
        raise FileError(
            f"{name} has {len(ids):,} ids, but {points.source} has {len(points):,} points; one id is needed "
            "for each, in the same order."
        )
    if beside is None:
        return replace(points, ids=ids)
    labels = points.labels if beside.labels is None else beside.labels
    items = points.items if beside.items is None else beside.items
    return replace(points, ids=ids, labels=labels, items=items)
