"""Fixed blocks that are singular: no feasible matrix is positive definite, and the cone is that of a face.

Oracles are CVXPY on the face, whose basis is written down here from how the case was made; the smaller problem
of merged rows; and the limit of fixed entries.
"""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gramlearn import InfeasibleError, Status, nearest_correlation
from oracles import ask, independent, vanishing_on

RNG = np.random.default_rng(0)
SIZES = (5, 8, 20)


def symmetric(draw):
    upper = np.triu(draw, 1)
    return upper + upper.T


def indefinite(n, seed=0):
    return symmetric(np.random.default_rng(seed).uniform(-1, 1, (n, n))) + np.eye(n)


def low_rank(k, rank, seed=1):
    rows = np.random.default_rng(seed).standard_normal((k, rank))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return symmetric(rows @ rows.T) + np.eye(k)


def keep(C, rows, block):
    """C with this block fixed, and the mask."""
    C, fixed = C.copy(), np.zeros(C.shape, dtype=bool)
    C[np.ix_(rows, rows)] = block
    fixed[np.ix_(rows, rows)] = True
    return C, fixed


def kernel(rows, block, n):
    """The v of the block, one a row, by its eigenvectors."""
    z, V = np.linalg.eigh(block)
    v = np.zeros((int(np.sum(z < 1e-9)), n))
    v[:, rows] = V[:, z < 1e-9].T
    return v


def equal_rows(n):
    C, fixed = keep(indefinite(n), [0, 1], np.ones((2, 2)))
    return C, {"fixed": fixed}, np.eye(1, n) - np.eye(1, n, 1)


def opposite_rows_and_weights(n):
    C, fixed = keep(indefinite(n), [1, 3], np.array([[1.0, -1.0], [-1.0, 1.0]]))
    weights = symmetric(10 ** np.random.default_rng(1).uniform(-2, 1, (n, n)))
    return C, {"fixed": fixed, "weights": weights}, np.eye(1, n, 1) + np.eye(1, n, 3)


def block_of_rank_two(n):
    rows, block = [0, 1, 2, 4], low_rank(4, 2)
    C, fixed = keep(indefinite(n), rows, block)
    return C, {"fixed": fixed}, kernel(rows, block, n)


