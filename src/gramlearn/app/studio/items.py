"""What a person is shown of a point: a text, a picture, or a row of a table.

From a table or a folder of pictures beside the vectors, joined by id, or from what stands in the file of the
points itself. Pictures are served by the number of their point alone: no path comes from a request.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, final

import numpy as np

from gramlearn.files.formats.table import Table, counted, shown
from gramlearn.files.point_columns import Beside
from gramlearn.files.points import Points
from gramlearn.files.tables import read_table
from gramlearn.sources.errors import FileError

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_MOST_BYTES = 32 * 2**20  # of a picture
_LONGEST = 20_000  # letters of a text
_MOST_FIELDS = 200


class Picture(NamedTuple):
    """The bytes of a file, and what they are."""

    kind: str
    data: bytes


@final
@dataclass(frozen=True, eq=False)
class Items:
    """One of texts, pictures and fields for each point.

    Attributes
    ----------
    names : list of str
        What each point is called.
    is_there : array of bool
        Which points have something to show; the others are never asked about.
    texts : dict of int to str
    pictures : dict of int to Path or bytes
    fields : dict of int to list of (name, value)
    notes : tuple of str
        Sentences: what could not be joined.
    """

    names: list[str]
    is_there: np.ndarray
    texts: dict[int, str]
    pictures: dict[int, Path | bytes]
    fields: dict[int, list[tuple[str, str]]]
    notes: tuple[str, ...] = ()

    def show(self, number: int) -> dict[str, Any]:
        """An item as the page takes it."""
        item: dict[str, Any] = {"number": number, "id": self.names[number]}
        if number in self.pictures:
            return item | {"image": f"/items/{number}"}
        if number in self.fields:
            return item | {"fields": [list(field) for field in self.fields[number]]}
        return item | {"text": self.texts.get(number, self.names[number])}

    def picture(self, number: int) -> Picture | None:
        """The picture of a point; None where it has none, or its file is no picture any more."""
        found = self.pictures.get(number)
        if found is None:
            return None
        if isinstance(found, Path):
            try:
                if found.stat().st_size > _MOST_BYTES:
                    return None
                found = found.read_bytes()
            except OSError:
                return None
        kind = _kind_of(found)
        return None if kind is None else Picture(kind, found)

    @property
    def rows(self) -> np.ndarray:
        """The points that can be asked about."""
        return np.flatnonzero(self.is_there)

    @classmethod
    def read(cls, points: Points, source: str | None, item_column: str | None = None) -> Self:
        """Those of a table or folder; without one, those of the file of the points."""
        if source is None:
            return cls._of_points(points)
        if Path(source).is_dir():
            return cls._of_folder(points, Path(source))
        table = read_table(source)
        beside = Beside.of(table, {"item_column": item_column})
        rows, notes = _join(points, table.n_rows, beside.ids, table.source)
        names = [points.name_of(k) for k in range(len(points))]
        if points.ids is None and beside.ids is not None:
            for number, row in rows.items():
                names[number] = beside.ids[row]
        others = [name for name in table.columns if name != beside.used.get("id")]
        if beside.items is not None and (item_column is not None or len(others) == 1):
            texts = {number: beside.items[row] for number, row in rows.items()}
            return cls._of_texts(names, texts, Path(source).parent, notes)
        fields = {
            number: [(name, _cell(table, name, row)) for name in others[:_MOST_FIELDS]]
            for number, row in rows.items()
        }
        return cls(names, _marked(rows, len(points)), {}, {}, fields, notes)

    @classmethod
    def of_pictures(cls, pictures: list[bytes]) -> Self:
        """Pictures that are in memory already."""
        n = len(pictures)
        return cls([str(k) for k in range(n)], np.ones(n, bool), {}, dict(enumerate(pictures)), {})

    @classmethod
    def _of_points(cls, points: Points) -> Self:
        names = [points.name_of(k) for k in range(len(points))]
        if points.items is not None:
            texts = dict(enumerate(points.items))
            return cls._of_texts(names, texts, Path(points.source).parent, ())
        everywhere = np.ones(len(points), dtype=bool)
        if points.feature_names is not None:
            fields = _Rows(points)
            return cls(names, everywhere, {}, {}, fields)
        note = (
            f"{points.source} has vectors alone, and nothing that could be shown of them; pass texts, a table "
            "or a folder of pictures with --items."
        )
        return cls(names, everywhere, {}, {}, {}, (note,))

    @classmethod
    def _of_texts(
        cls, names: list[str], texts: dict[int, str], folder: Path, notes: tuple[str, ...]
    ) -> Self:
        """Texts, or, where they name files of pictures, these, beside the file that names them."""
        texts = {k: text[:_LONGEST] for k, text in texts.items() if text.strip()}
        are_paths = bool(texts) and all(
            text.strip().lower().endswith(_PICTURES) for text in texts.values()
        )
        there = _marked(texts, len(names))
        n_without = len(names) - int(there.sum()) if not notes else 0
        if n_without:
            notes = (f"{counted(n_without, 'point')} without an item, never asked about.",)
        if not are_paths:
            return cls(names, there, texts, {}, {}, notes)
        paths: dict[int, Path | bytes] = {k: folder / text.strip() for k, text in texts.items()}
        return cls(names, there, {}, paths, {}, notes)

    @classmethod
    def _of_folder(cls, points: Points, folder: Path) -> Self:
        """The name of a file without its ending is the id."""
        files = sorted(
            path for path in folder.iterdir() if path.suffix.lower() in _PICTURES and path.is_file()
        )
        if not files:
            raise FileError(
                f"{folder} has no pictures ({', '.join(_PICTURES)}); pass a folder with one for each point, "
                "called by its id, or a table of items."
            )
        first: dict[str, Path] = {}
        for path in files:
            first.setdefault(path.stem, path)
        rows, notes = _join(points, len(first), list(first), str(folder), by_order=False)
        paths = list(first.values())
        pictures: dict[int, Path | bytes] = {number: paths[row] for number, row in rows.items()}
        names = [points.name_of(k) for k in range(len(points))]
        return cls(names, _marked(rows, len(points)), {}, pictures, {}, notes)


class _Rows(dict[int, list[tuple[str, str]]]):
    """The features of a point with their names, read when they are shown."""

    def __init__(self, points: Points) -> None:
        super().__init__()
        self._points = points

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and 0 <= number < len(self._points)

    def __getitem__(self, number: int) -> list[tuple[str, str]]:
        names = (self._points.feature_names or [])[:_MOST_FIELDS]
        return [
            (name, f"{value:.6g}")
            for name, value in zip(names, self._points.X[number], strict=False)
        ]


def _join(
    points: Points, n_items: int, ids: list[str] | None, source: str, by_order: bool = True
) -> tuple[dict[int, int], tuple[str, ...]]:
    """The row of the items of each point that has one, and sentences about the others.

    Where the points or the items have no ids, and there are as many of both, they are in the same order.
    """
    n = len(points)
    if ids is None and n_items != n:
        raise FileError(
            f"{source} has {n_items:,} items without ids, and {points.source} has {n:,} points; one item is "
            "needed for each, in the same order, or a column of ids."
        )
    if ids is None:
        return {k: k for k in range(n)}, ()
    found = points.rows_of(ids)
    if (
        by_order
        and points.ids is None
        and n_items == n
        and not np.array_equal(np.sort(found), np.arange(n))
    ):
        return {k: k for k in range(n)}, ()
    rows = {int(number): row for row, number in enumerate(found) if number >= 0}
    strangers = [ids[row] for row, number in enumerate(found) if number < 0]
    if not rows:
        hint = "pass the ids of the vectors with --ids" if points.ids is None else "check the ids"
        raise FileError(
            f"no item of {source} has the id of a point of {points.source}: there is {shown(ids[0])} here, and "
            f"{shown(points.name_of(0))} there; {hint}."
        )
    notes = []
    if strangers:
        notes.append(
            f"{counted(len(strangers), 'item')} of {source} without a vector, left out, such as "
            f"{shown(strangers[0])}."
        )
    if missing := n - len(rows):
        first = next(points.name_of(k) for k in range(n) if k not in rows)
        notes.append(
            f"{counted(missing, 'point')} of {points.source} without an item, never asked about, such as "
            f"{shown(first)}."
        )
    return rows, tuple(notes)


def _marked(rows: Any, n: int) -> np.ndarray:
    there = np.zeros(n, dtype=bool)
    there[list(rows)] = True
    return there


def _cell(table: Table, name: str, row: int) -> str:
    cell = table.columns[name][row]
    return "" if cell is None else str(cell)[:_LONGEST]


def _kind_of(data: bytes) -> str | None:
    """By the first bytes: what is no picture is never served."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)
