"""The server is killed under clients that answer as fast as they can, and many ask at once: nothing is lost.

`python -m stress.faults studio` does the first at length.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from threading import Thread

import pytest
from tests.app.studio.serving import Client, serving, some_points

from gramlearn.app.studio.store import Store

ROOT = Path(__file__).parents[3]
EVERY = list(combinations(range(12), 2))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_server_that_is_killed_has_kept_what_it_confirmed_and_nothing_twice():
    line = [sys.executable, "-m", "stress.faults", "studio", "--moments", "6"]
    ended = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    found = json.loads(ended.stdout)
    assert found["troubles"] == []
    assert ended.returncode == 0, ended.stderr
    assert found["killed"] == found["moments"] == 6
    assert found["confirmed"] > 12  # at most one answer a kill and client would be none of a run
    assert found["taken_back"] > 0
    assert found["sent_again"] > 0


@pytest.mark.parametrize("repeats", [1, 2])
def test_people_at_once_lose_no_answer_and_each_question_has_as_many_judges_as_asked_for(
    tmp_path, repeats
):
    with serving(tmp_path / "a.db", repeats=repeats) as server:
        confirmed = []

        def person(judge):
            client = Client.of(server, judge)
            asked = client.next()
            while "none" not in asked:
                reply = client.answer(asked, "alike")
                confirmed.append((reply["seq"], judge))
                asked = reply["next"]
            client.close()

        # Of each judge two browsers, which must not be asked the same.
        people = [Thread(target=person, args=(judge,)) for judge in ("Ada", "Bo") * 2]
        for one in people:
            one.start()
        for one in people:
            one.join()
    with Store.open(tmp_path / "a.db", some_points()) as store:
        standing = store.answers()
    assert sorted((answer.seq, answer.judge) for answer in standing) == sorted(confirmed)
    asked = Counter((*sorted(answer.items), answer.judge) for answer in standing)
    assert max(asked.values()) == 1
    judges = Counter(tuple(sorted(answer.items)) for answer in standing)
    assert judges == dict.fromkeys(EVERY, repeats)
