"""Statements about near points, against full enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramlearn import Pairs, Triplets

rng = np.random.default_rng(5)
X = rng.normal(size=(30, 3))
Y = rng.integers(3, size=30)


def nearest_by_hand(points, y, i, same, count):
    """The rows nearest to point i, of its class or of the others, by looking at all."""
    others = [j for j in range(len(y)) if j != i and y[j] != -1 and (y[j] == y[i]) == same]
    distance = {j: float(np.sum((points[i] - points[j]) ** 2)) for j in others}
    return sorted(others, key=distance.__getitem__)[:count]


@pytest.mark.filterwarnings("ignore:`y` holds -1, 0 and 1")
@given(
    labels=st.lists(st.integers(-1, 2), min_size=4, max_size=12),
    n_same=st.integers(1, 4),
    n_other=st.integers(1, 12),
    seed=st.integers(0, 100),
)
def test_triplets_and_pairs_are_those_of_the_nearest(labels, n_same, n_other, seed):
    points = np.random.default_rng(seed).normal(size=(len(labels), 2))
    expected = {
        (i, j, k)
        for i, label in enumerate(labels)
        if label != -1
        for j in nearest_by_hand(points, labels, i, True, n_same)
        for k in nearest_by_hand(points, labels, i, False, n_other)
    }
    if not expected:
        with pytest.raises(ValueError, match=r"one class only|two members|is unlabeled"):
            Triplets.from_neighbors(points, labels, n_same, n_other)
        return
    side = Triplets.from_neighbors(points, labels, n_same, n_other)
    assert {tuple(row) for row in side.triplets.tolist()} == expected
    assert side.n_points == len(labels)
    pairs = Pairs.from_neighbors(points, labels, n_same, n_other)
    near = [(i, j) for i, j, _ in expected]
    far = [(i, k) for i, _, k in expected]
    for table, weight, found in (
        (pairs.similar, pairs.similar_weight, near),
        (pairs.dissimilar, pairs.dissimilar_weight, far),
    ):
        listed = dict.fromkeys(found, 1)  # each once for the point that lists it
        assert {tuple(sorted(row)) for row in table.tolist()} == {tuple(sorted(p)) for p in listed}
        weights = np.broadcast_to(1.0 if weight is None else weight, len(table))
        for row, w in zip(table.tolist(), weights, strict=True):
            assert w == listed.get(tuple(row), 0) + listed.get(tuple(row[::-1]), 0)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_margin_has_the_units_of_the_points(unit):
    side = Triplets.from_neighbors(unit * X, Y, margin=0.5)
    far = np.unique(side.triplets[:, [0, 2]], axis=0)
    mean = np.mean(np.sum((X[far[:, 0]] - X[far[:, 1]]) ** 2, axis=1))
    assert side.margin == pytest.approx(0.5 * unit**2 * mean)
    np.testing.assert_array_equal(side.triplets, Triplets.from_neighbors(X, Y).triplets)


def test_sparse_points_lists_and_arrays_have_the_same_neighbors():
    side = Triplets.from_neighbors(X, Y)
    for points in (csr_array(X), X.tolist()):
        again = Triplets.from_neighbors(points, Y)
        np.testing.assert_array_equal(again.triplets, side.triplets)
        assert again.margin == pytest.approx(side.margin)
        assert Pairs.from_neighbors(points, Y).size == Pairs.from_neighbors(X, Y).size


def test_the_odd_one_out_is_far_from_both():
    side = Triplets.from_odd_one_out([[0, 1, 2], [5, 3, 4]], n_points=6, margin=0.2)
    rows = {tuple(row) for row in side.triplets.tolist()}
    assert rows == {(0, 1, 2), (1, 0, 2), (5, 3, 4), (3, 5, 4)}
    assert side.margin == 0.2
    # The same answer again has twice the weight, in whichever order the two others are named.
    twice = Triplets.from_odd_one_out([[0, 1, 2], [1, 0, 2]], n_points=6)
    assert twice.size == 2
    np.testing.assert_array_equal(twice.weight, [2, 2])


REFUSED = [
    (lambda: Triplets.from_neighbors(X, Y[:3]), "`y` has 3 labels, but `X` has 30 rows"),
    (lambda: Pairs.from_neighbors(X, np.zeros(30)), "`y` has one class only, 0.0"),
    (lambda: Pairs.from_neighbors(X, Y, n_same=0), "`n_same` must be"),
    (lambda: Triplets.from_neighbors(X, Y, n_other=1.5), "`n_other` must be"),
    (lambda: Triplets.from_neighbors(X, Y, margin=-1.0), "`margin`"),
    (lambda: Triplets.from_neighbors(X, Y, margin=None), "`margin` must be a finite number"),
    (
        lambda: Triplets.from_neighbors(np.zeros((4, 2)), [0, 0, 1, 1]),
        "every point is equal to its nearest of other classes",
    ),
    (lambda: Triplets.from_odd_one_out([], n_points=3), r"at least one \(i, j, odd\)"),
    (lambda: Triplets.from_odd_one_out([[0, 1, 1]], n_points=3), "three different points"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
