"""The process beside learns what a judge has in mind, comes back where it died, and leaves nothing behind."""

import os
import signal
import time
from uuid import uuid4

import numpy as np
import pytest
from tests.app.studio.dying import die

from gramlearn.app.studio.beside.work import Work
from gramlearn.app.studio.desk import Desk
from gramlearn.app.studio.learning import Learning
from gramlearn.app.studio.store import Store
from gramlearn.files.points import Points

PATIENCE = 60.0  # seconds that a busy machine may take to start a process
rng = np.random.default_rng(0)
# What people look at is one feature of four, and the smallest.
POINTS = Points(rng.normal(size=(60, 4)) * [0.5, 2, 2, 2], source="points")


def until(is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def say(kind, items):
    a, b, *c = POINTS.X[list(items), 0]
    if kind == "pair":
        return "alike" if abs(a - b) < 0.4 else "unlike"
    apart = [abs(a - b), abs(a - c[0]), abs(b - c[0])]
    if kind == "triplet":
        return "second" if apart[0] < apart[1] else "third"
    return ("third", "second", "first")[int(np.argmin(apart))]


def answer(desk, n, kind="pair"):
    for _ in range(n):
        question = desk.next("me")
        desk.answer(str(uuid4()), question.question, "me", say(kind, question.items))


class SlowWork(Work):
    """Learns for as long as the test lasts."""

    def _learn(self):
        if len(self._told):
            time.sleep(PATIENCE)
        yield from super()._learn()


def test_it_learns_comes_back_and_leaves_no_process(tmp_path):
    with Store.open(tmp_path / "a.db", POINTS) as store:
        desk = Desk(store, "pair", np.arange(60), seed=0)
        with Learning(desk, POINTS.X, np.arange(60)) as learning:
            until(lambda: desk.n_queued)  # before there is any answer
            assert learning.learned is None
            answer(desk, 40)
            learning.notice()
            until(lambda: learning.learned is not None)
            found = learning.learned
            assert found.map["version"] == found.summary()["map_version"] > 0
            assert len(found.map["now"]) == 60

            first = learning._process.pid
            os.kill(first, signal.SIGKILL)
            until(lambda: learning.problem)
            assert "started again" in learning.problem
            until(lambda: learning.problem is None and learning.learned is not found)
            last = learning._process.pid
            assert last != first
        for pid in (first, last):
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


def test_no_question_waits_for_a_fit(tmp_path):
    with Store.open(tmp_path / "a.db", POINTS) as store:
        desk = Desk(store, "pair", np.arange(60), seed=0)
        with Learning(desk, POINTS.X, np.arange(60), SlowWork) as learning:
            until(lambda: desk.n_queued)
            seconds = []
            for _ in range(200):
                begun = time.perf_counter()
                answer(desk, 1)
                learning.notice()
                seconds.append(time.perf_counter() - begun)
            assert np.quantile(seconds, 0.95) < 0.1
            assert learning.learned is None  # it was learning all the time
            begun = time.monotonic()
        assert time.monotonic() - begun < 5


def test_a_process_that_dies_again_and_again_is_given_up_in_a_sentence(tmp_path):
    with Store.open(tmp_path / "a.db", POINTS) as store:
        desk = Desk(store, "pair", np.arange(60), seed=0)
        answer(desk, 1)
        with Learning(desk, POINTS.X, np.arange(60), die) as learning:
            until(lambda: learning.problem and "not started again" in learning.problem)
            answer(desk, 5)
            learning.notice()
