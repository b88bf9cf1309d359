"""A store of answers: a database of SQLite whose table of events is only ever added to.

An answer stands unless an event takes it back, whose `of` is its number: an undo, or the answer that replaces
it. Items are ids of points, as they were shown, so that the points may be read in another order.
"""

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar, final

import numpy as np

from gramlearn.files.columns import plain
from gramlearn.files.formats.table import Table, counted
from gramlearn.files.points import Points
from gramlearn.files.same_points import are_numbered, fingerprint
from gramlearn.sources.errors import FileError
from gramlearn.sources.opening import opened

STORE_FORMAT = 1
UNSURE = "unsure"
SECONDS_TO_WAIT = 30.0  # for another process to finish its event

_MARK = 0x6772616D  # "gram", as SQLite's id of the application that a database belongs to
_MAGIC = b"SQLite format 3\0"
_ANSWER = "seq, at, judge, question, kind, items, answer, random"
_T = TypeVar("_T")

_SCHEMA = f"""
PRAGMA application_id = {_MARK};
CREATE TABLE about (name TEXT PRIMARY KEY, value NOT NULL);
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    event TEXT NOT NULL UNIQUE,
    what TEXT NOT NULL CHECK (what IN ('answer', 'undo')),
    at REAL NOT NULL,
    judge TEXT NOT NULL,
    question TEXT,
    kind TEXT,
    items TEXT,
    answer TEXT,
    random INTEGER,
    of INTEGER UNIQUE REFERENCES events (seq)
);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events stay as they are'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are kept'); END;
"""


@final
@dataclass(frozen=True)
class Kind:
    """What is asked: of how many items, with which answers, and the shape that these are read as."""

    shape: str
    n_items: int
    answers: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "pair": Kind("pairs", 2, ("alike", "unlike", UNSURE)),
    "triplet": Kind("triplets", 3, ("second", "third", UNSURE)),
    "odd": Kind("odd", 3, ("first", "second", "third", UNSURE)),
}


class StoredAnswer(NamedTuple):
    """An answer as it is stored."""

    seq: int
    at: float
    judge: str
    question: str
    kind: str
    items: tuple[str, ...]
    answer: str
    random: bool


def find_standing(
    connection: sqlite3.Connection,
    standing: dict[int, _T],
    after: int,
    make: Callable[[StoredAnswer], _T],
) -> int:
    """Bring the answers that stood after an event up to date, and return the number of the last event."""
    events = connection.execute(
        f"SELECT what, of, {_ANSWER} FROM events WHERE seq > ? ORDER BY seq", (after,)
    )
    for what, of, seq, *rest in events:
        standing.pop(of, None)
        if what == "answer":
            standing[seq] = make(_stored(seq, *rest))
        after = seq
    return after


def read_answer(connection: sqlite3.Connection, seq: int) -> StoredAnswer:
    """An answer, whether it stands or not."""
    return _stored(
        *connection.execute(f"SELECT {_ANSWER} FROM events WHERE seq = ?", (seq,)).fetchone()
    )


def _stored(
    seq: int, at: float, judge: str, question: str, kind: str, items: str, answer: str, random: int
) -> StoredAnswer:
    ids = tuple(json.loads(items))
    return StoredAnswer(seq, at, judge, question, kind, ids, answer, bool(random))


def make_store(connection: sqlite3.Connection, about: Mapping[str, str | int]) -> None:
    """The tables of a new store; they are there once the transaction is done, which is up to the caller."""
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())


def read_about(connection: sqlite3.Connection, name: str) -> dict[str, str | int]:
    """What a store says of itself; empty for a database with nothing in it."""
    # In this order, for another process may make the tables and the mark, both at once, in between.
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if not n_tables and mark in (0, _MARK):
        return {}
    if mark != _MARK:
        raise FileError(
            f"{name} is an SQLite database, but no store of answers; name another file, or export its table "
            "as CSV."
        )
    about = dict(connection.execute("SELECT name, value FROM about").fetchall())
    if about["format"] > STORE_FORMAT:
        raise FileError(
            f"{name} is a store of the format {about['format']}, but formats up to {STORE_FORMAT} are known "
            "here; use a newer gramlearn."
        )
    return about


def is_store(path: str | Path) -> bool:
    """Whether a file begins as databases of SQLite do."""
    path = Path(path)
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False  # whoever opens it says what is wrong


class StoreError(FileError):
    """A store cannot be read or written now, whatever was to be read or written."""


