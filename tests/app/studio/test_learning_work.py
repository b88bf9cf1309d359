"""Steps of learning: what is asked next, whom answers speak against, and what becomes of odd ones."""

import numpy as np
import pytest
from tests.app.studio.judges import KINDS, X, answers, told

from gramlearn.app.studio.asked import key_of
from gramlearn.app.studio.beside import work as module
from gramlearn.app.studio.beside.metric import Metric
from gramlearn.app.studio.beside.told import Told
from gramlearn.app.studio.beside.work import Work

P = X / np.sqrt(np.mean(np.vecdot(X, X)))
NOTHING = np.empty(0, dtype=np.int64)


def work_of(kind, found=None, rows=60, suspects=False):
    work = Work(kind, P, np.arange(rows))
    if not suspects:  # which take ten fits
        work._suspected.is_due = lambda told: False
    if found is not None:
        work.take(found, NOTHING)
    return work


@pytest.fixture
def nothing_chosen(monkeypatch):
    """Choosing questions takes as long as many small fits."""
    monkeypatch.setattr(module, "questions", lambda *_, **__: np.empty((0, 3), dtype=np.int64))


def done(work):
    """All that is told until nothing is left to do: what was learned last, and asked last."""
    learned, queue, count = None, None, 0
    while (step := work.step()) is not None:
        for what, found in step:
            learned, queue = (found, queue) if what == "learned" else (learned, found)
        count += 1
        assert count < 60
    return learned, queue


@pytest.mark.parametrize("kind", KINDS)
def test_questions_are_there_before_any_answer_and_none_comes_again(kind):
    learned, queue = done(work_of(kind))
    assert learned is None
    assert len(queue) == 20
    found = told(kind, 60)
    learned, queue = done(work_of(kind, found))
    keys = [key_of(kind, row) for row in queue.tolist()]
    assert len(set(keys)) == len(keys) >= 20
    assert not set(keys) & {key_of(kind, row) for row in found.items.tolist()}


@pytest.mark.parametrize("kind", KINDS)
def test_only_points_that_can_be_shown_are_asked_about_but_all_answers_teach(kind):
    found = told(kind, 60)
    learned, queue = done(work_of(kind, found, rows=30))
    assert queue.max() < 30
    assert learned.n_from == len(found.taught)
    assert done(work_of(kind, rows=1))[1].shape[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_curve_is_there_after_a_restart(kind, nothing_chosen):
    rows = answers(kind, 80)
    step_by_step = work_of(kind)
    for start in (0, 40):
        step_by_step.take(Told.of(kind, rows[start : start + 40], X), NOTHING)
        before = done(step_by_step)[0]
    after = done(work_of(kind, Told.of(kind, rows, X)))[0]
    for found in (before, after):
        counts = [score.n for score in found.scores]
        assert counts == sorted(set(counts))
        assert len(counts) >= 7
        assert {score.n_random for score in found.scores} == {11}
    assert after.scores[-1] == before.scores[-1]
    assert after.verdict == before.verdict


def test_the_curve_is_capped_however_many_answers_there_are(nothing_chosen):
    work, sizes = work_of("triplet"), []
    plain = np.eye(4)

    def count(found):
        sizes.append(len(found.taught))
        return Metric(int(found.seq[-1]), sizes[-1], 0.0, plain, None, None)

    work._fitting.fit = count
    work.take(told("triplet", 5000), NOTHING)
    assert len(done(work)[0].scores) == len(sizes) < 25
    assert sizes[0] == max(sizes)  # what is learned now comes first


def test_clearly_wrong_answers_are_suspects(nothing_chosen):
    rows = answers("triplet", 120, is_random=lambda k: False)
    apart = np.diff(
        np.abs(X[[one.items[0] for one in rows], :1] - X[[one.items[1:] for one in rows], 0])
    )
    wrong = set((np.argsort(-np.abs(apart[:, 0]))[:5] + 1).tolist())
    swap = {"second": "third", "third": "second"}
    rows = [_with(one, swap[one.answer]) if one.seq in wrong else one for one in rows]
    learned, _ = done(work_of("triplet", Told.of("triplet", rows, X), suspects=True))
    assert len(learned.suspects) <= 12
    assert len(wrong & set(learned.suspects)) >= 4
    assert learned.map["suspects"] == learned.suspects


def _with(one, word):
    return type(one)(*(word if name == "answer" else value for name, value in vars(one).items()))


@pytest.mark.parametrize("kind", KINDS)
def test_judges_who_contradict_each_other_are_learned_from(kind, nothing_chosen):
    rows = answers(kind, 60)
    other = {
        "alike": "unlike",
        "unlike": "alike",
        "second": "third",
        "third": "second",
        "first": "second",
    }
    both = [*rows, *(_with(one, other[one.answer]) for one in rows)]
    both = [type(one)(k, *list(vars(one).values())[1:]) for k, one in enumerate(both)]
    learned, _ = done(work_of(kind, Told.of(kind, both, X)))
    assert len(learned.map["pairs"])
    assert (learned.n_from == 0) == (kind == "pair")


def test_pairs_of_one_kind_are_a_sentence_and_questions_go_on():
    found = told("pair", 30, answer=lambda kind, items: "unlike")
    learned, queue = done(work_of("pair", found))
    assert "all 26 so far are unlike" in learned.verdict
    assert (learned.scores, learned.suspects, learned.n_from) == ([], [], 0)
    assert len(queue)
    np.testing.assert_allclose(learned.map["now"], learned.map["before"])


@pytest.mark.parametrize("kind", KINDS)
def test_unsure_answers_teach_nothing_and_are_not_asked_again(kind):
    found = told(kind, 30, answer=lambda *_: "unsure")
    learned, queue = done(work_of(kind, found))
    assert "no sure answers" in learned.verdict
    assert len(queue)
    assert not {key_of(kind, row) for row in queue.tolist()} & {
        key_of(kind, row) for row in found.items.tolist()
    }


def test_points_that_are_all_equal_are_no_crash():
    same = np.zeros((60, 1))
    for kind in ("pair", "triplet"):
        work = Work(kind, same, np.arange(60))  # suspects are looked for, too
        work.take(Told.of(kind, answers(kind, 12), same), NOTHING)
        learned, queue = done(work)
        assert learned.verdict
        assert len(queue)


def test_what_was_taken_back_is_forgotten(nothing_chosen):
    rows = answers("odd", 24)
    work = work_of("odd", Told.of("odd", rows, X), suspects=True)
    done(work)
    gone = np.array([5, 6, 20])
    work.take(told("odd", 0), gone)
    left = Told.of("odd", [one for one in rows if one.seq not in gone], X)
    found, expected = done(work)[0], done(work_of("odd", left, suspects=True))[0]
    assert found.verdict == expected.verdict
    assert found.scores == expected.scores
    assert found.suspects == expected.suspects
