"""DefiniteBoost: the matrix exponential of its duals, and the optimum that CVXPY finds."""

from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from gramlearn.constraints import (
    DenseMatrices,
    DistanceComparisons,
    Trace,
)
from gramlearn.losses import Hard
from scipy.linalg import expm

from gramlearn import Problem, Status, Term, VonNeumann, solve
from gramlearn.methods import DefiniteBoost
from gramlearn.problem.divergences import divergence
from oracles import ask

von_neumann_divergence = partial(divergence, regularizer=VonNeumann())


def symmetric(n, count, seed=0):
    A = np.random.default_rng(seed).standard_normal((count, n, n))
    return A + np.swapaxes(A, 1, 2)


def test_definite_boost_is_a_matrix_exponential_with_prices():
    """X = exp(log X0 - sum lam A) / Z, lam >= 0, and lam only where <A, X> = 0."""
    A = symmetric(6, 4) + 0.3 * np.eye(6)
    solution = DefiniteBoost(DenseMatrices(A), 6).solve(tol=1e-10)
    assert solution.status is Status.OPTIMAL
    X, lam = solution.matrix, solution.duals[0]
    exponential = expm(-np.tensordot(lam, A, 1))
    np.testing.assert_allclose(X, exponential / np.trace(exponential), atol=1e-8)
    t = np.tensordot(A, X, 2)
    assert np.all(lam >= 0)
    assert lam.max() > 0.01
    assert np.all(t <= 1e-8)
    np.testing.assert_allclose(lam * t, 0.0, atol=1e-8)
    assert np.trace(X) == pytest.approx(1.0)


def test_definite_boost_without_the_trace_is_the_same_up_to_scale():
    """As K09 states it: von Neumann, full rank, b = 0."""
    comparisons = DistanceComparisons([0, 1, 2, 3], [1, 2, 3, 4], [4, 4, 0, 1])
    points = np.random.default_rng(0).standard_normal((5, 4))
    comparisons = DistanceComparisons(comparisons.i, comparisons.j, comparisons.k, points=points)
    boosted = DefiniteBoost(comparisons, 4).solve(tol=1e-10)
    plain = solve(
        Problem(VonNeumann(), np.eye(4) / 4, [Term(comparisons, Hard(upper=0.0))]), tol=1e-10
    )
    np.testing.assert_allclose(plain.matrix / np.trace(plain.matrix), boosted.matrix, atol=1e-7)
    assert plain.duals[0].max() > 0


def test_definite_boost_of_commuting_matrices_is_boosting():
    """Diagonal matrices: the entropy of a distribution, which CVXPY knows."""
    rows = np.random.default_rng(1).standard_normal((3, 7)) + 0.3
    solution = DefiniteBoost(DenseMatrices(rows[:, :, None] * np.eye(7)), 7).solve(tol=1e-10)
    p = cp.Variable(7)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, rows @ p <= 0])
    ask(problem, tol=1e-10)
    np.testing.assert_allclose(np.diag(solution.matrix), p.value, atol=1e-6)


def test_definite_boost_from_a_prior_of_its_own():
    A = symmetric(5, 3, seed=2)
    F = np.random.default_rng(3).standard_normal((5, 8))
    X0 = F @ F.T
    solution = DefiniteBoost([DenseMatrices(A[:1]), DenseMatrices(A[1:])], 5, prior=X0).solve()
    assert solution.status is Status.OPTIMAL
    density = X0 / np.trace(X0)
    terms = [Term(DenseMatrices(A), Hard(upper=0.0)), Term(Trace(), Hard(equal=1.0))]
    expected = solve(Problem(VonNeumann(), density, terms))
    np.testing.assert_allclose(solution.matrix, expected.matrix, atol=1e-5)
    assert solution.primal == pytest.approx(
        von_neumann_divergence(solution.matrix, density), rel=1e-5
    )


def test_constraints_that_no_density_satisfies_are_infeasible():
    assert DefiniteBoost(DenseMatrices(np.eye(3)[None]), 3).solve().status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["d"], 3), "`constraints` must be Constraints"),
        ((Trace(offset=-1.0), 3), "must be homogeneous"),
        ((Trace(), 0), "`n` must be a whole number"),
    ],
)
def test_bad_input_raises_a_clear_error(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        DefiniteBoost(*arguments)
    with pytest.raises(ValueError, match="`prior` must be positive semidefinite of size n = 3"):
        _ = DefiniteBoost(Trace(), 3, prior=np.eye(2)).problem
