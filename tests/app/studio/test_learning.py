"""The process beside is told of answers, fails in sentences, comes back, and never outlives its server."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from tests.app.studio import workers
from tests.app.studio.judges import X, answers, say

from gramlearn.app.studio.desk import Desk
from gramlearn.app.studio.learning import Learning
from gramlearn.app.studio.store import Store
from gramlearn.files.points import Points

PATIENCE = 120.0  # seconds that a busy machine may take to start a process
POINTS = Points(X, source="points")
ROWS = np.arange(60)


def until(is_so):
    deadline = time.monotonic() + PATIENCE
    while not (found := is_so()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that nobody waits for has ended, too.
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@contextmanager
def learning_at_a_desk(path, make_work=None, kind="pair"):
    with Store.open(path, POINTS) as store:
        desk = Desk(store, kind, ROWS, seed=0)
        with Learning(desk, POINTS.X, ROWS, make_work) as learning:
            yield desk, learning


def answer(desk, learning, n):
    for _ in range(n):
        question = desk.next("me")
        desk.answer(str(uuid4()), question.question, "me", say(desk.kind, question.items))
        learning.notice()


def told(learning):
    return None if learning.learned is None else learning.learned.verdict


def test_it_learns_from_what_was_answered_before_and_now(tmp_path):
    with Store.open(tmp_path / "a.db", POINTS) as store:
        for one in answers("pair", 40):
            store.answer(
                f"e{one.seq}", one.question, "me", "pair", one.items, one.answer, one.random
            )
    with learning_at_a_desk(tmp_path / "a.db") as (desk, learning):
        found = until(lambda: learning.learned)
        assert found.map["version"] == found.summary()["map_version"] > 0
        assert len(found.map["now"]) == len(found.map["before"]) == 60
        assert found.scores[-1].n == 40
        until(lambda: desk.n_queued)
        answer(desk, learning, 20)
        until(lambda: learning.learned.scores[-1].n == 60)
        assert learning.problem is None


def test_a_fit_that_fails_is_a_sentence_and_the_next_answer_tries_again(tmp_path):
    with learning_at_a_desk(tmp_path / "a.db", workers.Counting) as (desk, learning):
        answer(desk, learning, 4)
        until(lambda: told(learning) == "4")
        answer(desk, learning, 1)
        problem = until(lambda: learning.problem)
        assert problem.startswith("Learning failed (ArithmeticError: 5 is too many)")
        assert told(learning) == "4"
        answer(desk, learning, 1)
        until(lambda: told(learning) == "6" and learning.problem is None)

        desk.undo("u", "me")
        desk.undo("v", "me")
        learning.notice()
        until(lambda: told(learning) == "4" and learning.problem is None)

        killed = learning._process
        versions = learning.learned.version
        killed.kill()
        until(lambda: learning.problem and "started again" in learning.problem)
        until(lambda: learning.problem is None and learning.learned.version > versions)
        assert told(learning) == "4"
        last = learning._process.pid
        assert last != killed.pid
    assert not is_running(killed.pid)
    assert not is_running(last)


@pytest.mark.parametrize("make_work", [workers.die, workers.DyingLater])
def test_a_process_that_dies_again_and_again_is_given_up_in_a_sentence(
    tmp_path, monkeypatch, make_work
):
    monkeypatch.setattr("gramlearn.app.studio.learning._MOST_DEATHS", 2)
    with learning_at_a_desk(tmp_path / "a.db", make_work) as (desk, learning):
        answer(desk, learning, 3)
        until(lambda: learning.problem and "not started again" in learning.problem)
        answer(desk, learning, 3)


def test_a_process_that_cannot_be_started_is_given_up_in_a_sentence(tmp_path, monkeypatch):
    def fail(process):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", fail)
    with learning_at_a_desk(tmp_path / "a.db", workers.die) as (desk, learning):
        until(lambda: learning.problem and "not started again" in learning.problem)
        answer(desk, learning, 3)


def test_no_question_waits_for_a_fit(tmp_path):
    with learning_at_a_desk(tmp_path / "a.db", workers.Sleeping) as (desk, learning):
        until(lambda: desk.n_queued)
        seconds = []
        for _ in range(200):
            begun = time.perf_counter()
            answer(desk, learning, 1)
            seconds.append(time.perf_counter() - begun)
        assert np.quantile(seconds, 0.95) < 0.1
        assert learning.learned is None  # it was learning all the time
        begun = time.monotonic()
    assert time.monotonic() - begun < 10


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals")
def test_it_does_not_outlive_a_server_that_is_killed(tmp_path):
    server = subprocess.Popen(
        [sys.executable, workers.__file__, str(tmp_path / "a.db")], stdout=subprocess.PIPE
    )
    with server:
        beside = int(server.stdout.readline())
        assert is_running(beside)
        server.kill()
        server.wait()
        until(lambda: not is_running(beside))
