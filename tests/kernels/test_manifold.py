"""ManifoldKernel: its closed form among the points, its limits, and its use as a base kernel."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from gramlearn import KernelLearner, Pairs
from gramlearn.graphs.neighbors import laplacian, neighbor_graph
from gramlearn.kernels import ManifoldKernel

X, Y = make_moons(80, noise=0.05, random_state=0)
NEW = make_moons(20, noise=0.05, random_state=1)[0]


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("normalized", [True, False])
def test_among_the_points_it_is_the_inverse_of_a_sum(degree, normalized):
    """(K^-1 + M)^-1."""
    k = ManifoldKernel(
        X, "laplacian", {"gamma": 3.0}, strength=2.0, degree=degree, normalized=normalized
    )
    from sklearn.metrics.pairwise import laplacian_kernel

    K = laplacian_kernel(X, gamma=3.0)
    L = laplacian(neighbor_graph(X, join="either"), normalized=normalized).toarray()
    M = 2.0 * np.linalg.matrix_power(L, degree)
    np.testing.assert_allclose(k(X, X), np.linalg.inv(np.linalg.inv(K) + M), atol=1e-8)


def test_without_strength_it_is_the_kernel():
    k = ManifoldKernel(X, kernel_params={"gamma": 0.5}, strength=0.0)
    np.testing.assert_allclose(k(NEW, X), rbf_kernel(NEW, X, gamma=0.5), atol=1e-12)


def test_it_is_a_kernel_of_all_points():
    k = ManifoldKernel(X, strength=10.0)
    both = np.vstack([X, NEW])
    K = k(both, both)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    np.testing.assert_allclose(k(NEW, X), K[80:, :80], atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(k))(NEW, X), k(NEW, X))


def test_few_pairs_do_more_with_the_shape_of_the_data():
    side = Pairs.from_labels(Y, 12, random_state=0)
    scores = []
    for kernel in (ManifoldKernel(X, kernel_params={"gamma": 5.0}, strength=20.0), "rbf"):
        params = {"gamma": 5.0} if kernel == "rbf" else None
        learner = KernelLearner(kernel, params, C=10.0, random_state=0).fit(X, side=side)
        T = learner.transform(NEW)
        truth = make_moons(20, noise=0.05, random_state=1)[1]
        from sklearn.neighbors import KNeighborsClassifier

        few = [np.flatnonzero(c == Y)[0] for c in (0, 1)]
        known = KNeighborsClassifier(1).fit(learner.transform(X[few]), Y[few])
        scores.append(known.score(T, truth))
    assert scores[0] > scores[1]


def test_bad_input_raises_a_clear_error():
    with pytest.raises(ValueError, match="says nothing about new points"):
        ManifoldKernel(np.eye(9), "precomputed")
    with pytest.raises(ValueError, match="`strength` must be at least 0"):
        ManifoldKernel(X, strength=-1.0)
    with pytest.raises(ValueError, match="`n_neighbors=80` is more than the 79 other points"):
        ManifoldKernel(X, n_neighbors=80)
