"""Agreement with random answers: its errors, its curve, and when it is said that more answers do not help."""

from dataclasses import replace

import numpy as np
import pytest
from tests.app.studio.judges import KINDS, X, answers, told

from gramlearn.app.studio.beside.metric import Fitting, Metric, find_threshold
from gramlearn.app.studio.beside.scores import Gain, Judged, error_of_share, has_stopped
from gramlearn.app.studio.beside.told import Told
from gramlearn.app.studio.beside.words import advice_of, verdict_of


def metric(n, A, threshold=0.4**2, plain=8.0, n_from=None):
    return Metric(n, n if n_from is None else n_from, 0.0, A, threshold, plain)


LOOK, PLAIN = np.diag([1.0, 0, 0, 0]), np.eye(4)


def test_a_threshold_is_right_most_often_of_all_numbers():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 12))
        apart, alike = rng.integers(5, size=n).astype(float), rng.random(n) < 0.5
        found = find_threshold(apart, alike)
        every = [-1.0, *(k + 0.5 for k in range(5))]
        best = max(np.sum((apart <= t) == alike) for t in every)
        assert np.sum((apart <= found) == alike) == best
    assert find_threshold(np.zeros(0), np.zeros(0, dtype=bool)) == np.inf


def test_the_error_of_a_share_is_never_zero_and_is_that_of_many():
    for right in (np.ones(5, bool), np.zeros(5, bool)):
        assert 0.1 < error_of_share(right) < 0.2
    many = np.arange(10_000) % 4 == 0
    assert error_of_share(many) == pytest.approx(np.sqrt(0.25 * 0.75 / 10_000), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_that_several_judges_answered_is_one_question(kind):
    """In any order of its items, and whatever the answers: three that say the same are as sure as one."""
    once = answers(kind, 30, is_random=lambda k: True)
    thrice = [replace(one, seq=one.seq + 30 * k) for k in range(3) for one in once]
    one, three = (Judged(Told.of(kind, rows, X), X) for rows in (once, thrice))
    found, few = metric(90, PLAIN, n_from=90), metric(45, LOOK)
    assert three.n_judging == one.n_judging == 30
    assert three.score(found)[1:] == one.score(found)[1:]
    assert three.advantage(found) == one.advantage(found)
    assert three.gain([few], found)[2:] == one.gain([few], found)[2:]
    # Of judges who contradict each other half are right.
    pairs = [
        replace(row, items=row.items[::-1]) for row in answers("pair", 30, is_random=lambda k: True)
    ]
    other = {"alike": "unlike", "unlike": "alike"}
    both = pairs + [replace(row, seq=row.seq + 30, answer=other[row.answer]) for row in pairs]
    score = Judged(Told.of("pair", both, X), X).score(metric(60, LOOK))
    assert (score.n_random, score.learned) == (30, 0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_shares_of_random_answers_alone(kind):
    """Whatever is said to questions that are learned from."""
    upside_down = {"alike": "unlike", "unlike": "alike"}
    right = answers(kind, 140)
    wrong = [
        one
        if one.random
        else type(one)(
            *(
                upside_down.get(value, value) if k == 6 else value
                for k, value in enumerate(vars(one).values())
            )
        )
        for one in right
    ]
    for rows in (right, wrong):
        judged = Judged(Told.of(kind, rows, X), X)
        assert judged.n_judging == 20
        score = judged.score(metric(140, LOOK))
        assert (score.n, score.n_random, score.learned) == (140, 20, 1.0)
        assert score.plain < 1


def test_the_curve_grows_and_ends_with_the_newest():
    judged = Judged(told("triplet", 100), X)
    older = [metric(n, PLAIN) for n in (60, 20, 20, 100)] + [metric(5, PLAIN, n_from=0)]
    newest = metric(100, LOOK)
    curve = judged.curve(older, newest)
    assert [score.n for score in curve] == [20, 60, 100]
    assert curve[-1].learned == 1.0
    assert all(score.learned == score.plain for score in curve[:-1])
    assert Judged(told("triplet", 30), X).curve(older, newest) == []  # four random answers


def test_it_never_says_that_answers_have_stopped_helping_before_thirty_random_ones():
    for n in range(1, 30):
        judged = Judged(told("triplet", n, is_random=lambda k: True), X)
        assert judged.gain([metric(n // 2, LOOK)], metric(n, LOOK)) is None
    judged = Judged(told("triplet", 60, is_random=lambda k: True), X)
    gain = judged.gain([metric(30, LOOK)], metric(60, LOOK))
    assert (gain.few, gain.many, gain.share) == (30, 60, 0.0)
    assert "have stopped helping" in advice_of(gain)
    assert (
        judged.gain([metric(9, LOOK), metric(40, LOOK)], metric(60, LOOK)) is None
    )  # none of half


def test_a_gain_that_may_be_worth_it_is_not_the_end():
    assert has_stopped(Gain(100, 200, 0.0, 0.02))
    assert not has_stopped(Gain(100, 200, 0.0, 0.04))
    assert not has_stopped(Gain(100, 200, 0.05, 0.01))
    assert advice_of(Gain(100, 200, 0.05, 0.01)) is None
    assert not has_stopped(Gain(100, 200, -0.05, 0.05))
    assert "−2.0 %" in advice_of(Gain(100, 200, -0.02, 0.01))


def test_the_verdict_says_what_is_known():
    def words(found, A=LOOK, n_from=10):
        return verdict_of(found, metric(140, A, n_from=n_from), Judged(found, X))

    assert "Of 20 random questions the learned distance foretells 100 %" in words(
        told("triplet", 140)
    )
    assert "no difference that counts" in words(told("triplet", 140), PLAIN)
    assert "0 so far, and 5 are needed" in words(told("odd", 6, is_random=lambda k: False))
    pairs = words(told("pair", 140))
    assert "of these pairs are unlike" in pairs
    assert "no sure answers" in words(told("odd", 6, is_random=lambda k: True), n_from=0)
    alike = told("pair", 6, answer=lambda *_: "alike", is_random=lambda k: False)
    assert "all 6 so far are alike" in words(alike, n_from=0)


@pytest.mark.parametrize(
    ("looks_at", "wrong", "sizes", "has_an_end"),
    [
        ((1, 1, 1, 1), 0.0, (200, 400, 800), True),
        ((1, 1, 1, 1), 0.1, (200, 400, 800), True),
        ((1, 0, 0, 0), 0.0, (100, 200, 400), False),
    ],
)
def test_it_is_said_where_answers_do_not_help_and_not_while_they_do(
    looks_at, wrong, sizes, has_an_end
):
    """By judges who go by the plain distance, soon; by one who goes by another, not while it is found."""
    rng = np.random.default_rng(0)

    def judge(kind, items):
        i, j, k = X[list(items)] * looks_at
        is_second = np.sum((i - j) ** 2) < np.sum((i - k) ** 2)
        return ("third", "second")[int(is_second ^ (rng.random() < wrong))]

    P = X / np.sqrt(np.mean(np.vecdot(X, X)))
    fitting, found = Fitting("triplet", P), told("triplet", sizes[-1], answer=judge)
    metrics = [fitting.fit(found[:n]) for n in sizes]
    advice = [advice_of(Judged(found[: one.last], P).gain(metrics, one)) for one in metrics]
    assert advice[0] is None
    assert any(advice) == has_an_end


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_finds_what_a_judge_looks_at(kind):
    P = X / np.sqrt(np.mean(np.vecdot(X, X)))
    found = told(kind, 400)
    learned = Fitting(kind, P).fit(found)
    score = Judged(found, P).score(learned)
    assert score.learned > score.plain + 2 * score.error
