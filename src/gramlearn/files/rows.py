"""A table of named columns, row by row, as .csv, .tsv or .jsonl; "-" is stdout."""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from gramlearn.files.writing import replacing
from gramlearn.sources.errors import FileError

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (*_SEPARATORS, ".jsonl")


def write_rows(
    path: str, names: Sequence[str], rows: Iterable[Sequence[Any]], ending: str | None = None
) -> None:
    """Write the rows; `ending` says how, where the path does not, and stdout is .csv without it."""
    kind = ending or ("csv" if path == "-" else Path(path).suffix[1:])
    if f".{kind}" not in ENDINGS:
        raise FileError(
            f"{path} ends in {Path(path).suffix or 'nothing'}, which does not say how to write a table; use "
            f"{', '.join(ENDINGS)}."
        )
    if path == "-":
        _write(sys.stdout, kind, names, rows)
        return
    with (
        replacing(path) as beside,
        beside.open("w", encoding="utf-8", newline="") as file,
    ):
        _write(file, kind, names, rows)


def _write(file: TextIO, kind: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    if kind == "jsonl":
        for row in rows:
            file.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")
        return
    writer = csv.writer(file, delimiter=_SEPARATORS[f".{kind}"], lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
