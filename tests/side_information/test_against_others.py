"""Similar pairs against points drawn at random: which rows there may be, what they weigh, that they help."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramlearn import MetricLearner, Pairs, Triplets

rng = np.random.default_rng(3)
X = rng.normal(size=(40, 3))


@given(
    n=st.integers(3, 12),
    n_pairs=st.integers(1, 15),
    n_others=st.integers(1, 6),
    seed=st.integers(0, 1000),
)
def test_rows_compare_a_similar_pair_with_what_is_not_known_to_be_similar(
    n, n_pairs, n_others, seed
):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    i, j = np.array([rng.permutation(n)[:2] for _ in range(n_pairs)]).T
    pairs = Pairs.from_judgments(i, j, rng.random(n_pairs) < 0.7, n, conflicts="similar")
    alike = {frozenset(row) for row in pairs.similar.tolist()}
    unlike = {frozenset(row) for row in pairs.dissimilar.tolist()}
    if not alike:
        with pytest.raises(ValueError, match="no similar pair"):
            Triplets.from_pairs(pairs, points, n_others, random_state=seed)
        return
    try:
        side = Triplets.from_pairs(pairs, points, n_others, random_state=seed)
    except ValueError as refusal:
        assert "leaves none" in str(refusal)  # noqa: PT017
        assert len(alike) >= n - 1  # somebody is like all others
        return
    rows = side.triplets.tolist()
    assert all({i, j} in alike and {i, k} not in alike for i, j, k in rows)
    told = {(i, frozenset({i, k})) for i, _, k in rows}
    mated = {point for pair in alike for point in pair}
    assert all((i, pair) in told for pair in unlike for i in pair if i in mated)


def test_weights_add_up_to_those_of_the_pairs():
    pairs = Pairs([[0, 1], [2, 3]], [[0, 2]], n_points=40, similar_weight=[2.0, 5.0])
    side = Triplets.from_pairs(pairs, X, n_others=7, random_state=0)
    of_pair = {
        frozenset(pair): side.weight[
            np.isin(side.triplets[:, 0], pair) & np.isin(side.triplets[:, 1], pair)
        ].sum()
        for pair in ([0, 1], [2, 3])
    }
    # Beside its own weight, each has half of the dissimilar pair's, through the point that it shares with it.
    assert of_pair[frozenset([0, 1])] == pytest.approx(2.0 + 0.5)
    assert of_pair[frozenset([2, 3])] == pytest.approx(5.0 + 0.5)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_margin_has_the_units_of_the_points(unit):
    pairs = Pairs([[0, 1], [2, 3]], n_points=40)
    side = Triplets.from_pairs(pairs, unit * X, margin=0.5, random_state=0)
    again = Triplets.from_pairs(pairs, csr_array(unit * X), margin=0.5, random_state=0)
    np.testing.assert_array_equal(side.triplets, again.triplets)
    i, _, k = np.repeat(side.triplets, np.round(side.weight * 10).astype(int), axis=0).T
    mean = np.mean(np.sum((X[i] - X[k]) ** 2, axis=1))
    assert side.margin == pytest.approx(0.5 * unit**2 * mean)
    assert again.margin == pytest.approx(side.margin)


def test_a_few_pairs_help_a_search_more_than_the_same_pairs_with_bounds():
    """Two of thirty features tell ten groups apart; new points shall find their own group."""
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.normal(size=(10, 2))
    y = rng.integers(10, size=800)
    points = rng.normal(size=(800, 30))
    points[:, :2] += centers[y]
    pairs = Pairs.from_labels(y[:400], 200, random_state=0)

    def precision(Z):
        distance = np.sum((Z[400:, None] - Z[None, :400]) ** 2, axis=2)
        nearest = np.argsort(distance, axis=1)[:, :10]
        return np.mean(y[:400][nearest] == y[400:, None])

    side = Triplets.from_pairs(pairs, points[:400], random_state=0)
    for price in (0.1, 1.0):  # a Hinge has one in units of 1 / margin
        learner = MetricLearner(C=price / side.margin, tol=1e-3).fit(points[:400], side=side)
        compared = precision(learner.transform(points))
        learner = MetricLearner(C=price, tol=1e-3).fit(points[:400], side=pairs)
        assert compared > precision(learner.transform(points)) > precision(points) + 0.03


REFUSED = [
    (lambda: Triplets.from_pairs([[0, 1]], X), TypeError, "`pairs` must be Pairs"),
    (lambda: Triplets.from_pairs(Pairs([[0, 1]], n_points=3), X), ValueError, "3 points"),
    (lambda: Triplets.from_pairs(Pairs(None, [[0, 1]], n_points=40), X), ValueError, "no similar"),
    (
        lambda: Triplets.from_pairs(Pairs([[0, 1]], n_points=40), X, n_others=0),
        ValueError,
        "`n_others` must be",
    ),
    (lambda: Triplets.from_pairs(Pairs([[0, 1]], n_points=2), X[:2]), ValueError, "leaves none"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED, ids=[m for _, _, m in REFUSED])
def test_what_cannot_be_is_refused_in_a_sentence(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
