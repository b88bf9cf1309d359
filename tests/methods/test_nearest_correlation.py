"""nearest_correlation: alternating projections, CVXPY and closed forms are the oracles."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.scripts import nearest_correlation as benchmark

from gramlearn import (
    Frobenius,
    InfeasibleError,
    LogDet,
    Schatten,
    Status,
    VonNeumann,
    nearest_correlation,
)
from gramlearn.problem.divergences import divergence
from oracles import ask


def indefinite(n, seed=0):
    """A symmetric matrix with a unit diagonal that is far from positive semidefinite."""
    upper = np.triu(np.random.default_rng(seed).uniform(-1, 1, (n, n)), 1)
    return upper + upper.T + np.eye(n)


def positive(n, seed=0):
    F = np.random.default_rng(seed).standard_normal((n, n + 3))
    return F @ F.T / n


def alternating_projections(C, rounds):
    """Higham (2002): project on the cone, with Dykstra's correction, then set the diagonal to one."""
    Y, correction = C.copy(), np.zeros_like(C)
    for _ in range(rounds):
        R = Y - correction
        x, U = np.linalg.eigh(R)
        X = (U * np.clip(x, 0, None)) @ U.T
        correction = X - R
        before, Y = Y, X.copy()
        np.fill_diagonal(Y, 1.0)
        if np.abs(Y - before).max() <= 1e-14:
            break
    return Y


def is_correlation(X):
    return np.linalg.eigvalsh(X)[0] >= -1e-13 * len(X) and np.abs(np.diag(X) - 1).max() <= 1e-10


@pytest.mark.parametrize("n", [3, 12, 30])
def test_frobenius_is_the_limit_of_alternating_projections(n):
    C = indefinite(n)
    X = nearest_correlation(C, regularizer="frobenius", tol=1e-10)
    np.testing.assert_allclose(X, alternating_projections(C, 3000), atol=1e-6)
    assert is_correlation(X)


@pytest.mark.parametrize("n", [3, 12])
def test_the_default_keeps_the_inverse_off_the_diagonal(n):
    """X^-1 = C^-1 + diag(lam): the condition of optimality of the LogDet divergence."""
    C = positive(n)
    change = np.linalg.inv(nearest_correlation(C)) - np.linalg.inv(C)
    np.testing.assert_allclose(change, np.diag(np.diag(change)), atol=1e-9 * n**2)


def test_the_example_of_higham():
    C = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    X = nearest_correlation(C, regularizer=Frobenius())
    np.testing.assert_allclose(X[0], [1.0, 0.7607, 0.1573], atol=5e-5)


def test_frobenius_at_a_diagonal_that_is_not_one():
    C = indefinite(8) + np.diag(np.linspace(-2, 3, 8))
    X = nearest_correlation(C, regularizer="frobenius", tol=1e-10)
    np.testing.assert_allclose(X, alternating_projections(C, 3000), atol=1e-6)


@pytest.mark.parametrize("phi", [LogDet(), VonNeumann(), Frobenius(), Schatten(1.5)], ids=repr)
def test_the_certificate_is_that_of_the_returned_matrix(phi):
    """Its value is the divergence, its bound is below every other value, and the diagonal is one."""
    C = positive(10)
    solution = nearest_correlation(C, regularizer=phi, return_solution=True)
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= 1e-7
    assert solution.primal == pytest.approx(divergence(solution.matrix, C, phi), rel=1e-9)
    assert solution.primal - solution.dual <= solution.gap
    assert is_correlation(solution.matrix)
    X = nearest_correlation(C, regularizer=phi)
    assert np.all(np.diag(X) == 1.0)
    np.testing.assert_allclose(X, solution.matrix, atol=1e-14)
    for seed in range(20):
        other = np.corrcoef(np.random.default_rng(seed).standard_normal((10, 30))) + X
        assert divergence(other / 2, C, phi) >= solution.dual


def test_logdet_agrees_with_cvxpy():
    C = positive(6)
    X = cp.Variable((6, 6), PSD=True)
    value = cp.trace(np.linalg.inv(C) @ X) - cp.log_det(X)
    ask(cp.Problem(cp.Minimize(value), [cp.diag(X) == 1]), tol=1e-11)
    np.testing.assert_allclose(nearest_correlation(C), X.value, atol=1e-5)


def test_the_gap_bounds_the_distance_from_the_optimum():
    C = indefinite(15)
    exact = nearest_correlation(C, regularizer="frobenius", tol=1e-12)
    rough = nearest_correlation(C, regularizer="frobenius", tol=1e-2, return_solution=True)
    assert 0 < np.sum((rough.matrix - exact) ** 2) <= 2 * rough.gap


def test_a_correlation_matrix_is_its_own_nearest():
    C = np.corrcoef(np.random.default_rng(0).standard_normal((7, 20)))
    for name in ("logdet", "von_neumann", "frobenius"):
        np.testing.assert_allclose(nearest_correlation(C, regularizer=name), C, atol=1e-7)


