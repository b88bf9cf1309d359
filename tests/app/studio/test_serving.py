"""`gramlearn studio` from its words to a page: where it listens, what it says, what it refuses."""

import numpy as np
import pytest
from tests.app.studio.serving import NoLearning

from gramlearn.app.command import main
from gramlearn.app.studio import serving
from gramlearn.app.studio.server import StudioServer


class Nothing(NoLearning):
    """Learns nothing, and starts no process."""

    def __init__(self, *given):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass


@pytest.fixture
def start(tmp_path, monkeypatch, capsys):
    """Run the command until it serves; (code, address where it listens, stdout, stderr)."""
    where = []

    def stop_at_once(server, poll_interval):
        where.append(server.socket.getsockname()[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(StudioServer, "serve_forever", stop_at_once)
    monkeypatch.setattr(serving, "Learning", Nothing)

    def start(*words, n=9):
        points, where[:] = tmp_path / f"{n}.npy", []
        np.save(points, np.random.default_rng(0).normal(size=(n, 3)))
        line = ["studio", "--points", points, "--store", tmp_path / "a.db", *words]
        code = main(list(map(str, line)))
        return (code, *(where or [None]), *capsys.readouterr())

    return start


def test_it_listens_on_this_machine_alone_unless_told_otherwise_and_then_warns(start):
    code, where, said, noted = start()
    assert (code, where) == (0, "127.0.0.1")
    assert "http://127.0.0.1:" in said
    assert "other machines" not in noted
    code, where, _, noted = start("--host", "0.0.0.0")
    assert (code, where) == (0, "0.0.0.0")
    assert (
        "on 0.0.0.0 other machines can reach the page, and what is sent is not encrypted" in noted
    )


def test_vectors_without_items_are_asked_about_by_their_names_and_that_is_said(start):
    code, _, said, noted = start()
    assert (code, "9 points to ask about" in said) == (0, True)
    assert "has vectors alone, and nothing that could be shown of them" in noted


def test_fewer_points_than_a_question_needs_are_served_and_the_page_says_so(start):
    assert start("--kind", "odd", n=2)[:2] == (0, "127.0.0.1")


def test_a_store_of_other_points_is_refused_in_a_sentence(start):
    assert start()[0] == 0
    code, where, _, noted = start(n=10)
    assert (code, where) == (2, None)
    assert "is a store of other points: it has 9, and 10 were given" in noted


def test_a_port_that_is_taken_is_said(start):
    with StudioServer("127.0.0.1", 0, None) as taken:
        code, where, _, noted = start("--port", taken.server_port)
    assert (code, where) == (2, None)
    assert f"--port {taken.server_port} is taken" in noted


def test_a_check_makes_no_store_and_reads_one_that_is_there(start, tmp_path):
    code, where, said, _ = start("--check")
    assert (code, where) == (0, None)
    assert "9 points to ask about; " in said
    assert not (tmp_path / "a.db").exists()
    start()
    assert "0 answers so far" in start("--check")[2]
