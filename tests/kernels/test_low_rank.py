"""K ~= G G': the error is known, new points get rows of G, and indefinite matrices are refused."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from gramlearn.losses import LogDetSlack
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from conftest import Library
from gramlearn import Factor, LogDet, Pairs, Problem, solve
from gramlearn.kernels import incomplete_cholesky, nystroem, spectral_factor
from gramlearn.kernels.low_rank import spectral
from gramlearn.kernels.low_rank.factor import LowRankKernel
from gramlearn.side_information import percentile_bounds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
NEW = RNG.normal(size=(30, 5))
KERNELS: dict[str, dict[str, Any]] = {
    "linear": {},
    "rbf": {"gamma": 0.1},
    "laplacian": {"gamma": 0.2},
    "poly": {"degree": 2, "gamma": 0.5, "coef0": 1.0},
    "cosine": {},
}
METHODS: dict[str, Callable[..., LowRankKernel]] = {
    "incomplete_cholesky": lambda X, kernel, rank, **params: incomplete_cholesky(
        X, kernel, rank=rank, tol=0.0, **params
    ),
    "nystroem": lambda X, kernel, rank, **params: nystroem(
        X, kernel, landmarks=rank, random_state=0, **params
    ),
    "spectral_factor": lambda X, kernel, rank, **params: spectral_factor(
        X, kernel, rank=rank, **params
    ),
}
EACH_METHOD = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
EACH_KERNEL = pytest.mark.parametrize("name", KERNELS)


def gaussian(A: np.ndarray, B: np.ndarray, width: float = 2.0) -> np.ndarray:
    return np.exp(-np.sum((A[:, None] - B[None]) ** 2, axis=2) / width**2)


# -- what is left, and new points ------------------------------------------------------------------


@EACH_METHOD
@EACH_KERNEL
@pytest.mark.parametrize("rank", [1, 4, 40, 120])
def test_the_error_is_the_trace_of_the_remainder(method, name: str, rank: int) -> None:
    K = pairwise_kernels(X, metric=name, **KERNELS[name])
    found = method(X, name, rank, **KERNELS[name])
    left = K - found.factor @ found.factor.T
    assert found.trace == pytest.approx(np.trace(K), rel=1e-14)
    assert abs(found.error - np.trace(left)) <= 1e-12 * np.trace(K)
    assert found.factor.shape[1] <= rank
    assert np.linalg.eigvalsh(left)[0] >= -1e-11 * np.trace(
        K
    )  # K - G G' is PSD, so the trace bounds it


@EACH_METHOD
@EACH_KERNEL
def test_a_factor_of_full_rank_is_exact_for_old_and_new_points(method, name: str) -> None:
    both = np.vstack([X, NEW])
    K = pairwise_kernels(both, metric=name, **KERNELS[name])
    found = method(X, name, 120, **KERNELS[name])
    np.testing.assert_allclose(found.factor @ found.factor.T, K[:120, :120], atol=1e-10)
    if np.linalg.matrix_rank(K) < 120:  # the new points lie in the span of the old ones
        new = found.transform(NEW)
        np.testing.assert_allclose(new @ found.factor.T, K[120:, :120], atol=1e-9)
        np.testing.assert_allclose(new @ new.T, K[120:, 120:], atol=1e-9)


@pytest.mark.parametrize("name", ["linear", "poly"])
def test_kernels_of_finite_dimension_are_found_with_their_rank(name: str) -> None:
    dimension = {"linear": 5, "poly": 21}[name]  # 21 monomials of degree at most 2 in 5 variables
    found = incomplete_cholesky(X, name, tol=1e-12, **KERNELS[name])
    assert found.factor.shape == (120, dimension)
    assert nystroem(X, name, landmarks=60, **KERNELS[name]).factor.shape == (120, dimension)
    assert spectral_factor(X, name, **KERNELS[name]).factor.shape == (120, dimension)


@EACH_METHOD
@EACH_KERNEL
@pytest.mark.parametrize("rank", [4, 30])
def test_the_rows_of_old_points_come_back(method, name: str, rank: int) -> None:
    found = method(X, name, rank, **KERNELS[name])
    np.testing.assert_allclose(found.transform(X), found.factor, atol=1e-10)


@pytest.mark.parametrize("name", ["incomplete_cholesky", "nystroem"])
def test_landmarks_are_reproduced_at_any_rank(name: str) -> None:
    """g(x)' G_p = k(x, x_p): columns that were looked at are exact, for new points as well."""
    found = METHODS[name](X, "rbf", 25, gamma=0.1)
    p = found.landmarks
    assert len(set(p)) == 25
    for points in (X, NEW):
        inner = found.transform(points) @ found.factor[p].T
        np.testing.assert_allclose(
            inner, pairwise_kernels(points, X[p], metric="rbf", gamma=0.1), atol=1e-11
        )


