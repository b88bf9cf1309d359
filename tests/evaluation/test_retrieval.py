"""Retrieval scores, against scikit-learn, against all orders of ties, and where they are known."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from conftest import Library
from gramlearn.evaluation import average_precision, recall_at_k


def drawn(n_values: int, q: int = 20, n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Distances of so many values, hence with ties, and what is relevant, at least one point a query."""
    rng = np.random.default_rng(n_values)
    relevant = rng.random((q, n)) < 0.3
    relevant[np.arange(q), rng.integers(n, size=q)] = True
    return rng.integers(n_values, size=(q, n)).astype(float), relevant


@pytest.mark.parametrize("n_values", [2, 5, 10_000])
def test_average_precision_is_that_of_scikit_learn(n_values: int) -> None:
    distances, relevant = drawn(n_values)
    expected = [average_precision_score(r, -d) for d, r in zip(distances, relevant, strict=True)]
    np.testing.assert_allclose(average_precision(distances, relevant), expected, rtol=1e-13)


@pytest.mark.parametrize("n_values", [2, 3, 10_000])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_recall_is_the_mean_over_all_orders_of_ties(k: int, n_values: int) -> None:
    distances, relevant = drawn(n_values, q=8, n=5)
    for d, r, recall in zip(distances, relevant, recall_at_k(distances, relevant, k), strict=True):
        orders = [p for p in map(list, permutations(range(5))) if np.all(np.diff(d[p]) >= 0)]
        expected = np.mean([r[p[:k]].sum() for p in orders]) / min(k, r.sum())
        assert recall == pytest.approx(expected, rel=1e-13)


def test_a_perfect_search_scores_one_and_the_worst_what_its_places_give() -> None:
    distances = np.arange(10.0)[None, :]
    nearest, farthest = (distances < 3), (distances > 6)
    for k in (1, 3, 10, 50):
        assert recall_at_k(distances, nearest, k)[0] == 1.0
    assert average_precision(distances, nearest)[0] == 1.0
    assert recall_at_k(distances, farthest, 7)[0] == 0.0
    assert recall_at_k(distances, farthest, 8)[0] == pytest.approx(1 / 3)
    assert average_precision(distances, farthest)[0] == pytest.approx((1 / 8 + 2 / 9 + 3 / 10) / 3)


@pytest.mark.parametrize("score", [average_precision, recall_at_k])
def test_infinitely_far_is_left_out(score: Any) -> None:
    distances, relevant = drawn(5)
    relevant[:, :2] = True
    without = score(distances[:, 1:], relevant[:, 1:])
    distances[:, 0] = np.inf
    np.testing.assert_allclose(score(distances, relevant), without, rtol=1e-13)
    # With fewer points than k, all are found.
    assert np.all(recall_at_k(distances, relevant, 12) == 1.0)


def test_only_the_order_of_distances_matters_and_nothing_is_changed(library: Library) -> None:
    distances, relevant = drawn(5)
    before = distances.copy()
    for score in (average_precision, recall_at_k):
        plain = score(distances, relevant)
        squared = score(library.array(distances**2), relevant)
        np.testing.assert_array_equal(plain, squared)
        np.testing.assert_array_equal(plain, score(distances - 7.0, relevant))
    np.testing.assert_array_equal(distances, before)


@pytest.mark.parametrize(
    ("distances", "relevant", "error", "words"),
    [
        ([1.0, 2.0], [True, False], ValueError, r"`distances` must .* got shape \(2,\)"),
        ([[1.0, 2.0]], [[True]], ValueError, r"`relevant` has shape \(1, 1\), but .* \(1, 2\)"),
        ([[1.0, 2.0]], [[1, 0]], TypeError, "`relevant` must hold booleans; got dtype int64"),
        ([[0.0, 1.0], [np.nan, 1.0]], np.ones((2, 2), bool), ValueError, "NaN .*first in row 1"),
        ([[0.0, -np.inf]], [[True, True]], ValueError, "NaN or -inf"),
        ([[0.0, 1.0]], [[False, False]], ValueError, "nothing is `relevant` to query 0"),
        ([[np.inf, 1.0]], [[True, False]], ValueError, "nothing is `relevant` to query 0"),
    ],
)
def test_bad_input_raises_a_clear_error(
    distances: Any, relevant: Any, error: type, words: str
) -> None:
    for score in (average_precision, recall_at_k):
        with pytest.raises(error, match=words):
            score(distances, relevant)


def test_k_is_a_count() -> None:
    with pytest.raises(ValueError, match="`k` must be a whole number of at least 1; got 0"):
        recall_at_k([[0.0, 1.0]], [[True, False]], k=0)
