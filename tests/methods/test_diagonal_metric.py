"""A weight for each feature: the optimum over diagonal matrices, with every part of the library."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from gramlearn.losses import Hard, Hinge, KLSlack, LogDetSlack, Square, SquaredHinge
from tests.catalogue import BOUNDED_LOSSES, REGULARIZERS, name_of
from tests.oracles import ask

from gramlearn import (
    Bounds,
    Frobenius,
    LogDet,
    Pairs,
    Problem,
    Schatten,
    Status,
    Triplets,
    VonNeumann,
    solve,
)
from gramlearn.methods.metric.diagonal import squared_differences as of_pairs
from gramlearn.methods.metric.diagonal import step
from gramlearn.methods.metric.diagonal.method import solve_weights
from gramlearn.methods.metric.diagonal.problem import WeightProblem
from gramlearn.problem.constraints import DistanceComparisons, SquaredDistances
from gramlearn.solvers.loop import Limits

N, D = 30, 5
TOL = 1e-6
LIMITS = Limits(TOL, 300)


def points(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, D)) * np.linspace(0.5, 2.0, D)


def rows(count=40, seed=1):
    """Pairs (i, j), each once."""
    i, j = np.triu_indices(N, 1)
    chosen = np.random.default_rng(seed).permutation(len(i))[:count]
    return np.stack([i[chosen], j[chosen]], axis=1)


def some_pairs():
    """Pairs whose labels a part of the features explains, so that not all of them can be right."""
    X, pairs = points(), rows()
    near = (X[pairs[:, 0], 0] > 0) == (X[pairs[:, 1], 0] > 0)
    return Pairs(similar=pairs[near], dissimilar=pairs[~near], n_points=N)


def true_distances(pairs):
    X = points()
    return (X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2 @ np.array([2.0, 0.1, 0.5, 1.0, 0.3])


def intervals():
    pairs = rows()
    t = true_distances(pairs)
    return Bounds(*pairs.T, upper=1.1 * t, lower=0.9 * t, n_points=N)


def targets():
    pairs = rows(3)
    t = true_distances(pairs)
    return Bounds(*pairs.T, upper=t, lower=t, n_points=N)


def comparisons():
    """Comparisons that hold under the weights of `true_distances`, with a margin that scaling provides."""
    rng = np.random.default_rng(2)
    drawn = np.array([rng.permutation(N)[:3] for _ in range(40)])
    near, far = true_distances(drawn[:, :2]), true_distances(drawn[:, ::2])
    kept = drawn[near < 0.8 * far]
    return Triplets(kept, n_points=N, margin=4.0)


SIDES = {
    "pairs": (some_pairs, (4.0, 8.0)),
    "intervals": (intervals, None),
    "targets": (targets, None),
    "comparisons": (comparisons, None),
}


def weight_problem(regularizer, prior, X, side, loss, bounds=None):
    return WeightProblem.of(regularizer, prior, X, side.bind(loss, X, bounds))


def kinds_of_losses():
    """Every loss of the library, once, without its bound."""
    kinds = dict.fromkeys(type(loss) for loss in BOUNDED_LOSSES)
    return [kind() for kind in kinds]


def fits(loss, name):
    """Whether the loss is for statements of this kind, and these can hold where it asks for that."""
    if name == "comparisons" and loss.needs_positive_bound:
        return False  # differences of distances have no logarithm
    if name == "pairs" and loss.is_hard:
        return False  # they contradict each other; see below
    is_squared = isinstance(loss, Square | SquaredHinge)
    return not is_squared or loss.needs_target == (name == "targets")


CASES = [
    pytest.param(regularizer, loss, name, id=f"{name_of(regularizer)}-{name_of(loss)}-{name}")
    for regularizer in REGULARIZERS
    for loss in kinds_of_losses()
    for name in SIDES
    if fits(loss, name)
]


@pytest.mark.parametrize(("regularizer", "loss", "name"), CASES)
def test_every_combination_is_certified(regularizer, loss, name):
    make, bounds = SIDES[name]
    prior = np.linspace(0.5, 1.5, D)
    problem = weight_problem(regularizer, prior, points(), make(), loss, bounds)
    found = solve_weights(problem, LIMITS)
    assert found.status is Status.OPTIMAL
    assert found.relative_gap <= TOL
    assert found.violation <= TOL
    assert found.weights.min() >= 0
    # The value, by its definition; what is outside a domain by rounding costs nothing.
    w, t = found.weights, problem.differences.times(found.weights)
    h = regularizer
    divergence = h.value(w) - h.value(prior) - h.derivative(prior) * (w - prior)
    costs = problem.each(lambda part, piece: part.loss.value_inside(piece), t)
    np.testing.assert_allclose(divergence.sum() + costs.sum(), found.primal, rtol=1e-9)
    assert found.dual <= found.primal


def cvxpy_divergence(regularizer, w, prior):
    if isinstance(regularizer, LogDet):
        return cp.sum(w / prior - cp.log(w) + np.log(prior) - 1)
    if isinstance(regularizer, VonNeumann):
        return cp.sum(cp.kl_div(w, prior))
    p = regularizer.p
    slope = prior ** (p - 1)
    return cp.sum(cp.power(w, p) / p - prior**p / p - cp.multiply(slope, w - prior))


def cvxpy_loss(loss, t, bound, side):
    if isinstance(loss, Hinge):
        return loss.C * cp.sum(cp.pos(side * (t - bound)))
    if isinstance(loss, SquaredHinge):
        return loss.C / 2 * cp.sum_squares(cp.pos(side * (t - bound)))
    # On the wrong side the divergence, and 0 on the right one: t may be moved back to the bound at no cost.
    moved = cp.Variable(t.shape, nonneg=True)
    u = (t + side * moved) / bound
    if isinstance(loss, LogDetSlack):
        return loss.C * cp.sum(u - cp.log(u) - 1)
    return loss.C * cp.sum(cp.multiply(bound, cp.kl_div(u, np.ones(t.shape))))


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (Hinge(3.0), "pairs"),
        (SquaredHinge(0.5), "pairs"),
        (LogDetSlack(2.0), "pairs"),
        (KLSlack(2.0), "pairs"),
        (Hinge(3.0), "comparisons"),
        (SquaredHinge(0.5), "comparisons"),
    ],
)
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_the_optimum_is_that_of_cvxpy(regularizer, loss, name):
    make, bounds = SIDES[name]
    prior = np.linspace(0.5, 1.5, D)
    problem = weight_problem(regularizer, prior, points(), make(), loss, bounds)
    found = solve_weights(problem, LIMITS)
    w = cp.Variable(D, nonneg=True)
    t = problem.differences.rows(slice(None)) @ w
    value, start = cvxpy_divergence(regularizer, w, prior), 0
    for part in problem.parts:
        piece = t[start : start + part.size]
        value += cvxpy_loss(part.loss, piece, part.loss.bound, part.loss.side)
        start += part.size
    # The gap bounds how far the value is off, and the oracle has an accuracy of its own.
    assert found.primal == pytest.approx(ask(cp.Problem(cp.Minimize(value))), rel=5e-6)


@pytest.mark.parametrize("loss", [Hinge(), LogDetSlack(), KLSlack(), SquaredHinge()], ids=name_of)
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_it_is_the_full_optimum_where_that_is_diagonal(regularizer, loss):
    """Differences along the axes alone: A_k = a_k e_f e_f', so that entries off the diagonal only cost."""
    sizes = np.linspace(0.5, 3.0, 12)
    X = np.concatenate([np.zeros((1, D)), sizes[:, None] * np.eye(D)[np.arange(12) % D]])
    pairs = np.stack([np.zeros(12, dtype=int), np.arange(1, 13)], axis=1)
    side = Pairs(similar=pairs[::2], dissimilar=pairs[1::2], n_points=13)
    terms = side.bind(loss, X, (1.0, 3.0))
    full = solve(Problem(regularizer, np.eye(D), terms), tol=1e-9)
    found = solve_weights(WeightProblem.of(regularizer, np.ones(D), X, terms), Limits(1e-9, 300))
    assert found.status is Status.OPTIMAL
    assert found.primal == pytest.approx(full.primal, rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(found.weights, np.diag(full.matrix), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_a_full_metric_costs_no_more(regularizer):
    side, bounds = some_pairs(), SIDES["pairs"][1]
    terms = side.bind(Hinge(), points(), bounds)
    diagonal = solve_weights(WeightProblem.of(regularizer, np.ones(D), points(), terms), LIMITS)
    full = solve(Problem(regularizer, np.eye(D), terms))
    assert full.dual <= diagonal.primal
    assert full.primal < 0.99 * diagonal.primal  # there is something off the diagonal to learn


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_a_small_price_leaves_the_prior(regularizer):
    prior = np.linspace(0.5, 1.5, D)
    side, bounds = some_pairs(), SIDES["pairs"][1]
    found = solve_weights(
        weight_problem(regularizer, prior, points(), side, Hinge(1e-7), bounds), LIMITS
    )
    np.testing.assert_allclose(found.weights, prior, rtol=1e-3)


def test_a_large_price_keeps_every_statement_that_can_be_kept():
    for loss in (Hinge(1e8), LogDetSlack(1e8), Hard()):
        problem = weight_problem(LogDet(), np.ones(D), points(), intervals(), loss)
        found = solve_weights(problem, LIMITS)
        t = problem.differences.times(found.weights)
        off = problem.each(lambda part, piece: part.loss.excess(piece) / part.loss.bound, t)
        assert found.status is Status.OPTIMAL
        assert off.max() < 1e-4


def test_the_prior_is_the_answer_where_all_statements_hold():
    side = Pairs(similar=rows(5), n_points=N)
    found = solve_weights(
        weight_problem(LogDet(), np.ones(D), points(), side, Hinge(), (1e3, 2e3)), LIMITS
    )
    assert found.iterations == 0
    assert found.gap < 1e-9
    np.testing.assert_array_equal(found.weights, 1.0)


@pytest.mark.parametrize("units", [1e-6, 1e6])
@pytest.mark.parametrize("loss", [Hinge(), LogDetSlack(), KLSlack()], ids=name_of)
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann()], ids=name_of)
def test_a_feature_in_other_units_has_the_weight_in_these(regularizer, loss, units):
    """LogDet does not see units, and VonNeumann weighs w0: there all features change theirs."""
    scale = np.ones(D)
    scale[1 if regularizer.is_invariant else slice(None)] = units
    side, bounds = some_pairs(), SIDES["pairs"][1]
    if not regularizer.is_invariant:
        # D(c w, c w0) = c D(w, w0), and the price of a violation with it.
        loss = type(loss)(C=units**-2 * loss.C)
    one = solve_weights(
        weight_problem(regularizer, np.ones(D), points(), side, type(loss)(), bounds),
        Limits(1e-9, 300),
    )
    other = solve_weights(
        weight_problem(regularizer, scale**-2, points() * scale, side, loss, bounds),
        Limits(1e-9, 300),
    )
    np.testing.assert_allclose(other.weights * scale**2, one.weights, rtol=1e-3)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_contradictions_are_proven(regularizer):
    """The first feature tells the two pairs apart, but both statements ask for the opposite of their order."""
    X = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 2.5]])
    side = Pairs(similar=[[0, 2]], dissimilar=[[0, 1]], n_points=3)
    problem = weight_problem(regularizer, np.ones(2), X, side, Hard(), (1.0, 2.0))
    found = solve_weights(problem, LIMITS)
    assert found.status is Status.INFEASIBLE
    assert len(found.conflict) == 2
    assert "squared distance of points 0 and 2 at most 1" in found.conflict[0]
    v = np.concatenate(found.duals)
    assert np.all(problem.differences.adjoint(v) >= -1e-9)
    assert v @ [1.0, 2.0] < 0


