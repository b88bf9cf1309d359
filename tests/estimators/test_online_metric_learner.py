"""OnlineMetricLearner: every step is the optimum of its problem, by the solver of the core."""

import numpy as np
import pytest
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Square
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import LogDet, OnlineMetricLearner, Problem, Term, solve
from gramlearn.estimators.online_metric_learner import new_squared_distance

RNG = np.random.default_rng(0)
TRUE = np.diag([4.0, 1.0, 0.25])


def stream(m, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    pairs = rng.standard_normal((m, 2, 3))
    z = pairs[:, 0] - pairs[:, 1]
    y = np.einsum("ki,ij,kj->k", z, TRUE, z)
    return pairs, np.maximum(y + noise * rng.standard_normal(m), 0.0)


@parametrize_with_checks([OnlineMetricLearner()])
@pytest.mark.filterwarnings("ignore:`y` holds the whole numbers:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 10.0])
def test_a_step_is_the_optimum_of_its_problem(eta):
    """argmin D(W, W_t) + eta/2 (z'Wz - y)^2, with a W_t that is not the identity."""
    pairs, y = stream(6)
    learner = OnlineMetricLearner(eta).fit(pairs[:5], y[:5])
    before = learner.get_mahalanobis_matrix()
    points = pairs[5]
    term = Term(SquaredDistances([0], [1], points=points), Square(eta, equal=float(y[5])))
    expected = solve(Problem(LogDet(), before, [term]), tol=1e-10)
    learner.partial_fit(pairs[5:], y[5:])
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected.matrix, rtol=1e-5)


@given(*[st.floats(1e-8, 1e8)] * 3)
def test_the_new_distance_lies_between_the_old_and_the_target(p, y, eta):
    s = new_squared_distance(p, y, eta)
    assert min(p, y) * (1 - 1e-12) <= s <= max(p, y) * (1 + 1e-12)
    # Both sides are differences, known to the rounding of their terms.
    rounding = 1e-12 * (1 / s + 1 / p + eta * (s + y))
    assert 1 / s - 1 / p == pytest.approx(eta * (s - y), abs=rounding)


def test_it_stays_positive_definite_and_finds_the_metric():
    pairs, y = stream(20_000)
    learner = OnlineMetricLearner(eta=0.05).fit(pairs, y)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), TRUE, atol=1e-3)
    wild = OnlineMetricLearner(eta=1e6).fit(pairs, y[::-1].copy())
    assert np.linalg.eigvalsh(wild.get_mahalanobis_matrix())[0] > 0


def test_its_average_loss_approaches_that_of_the_best_metric():
    pairs, y = stream(20_000, noise=1.0)
    learner = OnlineMetricLearner(eta=3e-4).fit(pairs, y)
    z = pairs[:, 0] - pairs[:, 1]
    best = np.mean((np.einsum("ki,ij,kj->k", z, TRUE, z) - y) ** 2 / 2)
    regret = learner.losses_ - best
    assert regret[:200].mean() > 10 * regret[-10_000:].mean()
    assert learner.losses_[-10_000:].mean() < 1.1 * best


def test_pieces_of_a_stream_are_the_stream():
    pairs, y = stream(50)
    whole = OnlineMetricLearner().fit(pairs, y)
    pieces = OnlineMetricLearner().partial_fit(pairs[:20], y[:20])
    kept = pieces.get_mahalanobis_matrix()
    pieces.partial_fit(pairs[20:, 0] - pairs[20:, 1], y[20:])
    np.testing.assert_allclose(
        pieces.get_mahalanobis_matrix(), whole.get_mahalanobis_matrix(), rtol=1e-10
    )
    assert pieces.n_pairs_seen_ == 50
    assert not np.allclose(kept, pieces.get_mahalanobis_matrix())
    L = whole.components_
    np.testing.assert_allclose(L.T @ L, whole.get_mahalanobis_matrix(), rtol=1e-10)
    np.testing.assert_allclose(
        whole.pair_distance(pairs) ** 2,
        ((whole.transform(pairs[:, 0]) - whole.transform(pairs[:, 1])) ** 2).sum(1),
        rtol=1e-9,
    )


def test_a_fit_that_fails_changes_nothing():
    pairs, y = stream(5)
    learner = OnlineMetricLearner().fit(pairs, y)
    before = learner.get_mahalanobis_matrix()
    with pytest.raises(ValueError, match="at least 0"):
        learner.fit(pairs, -1.0 - y)
    np.testing.assert_array_equal(before, learner.get_mahalanobis_matrix())
    assert not hasattr(learner, "predict")
    learner.calibrate_threshold(pairs, [1, -1, 1, -1, 1])
    assert learner.predict(pairs).shape == (5,)


def test_whole_numbers_that_may_be_labels_are_asked_about():
    pairs, _ = stream(6)
    with pytest.warns(UserWarning, match="whole numbers 0 to 1, as labels do"):
        OnlineMetricLearner().fit(pairs, [0, 1, 1, 0, 1, 0])
    OnlineMetricLearner().fit(pairs, [0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    OnlineMetricLearner().fit(pairs, [4, 1, 9, 16, 4, 1])
    OnlineMetricLearner().fit(np.asarray([[1, 2], [3, -1]]), [1.0, 4.0])


REFUSED = [
    (
        lambda p, y: OnlineMetricLearner().fit(np.asarray([[0, 1], [2, 3]]), [1.0, 4.0]),
        "as row numbers of pairs are; pass the points themselves",
    ),
    (lambda p, y: OnlineMetricLearner().fit(p, y > 1), "`y` holds labels"),
    (lambda p, y: OnlineMetricLearner().fit(p, ["a"] * 5), "`y` holds labels"),
    (lambda p, y: OnlineMetricLearner().fit(p, [1, -1, 1, -1, 1]), "Where 1 and -1 say"),
    (
        lambda p, y: OnlineMetricLearner(eta=1.0).fit(np.full((3, 2), 1e160), np.full(3, 1e100)),
        "too large for double precision",
    ),
    (lambda p, y: OnlineMetricLearner(eta=0.0).fit(p, y), "eta must be positive"),
    (lambda p, y: OnlineMetricLearner().fit(p, -1.0 - y), "at least 0"),
    (lambda p, y: OnlineMetricLearner().fit(p[:, :1], y), r"pairs have the shape \(m, 2, d\)"),
    (lambda p, y: OnlineMetricLearner(prior="inverse_covariance").fit(p, y), "has no covariance"),
    (lambda p, y: OnlineMetricLearner(prior=-np.eye(3)).fit(p, y), "not positive semidefinite"),
    (lambda p, y: OnlineMetricLearner(prior=np.eye(2)).fit(p, y), "but X has 3 features"),
    (lambda p, y: OnlineMetricLearner().fit(p, y).partial_fit(p[..., :2], y), "2 features"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call(*stream(5))


@pytest.mark.parametrize("prior", [np.zeros((3, 3)), np.diag([1.0, 2.0, 0.0]), np.ones((3, 3))])
def test_a_prior_that_is_not_positive_definite_is_refused(prior):
    sentence = "`prior` is (not positive definite|zero)"
    with pytest.raises(ValueError, match=sentence):
        OnlineMetricLearner(prior=prior).fit(*stream(5))
