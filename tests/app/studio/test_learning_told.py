"""Answers as numbers: what they say, what they teach, and what foretells them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.app.studio.judges import KINDS, X, answers, say, told

from gramlearn._base.arrays import to_numpy
from gramlearn.app.studio.beside.told import Told, distances
from gramlearn.app.studio.store import Answer
from gramlearn.app.studio.whys import comparisons_of

NOTHING = np.empty(0, dtype=np.int64)


@pytest.mark.parametrize("kind", KINDS)
def test_the_distance_that_a_judge_goes_by_foretells_every_answer_and_its_reverse_few(kind):
    found = told(kind, 200)
    look = np.diag([1.0, 0, 0, 0])
    apart = distances(found.items, X, look)
    assert found.foretold(apart, 0.4**2).all()
    assert found.foretold(-apart, -(0.4**2)).mean() < 0.4
    if kind != "pair":  # what tells nothing apart foretells nothing
        assert not found.foretold(np.zeros_like(apart), None).any()


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_squared_and_in_the_order_of_the_items(kind):
    found = told(kind, 30)
    pairs = [(0, 1), (0, 2), (1, 2)][: found.plain.shape[1]]
    for row, items in zip(found.plain, found.items, strict=True):
        expected = [np.sum((X[items[a]] - X[items[b]]) ** 2) for a, b in pairs]
        np.testing.assert_allclose(row, expected)


def test_what_teaches_and_what_judges_share_no_answer():
    rows = answers(
        "pair", 40, answer=lambda kind, items: "unsure" if items[0] < 9 else say(kind, items)
    )
    found = Told.of("pair", rows, X)
    taught, judging = set(found.taught.seq.tolist()), set(found.judging.seq.tolist())
    unsure = {answer.seq for answer in rows if answer.answer == "unsure"}
    assert unsure
    assert not taught & judging
    assert taught | judging | unsure == {answer.seq for answer in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_that_judges_teaches_by_no_answer(kind):
    """Such as one of a file, with its items in another order."""
    rows = answers(kind, 40)
    for one in rows[:20]:
        first, *others = one.items
        items = (first, *others[::-1]) if kind == "triplet" else one.items[::-1]
        rows.append(replace(one, seq=one.seq + 100, items=items, judge="file", random=False))
    found = Told.of(kind, rows, X)
    random = {one.seq for one in rows if one.random}
    doubled = {seq + 100 for seq in random if seq <= 20}
    assert doubled
    assert set(found.judging.seq.tolist()) == random
    assert set(found.taught.seq.tolist()) == {one.seq for one in rows} - random - doubled


@pytest.mark.parametrize("kind", ["triplet", "odd"])
def test_comparisons_are_those_of_the_answers(kind):
    rows = answers(kind, 50)
    found = Told.of(kind, rows, X)
    points = np.unique(found.items)
    side = points[to_numpy(found.side(points).triplets)]
    expected = {row for answer in rows for row in comparisons_of(answer)}
    assert {tuple(row) for row in side.tolist()} == expected


def test_pairs_are_those_of_the_answers():
    rows = answers("pair", 50)
    found = Told.of("pair", rows, X)
    points = np.unique(found.items)
    side = found.side(points)
    for table, answer in ((side.similar, "alike"), (side.dissimilar, "unlike")):
        pairs = {tuple(row) for row in points[to_numpy(table)].tolist()}
        assert pairs == {tuple(sorted(one.items)) for one in rows if one.answer == answer}


def judged(*rows):
    """Pairs as judges called them."""
    return Told.of(
        "pair",
        [
            Answer(k, 0.0, "", str(k), "pair", items, word, False)
            for k, (items, word) in enumerate(rows)
        ],
        X,
    )


def test_of_a_pair_counts_what_more_judges_say():
    found = judged(
        ((0, 1), "alike"), ((1, 0), "alike"), ((0, 1), "unlike"),
        ((2, 3), "unlike"), ((3, 2), "unlike"), ((4, 5), "alike"), ((4, 5), "unlike"),
    )  # fmt: skip
    side = found.side(np.arange(6))
    assert to_numpy(side.similar).tolist() == [[0, 1]]
    assert to_numpy(side.dissimilar).tolist() == [[2, 3]]
    np.testing.assert_array_equal(side.weights(), [1, 2])
    assert found.who_say(side, np.arange(6), np.array([1, 0])) == [3, 4, 0, 1]


def test_there_is_nothing_to_learn_without_pairs_of_both_kinds():
    assert judged().side(np.arange(6)) is None
    assert judged(((0, 1), "alike"), ((2, 1), "alike")).side(np.arange(6)) is None
    assert judged(((0, 1), "alike"), ((1, 0), "unlike")).side(np.arange(6)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_found_by_what_it_says(kind):
    found = told(kind, 60)
    points = np.unique(found.items)
    side = found.side(points)
    assert sorted(found.who_say(side, points, np.arange(side.size))) == found.seq.tolist()
    some = found.who_say(side, points, np.arange(side.size)[::-1][:3])
    assert 1 <= len(some) <= 3


def test_lines_join_what_was_called_near_and_what_was_called_far():
    def of(kind, items, answer):
        return Told.of(kind, [Answer(1, 0.0, "me", "q", kind, items, answer, False)], X).lines()

    assert of("pair", (3, 5), "alike").tolist() == [[0, 3, 5, 1]]
    assert of("pair", (3, 5), "unlike").tolist() == [[0, 3, 5, 0]]
    assert of("triplet", (3, 5, 7), "third").tolist() == [[0, 3, 5, 0], [0, 3, 7, 1]]
    assert of("odd", (3, 5, 7), "first").tolist() == [[0, 3, 5, 0], [0, 3, 7, 0], [0, 5, 7, 1]]
    assert of("odd", (3, 5, 7), "third").tolist() == [[0, 3, 5, 1], [0, 3, 7, 0], [0, 5, 7, 0]]


def test_changes_lead_to_what_stands():
    rows = answers("odd", 20)
    found = Told.of("odd", rows[:12], X).changed(Told.of("odd", rows[12:], X), NOTHING)
    found = found.changed(Told.of("odd", rows[:3], X), np.array([4, 19]))
    left = Told.of("odd", [one for one in rows if one.seq not in (4, 19)], X)
    for name in ("seq", "items", "said", "random", "plain"):
        np.testing.assert_array_equal(getattr(found, name), getattr(left, name))
