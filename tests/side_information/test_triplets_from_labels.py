"""Triplets drawn from labels, and triplets that contradict each other, against full enumeration."""

import time
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from gramlearn import Triplets

NAN = float("nan")


def every_triplet(y):
    """All (i, j, k) with y_i = y_j != y_k, none of them -1."""
    y = np.asarray(y)
    return {
        (i, j, k)
        for i, j, k in permutations(range(y.size), 3)
        if y[i] == y[j] != y[k] and -1 not in (y[i], y[k])
    }


def rows(side):
    return [tuple(row) for row in np.asarray(side.triplets).tolist()]


@pytest.mark.filterwarnings("ignore:`y` holds -1, 0 and 1")
@given(
    labels=st.lists(st.integers(-1, 3), min_size=2, max_size=14),
    n_triplets=st.integers(1, 400),
    seed=st.integers(0, 100),
)
def test_triplets_are_some_or_all_of_those_there_are(labels, n_triplets, seed):
    possible = every_triplet(labels)
    if not possible:
        with pytest.raises(ValueError, match=r"one class only|two members|is unlabeled"):
            Triplets.from_labels(labels, n_triplets, random_state=seed)
        return
    side = Triplets.from_labels(labels, n_triplets, random_state=seed)
    drawn = rows(side)
    assert side.n_points == len(labels)
    assert len(drawn) == len(set(drawn)) == min(n_triplets, len(possible))
    assert set(drawn) <= possible
    assert drawn == rows(Triplets.from_labels(labels, n_triplets, random_state=seed))


def test_every_triplet_is_equally_likely():
    y = [2, 0, 1, 0, -1, 0, 1]
    number = {row: k for k, row in enumerate(sorted(every_triplet(y)))}
    assert len(number) == 3 * 2 * 3 + 2 * 1 * 4
    counts, places = np.zeros(len(number)), np.zeros((3, len(number)))
    rng = np.random.default_rng(0)
    for _ in range(1000):
        drawn = rows(Triplets.from_labels(y, 1, random_state=rng))
        counts[number[drawn[0]]] += 1
        shuffled = rows(Triplets.from_labels(y, 3, random_state=rng))
        for place, row in enumerate(shuffled):
            places[place, number[row]] += 1
    assert chisquare(counts).pvalue > 1e-3
    for place in places:  # first, second and third alike: the order says nothing either
        assert chisquare(place).pvalue > 1e-3


def test_all_of_them_come_in_random_order():
    y = np.arange(9) % 3
    one, other = (rows(Triplets.from_labels(y, 10**6, random_state=seed)) for seed in (0, 1))
    assert set(one) == set(other) == every_triplet(y)
    assert one != other


def test_the_default_is_1500_or_40_for_each_pair_of_classes():
    assert Triplets.from_labels(np.arange(200) % 6, random_state=0).size == 1500
    assert Triplets.from_labels(np.arange(200) % 10, random_state=0).size == 4000
    assert Triplets.from_labels([0, 0, 1], random_state=0).size == 2


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, NAN, 0.0, 1.0],
        np.asarray(["a", "b", None, "a", "b"], dtype=object),
        np.asarray([0, 2, -1, 0, 2]),
    ],
    ids=["NaN", "None", "-1"],
)
def test_unlabeled_points_are_left_out(y):
    drawn = rows(Triplets.from_labels(y, 100, random_state=0))
    assert set(drawn) == every_triplet([0, 1, -1, 0, 1])


def test_labels_are_not_modified():
    y = np.asarray([2, 0, 2, -1, 0])
    before = y.copy()
    Triplets.from_labels(y, random_state=0)
    assert np.array_equal(y, before)


def test_a_million_points_take_no_longer_than_their_sort():
    y = np.arange(1_000_000) % 7
    began = time.process_time()
    side = Triplets.from_labels(y, 50_000, random_state=0)
    assert time.process_time() - began < 5
    i, j, k = side.triplets.T
    assert len(set(rows(side))) == 50_000
    assert np.all((y[i] == y[j]) & (y[i] != y[k]) & (i != j))
    # From all over the points, as often before as after each other.
    assert abs(np.mean(i < j) - 0.5) < 0.02
    assert chisquare(np.bincount(k * 20 // y.size, minlength=20)).pvalue > 1e-3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Triplets.from_labels([1, 1, 1]), "`y` has one class only, 1; at least two are"),
        (lambda: Triplets.from_labels([0, 1, 2]), "no class in `y` has two members"),
        (lambda: Triplets.from_labels([-1, -1]), "every point of `y` is unlabeled"),
        (lambda: Triplets.from_labels([[0, 1]]), "`y` must be one-dimensional"),
        (lambda: Triplets.from_labels([]), "`y` is empty"),
        (lambda: Triplets.from_labels([0, 0, 1], 0), "`n_triplets` must be a whole number of at l"),
        (lambda: Triplets.from_labels([0, 0, 1], 1.5), r"`n_triplets` must be .*; got 1\.5"),
        (
            lambda: Triplets.from_labels(np.arange(3_500_000) % 2, 10),
            "`y` has 3500000 labeled points, whose triplets are too many to number; keep the labels",
        ),
    ],
)
def test_bad_input_raises_a_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_invalid_seed_is_refused():
    with pytest.raises(TypeError, match="`random_state` must be None, a whole number"):
        Triplets.from_labels([0, 0, 1], random_state="one")


# -- contradictions ------------------------------------------------------------------------------


def opposite(one, other):
    """Whether the one calls smaller what the other calls larger, by the pairs as sets."""

    def two_pairs(row):
        i, j, k, *last = row
        return {i, j}, ({k, *last} if last else {i, k})

    near, far = two_pairs(one)
    return (far, near) == two_pairs(other)


def random_rows(rng, width, n):
    kept = []
    while len(kept) < n:
        row = [int(x) for x in rng.integers(4, size=width)]
        pairs = (row[:2], row[2:] if width == 4 else [row[0], row[2]])
        if all(len(set(pair)) == 2 for pair in pairs) and set(pairs[0]) != set(pairs[1]):
            kept.append(row)
    return kept


@pytest.mark.parametrize(("width", "seed"), [*product((3, 4), range(5))])
def test_contradictions_are_those_of_all_pairs_of_rows(width, seed):
    side = Triplets(random_rows(np.random.default_rng(seed), width, 12), n_points=4)
    table = rows(side)
    expected = [k for k, row in enumerate(table) if any(opposite(row, other) for other in table)]
    assert side.contradictions().tolist() == expected


def test_contradictions_of_a_small_example():
    side = Triplets([(0, 1, 2), (0, 2, 1), (0, 1, 2), (1, 0, 2), (3, 4, 5)], n_points=6)
    assert side.contradictions().tolist() == [0, 1]  # the first is there twice, as its weight
    four = Triplets([(0, 1, 2, 3), (3, 2, 1, 0), (0, 1, 2, 4)], n_points=5)
    assert four.contradictions().tolist() == [0, 1]
    assert Triplets.from_labels([0, 0, 0, 1, 1, 2], 500).contradictions().size == 0


def test_contradictions_of_another_library(library):
    side = Triplets(library.index([(0, 1, 2), (0, 2, 1), (1, 0, 2)]), n_points=3)
    assert side.contradictions().tolist() == [0, 1]
