"""Colored unfolding: another solver, the approximation of full rank, labels of every kind, the estimator."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import ColoredMVU
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.graphs.edges import read_edges
from gramlearn.methods.unfolding.colored import colored_unfolding, smooth_basis
from oracles import ask

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 4))
Y = np.arange(24) % 3
LABELS = (Y[:, None] == np.arange(3)).astype(float)
GRAPH = neighbor_graph(X, 4, join="either")
PAIRS = np.column_stack(read_edges(GRAPH, 24))
SQUARED = np.sum((X[PAIRS[:, 0]] - X[PAIRS[:, 1]]) ** 2, axis=1)


@parametrize_with_checks([ColoredMVU(n_neighbors=4, tol=1e-2)])
@pytest.mark.filterwarnings("ignore:n_components=2 dimensions were asked of:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


def value(K, C):
    i, j = PAIRS.T
    t = K[i, i] + K[j, j] - 2 * K[i, j]
    centered = LABELS - LABELS.mean(axis=0)
    return -np.sum((K @ centered) * centered) + C / 2 * np.sum((t - SQUARED) ** 2)


@pytest.mark.parametrize(("B", "C"), [(24.0, 1.0), (2000.0, 1.0), (2000.0, 0.01)])
def test_the_optimum_is_that_of_another_solver(B, C):
    answer = colored_unfolding(SQUARED, PAIRS, LABELS, C=C, capacity=B, tol=1e-6)
    K = cp.Variable((24, 24), PSD=True)
    H = np.eye(24) - 1 / 24
    i, j = PAIRS.T
    t = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    color = cp.trace(H @ LABELS @ LABELS.T @ H @ K)
    objective = -color + C / 2 * cp.sum_squares(t - SQUARED)
    optimum = ask(cp.Problem(cp.Minimize(objective), [cp.norm(K, "fro") <= B**0.5]))
    found = answer.factor @ answer.factor.T
    assert np.sum(found**2) <= B * (1 + 1e-9)
    assert answer.primal == pytest.approx(value(found, C), rel=1e-8)
    assert answer.primal - answer.gap <= optimum + 1e-5 * abs(optimum)
    assert answer.primal == pytest.approx(optimum, rel=1e-5)
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-8 * np.abs(found).max() * 24)


def test_with_all_eigenvectors_the_optimum_is_exact_and_with_fewer_no_better():
    L = laplacian(GRAPH, normalized=False)
    whole = colored_unfolding(SQUARED, PAIRS, LABELS, capacity=500.0, tol=1e-5)
    values = [
        colored_unfolding(
            SQUARED, PAIRS, LABELS, capacity=500.0, tol=1e-5, basis=smooth_basis(L, rank)
        ).primal
        for rank in (3, 10, 23)
    ]
    assert values[2] == pytest.approx(whole.primal, rel=3e-5)
    assert values[0] > values[1] > values[2]


def test_the_smooth_basis_is_orthonormal_and_smooth():
    L = laplacian(GRAPH, normalized=False)
    V = smooth_basis(L, 5)
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(V.sum(axis=0), 0.0, atol=1e-10)
    energies = np.linalg.eigvalsh(L.toarray())[1:6]
    np.testing.assert_allclose(np.linalg.eigvalsh(V.T @ (L @ V)), energies, atol=1e-8)
    with pytest.raises(ValueError, match=r"`rank=24` is not below the 24 points"):
        smooth_basis(L, 24)


# -- the estimator -------------------------------------------------------------------------------------


def test_classes_are_separated():
    iris, species = load_iris(return_X_y=True)
    iris, species = iris[::2], species[::2]
    model = ColoredMVU(capacity=10.0 * len(iris)).fit(iris, species)
    assert model.solution_.relative_gap <= 1e-3
    E = model.embedding_
    between = np.asarray([E[species == k].mean(axis=0) for k in range(3)])
    within = max(E[species == k].std() for k in range(3))
    assert (
        min(np.linalg.norm(between[a] - between[b]) for a, b in ((0, 1), (0, 2), (1, 2))) > within
    )
    np.testing.assert_array_equal(model.transform(iris), _equal_rows_shared(iris, E))


def _equal_rows_shared(points, embedding):
    """What `transform` gives for points that were learned from: equal ones have their mean."""
    return np.asarray([embedding[np.all(points == p, axis=1)].mean(axis=0) for p in points])


def test_dimensions_beyond_the_rank_are_zero_with_a_warning():
    with pytest.warns(UserWarning, match=r"n_components=20 .* has rank \d"):
        found = ColoredMVU(20, rank=6).fit_transform(X.astype(np.float32), Y)
    assert found.shape == (24, 20)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:, -1], 0.0)


def test_a_very_large_C_keeps_the_distances():
    """The objective grows with C, to what it is where no distance changes: here there is room for that."""
    large, larger = (ColoredMVU(C=C).fit(X, Y).solution_ for C in (1e9, 1e12))
    assert max(large.relative_gap, larger.relative_gap) <= 1e-3
    assert larger.primal == pytest.approx(large.primal, rel=3e-3)


def test_a_tolerance_below_rounding_gives_the_best_answer_and_a_warning():
    with pytest.warns(ConvergenceWarning, match="found no price at which"):
        found = ColoredMVU(tol=1e-300).fit(X, Y).solution_
    assert found.relative_gap < 1e-12


def test_units_do_not_matter():
    one, two = (ColoredMVU().fit(s * X, Y).embedding_ for s in (1.0, 1e4))
    np.testing.assert_allclose(two, 1e4 * one, rtol=1e-4, atol=1e-4 * np.abs(two).max())


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (Y.astype(str), "delta"),
        (X[:, 0], "linear"),
        (X[:, :2], "linear"),
        (LABELS, "linear"),
    ],
    ids=["names", "numbers", "vectors", "tags"],
)
def test_every_kind_of_labels_is_recognized(y, labels):
    one, two = (ColoredMVU(label_kernel=way).fit(X, y).embedding_ for way in ("auto", labels))
    np.testing.assert_array_equal(one, two)
    other = ColoredMVU(label_kernel="delta" if labels == "linear" else "rbf")
    if labels == "linear":
        assert np.abs(other.fit(X, y).embedding_ - one).max() > 1e-3


def test_points_without_labels_are_pulled_by_neighbors_alone():
    # The dependence on labels is that of the labeled points: their block of K, centered among themselves.
    y = np.where(np.arange(24) % 4 == 0, -1, Y)
    known = np.flatnonzero(y >= 0)
    found = ColoredMVU(n_neighbors=4, tol=1e-6).fit(X, y).solution_
    K = cp.Variable((24, 24), PSD=True)
    H = np.eye(len(known)) - 1 / len(known)
    i, j = PAIRS.T
    t = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    among = H @ (y[known][:, None] == y[known]) @ H
    color = cp.sum(cp.multiply(among, K[known][:, known]))
    wrong = cp.sum_squares(t - SQUARED / SQUARED.mean())
    capacity = [cp.norm(K, "fro") <= 24**0.5]
    optimum = ask(cp.Problem(cp.Minimize(-color + wrong / 2), capacity))
    assert found.primal == pytest.approx(optimum, rel=1e-5)
    assert found.primal - found.gap <= optimum + 1e-6 * abs(optimum)


@pytest.mark.parametrize(
    "y",
    [
        np.where(Y == 2, np.nan, Y),
        np.where(Y == 2, None, Y),
        [None if c == 2 else int(c) for c in Y],
        np.where(Y == 2, None, Y.astype(str)),
        np.where(Y == 2, -1, Y)[:, None],
    ],
    ids=["nan", "none", "list", "names", "column"],
)
def test_every_way_to_mark_unlabeled_points_is_the_same(y):
    one, two = (ColoredMVU().fit(X, way).embedding_ for way in (np.where(Y == 2, -1, Y), y))
    np.testing.assert_array_equal(two, one)


def test_tags_may_be_sparse_and_numbers_of_any_size():
    one, two = (ColoredMVU().fit(X, tags).embedding_ for tags in (LABELS, csr_array(LABELS)))
    np.testing.assert_array_equal(two, one)
    one, *others = (
        ColoredMVU(label_kernel="linear").fit(X, s * X[:, 0]).embedding_
        for s in (1.0, 2.0**-700, 2.0**700)
    )
    for other in others:
        np.testing.assert_array_equal(other, one)


def test_a_gaussian_of_numbers_and_a_rank():
    model = ColoredMVU(label_kernel="rbf", rank=6).fit(X, X[:, 0])
    assert model.solution_.factor.shape[1] <= 6
    assert abs(np.corrcoef(model.embedding_[:, 0], X[:, 0])[0, 1]) > 0.5


@pytest.mark.parametrize(
    ("params", "y", "sentence"),
    [
        ({}, None, "requires y to be passed"),
        ({}, np.zeros(24), "all labels in `y` are equal"),
        ({}, Y[:20], "`y` has 20 labels, but `X` has 24 rows"),
        ({}, np.where(Y == 2, 1, -1), "beside the 16 of -1.*if -1 is a class of yours, y.astype"),
        ({}, 3, r"`y` has shape \(\)"),
        ({}, np.zeros((24, 2, 2)), r"`y` has shape \(24, 2, 2\)"),
        ({"label_kernel": "delta"}, np.where(LABELS > 0, np.nan, 0), "`y` contains NaN"),
        ({"label_kernel": "linear"}, ["red", "blue"] * 12, "where numbers are needed"),
        ({"capacity": 0.0}, Y, "capacity must be positive"),
        ({"C": -1.0}, Y, "C must be positive"),
        ({"label_kernel": "colour"}, Y, "`label_kernel='colour'` is not known"),
        ({"rank": 0}, Y, "`rank` must be a whole number"),
    ],
    ids=str,
)
def test_bad_input_raises_a_clear_error(params, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        ColoredMVU(**params).fit(X, y)


@pytest.mark.parametrize("rank", [None, 6])
def test_the_embedding_has_the_principal_axes_of_the_kernel(rank):
    model = ColoredMVU(n_components=3, n_neighbors=4, rank=rank).fit(X, Y)
    F = model.solution_.factor
    unit = SQUARED.mean()
    spectrum = np.linalg.svd(F, compute_uv=False) ** 2 * unit
    E = model.embedding_
    np.testing.assert_allclose(model.eigenvalues_[: len(spectrum)], spectrum, rtol=1e-8)
    np.testing.assert_allclose(E.T @ E, np.diag(spectrum[:3]), atol=1e-8 * spectrum[0])
    np.testing.assert_allclose(
        F @ (F.T @ E) * unit, E * spectrum[:3], atol=1e-8 * spectrum[0] ** 1.5
    )
