"""Kernel k-means on a factor is kernel k-means on the kernel."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from conftest import Library
from gramlearn import KernelKMeans
from gramlearn.evaluation import normalized_mutual_information
from gramlearn.kernels import incomplete_cholesky, spectral_factor
from gramlearn.methods import kernel_kmeans
from gramlearn.methods.clustering.kernel_kmeans import fill_empty

RNG = np.random.default_rng(0)


def blobs(n: int = 200, d: int = 3, c: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, c, n)
    return 3.0 * rng.normal(size=(c, d))[labels] + rng.normal(size=(n, d)), labels


def kernel_distances(K: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """|phi(x_i) - m_c|^2 for all i and c, by the kernel alone."""
    members = np.eye(n_clusters)[labels]
    share = members / members.sum(axis=0)
    return np.diag(K)[:, None] - 2 * K @ share + np.einsum("ic,ij,jc->c", share, K, share)


def textbook(K: np.ndarray, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, float]:
    """Kernel k-means on the whole kernel matrix, from an assignment with no empty cluster."""
    while True:
        distances = kernel_distances(K, labels, n_clusters)
        moved = np.argmin(distances, axis=1)
        farthest_first = np.argsort(-distances[np.arange(len(K)), moved])
        for empty in sorted(set(range(n_clusters)) - set(moved.tolist())):
            alone = np.bincount(moved, minlength=n_clusters)[moved] == 1
            moved[next(i for i in farthest_first if not alone[i])] = empty
        if np.array_equal(moved, labels):
            break
        labels = moved
    own = kernel_distances(K, labels, n_clusters)[np.arange(len(K)), labels]
    return labels, float(own.sum())


# -- the theorem -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_kmeans_on_a_factor_is_kernel_kmeans(seed: int, n_clusters: int) -> None:
    X, _ = blobs(seed=seed)
    start = np.random.default_rng(seed).permutation(np.arange(200) % n_clusters)
    K = rbf_kernel(X, gamma=0.05)
    G = incomplete_cholesky(X, "rbf", gamma=0.05, tol=0.0).factor
    labels, objective = textbook(K, start, n_clusters)
    found = kernel_kmeans(G, n_clusters, start=start)
    np.testing.assert_array_equal(found.labels, labels)
    assert found.objective == pytest.approx(objective, rel=1e-10)
    assert found.converged


def test_a_local_optimum_is_kept() -> None:
    X, _ = blobs()
    found = kernel_kmeans(X, 4, random_state=0)
    again = kernel_kmeans(X, 4, start=found.labels)
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.objective == pytest.approx(found.objective, rel=1e-12)


def test_centers_and_objective_are_those_of_the_labels() -> None:
    X, _ = blobs()
    found = kernel_kmeans(X + 1e3, 4, random_state=0)
    means = np.stack([(X + 1e3)[found.labels == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(found.centers, means, rtol=1e-12)
    squared = np.sum((X + 1e3 - means[found.labels]) ** 2, axis=1)
    assert found.objective == pytest.approx(squared.sum(), rel=1e-10)


def test_the_best_of_all_assignments_is_found_where_they_can_be_listed() -> None:
    X = np.array([[0.0], [0.4], [1.0], [5.0], [5.3], [9.0], [9.9]])
    values = []
    for labels in itertools.product(range(3), repeat=7):
        groups = [X[np.asarray(labels) == c] for c in set(labels)]
        values.append(sum(float(((g - g.mean(axis=0)) ** 2).sum()) for g in groups))
    found = kernel_kmeans(X, 3, n_init=20, random_state=0)
    assert found.objective == pytest.approx(min(values), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_as_good_as_kmeans_of_scikit_learn(seed: int) -> None:
    X, _ = blobs(n=400, d=6, c=6, seed=seed)
    other = KMeans(6, n_init=20, tol=0.0, random_state=seed).fit(X)
    found = kernel_kmeans(X, 6, n_init=20, random_state=seed)
    assert found.objective == pytest.approx(other.inertia_, rel=1e-9)


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_the_objective_falls_with_every_iteration(max_iter: int) -> None:
    X, _ = blobs(d=8, c=12)
    start = np.arange(200) % 12
    with pytest.warns(ConvergenceWarning, match=f"max_iter={max_iter} iterations"):
        before = kernel_kmeans(X, 12, start=start, max_iter=max_iter)
    assert not before.converged
    assert before.iterations == max_iter
    after = kernel_kmeans(X, 12, start=start)
    assert after.objective < before.objective


@pytest.mark.parametrize("exponent", [-1000, -40, 40, 510, 900])
def test_the_unit_of_the_points_does_not_matter(exponent: int) -> None:
    X, _ = blobs()
    unit = 2.0**exponent
    model = KernelKMeans(4, random_state=0).fit(X)
    scaled = KernelKMeans(4, random_state=0).fit(X * unit)
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    np.testing.assert_array_equal(scaled.cluster_centers_, model.cluster_centers_ * unit)
    np.testing.assert_array_equal(scaled.predict(X * unit), model.labels_)
    assert scaled.inertia_ == model.inertia_ * unit * unit


# -- empty clusters --------------------------------------------------------------------------------


def test_an_empty_cluster_takes_the_farthest_point() -> None:
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [30.0]])
    found = kernel_kmeans(X, 3, start=[0, 0, 0, 1, 1, 1])  # cluster 2 begins empty
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 1, 1, 2])


def test_a_point_alone_in_its_cluster_is_not_taken_from_it() -> None:
    G, centers = np.array([[0.0], [1.0], [10.0]]), np.array([[0.0], [5.0], [99.0]])
    np.testing.assert_array_equal(fill_empty(G, np.array([0, 0, 1]), centers), [0, 2, 1])


@pytest.mark.parametrize("seed", range(5))
def test_no_cluster_stays_empty_where_points_differ(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(12, 2))
    found = kernel_kmeans(X, 12, start=np.zeros(12, dtype=int))
    assert sorted(found.labels) == list(range(12))
    assert found.objective == 0.0
    assert kernel_kmeans(X, 12, n_init=1, random_state=seed).objective == 0.0


def test_more_clusters_than_distinct_points_warn() -> None:
    X = np.repeat(RNG.normal(size=(3, 4)), 10, axis=0) + 5.0
    with pytest.warns(ConvergenceWarning, match="only 3 of n_clusters=5 clusters have points"):
        found = kernel_kmeans(X, 5, random_state=0)
    assert found.objective <= 1e-25 * np.sum(X**2)
    assert np.all(np.isfinite(found.centers))


def test_the_same_seed_gives_the_same_clusters_in_every_library(library: Library) -> None:
    X, _ = blobs()
    found = kernel_kmeans(library.array(X), 4, random_state=7)
    same = kernel_kmeans(X, 4, random_state=7)
    np.testing.assert_array_equal(library.numpy(found.labels), same.labels)
    np.testing.assert_allclose(library.numpy(found.centers), same.centers)
    start = library.index(same.labels)
    again = kernel_kmeans(library.array(X), 4, start=start)
    assert again.iterations <= 2
    assert again.objective == pytest.approx(same.objective)


def test_an_empty_cluster_gets_the_farthest_point_in_every_library(library: Library) -> None:
    X, _ = blobs()
    start = np.arange(len(X)) % 3  # of four clusters
    here, there = (kernel_kmeans(Z, 4, start=start) for Z in (X, library.array(X)))
    np.testing.assert_array_equal(library.numpy(there.labels), here.labels)
    assert set(here.labels) == {0, 1, 2, 3}


def test_a_symmetric_factor_is_not_taken_for_a_kernel() -> None:
    """So a symmetric array, positive semidefinite even, may be meant as it is given."""
    X, _ = blobs()
    K = rbf_kernel(X, gamma=0.05)
    spectral = spectral_factor(K, "precomputed").factor
    s, V = np.linalg.eigh(K)
    root = (V * np.sqrt(np.clip(s, 0.0, None))) @ V.T
    start = RNG.integers(0, 4, len(X))
    expected, objective = textbook(K, start, 4)
    for factor in (spectral, root):
        found = kernel_kmeans(factor, 4, start=start)
        np.testing.assert_array_equal(found.labels, expected)
        assert found.objective == pytest.approx(objective, rel=1e-9)


# -- the estimator ---------------------------------------------------------------------------------


@parametrize_with_checks([KernelKMeans(n_clusters=2, n_init=2)])
def test_the_estimator_keeps_the_rules_of_scikit_learn(estimator: Any, check: Callable) -> None:
    check(estimator)


def test_the_estimator_gives_what_the_function_gives() -> None:
    X, labels = blobs()
    model = KernelKMeans(4, random_state=3)
    found = kernel_kmeans(X, 4, random_state=3)
    np.testing.assert_array_equal(model.fit_predict(X), found.labels)
    np.testing.assert_array_equal(model.cluster_centers_, found.centers)
    assert model.inertia_ == found.objective
    assert model.n_iter_ == found.iterations
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new = X + 0.01
    squared = np.sum((new[:, None] - model.cluster_centers_) ** 2, axis=2)
    np.testing.assert_array_equal(model.predict(new), np.argmin(squared, axis=1))
    piped = make_pipeline(StandardScaler(), clone(model)).fit(X)
    assert normalized_mutual_information(labels, piped.predict(X)) > 0.8


def test_new_points_go_to_the_cluster_that_is_nearest_by_the_kernel() -> None:
    """|phi(x) - m_c|^2 = k(x, x) - 2 mean_j k(x, x_j) + mean_jl k(x_j, x_l) over j, l in c."""
    X, _ = blobs()
    old, new = X[::2], X[1::2]
    kernel = incomplete_cholesky(old, "rbf", gamma=0.05, tol=0.0)
    model = KernelKMeans(4, random_state=0).fit(kernel.factor)
    share = np.eye(4)[model.labels_] / np.bincount(model.labels_)
    within = np.vecdot(share, rbf_kernel(old, gamma=0.05) @ share, axis=0)
    squared = 1.0 - 2 * rbf_kernel(new, old, gamma=0.05) @ share + within
    np.testing.assert_array_equal(model.predict(kernel.transform(new)), squared.argmin(axis=1))


# -- what is refused -------------------------------------------------------------------------------

POINTS = np.arange(8.0).reshape(4, 2)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "too many": (lambda: kernel_kmeans(POINTS, 5), r"`n_clusters=5` asks for more .*n_samples=4"),
    "none": (lambda: kernel_kmeans(POINTS, 0), "`n_clusters` must be a whole number of at least 1"),
    "restarts": (lambda: kernel_kmeans(POINTS, 2, n_init=0), "`n_init` must be a whole number"),
    "iterations": (lambda: kernel_kmeans(POINTS, 2, max_iter=0.5), "`max_iter` must be"),
    "missing": (lambda: kernel_kmeans(POINTS + np.inf, 2), "`factor` contains NaN or infinity"),
    "vector": (lambda: kernel_kmeans(POINTS[0], 2), "`factor` must be two-dimensional"),
    "seed": (lambda: kernel_kmeans(POINTS, 2, random_state="x"), "`random_state` must be"),
    "start too short": (
        lambda: kernel_kmeans(POINTS, 2, start=[0, 1]),
        "`start` has 2 entries.*each of the 4 points",
    ),
    "start too high": (
        lambda: kernel_kmeans(POINTS, 2, start=[0, 1, 2, 0]),
        r"`start` has 4 entries, the largest 2; .* in 0\.\.1",
    ),
    "start empty": (lambda: kernel_kmeans(POINTS, 2, start=[]), "`start` has 0 entries"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_raises_a_clear_error(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        call()
