"""MVE: each round against CVXPY, the rounds against their theorem, and embeddings whose answer is known."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import MinimumVolumeEmbedding, solve
from gramlearn.graphs import neighbor_graph
from gramlearn.graphs.edges import Edges, connect_pieces
from gramlearn.methods.nonparametric.capacity import solve_with_capacity
from gramlearn.methods.unfolding.minimum_volume import (
    minimum_volume,
    signs_of,
    volume_problem,
)
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Attempt
from oracles import ask, centered, squared_norm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(14, 4)) * [3.0, 1.0, 0.6, 0.3]


def distances_of(points, n_neighbors=4):
    graph = connect_pieces(neighbor_graph(points, n_neighbors, join="mutual"), points)
    i, j = np.nonzero(np.triu(graph.toarray(), 1))
    return Edges(i, j, np.sum((points[i] - points[j]) ** 2, axis=1), 1.0)


def components(points, d):
    return np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[0][:, :d]


def first_less_others(K, d):
    s = np.linalg.eigvalsh(K)[::-1]
    return s[:d].sum() - s[d:].sum()


@parametrize_with_checks(
    [MinimumVolumeEmbedding(n_neighbors=4, connect=True, capacity_price=1.0, tol=1e-1)]
)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        # Points on a line have an embedding of one dimension, and are told so.
        warnings.filterwarnings("ignore", message=".*the kernel learned has rank 1.*")
        check(estimator)


# -- a round ---------------------------------------------------------------------------------------------


def by_cvxpy(distances, K0, C, G=None, B=None):
    """The optimum and its K, in units of its largest norm, so that Clarabel's tolerances mean something."""
    n, (i, j, D, _) = len(K0), distances
    unit = 1.0 if B is None else B**0.5
    K = unit * centered(n)
    flat = cp.vec(K, order="C")
    errors = flat[i * n + i] + flat[j * n + j] - 2 * flat[i * n + j] - D
    value = -cp.trace(K0 @ K) + C / 2 * cp.sum_squares(errors)
    value += 0.0 if G is None else G / 2 * squared_norm(K)
    bounds = [] if B is None else [cp.norm(K / unit, "fro") <= 1.0]
    optimum = unit**2 * ask(cp.Problem(cp.Minimize(value / unit**2), bounds))
    return optimum, np.asarray(K.value)


@pytest.mark.parametrize("first", ["components", "unfolding"])
def test_a_round_is_the_program_that_cvxpy_solves_centered_without_being_asked_to(first):
    distances = distances_of(X)
    n = len(X)
    K0 = signs_of(components(X, 2)) if first == "components" else np.eye(n) - 1 / n
    value, K = by_cvxpy(distances, K0, C=2.0, G=0.02)
    solution = solve(volume_problem(K0, distances, 2.0, 0.02), "working_set", tol=1e-9)
    assert 0.02 * solution.primal == pytest.approx(value, rel=1e-6)
    assert 0.02 * solution.dual <= value + 1e-6 * abs(value)
    np.testing.assert_allclose(solution.matrix, K, atol=1e-3 * np.abs(K).max())
    np.testing.assert_allclose(solution.matrix.sum(axis=0), 0, atol=1e-9 * np.abs(K).max())


def test_a_round_of_a_capacity_is_the_program_that_cvxpy_solves():
    distances = distances_of(X)
    K0 = signs_of(components(X, 2))
    value, K = by_cvxpy(distances, K0, C=2.0, B=400.0)
    answer = solve_with_capacity(
        lambda G: volume_problem(K0, distances, 2.0, G), 2.0, capacity=400.0, solver="working_set"
    )
    assert answer.capacity <= 400.0
    assert np.sum(K**2) == pytest.approx(400.0, rel=1e-4)  # the bound binds
    assert answer.primal == pytest.approx(value, rel=1e-5)
    assert answer.primal - answer.gap <= value + 1e-6 * abs(value)


