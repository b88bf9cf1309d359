"""Answers that were confirmed are on the disk, each once, and those that stand are those of a plain list."""

import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gramlearn.app.studio.store import Store
from gramlearn.files.judgments import read_judgments
from gramlearn.files.points import Points
from gramlearn.sources.errors import FileError

POINTS = Points(np.arange(24.0).reshape(12, 2), ids=[f"id {k}" for k in range(12)], source="p.csv")
ANSWERS = {
    "pair": ("alike", "unlike", "unsure"),
    "triplet": ("second", "third", "unsure"),
    "odd": ("first", "second", "third", "unsure"),
}
# What the page about files says of the answers that stand.
PAGE = Path(__file__).parents[3] / "docs" / "files.md"
SQL = PAGE.read_text(encoding="utf-8").split("```sql\n")[1].split("```")[0]


def open_store(folder):
    return Store.open(folder / "judgments.db", POINTS)


@st.composite
def an_answer(draw):
    kind = draw(st.sampled_from(sorted(ANSWERS)))
    n = 2 if kind == "pair" else 3
    items = draw(st.permutations(range(12)))[:n]
    return kind, tuple(items), draw(st.sampled_from(ANSWERS[kind])), draw(st.booleans())


JUDGES = st.sampled_from(["Ada", "Bo", ""])
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), JUDGES, an_answer()),
        st.tuples(st.just("undo"), JUDGES, st.none()),
        st.tuples(st.just("change"), JUDGES, an_answer(), st.integers(0, 11)),
        st.tuples(st.just("again"), JUDGES, st.integers(0, 11)),
        st.tuples(st.just("reopen"), JUDGES),
    ),
    max_size=12,
)


class Model:
    """What stands, as a list that answers are appended to and removed from."""

    def __init__(self):
        self.seq, self.stand = 0, []

    def answer(self, judge, what, of=None):
        self.seq += 1
        self.stand = [one for one in self.stand if one[0] != of] + [(self.seq, judge, *what)]

    def undo(self, judge):
        self.seq += 1
        own = [one for one in self.stand if one[1] == judge]
        self.stand = [one for one in self.stand if one not in own[-1:]]
        return own[-1] if own else None


def plain(answer):
    if answer is None:
        return None
    return (answer.seq, answer.judge, answer.kind, answer.items, answer.answer, answer.random)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(EVENTS)
def test_what_stands_is_what_stands_in_a_list(tmp_path_factory, events):
    folder = tmp_path_factory.mktemp("store")
    store, model, done = open_store(folder), Model(), []
    for k, (what, judge, *rest) in enumerate(events):
        if what == "reopen":
            store.close()
            store = open_store(folder)
            continue
        if what == "again":
            if done:
                call, found = done[rest[0] % len(done)]
                assert call(store) == found
            continue
        of = None
        if what == "change":
            if not model.stand:
                continue
            of = model.stand[rest[1] % len(model.stand)][0]
        if what == "undo":

            def call(store, k=k, judge=judge):
                return plain(store.undo(f"event {k}", judge))

            found = model.undo(judge)
        else:

            def call(store, k=k, judge=judge, said=rest[0], of=of):
                return store.answer(f"event {k}", f"question {k}", judge, *said, of=of)

            model.answer(judge, rest[0], of)
            found = model.seq
        assert call(store) == found
        done.append((call, found))
        assert store.last_seq == model.seq
        assert [plain(answer) for answer in store.answers()] == model.stand
    with store, open_store(folder) as another:
        assert another.answers() == store.answers()
        in_sql = store._connection.execute(f"SELECT seq FROM ({SQL}) ORDER BY seq").fetchall()
        assert in_sql == [(answer.seq,) for answer in store.answers()]


