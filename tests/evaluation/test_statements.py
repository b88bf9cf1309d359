"""The share of what is known that comes out right, against other formulas of it, and in the limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from gramlearn import Bounds, Pairs, Triplets
from gramlearn.evaluation.statements import (
    bound_scores,
    neighbors_right,
    share_right,
    statement_scores,
)

N = 30


def lengths_of(points):
    return lambda i, j: np.sum((points[i] - points[j]) ** 2, axis=1)


def sides(rng):
    """One of each kind, weighted."""
    i, j = np.triu_indices(N, 1)
    rows = rng.permutation(len(i))[:40]
    pairs = np.stack([i, j], axis=1)[rows]
    weight = rng.integers(1, 4, size=40).astype(float)
    table = np.stack([rng.permutation(N)[:3] for _ in range(40)])
    return {
        "pairs": Pairs(
            pairs[:25],
            pairs[25:],
            n_points=N,
            similar_weight=weight[:25],
            dissimilar_weight=weight[25:],
        ),
        "similar": Pairs(pairs, n_points=N, similar_weight=weight),
        "dissimilar": Pairs(None, pairs, n_points=N, dissimilar_weight=weight),
        "triplets": Triplets(table, n_points=N, weight=weight),
        "bounds": Bounds(*pairs.T, upper=3.0, lower=1.0, n_points=N, weight=weight),
    }


KINDS = list(sides(np.random.default_rng(0)))


@given(seed=st.integers(0, 1000))
def test_of_pairs_it_is_the_weighted_area_under_the_roc_curve(seed):
    rng = np.random.default_rng(seed)
    side = sides(rng)["pairs"]
    # Whole coordinates, so that many distances are equal.
    d = lengths_of(rng.integers(3, size=(N, 2)).astype(float))
    i, j, alike = side.near_and_far()
    expected = roc_auc_score(alike, -d(i, j), sample_weight=side.weights())
    assert share_right(side, d) == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 1000))
def test_the_two_kinds_of_pairs_have_the_same_mean(seed):
    rng = np.random.default_rng(seed)
    side = sides(rng)["pairs"]
    scores = statement_scores(side, lengths_of(rng.normal(size=(N, 2))))
    near, far = (
        np.average(scores[rows], weights=side.weights()[rows])
        for rows in (slice(25), slice(25, None))
    )
    assert near == pytest.approx(far, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-6, 2.0, 1e8]))
def test_a_weight_of_two_counts_as_two_statements_and_units_count_nothing(kind, seed, scale):
    rng = np.random.default_rng(seed)
    side = sides(rng)[kind]
    d = lengths_of(rng.normal(size=(N, 2)))
    scores, weights = statement_scores(side, d), side.weights()
    assert np.all((scores >= 0) & (scores <= 1))
    expected = np.repeat(scores, weights.astype(int)).mean()
    assert share_right(side, d) == pytest.approx(expected, abs=1e-12)
    if kind != "bounds":
        assert share_right(side, lambda i, j: scale * d(i, j)) == pytest.approx(
            share_right(side, d), abs=1e-12
        )


@pytest.mark.parametrize("kind", ["pairs", "triplets", "similar", "dissimilar"])
def test_equal_distances_score_a_half_and_opposite_ones_the_rest(kind):
    rng = np.random.default_rng(0)
    side = sides(rng)[kind]
    assert share_right(side, lambda i, j: np.ones(len(i))) == 0.5
    d = lengths_of(rng.normal(size=(N, 2)))
    opposite = share_right(side, lambda i, j: 1 / d(i, j))
    assert share_right(side, d) + opposite == pytest.approx(1.0, abs=1e-12)
    assert share_right(side, d) != pytest.approx(0.5, abs=1e-3)


def test_pairs_of_one_kind_are_held_against_others_at_random():
    """Points in two heaps far apart: a similar pair within one is nearer than half of all others, or equal."""
    points = np.repeat([[0.0], [9.0]], 50, axis=0) + np.random.default_rng(0).normal(size=(100, 1))
    within = Pairs([[k, k + 1] for k in range(0, 100, 2)], n_points=100)
    between = Pairs(None, [[k, k + 50] for k in range(50)], n_points=100)
    d = lengths_of(points)
    assert share_right(within, d) > 0.7
    assert share_right(between, d) > 0.7
    assert share_right(Pairs([[0, 1]], n_points=2), d) == 0.5  # there are no others


def test_a_bound_is_kept_or_missed_by_a_ratio():
    d = np.asarray([0.0, 1.0, 2.0, 3.0, 6.0, 0.5, 0.0])
    upper = np.asarray([1.0, 1.0, 3.0, 3.0, 3.0, np.inf, np.inf])
    lower = np.asarray([0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    # Too far by twice, too near by half, and at no distance at all.
    expected = [1, 1, 1, 1, 3 / 6, 0.5 / 1, 0]
    np.testing.assert_allclose(bound_scores(d, upper, lower), expected, rtol=1e-15)


@given(seed=st.integers(0, 1000))
def test_neighbors_are_those_that_scikit_learn_finds_without_the_point(seed):
    rng = np.random.default_rng(seed)
    points, classes = rng.normal(size=(N, 3)), rng.permutation(np.arange(N) % 3)
    expected = []
    for k in range(N):
        others = np.arange(N) != k
        voters = KNeighborsClassifier(5).fit(points[others], classes[others])
        near = classes[others][voters.kneighbors(points[[k]])[1][0]]
        vote = voters.predict(points[[k]])[0]
        shares = near[0] == classes[k], vote == classes[k], 2 * np.mean(near == classes[k])
        expected.append(sum(float(share) for share in shares) / 4)
    assert neighbors_right(points, classes) == pytest.approx(np.mean(expected), abs=1e-12)
    assert neighbors_right(csr_array(points), classes) == neighbors_right(points, classes)


def test_many_points_are_scored_in_blocks_by_a_part_of_them():
    rng = np.random.default_rng(0)
    classes = np.arange(3100) % 2
    points = (classes + 0.4 * rng.normal(size=3100))[:, None]
    d = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(d, np.inf)
    near = (classes[np.argsort(d, axis=1)[:, :5]] == classes[:, None]).astype(float)
    every = (near[:, 0] + (near.sum(axis=1) > 2) + 2 * near.mean(axis=1)) / 4
    # 3000 of 3100 points: their mean is within a few standard errors of the rest.
    assert neighbors_right(points, classes) == pytest.approx(every.mean(), abs=5e-3)
    assert neighbors_right(points, classes) < 0.99


def test_a_point_far_from_all_others_leaves_their_neighbors_as_they_are():
    rng = np.random.default_rng(0)
    points, classes = rng.standard_normal((N, 3)), np.arange(N) % 3
    # The same for all but the far one: it is no neighbor of theirs, at whatever distance.
    found = [
        neighbors_right(np.vstack([points, np.full(3, far)]), np.append(classes, 0))
        for far in (1e2, 1e9)
    ]
    assert found[0] == found[1]
