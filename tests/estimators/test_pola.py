"""POLA: the optimum over metric and threshold, by another solver."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import POLA, Bounds, Pairs
from oracles import ask, squared_norm

X = np.random.default_rng(0).standard_normal((30, 3))
Y = np.arange(30) % 2
SIDE = Pairs.from_labels(Y, 40, random_state=0)


@parametrize_with_checks([POLA(n_pairs=50)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("gamma", [0.01, 0.3])
def test_it_is_the_optimum_over_metric_and_threshold(gamma):
    model = POLA(gamma, tol=1e-8).fit(X, side=SIDE)
    W, b = cp.Variable((3, 3), PSD=True), cp.Variable()
    i, j, alike = SIDE.near_and_far()
    z = X[i] - X[j]
    d = cp.sum(cp.multiply(z @ W, z), axis=1)
    hinges = cp.pos(1 - cp.multiply(np.where(alike, 1.0, -1.0), b - d))
    objective = squared_norm(W) / 2 + cp.square(b) / 2 + gamma * cp.sum(hinges)
    optimum = ask(cp.Problem(cp.Minimize(objective), [b >= 1]))
    assert model.solution_.primal + 0.5 == pytest.approx(optimum, rel=1e-6)
    assert model.threshold_**2 == pytest.approx(float(b.value), abs=1e-4)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), W.value, atol=1e-3)


def test_more_features_than_points_are_learned_in_the_span_of_the_points():
    """Put isometrically into 50 dimensions, points have the same W there, and zero beside it."""
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(50, 3)))[0]
    few, many = (POLA(0.1, tol=1e-9).fit(points, side=SIDE) for points in (X, X @ Q.T + 5.0))
    assert many.solution_.primal == pytest.approx(few.solution_.primal, rel=1e-7)
    assert many.threshold_ == pytest.approx(few.threshold_, rel=1e-4)
    W = few.get_mahalanobis_matrix()
    np.testing.assert_allclose(many.get_mahalanobis_matrix(), Q @ W @ Q.T, atol=1e-4)


def test_the_threshold_separates_the_pairs():
    iris, species = load_iris(return_X_y=True)
    side = Pairs.from_labels(species, 300, random_state=0)
    model = POLA(0.1).fit(iris, side=side)
    i, j, alike = side.near_and_far()
    right = np.mean(model.predict((iris[i], iris[j])) == np.where(alike, 1, -1))
    assert right > 0.85
    L = model.components_
    np.testing.assert_allclose(model.transform(iris), iris @ L.T, atol=1e-10)


def test_of_bounds_only_upper_or_lower_counts():
    pairs = Pairs([[0, 1]], [[2, 3]], n_points=30)
    bounds = Bounds([0, 2], [1, 3], upper=[5.0, np.inf], lower=[0.0, 7.0], n_points=30)
    one, two = (POLA().fit(X, side=side).components_ for side in (pairs, bounds))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_bad_input_raises_a_clear_error():
    with pytest.raises(ValueError, match="C must be positive"):
        POLA(0.0).fit(X, Y)
    with pytest.raises(ValueError, match="made for 30 points but received 9 rows"):
        POLA().fit(X[:9], side=SIDE)