def run_writers(what, folder):
    """What tests/app/studio/writers.py prints."""
    command = [sys.executable, str(Path(__file__).with_name("writers.py")), what, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
def test_writers_that_are_killed_lose_nothing_and_keep_nothing_twice(tmp_path):
    """Each goes on with the first event that was not confirmed, as a page does that heard no answer."""
    found = run_writers("kill", tmp_path)
    assert sum(map(len, found["confirmed"])) > 50
    for path, confirmed, stood in zip(
        sorted(tmp_path.glob("*.db")), found["confirmed"], found["stood"], strict=True
    ):
        connection = sqlite3.connect(path)
        kept = connection.execute("SELECT event, seq FROM events ORDER BY seq").fetchall()
        connection.close()
        # At most the last was kept and not heard of.
        assert len(confirmed) <= len(kept) <= len(confirmed) + 1
        assert kept == [(f"event {k}", k + 1) for k in range(len(kept))]
        model = Model()
        for k in range(len(kept)):
            if k % 5 == 4:
                undone = model.undo("Ada")
                told = None if undone is None else undone[0]
            else:
                model.answer("Ada", (f"question {k}",))
                told = model.seq
            assert confirmed[k : k + 1] in ([told], [])
        assert stood == [[seq, question] for seq, _, question in model.stand]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
def test_two_processes_at_once_lose_nothing_and_keep_nothing_twice(tmp_path):
    found = run_writers("together", tmp_path)
    one, other = found["told"]
    assert one["shared"] == other["shared"]
    told = [*one["own"], *other["own"], *one["shared"]]
    assert sorted(told) == [seq for seq, _ in found["stood"]] == list(range(1, len(told) + 1))
    names = {question for _, question in found["stood"]}
    assert names == {f"{whose} {k}" for whose in ("Ada", "Bo", "both") for k in range(60)}


def test_threads_lose_nothing_and_keep_nothing_twice(tmp_path):
    with open_store(tmp_path) as store, ThreadPoolExecutor(8) as threads:

        def answer(k):
            # Every event is sent by two threads.
            return store.answer(f"event {k // 2}", "", f"{k % 2}", "pair", (0, 1), "alike", False)

        told = list(threads.map(answer, range(80)))
        assert told[::2] == told[1::2]
        assert sorted(told[::2]) == [one.seq for one in store.answers()] == list(range(1, 41))


def test_two_stores_of_one_file_see_what_the_other_keeps(tmp_path):
    with open_store(tmp_path) as one, open_store(tmp_path) as other:
        seq = one.answer("a", "q", "Ada", "pair", (3, 1), "alike", True)
        (answer,) = other.answers()
        assert (answer.seq, answer.judge, answer.question) == (seq, "Ada", "q")
        assert (answer.items, answer.answer, answer.random) == ((3, 1), "alike", True)
        assert other.undo("b", "Bo") is None
        assert other.undo("c", "Ada") == answer
        assert one.answers() == []
        assert one.undo("c", "Ada") == answer
        assert one.last_seq == other.last_seq == 3


def test_what_was_taken_back_cannot_be_changed(tmp_path):
    with open_store(tmp_path) as store:
        first = store.answer("a", "q", "Ada", "pair", (0, 1), "alike", False)
        second = store.answer("b", "q", "Ada", "pair", (0, 1), "unlike", False, of=first)
        for of in (first, 7):
            with pytest.raises(ValueError, match=f"`of` is {of}, which is no answer that stands"):
                store.answer("c", "q", "Ada", "pair", (0, 1), "unsure", False, of=of)
        assert [(one.seq, one.answer) for one in store.answers()] == [(second, "unlike")]
        assert store.answer("c", "q", "Ada", "pair", (0, 1), "unsure", False, of=second) == 3
        with pytest.raises(ValueError, match="`event` is 'c', which another event has already"):
            store.undo("c", "Ada")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("pairs", (0, 1), "alike"), "`kind` is 'pairs'; it must be one of pair, triplet, odd"),
        (("pair", (0, 1), "second"), "`answer` is 'second'; of the kind 'pair' it must be one of"),
        (
            ("pair", (0, 1, 2), "alike"),
            r"`items` are \[0, 1, 2\]; the kind 'pair' needs 2 different",
        ),
        (("odd", (0, 1, 1), "first"), r"`items` are \[0, 1, 1\]; the kind 'odd' needs 3 different"),
        (("pair", (0, 12), "alike"), r"`items` are \[0, 12\]; they must be .* from 0 to 11"),
        (("pair", (-1, 2), "alike"), r"`items` are \[-1, 2\]; they must be .* from 0 to 11"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, given, words):
    with open_store(tmp_path) as store:
        with pytest.raises(ValueError, match=words):
            store.answer("a", "q", "Ada", *given, False)
        assert store.last_seq == 0


def test_answers_stay_with_their_points_in_another_order(tmp_path):
    order = np.random.default_rng(0).permutation(12)
    shuffled = Points(POINTS.X[order], ids=[POINTS.ids[k] for k in order])
    with open_store(tmp_path) as store:
        store.answer("a", "q", "Ada", "triplet", (3, 1, 7), "third", False)
    with Store.open(tmp_path / "judgments.db", shuffled) as store:
        (answer,) = store.answers()
        assert order[list(answer.items)].tolist() == [3, 1, 7]


OTHERS = {
    "more": (Points(np.zeros((13, 2)), ids=[f"id {k}" for k in range(13)]), "it has 12, and 13"),
    "ids": (replace(POINTS, ids=[*POINTS.ids[1:], "new"]), "as many, but with other ids"),
    "vectors": (replace(POINTS, X=POINTS.X + 1), "the same, but their vectors are not"),
    "swapped": (replace(POINTS, X=POINTS.X[::-1]), "the same, but their vectors are not"),
    "numbers": (replace(POINTS, ids=None), "as many, but with other ids"),
}


