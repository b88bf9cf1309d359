"""The routes: JSON as the page takes it, lists of answers, and files out and in again."""

import json
import sqlite3
import sys
from contextlib import contextmanager
from urllib.parse import quote

import numpy as np
import pytest
from tests.app.studio.serving import Client, serving, some_points

from gramlearn.app.studio.store import Store
from gramlearn.files import read_judgments
from gramlearn.files.formats.judgment_store import said_in_a_sentence
from gramlearn.files.points import Points

NAMED = Points(some_points(6).X, [*"abcdef"], source="points")


@pytest.fixture
def client(tmp_path):
    with serving(tmp_path / "a.db", NAMED) as server:
        client = Client.of(server)
        yield client
        client.close()


def answer_all(client, choose, judge="me", question=None):
    """Answer until there is nothing to ask; what `choose` says of the ids."""
    client.judge = judge
    question = question or client.next()
    while "none" not in question:
        ids = [item["id"] for item in question["items"]]
        question = client.answer(question, choose(ids))["next"]
    return question["none"]


def test_a_question_comes_with_the_confirmation_of_the_answer(client):
    question = client.next()
    assert question.keys() == {"question", "kind", "number", "items"}
    assert (question["kind"], question["number"]) == ("pair", 1)
    assert all(item["id"] == "abcdef"[item["number"]] for item in question["items"])
    answer = client.answer(question, "alike", "e")
    assert answer["next"]["number"] == 2
    assert client.answer(question, "alike", "e")["seq"] == answer["seq"]
    state = client.get("/api/state")
    assert (state["n_answers"], state["n_points"], state["learned"]) == (1, 6, None)
    assert state["judges"] == [{"name": "me", "n_answers": 1}]


def test_an_answer_to_a_question_of_before_brings_another(client):
    found = client.answer({"question": "gone"}, "alike", code=409)
    assert "here is another" in found["error"]
    assert found["next"].keys() == {"question", "kind", "number", "items"}


def test_what_was_shown_is_taken_from_the_page_where_it_is_such_a_question(client):
    said = {"event": "e", "question": "of before", "answer": "alike"}
    shown = []
    for kind, items in (("odd", [0, 1]), ("pair", [0, "1"]), ("pair", [0, True]), ("pair", {})):
        found = client.post("/api/answer", 409, **said, kind=kind, items=items)
        shown.append({item["number"] for item in found["next"]["items"]})
    free = next([0, k] for k in range(1, 6) if {0, k} not in shown)
    client.post("/api/answer", **said, kind="pair", items=free)
    (answer,) = client.get("/api/answers")["answers"]
    assert [item["number"] for item in answer["items"]] == free


def test_an_answer_that_is_none_is_refused_in_a_sentence(client):
    found = client.answer(client.next(), "perhaps", code=400)
    assert "must be one of alike, unlike, unsure" in found["error"]


def test_undo_brings_the_question_back(client):
    question = client.next()
    client.answer(question, "alike")
    found = client.post("/api/undo", event="u")
    assert found["undone"]["answer"] == "alike"
    assert found["next"]["items"] == question["items"]
    assert client.post("/api/undo", event="v")["undone"] is None
    assert client.get("/api/state")["n_answers"] == 0


def test_the_last_answers_come_a_page_at_a_time_and_can_be_changed(tmp_path):
    with serving(tmp_path / "a.db") as server:
        client = Client.of(server)
        assert "There are no more questions" in answer_all(client, lambda ids: "alike")
        first = client.get("/api/answers?which=last")
        assert first["more"]
        last = first["answers"][-1]["seq"]
        rest = client.get(f"/api/answers?which=last&after={last}")
        seqs = [answer["seq"] for answer in first["answers"] + rest["answers"]]
        assert seqs == sorted(seqs, reverse=True)
        assert len(set(seqs)) == 66
        changed = client.post("/api/change", event="c", seq=seqs[5], answer="unlike")["seq"]
        top = client.get("/api/answers?which=last")["answers"][0]
        assert (top["seq"], top["answer"]) == (changed, "unlike")
        assert client.get("/api/answers?judge=nobody")["answers"] == []
        client.close()


