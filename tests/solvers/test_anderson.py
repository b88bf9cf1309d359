"""Anderson's acceleration: on linear maps it ends after as many steps as there are eigenvalues."""

import numpy as np
import pytest

from gramlearn.solvers.anderson import Memory


def iterate(T, x, steps):
    memory = Memory()
    for _ in range(steps):
        memory = memory.with_point(x, T(x))
        x = memory.combine()
    return x


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("values", [[0.9], [0.99, -0.5], [0.999, 0.9, 0.1, -0.9]], ids=str)
def test_a_linear_map_is_solved_in_as_many_steps_as_it_has_eigenvalues(values, unit):
    """The weights are a polynomial that is 1 at 1 and 0 at each eigenvalue, in any unit."""
    rng = np.random.default_rng(0)
    repeated = np.repeat(values, 3)
    Q = np.linalg.qr(rng.standard_normal((len(repeated), len(repeated))))[0]
    A, solution = (Q * repeated) @ Q.T, rng.standard_normal(len(repeated))
    found = iterate(lambda x: unit * solution + A @ (x - unit * solution), 0 * solution, 8)
    assert np.linalg.norm(found / unit - solution) <= 1e-6 * np.linalg.norm(solution)
    alone = 0 * solution
    for _ in range(8):
        alone = solution + A @ (alone - solution)
    assert np.linalg.norm(alone - solution) > 1e-2 * np.linalg.norm(solution)


def test_one_point_goes_to_its_image_and_a_fixed_point_stays():
    x, image = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    np.testing.assert_allclose(Memory().with_point(x, image).combine(), image, rtol=1e-14)
    both = Memory().with_point(x, image).with_point(image, image)
    np.testing.assert_array_equal(both.combine(), image)


def test_the_oldest_points_are_forgotten_and_nothing_is_changed():
    rng, memory = np.random.default_rng(0), Memory()
    for _ in range(30):
        before, images = memory, memory.images
        memory = memory.with_point(rng.standard_normal(4), rng.standard_normal(4))
        assert before.images is images
    gram = np.array([[a @ b for b in memory.residuals] for a in memory.residuals])
    assert len(memory.images) == len(memory.residuals) < 30
    np.testing.assert_allclose(memory.products, gram, rtol=1e-12, atol=1e-12)