def estimated_from_few(n):
    """Correlations of k rows from k / 2 observations, with entries beside them unknown or bounded."""
    k = n // 2 + 1
    block = np.corrcoef(np.random.default_rng(5).standard_normal((k, max(k // 2, 3))))
    C, fixed = keep(indefinite(n), np.arange(k), block)
    C[0, -1] = C[-1, 0] = np.nan
    return (
        C,
        {"fixed": fixed, "bounds": (-0.99, np.where(fixed, 1, 0.5))},
        kernel(np.arange(k), block, n),
    )


def two_blocks_that_share_a_row(n):
    first, second = low_rank(3, 2, 1), low_rank(3, 2, 2)
    C, fixed = keep(indefinite(n), [0, 1, 2], first)
    C, other = keep(C, [2, 3, 4], second)
    relations = [kernel([0, 1, 2], first, n), kernel([2, 3, 4], second, n)]
    return C, {"fixed": fixed | other}, np.vstack(relations)


def two_blocks_that_tell_the_rest(n):
    """Both have rank two and share two rows: all ten entries among the five rows follow."""
    block = low_rank(5, 2, 3)
    C, fixed = keep(indefinite(n), [0, 1, 2], block[:3, :3])
    C, other = keep(C, [1, 2, 3, 4], block[1:, 1:])
    return C, {"fixed": fixed | other}, kernel(np.arange(5), block, n)


def block_told_by_equal_rows(n):
    """Rows 0 and 1 are equal, so rows 0, 2 and 3 are a block of rank two, which was not fixed as one."""
    block = low_rank(3, 2, 4)
    C, fixed = keep(indefinite(n), [0, 1], np.ones((2, 2)))
    for a, b, place in ((0, 2, (0, 1)), (1, 3, (0, 2)), (2, 3, (1, 2))):
        C[a, b] = C[b, a] = block[place]
        fixed[a, b] = True
    equal = np.eye(1, n) - np.eye(1, n, 1)
    return C, {"fixed": fixed}, np.vstack([equal, kernel([0, 2, 3], block, n)])


CASES = (
    equal_rows,
    opposite_rows_and_weights,
    block_of_rank_two,
    estimated_from_few,
    two_blocks_that_share_a_row,
    two_blocks_that_tell_the_rest,
    block_told_by_equal_rows,
)
every_case = pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
every_size = pytest.mark.parametrize("n", SIZES)


def weights_of(C, options):
    return np.where(np.isnan(C), 0.0, options.get("weights", np.ones(C.shape)))


def oracle(C, options, relations):
    """The least value by CVXPY, over X = U Y U'. Equations that follow from that are left to it."""
    n = len(C)
    i, j = np.triu_indices(n, 1)
    X = vanishing_on(relations)
    fixed = (options["fixed"] | options["fixed"].T)[i, j]
    lower, upper = (np.broadcast_to(end, (n, n))[i, j] for end in options.get("bounds", (-1, 1)))
    weight, near = 2 * weights_of(C, options)[i, j], np.nan_to_num(C)[i, j]
    # Functions of Y: those that are independent.
    U = np.linalg.svd(relations, full_matrices=True)
    basis = U[2][np.sum(U[1] > 1e-6) :].T
    rows = np.concatenate([np.arange(n), i[fixed]]), np.concatenate([np.arange(n), j[fixed]])
    products = basis[rows[0]][:, :, None] * basis[rows[1]][:, None, :]
    products = (products + products.transpose(0, 2, 1)).reshape(len(rows[0]), -1)
    some = independent(products)
    given = np.concatenate([np.ones(n), near[fixed]])
    asked = [X[rows[0][some], rows[1][some]] == given[some]]
    free = np.flatnonzero(~fixed)
    entries = X[i[free], j[free]]
    if "bounds" in options:
        asked += [entries >= lower[free], entries <= upper[free]]
    value = cp.sum_squares(cp.multiply(np.sqrt(weight[free]), entries - near[free])) / 2
    ask(cp.Problem(cp.Minimize(value), asked))
    return float(value.value)


@every_case
@every_size
def test_the_value_is_that_of_cvxpy_on_the_face(make, n):
    C, options, relations = make(n)
    solution = nearest_correlation(C, **options, return_solution=True)
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 400
    expected = oracle(C, options, relations)
    assert solution.primal == pytest.approx(expected, rel=2e-5, abs=1e-6)
    assert solution.dual <= expected * (1 + 1e-6) + 1e-6


@every_case
@pytest.mark.parametrize("n", [*SIZES, 60])
def test_what_was_asked_is_kept(make, n):
    C, options, relations = make(n)
    solution = nearest_correlation(C, **options, return_solution=True)
    X, fixed = solution.matrix, options["fixed"] | options["fixed"].T
    off = ~np.eye(n, dtype=bool)
    assert solution.status is Status.OPTIMAL
    assert np.all(np.diag(X) == 1)
    assert np.linalg.eigvalsh(X)[0] >= -1e-13
    missed = np.abs(X - C)[fixed & off].max()
    lower, upper = options.get("bounds", (-1, 1))
    missed = max(missed, np.max((lower - X)[off]), np.max((X - upper)[off]))
    assert missed <= max(solution.violation, 1e-13) <= 1e-8
    assert np.abs(X @ relations.T).max() < 1e-6
    value = np.sum(weights_of(C, options) * (X - np.nan_to_num(C)) ** 2) / 2
    assert solution.primal == pytest.approx(value, rel=1e-12)


@every_case
@pytest.mark.parametrize("n", [8, 60])
def test_the_multipliers_prove_the_bound_on_the_face(make, n):
    C, options, relations = make(n)
    solution = nearest_correlation(C, **options, return_solution=True)
    S, U = solution.multipliers, solution.face
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
    assert np.abs(relations @ U).max() < 1e-9
    assert U.shape[1] == n - np.linalg.matrix_rank(relations, tol=1e-6)
    inside = np.linalg.eigvalsh(U.T @ S @ U)
    assert inside[0] >= -1e-12 * np.abs(S).sum()
    # The least of the Lagrangian over each entry, in closed form.
    fixed = options["fixed"] | options["fixed"].T | np.eye(n, dtype=bool)
    low, high = (np.where(fixed, C, end) for end in options.get("bounds", (-1, 1)))
    W, near = weights_of(C, options), np.nan_to_num(C)
    step = np.where(W > 0, S / np.where(W > 0, W, 1), 9 * np.sign(S))
    x = np.clip(near + step, low, high)
    bound = np.sum(W * (x - near) ** 2 / 2 - S * x)
    assert solution.dual <= bound
    assert bound - solution.dual <= solution.gap
    assert solution.primal - solution.dual <= solution.gap * (1 + 1e-12)
    # What the rounding of fixed entries may change is in the gap, and little.
    assert solution.gap <= 1e-5 * solution.primal


@pytest.mark.parametrize("n", [5, 20, 60])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equal_rows_are_one_row_of_their_mean_with_the_sum_of_their_weights(n, sign):
    C = indefinite(n)
    C[0, 1] = C[1, 0] = sign
    W = symmetric(np.random.default_rng(2).uniform(0.1, 1, (n, n)))
    fixed = np.eye(n, k=1, dtype=bool) & (np.arange(n) == 1)
    merged, sums = C[1:, 1:].copy(), W[1:, 1:].copy()
    sums[0, 1:] = sums[1:, 0] = W[0, 2:] + W[1, 2:]
    merged[0, 1:] = (W[1, 2:] * C[1, 2:] + sign * W[0, 2:] * C[0, 2:]) / sums[0, 1:]
    merged[1:, 0] = merged[0, 1:]
    expected = nearest_correlation(merged, weights=sums, tol=1e-11)
    X = nearest_correlation(C, weights=W, fixed=fixed, tol=1e-11)
    np.testing.assert_allclose(X[1:, 1:], expected, atol=1e-5)
    np.testing.assert_allclose(X[0], sign * X[1], atol=1e-14)


def test_the_limit_of_a_correlation_that_goes_to_one():
    """Rows at 1 - t differ by (2t)^1/2, and so may the values."""
    C, options, _ = equal_rows(8)
    limit = nearest_correlation(C, **options, return_solution=True)
    for t in (1e-3, 1e-4, 1e-5):
        C[0, 1] = C[1, 0] = 1 - t
        near = nearest_correlation(C, **options, return_solution=True)
        assert near.face is None
        assert 0 < limit.primal - near.primal < 10 * t**0.5


@pytest.mark.parametrize("size", [0.0, 1e-17, 1e-15, 1e-13, 1e-12])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_eigenvalue_of_rounding_is_zero(size, sign):
    block = low_rank(4, 2)
    v = np.linalg.eigh(block)[1][:, 0]
    block = block + sign * size * np.outer(v, v)
    C, fixed = keep(
        indefinite(8), [0, 1, 2, 3], block / np.sqrt(np.outer(np.diag(block), np.diag(block)))
    )
    solution = nearest_correlation(C, fixed=fixed, return_solution=True)
    exact, _ = keep(indefinite(8), [0, 1, 2, 3], low_rank(4, 2))
    expected = nearest_correlation(exact, fixed=fixed, return_solution=True)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(expected.primal, rel=1e-6)


def test_all_rows_equal_and_every_entry_of_low_rank():
    every = np.ones((6, 6), dtype=bool)
    np.testing.assert_allclose(nearest_correlation(np.ones((6, 6)), fixed=every), 1, atol=1e-15)
    given = low_rank(30, 3)
    solution = nearest_correlation(given, fixed=np.ones((30, 30), dtype=bool), return_solution=True)
    np.testing.assert_allclose(solution.matrix, given, atol=1e-13)
    assert solution.face.shape == (30, 3)


def test_every_library_and_a_data_frame(library):
    C, options, _ = two_blocks_that_share_a_row(8)
    expected = nearest_correlation(C, **options)
    X = nearest_correlation(library.array(C), **options)
    np.testing.assert_allclose(library.numpy(X), expected, atol=1e-6)
    pd = pytest.importorskip("pandas")
    names = list("abcdefgh")
    frame = nearest_correlation(pd.DataFrame(C, names, names), **options)
    assert list(frame.index) == names
    np.testing.assert_array_equal(frame.to_numpy(), expected)


def test_what_rounding_may_change_much_is_no_optimum():
    """Two pairs of rows at angles of a thousandth: kernels of their blocks are as near to each other."""
    rows = np.random.default_rng(0).standard_normal((8, 8))
    t = 2e-3
    rows[1] = rows[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for i, turn in ((2, 1.0), (3, -1.0)):
        rows[i] = rows[0] + turn * t * rows[4]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    given = symmetric(rows @ rows.T) + np.eye(8)
    C, fixed = keep(indefinite(8), [0, 1, 2, 3], given[:4, :4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = nearest_correlation(C, fixed=fixed, time_limit=2, return_solution=True)
    assert (solution.status is Status.OPTIMAL) <= (solution.gap < 1e-4 * solution.primal)


# -- infeasible ------------------------------------------------------------------------------------


def fix(*entries, n=8):
    C, fixed = indefinite(n), np.zeros((n, n), dtype=bool)
    for i, j, value in entries:
        C[i, j] = C[j, i] = value
        fixed[i, j] = True
    return C, fixed


NEVER = {
    "indefinite": (
        [(0, 1, 1.0), (0, 2, 0.6), (1, 2, 0.5)],
        r"rows 0, 1, 2 are fixed with a least eigenvalue of -0.00709, below 0; entry",
    ),
    "signs": (
        [(2, 3, 1.0), (2, 4, 1.0), (3, 4, -1.0)],
        r"rows 2, 3, 4 .* eigenvalue of -1, below 0",
    ),
    "told by equal rows": (
        [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 0.6), (2, 3, 0.5)],
        r"asked: entry \(0, \d\) is 1; .*entry \(2, 3\) is 0.5\. ",
    ),
    "a block told by equal rows": (
        [(0, 1, 1.0), (2, 4, 1.0), (0, 2, 0.9), (1, 3, 0.9), (4, 3, 0.5)],
        r"entry \(0, 1\) is 1; .*entry \(3, 4\) is 0.5\. ",
    ),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_contradicts_is_named_and_proven(name):
    entries, sentence = NEVER[name]
    C, fixed = fix(*entries)
    with pytest.raises(InfeasibleError, match=sentence) as caught:
        nearest_correlation(C, fixed=fixed)
    proof = caught.value.solution
    assert proof.status is Status.INFEASIBLE
    assert len(proof.conflict) == len(entries)
    S = proof.multipliers
    assert np.linalg.eigvalsh(S)[0] >= -1e-12 * np.trace(S)
    free = ~(fixed | fixed.T | np.eye(8, dtype=bool))
    assert np.sum(np.where(free, np.abs(S), S * C)) < 0


def test_a_bound_that_contradicts_equal_rows_is_named():
    C, fixed = fix((0, 1, 1.0), (0, 2, 0.6))
    upper = np.ones((8, 8))
    upper[1, 2] = upper[2, 1] = 0.5
    with pytest.raises(
        InfeasibleError, match=r"\(0, 1\) is 1; .*\(1, 2\) is at most 0.5\."
    ) as caught:
        nearest_correlation(C, fixed=fixed, bounds=(-1, upper))
    S = caught.value.solution.multipliers
    assert np.linalg.eigvalsh(S)[0] >= -1e-12 * np.trace(S)


def test_few_rows_of_an_indefinite_block_are_named():
    block = low_rank(20, 10)
    block[3, 5] = block[5, 3] = -block[3, 5]
    C, fixed = keep(indefinite(40), np.arange(20), block)
    with pytest.raises(
        InfeasibleError, match=r"rows .*3.*5.* are fixed with a least eigenvalue of -"
    ):
        nearest_correlation(C, fixed=fixed)


def test_a_least_eigenvalue_contradicts_a_singular_block():
    C, fixed = keep(indefinite(8), [0, 1, 2, 3], low_rank(4, 2))
    with pytest.raises(
        InfeasibleError,
        match=r"are fixed with a least eigenvalue of 0, below min_eigenvalue=0.01; entry",
    ):
        nearest_correlation(C, fixed=fixed, min_eigenvalue=0.01)


def test_a_block_may_have_the_least_eigenvalue_itself():
    block = np.array([[1, 0.9, 0.7], [0.9, 1, 0.9], [0.7, 0.9, 1]])
    C, fixed = keep(indefinite(8), [0, 1, 2], block)
    least = np.linalg.eigvalsh(block)[0]
    solution = nearest_correlation(C, fixed=fixed, min_eigenvalue=least, return_solution=True)
    assert solution.status is Status.OPTIMAL
    assert solution.face.shape == (8, 7)
    assert np.linalg.eigvalsh(solution.matrix)[0] >= least - 1e-13
