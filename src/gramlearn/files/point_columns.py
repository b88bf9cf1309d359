"""Which column of a table of points is what: id, label, item, a vector, a feature, or none of these.

A column of labels that nobody named is no feature, for what is learned from it would be the answer itself.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from gramlearn.files.columns import find_column, named_column, plain
from gramlearn.files.formats.table import Table, listed, shown
from gramlearn.files.ids import id_texts
from gramlearn.files.vectors import (
    HOW_TO_GET_VECTORS,
    first_filled,
    is_vector_column,
    number_column,
    stack_columns,
    vector_column,
)
from gramlearn.sources.errors import FileError

Named = Mapping[str, str | None]

_SURE_IDS = (
    *("id", "ids", "itemid", "docid", "documentid", "corpusid", "queryid", "qid", "pid", "pointid"),
    *("uid", "uuid"),
)
# Ids only where no two are equal; the last two are how pandas writes row numbers.
_PERHAPS_IDS = ("key", "item", "name", "index", "unnamed:0", "")
_VECTORS = ("vector", "vectors", "embedding", "embeddings", "emb")
_ITEMS = (
    *("text", "sentence", "content", "body", "passage", "document", "caption", "description"),
    *("image", "imagepath", "path", "file", "filename", "url", "title", "name", "item"),
)
_LABELS = ("label", "labels", "class", "target")
_ROW_NUMBERS = ("index", "unnamed:0", "")
# Without signs and zeros before it, which numbers would lose.
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def text_columns(names: list[str], named: Named) -> Collection[str]:
    """Of the columns of a CSV, those that are not read as numbers."""
    wanted = {plain(name) for name in named.values() if name is not None}
    kept = {*_SURE_IDS, *_PERHAPS_IDS, *_ITEMS, *_LABELS, *_VECTORS, *wanted}
    return [name for name in names if plain(name) in kept]


@final
@dataclass(frozen=True, eq=False)
class Beside:
    """What stands beside the vectors, row by row, and in which columns."""

    ids: list[str] | None
    labels: np.ndarray | None
    items: list[str] | None
    used: dict[str, str]

    @classmethod
    def of(cls, table: Table, named: Named) -> Self:
        """Columns that are named, and of ids and items else those with usual names."""
        used: dict[str, str] = {}
        ids = _find_ids(table, named, used)
        labels = items = None
        if (name := named.get("label_column")) is not None:
            used["label"] = named_column(table, name, "label_column")
            labels = _labels(table, used["label"])
        if (name := named.get("item_column")) is not None:
            found: str | None = named_column(table, name, "item_column")
        else:
            found = find_column(
                [n for n in table.columns if n not in used.values() and _is_text(table, n)], _ITEMS
            )
        if found is not None:
            used["item"] = found
            items = ["" if cell is None else str(cell) for cell in table.columns[found]]
        return cls(ids, labels, items, used)


@final
@dataclass(frozen=True, eq=False)
class PointColumns:
    """The points of a table, and why some columns are not among the features."""

    X: np.ndarray
    beside: Beside
    feature_names: list[str] | None
    left_out: dict[str, str]

    @classmethod
    def of(cls, table: Table, named: Named) -> Self:
        """Vectors of one column of lists, or of all other columns of numbers."""
        beside = Beside.of(table, named)
        others = [name for name in table.columns if name not in beside.used.values()]
        vectors = _find_vectors(table, others, named)
        if vectors is not None:
            left_out = dict.fromkeys(others, "the vectors are in another column")
            left_out.pop(vectors, None)
            return cls(vector_column(table, vectors), beside, None, left_out)
        columns: dict[str, np.ndarray] = {}
        left_out = {}
        for name in others:
            if plain(name) in _LABELS:
                left_out[name] = "labels, by its name; give it as `label_column` to use it as such"
                continue
            if plain(name) in _ROW_NUMBERS:
                left_out[name] = "row numbers, by its name"
                continue
            numbers = number_column(table, name)
            if isinstance(numbers, str):
                left_out[name] = numbers
            else:
                columns[name] = numbers
        if not columns:
            raise FileError(_why_no_vectors(table, beside))
        feature_names = list(columns) if table.has_header else None
        return cls(stack_columns(table, columns), beside, feature_names, left_out)


def _find_ids(table: Table, named: Named, used: dict[str, str]) -> list[str] | None:
    if (name := named.get("id_column")) is not None:
        used["id"] = named_column(table, name, "id_column")
        return check_ids(id_texts(table.columns[used["id"]]), table.place, used["id"])
    if not table.has_header:
        return _find_unnamed_ids(table, used)
    taken = [plain(name) for name in named.values() if name is not None]
    free = [name for name in table.columns if plain(name) not in taken]
    if (found := find_column(free, _SURE_IDS)) is not None:
        used["id"] = found
        return check_ids(id_texts(table.columns[found]), table.place, found)
    for wanted in _PERHAPS_IDS:
        found = find_column(free, [wanted])
        if found is not None and (wanted or found == next(iter(table.columns))):
            ids = id_texts(table.columns[found])
            if None not in ids and len(set(ids)) == len(ids):
                used["id"] = found
                return [text for text in ids if text is not None]
    return None


def _find_unnamed_ids(table: Table, used: dict[str, str]) -> list[str] | None:
    """Without a header, a first column of texts, no two of which are equal, are the ids."""
    first = next(iter(table.columns))
    if isinstance(table.columns[first], np.ndarray) or not _is_text(table, first):
        return None
    ids = id_texts(table.columns[first])
    if None in ids or len(set(ids)) < len(ids):
        return None
    used["id"] = first
    return [text for text in ids if text is not None]


def check_ids(ids: list[str | None], place: Any, column: str | None = None) -> list[str]:
    """Every point has an id, and no two have the same."""
    where = f" in the column {shown(column)}" if column is not None else ""
    checked: dict[str, int] = {}
    for row, text in enumerate(ids):
        if text is None:
            raise FileError(f"{place(row)}: there is no id{where}; every point needs one.")
        if text in checked:
            raise FileError(
                f"{place(row)}: the id {shown(text)} occurs again{where}, first at {place(checked[text])}; ids "
                "must differ; leave one of the points out, or name another column with `id_column`."
            )
        checked[text] = row
    return list(checked)


def _is_text(table: Table, name: str) -> bool:
    cells = table.columns[name]
    if isinstance(cells, np.ndarray) or is_vector_column(cells):
        return False
    some = first_filled(cells)
    return isinstance(some, str) and isinstance(_tried_number(some), str)


def _tried_number(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell


def has_label(labels: np.ndarray) -> np.ndarray:
    """For each row, whether it has a label: it is neither None nor NaN."""
    return np.asarray([label is not None and label == label for label in labels.tolist()])


def join_labels(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The labels of two tables, as text if those of either are."""
    both = [one, other]
    if {labels.dtype == object for labels in both} == {True, False}:
        both = [np.asarray(id_texts(labels), dtype=object) for labels in both]
    return np.concatenate(both)


