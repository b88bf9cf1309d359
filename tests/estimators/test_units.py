"""The answer depends neither on the units of the features nor on the precision of the input."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import load_iris, load_wine

from gramlearn import KernelLearner, MetricLearner, OnlineMetricLearner, SemiSupervisedEmbedding
from gramlearn.methods.metric.maps import FullMap, unit_free_root
from gramlearn.methods.metric.prior import read_prior

WINE, GROWER = load_wine(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
UNITS = 10.0 ** np.linspace(-8, 8, 13)


# -- units -------------------------------------------------------------------------------------------


def test_the_inverse_covariance_is_that_in_any_units():
    in_units = read_prior("inverse_covariance", WINE * UNITS).matrix
    np.testing.assert_allclose(
        in_units * UNITS[:, None] * UNITS, np.linalg.inv(np.cov(WINE.T)), rtol=1e-6
    )


def test_the_inverse_covariance_of_few_points_is_known_by_a_root_of_few_rows():
    X = RNG.standard_normal((9, 300)) * 10.0 ** RNG.uniform(-3, 3, 300)
    found = read_prior("inverse_covariance", X)
    assert found.root.shape == (8, 300)
    deviation = X.std(axis=0, ddof=1)
    expected = np.linalg.pinv(np.corrcoef(X.T), rtol=1e-10, hermitian=True)
    np.testing.assert_allclose(
        found.matrix * deviation * deviation[:, None], expected, rtol=1e-6, atol=1e-9
    )


def test_constant_directions_get_weight_zero():
    """With a constant feature and one that is the sum of two others, every generalized inverse gives these."""
    X = RNG.standard_normal((50, 3))
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(50, 0.1)]) * [1, 1e-6, 1e6, 1, 1e3]
    W = read_prior("inverse_covariance", wide).matrix
    assert np.linalg.matrix_rank(unit_free_root(W)) == len(unit_free_root(W)) == 3
    z, wide_z = X[:20] - X[20:40], wide[:20] - wide[20:40]
    expected = np.einsum("ki,ij,kj->k", z, np.linalg.inv(np.cov(X.T)), z)
    np.testing.assert_allclose(np.einsum("ki,ij,kj->k", wide_z, W, wide_z), expected, rtol=1e-8)
    assert not W[4].any()


@pytest.mark.parametrize("regularize", ["map", "kernel"])
def test_the_metric_from_the_inverse_covariance_does_not_depend_on_units(regularize):
    settings = {"prior": "inverse_covariance", "regularize": regularize, "random_state": 0}
    plain, other = (
        MetricLearner(tol=1e-10, **settings, C=1.0).fit(X, GROWER) for X in (WINE, WINE * UNITS)
    )
    np.testing.assert_allclose(other.bounds_, plain.bounds_, rtol=1e-9)
    pairs = (WINE[:80], WINE[80:160])
    np.testing.assert_allclose(
        other.pair_distance(tuple(A * UNITS for A in pairs)), plain.pair_distance(pairs), rtol=1e-4
    )


def test_a_prior_in_other_units_is_the_same_prior():
    W0 = np.linalg.inv(np.cov(IRIS.T))
    units = np.asarray([1e-9, 1.0, 1e9, 1e3])
    plain = MetricLearner(prior=W0, random_state=0, tol=1e-10, C=1.0).fit(IRIS, SPECIES)
    scaled = MetricLearner(prior=W0 / units / units[:, None], random_state=0, tol=1e-10, C=1.0).fit(
        IRIS * units, SPECIES
    )
    np.testing.assert_allclose(
        scaled.get_mahalanobis_matrix() * units * units[:, None],
        plain.get_mahalanobis_matrix(),
        rtol=1e-5,
    )


def test_a_map_keeps_the_digits_of_its_factor():
    """A = B D with D over 14 orders of magnitude: W = A'A has lost the small ones, A has not."""
    B = np.eye(4) + 0.1 * RNG.standard_normal((4, 4))
    units = np.asarray([1e-7, 1.0, 1e3, 1e7])
    learned = FullMap(B * units)
    z = np.eye(4) / units
    np.testing.assert_allclose(learned.squared_lengths(z), (B**2).sum(0), rtol=1e-12)
    L = learned.components
    np.testing.assert_array_equal(L, L.T)
    np.testing.assert_allclose(L @ L, learned.matrix, rtol=1e-6)


