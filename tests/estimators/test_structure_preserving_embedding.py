"""SPE: the program against CVXPY, lazily made comparisons against all, graphs that can be read off again."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from gramlearn.constraints import DenseMatrices, DistanceComparisons
from gramlearn.losses import Hard, Linear
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import Frobenius, Problem, Schatten, StructurePreservingEmbedding, Term, Zeros, solve
from gramlearn.graphs import neighbor_graph
from gramlearn.methods.unfolding.graph_comparisons import Comparisons
from gramlearn.methods.unfolding.structure_preserving import structure_preserving
from oracles import ask

RNG = np.random.default_rng(3)
GRAPH = neighbor_graph(RNG.normal(size=(13, 6)), 3, join="either")


def path(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def cycle(n):
    W = path(n)
    W[0, -1] = W[-1, 0] = 1
    return W


def grid(a, b):
    return np.kron(path(a), np.eye(b)) + np.kron(np.eye(a), path(b))


def star(n):
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1
    return W


def all_of(graph):
    """Every (i, k, j) with k a neighbor of i and j not."""
    W = graph.toarray() > 0
    n = len(W)
    rows = [
        (i, k, j)
        for i in range(n)
        for k in np.flatnonzero(W[i])
        for j in range(n)
        if j != i and not W[i, j]
    ]
    return np.array(rows)


def centered(graph):
    W = graph.toarray()
    H = np.eye(len(W)) - 1 / len(W)
    return H @ W @ H


def violations(F, triplets):
    i, k, j = triplets.T
    return np.sum((F[i] - F[k]) ** 2, axis=1) - np.sum((F[i] - F[j]) ** 2, axis=1)


@parametrize_with_checks([StructurePreservingEmbedding(tol=1e-5)])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_dimensions_beyond_the_rank_are_zero_with_a_warning():
    with pytest.warns(UserWarning, match=r"n_components=11 .* has rank \d"):
        model = StructurePreservingEmbedding(11, graph="precomputed").fit(cycle(12))
    rank = int(np.sum(model.eigenvalues_ > 1e-6 * model.eigenvalues_.sum()))
    assert model.embedding_.shape == (12, 11)
    np.testing.assert_allclose(
        np.sum(model.embedding_**2, axis=0)[:rank], model.eigenvalues_[:rank]
    )
    np.testing.assert_array_equal(model.embedding_[:, rank:], 0.0)


# -- the program -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [None, 2.0, 0.1, 0.03])
def test_it_is_the_program_that_cvxpy_solves_with_one_slack_for_all(C):
    n, (i, k, j) = GRAPH.shape[0], all_of(GRAPH).T
    K, xi = cp.Variable((n, n), PSD=True), cp.Variable(nonneg=True)
    flat = cp.vec(K, order="C")
    difference = flat[k * n + k] - 2 * flat[i * n + k] - flat[j * n + j] + 2 * flat[i * n + j]
    slack = 0.0 if C is None else xi
    constraints = [difference <= slack, cp.norm(K, "fro") <= 3.0]
    # <HWH, K> is <W, K> of a centered K, and of no others is there any use.
    objective = -cp.trace(centered(GRAPH) @ K) + (C or 0.0) * xi
    value = ask(cp.Problem(cp.Minimize(objective), constraints))
    answer = structure_preserving(GRAPH, C=C, capacity=9.0, tol=1e-7)
    assert answer.primal == pytest.approx(value, rel=1e-5)
    assert answer.primal - answer.gap <= value + 1e-5 * abs(value)
    assert answer.relative_gap <= 1e-7
    F = answer.factor
    np.testing.assert_allclose(F @ F.T, K.value, atol=2e-3 * np.abs(K.value).max())
    if C is None:
        assert answer.slack <= 1e-6
    else:
        # A comparison adds up six entries of K.
        assert answer.slack == pytest.approx(float(xi.value), abs=1.2e-2 * np.abs(K.value).max())
        assert answer.prices.sum() <= C * (1 + 1e-12)
    assert (answer.prices >= 0).all()


def test_slack_is_used_where_it_is_cheap_and_not_where_it_is_expensive():
    free, dear = structure_preserving(GRAPH), structure_preserving(GRAPH, C=1e3)
    assert free.prices.sum() > 0.1
    assert dear.primal == pytest.approx(free.primal, rel=1e-6)
    slacks = [structure_preserving(GRAPH, C=C, capacity=1.0).slack for C in (0.11, 0.1, 0.05, 0.01)]
    assert np.all(np.diff(slacks) > 0)


@pytest.mark.parametrize("p", [2.0, 1.3])
def test_comparisons_added_when_violated_give_the_same_as_all_of_them(p):
    triplets = all_of(GRAPH)
    n = GRAPH.shape[0]
    terms = [
        Term(DenseMatrices(centered(GRAPH)[None]), Linear(-1.0)),
        Term(DistanceComparisons(*triplets.T), Hard(upper=0.0)),
    ]
    whole = solve(Problem(Frobenius() if p == 2 else Schatten(p), Zeros(n), terms), tol=1e-9)
    lazy = structure_preserving(GRAPH, p=p, tol=1e-8)
    assert lazy.count == len(triplets)
    assert 0 < len(lazy.made) < lazy.count / 2
    F = lazy.factor
    np.testing.assert_allclose(F @ F.T, whole.matrix, atol=1e-4 * np.abs(whole.matrix).max())
    assert lazy.primal + lazy.capacity / p == pytest.approx(whole.primal, rel=1e-7)
    assert violations(F, triplets).max() <= 1e-6
    assert max(violations(F, triplets).max(), 0) == pytest.approx(lazy.slack, abs=1e-12)


def test_comparisons_are_checked_a_few_rows_at_a_time(monkeypatch):
    comparisons, triplets = Comparisons(GRAPH), all_of(GRAPH)
    F = RNG.normal(size=(13, 4))
    excess = violations(F, triplets)
    for numbers in (4_000_000, 40):
        monkeypatch.setattr("gramlearn.methods.unfolding.graph_comparisons._AT_ONCE", numbers)
        worst, largest = comparisons.find_violated(F, 0.0, 0.0, 5)
        assert largest == pytest.approx(excess.max())
        np.testing.assert_array_equal(worst[0], triplets[np.argmax(excess)])
        assert np.all(np.diff(violations(F, worst)) <= 0)


def test_the_answer_scales_with_capacity_and_with_its_price():
    one = structure_preserving(GRAPH, capacity=1.0)
    nine = structure_preserving(GRAPH, capacity=9.0)
    np.testing.assert_allclose(nine.factor**2, 3 * one.factor**2, atol=1e-9)
    S = nine.factor.T @ nine.factor
    assert np.sum(S * S) == pytest.approx(9.0)
    priced = structure_preserving(GRAPH, capacity_price=0.5, p=1.5, C=0.3)
    plain = structure_preserving(GRAPH, p=1.5, C=0.3)
    # (G/p) tr K^p and a linear f: K of G is that of 1, times G^(-1 / (p - 1)).
    np.testing.assert_allclose(priced.factor**2, 4 * plain.factor**2, atol=1e-9)
    assert priced.primal == pytest.approx(4 * plain.primal)


@pytest.mark.parametrize("p", [1.01, 1.02, 1.1, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("C", [None, 1.0])
def test_a_path_of_four_is_its_first_eigenvector_at_any_exponent(p, C):
    # HWH has one positive eigenvalue, and its K violates nothing: -<W, K> is minus it times B^(1/p).
    path = sp.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    first = np.linalg.eigvalsh(centered(path))[-1]
    answer = structure_preserving(path, p=p, C=C, capacity=4.0)
    assert answer.primal == pytest.approx(-first * 4 ** (1 / p))
    assert answer.capacity == pytest.approx(4.0)
    assert answer.relative_gap <= 1e-6


@pytest.mark.parametrize("p", [1.1, 2.0, 3.0])
def test_a_kernel_of_rounding_errors_counts_as_zero(p):
    answer = structure_preserving(sp.csr_array(star(6)), p=p, C=1.0, capacity=6.0)
    assert answer.capacity == answer.primal == answer.gap == answer.slack == 0.0


def test_the_default_capacity_price_is_one():
    # K = (HWH+)^(q - 1) where nothing is violated.
    path = sp.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    answer = structure_preserving(path, p=1.5)
    first = np.linalg.eigvalsh(centered(path))[-1]
    assert np.sum(answer.factor**2) == pytest.approx(first**2)


def test_comparisons_that_stay_violated_are_reported():
    triangle = np.triu(np.random.default_rng(1).random((40, 40)) < 0.5, 1)
    graph = sp.csr_array((triangle | triangle.T).astype(float))
    with pytest.warns(ConvergenceWarning, match="left comparisons violated"):
        answer = structure_preserving(graph, p=1.01)
    worst = violations(answer.factor, all_of(graph)).max()
    assert answer.slack == pytest.approx(worst)
    assert worst > 2e-6 * np.sum(answer.factor**2) / 40


# -- what it is named for ----------------------------------------------------------------------------------


def reads_off(points, W):
    """Whether no neighbor of a point is farther from it than another point is."""
    d = np.sum((points[:, None] - points[None, :]) ** 2, axis=2)
    other = (W == 0) & ~np.eye(len(W), dtype=bool)
    farthest = np.where(W > 0, d, -np.inf).max(axis=1)
    return np.all(farthest <= np.where(other, d, np.inf).min(axis=1) + 1e-6 * d.mean())


@pytest.mark.parametrize("p", [2.0, 1.2])
@pytest.mark.parametrize("W", [cycle(12), path(10), grid(4, 5)], ids=["cycle", "path", "grid"])
def test_the_graph_can_be_read_off_the_kernel(W, p):
    model = StructurePreservingEmbedding(graph="precomputed", p=p).fit(W)
    assert reads_off(model.factor_, W)
    s, V = np.linalg.eigh(centered(sp.csr_array(W)))
    assert p == 2 or model.eigenvalues_[:2].sum() / np.sum(model.factor_**2) > 0.75
    if p < 2 and len(W) == 20:
        # Without the comparisons it cannot: they are what makes it so.
        assert not reads_off(V * np.clip(s, 0, None) ** ((p / (p - 1) - 1) / 2), W)
        assert len(model.solution_.made) > 0


def test_a_cycle_is_a_circle():
    model = StructurePreservingEmbedding(graph="precomputed").fit(cycle(12))
    radii = np.linalg.norm(model.embedding_, axis=1)
    np.testing.assert_allclose(radii, radii.mean(), rtol=1e-6)
    assert reads_off(model.embedding_, cycle(12))


def test_a_graph_of_neighbors_is_preserved():
    X = RNG.normal(size=(40, 5))
    model = StructurePreservingEmbedding(n_neighbors=4, p=1.5).fit(X)
    assert reads_off(model.factor_, model.graph_.toarray())
    assert model.solution_.relative_gap <= 1e-6
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.factor_.mean(axis=0), 0, atol=1e-9)


def test_only_the_edges_of_sparse_and_weighted_graphs_count():
    W = grid(3, 4)
    one = StructurePreservingEmbedding(graph="precomputed").fit(W)
    two = StructurePreservingEmbedding(graph="precomputed").fit(sp.csr_matrix(2 * W + np.eye(12)))
    np.testing.assert_allclose(two.embedding_, one.embedding_)
    assert one.fit_transform(W).shape == (12, 2)
    with pytest.raises(ValueError, match="says nothing of new points"):
        one.transform(W)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array, sp.coo_array])
def test_the_graph_is_not_modified(kind):
    W = 2.5 * cycle(8) + np.eye(8)
    given = kind(W)
    fitted = StructurePreservingEmbedding(graph="precomputed").fit(given)
    np.testing.assert_array_equal(given if kind is np.asarray else given.toarray(), W)
    assert kind is np.asarray or given.nnz == np.count_nonzero(W)
    np.testing.assert_array_equal(fitted.graph_.toarray(), cycle(8))


@pytest.mark.parametrize(
    ("options", "X", "sentence"),
    [
        (
            {"capacity": 1.0, "capacity_price": 1.0},
            cycle(6),
            "pass `capacity` or `capacity_price`, not both",
        ),
        ({"capacity": 0.0}, cycle(6), r"StructurePreservingEmbedding\(capacity=0.0\)"),
        (
            {"capacity_price": -2.0},
            cycle(6),
            r"StructurePreservingEmbedding\(capacity_price=-2.0\)",
        ),
        ({"C": 0.0}, cycle(6), r"StructurePreservingEmbedding\(C=0.0\)"),
        ({"p": 1.0}, cycle(6), "p must be greater than 1"),
        ({"p": 1.001}, cycle(6), "`p=1.001` asks for powers of 1001.*pass 1.01 or more"),
        ({"n_components": 6}, cycle(6), "more than the 5 dimensions that 6 points can have"),
        ({}, np.zeros((5, 5)), "the graph has no edges"),
        ({}, 1 - np.eye(5), "all 5 points are neighbors of each other"),
        ({}, star(6), "the best embedding of this graph is one point"),
        ({}, np.triu(cycle(6)), "`X` is not symmetric"),
        ({}, cycle(6)[:5], r"shape \(5, 6\).*graph, n x n"),
        ({"graph": "other"}, cycle(6), "`graph='other'` is not known"),
        ({"graph": "neighbors"}, np.ones((9, 2)), "all rows of `X` are equal"),
    ],
)
def test_bad_input_raises_a_clear_error(options, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        StructurePreservingEmbedding(**{"graph": "precomputed", **options}).fit(X)
