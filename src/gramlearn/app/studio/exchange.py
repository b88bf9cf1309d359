"""Answers as files, in the shapes that `read_judgments` reads, and back.

    pair      first, second, alike (1, 0)                        judge, random
    triplet   anchor, positive, negative                         judge, random
    odd       id_1, id_2, id_3, odd                              judge, random

Answers "unsure" say nothing of the points, and stay in the store. A row that is read is an answer of a judge
that is called after the file; the same file again adds nothing.
"""

import csv
import io
import json
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any, final

from gramlearn._base.arrays import to_numpy
from gramlearn.app.studio.asked import UNSURE, said
from gramlearn.app.studio.store import Answer, Store
from gramlearn.app.studio.whys import comparisons_of
from gramlearn.files.judgments import Judgments, read_judgments
from gramlearn.files.points import Points
from gramlearn.side_information import Pairs, Triplets
from gramlearn.sources.errors import FileError

_SHAPES = {
    "pair": ("first", "second", "alike"),
    "triplet": ("anchor", "positive", "negative"),
    "odd": ("id_1", "id_2", "id_3", "odd"),
}
_FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}
_ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".txt", ".qrels", ".db")
_LONGEST_NAME = 40
_TOGETHER = 200  # answers of a file that go to the disk at once, while people's wait

Rows = list[tuple[tuple[int, ...], str]]  # items and answer


@final
class Exchange:
    """The files of one store."""

    def __init__(self, store: Store, points: Points, kind: str) -> None:
        self._store = store
        self._points = points
        self._kind = kind

    def write(self, answers: list[Answer], format: str) -> tuple[str, str, bytes]:
        """The kind of content, a name for the file, and its bytes."""
        if format not in _FORMATS:
            raise ValueError(
                f"`format` is {format!r:.40}; it must be one of {', '.join(_FORMATS)}."
            )
        names = (*_SHAPES[self._kind], "judge", "random")
        rows = [
            (*self._row(answer), answer.judge, int(answer.random))
            for answer in answers
            if answer.answer != UNSURE
        ]
        text = io.StringIO(newline="")
        if format == "csv":
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)
        else:
            for row in rows:
                line = dict(zip(names, row, strict=True))
                text.write(json.dumps(line, ensure_ascii=False) + "\n")
        data = text.getvalue().encode("utf-8", "replace")
        return _FORMATS[format], f"judgments.{format}", data

    def read(self, name: str, data: bytes) -> tuple[str, int]:
        """What was read, in sentences, and how many answers were added."""
        ending = Path(name).suffix.lower()
        if ending not in _ENDINGS:
            raise FileError(
                f"the file is called {name!r:.60}, which does not say its format; use {', '.join(_ENDINGS)}."
            )
        short = "".join(sign for sign in Path(name).name if sign.isprintable())[:_LONGEST_NAME]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"import{ending}"
            path.write_bytes(data)
            try:
                judgments = read_judgments(path, self._points)
            except ValueError as error:
                # The user knows the file by the name that it had.
                raise FileError(str(error).replace(str(path), short)) from None
            summary = judgments.summary().replace(str(path), short)
        rows = self._answers_of(judgments)
        digest = sha256(data).hexdigest()[:24]
        n_added = 0
        for start in range(0, len(rows), _TOGETHER):
            with self._store.together():
                before = self._store.last_seq
                for number, (items, answer) in enumerate(rows[start : start + _TOGETHER], start):
                    mark = f"file-{digest}-{number}"
                    self._store.answer(
                        mark, mark, f"file {short}", self._kind, items, answer, False
                    )
                n_added += self._store.last_seq - before
        return summary, n_added

    def _row(self, answer: Answer) -> tuple[Any, ...]:
        names = [self._points.name_of(number) for number in answer.items]
        if self._kind == "pair":
            return (*names, int(answer.answer == "alike"))
        if self._kind == "triplet":
            return tuple(self._points.name_of(number) for number in comparisons_of(answer)[0])
        return (*names, self._points.name_of(said(answer)))

    def _answers_of(self, judgments: Judgments) -> Rows:
        side = judgments.side
        if self._kind == "pair" and isinstance(side, Pairs):
            return [
                ((int(i), int(j)), answer)
                for table, answer in ((side.similar, "alike"), (side.dissimilar, "unlike"))
                for i, j in to_numpy(table)
            ]
        if self._kind != "pair" and isinstance(side, Triplets) and side.triplets.shape[1] == 3:
            table = [tuple(int(k) for k in row) for row in to_numpy(side.triplets)]
            if self._kind == "triplet" and judgments.shape != "odd":
                return [(row, "second") for row in table]
            if self._kind == "odd" and judgments.shape == "odd":
                return [((i, j, k), "third") for i, j, k in table if i < j]
        raise FileError(
            f"the file has judgments of the shape {judgments.shape!r}, and this studio asks questions of the "
            f"kind {self._kind!r}; start one of that kind, or give the file to `gramlearn fit` as it is."
        )
