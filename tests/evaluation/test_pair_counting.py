"""The accuracy of Z11 7.2 is what its formula says pair by pair, and the Rand index of another library."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import rand_score

from gramlearn import pair_accuracy

LABELED = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=2, max_size=30)


@given(LABELED)
def test_it_is_the_share_of_pairs_that_agree(pairs: list[tuple[int, int]]) -> None:
    labels, clusters = np.asarray(pairs).T
    agree = [
        (labels[i] == labels[j]) == (clusters[i] == clusters[j])
        for i, j in combinations(range(len(pairs)), 2)
    ]
    assert pair_accuracy(labels, clusters) == pytest.approx(np.mean(agree), abs=1e-14)
    assert pair_accuracy(clusters, labels) == pair_accuracy(labels, clusters)
    assert pair_accuracy(labels, clusters) == pytest.approx(rand_score(labels, clusters), abs=1e-14)


def test_many_points_are_counted_without_their_pairs() -> None:
    rng = np.random.default_rng(0)
    labels, clusters = rng.integers(0, 3, 10**6), rng.integers(0, 5, 10**6)
    expected = 1 / 3 * 1 / 5 + 2 / 3 * 4 / 5  # independent: together in both, or apart in both
    assert pair_accuracy(labels, clusters) == pytest.approx(expected, abs=1e-3)


def test_names_do_not_matter_and_one_point_has_no_pairs() -> None:
    assert pair_accuracy(["a", "a", "b"], [7, 7, 2]) == 1.0
    assert pair_accuracy([0, 0, 1], [0, 1, 1]) == pytest.approx(1 / 3)
    assert pair_accuracy([3], ["x"]) == 1.0


def test_vectors_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="`labels` has 2 entries and `clusters` has 3"):
        pair_accuracy([0, 1], [0, 1, 2])