def test_equal_points_that_shall_be_apart_are_a_contradiction():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [3.0, 2.5]])
    side = Pairs(dissimilar=[[0, 1], [0, 2]], n_points=3)
    found = solve_weights(weight_problem(LogDet(), np.ones(2), X, side, Hard(), (0.5, 1.0)), LIMITS)
    assert found.status is Status.INFEASIBLE
    assert found.conflict == (
        "constraint 0 of term 0 (squared distance of points 0 and 1 at least 1)",
    )


def test_no_weight_is_possible_as_long_as_bounds_are_feasible():
    """Just feasible is an answer, and just infeasible a proof: t_1 = 2 t_0 for every w."""
    X = np.array([[0.0], [1.0], [2.0**0.5]])
    for asked, status in ((1.999, Status.OPTIMAL), (2.001, Status.INFEASIBLE)):
        side = Bounds([0, 0], [1, 2], upper=[1.0, 9.0], lower=[0.1, asked], n_points=3)
        found = solve_weights(weight_problem(LogDet(), np.ones(1), X, side, Hard()), LIMITS)
        assert found.status is status


def test_a_zero_prior_is_where_frobenius_begins():
    problem = weight_problem(Frobenius(), np.zeros(D), points(), comparisons(), Hinge(10.0))
    found = solve_weights(problem, LIMITS)
    assert found.status is Status.OPTIMAL
    assert problem.differences.times(found.weights).max() < 0.0  # every comparison holds


