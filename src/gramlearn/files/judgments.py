"""file -> Pairs, Triplets or Bounds: rows joined to points by their ids, and a reason for each that cannot be.

What a row says is told by the names of the columns, which are in `shapes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import final

import numpy as np

from gramlearn.files import words
from gramlearn.files.columns import plain
from gramlearn.files.formats.delimited import looks_like_trec
from gramlearn.files.formats.json_records import read_json, table_of_json
from gramlearn.files.formats.judgment_store import is_store, read_judgment_store
from gramlearn.files.formats.label_studio import is_label_studio, read_label_studio
from gramlearn.files.formats.table import Table, listed, shown
from gramlearn.files.points import Points
from gramlearn.files.settling import CONFLICTS
from gramlearn.files.shapes import ROLES, Found, find_shape, find_third, merge_numbered
from gramlearn.files.statements import Choices, Side, state
from gramlearn.files.tables import find_format, read_table
from gramlearn.files.used_rows import Dropped, UsedRows, summarize
from gramlearn.side_information import Pairs, Triplets
from gramlearn.sources.errors import FileError
from gramlearn.sources.opening import name_of, opened_text

__all__ = ["Dropped", "Judgments", "read_judgments"]

_FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "trec", "sqlite")
_SEVERAL = ("chosen", "passedover", "positive", "negative", "document")  # roles that may have lists
# Names of columns under which 0, 1 and 2 may be classes; under others they are scores.
_CLASSES_OF_THREE = ("label", "goldlabel")
_SAID = {
    "odd": "odd ones out",
    "clicks": "clicks",
    "triplets": "triplets",
    "qrels": "relevance judgments",
    "bounds": "bounds",
    "pairs": "judged pairs",
    "scores": "scored pairs",
    "similar": "similar pairs",
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Judgments:
    """What a file says of points, and what became of its rows.

    Attributes
    ----------
    side : Pairs, Triplets or Bounds
    shape : str
        What the file was read as: "pairs", "scores", "similar", "triplets", "clicks", "odd", "qrels", "bounds".
    n_rows : int
        The rows of the file; one with a list of several items counts as several.
    dropped : list of Dropped
        The rows that are not used, each with its place and a reason, in the order of the file.
    notes : tuple of str
        Choices that were made on the way, in a sentence each.
    source : str
        The file, as messages name it.
    points : Points
    """

    side: Side
    shape: str
    n_rows: int
    dropped: list[Dropped]
    notes: tuple[str, ...]
    source: str
    points: Points

    def __repr__(self) -> str:
        return f"Judgments({self.source}: {self.side!r}, {len(self.dropped)} of {self.n_rows} rows dropped)"

    def summary(self) -> str:
        """A few lines: how many rows of what, how many are used, and why the others are not."""
        used = self.n_rows - len(self.dropped)
        line = f"{self.source}: {self.n_rows:,} rows of {_SAID[self.shape]}, {used:,} used"
        line += f", as {_counted(self.side)}"
        lines = [
            f"{line}; {text}." if (text := summarize(self.dropped)) else f"{line}.",
            *self.notes,
        ]
        return "\n".join(lines)


def read_judgments(
    path: str | Path,
    points: Points,
    *,
    shape: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    conflicts: str = "majority",
    percentiles: tuple[float, float] = (25, 75),
) -> Judgments:
    """The judgments of a file about these points.

    Parameters
    ----------
    path : str or Path
        .csv, .tsv, .jsonl, .json or .parquet, qrels of TREC, an export of Label Studio, a folder of BEIR, or a
        store of answers (.db, .sqlite); "-" is stdin.
    points : Points
        What the ids of the file are joined to.
    shape : {"pairs", "scores", "similar", "triplets", "clicks", "odd", "qrels", "bounds"}, optional
        What the rows say, if the names of the columns do not. Of qrels, "pairs" or "triplets" says what they
        become; of a store with several kinds of answers, the shape says which are read.
    columns : mapping of role to name, optional
        Which column is what, such as {"first": "left_id", "alike": "verdict"}.
    format : str, optional
        Without it, that of the suffix.
    conflicts : {"majority", "drop", "similar", "dissimilar", "raise"}
        What counts where rows call a pair both alike and unlike, as in `Pairs.from_judgments`.
    percentiles : (low, high)
        Of scores: pairs at or above the higher one are alike, at or below the lower one unlike.
    """
    if conflicts not in CONFLICTS:
        raise FileError(f"`conflicts` is {conflicts!r}; it must be one of {', '.join(CONFLICTS)}.")
    if not 0 <= percentiles[0] < percentiles[1] <= 100:
        raise FileError(
            f"`percentiles` are {percentiles}; low < high between 0 and 100 are expected."
        )
    table = merge_numbered(_read(path, format, points, shape))
    found = _look_at_cells(table, find_shape(table, shape, columns), shape, columns)
    table = _one_item_a_cell(table, found)
    rows = UsedRows(table, points)
    if table.undecided is not None:
        rows.drop(table.undecided, "undecided", lambda row: "whoever was asked was unsure")
    choices = Choices(conflicts, percentiles, [*table.notes])
    unused = [name for name in table.columns if name not in found.column.values()]
    if unused:
        choices.notes.append(f"Columns that are not used: {listed(unused)}.")
    side = state(found, rows, choices)
    return Judgments(
        side,
        found.shape.name,
        table.n_rows,
        rows.dropped,
        tuple(choices.notes),
        table.source,
        points,
    )


def _read(path: str | Path, format: str | None, points: Points, shape: str | None) -> Table:
    if str(path) != "-" and Path(path).is_dir():
        path = _qrels_of_folder(Path(path))
    if format is None:
        format = "sqlite" if is_store(path) else "trec" if _is_trec(path) else None
    format = find_format(path, format, _FORMATS)
    if format == "sqlite":
        return read_judgment_store(path, points, shape)
    if format != "json":
        return read_table(path, format=format)
    name = name_of(path)
    with opened_text(path) as file:
        content = read_json(file, name)
    return (read_label_studio if is_label_studio(content) else table_of_json)(content, name)


def _is_trec(path: str | Path) -> bool:
    """Whether the first line is one of TREC, in a file whose suffix does not say that it is another."""
    if str(path) == "-" or Path(path).suffix.lower() not in ("", ".txt", ".tsv", ".qrels", ".qrel"):
        return False
    with opened_text(path) as file:
        return looks_like_trec(file.readline(10_000))


def _qrels_of_folder(folder: Path) -> Path:
    """The training judgments of a folder of BEIR, or its only ones."""
    inner = folder if folder.name == "qrels" else folder / "qrels"
    found = sorted(inner.glob("*.tsv"))
    if not found:
        raise FileError(
            f"{folder} is a folder without qrels/*.tsv, as BEIR has them; name a file in it."
        )
    training = [path for path in found if path.stem == "train"]
    if not training and len(found) > 1:
        names = ", ".join(path.name for path in found[:8])
        raise FileError(
            f"{inner} has {names}, and none of them is train.tsv; name the one to read."
        )
    return (training or found)[0]


def _look_at_cells(
    table: Table, found: Found, shape: str | None, columns: Mapping[str, str] | None
) -> Found:
    """Pairs with other numbers than -1, 0 and 1 are scored pairs, and so are grades that are not whole."""
    is_named = bool({plain(role) for role in columns or ()} & {"alike", "score", "relevance"})
    if found.shape.name == "qrels" and shape is None and not is_named:
        numbers = words.numbers_of(table.columns[found.column["relevance"]])
        is_graded = all(number == round(number) for number in numbers if isfinite(number))
        return found if is_graded else found.as_scores()
    if found.shape.name not in ("pairs", "scores") or is_named:
        return found
    if shape is None and (third := find_third(table, found)) is not None:
        _refuse_three(table, found, third)
    if found.shape.name == "scores" or found.is_entailment:
        return found
    column = found.column["alike"]
    if not words.are_scores(table.columns[column]):
        return found
    if plain(column) in _CLASSES_OF_THREE and words.numbers_of(table.columns[column]) in (
        {0.0, 1.0, 2.0},
        {-1.0, 0.0, 1.0, 2.0},
    ):
        raise FileError(
            f"{table.source} has 0, 1 and 2 in the column {shown(column)}, which may be scores or entailment, "
            "neutral and contradiction; state the shape 'scores' with `shape` (--shape) if 2 is most alike, or "
            "else call the items premise and hypothesis."
        )
    is_one_or_two = words.numbers_of(table.columns[column]) == {1.0, 2.0}
    if is_one_or_two and plain(column) not in ROLES["relevance"] and shape is None:
        raise FileError(
            f"{table.source} has 1 and 2 in the column {shown(column)}, and nothing says which is alike; state "
            "the shape 'scores' with `shape` (--shape) if it is 2, or else write 1 and 0."
        )
    return found if shape is not None else found.as_scores()


def _refuse_three(table: Table, found: Found, third: str) -> None:
    answer = found.column["alike" if found.shape.name == "pairs" else "score"]
    two = "scores" if words.are_scores(table.columns[answer]) else found.shape.name
    raise FileError(
        f"{table.source} has three items a row, the third in {shown(third)}; if {shown(answer)} says which "
        f"is the odd one out, name it with `columns` (--shape odd --column odd={answer}), and if two are "
        f"compared, state the shape {two!r} with `shape`."
    )


def _one_item_a_cell(table: Table, found: Found) -> Table:
    """A row for each item of cells that have lists of them, as in {"query": ..., "neg": [..., ...]}."""
    for role in _SEVERAL:
        name = found.column.get(role)
        if name is None or not any(
            isinstance(cell, list | np.ndarray) for cell in table.columns[name]
        ):
            continue
        cells = [_as_list(cell) for cell in table.columns[name]]
        rows = np.repeat(np.arange(table.n_rows), [len(several) for several in cells])
        columns = {
            key: column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows]
            for key, column in table.columns.items()
        }
        columns[name] = [item for several in cells for item in several]
        lines = rows if table.lines is None else np.asarray(table.lines, dtype=object)[rows]
        unit = "row counted from 0:" if table.lines is None else table.unit
        undecided = None if table.undecided is None else table.undecided[rows]
        table = replace(
            table, columns=columns, n_rows=len(rows), lines=lines, unit=unit, undecided=undecided
        )
    return table


def _as_list(cell: object) -> list[object]:
    if isinstance(cell, np.ndarray):
        return list(cell.tolist()) or [None]
    if isinstance(cell, list):
        filled = [item for item in cell if words.is_filled(item)]
        return filled or [None]
    return [cell]


def _counted(side: Side) -> str:
    if isinstance(side, Pairs):
        return f"{len(side.similar):,} similar and {len(side.dissimilar):,} dissimilar pairs"
    return (
        f"{side.size:,} triplets"
        if isinstance(side, Triplets)
        else f"bounds on {side.size:,} pairs"
    )