def test_with_all_distances_at_a_high_price_the_points_are_recovered():
    n = len(X)
    i, j = np.triu_indices(n, 1)
    distances = Edges(i, j, np.sum((X[i] - X[j]) ** 2, axis=1), 1.0)
    answer = minimum_volume(
        distances, signs_of(components(X, 2)), 2, C=1e5, capacity_price=1e-6, tol=1e-4, max_rounds=5
    )
    F = answer.factor
    squared = np.sum((F[i] - F[j]) ** 2, axis=1)
    np.testing.assert_allclose(squared, distances.squared, atol=1e-3 * distances.squared.mean())
    centered = X - X.mean(axis=0)
    spectrum = np.linalg.svd(centered, compute_uv=False) ** 2
    np.testing.assert_allclose(answer.eigenvalues[:4], spectrum, rtol=1e-2)


# -- rounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("capacity", [{"capacity_price": 0.02}, {"capacity": 400.0}])
def test_the_objective_never_grows_and_matches_its_formula(capacity):
    distances = distances_of(X)
    start = signs_of(components(X, 2))
    answer = minimum_volume(distances, start, 2, C=2.0, tol=1e-5, **capacity)
    assert answer.status is Status.LOCAL
    assert len(answer.rounds) > 3
    objectives = [step.objective for step in answer.rounds]
    size = abs(objectives[-1])
    gaps = [2 * step.relative_gap * size for step in answer.rounds]
    assert all(np.diff(objectives) <= gaps[1:])
    assert objectives[0] - objectives[-1] > 1e-3 * size
    F = answer.factor
    K = F @ F.T
    d = np.diag(K)[distances.i] + np.diag(K)[distances.j] - 2 * K[distances.i, distances.j]
    value = -first_less_others(K, 2) + np.sum((d - distances.squared) ** 2)
    value += capacity.get("capacity_price", 0.0) / 2 * np.sum(K**2)
    assert value == pytest.approx(min(objectives), rel=1e-9)
    assert answer.relative_gap <= 1e-6
    assert answer.rounds[-1].relative_gap <= 1e-6
    gains = -np.diff(objectives)
    # Each is solved to a tenth of what the one before it gained.
    assert all(
        gap <= max(0.1 * gain, 1e-6 * size) * 2.1
        for gap, gain in zip(gaps[2:], gains, strict=False)
    )


def test_a_round_that_does_not_improve_is_not_kept():
    distances = distances_of(X)
    start = signs_of(components(X, 2))
    done = minimum_volume(distances, start, 2, C=2.0, capacity_price=0.02, tol=1e-4)
    kept = [step.objective for step in done.rounds]
    assert kept[-2] - kept[-1] <= 2e-4 * max(map(abs, kept))  # it stopped by itself
    F = done.factor
    share = np.linalg.eigvalsh(F.T @ F)[-2:].sum() / np.sum(F * F)
    assert share == pytest.approx(done.rounds[int(np.argmin(kept))].share)


@pytest.mark.parametrize("rounds", [1, 2])
def test_the_last_allowed_round_is_solved_to_a_tenth_of_tol(rounds):
    start = signs_of(components(X, 2))
    with pytest.warns(ConvergenceWarning, match=f"max_rounds={rounds},"):
        done = minimum_volume(
            distances_of(X), start, 2, C=2.0, capacity_price=0.02, tol=1e-4, max_rounds=rounds
        )
    assert len(done.rounds) == rounds
    assert done.relative_gap <= 1e-5


def test_after_a_round_falls_short_later_rounds_ask_for_no_more(monkeypatch):
    asked = []

    def watched(method, tol, *rest):
        asked.append(tol)
        return Attempt(method, tol, *rest)

    monkeypatch.setattr("gramlearn.methods.unfolding.minimum_volume.Attempt", watched)
    with pytest.warns(ConvergenceWarning):
        found = MinimumVolumeEmbedding(n_neighbors=4, connect=True, tol=1e-300, max_rounds=40).fit(
            X
        )
    assert found.solution_.relative_gap < 1e-11
    assert sum(tol < 1e-13 for tol in asked) <= 2  # and the last that there may be


def test_a_failed_round_does_not_loosen_the_tolerance():
    """A price that no round is solved at leaves a gap that is no rounding, and is not called optimal."""
    with pytest.warns(ConvergenceWarning):
        found = MinimumVolumeEmbedding(n_neighbors=4, connect=True, C=1e25, max_rounds=2).fit(X)
    assert found.solution_.status is not Status.OPTIMAL or found.solution_.relative_gap <= 1e-3


