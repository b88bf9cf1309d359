"""Parts of interior points for unfolding: sums over pairs as if written out, and their decompositions."""

import numpy as np
import pytest

from gramlearn.methods.unfolding import interior_step
from gramlearn.methods.unfolding.differences import Differences, multiply_lower
from gramlearn.methods.unfolding.local_start import local_weights
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
    np.testing.assert_allclose(PAIRS.weighted(Q, weights), (D.T * weights) @ D, atol=1e-14)
    scale = np.arange(1.0, 6.0)
    for products in (PAIRS.products, PAIRS.quick_products):
        np.testing.assert_allclose(products(Q, scale), D @ D.T * np.outer(scale, scale), atol=1e-13)
    np.testing.assert_allclose(PAIRS.take(np.array([1, 3])).rows(Q), D[[1, 3]])


def test_sums_over_pairs_of_many_columns_are_made_in_blocks_and_symmetric():
    i, j = np.triu_indices(40, 1)
    many, wide = Differences(i, j, 40), RNG.standard_normal((40, 301))
    weights = RNG.standard_normal(i.shape[0])
    rows = wide[i] - wide[j]
    total = many.weighted(wide, weights, less=2.0)
    np.testing.assert_allclose(total, (rows.T * weights) @ rows - 2.0 * wide.T @ wide, atol=1e-10)
    np.testing.assert_allclose(total, total.T, atol=1e-10)
    values = np.einsum("kp,pq,kq->k", rows, total, rows, optimize=True)
    np.testing.assert_allclose(many.values(wide, total), values, rtol=1e-10)
    np.testing.assert_allclose(
        multiply_lower(wide, np.tril(total)), wide @ np.tril(total), rtol=1e-10
    )


def test_products_of_near_points_far_from_the_origin_keep_their_digits():
    far = Q * 1e-4 + 1e4
    exact = far[PAIRS.i] - far[PAIRS.j]
    np.testing.assert_allclose(PAIRS.products(far, np.ones(5)), exact @ exact.T, rtol=1e-12)


def test_a_step_keeps_both_cones_and_comes_nearer():
    points = RNG.standard_normal((20, 3))
    problem = UnfoldingProblem(points, *np.triu_indices(20, 1), at_most=True)
    program, now = problem.program, problem.start()
    gaps = []
    for _ in range(6):
        S = program.basis.T @ now.F @ now.F.T @ program.basis
        Z = program.differences.weighted(program.basis, now.lam) - np.eye(19)
        assert min(np.linalg.eigvalsh(S)[0], np.linalg.eigvalsh(Z)[0]) > 0
        assert min(now.lam.min(), now.slack.min()) > 0
        gaps.append(np.sum(S * Z) + now.slack @ now.lam)
        now = interior_step.step(now, program)
    assert gaps[-1] < 1e-2 * gaps[0]


def test_the_start_is_the_sum_of_inverses_of_cliques():
    # Two triangles that share an edge: the pairs of both cliques, and none across.
    points = RNG.standard_normal((4, 2))
    i, j = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 2, 3, 3])
    weights = local_weights(points, i, j)
    W = np.zeros((4, 4))
    for clique in ([0, 1, 2], [1, 2, 3]):
        apart = points[clique] - points[clique].mean(axis=0)
        W[np.ix_(clique, clique)] += np.linalg.pinv(apart @ apart.T)
    np.testing.assert_allclose(Differences(i, j, 4).laplacian(weights).toarray(), W, atol=1e-10)


@pytest.mark.parametrize("n", [12, 260])
def test_the_start_is_a_multiple_of_the_inverse_and_of_a_given_size(n):
    points = RNG.standard_normal((n, 3))
    parents = np.array([RNG.integers(k) for k in range(1, n)])
    problem = UnfoldingProblem(points, parents, np.arange(1, n), at_most=False)
    start, d = problem.start(), problem.differences
    ratio = d.squares(start.F).sum() / problem.squared.sum()
    np.testing.assert_allclose(ratio, interior_step._ROOM, rtol=1e-9)
    both = d.weighted(start.F, start.lam, less=1.0)
    np.testing.assert_allclose(both / both[0, 0], np.eye(n - 1), atol=1e-6)


def test_equal_points_and_flat_cliques_give_a_start():
    flat = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    i, j = np.triu_indices(5, 1)
    weights = local_weights(flat, i, j)
    assert np.all(np.isfinite(weights))
    problem = UnfoldingProblem(flat, i, j, at_most=False)
    Z = problem.differences.weighted(problem.basis, weights)
    assert np.linalg.eigvalsh(Z)[0] > 0


@pytest.mark.parametrize("p", [20, 260])
def test_the_ends_of_a_spectrum_are_not_underestimated(p):
    for seed in range(3):
        A = symmetric(p, seed)
        s = np.linalg.eigvalsh(A)
        found = [*interior_step._ends(A), interior_step._ends(A, "SA")[0]]
        for least, at_most in ((s[0], found[0]), (-s[-1], -found[1]), (s[0], found[2])):
            assert least - 1e-2 * abs(least) <= at_most <= least + 1e-12 * abs(least)


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