def _labels(table: Table, name: str) -> np.ndarray:
    """Text as it stands, or numbers, if all are and no two texts are one number; None or NaN where none is.

    Integers with a -1 become real numbers, for among integers -1 would mean that there is no label.
    """
    cells = table.columns[name]
    for row, cell in enumerate(cells):
        if isinstance(cell, list | dict | np.ndarray):
            raise FileError(
                f"{table.place(row)}: the column {shown(name)} has {shown(cell)}, but a label is one number or "
                "one word; name another column with `label_column`."
            )
    texts = id_texts(cells)
    words = {text for text in texts if text is not None and text.lower() != "nan"}
    numbers = {float(text) for text in words if _PLAIN_NUMBER.fullmatch(text)}
    are_exact = all(abs(number) < 2**53 for number in numbers)
    if len(numbers) < len(words) or not numbers or not are_exact:
        return np.asarray(texts, dtype=object)
    # "nan" is how arrays of numbers are written where one is missing.
    labels = np.asarray([np.nan if text is None else float(text) for text in texts])
    return labels.astype(np.int64) if _can_be_integers(labels) else labels


def _can_be_integers(labels: np.ndarray) -> bool:
    return bool(
        np.isfinite(labels).all() and (labels == np.round(labels)).all() and (labels != -1).all()
    )


def _find_vectors(table: Table, others: list[str], named: Named) -> str | None:
    if (name := named.get("vector_column")) is not None:
        return named_column(table, name, "vector_column")
    lists = [name for name in others if is_vector_column(table.columns[name])]
    if (found := find_column(lists, _VECTORS)) is not None:
        return found
    if len(lists) > 1:
        raise FileError(
            f"{table.source} has several columns of lists, {listed(lists)}; say which are the vectors with "
            "`vector_column`."
        )
    return lists[0] if lists else None


def _why_no_vectors(table: Table, beside: Beside) -> str:
    if "item" in beside.used:
        return f"{table.source} has texts and no vectors; {HOW_TO_GET_VECTORS}"
    return (
        f"{table.source} has no column of numbers and none of lists of numbers, only {listed(table.columns)}; "
        f"if these are texts, {HOW_TO_GET_VECTORS}"
    )
