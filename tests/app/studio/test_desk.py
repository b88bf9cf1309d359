"""Which question next: none is lost, none comes twice, and random ones are drawn evenly and marked."""

from collections import Counter
from itertools import combinations
from threading import Thread
from uuid import uuid4

import numpy as np
import pytest
from tests.app.studio.serving import some_points

from gramlearn.app.studio.asked import Asked, key_of, n_questions, said
from gramlearn.app.studio.desk import (
    SECONDS_HELD,
    SHARE_RANDOM,
    ClosedQuestionError,
    Desk,
    NoQuestionError,
)
from gramlearn.app.studio.store import Answer, Store

FIRST = {"pair": "alike", "triplet": "second", "odd": "first"}


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "a.db", some_points()) as store:
        yield store


def desk_of(store, kind="pair", n=12, **more):
    return Desk(store, kind, np.arange(n), seed=0, **more)


def answered(desk, question, answer="alike", judge="me"):
    return desk.answer(str(uuid4()), question.question, judge, answer)


@pytest.mark.parametrize(("kind", "n"), [("pair", 6), ("triplet", 4), ("odd", 5)])
def test_every_question_comes_once_and_then_none(store, kind, n):
    desk = desk_of(store, kind, n)
    keys = []
    for _ in range(n_questions(kind, n)):
        question = desk.next("me")
        keys.append(question.key)
        assert key_of(kind, question.items) == question.key
        answered(desk, question, FIRST[kind])
    assert len(set(keys)) == len(keys)
    with pytest.raises(NoQuestionError, match="There are no more questions: all"):
        desk.next("me")


def test_the_number_of_questions_is_that_of_all_rows():
    for kind, width in (("pair", 2), ("odd", 3)):
        assert n_questions(kind, 7) == len(list(combinations(range(7), width)))
    assert n_questions("triplet", 7) == 7 * len(list(combinations(range(6), 2)))


@pytest.mark.parametrize(("kind", "n"), [("pair", 1), ("pair", 0), ("triplet", 2), ("odd", 2)])
def test_fewer_points_than_a_question_needs_is_a_sentence(store, kind, n):
    with pytest.raises(NoQuestionError, match=f"and there are {n}"):
        desk_of(store, kind, n).next("me")


def test_the_queue_comes_in_its_order_and_what_was_asked_is_left_out(store):
    desk = desk_of(store)
    desk._rng.random = lambda: 1.0
    desk.put([(0, 1), (2, 1), (4, 5)])
    first = desk.next("me")
    assert (first.key, first.random) == ((0, 1), False)
    answered(desk, first)
    desk.put([(1, 0), (2, 1), (4, 5)])
    assert [desk.next("me").key for _ in range(2)] == [(1, 2), (4, 5)]
    assert not desk.next("me").random  # drawn, as the queue is empty, and learned from


def test_a_share_is_drawn_evenly_and_marked(store):
    desk = desk_of(store, n=12)
    every = list(combinations(range(12), 2))
    found = []
    for _ in range(4000):
        desk.put(every)
        desk._held.clear()
        question = desk.next("me")
        found.append((question.key, question.random))
    drawn = [key for key, is_random in found if is_random]
    error = (SHARE_RANDOM * (1 - SHARE_RANDOM) / 4000) ** 0.5
    assert abs(len(drawn) / 4000 - SHARE_RANDOM) < 4 * error
    counts = Counter(drawn)
    assert set(counts) == set(every)
    assert (
        sum((counts[k] - len(drawn) / 66) ** 2 for k in every) / (len(drawn) / 66)
        < 66 + 4 * 132**0.5
    )


def test_the_places_of_items_say_nothing(store):
    desk = desk_of(store, "odd", 3)
    orders = Counter()
    for _ in range(600):
        desk._held.clear()
        orders[desk.next("me").items] += 1
    assert len(orders) == 6
    assert min(orders.values()) > 60


def test_two_pages_get_different_questions_until_time_is_up(store):
    clock = Clock()
    desk = desk_of(store, n=3, clock=clock)
    keys = {desk.next("me").key for _ in range(3)}
    assert len(keys) == 3
    with pytest.raises(NoQuestionError, match="on other pages"):
        desk.next("me")
    clock.now = SECONDS_HELD + 1
    assert desk.next("me").key in keys


def test_an_answer_that_comes_after_its_time_counts_unless_another_page_was_first(store):
    clock = Clock()
    desk = desk_of(store, n=2, clock=clock)
    late = desk.next("ann")
    clock.now = SECONDS_HELD + 1
    other = desk.next("bob")
    assert other.key == late.key
    answered(desk, late, judge="ann")
    for question, judge in ((other, "bob"), (late, "bob"), (other, "ann")):
        with pytest.raises(ClosedQuestionError, match="answered on another page meanwhile"):
            answered(desk, question, judge=judge)
    assert [answer.judge for answer in store.answers()] == ["ann"]


def test_a_random_question_stays_one_for_a_judge_who_answers_after_a_restart(store):
    desk = desk_of(store, repeats=2)
    desk._rng.random = lambda: 0.0
    answered(desk, desk.next("ann"), judge="ann")
    asked = desk.next("bob")
    again = desk_of(store, repeats=2)
    again.answer("e", asked.question, "bob", "alike", asked.items)
    assert [answer.random for answer in store.answers()] == [True, True]


