"""Of very many pairs some tell what is a statistic; all of them make the metric, in whatever order they are."""

import numpy as np
import pytest
from sklearn.base import clone

from gramlearn import MetricLearner, Pairs

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