@contextmanager
def said_in_a_sentence(path: str | Path, deed: str) -> Iterator[None]:
    """Raise errors of SQLite as a StoreError that says what could not be done, and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path} {_why(error, Path(path), deed)}.") from error


def _why(error: sqlite3.Error, path: Path, deed: str) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    advice = {
        sqlite3.SQLITE_FULL: "the disk is full; make room",
        sqlite3.SQLITE_READONLY: "you may not write there; choose another folder",
        sqlite3.SQLITE_PERM: "you may not write there; choose another folder",
        sqlite3.SQLITE_BUSY: f"another program held it for {SECONDS_TO_WAIT:g} seconds; end that program",
        sqlite3.SQLITE_IOERR: f"the disk refused ({error}); look whether it is full or damaged",
    }
    if code == sqlite3.SQLITE_NOTADB:
        return "is no SQLite database; name a store of answers"
    if code == sqlite3.SQLITE_CORRUPT:
        return f"is damaged ({error}); take a copy of it that is whole"
    if code == sqlite3.SQLITE_CANTOPEN:
        if path.is_dir():
            return f"could not be {deed}: a folder stands there; choose another name"
        if not path.parent.is_dir():
            return f"could not be {deed}: its folder does not exist; make it, or choose another"
        return f"could not be {deed}: you may not write there; choose another folder"
    return f"could not be {deed}: {advice.get(code, error)}"


def read_judgment_store(path: str | Path, points: Points, shape: str | None) -> Table:
    """The standing answers of one kind as the columns of its shape.

    Parameters
    ----------
    path : str or Path
    points : Points
        Where row numbers are the ids of the store, it must speak of as many points.
    shape : {"pairs", "triplets", "odd"}, optional
        Which of the kinds; needed where there are several.
    """
    if str(path) == "-":
        raise FileError("a store of answers cannot be read from stdin; name its file.")
    check_header(Path(path))
    standing: dict[int, StoredAnswer] = {}
    with said_in_a_sentence(path, "read"), _opened_store(Path(path)) as connection:
        about = read_about(connection, str(path))
        if about:
            find_standing(connection, standing, 0, lambda answer: answer)
    if not standing:
        raise FileError(f"{path} has no answers yet; answer some questions first.")
    kind = _find_kind(str(path), Counter(answer.kind for answer in standing.values()), shape)
    answers = [answer for answer in standing.values() if answer.kind == kind]
    return Table(
        str(path),
        _COLUMNS[kind](answers),
        len(answers),
        [answer.seq for answer in answers],
        "answer",
        undecided=np.asarray([answer.answer == UNSURE for answer in answers]),
        notes=_compare_points(str(path), about, points),
    )


def check_header(path: Path) -> None:
    """An error that says what a file is, if it is no database of SQLite."""
    with opened(path) as file:
        is_empty = not file.read(1)
    if not is_store(path):
        what = "is empty" if is_empty else "is no SQLite database"
        raise FileError(
            f"{path} {what}; name a store of answers that is not packed, or state the format."
        )


@contextmanager
def _opened_store(path: Path) -> Iterator[sqlite3.Connection]:
    """The database to read from. It needs files beside it; where these cannot be written a copy is read."""
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(_connect(path)))
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / path.name
            for ending in ("", "-wal"):
                beside = path.with_name(path.name + ending)
                if beside.exists():
                    shutil.copy(beside, f"{copy}{ending}")
            connection = stack.enter_context(closing(_connect(copy)))
        yield connection


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=SECONDS_TO_WAIT,
        isolation_level=None,
    )


def _find_kind(name: str, counts: Counter[str], shape: str | None) -> str:
    """The kind of the shape that was stated, or the only one."""
    has = " and ".join(
        f"{counted(n, 'answer')} of the shape {KINDS[kind].shape!r}" for kind, n in counts.items()
    )
    if shape is None:
        if len(counts) > 1:
            raise FileError(f"{name} has {has}; say with `shape` (--shape) which to read.")
        return next(iter(counts))
    for kind in counts:
        if KINDS[kind].shape == {"oddoneout": "odd", "links": "pairs"}.get(
            plain(shape), plain(shape)
        ):
            return kind
    raise FileError(f"{name} has no answers of the shape {shape!r}; it has {has}.")


def _compare_points(name: str, about: Mapping[str, str | int], points: Points) -> tuple[str, ...]:
    """A note where vectors changed; an error where row numbers are of other points, or taken for ids."""
    if not about["is_numbered"]:
        if points.ids is None:
            raise FileError(
                f"{name} speaks of points by their ids, but {points.source} has none, so that row numbers "
                "would be taken for them; pass `ids` with the points."
            )
        return ()
    if not are_numbered(points) or len(points) != about["n_points"]:
        has = "ids of its own" if len(points) == about["n_points"] else f"{len(points):,} points"
        raise FileError(
            f"{name} speaks of {about['n_points']:,} points by row numbers, but {points.source} has {has}; "
            "pass the points that it was made for."
        )
    if fingerprint(points) != about["fingerprint"]:
        return (
            f"{name} was made for other vectors; its row numbers are taken for those of {points.source}.",
        )
    return ()


def _pairs(answers: list[StoredAnswer]) -> dict[str, list[str]]:
    return {
        "first": [answer.items[0] for answer in answers],
        "second": [answer.items[1] for answer in answers],
        "alike": [answer.answer for answer in answers],
    }


def _triplets(answers: list[StoredAnswer]) -> dict[str, list[str]]:
    nearer = [2 if answer.answer == "third" else 1 for answer in answers]
    return {
        "anchor": [answer.items[0] for answer in answers],
        "positive": [answer.items[k] for answer, k in zip(answers, nearer, strict=True)],
        "negative": [answer.items[3 - k] for answer, k in zip(answers, nearer, strict=True)],
    }


def _odd(answers: list[StoredAnswer]) -> dict[str, list[str]]:
    places = KINDS["odd"].answers
    items = {f"id_{k + 1}": [answer.items[k] for answer in answers] for k in range(3)}
    # Of an answer that is unsure any item will do, for its row does not count.
    odd = [answer.items[places.index(answer.answer) % 3] for answer in answers]
    return {**items, "odd": odd}


_COLUMNS: Mapping[str, Callable[[list[StoredAnswer]], dict[str, list[str]]]] = {
    "pair": _pairs,
    "triplet": _triplets,
    "odd": _odd,
}
