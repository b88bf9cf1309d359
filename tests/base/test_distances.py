"""Squared distances of pairs of rows, of dense and of sparse points, and which rows are equal."""

import numpy as np
from scipy.sparse import csr_array

from gramlearn._base import distances
from gramlearn._base.distances import coincide_under, equal_rows, squared_distances

RNG = np.random.default_rng(0)
POINTS = RNG.integers(-2, 3, size=(12, 3)).astype(float)
FIRST, SECOND = (index.ravel() for index in np.indices((12, 12)))
EXPECTED = np.sum((POINTS[FIRST] - POINTS[SECOND]) ** 2, axis=1)


def test_squared_distances_of_dense_points(library):
    found = squared_distances(library.array(POINTS), library.index(FIRST), library.index(SECOND))
    np.testing.assert_allclose(library.numpy(found), EXPECTED)


def test_sparse_points_are_read_in_parts(monkeypatch):
    monkeypatch.setattr(distances, "_ROWS", 50)
    np.testing.assert_allclose(squared_distances(csr_array(POINTS), FIRST, SECOND), EXPECTED)
    assert squared_distances(csr_array(POINTS), FIRST[:0], SECOND[:0]).shape == (0,)


def test_whole_numbers_of_few_bits_do_not_overflow():
    points = np.array([[100], [-100]], dtype=np.int8)
    assert squared_distances(points, np.array([0]), np.array([1]))[0] == 200.0**2


def test_equal_rows_are_those_at_distance_zero():
    np.testing.assert_array_equal(equal_rows(POINTS, FIRST, SECOND), EXPECTED == 0)


def test_points_coincide_under_a_map_that_does_not_see_their_difference():
    X = np.array([[1.0, 0.0], [1.0, 5.0], [2.0, 0.0]])
    A = np.array([[1.0, 0.0]])
    i, j = np.array([0, 0]), np.array([1, 2])
    np.testing.assert_array_equal(coincide_under(X, X @ A.T, A, i, j), [True, False])
    np.testing.assert_array_equal(coincide_under(X, X, None, i, j), [False, False])
