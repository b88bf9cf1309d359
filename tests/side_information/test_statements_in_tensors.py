"""Statements in tensors are those in NumPy arrays to whatever asks them; points may be tensors, too."""

import numpy as np
import pytest

from gramlearn import Bounds, MetricLearner, OnlineMetricLearner, Pairs, Triplets
from gramlearn.side_information import pairs_to_ask, select_pairs

pytestmark = pytest.mark.usefixtures("tensors_stay")
N, D = 30, 4
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
X = RNG.normal(size=(N, D)) + Y[:, None]
PAIRS = Pairs.from_labels(Y, 40, random_state=0)
TRIPLETS = Triplets.from_labels(Y, 40, random_state=0)
BOUNDS = Bounds([0, 1, 2], [3, 5, 7], upper=[1.0, 2.0, 9.0], lower=[0.0, 0.5, 8.0], n_points=N)


def moved(other, side):
    """The same statements as arrays of that library."""
    if isinstance(side, Pairs):
        return Pairs(other.index(side.similar), other.index(side.dissimilar), n_points=N)
    if isinstance(side, Triplets):
        return Triplets(other.index(side.triplets), n_points=N)
    numbers = {name: other.array(getattr(side, name)) for name in ("upper", "lower")}
    return Bounds(other.index(side.i), other.index(side.j), n_points=N, **numbers)


def points_of(other, side):
    return other.numpy(side.statement_points())


@pytest.mark.parametrize("side", [PAIRS, TRIPLETS, BOUNDS], ids=repr)
def test_a_mask_in_host_memory_leaves_statements_out(other, side):
    mask = np.arange(side.size) % 3 == 1
    found = points_of(other, moved(other, side).drop(mask))
    np.testing.assert_array_equal(found, side.drop(mask).statement_points())


@pytest.mark.parametrize("side", [PAIRS, TRIPLETS, BOUNDS], ids=repr)
def test_masks_and_rows_in_tensors_are_for_statements_in_tensors(other, side):
    mask = np.arange(side.size) % 3 == 1
    with pytest.raises(
        TypeError, match=r"`mask` is a \S+ and the row numbers of the statements a nu"
    ):
        side.drop(other.array(mask, "bool"))
    with pytest.raises(
        TypeError, match=r"`rows` is a \S+ and the row numbers of the statements a nu"
    ):
        side.keep_points(other.index(np.arange(N)))
    with pytest.raises(TypeError, match="If they are whole, pass them as int64"):
        Pairs(other.array([[0.0, 1.0]]), n_points=N)


@pytest.mark.parametrize("side", [PAIRS, TRIPLETS, BOUNDS], ids=repr)
def test_a_metric_is_scored_by_statements_in_tensors(other, side):
    here = MetricLearner(C=1.0, random_state=0).fit(X, Y)
    there = MetricLearner(C=1.0, random_state=0).fit(other.array(X), Y)
    found = there.score(other.array(X), side=moved(other, side))
    assert found == pytest.approx(here.score(X, side=side))


def test_pairs_alike_are_scored_against_random_ones(other):
    alike = Pairs(other.index(PAIRS.similar), n_points=N)
    here = MetricLearner(C=1.0, random_state=0).fit(X, Y)
    there = MetricLearner(C=1.0, random_state=0).fit(other.array(X), Y)
    expected = here.score(X, side=Pairs(PAIRS.similar, n_points=N))
    assert there.score(other.array(X), side=alike) == pytest.approx(expected)


@pytest.mark.parametrize("side", [PAIRS, BOUNDS], ids=repr)
def test_a_stream_follows_statements_in_tensors(other, side):
    here = OnlineMetricLearner().fit(X, side=side)
    there = OnlineMetricLearner().fit(other.array(X), side=moved(other, side))
    np.testing.assert_allclose(other.numpy(there.components_), here.components_, rtol=1e-8)


@pytest.mark.parametrize("first", [PAIRS, TRIPLETS], ids=repr)
def test_statements_in_tensors_follow_those_in_host_memory(other, first):
    more = type(first).from_labels(Y, 20, random_state=1)
    here = MetricLearner(C=1.0, tol=1e-9).fit(X, side=first).partial_fit(X, side=more)
    there = MetricLearner(C=1.0, tol=1e-9).fit(other.array(X), side=first)
    there.partial_fit(other.array(X), side=moved(other, more))
    there.partial_fit(other.array(X), side=more)
    here.partial_fit(X, side=more)
    np.testing.assert_allclose(other.numpy(there.components_), here.components_, atol=1e-5)


def test_bounds_relative_to_points_in_tensors_lie_where_the_pairs_do(other):
    expected = PAIRS.with_relative_bounds(X)
    here, there = (
        side.with_relative_bounds(other.array(X)) for side in (PAIRS, moved(other, PAIRS))
    )
    np.testing.assert_allclose(here.upper, expected.upper)
    np.testing.assert_allclose(other.numpy(there.lower), expected.lower)


def test_lists_of_tensors_on_a_gpu_say_what_to_pass():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for rows in ([torch.tensor([0, 1])], [[torch.tensor(0), torch.tensor(1)]]):
        with pytest.raises(TypeError, match=r"`similar` is a list of torch arrays; pass one array"):
            Pairs(rows, n_points=N)


def test_comparisons_are_drawn_from_pairs_in_tensors(other):
    here = Triplets.from_pairs(PAIRS, X, random_state=0)
    there = Triplets.from_pairs(moved(other, PAIRS), other.array(X), random_state=0)
    np.testing.assert_array_equal(there.triplets, here.triplets)


def test_pairs_in_tensors_are_chosen_and_are_not_asked_again(other):
    there = moved(other, PAIRS)
    found = points_of(other, select_pairs(there, other.array(X), 10))
    np.testing.assert_array_equal(found, select_pairs(PAIRS, X, 10).statement_points())
    asked = pairs_to_ask(other.array(X), 5, known=there, random_state=0)
    np.testing.assert_array_equal(asked, pairs_to_ask(X, 5, known=PAIRS, random_state=0))