def test_volume_is_smaller_than_that_of_unfolding():
    points, _ = make_swiss_roll(60, random_state=0)
    one = MinimumVolumeEmbedding(max_rounds=1, init="unfolding", tol=1e-2)
    with pytest.warns(ConvergenceWarning, match="max_rounds=1,"):
        one.fit(points)
    more = MinimumVolumeEmbedding(init="unfolding", tol=1e-2).fit(points)
    assert more.share_ > one.share_ + 0.02
    assert more.solution_.rounds[-1].objective < one.solution_.rounds[-1].objective


# -- the estimator ---------------------------------------------------------------------------------------


def test_an_arc_is_unfolded_to_a_line_whose_neighbors_keep_their_distances():
    angle = np.linspace(0, 1.5 * np.pi, 40)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    found = MinimumVolumeEmbedding(1, 2, C=1e4, capacity_price=1e-4).fit(arc).embedding_[:, 0]
    steps = np.diff(found) * np.sign(found[-1] - found[0])
    assert (steps > 0).all()
    np.testing.assert_allclose(steps, np.linalg.norm(arc[1] - arc[0]), rtol=0.02)


def test_units_of_X_are_those_of_the_embedding():
    one = MinimumVolumeEmbedding().fit(X)
    two = MinimumVolumeEmbedding().fit(1000 * X + 5)
    np.testing.assert_allclose(two.embedding_, 1000 * one.embedding_, rtol=1e-3, atol=1.0)
    assert two.unit_ == pytest.approx(1e6 * one.unit_)
    assert pytest.approx(one.solution_.capacity_price) == two.solution_.capacity_price
    np.testing.assert_allclose(one.eigenvalues_[:2], np.sum(one.embedding_**2, axis=0), rtol=1e-9)
    np.testing.assert_allclose(one.embedding_.mean(axis=0), 0, atol=1e-9)


def test_new_points_lie_between_the_old_ones():
    model = MinimumVolumeEmbedding().fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    new = model.transform(X[:3] + 1e-6)
    np.testing.assert_allclose(new, model.embedding_[:3], atol=1e-3)


def test_a_capacity_is_kept():
    model = MinimumVolumeEmbedding(capacity=60.0).fit(X)
    assert model.solution_.capacity <= 60.0
    assert model.solution_.relative_gap <= 1e-4


@pytest.mark.parametrize(
    ("options", "points", "sentence"),
    [
        (
            {"capacity": 1.0, "capacity_price": 1.0},
            X,
            "pass `capacity` or `capacity_price`, not both",
        ),
        ({"capacity": -1.0}, X, r"MinimumVolumeEmbedding\(capacity=-1.0\)"),
        ({"capacity_price": 0.0}, X, r"MinimumVolumeEmbedding\(capacity_price=0.0\)"),
        ({"C": 0.0}, X, r"MinimumVolumeEmbedding\(C=0.0\)"),
        ({"n_components": 14}, X, "more than the 13 dimensions that 14 points can have"),
        ({"n_neighbors": 14}, X, "more than the 13 other points"),
        ({}, np.ones((9, 2)), "all rows of `X` are equal"),
        ({}, np.vstack([X, X + 100]), "is in 2 pieces.*connect=True"),
        ({"init": "random"}, X, "`init='random'` is not known"),
        ({"max_rounds": 0}, X, "`max_rounds` must be a whole number"),
    ],
)
def test_bad_input_raises_a_clear_error(options, points, sentence):
    with pytest.raises(ValueError, match=sentence):
        MinimumVolumeEmbedding(**options).fit(points)


def test_dimensions_beyond_the_rank_are_zero_with_a_warning():
    line = np.arange(12.0)[:, None]
    with pytest.warns(UserWarning, match=r"n_components=3.*has rank 1"):
        found = MinimumVolumeEmbedding(3).fit_transform(line)
    assert found.shape == (12, 3)
    np.testing.assert_array_equal(found[:, 1:], 0.0)
