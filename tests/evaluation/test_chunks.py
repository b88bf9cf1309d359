"""Read in chunks, statements score as they do in memory."""

from typing import Any

import numpy as np
import pytest

from gramlearn import MetricLearner, SemiSupervisedEmbedding
from gramlearn.evaluation.chunks import share_right_in_chunks
from gramlearn.evaluation.statements import share_right
from gramlearn.side_information import Pairs, StoredPairs, StoredTriplets, Triplets

N = 200
X = np.random.default_rng(0).normal(size=(N, 4))
Y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0.5)


def lengths_of(points: np.ndarray) -> Any:
    return lambda i, j: np.sum((points[i] - points[j]) ** 2, axis=1)


@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("has_weights", [False, True])
def test_pairs_score_as_in_memory_up_to_ties_of_a_bin(unit: float, has_weights: bool) -> None:
    pairs = Pairs.from_labels(Y, 4000, random_state=1)
    if has_weights:
        weights = np.random.default_rng(2).uniform(0.1, 5, size=(2, 2000))
        lists = pairs.similar, pairs.dissimilar
        pairs = Pairs(*lists, n_points=N, similar_weight=weights[0], dissimilar_weight=weights[1])
    lengths = lengths_of(unit * X)
    found = share_right_in_chunks(StoredPairs.of(pairs, 700), lengths)
    known = share_right(pairs, lengths)
    assert known > 0.6
    # A pair of 2000 x 2000 is in one bin about once in 4096 times, and is right half of these.
    assert found == pytest.approx(known, abs=1e-4)


def test_equal_distances_count_half() -> None:
    points = np.repeat(np.arange(4.0), 5)[:, None]
    pairs = Pairs.from_labels(np.arange(20) % 3, 60, random_state=0)
    lengths = lengths_of(points)
    found = share_right_in_chunks(StoredPairs.of(pairs, 7), lengths)
    assert found == pytest.approx(share_right(pairs, lengths), rel=1e-12)


def test_where_all_points_are_equal_every_pair_is_a_tie() -> None:
    pairs = Pairs.from_labels(Y, 100, random_state=0)
    assert share_right_in_chunks(StoredPairs.of(pairs, 30), lengths_of(0 * X)) == 0.5


@pytest.mark.parametrize("side", ["similar", "dissimilar"])
def test_pairs_of_one_kind_are_held_against_random_ones(side: str) -> None:
    lists = Pairs.from_labels(Y, 4000, random_state=1)
    pairs = Pairs(**{side: getattr(lists, side)}, n_points=N)
    known = share_right(pairs, lengths_of(X))
    found = share_right_in_chunks(StoredPairs.of(pairs, 700), lengths_of(X))
    assert known > 0.52
    # Each of 2000 pairs meets 20 others: other draws move the mean by 0.0025, one standard deviation.
    assert found == pytest.approx(known, abs=0.0125)


def test_triplets_score_as_in_memory() -> None:
    triplets = Triplets.from_labels(Y, 3000, random_state=1)
    weights = np.random.default_rng(2).uniform(0.1, 5, size=3000)
    for weight in (None, weights):
        given = Triplets(triplets.triplets, n_points=N, weight=weight)
        found = share_right_in_chunks(StoredTriplets.of(given, 700), lengths_of(X))
        assert found == pytest.approx(share_right(given, lengths_of(X)), rel=1e-12)


@pytest.mark.parametrize("learner", [MetricLearner(), SemiSupervisedEmbedding(n_components=2)])
def test_estimators_score_statements_in_chunks(learner: Any) -> None:
    pairs = Pairs.from_labels(Y, 400, random_state=1)
    learner.fit(X, side=pairs)
    known = learner.score(X, side=pairs)
    assert learner.score(X, side=StoredPairs.of(pairs, 90)) == pytest.approx(known, abs=1e-3)
    with pytest.raises(ValueError, match="n_points=200 but received 199"):
        learner.score(X[1:], side=StoredPairs.of(pairs))
