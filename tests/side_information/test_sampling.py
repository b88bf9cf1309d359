"""Side information from classes, distances, similarities and clicks."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramlearn import Bounds, ContradictionError, MetricLearner, Pairs, Triplets

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = np.arange(60) % 3


def test_classes_give_pairs_of_each():
    """J12 6: 100 c alike and 100 c unlike, here 10 c."""
    y = np.where(np.arange(60) < 5, -1, Y)
    pairs = Pairs.from_classes(y, 10, random_state=0)
    assert np.all(y[pairs.similar[:, 0]] == y[pairs.similar[:, 1]])
    assert np.all(y[pairs.dissimilar[:, 0]] != y[pairs.dissimilar[:, 1]])
    assert np.bincount(y[pairs.similar[:, 0]]).tolist() == [10, 10, 10]
    assert 20 < len(pairs.dissimilar) <= 30
    assert min(pairs.similar.min(), pairs.dissimilar.min()) >= 5
    few = Pairs.from_classes([0, 0, 0, 1, 1], 100)
    assert (len(few.similar), len(few.dissimilar)) == (4, 6)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_relative_bounds_are_shares_of_the_distances(kind):
    pairs = Pairs.from_labels(Y, 40, random_state=0)
    bounded = pairs.with_relative_bounds(kind(X), 0.25)
    i, j, alike = pairs.near_and_far()
    d = np.sum((X[i] - X[j]) ** 2, axis=1)
    np.testing.assert_allclose(bounded.upper, 0.75 * d[alike])
    np.testing.assert_allclose(bounded.lower, 1.25 * d[~alike])
    twice = np.vstack([X, X[:1]])
    with_equal = Pairs([[0, 60], [1, 4]], [[2, 3]], n_points=61)
    assert with_equal.with_relative_bounds(twice).similar.tolist() == [[1, 4]]


def test_hard_relative_bounds_are_honored():
    pairs = Pairs([[0, 3]], [[0, 1], [1, 2]], n_points=60).with_relative_bounds(X)
    learner = MetricLearner(loss="hard").fit(X, side=pairs)
    assert learner.pair_distance((X[[0]], X[[3]]))[0] ** 2 <= pairs.upper[0] * (1 + 1e-5)
    far = learner.pair_distance((X[[0, 1]], X[[1, 2]])) ** 2
    assert np.all(far >= pairs.lower * (1 - 1e-5))


def test_similarities_give_the_extreme_pairs():
    S = X @ X.T
    pairs = Pairs.from_similarities(S, percentiles=(10, 90))
    above = S[np.triu_indices(60, 1)]
    assert S[tuple(pairs.similar.T)].min() >= np.percentile(above, 90)
    assert S[tuple(pairs.dissimilar.T)].max() <= np.percentile(above, 10)
    assert len(pairs.similar) == len(pairs.dissimilar) == 177
    some = Pairs.from_similarities(S, 20, random_state=0)
    assert (len(some.similar), len(some.dissimilar)) == (10, 10)


def test_how_similar_a_point_is_to_itself_does_not_matter():
    S = X @ X.T
    expected = Pairs.from_similarities(S)
    for own in (np.inf, -np.inf, np.nan, 1e300):
        other = S.copy()
        np.fill_diagonal(other, own)
        found = Pairs.from_similarities(other)
        np.testing.assert_array_equal(found.similar, expected.similar)
        np.testing.assert_array_equal(found.dissimilar, expected.dissimilar)
        assert np.array_equal(np.diagonal(other), np.full(60, own), equal_nan=True)


def test_clicks_are_triplets_and_repeated_ones_weigh_more():
    side = Triplets.from_clicks([(0, 1, 2), (3, 4, 5), (0, 1, 2), (0, 2, 1)], 60, margin=0.5)
    assert side.triplets.tolist() == [[0, 1, 2], [3, 4, 5], [0, 2, 1]]
    assert side.weight.tolist() == [2.0, 1.0, 1.0]
    assert side.margin == 0.5
    assert Triplets.from_clicks([(0, 1, 2)], 3).weight is None


def test_judgments_are_counted():
    i, j = [0, 1, 0, 2, 3, 4, 5], [1, 0, 1, 3, 2, 5, 4]
    side = Pairs.from_judgments(i, j, [True, True, False, False, False, True, False], 6)
    assert side.similar.tolist() == [[0, 1]]
    assert side.similar_weight.tolist() == [1.0]
    assert side.dissimilar.tolist() == [[2, 3]]  # (4, 5) is undecided
    assert side.dissimilar_weight.tolist() == [2.0]
    same = Pairs.from_judgments(*Pairs.from_labels(Y, 40, random_state=0).near_and_far(), 60)
    assert same.size == 40
    assert Pairs.from_judgments([0], [1], [-1], 2).dissimilar.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("conflicts", "similar", "dissimilar"),
    [
        ("majority", {(0, 1): 1.0}, {(2, 3): 2.0}),
        ("drop", {}, {(2, 3): 2.0}),
        ("similar", {(0, 1): 2.0, (4, 5): 1.0}, {(2, 3): 2.0}),
        ("dissimilar", {}, {(0, 1): 1.0, (2, 3): 2.0, (4, 5): 1.0}),
    ],
)
def test_judgments_that_disagree_are_settled_as_the_caller_says(conflicts, similar, dissimilar):
    i, j = [0, 1, 0, 2, 3, 4, 5], [1, 0, 1, 3, 2, 5, 4]
    alike = [True, True, False, False, False, True, False]
    side = Pairs.from_judgments(i, j, alike, 6, conflicts=conflicts)
    found = (
        {tuple(row): weight for row, weight in zip(table.tolist(), weights, strict=True)}
        for table, weights in (
            (side.similar, side.similar_weight),
            (side.dissimilar, side.dissimilar_weight),
        )
    )
    assert tuple(found) == (similar, dissimilar)
    with pytest.raises(
        ContradictionError, match=r"the pair \(0, 1\) \(and 1 more\) is called both"
    ):
        Pairs.from_judgments(i, j, alike, 6, conflicts="raise")


@pytest.mark.parametrize(
    "draw", [Pairs.from_labels, Pairs.from_classes, Triplets.from_labels, MetricLearner(C=1.0).fit]
)
def test_minus_one_beside_zero_and_one_is_unlabeled_with_a_warning(draw):
    y = np.arange(60) % 3 - 1
    points = (X,) if draw.__name__ == "fit" else ()
    with pytest.warns(
        UserWarning, match=r"`y` holds -1, 0 and 1, .*: 20 of 60 points take no part"
    ):
        draw(*points, y)
    draw(*points, y.astype(str))  # three classes
    draw(*points, np.where(y < 0, None, y))  # two, said without a doubt
    with pytest.raises(ValueError, match=r"one class only, 1 besides -1.* pass y\.astype\(str\)"):
        draw(*points, np.where(y == 0, 1, y))


@pytest.mark.parametrize(
    "side",
    [
        Pairs.from_labels(Y, 41, random_state=0),
        Triplets([[0, 1, 2], [3, 4, 5], [1, 2, 3]], n_points=60),
        Bounds([0, 1, 2], [3, 4, 5], upper=[1.0, 2.0, 3.0], n_points=60),
    ],
    ids=lambda side: type(side).__name__,
)
def test_a_split_keeps_every_statement_on_one_side(side):
    rest, held = side.split(0.3, random_state=0)
    assert held.size == round(0.3 * side.size)
    assert rest.size + held.size == side.size
    whole = {side.describe(k) for k in range(side.size)}
    parts = [{part.describe(k) for k in range(part.size)} for part in (rest, held)]
    assert parts[0] | parts[1] == whole
    assert not parts[0] & parts[1]


REFUSED = [
    (lambda: Pairs.from_judgments([0], [1, 2], [1], 3), "`i` and `j` must be of one length"),
    (lambda: Pairs.from_judgments([0], [1], [1, 1], 3), r"`alike` has shape \(2,\)"),
    (lambda: Pairs.from_judgments([0], [1], [2], 3), "`alike` must hold booleans"),
    (
        lambda: Pairs.from_judgments([0, 1], [1, 1], [1, 1], 3),
        r"contains \(1, 1\) \(row 1\); a point is not judged with itself",
    ),
    (
        lambda: Pairs.from_judgments([0, 1], [1, 0], [1, -1], 3),
        "leaves no pair decided with conflicts='majority'",
    ),
    (lambda: Pairs.from_judgments([0], [9], [1], 3), "9"),
    (lambda: Pairs.from_judgments([0], [1], [1], 3, conflicts="vote"), "`conflicts='vote'` is not"),
    (lambda: Pairs.from_labels(Y).split(1.0), "`share` must be a number between 0 and 1"),
    (
        lambda: Triplets([[0, 1, 2]], n_points=3).split(),
        "needs two statements or more; the number here is 1",
    ),
    (lambda: Pairs.from_classes(Y, 0), "`per_class` must be a whole number"),
    (
        lambda: Pairs.from_labels(Y).with_relative_bounds(X, 1.0),
        "`eps` must be a number between 0 and 1",
    ),
    (lambda: Pairs.from_labels(Y).with_relative_bounds(X[:9]), "made for 60 points but received 9"),
    (lambda: Pairs([[0, 1]], n_points=2).with_relative_bounds(np.ones((2, 1))), "of equal points"),
    (lambda: Pairs.from_similarities(X), "`S` must be a square matrix"),
    (lambda: Pairs.from_similarities([[1.0]]), "one row"),
    (
        lambda: Pairs.from_similarities(np.ones((4, 4))),
        "the same similarity, 1, at both of `percentiles",
    ),
    (lambda: Pairs.from_similarities([[1.0, np.nan], [np.nan, 1.0]]), "`S` contains NaN"),
    (
        lambda: Pairs.from_similarities(X @ X.T, percentiles=(90, 10)),
        "`percentiles` must be two numbers",
    ),
    (lambda: Pairs.from_similarities(X @ X.T, percentiles=5), "`percentiles` must be two numbers"),
    (
        lambda: Pairs.from_similarities([[1.0, np.inf], [np.inf, 1.0]]),
        "`S` contains NaN or infinity",
    ),
    (lambda: Triplets.from_clicks([], 5), "`rows` is empty|at least one"),
    (lambda: Triplets.from_clicks([(0, 1, 1)], 5), r"contains \(0, 1, 1\) \(row 0\)"),
    (lambda: Triplets.from_clicks([(0, 1, 9)], 5), "9"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