def test_a_stream_keeps_the_metric_definite_at_any_scale():
    """Features of 1e-8 beside 1e8: the steps with eighty digits."""
    scales = np.asarray([1e-8, 1.0, 1e8])
    Z = RNG.standard_normal((60, 3)) * scales
    y = (Z / scales) ** 2 @ [1.0, 4.0, 0.25]
    learner = OnlineMetricLearner(eta=10.0, prior=np.diag(scales**-2)).fit(Z, y)
    with mpmath.workdps(80):
        W = mpmath.matrix(np.diag(scales**-2).tolist())
        for row, target in zip(Z.tolist(), y.tolist(), strict=True):
            z = mpmath.matrix(row)
            Wz = W * z
            p = (z.T * Wz)[0]
            b = 10 * target * p - 1
            s = (b + mpmath.sqrt(b * b + 40 * p * p)) / (20 * p)
            W -= Wz * Wz.T * ((1 - s / p) / p)
        expected = np.asarray(W.tolist(), dtype=float)
    scaled = learner.get_mahalanobis_matrix() * scales * scales[:, None]
    np.testing.assert_allclose(scaled, expected * scales * scales[:, None], rtol=1e-9)
    assert np.linalg.eigvalsh(scaled)[0] > 0
    ends = learner.pair_distance((np.diag(scales), np.zeros((3, 3))))
    np.testing.assert_allclose(ends**2, np.diagonal(scaled), rtol=1e-12)


# -- precision ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"rank": 10}, {"rank": 10, "complement": False}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_kernel_is_judged_by_the_precision_it_came_in(dtype, params):
    """Of rank 5 and rounded, its zero eigenvalues are of either sign; in float64 that would be too much."""
    X = RNG.standard_normal((60, 5))
    labels = (X[:, 0] > 0).astype(int)
    K = (X @ X.T).astype(dtype)
    assert np.linalg.eigvalsh(K.astype(float))[0] < -1e-7
    settings = {"bounds": (1.0, 30.0), "n_pairs": 60, "random_state": 0, **params}
    rounded = KernelLearner("precomputed", **settings, C=1.0).fit(K, labels)
    exact = KernelLearner("precomputed", **settings, C=1.0).fit(X @ X.T, labels)
    unit = np.finfo(dtype).eps
    size = np.abs(exact.kernel_matrix(X @ X.T)).max()
    np.testing.assert_allclose(
        rounded.kernel_matrix(K), exact.kernel_matrix(X @ X.T), atol=300 * unit * size
    )
    assert rounded.transform(K).shape[0] == 60
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelLearner("precomputed", **settings, C=1.0).fit(
            K.astype(float) - 0.1 * np.eye(60), labels
        )


def test_an_embedding_takes_kernels_of_single_precision():
    X = RNG.standard_normal((60, 5))
    K = (X @ X.T).astype(np.float32)
    labels = (X[:, 0] > 0).astype(int)
    found = SemiSupervisedEmbedding(2, kernel="precomputed", random_state=0).fit(K, labels)
    assert found.embedding_.shape == (60, 2)


def test_a_single_precision_kernel_may_be_asymmetric_by_rounding():
    K = block_diag(*[np.ones((3, 3))] * 4).astype(np.float32) + np.eye(12, dtype=np.float32)
    K[0, 1] += 2e-7
    labels = np.arange(12) // 6
    KernelLearner("precomputed", bounds=(0.5, 3.0), random_state=0, C=1.0).fit(K, labels)
    with pytest.raises(ValueError, match="`X` is not symmetric"):
        KernelLearner("precomputed", random_state=0, C=1.0).fit(K.astype(float), labels)
