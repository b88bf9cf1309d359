"""Of very many pairs some tell what is a statistic; all of them make the metric, in whatever order they are."""

import numpy as np
import pytest
from sklearn.base import clone

from gramlearn import MetricLearner, Pairs, Triplets
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import OfStatements, differences_of_alike

N, D = 400, 3
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D)) * [1.0, 2.0, 0.5]
y = (X[:, 0] + 0.3 * RNG.standard_normal(N) > 0).astype(int)
ROWS = RNG.integers(0, N, (30_000, 2))
ROWS = ROWS[ROWS[:, 0] != ROWS[:, 1]]
ALIKE = y[ROWS[:, 0]] == y[ROWS[:, 1]]
PAIRS = Pairs(ROWS[ALIKE], ROWS[~ALIKE], n_points=N)  # many of them more than once


def share_right(learner: MetricLearner) -> float:
    """How often "alike is what is no farther apart than the threshold" is right."""
    near = learner.pair_distance((X[ROWS[:, 0]], X[ROWS[:, 1]])) <= learner.threshold_
    return float(np.mean(near == ALIKE))


def test_the_order_of_pairs_and_of_their_points_does_not_matter() -> None:
    order = RNG.permutation(len(ROWS))
    rows, alike = ROWS[order, ::-1], ALIKE[order]
    other = Pairs(rows[alike], rows[~alike], n_points=N)
    assert other.size == PAIRS.size
    learner = MetricLearner(C=0.1, bounds=(2.0, 8.0), tol=1e-9)
    one, two = (clone(learner).fit(X, side=side) for side in (PAIRS, other))
    assert two.solution_.primal == pytest.approx(one.solution_.primal, rel=2e-9)
    assert two.components_ == pytest.approx(one.components_, abs=1e-4)
    assert two.threshold_ == pytest.approx(one.threshold_, rel=1e-4)


def test_a_sample_finds_a_threshold_that_is_right_as_often(monkeypatch) -> None:
    """A sample of m pairs tells shares to about a root of 1/m, and the best of them to twice that."""
    learner = MetricLearner(C=0.1, bounds=(2.0, 8.0))
    every = clone(learner).fit(X, side=PAIRS)
    monkeypatch.setattr("gramlearn.methods.metric.fitting._MEASURED", 4000)
    some = clone(learner).fit(X, side=PAIRS)
    assert some.solution_.primal == every.solution_.primal
    assert some.threshold_ != every.threshold_
    assert abs(share_right(some) - share_right(every)) < 2 / np.sqrt(4000)


def test_a_choice_is_made_with_some_of_very_many_statements(monkeypatch) -> None:
    """Those are drawn at random, so that the choice is as good and the metric that of all statements."""
    every = MetricLearner(random_state=0).fit(X, side=PAIRS)
    monkeypatch.setattr("gramlearn.methods.choosing.tasks._CHOSEN_WITH", 3000)
    some = MetricLearner(random_state=0).fit(X, side=PAIRS)
    for learner, count in ((every, PAIRS.size), (some, 3000)):
        held = int(learner.verdict_.split(" held back")[0].split()[-1].replace(",", ""))
        assert count / 8 <= held <= count / 2
        assert "helps" in learner.verdict_
    assert some.score(X, side=PAIRS) == pytest.approx(every.score(X, side=PAIRS), abs=0.01)
    assert some.solution_.relative_gap <= 1e-6
    assert some.learned_from_ == every.learned_from_


def test_what_a_choice_is_made_with_are_statements_about_the_same_points(monkeypatch) -> None:
    monkeypatch.setattr("gramlearn.methods.choosing.tasks._CHOSEN_WITH", 40)
    task = OfStatements(Places(X), PAIRS, [])
    for all_points in (False, True):
        some = task.to_choose(np.random.default_rng(0), all_points=all_points)
        places, side = some.places(None), some.whole
        assert side.size == 40
        assert (places.n_points == N) == all_points
        assert all_points or places.n_points == len(side.involved())
        for drawn, given in (
            (side.similar, PAIRS.similar),
            (side.dissimilar, PAIRS.dissimilar),
        ):
            points = places.coordinates[drawn].reshape(len(drawn), -1).tolist()
            known = X[given].reshape(len(given), -1).tolist()
            assert all(row in known for row in points)
    few = OfStatements(Places(X), PAIRS.drop(np.arange(PAIRS.size) >= 40), [])
    assert few.to_choose(np.random.default_rng(0), all_points=False) is few


@pytest.mark.parametrize("n_similar", [10, 300, 3000])
@pytest.mark.parametrize("n_dissimilar", [0, 300, 3000])
def test_comparisons_of_very_many_pairs_are_as_many_as_tell_a_metric(
    n_similar, n_dissimilar, monkeypatch
) -> None:
    """Of pairs with few comparisons there are all, as `from_pairs` makes them."""
    module = "gramlearn.methods.choosing.tasks."
    monkeypatch.setattr(module + "_PER_ENTRY", 10)
    monkeypatch.setattr(module + "_COMPARISONS", 4000)
    pairs = Pairs(PAIRS.similar[:n_similar], PAIRS.dissimilar[:n_dissimilar], n_points=N)
    task = OfStatements(Places(X), pairs, [])
    found = task.statements("others", pairs, X, np.random.default_rng(0))
    whole = Triplets.from_pairs(pairs, X, 5, random_state=np.random.default_rng(0))
    if whole.size <= 4000:
        np.testing.assert_array_equal(found.triplets, whole.triplets)
    assert min(whole.size, 1000) <= found.size <= 4000
    # Each list weighs as much, by however many comparisons: those of dissimilar pairs where points have mates.
    assert found.weights().sum() == pytest.approx(whole.weights().sum(), rel=0.1)


def test_some_alike_pairs_tell_how_far_alike_points_lie_apart(monkeypatch) -> None:
    """The second moments of m differences are off by a root of 2/m, of Gaussian ones."""
    every = differences_of_alike(X, PAIRS)
    monkeypatch.setattr("gramlearn.methods.choosing.tasks._ALIKE", 2000)
    some = differences_of_alike(X, PAIRS)
    assert 1000 < len(some) <= 2000
    np.testing.assert_allclose(
        np.mean(some**2, axis=0), np.mean(every**2, axis=0), rtol=5 * np.sqrt(2 / len(some))
    )
