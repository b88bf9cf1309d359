"""Dependent pairs, found piece by piece, are those of all pairs at once."""

import numpy as np
import pytest

from gramlearn.graphs import neighbor_graph
from gramlearn.graphs.edges import read_edges
from gramlearn.methods.unfolding.differences import Differences
from gramlearn.methods.unfolding.facial_reduction import common_range, find_pieces
from gramlearn.methods.unfolding.independent_pairs import independent_pairs

RNG = np.random.default_rng(0)
GRID = np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), -1).reshape(-1, 2)
CUBE = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), -1).reshape(-1, 3)


@pytest.mark.parametrize(
    ("points", "count"),
    [
        (GRID, 4),
        (GRID, 5),  # dependences reach from one piece to another
        (CUBE, 6),
        (CUBE, 10),
        (RNG.random((80, 2)), 4),
        (RNG.random((80, 2)), 6),
        (RNG.random((60, 5)), 8),
        (RNG.random((40, 1)), 3),
        (np.round(RNG.random((80, 3)), 1), 6),
    ],
)
def test_as_many_are_kept_as_are_independent_and_weights_have_the_same_sum(points, count):
    n = len(points)
    i, j = read_edges(neighbor_graph(points, count, join="either"), n)
    pieces = find_pieces(points, i, j, rigid=True)
    V = common_range(n, pieces)
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    np.testing.assert_allclose(V.sum(axis=0), 0.0, atol=1e-12)
    differences, weights = Differences(i, j, n), RNG.standard_normal(len(i))
    kept, moved = independent_pairs(n, i, j, pieces, weights)
    G = differences.products(V, np.ones(len(i))) ** 2
    rank = np.linalg.matrix_rank(G, tol=1e-9 * G.max(), hermitian=True)
    assert len(kept) == rank
    np.testing.assert_allclose(
        differences.take(kept).weighted(V, moved), differences.weighted(V, weights), atol=1e-9
    )
