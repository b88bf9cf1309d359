"""Answers of people, kept: each is on the disk before it is confirmed, and the same event twice is one event.

Nothing is ever changed or removed: an undo is an event, too, and so is the answer that replaces another. What
stands is found by `gramlearn.files.formats.judgment_store`, which other verbs read a store by.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Self, final

from gramlearn.files.formats.judgment_store import (
    KINDS,
    SECONDS_TO_WAIT,
    STORE_FORMAT,
    StoredAnswer,
    StoreError,
    check_header,
    find_standing,
    make_store,
    read_about,
    read_answer,
    said_in_a_sentence,
)
from gramlearn.files.points import Points
from gramlearn.files.same_points import are_numbered, fingerprint, fingerprint_of_ids
from gramlearn.sources.errors import FileError


@final
@dataclass(frozen=True)
class Answer:
    """An answer to a question: `items` are numbers of points, as they were shown."""

    seq: int
    at: float
    judge: str
    question: str
    kind: str
    items: tuple[int, ...]
    answer: str
    random: bool


@final
class Store:
    """The answers of a file, for any number of threads; each process opens it for itself.

    A forked process must not use what its parent has opened.
    """

    def __init__(self, path: Path, points: Points, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = RLock()
        self._names = [points.name_of(row) for row in range(len(points))]
        self._rows = {name: row for row, name in enumerate(self._names)}
        self._standing: dict[int, Answer] = {}
        self._seen = 0  # the last event that `_standing` knows of
        self._file: tuple[int, int] | None = None  # which one the path named when it was opened

    @classmethod
    def open(cls, path: str | Path, points: Points) -> Self:
        """The store of a file, which is made where there is none.

        Raises
        ------
        FileError
            If the file is no store, or one of other points or of a newer format, or cannot be written.
        """
        path = Path(path)
        if path.is_file() and path.stat().st_size:
            check_header(path)
        with said_in_a_sentence(path, "opened"):
            connection = sqlite3.connect(
                path, timeout=SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False
            )
        try:
            store = cls(path, points, connection)
            store._prepare(points)
        except BaseException:
            connection.close()
            raise
        return store

    def answer(
        self,
        event: str,
        question: str,
        judge: str,
        kind: str,
        items: Sequence[int],
        answer: str,
        random: bool,
        of: int | None = None,
    ) -> int:
        """Keep an answer, and return its number; it is on the disk by then.

        Parameters
        ----------
        event : str
            What tells this event from all others. The same again is not kept again, and has the same number.
        question : str
            What tells the question, as it was handed out, from all others.
        judge : str
        kind : {"pair", "triplet", "odd"}
        items : numbers of points, as they were shown
        answer : str
            Of a pair "alike" or "unlike"; of a triplet "second" or "third", which is nearer to the first; of
            three of which one is odd, that one: "first", "second" or "third"; of each "unsure".
        random : bool
            Whether the question was drawn at random, so that it may judge what was learned.
        of : int, optional
            The standing answer that this one replaces.
        """
        names = self._check(kind, items, answer)
        with self.together():
            known = self._find(event, "answer")
            if known is not None:
                return known[0]
            if of is not None:
                self._catch_up()
                self._check_standing(of)
            text = json.dumps(names, ensure_ascii=False)
            return self._add(event, "answer", judge, question, kind, text, answer, bool(random), of)

    def undo(self, event: str, judge: str, of: int | None = None) -> Answer | None:
        """Take back the last standing answer of a judge, and return it; None where there is none.

        With `of` it is that answer, whoever gave it. The same event again takes back nothing more, and returns
        the same.
        """
        with self.together():
            known = self._find(event, "undo")
            if known is not None:
                return None if known[1] is None else self._taken_back(known[1])
            self._catch_up()
            if of is not None:
                self._check_standing(of)
            own = (one for one in reversed(self._standing.values()) if one.judge == judge)
            taken = next(own, None) if of is None else self._standing[of]
            of = None if taken is None else taken.seq
            self._add(event, "undo", judge, None, None, None, None, None, of)
            return taken

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is done within is on the disk at the end, or nothing of it is; no other writes meanwhile."""
        with self._lock, said_in_a_sentence(self._path, "written"):
            if self._connection.in_transaction:  # a part of what is done together
                yield
            else:
                with self._transaction():
                    yield

    def seq_of(self, event: str) -> int | None:
        """The number of an event that is kept already."""
        with self._lock, said_in_a_sentence(self._path, "read"):
            found = self._connection.execute(
                "SELECT seq FROM events WHERE event = ?", (event,)
            ).fetchone()
        return None if found is None else int(found[0])

    def answers(self) -> list[Answer]:
        """The answers that stand, in the order in which they were given."""
        with self._lock, said_in_a_sentence(self._path, "read"):
            self._catch_up()
            return list(self._standing.values())

    @property
    def last_seq(self) -> int:
        """The number of the last event; 0 where there is none."""
        with self._lock, said_in_a_sentence(self._path, "read"):
            (last,) = self._connection.execute(
                "SELECT coalesce(max(seq), 0) FROM events"
            ).fetchone()
        return int(last)

    def close(self) -> None:
        """Close the file."""
        with self._lock, said_in_a_sentence(self._path, "closed"):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _prepare(self, points: Points) -> None:
        """Make what is not there, and look whether what is there is of these points."""
        if len(self._rows) < len(self._names):
            raise FileError(
                f"{points.source} has an id twice, so that an answer could be about either; give every point "
                "an id of its own."
            )
        about: dict[str, str | int] = {
            "format": STORE_FORMAT,
            "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "n_points": len(points),
            "n_features": points.X.shape[1],
            "is_numbered": int(are_numbered(points)),
            "ids": fingerprint_of_ids(points),
            "fingerprint": fingerprint(points),
        }
        with said_in_a_sentence(self._path, "opened"):
            read_about(self._connection, str(self._path))  # what is no store stays as it is
            self._write_ahead()
            self._connection.execute("PRAGMA synchronous = FULL")
        self._file = _file_at(self._path)
        with self.together():
            found = read_about(self._connection, str(self._path))
            if not found:
                make_store(self._connection, about)
                return
            # Nothing changes, but a place that may not be written is known now, and not at the first answer.
            self._connection.execute("UPDATE about SET value = value WHERE name = 'format'")
        if found["fingerprint"] != about["fingerprint"]:
            raise FileError(
                f"{self._path} is a store of other points: {_difference(found, about)}."
            )

    def _write_ahead(self) -> None:
        """Let readers read while one writes. Two processes that do this at once are in each other's way."""
        deadline = time.monotonic() + SECONDS_TO_WAIT
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if _file_at(self._path) != self._file:
            raise StoreError(
                f"{self._path} was moved, deleted or replaced since it was opened, and nothing can be "
                "kept; put it back, or start again."
            )
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _find(self, event: str, what: str) -> tuple[int, int | None] | None:
        """The number of an event that is kept already, and which answer it takes back."""
        found = self._connection.execute(
            "SELECT seq, of, what FROM events WHERE event = ?", (event,)
        ).fetchone()
        if found is None:
            return None
        if found[2] != what:
            raise ValueError(
                f"`event` is {event!r}, which another event has already; give every event a name of its own."
            )
        return found[0], found[1]

    def _add(self, event: str, what: str, judge: str, *rest: str | int | None) -> int:
        added = self._connection.execute(
            "INSERT INTO events (event, what, at, judge, question, kind, items, answer, random, of) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (event, what, time.time(), judge, *rest),
        )
        assert added.lastrowid is not None
        return added.lastrowid

    def _catch_up(self) -> None:
        """Bring `_standing` up to date with what this process and others have added."""
        self._seen = find_standing(self._connection, self._standing, self._seen, self._with_rows)

    def _check_standing(self, of: int) -> None:
        if of not in self._standing:
            raise ValueError(
                f"`of` is {of}, which is no answer that stands: it was taken back or replaced; look at the "
                "answers again."
            )

    def _taken_back(self, seq: int) -> Answer:
        return self._with_rows(read_answer(self._connection, seq))

    def _with_rows(self, stored: StoredAnswer) -> Answer:
        items = tuple(self._rows[name] for name in stored.items)
        return Answer(*stored[:5], items, *stored[6:])

    def _check(self, kind: str, items: Sequence[int], answer: str) -> list[str]:
        """The ids of the items, if this is an answer to such a question."""
        if kind not in KINDS:
            raise ValueError(f"`kind` is {kind!r}; it must be one of {', '.join(KINDS)}.")
        known = KINDS[kind]
        if answer not in known.answers:
            raise ValueError(
                f"`answer` is {answer!r}; of the kind {kind!r} it must be one of {', '.join(known.answers)}."
            )
        rows = [int(row) for row in items]
        if len(rows) != known.n_items or len(set(rows)) < len(rows):
            raise ValueError(
                f"`items` are {rows}; the kind {kind!r} needs {known.n_items} different points."
            )
        if not 0 <= min(rows) <= max(rows) < len(self._names):
            raise ValueError(
                f"`items` are {rows}; they must be numbers of points, from 0 to {len(self._names) - 1:,}."
            )
        return [self._names[row] for row in rows]


def _file_at(path: Path) -> tuple[int, int] | None:
    """What tells the file of a path from others; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _difference(found: dict[str, str | int], about: dict[str, str | int]) -> str:
    if found["n_points"] != about["n_points"]:
        return f"it has {found['n_points']:,}, and {about['n_points']:,} were given; choose another store"
    if found["ids"] != about["ids"]:
        return "as many, but with other ids; choose another store, or pass the ids that it was made with"
    return "their ids are the same, but their vectors are not; choose another store"
