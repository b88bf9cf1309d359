"""Shares of features sum to one, follow no units, and name what was planted; directions rebuild the metric."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramlearn.methods.metric.directions import stretched_directions
from gramlearn.methods.metric.importance import MOST_FEATURES, feature_stretch, shares_of
from gramlearn.methods.metric.maps import FullMap, LowRankMap, column_variances

RNG = np.random.default_rng(0)
N, D = 60, 5


def random_points(n=N, d=D, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


def low_rank_map(d=D, k=2, seed=1):
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(d, k)))[0]
    A = rng.normal(size=(k, k))
    return LowRankMap(R, A @ A.T)


MAPS = {
    "full": FullMap(RNG.normal(size=(D, D))),
    "flat": FullMap(RNG.normal(size=(2, D))),
    "low rank": low_rank_map(),
}
every_map = pytest.mark.parametrize("found", MAPS.values(), ids=MAPS)
X = random_points()
GROUPS = [np.arange(0, 20), np.arange(20, 45), np.arange(45, 60)]


@every_map
def test_shares_are_none_negative_and_sum_to_one(found):
    shares = shares_of(found, X, GROUPS)
    for row in (shares.of_all, *shares.of_classes):
        assert row.min() >= 0
        assert row.sum() == pytest.approx(1)


@every_map
def test_the_parts_add_up_to_the_distances(found):
    """tr N is the mean squared distance of a point from the mean: shares are of that, and of nothing else."""
    shares = shares_of(found, X, GROUPS)
    W, S = found.matrix, np.cov(X.T, bias=True)
    P = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    s, V = np.linalg.eigh(P)
    H = np.sqrt(np.diag(S))[:, None] * (V * np.sqrt(s)) @ V.T
    N_ = H.T @ W @ H
    assert np.trace(N_) == pytest.approx(np.trace(W @ S))
    np.testing.assert_allclose(shares.of_all, np.diag(N_) / np.trace(W @ S), atol=1e-9)


@every_map
def test_permuted_features_have_permuted_shares(found):
    order = np.random.default_rng(3).permutation(D)
    moved = shares_of(FullMap(found.components[:, order]), X[:, order], GROUPS)
    shares = shares_of(found, X, GROUPS)
    np.testing.assert_allclose(moved.of_all, shares.of_all[order], atol=1e-7)
    np.testing.assert_allclose(moved.of_classes, shares.of_classes[:, order], atol=1e-7)


@pytest.mark.parametrize("name", ["full", "flat"])
def test_units_and_places_make_no_difference(name):
    found, units = MAPS[name], 10.0 ** np.array([-6, 3, 0, 8, -2])
    scaled = FullMap(found.factor / units)
    shares = shares_of(found, X, GROUPS)
    moved = shares_of(scaled, (X + 3.0) * units, GROUPS)
    np.testing.assert_allclose(moved.of_all, shares.of_all, atol=1e-6)
    np.testing.assert_allclose(moved.of_classes, shares.of_classes, atol=1e-6)


def test_of_the_inverse_covariance_all_features_have_equal_shares():
    found = FullMap(np.linalg.cholesky(np.linalg.inv(np.cov(X.T))).T)
    np.testing.assert_allclose(shares_of(found, X, []).of_all, 1 / D, atol=1e-9)


def test_equal_features_share_equally_whichever_of_them_the_metric_sees():
    double = np.column_stack([X, X[:, 0]])
    factor = np.column_stack([MAPS["full"].factor, np.zeros(D)])
    shares = shares_of(FullMap(factor), double, GROUPS)
    assert shares.of_all[0] == pytest.approx(shares.of_all[-1])
    np.testing.assert_allclose(shares.of_classes[:, 0], shares.of_classes[:, -1], atol=1e-9)


def test_metrics_that_agree_on_the_points_have_the_same_shares():
    """With x_4 = x_0 + x_1 any metric along (1, 1, 0, 0, -1) measures the points alike."""
    dependent = X.copy()
    dependent[:, 4] = X[:, 0] + X[:, 1]
    nothing = np.array([[1.0, 1.0, 0.0, 0.0, -1.0]])
    one = MAPS["full"].factor
    other = one + np.random.default_rng(4).normal(size=(D, 1)) @ nothing
    pair = [shares_of(FullMap(factor), dependent, GROUPS) for factor in (one, other)]
    np.testing.assert_allclose(pair[0].of_all, pair[1].of_all, atol=1e-7)
    np.testing.assert_allclose(pair[0].of_classes, pair[1].of_classes, atol=1e-6)


def test_of_features_that_are_not_correlated_only_those_that_the_metric_sees_have_a_share():
    U = np.linalg.qr(np.column_stack([np.ones(N), X]))[0][:, 1:]
    shares = shares_of(FullMap(np.diag([1.0, 2.0, 0.0, 0.0, 0.0])), U, GROUPS)
    np.testing.assert_allclose(shares.of_all, [0.2, 0.8, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(shares.of_classes[:, 2:], 0, atol=1e-9)


def test_a_feature_that_does_not_vary_and_classes_that_do_not_differ_have_no_share():
    flat = X.copy()
    flat[:, 2] = 0.1
    shares = shares_of(MAPS["full"], flat, [np.arange(N), np.arange(N)])
    assert shares.of_all[2] == pytest.approx(0, abs=1e-20)
    np.testing.assert_array_equal(shares.of_classes, np.zeros((2, D)))
    same = shares_of(MAPS["full"], np.full((7, D), 0.1), [])
    np.testing.assert_array_equal(same.of_all, np.zeros(D))


def test_of_many_features_the_shares_are_those_of_variances_also_for_sparse_points():
    d = MOST_FEATURES + 1
    Z = np.random.default_rng(0).normal(size=(30, d)) * (np.arange(d) % 3 == 0)
    found, groups = low_rank_map(d), [np.arange(10), np.arange(10, 30)]
    dense, sparse = (shares_of(found, points, groups) for points in (Z, csr_array(Z)))
    expected = np.diag(found.matrix) * Z.var(axis=0)
    np.testing.assert_allclose(dense.of_all, expected / expected.sum(), atol=1e-12)
    np.testing.assert_allclose(sparse.of_all, dense.of_all, atol=1e-12)
    np.testing.assert_allclose(sparse.of_classes, dense.of_classes, atol=1e-12)


def test_so_many_classes_that_they_outgrow_the_metric_are_left_out():
    groups = [np.array([k]) for k in range(N)]
    assert shares_of(MAPS["full"], X, groups).of_classes.shape == (N, D)
    wide = np.random.default_rng(0).normal(size=(N, 20_000))
    assert shares_of(low_rank_map(20_000), wide, groups).of_classes is None


@every_map
def test_stretch_is_the_ratio_of_diagonals(found):
    A = np.random.default_rng(5).normal(size=(3, D))
    np.testing.assert_allclose(feature_stretch(found, None), np.diag(found.matrix))
    ratio = np.diag(found.matrix) / np.diag(A.T @ A)
    np.testing.assert_allclose(feature_stretch(found, A), ratio)


def test_a_feature_that_neither_measures_stays_and_one_that_only_the_prior_ignores_has_no_limit():
    found, prior = FullMap(np.diag([2.0, 0.0, 3.0])), np.diag([1.0, 0.0, 0.0])
    np.testing.assert_array_equal(feature_stretch(found, prior), [4.0, 1.0, np.inf])


@every_map
@pytest.mark.parametrize("prior", [None, np.diag([1.0, 2.0, 3.0, 4.0, 5.0])], ids=["one", "other"])
def test_directions_are_eigenvectors_of_both_metrics(found, prior):
    """The stretches are the generalized eigenvalues, and each share is what the direction adds to tr(W S)."""
    if prior is not None and isinstance(found, LowRankMap):
        found = FullMap(found.components @ prior)
    R, _ = found.learned_in()
    W, W0 = found.matrix, np.eye(D) if prior is None else prior.T @ prior
    answer = stretched_directions(found, prior, X, D, tuple("abcde"))
    expected = np.linalg.eigvals(np.linalg.solve(R.T @ W0 @ R, R.T @ W @ R)).real
    np.testing.assert_allclose(answer.stretch, np.sort(expected)[::-1], atol=1e-8)
    assert len(answer) == R.shape[1]
    assert 0 < answer.share.sum() <= 1 + 1e-9
    if R.shape[1] == D:
        assert answer.share.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.linalg.norm(answer.loadings, axis=1), 1)


def test_a_planted_direction_is_found_and_said_in_words():
    points = np.random.default_rng(6).normal(size=(4000, 3))
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    v = np.array([3.0, 0.0, -4.0]) / 5
    found = FullMap(np.linalg.cholesky(np.eye(3) + 8 * np.outer(v, v)).T)
    answer = stretched_directions(found, None, points, 1, ("long", "middle", "short"))
    assert answer.stretch == pytest.approx([9.0, 1.0])
    np.testing.assert_allclose(answer.loadings[0], [-0.6, 0, 0.8], atol=1e-9)
    assert answer.describe(0).startswith("x 9, 8")
    assert "+0.80 short -0.60 long" in repr(answer)


def test_a_direction_that_the_prior_does_not_measure_is_stretched_without_limit():
    answer = stretched_directions(
        FullMap(np.diag([1.0, 3.0, 0.0])), np.diag([1.0, 0.0, 0.0]), X[:, :3], 3, tuple("abc")
    )
    np.testing.assert_allclose(answer.stretch, [np.inf, 1.0])


@pytest.mark.parametrize("n_rows", [2, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 150_000])
def test_variances_of_many_rows_are_those_of_one_piece(n_rows):
    X = np.random.default_rng(n_rows).standard_normal((n_rows, 2)) * [1.0, 1e-3] + [5.0, -1e3]
    np.testing.assert_allclose(column_variances(X), X.var(axis=0, ddof=1), rtol=1e-9)
