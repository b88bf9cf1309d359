"""The positive part of a sparse matrix: what is found is right, and what is not found is bounded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, coo_array, csr_array, diags_array
from sklearn.exceptions import ConvergenceWarning

import gramlearn._base.eigen.positive_part as search
from gramlearn._base.eigen.chebyshev import Filter, number_above, orthonormal
from gramlearn._base.eigen.positive_part import positive_part
from gramlearn._base.eigen.sparse_plus_low_rank import SparsePlusLowRank


def scattered(n: int, count: int, rng: np.random.Generator) -> coo_array:
    """So many normal numbers, at random places."""
    places = rng.choice(n * n, count, replace=False)
    return coo_array((rng.standard_normal(count), (places // n, places % n)), shape=(n, n))


def sparse_symmetric(n: int, positive: int, seed: int) -> csr_array:
    """A sparse matrix with so many positive eigenvalues, and zero half-way between two."""
    rng = np.random.default_rng(seed)
    A = scattered(n, 4 * n, rng)
    A = (A + A.T).tocsr()
    y = np.append(np.linalg.eigvalsh(A.toarray()), np.inf)
    shift = min((y[n - positive - 1] + y[n - positive]) / 2, y[n - 1] + 1)
    return (A - diags_array(np.full(n, shift))).tocsr()


@pytest.fixture
def always_search(monkeypatch):
    """Small matrices are searched, too."""
    monkeypatch.setattr(search, "_DENSE", 0)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), positive=st.integers(0, 30))
def test_the_positive_part_is_found_and_bounded(seed, positive) -> None:
    Y = sparse_symmetric(300, positive, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_DENSE", 0)
        part = positive_part(Y)
    y = np.linalg.eigvalsh(Y.toarray())
    y = y[y > 0]
    bound = part.above @ part.above + part.n_rest * part.rest**2
    assert part.theta @ part.theta <= y @ y * (1 + 1e-12)
    assert bound >= y @ y * (1 - 1e-12)
    assert bound - part.theta @ part.theta <= 1.1e-8 * (y @ y) + 1e-20
    np.testing.assert_allclose(part.V.T @ part.V, np.eye(part.V.shape[1]), atol=1e-12)


def test_where_a_partial_eigensolver_fails_all_eigenvalues_are_computed(monkeypatch) -> None:
    """LAPACK may give up on a part of them, as of a multiple of I with entries of 1e-25 beside it."""
    Y = sparse_symmetric(60, 12, 0)
    right = positive_part(Y)

    def gives_up(*args, **keywords):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr("scipy.linalg.eigh", gives_up)
    part = positive_part(Y)
    np.testing.assert_allclose(part.theta, right.theta, rtol=1e-12)
    np.testing.assert_allclose(part.V @ part.V.T, right.V @ right.V.T, atol=1e-12)


@pytest.mark.parametrize("others", [-1.0, -1e-6])
def test_zero_eigenvalues_are_counted(others: float) -> None:
    """Those that the search did not find are negative, and known to be so."""
    spectrum = np.full(1200, others)
    spectrum[:5] = [1e-12, 1.0, 2.0, 3.0, 4.0]
    counted = positive_part(diags_array(spectrum).tocsr()).n_zero(1e-9)
    assert counted == 1


@pytest.mark.parametrize("columns", [1, 40, 80])
def test_an_unrelated_start_block_costs_time_only(always_search, columns) -> None:
    Y = sparse_symmetric(400, 40, 0)
    y = np.linalg.eigvalsh(Y.toarray())
    block = np.random.default_rng(0).standard_normal((400, columns))
    part = positive_part(Y, block)
    np.testing.assert_allclose(part.theta @ part.theta, y[y > 0] @ y[y > 0], rtol=1e-7)


def test_eigenvectors_orthogonal_to_the_start_block_are_found(always_search) -> None:
    """A block that is orthogonal to the largest eigenvector would never meet it."""
    Y = csr_array(diags_array(np.concatenate([[5.0], np.full(20, 1.0), np.full(379, -1.0)])))
    block = np.eye(400)[:, 1:40]
    part = positive_part(Y, block)
    assert part.theta.max() == pytest.approx(5.0)
    assert part.theta.shape == (21,)


@pytest.mark.parametrize("n", [60, 700])
def test_a_negative_semidefinite_matrix_has_no_positive_part(n) -> None:
    path = diags_array([np.ones(n - 1), -2.0 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    part = positive_part(path.tocsr())
    assert part.theta.size == 0
    assert part.excess(0.0) <= 1e-8


@pytest.mark.parametrize(("scale", "count"), [(0.0, 0), (-2.0, 0), (3.0, 600)])
def test_multiples_of_the_identity(scale, count) -> None:
    part = positive_part(csr_array(diags_array(np.full(600, scale))))
    np.testing.assert_allclose(part.theta, np.full(count, scale))


def test_rows_of_zeros_are_left_out(always_search) -> None:
    inner = sparse_symmetric(200, 15, 3)
    whole = block_diag([csr_array((700, 700)), inner, csr_array((100, 100))]).tocsr()
    part, of_inner = positive_part(whole), positive_part(inner)
    np.testing.assert_allclose(part.theta, of_inner.theta)
    np.testing.assert_allclose(part.V[700:900], of_inner.V)
    assert not part.V[:700].any()


def test_eigenvalues_are_counted_above_levels() -> None:
    """A count of random signs, smoothed over a fortieth of the interval."""
    Y = sparse_symmetric(1500, 200, 5)
    y = np.linalg.eigvalsh(Y.toarray())
    Y = SparsePlusLowRank.of(Y)
    low, high = Y.interval()
    levels = np.linspace(low, high, 20)
    counts = number_above(Y, low, high, np.random.default_rng(0))(levels)
    blurred = (high - low) / 40
    most = np.array([np.sum(y > level - blurred) for level in levels])
    least = np.array([np.sum(y > level + blurred) for level in levels])
    assert np.all(counts <= most + 0.03 * 1500)
    assert np.all(counts >= least - 0.03 * 1500)


@pytest.mark.parametrize("degree", [4, 9])
def test_a_filter_is_the_polynomial_of_chebyshev(degree) -> None:
    Y = sparse_symmetric(60, 10, 2)
    Z = (Y / 10).tocsr()
    z, U = np.linalg.eigh(Z.toarray())
    V = np.random.default_rng(0).standard_normal((60, 70))
    expected = (U * np.polynomial.Chebyshev.basis(degree)(z)) @ U.T @ V
    np.testing.assert_allclose(Filter(Z, degree)(V), expected, atol=1e-9)


def test_columns_that_depend_on_each_other_get_an_orthonormal_basis() -> None:
    W = np.random.default_rng(0).standard_normal((50, 4))
    Q = orthonormal(np.column_stack([W, W[:, 0] + 1e-14 * W[:, 1], np.zeros(50)]))
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-12)


def test_many_equal_eigenvalues_are_all_found(always_search) -> None:
    """More of them than a Krylov space of one block can tell apart."""
    Y = block_diag([csr_array(np.array([[-1.0, 2.0], [2.0, -1.0]]))] * 150).tocsr()
    whole = block_diag([Y, sparse_symmetric(700, 3, 1)]).tocsr()
    part = positive_part(whole)
    assert np.sum(np.abs(part.theta - 1.0) < 1e-6) == 150


def test_a_search_that_fails_falls_back_or_warns(always_search, monkeypatch) -> None:
    """All eigenvalues at once where n allows; above that, the numbers."""
    path = diags_array(
        [np.ones(699), -2.0 * np.ones(700), np.ones(699)], offsets=[-1, 0, 1]
    ).tocsr()
    Y = (path + diags_array(np.full(700, 1e-4))).tocsr()
    y = np.linalg.eigvalsh(Y.toarray())
    monkeypatch.setattr(search, "_ROUNDS", 1)
    monkeypatch.setattr(search, "_TOTAL_GAIN", 1.0)
    part = positive_part(Y, accuracy=1e-12)
    np.testing.assert_allclose(part.theta @ part.theta, y[y > 0] @ y[y > 0], rtol=1e-9)
    monkeypatch.setattr(search, "_AFFORDABLE", 600)
    with pytest.warns(ConvergenceWarning, match="of a matrix of size 700 were found to"):
        part = positive_part(Y, accuracy=1e-12)
    bound = part.above @ part.above + part.n_rest * part.rest**2
    assert part.theta @ part.theta <= y[y > 0] @ y[y > 0] <= bound


def test_a_part_that_does_not_fit_into_memory_is_refused(always_search, monkeypatch) -> None:
    monkeypatch.setattr(search, "_AFFORDABLE", 100)
    monkeypatch.setattr(search, "_fitting", lambda n: 20)
    with pytest.raises(MemoryError, match="20 fit into memory; pass a `rank`"):
        positive_part(sparse_symmetric(300, 30, 0))


def test_a_sparse_matrix_and_one_of_low_rank_are_their_sum(always_search) -> None:
    rng = np.random.default_rng(5)
    n = 300
    S = scattered(n, n * n // 100, rng)
    S = csr_array(S + S.T - 2.0 * diags_array(np.ones(n)))
    Y = SparsePlusLowRank(S, rng.standard_normal((n, 3)), np.asarray([1.0, -0.5, 0.1]))
    whole = Y.toarray()
    V = rng.standard_normal((n, 2))
    np.testing.assert_allclose(Y @ V, whole @ V, atol=1e-10)
    s = np.linalg.eigvalsh(whole)
    low, high = Y.interval()
    assert low <= s[0] <= s[-1] <= high
    part = positive_part(Y, 5)
    np.testing.assert_allclose(np.sort(part.theta), s[s > 0], rtol=1e-5, atol=1e-5)
    rows = np.arange(0, n, 2)
    np.testing.assert_allclose(Y.among(rows).toarray(), whole[np.ix_(rows, rows)])