@EACH_METHOD
def test_matrix_name_and_function_are_one_kernel(method) -> None:
    K, new = gaussian(X, X), gaussian(NEW, X)
    answers = [
        method(X, "rbf", 20, gamma=0.25),
        method(X, gaussian, 20),
        method(X, gaussian, 20, width=2.0),
        method(K, "precomputed", 20),
    ]
    for found, points in zip(answers, [NEW, NEW, NEW, new], strict=True):
        assert found.error == pytest.approx(answers[0].error, rel=1e-10)
        inner = found.transform(points) @ found.factor.T
        np.testing.assert_allclose(
            inner, answers[0].transform(NEW) @ answers[0].factor.T, atol=1e-9
        )


# -- each method -----------------------------------------------------------------------------------


def test_pivots_are_those_of_lapack() -> None:
    """The same greedy rule, diagonal pivoting, as LAPACK's pstrf runs on the whole matrix."""
    scaled = X * np.linspace(0.5, 2.0, 120)[:, None]  # no ties on the diagonal
    K = pairwise_kernels(scaled, metric="poly", degree=3, gamma=0.1)
    L, order, rank, _ = scipy.linalg.lapack.dpstrf(K, tol=1e-8 * K.max(), lower=1)
    found = incomplete_cholesky(scaled, "poly", rank=rank, tol=0.0, degree=3, gamma=0.1)
    np.testing.assert_array_equal(found.landmarks, order[:rank] - 1)
    np.testing.assert_allclose(found.factor[order - 1], np.tril(L)[:, :rank], atol=1e-8)
    assert not np.triu(found.factor[found.landmarks], 1).any()


@pytest.mark.parametrize("tol", [0.5, 1e-2, 1e-6])
def test_the_tolerance_is_met_and_not_a_column_earlier(tol: float) -> None:
    found = incomplete_cholesky(X, "rbf", gamma=0.1, tol=tol)
    assert found.error <= tol * found.trace
    fewer = incomplete_cholesky(X, "rbf", gamma=0.1, tol=0.0, rank=found.factor.shape[1] - 1)
    assert fewer.error > tol * fewer.trace


def test_without_rank_and_tolerance_a_hundredth_of_the_trace_is_left() -> None:
    found = incomplete_cholesky(X, "rbf", gamma=0.1)
    asked = incomplete_cholesky(X, "rbf", gamma=0.1, tol=0.01)
    np.testing.assert_array_equal(found.factor, asked.factor)
    assert found.error <= 0.01 * found.trace
    assert found.factor.shape[1] < len(X) / 2


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_a_rank_without_tolerance_is_used_fully(name: str) -> None:
    K = pairwise_kernels(X, metric=name, **KERNELS[name])
    found = incomplete_cholesky(X, name, rank=100, **KERNELS[name])
    assert found.factor.shape[1] == min(100, np.linalg.matrix_rank(K))
    assert incomplete_cholesky(X, name, rank=100, tol=0.9).factor.shape[1] < 5


