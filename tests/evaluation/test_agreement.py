"""How far clusters and classes agree: what K09 7.1 and Z11 7.2 define, and what other libraries compute."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score, rand_score

from gramlearn.evaluation import normalized_mutual_information, pair_accuracy


def by_definition(labels: np.ndarray, clusters: np.ndarray) -> float:
    """I(C; K) = H(C) - H(C | K), each entropy written out."""

    def entropy(values: np.ndarray) -> float:
        shares = [np.mean(values == value) for value in set(values.tolist())]
        return -sum(p * np.log(p) for p in shares)

    conditional = sum(
        np.mean(labels == k) * entropy(clusters[labels == k]) for k in set(labels.tolist())
    )
    H_C, H_K = entropy(clusters), entropy(labels)
    return (H_C - conditional) / ((H_C + H_K) / 2)


LABELED = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=40)


@given(LABELED)
def test_nmi_is_that_of_another_library(pairs: list[tuple[int, int]]) -> None:
    labels, clusters = np.asarray(pairs).T
    expected = normalized_mutual_info_score(labels, clusters, average_method="arithmetic")
    assert normalized_mutual_information(labels, clusters) == pytest.approx(expected, abs=1e-12)
    assert normalized_mutual_information(clusters, labels) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_nmi_is_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(0, 3, 50), rng.integers(0, 5, 50)
    assert normalized_mutual_information(labels, clusters) == pytest.approx(
        by_definition(labels, clusters), abs=1e-13
    )


@pytest.mark.parametrize(
    ("labels", "clusters", "expected"),
    [
        ([0, 0, 1, 1], [5, 5, 2, 2], 1.0),  # names do not matter
        (["a", "a", "b"], ["x", "x", "y"], 1.0),
        ([0, 0, 1, 1], [0, 1, 0, 1], 0.0),  # independent
        ([0, 0, 1, 1], [0, 0, 0, 0], 0.0),  # one cluster says nothing of two classes
        ([0, 0, 0], [0, 1, 2], 0.0),
        ([0, 0, 0], [7, 7, 7], 1.0),  # 0 / 0: the two agree
        ([3], [1], 1.0),
        ([0, 0, 1, 1], [0, 1, 2, 3], 2 / 3),  # I = log 2, H(C) = log 4, H(K) = log 2
    ],
)
def test_nmi_is_zero_or_one_at_the_extremes(labels: list, clusters: list, expected: float) -> None:
    assert normalized_mutual_information(labels, clusters) == pytest.approx(expected, abs=1e-14)


@given(LABELED.filter(lambda pairs: len(pairs) > 1))
def test_pair_accuracy_is_the_share_of_pairs_that_agree(pairs: list[tuple[int, int]]) -> None:
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


# -- what is refused -------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "lengths": (
        lambda: normalized_mutual_information([0, 1], [0, 1, 1]),
        "`labels` has 2 entries and `clusters` has 3",
    ),
    "lengths, of pairs": (
        lambda: pair_accuracy([0, 1], [0, 1, 2]),
        "`labels` has 2 entries and `clusters` has 3",
    ),
    "no labels": (lambda: normalized_mutual_information([], []), "`labels` must be a vector"),
    "table": (lambda: normalized_mutual_information([0], [[0]]), "`clusters` must be a vector"),
    "labels of two types": (
        lambda: normalized_mutual_information(np.array(["a", None], dtype=object), [0, 1]),
        "`labels` mixes labels",
    ),
    "no label": (
        lambda: normalized_mutual_information([0.0, np.nan], [0, 1]),
        "`labels` contains NaN",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_raises_a_clear_error(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        call()