def test_contradictions_are_the_unlike_pairs_that_alike_ones_join(client):
    wrong = {frozenset("ac"), frozenset("ef")}
    alike = {frozenset("ab"), frozenset("bc"), frozenset("de")}
    answer_all(client, lambda ids: "alike" if frozenset(ids) in alike else "unlike")
    found = client.get("/api/answers?which=contradictions")["answers"]
    pairs = {frozenset(item["id"] for item in answer["items"]): answer["why"] for answer in found}
    assert pairs.keys() == {frozenset("ac"), frozenset("ab"), frozenset("bc")}
    assert "2 answers in a chain" in pairs[frozenset("ac")]
    assert not wrong & alike


def test_contradictions_of_comparisons_are_circles(tmp_path):
    with serving(tmp_path / "a.db", Points(NAMED.X[:4], [*"abcd"]), kind="triplet") as server:
        client = Client.of(server)
        # b is nearer to a than c, c than d, and d than b; all else follows the alphabet.
        circle = {("a", "b", "c"): "b", ("a", "c", "d"): "c", ("a", "b", "d"): "d"}

        def choose(ids):
            first, *others = ids
            nearer = circle.get((first, *sorted(others)), min(others))
            return ("second", "third")[others.index(nearer)]

        answer_all(client, choose)
        found = client.get("/api/answers?which=contradictions")["answers"]
        sets = {frozenset(item["id"] for item in answer["items"]) for answer in found}
        assert {frozenset("abc"), frozenset("acd"), frozenset("abd")} <= sets
        assert all("less than itself" in answer["why"] for answer in found)
        client.close()


def test_judges_and_what_they_disagree_about(tmp_path):
    with serving(tmp_path / "a.db", NAMED, repeats=2) as server:
        client = Client.of(server)
        answer_all(client, lambda ids: "alike", "ann")
        answer_all(client, lambda ids: "unlike" if "a" in ids else "alike", "bob")
        state = client.get("/api/state")
        assert state["agreement_of_judges"] == {"rate": 10 / 15, "n": 15}
        assert state["judges"] == [{"name": name, "n_answers": 15} for name in ("ann", "bob")]
        found = client.get("/api/answers?which=disagreements")["answers"]
        assert len(found) == 10
        assert all("a" in [item["id"] for item in answer["items"]] for answer in found)
        client.close()


@pytest.mark.parametrize("kind", ["pair", "triplet", "odd"])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_what_is_exported_is_read_as_judgments_and_imported_again(tmp_path, kind, format):
    choose = {
        "pair": lambda ids: "alike" if set(ids) <= set("abc") else "unlike",
        "triplet": lambda ids: "second" if ids[1] < ids[2] else "third",
        "odd": lambda ids: ("first", "second", "third")[ids.index(max(ids))],
    }[kind]
    with serving(tmp_path / "a.db", NAMED, kind=kind) as server:
        client = Client.of(server)
        question = client.answer(client.next(), "unsure")["next"]
        answer_all(client, choose, question=question)
        n = client.get("/api/state")["n_answers"]
        code, headers, data = client.ask("GET", f"/api/export?format={format}")
        assert code == 200
        assert headers["Content-Disposition"] == f'attachment; filename="judgments.{format}"'
        client.close()
    path = tmp_path / f"judgments.{format}"
    path.write_bytes(data)
    from_file = read_judgments(path, NAMED).side
    from_store = read_judgments(tmp_path / "a.db", NAMED).side
    tables = [np.sort(side.statement_points(), axis=0).tolist() for side in (from_file, from_store)]
    assert tables[0] == tables[1]
    with serving(tmp_path / "b.db", NAMED, kind=kind) as server:
        client = Client.of(server)
        for added in (n - 1, 0):
            code, _, found = client.ask("POST", f"/api/import?name=judgments.{format}", data)
            assert (code, json.loads(found)["added"]) == (200, added), found
        assert client.get("/api/state")["judges"] == [
            {"name": f"file judgments.{format}", "n_answers": n - 1}
        ]
        question = client.next()
        assert client.answer(question, "unsure")["next"].keys() == {"none"}
        client.close()