# -- low rank --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [2, 4, 9])
def test_frobenius_of_low_rank(rank):
    C = indefinite(20, seed=3)
    solution = nearest_correlation(C, rank, "frobenius", return_solution=True)
    X = nearest_correlation(C, rank, "frobenius")
    full = nearest_correlation(C, regularizer="frobenius", return_solution=True)
    assert solution.factor.shape == (20, rank)
    assert is_correlation(X)
    assert solution.primal == pytest.approx(np.sum((X - C) ** 2) / 2)
    assert solution.primal - solution.dual <= solution.gap
    assert solution.dual >= full.dual - 1e-9  # a smaller set, a larger bound
    assert solution.status in (Status.LOCAL, Status.OPTIMAL)
    # No small change of the factor is better, to first order: the slope along the spheres vanishes.
    F = solution.factor
    slope = 2 * (F @ F.T - C) @ F
    slope -= np.sum(slope * F, axis=1, keepdims=True) * F
    assert np.abs(slope).max() < 1e-5


def test_the_bound_of_low_rank_closes_where_the_answer_is_global():
    """Rank one: X = s s' with signs s, and all of them can be tried."""
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    C = np.outer(signs, signs) + 0.2 * indefinite(6)
    solution = nearest_correlation(C, 1, "frobenius", return_solution=True)
    every = 1 - 2.0 * ((np.arange(64)[:, None] >> np.arange(6)) & 1)
    best = min(np.sum((np.outer(s, s) - C) ** 2) / 2 for s in every)
    assert solution.primal == pytest.approx(best)
    assert solution.dual <= best * (1 + 1e-12)
    assert solution.status is Status.OPTIMAL


def test_a_rank_that_limits_nothing():
    C = indefinite(5)
    full = nearest_correlation(C, regularizer="frobenius")
    np.testing.assert_array_equal(nearest_correlation(C, 5, "frobenius"), full)
    # The optimum has rank 3: asking for that changes nothing, and the bound proves it.
    assert np.linalg.matrix_rank(full, tol=1e-6) == 3
    low = nearest_correlation(C, 3, "frobenius", return_solution=True)
    assert low.status is Status.OPTIMAL
    np.testing.assert_allclose(low.matrix, full, atol=1e-4)


@pytest.mark.parametrize("name", ["logdet", "von_neumann"])
def test_a_rank_keeps_the_range_of_the_leading_eigenvectors(name):
    C = np.corrcoef(np.random.default_rng(1).standard_normal((8, 40)))
    solution = nearest_correlation(C, 5, name, return_solution=True)
    V = np.linalg.eigh(C)[1][:, -5:]
    X = solution.matrix
    np.testing.assert_allclose(V @ (V.T @ X @ V) @ V.T, X, atol=1e-10)
    np.testing.assert_allclose(np.diag(X), 1.0, atol=1e-7)
    with pytest.raises(
        InfeasibleError, match=r"the 2 leading eigenvectors of `matrix`.*raise `rank`"
    ):
        nearest_correlation(C, 2, name)


def test_a_range_without_a_correlation_matrix():
    with pytest.raises(InfeasibleError, match=r"within the range of `matrix`.*add a little"):
        nearest_correlation(np.diag([1.0, 1.0, 0.0]))


# -- input -----------------------------------------------------------------------------------------


def test_every_library(library):
    C = indefinite(6)
    X = nearest_correlation(library.array(C), regularizer="frobenius")
    expected = nearest_correlation(C, regularizer="frobenius")
    np.testing.assert_allclose(library.numpy(X), expected, atol=1e-10)


def test_inputs_are_not_modified():
    C = indefinite(6)
    before = C.copy()
    nearest_correlation(C, 2, "frobenius")
    np.testing.assert_array_equal(C, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)),), "`matrix` must be a square matrix"),
        ((np.array([[1.0, 2.0], [0.0, 1.0]]),), "`matrix` is not symmetric"),
        ((np.array([[1.0, np.inf], [np.inf, 1.0]]),), "`matrix` contains NaN or infinity"),
        (
            (np.array([[1.0, 2.0], [2.0, 1.0]]), None, "logdet"),
            'eigenvalues from -1 to 3.*"frobenius"',
        ),
        ((np.eye(3), 0), "`rank` must be a whole number"),
        ((np.eye(3), 2, Schatten(3.0)), "`rank` is for the regularizers"),
        ((np.eye(3), None, "euclid"), "`regularizer='euclid'` is not known"),
    ],
)
def test_bad_input_raises_a_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        nearest_correlation(*arguments)


@pytest.mark.parametrize("kind", benchmark.KINDS)
def test_the_contestants_of_the_benchmark_answer_one_question(kind):
    task = benchmark.ask(kind, 12, seed=0)
    assert np.linalg.eigvalsh(benchmark.draw(12, seed=0))[0] < 0
    assert task.is_plain == (kind == "plain")
    X, bound = benchmark.gramlearn(task)
    other, _ = benchmark.cvxpy_scs(task)
    known = task.W > 0
    np.testing.assert_allclose(X[known], other[known], atol=1e-4)
    value = np.sum(task.W * (X - task.C) ** 2) / 2
    assert 0 <= bound <= value * (1 + 1e-12) + 1e-12