def test_the_kernel_is_asked_for_columns_and_never_whole() -> None:
    asked = []

    def counted(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        asked.append((len(A), len(B)))
        return pairwise_kernels(A, B, metric="rbf", gamma=0.1)

    points = RNG.normal(size=(1000, 5))
    incomplete_cholesky(points, counted, rank=20)
    columns = [shape for shape in asked if shape[0] == 1000]
    assert columns == [(1000, 1)] * 20
    assert sum(a * b for a, b in asked) <= 1000 * (20 + 64)


def test_no_factor_of_its_rank_has_less_error_than_the_spectral_one() -> None:
    K = gaussian(X, X)
    s = np.linalg.eigvalsh(K)
    for rank in (1, 10, 60):
        found = spectral_factor(K, "precomputed", rank=rank)
        assert found.error == pytest.approx(s[:-rank].sum(), rel=1e-10)
        np.testing.assert_allclose(np.vecdot(found.factor, found.factor, axis=0), s[::-1][:rank])
        for method in METHODS.values():
            assert found.error <= method(K, "precomputed", rank).error * (1 + 1e-12)


def test_lanczos_and_dense_eigenvalues_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    points = RNG.normal(size=(600, 4))
    few = spectral_factor(points, "rbf", rank=12, gamma=0.2)
    monkeypatch.setattr(spectral, "_MANY", 10_000)
    dense = spectral_factor(points, "rbf", rank=12, gamma=0.2)
    assert few.error == pytest.approx(dense.error, rel=1e-10)
    np.testing.assert_allclose(few.factor @ few.factor.T, dense.factor @ dense.factor.T, atol=1e-11)


def test_the_kernel_of_many_points_is_not_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above a number of points columns are computed anew; below it K is formed: the same factor."""
    points = RNG.normal(size=(600, 4))
    expected = spectral_factor(points, "rbf", rank=12, gamma=0.2)
    monkeypatch.setattr(spectral, "_LARGEST", 500)
    monkeypatch.setattr(spectral, "_BLOCK", 50_000)
    widest = 0

    def rbf(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        nonlocal widest
        widest = max(widest, len(A) * len(B))
        return pairwise_kernels(A, B, metric="rbf", gamma=0.2)

    found = spectral_factor(points, rbf, rank=12)
    assert widest <= 60_000
    assert found.error == pytest.approx(expected.error, rel=1e-10)
    np.testing.assert_allclose(
        found.factor @ found.factor.T, expected.factor @ expected.factor.T, atol=1e-11
    )
    with pytest.raises(ValueError, match="not symmetric"):
        spectral_factor(points, lambda A, B: A @ B.T + np.exp(A[:, :1]), rank=3)


def test_where_lanczos_fails_dense_eigenvalues_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    points = RNG.normal(size=(600, 4))
    expected = spectral_factor(points, "rbf", rank=3, gamma=0.2)

    def give_up(*args: Any, **options: Any) -> None:
        raise scipy.sparse.linalg.ArpackNoConvergence(
            "no convergence", np.empty(0), np.empty((0, 0))
        )

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", give_up)
    found = spectral_factor(points, "rbf", rank=3, gamma=0.2)
    assert found.error == pytest.approx(expected.error, rel=1e-12)


@pytest.mark.parametrize("rank", [1, 7, 30])
def test_eigenvalues_that_coincide_or_vanish_are_counted_right(rank: int) -> None:
    """K = V V' has 20 eigenvalues 1 and 580 zeros: hard for Lanczos, and for a rank that asks for more."""
    V = np.linalg.qr(RNG.normal(size=(600, 20)))[0]
    found = spectral_factor(V @ V.T, "precomputed", rank=rank)
    assert found.factor.shape == (600, min(rank, 20))
    assert found.error == pytest.approx(20 - min(rank, 20), abs=1e-10)
    np.testing.assert_allclose(found.transform(V @ V.T), found.factor, atol=1e-10)


def test_landmarks_are_drawn_by_the_seed_or_given() -> None:
    drawn = nystroem(X, "rbf", landmarks=10, random_state=3)
    again = nystroem(X, "rbf", landmarks=drawn.landmarks)
    np.testing.assert_array_equal(drawn.factor, again.factor)
    np.testing.assert_array_equal(
        drawn.landmarks, nystroem(X, "rbf", landmarks=10, random_state=3).landmarks
    )
    other = nystroem(X, "rbf", landmarks=10, random_state=4)
    assert set(other.landmarks) != set(drawn.landmarks)


def test_equal_landmarks_change_nothing() -> None:
    once = nystroem(X, "rbf", landmarks=[3, 7, 9], gamma=0.1)
    twice = nystroem(X, "rbf", landmarks=[3, 7, 9, 7, 3], gamma=0.1)
    assert twice.factor.shape == (120, 3)
    np.testing.assert_allclose(
        twice.factor @ twice.factor.T, once.factor @ once.factor.T, atol=1e-13
    )


def test_equal_points_take_one_pivot() -> None:
    found = incomplete_cholesky(np.repeat(X[:10], 3, axis=0), "rbf", gamma=1.0, tol=0.0)
    assert found.factor.shape == (30, 10)
    assert found.error <= 1e-12


def test_points_of_any_library_give_the_same(library: Library) -> None:
    found = incomplete_cholesky(library.array(X), "rbf", rank=10, gamma=0.1)
    same = incomplete_cholesky(X, "rbf", rank=10, gamma=0.1)
    np.testing.assert_allclose(library.numpy(found.factor), same.factor, atol=1e-12)
    np.testing.assert_array_equal(found.landmarks, same.landmarks)
    new = library.numpy(found.transform(library.array(NEW)))
    np.testing.assert_allclose(new, same.transform(NEW), atol=1e-11)


def test_single_precision_is_not_taken_for_indefinite() -> None:
    K = gaussian(X, X, width=20.0).astype("float32")
    assert np.linalg.eigvalsh(K.astype(float))[0] < 0
    rounding = 120 * (120 * np.finfo("float32").eps)  # n eps for each of n points
    found = incomplete_cholesky(K, "precomputed", tol=0.0)
    assert found.error <= rounding
    function = incomplete_cholesky(X, lambda A, B: gaussian(A, B, 20.0).astype("float32"), tol=0.0)
    np.testing.assert_allclose(function.factor, found.factor, atol=1e-12)
    assert spectral_factor(K, "precomputed").error <= rounding
    assert nystroem(K, "precomputed", landmarks=60, random_state=0).error <= rounding


def test_a_factor_can_be_stored_and_shown() -> None:
    found = pickle.loads(pickle.dumps(incomplete_cholesky(X, "linear", tol=0.0)))
    np.testing.assert_allclose(found.transform(NEW) @ found.factor.T, NEW @ X.T, atol=1e-12)
    assert repr(incomplete_cholesky(X, "rbf", rank=3)).startswith(
        "LowRankKernel(120 points, rank 3, error "
    )


# -- rows as coordinates ---------------------------------------------------------------------------


def test_neighbors_by_kernel_distances_are_those_of_rows() -> None:
    """d(i, j) = K_ii + K_jj - 2 K_ij is the squared distance of rows i and j of a factor."""
    K, between = gaussian(X, X), gaussian(NEW, X)
    found = incomplete_cholesky(X, gaussian, tol=0.0)
    rows, new = found.factor, found.transform(NEW)
    among = np.diag(K)[:, None] + np.diag(K) - 2 * K
    asked = 1.0 + np.diag(K) - 2 * between  # k(x, x) = 1
    nearest = NearestNeighbors(n_neighbors=5).fit(rows)
    without_itself = among + np.diag(np.full(120, np.inf))
    np.testing.assert_array_equal(
        nearest.kneighbors(return_distance=False), np.argsort(without_itself, axis=1)[:, :5]
    )
    # New points leave the span of the old ones; what is left of them is the same for every old point.
    np.testing.assert_array_equal(
        nearest.kneighbors(new, return_distance=False), np.argsort(asked, axis=1)[:, :5]
    )
    labels = RNG.integers(0, 3, 120)
    by_kernel = KNeighborsClassifier(5, metric="precomputed").fit(np.clip(among, 0, None), labels)
    by_rows = KNeighborsClassifier(5).fit(rows, labels)
    np.testing.assert_array_equal(by_kernel.predict(np.clip(asked, 0, None)), by_rows.predict(new))


def test_a_learned_factor_is_a_linear_map_of_rows_and_so_has_new_ones() -> None:
    """The kernel learned from the prior G G' is G M G', with M the metric learned for the rows of G."""
    labels = (X[:, 0] ** 2 + X[:, 1] > 1).astype(int)
    pairs = Pairs.from_labels(labels, 200, random_state=0)
    found = incomplete_cholesky(X, "rbf", rank=15, gamma=0.1)
    bounds = percentile_bounds(found.factor, random_state=0)
    loss = LogDetSlack(C=1.0)
    kernel = solve(
        Problem(LogDet(), Factor(found.factor), pairs.bind(loss, bounds=bounds)), tol=1e-9
    )
    terms = pairs.bind(loss, points=found.factor, bounds=bounds)
    metric = solve(Problem(LogDet(), np.eye(15), terms), tol=1e-9)
    A = np.linalg.lstsq(found.factor, kernel.factor, rcond=None)[0]
    new = found.transform(NEW)
    np.testing.assert_allclose(found.factor @ A, kernel.factor, atol=1e-10)
    np.testing.assert_allclose(
        new @ A @ A.T @ new.T, new @ metric.matrix @ new.T, rtol=1e-3, atol=1e-4
    )


# -- what is refused -------------------------------------------------------------------------------


INDEFINITE = {
    "negative diagonal": np.array([[1.0, 0.0], [0.0, -1.0]]),
    "two points": np.array([[1.0, 2.0], [2.0, 1.0]]),
    "seen by the second pivot": np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]),
    "left when the diagonal is used up": np.array(
        [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    ),
    "zero diagonal": np.array([[0.0, 1.0], [1.0, 0.0]]),
}