def constraints(kind):
    rng = np.random.default_rng(3)
    i, j, k = np.array([rng.permutation(N)[:3] for _ in range(50)]).T
    return SquaredDistances(i, j) if kind == "pairs" else DistanceComparisons(i, j, k)


@pytest.mark.parametrize("kind", ["pairs", "comparisons"])
@pytest.mark.parametrize("form", ["written", "sparse", "scanned"])
def test_squared_differences_are_a_matrix(kind, form, monkeypatch):
    X, c = points(), constraints(kind)
    first = (X[c.i] - X[c.j]) ** 2
    A = first if kind == "pairs" else first - (X[c.i] - X[c.k]) ** 2
    sizes = first if kind == "pairs" else first + (X[c.i] - X[c.k]) ** 2
    if form == "scanned":
        monkeypatch.setattr(of_pairs, "_WRITTEN_OUT", 0)
    found = of_pairs.squared_differences(sp.csr_matrix(X) if form == "sparse" else X, [c, c])
    A, sizes = np.concatenate([A, A]), np.concatenate([sizes, sizes])
    w, v = np.linspace(-1, 1, D), np.sin(np.arange(100.0))
    assert found.shape == (100, D)
    np.testing.assert_allclose(found.times(w), A @ w, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.adjoint(v), v @ A, rtol=0, atol=1e-11)
    chosen = found.rows(np.array([3, 71]))
    chosen = chosen.toarray() if sp.issparse(chosen) else chosen
    np.testing.assert_allclose(chosen, A[[3, 71]], rtol=0, atol=1e-12)
    reach = found.uncanceled.times(np.abs(w))
    assert np.all(reach >= np.abs(A) @ np.abs(w) - 1e-12)
    assert np.all(reach <= sizes @ np.abs(w) + 1e-12)
    exact = A.T @ (v**2 * (A @ w))
    # The quick product may be made in single precision.
    np.testing.assert_allclose(
        found.quick_gram(v**2)(w), exact, rtol=0, atol=1e-4 * np.abs(exact).max()
    )


