"""Graphs of neighbors: who is joined, with what weight, and what the Laplacian measures."""

import sys
import types

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.metrics import euclidean_distances

from gramlearn.graphs import neighbors as graphs
from gramlearn.graphs.neighbors import laplacian, neighbor_graph

X = make_moons(80, noise=0.05, random_state=0)[0]
BOTH = pytest.mark.parametrize("normalized", [True, False])


def nearest(k: int) -> np.ndarray:
    """Whether j is among the k nearest of i, from all distances."""
    distances = euclidean_distances(X)
    np.fill_diagonal(distances, np.inf)
    return distances <= np.sort(distances, axis=1)[:, [k - 1]]


@pytest.mark.parametrize("k", [1, 5, 20])
def test_mutual_neighbors_and_either(k) -> None:
    knows = nearest(k)
    assert np.array_equal(neighbor_graph(X, k, join="mutual").toarray() > 0, knows & knows.T)
    assert np.array_equal(neighbor_graph(X, k).toarray() > 0, knows | knows.T)


def test_heat_falls_with_the_distance() -> None:
    A = neighbor_graph(X, 5, weights="heat", width=0.3)
    i, j = A.nonzero()
    expected = np.exp(-np.sum((X[i] - X[j]) ** 2, axis=1) / (2 * 0.3**2))
    np.testing.assert_allclose(A.toarray()[i, j], expected)
    by_default = neighbor_graph(X, 5, weights="heat")
    np.testing.assert_allclose(
        by_default.toarray(), neighbor_graph(7 * X, 5, weights="heat").toarray()
    )


def test_equal_points_are_joined() -> None:
    for weights in ("binary", "heat"):
        A = neighbor_graph(np.zeros((4, 2)), 3, weights=weights)
        np.testing.assert_allclose(A.toarray(), 1 - np.eye(4))


@BOTH
def test_the_laplacian_measures_how_much_neighbors_differ(normalized) -> None:
    A = neighbor_graph(X, 5, join="either", weights="heat")
    F = np.random.default_rng(0).standard_normal((80, 3))
    L = laplacian(A, normalized=normalized)
    scaled = F / np.sqrt(np.asarray(A.sum(axis=1)))[:, None] if normalized else F
    expected = 0.5 * np.sum(A.toarray() * euclidean_distances(scaled, squared=True))
    assert np.sum(F * (L @ F)) == pytest.approx(expected)


@BOTH
def test_the_laplacian_is_positive_and_knows_components(normalized) -> None:
    from scipy.sparse.csgraph import connected_components

    A = neighbor_graph(X, 5)
    s = np.linalg.eigvalsh(laplacian(A, normalized=normalized).toarray())
    assert s[0] > -1e-12
    assert np.sum(s < 1e-10) == connected_components(A)[0]


def test_a_point_without_edges_has_a_row_of_zeros() -> None:
    points = np.vstack([X, [[50.0, 50.0]]])
    L = laplacian(neighbor_graph(points, 5, join="mutual")).toarray()
    assert not L[80].any()
    assert np.isfinite(L).all()


def test_many_points_take_approximate_neighbors(monkeypatch) -> None:
    """A stand-in for pynndescent, which counts a point as its own neighbor, but forgets one."""

    class NNDescent:
        def __init__(self, points, n_neighbors, random_state) -> None:
            order = np.argsort(euclidean_distances(points), axis=1)[:, :n_neighbors]
            order[3] = np.argsort(euclidean_distances(points), axis=1)[3, 1 : n_neighbors + 1]
            lengths = np.take_along_axis(euclidean_distances(points), order, axis=1)
            self.neighbor_graph = order, lengths

    monkeypatch.setitem(sys.modules, "pynndescent", types.SimpleNamespace(NNDescent=NNDescent))
    monkeypatch.setattr(graphs, "_EXACT", 10)
    approximate = neighbor_graph(X, 5)
    monkeypatch.setattr(graphs, "_EXACT", 1000)
    assert np.array_equal(approximate.toarray(), neighbor_graph(X, 5).toarray())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: neighbor_graph(X, 80), "`n_neighbors=80` is more than the 79 other points"),
        (lambda: neighbor_graph(X, 0), "`n_neighbors`"),
        (lambda: neighbor_graph(X, join="some"), "`join='some'` is not known"),
        (lambda: neighbor_graph(X, weights="cold"), "`weights='cold'` is not known"),
        (lambda: neighbor_graph(X, weights="heat", width=0.0), "width"),
        (lambda: neighbor_graph([[np.nan, 1.0], [0.0, 1.0]], 1), "`X`"),
        (lambda: laplacian(np.ones((2, 3))), "square"),
        (lambda: laplacian(csr_array([[0.0, 1.0], [0.0, 0.0]])), "not symmetric"),
        (lambda: laplacian(csr_array([[0.0, -1.0], [-1.0, 0.0]])), "at least 0"),
    ],
)
def test_bad_input_raises_a_clear_error(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()
