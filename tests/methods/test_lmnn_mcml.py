"""LMNN and MCML as semidefinite programs: the optimum of another solver, and the ends they are made for."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from gramlearn import Status, solve
from gramlearn.methods import collapsing_classes_problem, large_margin_problem
from oracles import ask

X = np.random.default_rng(0).standard_normal((24, 3)) * [3.0, 1.0, 1.0]
Y = (X[:, 1] > 0).astype(int)


def values(term, W):
    """The t of a term at W, an expression."""
    c = term.constraints
    P = np.asarray(c.points)

    def d(a, b):
        z = P[a] - P[b]
        return cp.sum(cp.multiply(z @ W, z), axis=1)

    if hasattr(c, "k"):
        return d(c.i, c.j) - d(c.i, c.k)
    return d(c.i, c.j)


@pytest.mark.parametrize(
    "problem",
    [
        large_margin_problem(X, Y, n_impostors=24, logdet_price=0.2),
        collapsing_classes_problem(X, Y, logdet_price=0.3, random_state=0),
    ],
    ids=["large margin", "collapsing classes"],
)
def test_it_is_the_optimum_of_the_semidefinite_program(problem):
    W = cp.Variable((3, 3), PSD=True)
    pull, push = problem.terms
    side = 1.0 if push.loss.upper is not None else -1.0
    bound = push.loss.upper if side > 0 else push.loss.lower
    objective = (
        cp.trace(W)
        - cp.log_det(W)
        - 3
        + pull.loss.slope * cp.sum(values(pull, W))
        + push.loss.C * cp.sum(cp.pos(side * (values(push, W) - bound)))
    )
    optimum = ask(cp.Problem(cp.Minimize(objective)))
    solution = solve(problem, tol=1e-8)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(optimum, rel=1e-5)
    np.testing.assert_allclose(solution.matrix, W.value, atol=1e-3)


def test_all_impostors_have_a_constraint():
    problem = large_margin_problem(X, Y, n_neighbors=2, n_impostors=100)
    push = problem.terms[1].constraints
    sizes = np.bincount(Y)
    assert push.size == 2 * 2 * sizes[0] * sizes[1]
    assert np.all(Y[push.i] == Y[push.j])
    assert np.all(Y[push.i] != Y[push.k])


def test_equal_points_are_targets_of_each_other_and_never_of_themselves():
    twice = np.vstack([X, X])
    problem = large_margin_problem(twice, np.r_[Y, Y], n_neighbors=2)
    pairs = problem.terms[0].constraints
    assert np.all(pairs.i != pairs.j)
    # Targets are 1 apart on average, whatever the units.
    z = np.asarray(pairs.points)[pairs.i] - np.asarray(pairs.points)[pairs.j]
    assert np.mean(np.sum(z**2, axis=1)) == pytest.approx(1.0)
    again = large_margin_problem(100 * twice, np.r_[Y, Y], n_neighbors=2)
    np.testing.assert_allclose(again.terms[0].constraints.points, pairs.points, rtol=1e-12)


@pytest.mark.parametrize("make", [large_margin_problem, collapsing_classes_problem])
def test_neighbors_are_more_often_of_the_same_class(make):
    points, labels = load_wine(return_X_y=True)
    train, test, y, truth = train_test_split(points, labels, test_size=0.5, random_state=0)
    raw = KNeighborsClassifier(3).fit(train, y).score(test, truth)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    F = solve(make(train, y), time_limit=30).factor
    learned = KNeighborsClassifier(3).fit(train @ F, y).score(test @ F, truth)
    assert learned > raw + 0.2
    assert learned > 0.93


def test_bad_input_raises_a_clear_error():
    with pytest.raises(ValueError, match="`pull` must be a number between 0 and 1"):
        large_margin_problem(X, Y, pull=1.0)
    with pytest.raises(ValueError, match="`y` has 3 labels, but `points` has 24 rows"):
        large_margin_problem(X, Y[:3])
    with pytest.raises(ValueError, match="no class in `y` has two members"):
        large_margin_problem(X[:2], [0, 1])
    with pytest.raises(ValueError, match="one class only"):
        large_margin_problem(X, np.zeros(24, dtype=int))
    with pytest.raises(ValueError, match="logdet_price must be positive"):
        collapsing_classes_problem(X, Y, logdet_price=0)