@pytest.mark.parametrize("loss", [Hinge(), LogDetSlack()], ids=name_of)
@pytest.mark.parametrize("name", ["pairs", "intervals"])
def test_large_problems_have_the_same_answer(loss, name, monkeypatch):
    """Scans in place of a matrix, and conjugate gradients where not all rows are factorized."""
    make, bounds = SIDES[name]
    whole = solve_weights(
        weight_problem(LogDet(), np.ones(D), points(), make(), loss, bounds), LIMITS
    )
    monkeypatch.setattr(of_pairs, "_WRITTEN_OUT", 0)
    monkeypatch.setattr(step, "_PRODUCTS", 10 * D**2)
    found = solve_weights(
        weight_problem(LogDet(), np.ones(D), points(), make(), loss, bounds), LIMITS
    )
    assert found.status is Status.OPTIMAL
    assert found.primal == pytest.approx(whole.primal, rel=2e-6)


@pytest.mark.parametrize("loss", [Hinge(), LogDetSlack(), Hard()], ids=name_of)
def test_more_features_than_statements(loss):
    """The smaller of two systems is solved; features on which all agree keep the weight of the prior."""
    rng = np.random.default_rng(4)
    X = np.zeros((N, 200))
    X[:, :150] = rng.normal(size=(N, 150))
    pairs = rows(20)
    side = Pairs(similar=pairs[:10], dissimilar=pairs[10:], n_points=N)
    found = solve_weights(
        weight_problem(LogDet(), np.ones(200), X, side, loss, (200.0, 400.0)), LIMITS
    )
    assert found.status is Status.OPTIMAL
    np.testing.assert_allclose(found.weights[150:], 1.0, rtol=1e-4)
    assert np.ptp(found.weights[:150]) > 0.05


def test_a_schatten_of_two_is_frobenius():
    side, bounds = some_pairs(), SIDES["pairs"][1]
    both = [
        solve_weights(weight_problem(h, np.ones(D), points(), side, Hinge(), bounds), LIMITS)
        for h in (Schatten(2.0), Frobenius())
    ]
    assert both[0].primal == pytest.approx(both[1].primal, rel=2e-6)


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann()], ids=name_of)
def test_prices_far_beyond_the_prior_are_certified(regularizer):
    """y is a difference of prices of 1e15 times its size, so that rounding alone puts it outside the domain."""
    X, (make, bounds) = 1e5 * points(), SIDES["pairs"]
    wide = tuple(1e10 * b for b in bounds)
    loss = SquaredHinge(1.0)
    found = solve_weights(weight_problem(regularizer, np.ones(D), X, make(), loss, wide), LIMITS)
    assert found.status is Status.OPTIMAL
    # Beside such losses the divergence is nothing, and the weights are those that the losses alone ask for.
    w = cp.Variable(D, nonneg=True)
    A = weight_problem(regularizer, np.ones(D), points(), make(), loss, bounds)
    t, value, start = A.differences.rows(slice(None)) @ w, 0.0, 0
    for part in A.parts:
        piece = t[start : start + part.size]
        value += cvxpy_loss(part.loss, piece, part.loss.bound, part.loss.side)
        start += part.size
    assert found.primal == pytest.approx(1e20 * ask(cp.Problem(cp.Minimize(value))), rel=1e-5)
