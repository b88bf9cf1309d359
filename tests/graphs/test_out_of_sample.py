"""New points among old ones: known points keep their value, and linear functions stay nearly linear."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gramlearn.graphs.out_of_sample import extend_between_neighbors

rng = np.random.default_rng(0)
POINTS = rng.standard_normal((60, 3))
VALUES = rng.standard_normal((60, 2))


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_known_point_keeps_its_value(shift):
    out = extend_between_neighbors(POINTS[::7] + shift, POINTS + shift, VALUES)
    np.testing.assert_array_equal(out, VALUES[::7])


def test_equal_points_share_the_mean_of_their_values():
    points = np.vstack([POINTS, POINTS[:1]])
    values = np.vstack([VALUES, VALUES[:1] + 2.0])
    np.testing.assert_allclose(
        extend_between_neighbors(POINTS[:1], points, values), VALUES[:1] + 1.0
    )


def test_the_weights_are_those_of_least_squares():
    x, count = np.asarray([[0.1, -0.2, 0.3]]), 5
    near = np.argsort(np.linalg.norm(POINTS - x, axis=1))[:count]
    apart = x - POINTS[near]

    def cost(free):
        w = np.append(free, 1 - free.sum())
        return np.sum((w @ apart) ** 2) + 1e-3 * np.sum(w**2 * np.sum(apart**2, axis=1))

    free = minimize(cost, np.full(count - 1, 1 / count), method="BFGS", tol=1e-12).x
    expected = np.append(free, 1 - free.sum()) @ VALUES[near]
    np.testing.assert_allclose(
        extend_between_neighbors(x, POINTS, VALUES, count)[0], expected, atol=1e-5
    )


def test_linear_values_stay_nearly_linear():
    x = 0.3 * rng.standard_normal((40, 3))
    slope = np.asarray([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    out = extend_between_neighbors(x, POINTS, POINTS @ slope + 4.0, 8)
    assert np.abs(out - (x @ slope + 4.0)).max() < 0.01


def test_values_do_not_jump_near_a_point():
    direction = np.asarray([[0.6, 0.0, 0.8]])
    for size in (1e-3, 1e-6, 1e-9, 1e-12):
        jump = extend_between_neighbors(POINTS[:1] + size * direction, POINTS, VALUES) - VALUES[:1]
        assert np.abs(jump).max() < 200 * size + 1e-14


def test_units_do_not_matter_and_few_points_are_enough():
    x = rng.standard_normal((5, 3))
    one, two = (
        extend_between_neighbors(s * x, s * POINTS[:3], VALUES[:3], 5) for s in (1.0, 1e-150)
    )
    np.testing.assert_allclose(one, two, rtol=1e-6)
    np.testing.assert_array_equal(
        extend_between_neighbors(x, POINTS[:1], VALUES[:1]), VALUES[[0] * 5]
    )
