"""unfolding_problem: a centered kernel that keeps the distances between neighbors, as CVXPY finds it."""

from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array

from gramlearn import Frobenius, LogDet, Status, VonNeumann, solve
from gramlearn.methods import unfolding_problem
from gramlearn.problem.divergences import divergence
from oracles import ask

logdet_divergence = partial(divergence, regularizer=LogDet())

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


def test_a_prior_that_keeps_the_distances_is_the_answer():
    F = np.random.default_rng(0).standard_normal((8, 9))
    K0 = F @ F.T
    points = np.linalg.cholesky(K0)
    solution = solve(unfolding_problem(points, CHAIN, prior=K0), tol=1e-9)
    H = np.eye(8) - 1 / 8
    np.testing.assert_allclose(solution.matrix, H @ K0 @ H, atol=1e-9)
    assert logdet_divergence(solution.matrix, H @ K0 @ H) < 1e-12


def test_a_rigid_clique_is_infeasible_unless_distances_have_a_price():
    rng = np.random.default_rng(1)
    points = rng.standard_normal((7, 2))
    clique = np.array([(i, j) for i in range(5) for j in range(i)])
    assert solve(unfolding_problem(points, clique)).status is Status.INFEASIBLE
    soft = solve(unfolding_problem(points, clique, C=100.0))
    assert soft.status is Status.OPTIMAL
    expected = np.sum((points[clique[:, 0]] - points[clique[:, 1]]) ** 2, axis=1)
    np.testing.assert_allclose(squared_distances(soft.matrix, clique), expected, atol=0.2)


def test_a_graph_and_its_pairs_give_the_same_problem():
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
def test_bad_input_raises_a_clear_error(neighbors, options, message):
    with pytest.raises(ValueError, match=message):
        unfolding_problem(ARC, neighbors, **options)