def test_an_import_counts_its_own_answers_alone_and_many_go_to_the_disk_at_once(tmp_path):
    points = some_points(40)
    rows = "".join(f"{i},{k},1\n" for i in range(40) for k in range(i))
    with serving(tmp_path / "a.db", points) as server:
        client, store = Client.of(server), server.studio._desk._store
        together, others = store.together, iter(range(9))

        @contextmanager
        def with_others():
            if (
                not store._connection.in_transaction
            ):  # somebody answers between two parts of the file
                number, store.together = f"other {next(others)}", together
                store.answer(number, number, "bob", "pair", (0, 1), "alike", False)
                store.together = with_others
            with together():
                yield

        store.together = with_others
        data = b"first,second,alike\n" + rows.encode()
        code, _, found = client.ask("POST", "/api/import?name=a.csv", data)
        assert (code, json.loads(found)["added"]) == (200, 780)
        assert next(others) == 4  # transactions
        client.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no file that is open can be moved there")
def test_while_a_store_is_away_nothing_is_confirmed_and_the_same_answer_counts_when_it_is_back(
    tmp_path,
):
    path, away = tmp_path / "a.db", tmp_path / "away.db"
    with serving(path, NAMED) as server:
        client = Client.of(server)
        question = client.next()
        path.rename(away)
        for is_replaced in (False, True):
            if is_replaced:
                path.write_bytes(b"another file")
            found = client.answer(question, "alike", "e", code=507)
            assert "was moved, deleted or replaced since it was opened" in found["error"]
        away.replace(path)
        assert client.answer(question, "alike", "e")["seq"] == 1
        client.close()


def test_on_a_full_disk_the_page_is_told_to_keep_what_was_said(client, monkeypatch):
    question = client.next()

    def refuse(*given, **more):
        with said_in_a_sentence("a.db", "written"):
            error = sqlite3.OperationalError("full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(Store, "answer", refuse)
        found = client.answer(question, "alike", "e", code=507)
    assert found["error"] == "a.db could not be written: the disk is full; make room."
    assert client.answer(question, "alike", "e")["seq"] == 1


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.exe", b"MZ", "does not say its format"),
        ("a.csv", b"", ""),
        ("a.csv", b"anchor,positive,negative\na,b,c\n", "asks questions of the kind 'pair'"),
        ("../../a.csv", b"x,y\n1,2\n", ""),
        ("a.json", b"{", ""),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(client, name, data, says):
    code, _, found = client.ask("POST", f"/api/import?name={name}", data)
    assert code == 400
    sentence = json.loads(found)["error"]
    assert says in sentence
    assert "/tmp" not in sentence


@pytest.mark.parametrize(
    "path", ["/api/answers?which=all", "/api/answers?after=x", "/api/export?format=x"]
)
def test_a_route_says_what_it_expects(client, path):
    code, _, data = client.ask("GET", path)
    assert code == 400
    assert "must be" in json.loads(data)["error"]


def test_the_files_of_the_page_are_served(client):
    code, headers, data = client.ask("GET", "/")
    assert (code, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert data.lower().startswith(b"<!doctype html>")


def test_an_item_comes_by_the_number_of_its_point(client):
    assert client.get("/api/item?number=2") == {"number": 2, "id": "c", "text": "c"}
    for number, code in (
        ("6", 404),
        ("-1", 400),
        ("²", 400),
        ("", 400),
        ("1" * 12, 400),
        ("x", 400),
    ):
        path = f"/api/item?number={quote(number)}"
        found, _, data = client.ask("GET", path)
        assert found == code
        assert "`number`" in json.loads(data)["error"]
