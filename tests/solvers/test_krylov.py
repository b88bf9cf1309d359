"""Conjugate gradients and the line search, on functions whose answers are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from gramlearn.solvers.krylov import conjugate_gradients
from gramlearn.solvers.line_search import Step, line_search


@pytest.mark.parametrize("in_preconditioned_norm", [False, True])
@pytest.mark.parametrize("shape", [(30,), (6, 5)])
def test_conjugate_gradients_solve_to_the_accuracy(shape, in_preconditioned_norm, library) -> None:
    rng = np.random.default_rng(0)
    G = rng.standard_normal((30, 30))
    A = G @ G.T + np.diag(np.logspace(-3, 3, 30))
    b = rng.standard_normal(30)
    diagonal = library.array(np.reshape(np.diag(A), shape))

    def product(x):
        return library.array(np.reshape(A @ np.ravel(library.numpy(x)), shape))

    x = conjugate_gradients(
        product,
        lambda v: v / diagonal,
        library.array(np.reshape(b, shape)),
        1e-6,
        in_preconditioned_norm=in_preconditioned_norm,
    )
    residual = b - A @ np.ravel(library.numpy(x))
    weights = 1 / np.diag(A) if in_preconditioned_norm else np.ones(30)
    assert residual @ (weights * residual) <= (1 + 1e-6) * 1e-12 * (b @ (weights * b))


def test_the_accuracy_may_be_chosen_on_the_way() -> None:
    """Once, where the first one is reached, for the x that is known there."""
    rng = np.random.default_rng(1)
    A, b = np.diag(np.logspace(0, 2, 30)), rng.standard_normal(30)
    seen = []

    def finer(x):
        seen.append(np.linalg.norm(b - A @ x) / np.linalg.norm(b))
        return 1e-6

    x = conjugate_gradients(
        lambda v: A @ v, lambda v: v, b, 0.1, finer, in_preconditioned_norm=False
    )
    assert len(seen) == 1
    assert 1e-3 < seen[0] <= 0.1
    assert np.linalg.norm(b - A @ x) <= 1e-6 * np.linalg.norm(b)


def test_an_indefinite_matrix_gives_a_direction_of_ascent() -> None:
    A, b = np.diag([1.0, -1.0]), np.array([1.0, 2.0])
    x = conjugate_gradients(lambda v: A @ v, lambda v: v, b, 1e-6, in_preconditioned_norm=True)
    assert x @ b > 0


START = SimpleNamespace(gap=1.0)


def steps(f, derivative, *, with_slope=True, gap=lambda s: 0.0):
    """A function of one number, from 0 on."""

    def take(size):
        slope = derivative(size) * size if with_slope else None
        point = SimpleNamespace(size=size, gap=gap(size)) if np.isfinite(f(size)) else None
        return Step(point, f(size) - f(0.0), derivative(0.0) * size, slope)

    return take


def test_a_good_full_step_is_taken() -> None:
    take = steps(lambda s: s - s**2 / 2, lambda s: 1 - s)
    assert line_search(take, START, 0.0, tries=5).size == 1.0


def test_a_step_beyond_the_maximum_is_shortened_and_a_short_one_prolonged() -> None:
    take = steps(lambda s: s - 50 * s**2, lambda s: 1 - 100 * s)
    assert 0 < line_search(take, START, 0.0, tries=40).size < 0.02
    take = steps(lambda s: s - s**2 / 200, lambda s: 1 - s / 100)
    assert line_search(take, START, 0.0, tries=40).size > 30


@pytest.mark.parametrize("with_slope", [False, True])
def test_outside_the_domain_a_step_shrinks(with_slope) -> None:
    def f(s):
        return np.log(1 - 3 * s) + 4 * s if s < 1 / 3 else -np.inf

    take = steps(f, lambda s: 4 - 3 / (1 - 3 * s) if s < 1 / 3 else 0.0, with_slope=with_slope)
    found = line_search(take, START, 0.0, tries=40)
    assert f(found.size) > 0


def test_where_rounding_hides_the_rise_the_gap_decides() -> None:
    def never(s):
        return -1e-18 * s

    better = steps(never, lambda s: 1e-17, gap=lambda s: 0.5)
    assert line_search(better, START, 1e-16, tries=5).size == 1.0
    worse = steps(never, lambda s: 1e-17, gap=lambda s: 2.0)
    assert line_search(worse, START, 1e-16, tries=5) is None