@pytest.mark.parametrize("which", OTHERS)
def test_a_store_of_other_points_is_refused(tmp_path, which):
    points, words = OTHERS[which]
    open_store(tmp_path).close()
    with pytest.raises(FileError, match=f"store of other points: .*{words}"):
        Store.open(tmp_path / "judgments.db", points)
    with open_store(tmp_path) as store:
        assert store.last_seq == 0


def test_points_in_single_precision_are_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    Store.open(tmp_path / "judgments.db", replace(POINTS, X=X)).close()
    Store.open(tmp_path / "judgments.db", replace(POINTS, X=X.astype(np.float32))).close()


def test_an_id_that_occurs_twice_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"p\.csv has an id twice"):
        Store.open(tmp_path / "judgments.db", replace(POINTS, ids=["a"] * 12))


def write_database(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_files_that_are_no_store_are_refused_and_stay_as_they_are(tmp_path):
    text, table, cut = (tmp_path / f"{name}.db" for name in ("text", "table", "cut"))
    text.write_text("first,second,alike\n")
    write_database(table, "CREATE TABLE mine (a)")
    cut.write_bytes(table.read_bytes()[:3000])
    for path, words in (
        (text, r"text\.db is no SQLite database"),
        (table, r"table\.db is an SQLite database, but no store of answers"),
        (cut, r"cut\.db is (damaged|no SQLite database|an SQLite database, but no store)"),
        (tmp_path / "missing" / "new.db", "could not be opened: its folder does not exist"),
        (tmp_path, "could not be opened: a folder stands there"),
    ):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(FileError, match=words):
            Store.open(path, POINTS)
        assert before is None or path.read_bytes() == before
    for path, words in (
        (text, "is no SQLite database"),
        (table, "no store of answers"),
        (tmp_path / "none.db", "does not exist"),
        ("-", "cannot be read from stdin"),
    ):
        with pytest.raises(FileError, match=words):
            read_judgments(path, POINTS, format="sqlite")


def test_a_newer_format_is_refused(tmp_path):
    open_store(tmp_path).close()
    write_database(tmp_path / "judgments.db", "UPDATE about SET value = 2 WHERE name = 'format'")
    for read in (Store.open, read_judgments):
        with pytest.raises(FileError, match=r"a store of the format 2, .* use a newer gramlearn"):
            read(tmp_path / "judgments.db", POINTS)


def test_an_empty_file_and_a_backup_become_stores(tmp_path):
    (tmp_path / "judgments.db").touch()
    with open_store(tmp_path) as store:
        store.answer("a", "q", "Ada", "pair", (0, 1), "alike", False)
        store._connection.execute(f"VACUUM INTO '{tmp_path / 'backup.db'}'")
        with Store.open(tmp_path / "backup.db", POINTS) as backup:
            assert backup.answers() == store.answers()


def test_a_full_disk_is_said_and_the_store_goes_on_when_there_is_room(tmp_path):
    with open_store(tmp_path) as store:
        store._connection.execute("PRAGMA max_page_count = 12")

        def answer(k):
            return store.answer(f"event {k}", "q" * 999, "Ada", "pair", (0, 1), "alike", False)

        with pytest.raises(
            FileError, match=r"db could not be written: the disk is full; make room"
        ):
            [answer(k) for k in range(40)]
        n = len(store.answers())
        assert 0 < n == store.last_seq < 40
        store._connection.execute("PRAGMA max_page_count = 9999")
        assert [answer(k) for k in range(40)] == list(range(1, 41))


def test_a_store_that_another_program_holds_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("gramlearn.app.studio.store.SECONDS_TO_WAIT", 0.01)
    with open_store(tmp_path) as store, open_store(tmp_path) as other:
        other._connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(FileError, match="could not be written: another program held it"):
            store.undo("a", "Ada")
        other._connection.execute("ROLLBACK")
        assert store.undo("a", "Ada") is None


@pytest.mark.skipif(
    sys.platform == "win32" or not os.geteuid(), reason="who runs this may write anywhere"
)
def test_a_folder_that_may_not_be_written_is_said_and_its_store_is_read(tmp_path):
    with open_store(tmp_path) as store:
        store.answer("a", "q", "Ada", "pair", (0, 1), "alike", False)
    tmp_path.chmod(0o500)
    try:
        for name in ("judgments.db", "new.db"):
            with pytest.raises(FileError, match="you may not write there; choose another folder"):
                Store.open(tmp_path / name, POINTS)
        found = read_judgments(tmp_path / "judgments.db", POINTS)
        assert found.side.similar.tolist() == [[0, 1]]
    finally:
        tmp_path.chmod(0o700)


def test_events_are_neither_changed_nor_removed(tmp_path):
    with open_store(tmp_path) as store:
        store.answer("a", "q", "Ada", "pair", (0, 1), "alike", False)
        for statement in ("UPDATE events SET judge = 'Bo'", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError, match="events"):
                store._connection.execute(statement)
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
