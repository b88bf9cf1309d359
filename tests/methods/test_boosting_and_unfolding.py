"""DefiniteBoost, priors that grow, unfolding: each is what it says, by another solver or a theorem."""

import cvxpy as cp
import numpy as np
import pytest
from gramlearn.constraints import (
    DenseMatrices,
    DistanceComparisons,
    Similarities,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard
from scipy.linalg import expm
from scipy.sparse import csr_array

from gramlearn import Factor, Frobenius, LogDet, Problem, Status, Term, VonNeumann, solve
from gramlearn.methods import DefiniteBoost, full_rank_prior, unfolding_problem
from gramlearn.problem.divergences import logdet_divergence, von_neumann_divergence
from oracles import ask


def symmetric(n, count, seed=0):
    A = np.random.default_rng(seed).standard_normal((count, n, n))
    return A + np.swapaxes(A, 1, 2)


# -- DefiniteBoost ---------------------------------------------------------------------------------


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


def test_definite_boost_that_no_density_satisfies():
    assert DefiniteBoost(DenseMatrices(np.eye(3)[None]), 3).solve().status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["d"], 3), "`constraints` must be Constraints"),
        ((Trace(offset=-1.0), 3), "must be homogeneous"),
        ((Trace(), 0), "`n` must be a whole number"),
    ],
)
def test_definite_boost_refuses(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        DefiniteBoost(*arguments)
    with pytest.raises(ValueError, match="`prior` must be positive semidefinite of size n = 3"):
        _ = DefiniteBoost(Trace(), 3, prior=np.eye(2)).problem


# -- a range that may grow -------------------------------------------------------------------------

POINTS = np.random.default_rng(5).standard_normal((6, 2))
APART = Term(Similarities([0, 1, 2], [3, 4, 5]), Hard(equal=0.0))
UNIT = Term(SquaredDistances([0, 1, 2, 0], [1, 2, 3, 5]), Hard(equal=1.0))


@pytest.mark.parametrize("phi", [LogDet(), VonNeumann()], ids=repr)
def test_what_has_no_solution_gets_one(phi):
    assert solve(Problem(phi, POINTS, [APART, UNIT])).status is Status.INFEASIBLE
    solution = solve(Problem(phi, full_rank_prior(POINTS), [APART, UNIT]))
    assert solution.status is Status.OPTIMAL
    np.testing.assert_allclose(solution.matrix[[0, 1, 2], [3, 4, 5]], 0.0, atol=1e-5)


def test_the_new_directions_weigh_eps():
    X0 = POINTS @ POINTS.T
    s, U = np.linalg.eigh(X0)
    N = U[:, :4] @ U[:, :4].T
    np.testing.assert_allclose(full_rank_prior(X0, 0.01), X0 + 0.01 * s[4:].mean() * N, atol=1e-12)
    np.testing.assert_allclose(
        full_rank_prior(POINTS, 0.01), full_rank_prior(Factor(POINTS), 0.01), atol=1e-12
    )
    np.testing.assert_allclose(full_rank_prior(POINTS, 0.01), full_rank_prior(X0, 0.01), atol=1e-12)


def test_a_prior_of_full_rank_stays():
    X0 = POINTS.T @ POINTS
    np.testing.assert_array_equal(full_rank_prior(X0), X0)
    np.testing.assert_array_equal(full_rank_prior(np.eye(3)), np.eye(3))


@pytest.mark.parametrize(
    ("phi", "share"), [(LogDet(), 0.02), (VonNeumann(), 0.8)], ids=["LogDet", "VonNeumann"]
)
def test_as_eps_falls_the_answer_falls_back_to_the_range(phi, share):
    """Where the range has a solution, that is the limit: as eps, or as 1 / log(1/eps)."""
    wider = 1.3 * np.sum((POINTS[[0, 2]] - POINTS[[1, 3]]) ** 2, axis=1)
    terms = [Term(SquaredDistances([0, 2], [1, 3]), Hard(equal=wider))]
    within = solve(Problem(phi, POINTS, terms), tol=1e-9).matrix
    V = np.linalg.svd(POINTS, full_matrices=False)[0]
    far, outside = [], []
    for eps in (1e-1, 1e-3, 1e-5):
        X = solve(Problem(phi, full_rank_prior(POINTS, eps), terms), tol=1e-7).matrix
        far.append(np.abs(X - within).max())
        outside.append(np.trace(X - V @ (V.T @ X @ V) @ V.T))
    assert 0 < far[2] < share * far[1] < share**2 * far[0]
    assert 0 < outside[2] < 0.2 * outside[1] < 0.04 * outside[0]


def test_growing_refuses():
    with pytest.raises(ValueError, match="eps must be positive"):
        full_rank_prior(np.eye(2), 0.0)
    with pytest.raises(ValueError, match="`prior` is not symmetric"):
        full_rank_prior(np.array([[1.0, 2.0], [0.0, 1.0]]))


# -- unfolding -------------------------------------------------------------------------------------

CHAIN = np.column_stack([np.arange(7), np.arange(1, 8)])
ARC = np.column_stack([np.cos(np.arange(8) * 0.6), np.sin(np.arange(8) * 0.6)])


def squared_distances(K, pairs):
    i, j = pairs.T
    return K[i, i] + K[j, j] - 2 * K[i, j]


@pytest.mark.parametrize("phi", [LogDet(), VonNeumann(), Frobenius()], ids=repr)
def test_neighbors_keep_their_distances_in_a_centered_kernel(phi):
    solution = solve(unfolding_problem(ARC, CHAIN, phi))
    assert solution.status is Status.OPTIMAL
    K = solution.matrix
    expected = np.sum((ARC[CHAIN[:, 0]] - ARC[CHAIN[:, 1]]) ** 2, axis=1)
    np.testing.assert_allclose(squared_distances(K, CHAIN), expected, rtol=1e-5)
    np.testing.assert_allclose(K.sum(axis=0), 0.0, atol=1e-10)


def test_unfolding_agrees_with_cvxpy():
    """Over S with K = V S V', where the columns of V span the vectors of sum zero."""
    K = solve(unfolding_problem(ARC, CHAIN, eps=0.2), tol=1e-9).matrix
    centered = ARC - ARC.mean(axis=0)
    K0 = centered @ centered.T
    K0 += 0.2 * np.trace(K0) / 8 * np.eye(8)
    V = np.linalg.svd(np.eye(8) - 1 / 8)[0][:, :7]
    S = cp.Variable((7, 7), PSD=True)
    value = cp.trace(np.linalg.inv(V.T @ K0 @ V) @ S) - cp.log_det(S)
    z = V[CHAIN[:, 0]] - V[CHAIN[:, 1]]
    kept = [
        cp.sum(cp.multiply(np.outer(row, row), S)) == np.sum((ARC[i] - ARC[j]) ** 2)
        for row, (i, j) in zip(z, CHAIN, strict=True)
    ]
    ask(cp.Problem(cp.Minimize(value), kept), tol=1e-11)
    np.testing.assert_allclose(K, V @ S.value @ V.T, atol=1e-5)


def test_a_prior_that_keeps_them_is_the_answer():
    F = np.random.default_rng(0).standard_normal((8, 9))
    K0 = F @ F.T
    points = np.linalg.cholesky(K0)
    solution = solve(unfolding_problem(points, CHAIN, prior=K0), tol=1e-9)
    H = np.eye(8) - 1 / 8
    np.testing.assert_allclose(solution.matrix, H @ K0 @ H, atol=1e-9)
    assert logdet_divergence(solution.matrix, H @ K0 @ H) < 1e-12


def test_a_rigid_clique_is_for_a_loss_with_a_price():
    rng = np.random.default_rng(1)
    points = rng.standard_normal((7, 2))
    clique = np.array([(i, j) for i in range(5) for j in range(i)])
    assert solve(unfolding_problem(points, clique)).status is Status.INFEASIBLE
    soft = solve(unfolding_problem(points, clique, C=100.0))
    assert soft.status is Status.OPTIMAL
    expected = np.sum((points[clique[:, 0]] - points[clique[:, 1]]) ** 2, axis=1)
    np.testing.assert_allclose(squared_distances(soft.matrix, clique), expected, atol=0.2)


def test_a_graph_is_pairs():
    graph = csr_array((np.ones(7), CHAIN.T), shape=(8, 8))
    both = unfolding_problem(ARC, graph + graph.T + csr_array(np.eye(8)))
    pairs = unfolding_problem(ARC, CHAIN[:, ::-1])
    for one in (both, pairs):
        constraints = one.terms[0].constraints
        np.testing.assert_array_equal(np.column_stack([constraints.i, constraints.j]), CHAIN)


@pytest.mark.parametrize(
    ("neighbors", "options", "message"),
    [
        (np.arange(4), {}, "`graph` must be a sparse matrix or an array m x 2"),
        (csr_array(np.eye(3)), {}, "`graph` has shape"),
        (np.array([[0, 9]]), {}, "`graph` refers to row 9"),
        (np.array([[1, 1]]), {}, "no pair of different points"),
        (CHAIN, {"C": -1.0}, "C must be positive"),
        (CHAIN, {"eps": 0.0}, "eps must be positive"),
        (CHAIN, {"prior": np.eye(3)}, "`prior` is of size 3"),
        (CHAIN, {"prior": -np.eye(8)}, "`prior` is not positive semidefinite"),
    ],
)
def test_unfolding_refuses(neighbors, options, message):
    with pytest.raises(ValueError, match=message):
        unfolding_problem(ARC, neighbors, **options)
