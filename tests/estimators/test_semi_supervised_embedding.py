"""SemiSupervisedEmbedding: the optimum of J12 (26), by another solver; few dimensions; new points."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import Bounds, Pairs, SemiSupervisedEmbedding, Triplets
from oracles import ask, squared_norm

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 5))
Y = np.arange(30) % 3
SIDE = Pairs.from_labels(Y, 40, random_state=0)
BOUNDS = (1.0, 9.0)


@parametrize_with_checks([SemiSupervisedEmbedding(n_pairs=50)])
@pytest.mark.filterwarnings("ignore:.*ask points that are equal:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_it_is_the_optimum_of_the_problem_of_the_paper(loss):
    model = SemiSupervisedEmbedding(tau=0.2, loss=loss, C=0.3, bounds=BOUNDS, tol=1e-8)
    model.fit(X, side=SIDE)
    price = model.solution_.problem.terms[-1].loss.slope
    P = model.coordinates_.factor
    W = cp.Variable((5, 5), PSD=True)
    i, j, alike = SIDE.near_and_far()
    z = P[i] - P[j]
    d = cp.sum(cp.multiply(z @ W, z), axis=1)
    excess = cp.pos(cp.multiply(np.where(alike, 1.0, -1.0), d - np.where(alike, *BOUNDS)))
    cost = cp.sum(excess) if loss == "hinge" else cp.sum_squares(excess) / 2
    objective = price * cp.trace(W) + squared_norm(W) / 2 + 0.3 * cost
    optimum = ask(cp.Problem(cp.Minimize(objective)))
    assert model.solution_.primal == pytest.approx(optimum, rel=1e-6)
    np.testing.assert_allclose(model.solution_.matrix, W.value, atol=1e-4)


def test_the_trace_price_reduces_the_dimension():
    spectra = [
        SemiSupervisedEmbedding(tau=tau, bounds=BOUNDS).fit(X, side=SIDE).eigenvalues_
        for tau in (1e-3, 0.3, 0.9, 0.999)
    ]
    ranks = [len(spectrum) for spectrum in spectra]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > ranks[2] >= 1
    # Just below the price at which W = 0 is optimal, a little is left; see `tau`.
    assert 0 < spectra[3][0] < 0.1 * spectra[0][0]


@pytest.mark.parametrize("tau", [1e-3, 0.3, 0.9])
def test_the_dimension_does_not_depend_on_the_solver(tau):
    """Newton on X and interior points leave a little in every direction, Newton on the dual does not."""
    exact, *others = (
        SemiSupervisedEmbedding(tau=tau, bounds=BOUNDS, solver=solver).fit(X, side=SIDE)
        for solver in ("working_set", "primal_newton", "interior_point")
    )
    for model in others:
        assert len(model.eigenvalues_) == len(exact.eigenvalues_)


@pytest.mark.parametrize("params", [{}, {"rank": 10}, {"kernel": "rbf"}], ids=str)
def test_new_points_are_embedded_as_the_old_ones(params):
    model = SemiSupervisedEmbedding(n_components=2, tau=0.01, **params).fit(X, side=SIDE)
    assert model.embedding_.shape == (30, 2)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-7)
    assert np.all(np.diff(model.eigenvalues_) <= 0)


def test_a_precomputed_kernel():
    K, rows = rbf_kernel(X, gamma=0.2), rbf_kernel(X[:3] + 0.1, X, gamma=0.2)
    params = {"bounds": (0.1, 1.5), "tau": 0.05}
    named = SemiSupervisedEmbedding(kernel="rbf", kernel_params={"gamma": 0.2}, **params)
    given = SemiSupervisedEmbedding(kernel="precomputed", **params)
    one = named.fit(X, side=SIDE).transform(X[:3] + 0.1)
    two = given.fit(K, side=SIDE).transform(rows)
    np.testing.assert_allclose(one @ one.T, two @ two.T, atol=1e-4)


def test_triplets():
    rows = [(0, 3, 1), (1, 4, 2), (2, 5, 0)]
    model = SemiSupervisedEmbedding(tau=0.01, C=100.0)
    T = model.fit_transform(X, side=Triplets(rows, n_points=30, margin=1.0))
    for i, j, k in rows:
        assert np.sum((T[i] - T[j]) ** 2) < np.sum((T[i] - T[k]) ** 2)


def test_targets_pull_as_lower_bounds_do():
    target = Bounds([0, 2], [1, 3], upper=[2.0, 1.0], lower=[2.0, 1.0], n_points=30)
    model = SemiSupervisedEmbedding(tau=0.01, C=100.0).fit(X, side=target)
    d = np.sum((model.embedding_[[0, 2]] - model.embedding_[[1, 3]]) ** 2, axis=1)
    np.testing.assert_allclose(d, [2.0, 1.0], rtol=1e-2)


REFUSED = [
    (lambda: SemiSupervisedEmbedding(tau=1.0).fit(X, Y), "tau is a share, below 1"),
    (lambda: SemiSupervisedEmbedding(tau=0.0).fit(X, Y), "tau must be positive"),
    (lambda: SemiSupervisedEmbedding(loss="hard").fit(X, Y), "`loss='hard'` is not known"),
    (lambda: SemiSupervisedEmbedding(n_components=0).fit(X, Y), "`n_components` must be"),
    (
        lambda: SemiSupervisedEmbedding().fit(X, side=Pairs([[0, 1]], n_points=30)),
        "asks any two points to lie apart",
    ),
    (lambda: SemiSupervisedEmbedding().fit(X, Y).transform(X[:, :2]), "2 features"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_features_and_their_linear_kernel_give_the_same():
    of_features, of_matrix = (
        SemiSupervisedEmbedding(tau=0.2, kernel=kernel, C=0.3, bounds=BOUNDS, tol=1e-12).fit(
            X, side=SIDE
        )
        for kernel in ("linear", lambda A, B: A @ B.T)
    )
    assert of_features.coordinates_.weights.shape == (5, 5)  # and 30 x 5 of the function
    new = np.random.default_rng(1).standard_normal((7, 5))
    one, two = (model.transform(new) @ model.embedding_.T for model in (of_features, of_matrix))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-8 * np.abs(two).max())
    np.testing.assert_allclose(of_features.eigenvalues_, of_matrix.eigenvalues_, rtol=1e-8)


def test_all_equal_points_called_dissimilar_are_named():
    iris = load_iris(return_X_y=True)[0][::2]
    n = len(iris)
    unlike = [(i, n + i) for i in range(6)]
    side = Pairs([(10, 11)], [*unlike, (0, 60)], n_points=n + 6)
    with pytest.warns(UserWarning, match="6 of 8 statements ask points that are equal"):
        SemiSupervisedEmbedding(kernel="rbf").fit(np.vstack([iris, iris[:6]]), side=side)
