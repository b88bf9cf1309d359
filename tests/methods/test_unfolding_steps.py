"""Parts of interior points for unfolding: sums over pairs as if written out, and their decompositions."""

import numpy as np
import pytest

from gramlearn.methods.unfolding import interior_step
from gramlearn.methods.unfolding.differences import Differences
from gramlearn.methods.unfolding.variance_bound import UnfoldingProblem

RNG = np.random.default_rng(0)
PAIRS = Differences(np.array([0, 1, 4, 2, 0]), np.array([3, 2, 0, 5, 1]), 6)
Q = RNG.standard_normal((6, 4))
D = np.array([Q[i] - Q[j] for i, j in zip(PAIRS.i, PAIRS.j, strict=True)])


def symmetric(p, seed=0):
    A = np.random.default_rng(seed).standard_normal((p, p))
    return (A + A.T) / 2


def test_sums_over_pairs_are_those_written_out():
    A, weights = symmetric(4), np.array([2.0, -1.0, 0.0, 3.0, 0.5])
    np.testing.assert_allclose(PAIRS.rows(Q), D)
    np.testing.assert_allclose(PAIRS.squares(Q), [d @ d for d in D])
    np.testing.assert_allclose(PAIRS.values(Q, A), [d @ A @ d for d in D])
    np.testing.assert_allclose(PAIRS.values(Q, A[0]), [d @ np.diag(A[0]) @ d for d in D])
    np.testing.assert_allclose(PAIRS.weighted(Q, weights), (D.T * weights) @ D, atol=1e-14)
    np.testing.assert_allclose(PAIRS.products(Q), D @ D.T, atol=1e-14)
    np.testing.assert_allclose(PAIRS.take(np.array([1, 3])).rows(Q), D[[1, 3]])


def test_products_of_near_points_far_from_the_origin_keep_their_digits():
    far = Q * 1e-4 + 1e4
    exact = far[PAIRS.i] - far[PAIRS.j]
    np.testing.assert_allclose(PAIRS.products(far), exact @ exact.T, rtol=1e-12)


@pytest.mark.parametrize("least", [0.5, 1e-6], ids=["near the path", "far from it"])
def test_singular_vectors_are_exact_near_the_path_and_far_from_it(least):
    U, V = (np.linalg.qr(RNG.standard_normal((30, 30)))[0] for _ in range(2))
    A = (U * np.geomspace(1.0, least, 30)) @ V.T
    U, L, V = interior_step._singular_vectors(A)
    np.testing.assert_allclose((U * L) @ V.T, A, atol=1e-13)
    np.testing.assert_allclose(U.T @ U, np.eye(30), atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(30), atol=1e-12)


@pytest.mark.parametrize("p", [20, 260])
def test_the_least_eigenvalue_is_not_overestimated(p):
    for seed in range(3):
        A = symmetric(p, seed)
        least = np.linalg.eigvalsh(A)[0]
        found = interior_step._least_eigenvalue(A)
        assert least - 1e-2 * abs(least) <= found <= least + 1e-12 * abs(least)


def test_the_negative_part_of_any_multipliers_is_not_underestimated():
    points = RNG.standard_normal((9, 3))
    chain = np.column_stack([np.arange(8), np.arange(1, 9)])
    problem = UnfoldingProblem(points, *chain.T, at_most=False)
    d = problem.basis[chain[:, 0]] - problem.basis[chain[:, 1]]
    for size in (0.0, 1.0, 100.0):
        lam = size * np.abs(RNG.standard_normal(8)) + size
        least = np.linalg.eigvalsh((d.T * lam) @ d - np.eye(8))[0]
        z = problem._negative_part(lam)
        assert max(0.0, -least) <= z + 1e-15
        assert z <= max(0.0, -least) + 1e-11
