"""Maximum variance unfolding: closed forms, another solver, a bound from any multipliers, and the estimator."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.scripts import unfolding as benchmark
from scipy.linalg import null_space
from sklearn.datasets import load_iris, make_swiss_roll
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import MaximumVarianceUnfolding, MinimumVolumeEmbedding, StructurePreservingEmbedding
from gramlearn.graphs import neighbor_graph
from gramlearn.graphs.edges import read_edges
from gramlearn.methods import unfold
from gramlearn.methods.unfolding.facial_reduction import common_range, find_pieces
from gramlearn.methods.unfolding.variance_bound import UnfoldingProblem
from oracles import ask, independent, vanishing_on

RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((14, 3))
CENTERED = CLOUD - CLOUD.mean(axis=0)
EVERY = np.column_stack(np.triu_indices(14, 1))
BOTH = pytest.mark.parametrize("distances", ["equal", "at_most"])


def graph(X, count):
    return neighbor_graph(X, count, join="either")


def bent_sheet(n, seed):
    """Points of a sheet bent by three quarters of a turn, and where they are along it."""
    rng = np.random.default_rng(seed)
    along, across = rng.uniform(0, 1.5 * np.pi, n), rng.uniform(0, 1, n)
    return np.column_stack([np.cos(along), np.sin(along), across]), along


def problem_of(X, count, at_most=False):
    return UnfoldingProblem(X, *read_edges(graph(X, count), len(X)), at_most)


@parametrize_with_checks(
    [MaximumVarianceUnfolding(n_neighbors=4, connect=True, distances="at_most", tol=1e-2)]
)
@pytest.mark.filterwarnings("ignore:n_components=2 dimensions were asked of:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


# -- the optimum ---------------------------------------------------------------------------------------


@BOTH
def test_all_distances_leave_the_points_as_they_are(distances):
    answer = unfold(CLOUD, EVERY, distances=distances, tol=1e-9)
    np.testing.assert_allclose(answer.factor @ answer.factor.T, CENTERED @ CENTERED.T, atol=1e-7)
    assert answer.bound == pytest.approx(np.sum(CENTERED**2), rel=1e-8)


@BOTH
def test_a_chain_becomes_a_straight_line(distances):
    # Corners of a square wave and their neighbors: only consecutive points are joined.
    steps = np.asarray([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, -1.0], [3.0, 0.0]])
    points = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    pairs = [(k, k + 1) for k in range(5)]
    at = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
    at -= at.mean()
    answer = unfold(points, pairs, distances=distances, tol=1e-9)
    assert answer.trace == pytest.approx(at @ at, rel=1e-8)
    line = answer.factor[:, 0] * np.sign(answer.factor[0, 0] * at[0])
    np.testing.assert_allclose(line, at, atol=1e-3)


def test_three_points_two_edges():
    answer = unfold([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [(0, 1), (1, 2)], tol=1e-9)
    assert answer.trace == pytest.approx(2.0, rel=1e-8)


def affine_relations(X, pairs):
    """All v on d + 2 points that are all joined, with sum v_i = 0 and sum v_i x_i = 0: there K v = 0."""
    n, d = X.shape
    joined = {frozenset(pair) for pair in pairs.tolist()}
    relations = [np.ones(n)]
    for clique in itertools.combinations(range(n), d + 2):
        if joined.issuperset(map(frozenset, itertools.combinations(clique, 2))):
            relations.append(np.zeros(n))
            around = np.column_stack([np.ones(d + 2), X[list(clique)]])
            relations[-1][list(clique)] = null_space(around.T)[:, 0]
    return np.array(relations)


@BOTH
@pytest.mark.parametrize("count", [3, 4])
def test_the_optimum_is_that_of_another_solver(distances, count):
    answer = unfold(CLOUD, graph(CLOUD, count), distances=distances, tol=1e-7)
    i, j = answer.pairs.T
    D = np.sum((CLOUD[i] - CLOUD[j]) ** 2, axis=1)
    null, rows = np.ones((1, 14)), np.arange(len(D))
    if distances == "equal":
        # Five joined points of a space of three dimensions stay in three: K has a null space, within which
        # some of the distances follow from the others.
        null = affine_relations(CLOUD, answer.pairs)
        assert len(null) == (3 if count == 4 else 1)
        z = null_space(null)[i] - null_space(null)[j]
        rows = independent((z[:, :, None] * z[:, None, :]).reshape(len(z), -1))
    K = vanishing_on(null)
    t = (cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j])[rows]
    keeps = t == D[rows] if distances == "equal" else t <= D
    optimum = ask(cp.Problem(cp.Maximize(cp.trace(K)), [keeps]))
    assert answer.trace == pytest.approx(optimum, rel=1e-5)
    assert answer.bound >= answer.trace - 1e-6 * answer.trace


@BOTH
def test_a_bent_sheet_lies_flat_and_its_distances_are_kept(distances):
    X, along = bent_sheet(90, 0)
    answer = unfold(X, graph(X, 5), distances=distances)
    assert answer.status.name == "OPTIMAL"
    assert answer.relative_gap <= 1e-4
    i, j = answer.pairs.T
    kept = np.sum((answer.factor[i] - answer.factor[j]) ** 2, axis=1)
    wanted = np.sum((X[i] - X[j]) ** 2, axis=1)
    off = kept - wanted
    assert np.max(np.abs(off) if distances == "equal" else off) <= 1e-4 * wanted.mean()
    spectrum = np.sum(answer.factor**2, axis=0)
    assert spectrum[:2].sum() > 0.99 * spectrum.sum()
    assert abs(np.corrcoef(answer.factor[:, 0], along)[0, 1]) > 0.99


def test_shrinking_distances_pull_farther():
    X, _ = make_swiss_roll(60, random_state=1)
    kept, less = (unfold(X, graph(X, 5), distances=way) for way in ("equal", "at_most"))
    assert less.trace > kept.trace * (1 - 2e-4)


# -- the certificate -----------------------------------------------------------------------------------


@BOTH
def test_the_bound_holds_for_any_multipliers(distances):
    X, _ = make_swiss_roll(25, random_state=2)
    problem = problem_of(X, 4, distances == "at_most")
    best = unfold(X, graph(X, 4), distances=distances, tol=1e-6).trace / problem.unit
    F = (X - X.mean(axis=0)) / np.sqrt(problem.unit)
    rng = np.random.default_rng(0)
    for size in (0.0, 0.1, 1.0, 10.0, 1e4):
        for _ in range(5):
            lam = size * rng.standard_normal(len(problem.i))
            lam = np.abs(lam) if problem.at_most else lam
            certificate = problem.certificate(F, lam)
            assert -certificate.dual >= best * (1 - 1e-5)
            # The points themselves are feasible.
            assert certificate.violation < 1e-9
            assert certificate.gap >= abs(certificate.primal - certificate.dual) * (1 - 1e-12)


@BOTH
@pytest.mark.parametrize("limits", [{}, {"max_iter": 4}], ids=["converged", "cut short"])
@pytest.mark.filterwarnings("ignore:the solve stopped:sklearn.exceptions.ConvergenceWarning")
def test_the_bound_is_that_of_the_multipliers_in_plain_numpy(distances, limits):
    X, _ = make_swiss_roll(60, random_state=3)
    answer = unfold(X, graph(X, 4), distances=distances, **limits)
    i, j = answer.pairs.T
    D = np.sum((X[i] - X[j]) ** 2, axis=1)
    A = np.eye(60)[i] - np.eye(60)[j]
    # Five joined points of three dimensions: K v = 0, so Z may be anything there.
    relations = affine_relations(X, answer.pairs) if distances == "equal" else np.ones((1, 60))
    V = null_space(relations)
    Z = V.T @ (A.T * answer.multipliers @ A - np.eye(60)) @ V
    z = max(0.0, -np.linalg.eigvalsh(Z)[0])
    assert answer.multipliers @ D <= answer.bound * (1 + 1e-12)
    assert (
        answer.bound
        >= answer.multipliers @ D + z * answer.problem.largest_trace - 1e-6 * answer.trace
    )
    assert answer.gap >= abs(answer.bound - answer.trace) * (1 - 1e-12)


def test_negative_prices_of_distances_that_may_shrink_prove_nothing():
    problem = problem_of(CLOUD, 4, at_most=True)
    certificate = problem.certificate(CENTERED, np.full(len(problem.i), -1.0))
    assert certificate.gap == np.inf


def test_no_trace_exceeds_that_of_shortest_paths():
    # A chain reaches it.
    points = np.cumsum(RNG.standard_normal((9, 3)), axis=0)
    pairs = [(k, k + 1) for k in range(8)]
    answer = unfold(points, pairs, tol=1e-9)
    largest = answer.problem.largest_trace * answer.problem.unit
    assert answer.trace == pytest.approx(largest, rel=1e-8)
    problem = problem_of(CLOUD, 4)
    assert unfold(CLOUD, graph(CLOUD, 4)).trace < problem.largest_trace * problem.unit


def test_the_range_holds_every_feasible_kernel_and_no_more_than_cliques_leave():
    V = common_range(14, find_pieces(CLOUD, *EVERY.T, rigid=True))
    assert V.shape == (14, 3)
    np.testing.assert_allclose(V @ (V.T @ CENTERED), CENTERED, atol=1e-12)
    loose = common_range(14, find_pieces(CLOUD, *EVERY.T, rigid=False))
    assert loose.shape == (14, 13)
    chain = np.column_stack([np.arange(13), np.arange(1, 14)])
    assert common_range(14, find_pieces(CLOUD, *chain.T, rigid=True)).shape == (14, 13)


def test_non_convergence_warns_with_the_gap():
    with pytest.warns(ConvergenceWarning, match=r"relative gap .* raise max_iter") as caught:
        answer = unfold(CLOUD, graph(CLOUD, 4), max_iter=2)
    assert answer.iterations == 2
    assert f"{answer.relative_gap:.1e}" in str(caught[0].message)


# -- what points may be --------------------------------------------------------------------------------


@BOTH
def test_equal_points_stay_together_and_count_twice(distances):
    twice = np.vstack([CLOUD, CLOUD[:3]])
    pairs = np.vstack([EVERY, np.column_stack([np.arange(3), np.arange(14, 17)])])
    answer = unfold(twice, pairs, distances=distances, tol=1e-8)
    centered = twice - twice.mean(axis=0)
    np.testing.assert_allclose(answer.factor @ answer.factor.T, centered @ centered.T, atol=1e-5)


def test_units_and_origin_do_not_matter():
    one, two = (unfold(s * CLOUD + 7 * s, graph(CLOUD, 4), tol=1e-6) for s in (1.0, 1e-6))
    assert two.trace == pytest.approx(1e-12 * one.trace, rel=1e-5)
    np.testing.assert_allclose(one.multipliers, two.multipliers, rtol=1e-3)


@pytest.mark.parametrize(
    ("points", "pairs", "sentence"),
    [
        (CLOUD, [(0, 1), (2, 3)], r"`graph` is in 12 pieces.*more neighbors"),
        (np.ones((4, 2)), [(0, 1), (1, 2), (2, 3)], "all points are equal"),
        (CLOUD, [(0, 99)], "refers to row 99"),
    ],
)
def test_bad_input_raises_a_clear_error(points, pairs, sentence):
    with pytest.raises(ValueError, match=sentence):
        unfold(points, pairs)


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match=r"`distances='less'` is not known"):
        unfold(CLOUD, EVERY, distances="less")


# -- the estimator -------------------------------------------------------------------------------------


def test_the_estimator_embeds_its_points_and_new_ones():
    X, _ = bent_sheet(90, 0)
    model = MaximumVarianceUnfolding().fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_allclose(model.eigenvalues_.sum(), model.solution_.trace, rtol=1e-9)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-8)
    new, at = bent_sheet(60, 4)
    assert abs(np.corrcoef(model.transform(new)[:, 0], at)[0, 1]) > 0.99


def test_a_disconnected_graph_and_equal_points_are_refused():
    with pytest.raises(ValueError, match=r"n_neighbors=2` is in \d+ pieces"):
        MaximumVarianceUnfolding(n_neighbors=2).fit(load_iris().data)
    with pytest.raises(ValueError, match="all rows of `X` are equal"):
        MaximumVarianceUnfolding().fit(np.ones((9, 2)))


@pytest.mark.parametrize("size", [1e-170, 1e160])
@pytest.mark.parametrize(
    "estimator",
    [MaximumVarianceUnfolding(), MinimumVolumeEmbedding(), StructurePreservingEmbedding()],
)
def test_points_whose_squared_distances_overflow_are_refused(estimator, size):
    with pytest.raises(ValueError, match="pass X in other units"):
        estimator.fit(size * np.random.default_rng(0).normal(size=(12, 2)))


def test_components_can_be_joined_by_the_shortest_edges():
    two = np.concatenate([np.arange(5.0), 20 + np.arange(5.0)])[:, None]
    found = MaximumVarianceUnfolding(1, 2, connect=True, tol=1e-6).fit_transform(two)
    np.testing.assert_allclose(np.abs(np.diff(found[:, 0])), np.diff(two[:, 0]), rtol=1e-3)


def test_more_dimensions_than_there_are():
    with pytest.warns(UserWarning, match="n_components=5 dimensions .* rank 3"):
        model = MaximumVarianceUnfolding(5, n_neighbors=13).fit(CLOUD)
    assert model.embedding_.shape == (14, 5)
    np.testing.assert_array_equal(model.embedding_[:, 3:], 0.0)


def test_the_benchmark_recomputes_the_bound():
    K, words, bound = benchmark.gramlearn(*benchmark.draw(30, 0))
    assert np.trace(K) == pytest.approx(bound(), rel=1e-4)
    assert words.startswith("gap ")
