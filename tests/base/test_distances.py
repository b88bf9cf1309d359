"""Squared distances of pairs of rows, of dense and of sparse points, and which rows are equal."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramlearn._base import distances
from gramlearn._base.distances import (
    coincide_under,
    equal_rows,
    squared_distances,
    within_reach,
)

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


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_of_whole_numbers_and_truth_values(form, dtype):
    points = (100 * (POINTS > 0)).astype(dtype)
    expected = np.sum((points[FIRST].astype(float) - points[SECOND]) ** 2, axis=1)
    np.testing.assert_allclose(squared_distances(form(points), FIRST, SECOND), expected, rtol=1e-15)
    np.testing.assert_array_equal(equal_rows(form(points), FIRST, SECOND), expected == 0)


def test_points_coincide_under_a_map_that_does_not_see_their_difference():
    X = np.array([[1.0, 0.0], [1.0, 5.0], [2.0, 0.0]])
    A = np.array([[1.0, 0.0]])
    i, j = np.array([0, 0]), np.array([1, 2])
    np.testing.assert_array_equal(coincide_under(X, X @ A.T, A, i, j), [True, False])
    np.testing.assert_array_equal(coincide_under(X, X, None, i, j), [False, False])


@pytest.mark.parametrize("reach", [0.0, 1e-9, 1.0, 2.5, 100.0])
def test_within_reach_are_the_pairs_that_are_no_farther_apart(library, reach):
    found = within_reach(library.array(POINTS), library.index(FIRST), library.index(SECOND), reach)
    np.testing.assert_array_equal(library.numpy(found), reach**2 >= EXPECTED)
    found = within_reach(csr_array(POINTS), FIRST, SECOND, reach)
    np.testing.assert_array_equal(found, reach**2 >= EXPECTED)


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("width", [1, 7, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_equal_rows_are_found_whatever_their_size(scale, width, dtype):
    """Copies of a point differ in no digit, and its neighbors in the last digit of one feature."""
    rng = np.random.default_rng(width)
    scale = scale if dtype == "float64" else np.sqrt(np.sqrt(scale))
    points = (scale * (10 + rng.standard_normal((500, width)))).astype(dtype)
    other = points.copy()
    f = rng.integers(0, width, 500)
    other[np.arange(500), f] = np.nextafter(other[np.arange(500), f], np.asarray(np.inf, dtype))
    every = np.concatenate([points, points, other])
    i, j = np.arange(1000) % 500, np.arange(500, 1500)
    np.testing.assert_array_equal(equal_rows(every, i, j), np.arange(1000) < 500)
    assert equal_rows(every, i[:0], j[:0]).shape == (0,)