@EACH_METHOD
@pytest.mark.parametrize("case", INDEFINITE)
def test_an_indefinite_matrix_is_refused(method, case: str) -> None:
    K = INDEFINITE[case]
    assert np.linalg.eigvalsh(K)[0] < -0.1
    for rank in range(1, len(K) + 1):
        with pytest.raises(ValueError, match=r"the kernel matrix `X` .* not positive semidefinite"):
            method(K, "precomputed", rank)


def test_a_large_negative_eigenvalue_is_seen_by_lanczos() -> None:
    V = np.linalg.qr(RNG.normal(size=(600, 600)))[0]
    s = np.linspace(1.0, 2.0, 600)
    s[0] = -3.0
    K = (V * s) @ V.T
    with pytest.raises(ValueError, match=r"it has the eigenvalue -3\)"):
        spectral_factor((K + K.T) / 2, "precomputed", rank=5)


@EACH_METHOD
def test_an_indefinite_function_is_refused(method) -> None:
    with pytest.raises(ValueError, match="the kernel sigmoid\\(gamma=1, coef0=-2\\) is not"):
        method(X, "sigmoid", 100, gamma=1.0, coef0=-2.0)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "asymmetric": (
        lambda: incomplete_cholesky([[1.0, 0.5], [0.0, 1.0]], "precomputed"),
        r"`X` is not symmetric .*0\.5",
    ),
    "not square": (lambda: spectral_factor(X, "precomputed"), r"`X` must be a square matrix"),
    "missing": (lambda: nystroem(X * np.nan, "rbf", landmarks=3), "`X` contains NaN"),
    "no such kernel": (lambda: incomplete_cholesky(X, "gauss"), "`kernel='gauss'` is not known"),
    "no such parameter": (
        lambda: incomplete_cholesky(X, "rbf", width=1.0),
        "the kernel 'rbf' takes gamma; got width",
    ),
    "negative parameter": (
        lambda: nystroem(X, "rbf", landmarks=3, gamma=-1.0),
        "gamma must be positive",
    ),
    "no number": (
        lambda: spectral_factor(X, "rbf", gamma="scale"),
        "gamma must be a positive number",
    ),
    "sparse": (
        lambda: incomplete_cholesky(scipy.sparse.csr_array(X), "rbf"),
        r"`X` is sparse; pass a dense array, such as X\.toarray",
    ),
    "overflow": (lambda: incomplete_cholesky(X * 1e160, "linear"), "X in other units"),
    "underflow": (lambda: incomplete_cholesky(X * 1e-160, "linear"), "X in other units"),
    "rank too large": (lambda: spectral_factor(X, "rbf", rank=121), "`rank=121` is more than"),
    "rank zero": (lambda: incomplete_cholesky(X, "rbf", rank=0), "`rank` must be a whole number"),
    "tol": (lambda: incomplete_cholesky(X, "rbf", tol=-1.0), r"`tol` must be .*got -1\.0"),
    "too many landmarks": (
        lambda: nystroem(X, "rbf", landmarks=121),
        "`landmarks=121` asks for more",
    ),
    "no landmarks": (lambda: nystroem(X, "rbf", landmarks=[]), "`landmarks` is empty"),
    "landmark out of reach": (
        lambda: nystroem(X, "rbf", landmarks=[120]),
        "`landmarks` refers to row 120, but there are 120 rows",
    ),
    "zero landmarks": (
        lambda: nystroem(np.eye(3) - np.diag([1.0, 0, 0]), "linear", landmarks=[0]),
        "is zero among `landmarks`",
    ),
    "zero kernel": (lambda: incomplete_cholesky(0 * X, "linear"), "has a diagonal of zeros"),
    "shape of a function": (
        lambda: incomplete_cholesky(X, lambda A, B: A @ A.T, rank=3),
        "gave an array of shape",
    ),
    "values of a function": (
        lambda: incomplete_cholesky(X, lambda A, B: np.nan * A @ B.T, rank=3),
        "the kernel function `<lambda>` gave NaN or infinity",
    ),
    "asymmetric function": (
        lambda: spectral_factor(X, lambda A, B: A @ B.T + np.arange(len(A))[:, None]),
        "is not symmetric",
    ),
    "new points": (
        lambda: incomplete_cholesky(X, "rbf", rank=3).transform(NEW[:, :4]),
        "`X_new` has 4 columns, but the points of the kernel have 5",
    ),
    "new rows": (
        lambda: incomplete_cholesky(X @ X.T, "precomputed", rank=3).transform(NEW),
        "`X_new` has 5 columns, but the kernel was precomputed for 120",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_raises_a_clear_error(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@EACH_METHOD
def test_nothing_is_shared_with_what_was_given(method) -> None:
    K, points = gaussian(X, X), X.copy()
    before = K.copy()
    looked_up, computed = method(K, "precomputed", 10), method(points, gaussian, 10)
    rows = computed.transform(NEW)
    looked_up.factor[:] = 0.0
    np.testing.assert_array_equal(K, before)
    points[:] = 0.0
    np.testing.assert_array_equal(computed.transform(NEW), rows)


def test_the_stored_factor_is_small() -> None:
    K = gaussian(X, X)
    small = pickle.dumps(incomplete_cholesky(K, "precomputed", rank=5))
    assert len(small) < K.nbytes / 10
    wide = np.hstack([X] * 40)
    assert len(pickle.dumps(nystroem(wide, "rbf", landmarks=5))) < wide.nbytes / 10