def test_an_answer_that_comes_again_is_one(store):
    desk = desk_of(store)
    question = desk.next("me")
    seq = desk.answer("e", question.question, "me", "alike")
    assert desk.answer("e", question.question, "me", "alike") == seq
    assert desk.answer("f", question.question, "me", "unlike") == seq
    again = desk_of(store)  # the server was started again
    assert again.answer("e", question.question, "me", "alike") == seq
    assert [answer.answer for answer in store.answers()] == ["alike"]


def test_an_answer_to_no_question_is_refused(store):
    desk = desk_of(store)
    with pytest.raises(ClosedQuestionError):
        desk.answer("e", "unheard of", "me", "alike")
    question = desk.next("me")
    with pytest.raises(ValueError, match="`answer` is 'second'"):
        desk.answer("e", question.question, "me", "second")
    assert store.answers() == []


def test_an_answer_that_was_under_way_when_the_studio_was_stopped_is_taken(store):
    question = desk_of(store).next("me")
    again = desk_of(store, n=10)  # the server was started again
    for items in (None, (1,), (1, 1), (0, 99), (1, 2, 3), (0, 11)):
        with pytest.raises(ClosedQuestionError):
            again.answer("e", question.question, "me", "alike", items)
    seq = again.answer("e", question.question, "me", "alike", question.items)
    assert again.answer("e", question.question, "me", "alike", question.items) == seq
    (kept,) = store.answers()
    assert (kept.items, kept.random) == (question.items, False)
    # Neither what was answered meanwhile nor what another page shows is asked twice.
    shown = again.next("you")
    for items in (question.items, shown.items):
        with pytest.raises(ClosedQuestionError):
            again.answer("f", "another", "me", "alike", items[::-1])


def test_undo_asks_again_as_it_was(store):
    desk = desk_of(store)
    first, second = desk.next("me"), desk.next("me")
    for question in (first, second):
        answered(desk, question)
    undone, asked = desk.undo("u", "me")
    assert (undone.items, asked.items, asked.random) == (second.items, second.items, second.random)
    assert asked.question != second.question
    assert desk.undo("u", "me")[0] == undone
    assert len(store.answers()) == 1
    answered(desk, asked, "unlike")
    assert [answer.answer for answer in store.answers()] == ["alike", "unlike"]
    assert desk.undo("v", "nobody") == (None, None)


def test_a_change_replaces_and_keeps_what_was_random(store):
    desk = desk_of(store)
    seq = answered(desk, desk.next("me"))
    old = store.answers()[0]
    changed = desk.change("c", seq, "me", "unlike")
    assert desk.asked.answers.keys() == {changed}
    new = desk.asked.answers[changed]
    assert (new.answer, new.items, new.random) == ("unlike", old.items, old.random)
    assert desk.change("c", seq, "me", "unlike") == changed
    with pytest.raises(ValueError, match="no answer that stands"):
        desk.change("d", seq, "me", "alike")
    for _ in range(2):
        assert desk.change("e", changed, "me", None) == changed
    assert store.answers() == []


def test_with_repeats_judges_answer_the_same_questions_each_once(store):
    desk = desk_of(store, n=5, repeats=2)
    for judge in ("ann", "bob", "cid"):
        while True:
            try:
                question = desk.next(judge)
            except NoQuestionError:
                break
            answered(desk, question, judge=judge)
    judges = {key: desk.asked.judges_of(key) for key in combinations(range(5), 2)}
    assert all(found == {"ann", "bob"} for found in judges.values())
    assert desk.asked.agreement == (10, 10)


def test_a_question_that_was_begun_comes_before_new_ones(store):
    desk = desk_of(store, repeats=2)
    keys = []
    for _ in range(5):
        question = desk.next("ann")
        keys.append((question.key, question.random))
        answered(desk, question, judge="ann")
    assert sorted((q.key, q.random) for q in (desk.next("bob") for _ in range(5))) == sorted(keys)


def test_agreement_counts_what_judges_say_of_items_whatever_their_order():
    asked = Asked("odd")
    rows = [
        ("ann", (1, 2, 3), "first"),
        ("bob", (3, 2, 1), "third"),
        ("cid", (1, 2, 3), "second"),
        ("dot", (1, 2, 3), "unsure"),
        ("ann", (1, 2, 4), "first"),
    ]
    answers = [
        Answer(k, 0.0, judge, str(k), "odd", items, answer, False)
        for k, (judge, items, answer) in enumerate(rows)
    ]
    come, gone = asked.follow(answers)
    assert (come, gone) == (answers, [])
    assert [said(answer) for answer in answers] == [1, 1, 2, "unsure", 1]
    assert asked.agreement == (1, 3)
    assert {answer.seq for answer in asked.disagreements()} == {0, 1, 2, 3}
    asked.follow([answers[0], answers[1], answers[4]])
    assert asked.agreement == (1, 1)
    assert asked.disagreements() == []
    assert (asked.n_unsure, asked.n_of_judge) == (0, {"ann": 2, "bob": 1})


def test_many_threads_lose_no_answer_and_are_asked_nothing_twice(store):
    desk = desk_of(store, n=12)
    confirmed = []

    def judge():
        try:
            while True:
                question = desk.next("me")
                confirmed.append((question.key, answered(desk, question)))
        except NoQuestionError:
            pass

    threads = [Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(key for key, _ in confirmed) == list(combinations(range(12), 2))
    assert sorted(answer.seq for answer in store.answers()) == sorted(seq for _, seq in confirmed)
