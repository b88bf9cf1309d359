"""Sparse duals: the values of the dense dual, and the optimum of the other solvers."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from gramlearn.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SparseMatrices,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard, Hinge, Linear, Square, SquaredHinge
from scipy.sparse import coo_array, diags_array
from sklearn.exceptions import ConvergenceWarning

from catalogue import LOSSES, name_of
from gramlearn import Frobenius, LogDet, Problem, Schatten, Status, Term, Zeros, solve
from gramlearn._base.eigen import positive_part
from gramlearn.problem.sparse_dual import SparseDual, SparsePoint
from gramlearn.solvers import QuasiNewton


def kernel_problem(regularizer, loss, n: int = 12, seed: int = 0) -> Problem:
    """A path whose neighbors are to be alike, and random pairs asked for a similarity."""
    rng = np.random.default_rng(seed)
    path = diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    i, j = np.triu_indices(n, 2)
    some = rng.choice(i.shape[0], 2 * n, replace=False)
    return Problem(
        regularizer,
        Zeros(n),
        [
            Term(SparseMatrices([path.tocsr()]), Linear(0.3)),
            Term(Similarities(i[some], j[some]), loss),
            Term(Trace(), Linear(0.05)),
        ],
    )


@pytest.mark.parametrize("regularizer", [Frobenius(), Schatten(1.5), Schatten(3.0)], ids=name_of)
@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_the_sparse_dual_is_the_dual(regularizer, loss) -> None:
    problem = kernel_problem(regularizer, loss)
    dual, sparse = problem.dual, SparseDual(problem)
    if not dual.size:
        pytest.skip("a linear loss leaves nothing to solve for")
    lo, hi = dual.box
    rng = np.random.default_rng(1)
    lam = np.clip(rng.uniform(-0.4, 0.4, dual.size), lo, np.where(np.isinf(hi), hi, 0.9 * hi))
    dense, point = dual.at(lam), SparsePoint(sparse, lam)
    assert point.value == pytest.approx(dense.value, rel=1e-10)
    np.testing.assert_allclose(
        point.factor @ point.factor.T, dense.conjugate.factor @ dense.conjugate.factor.T, atol=1e-9
    )
    np.testing.assert_allclose(point.t, dense.t, atol=1e-9)
    np.testing.assert_allclose(point.gradient, dense.gradient, atol=1e-9)
    assert point.certificate.gap == pytest.approx(dense.gap, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("regularizer", [Frobenius(), Schatten(1.5), Schatten(3.0)], ids=name_of)
@pytest.mark.parametrize(
    "loss",
    [
        SquaredHinge(lower=0.4),
        Hinge(lower=0.4, weight=3.0),
        Square(equal=0.4, weight=5.0),
        Hard(lower=0.05),
    ],
    ids=name_of,
)
def test_quasi_newton_reaches_the_optimum_of_the_working_set(regularizer, loss) -> None:
    problem = kernel_problem(regularizer, loss)
    by_newton = solve(problem, "working_set", tol=1e-8)
    answer = solve(problem, "quasi_newton", tol=1e-6)
    assert answer.status is Status.OPTIMAL
    assert abs(answer.primal - by_newton.primal) <= answer.gap + by_newton.gap
    assert answer.dual <= by_newton.primal * (1 + 1e-9)
    np.testing.assert_allclose(answer.matrix, by_newton.matrix, atol=3e-3)


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
@pytest.mark.parametrize(
    "loss", [SquaredHinge(lower=0.4, weight=10.0), Hinge(lower=0.4), Square(equal=0.4)], ids=name_of
)
def test_a_capacity_in_place_of_its_price(p, loss) -> None:
    """At the price that the answer tells, minimizing with the price gives the same X and capacity."""
    problem = kernel_problem(Frobenius() if p == 2 else Schatten(p), loss)
    answer = solve(replace(problem, capacity=0.3), tol=1e-9)
    x = np.linalg.eigvalsh(answer.matrix)
    assert np.sum(x.clip(0) ** p) == pytest.approx(0.3, rel=1e-9)
    price = answer.history[-1].details["price"]
    losses = [replace(term.loss, weight=term.loss.weight / price) for term in problem.terms]
    pairs = zip(problem.terms, losses, strict=True)
    terms = [Term(term.constraints, divided) for term, divided in pairs]
    other = solve(Problem(problem.regularizer, Zeros(12), terms), "working_set", tol=1e-9)
    np.testing.assert_allclose(answer.matrix, other.matrix, atol=2e-3)
    value = price * (other.primal - np.sum(np.linalg.eigvalsh(other.matrix).clip(0) ** p) / p)
    assert answer.primal == pytest.approx(value, rel=1e-3)


def test_a_searched_positive_part_gives_the_same_answer(monkeypatch) -> None:
    monkeypatch.setattr(positive_part, "_DENSE", 0)  # small matrices are searched, too
    problem = kernel_problem(Frobenius(), SquaredHinge(lower=0.4, weight=10.0), n=150)
    answer = solve(problem, "quasi_newton", tol=1e-7)
    by_newton = solve(problem, "working_set", tol=1e-7)
    assert answer.status is Status.OPTIMAL
    assert abs(answer.primal - by_newton.primal) <= answer.gap + by_newton.gap


@pytest.mark.parametrize("graph", ["none", "path"])
def test_many_points_that_no_constraint_is_about(graph) -> None:
    """Eigenvalues of zero, or crowded below zero, beside the few that count."""
    n, i = 900, np.arange(0, 60, 2)
    terms = [Term(Similarities(i, i + 31), SquaredHinge(10.0, lower=1.0))]
    if graph == "path":
        every = np.arange(n - 1)
        terms.append(Term(SquaredDistances(every, every + 1), Linear(0.2)))
    answer = solve(Problem(Frobenius(), Zeros(n), terms), "quasi_newton")
    assert answer.status is Status.OPTIMAL
    small = Problem(Frobenius(), Zeros(92), terms[:1])
    if graph == "none":
        assert answer.primal == pytest.approx(solve(small, "working_set").primal, rel=1e-6)


def test_a_start_saves_iterations() -> None:
    problem = kernel_problem(Frobenius(), SquaredHinge(lower=0.4, weight=10.0), n=40)
    first = solve(problem, "quasi_newton")
    assert solve(problem, "quasi_newton", start=first).iterations == 0


def test_non_convergence_warns_with_the_gap() -> None:
    problem = kernel_problem(Frobenius(), Square(equal=0.4, weight=50.0), n=40)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        answer = solve(problem, "quasi_newton", max_iter=1)
    assert answer.status is Status.ITERATION_LIMIT


def test_distances_and_comparisons_are_sparse_too() -> None:
    n = 10
    terms = [
        Term(SquaredDistances(np.arange(9), np.arange(1, 10)), Square(equal=1.0)),
        Term(DistanceComparisons([0, 1], [1, 2], [5, 6]), Hinge(upper=-0.5)),
        Term(Trace(), Linear(-0.1)),
    ]
    problem = Problem(Frobenius(), Zeros(n), terms)
    answer, by_newton = (solve(problem, s, tol=1e-7) for s in ("quasi_newton", "working_set"))
    assert abs(answer.primal - by_newton.primal) <= answer.gap + by_newton.gap


def test_zeros_are_the_prior_of_zeros() -> None:
    loss = SquaredHinge(lower=0.4)
    sparse = kernel_problem(Frobenius(), loss)
    dense = Problem(Frobenius(), np.zeros((12, 12)), sparse.terms)
    assert solve(sparse).primal == pytest.approx(solve(dense).primal, rel=1e-6)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ((LogDet(), np.eye(3), Similarities([0], [1])), "positive eigenvalues"),
        ((Frobenius(), Zeros(3), Similarities([0], [1], points=np.eye(3))), "`points`"),
        ((Frobenius(), np.ones((3, 3)), Similarities([0], [1])), "not diagonal"),
        ((Frobenius(), Zeros(3), DenseMatrices(np.eye(3)[None])), "dense"),
    ],
)
def test_problems_with_a_dense_dual_are_refused(problem, words) -> None:
    regularizer, prior, constraints = problem
    with pytest.raises(ValueError, match=words):
        solve(Problem(regularizer, prior, [Term(constraints, Hard(lower=0.1))]), "quasi_newton")


def test_bad_input_raises_a_clear_error() -> None:
    with pytest.raises(ValueError, match="`prior` has rank zero"):
        Problem(LogDet(), Zeros(3), [])
    with pytest.raises(ValueError, match="`n` must be"):
        Zeros(0)
    with pytest.raises(ValueError, match="`memory`"):
        QuasiNewton(memory=0)
    with pytest.raises(ValueError, match=r"`Problem\(capacity=-1"):
        Problem(Frobenius(), Zeros(3), [], capacity=-1.0)
    with pytest.raises(
        ValueError, match="`capacity` bounds tr X\\^p of a matrix that begins at zero"
    ):
        Problem(Frobenius(), np.eye(3), [], capacity=1.0)
    with pytest.raises(ValueError, match="bounds a capacity, which"):
        solve(Problem(Frobenius(), Zeros(3), [], capacity=1.0), "working_set")


def test_no_dense_matrix_is_made() -> None:
    """A kernel over 8,000 points would take 512 MB."""
    import tracemalloc

    n = 8_000
    rng = np.random.default_rng(0)
    graph = coo_array(
        (np.ones(5 * n), (np.repeat(np.arange(n), 5), rng.integers(0, n, 5 * n))), (n, n)
    )
    graph = graph + graph.T
    laplacian = (diags_array(graph.sum(axis=1)) - graph) / 10
    i = np.arange(0, 100, 2)
    terms = [
        Term(SparseMatrices([laplacian.tocsr()]), Linear(1.0)),
        Term(Similarities(i, i + 50), SquaredHinge(lower=1.0, weight=20.0)),
    ]
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        answer = solve(Problem(Frobenius(), Zeros(n), terms), "quasi_newton", max_iter=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8
    assert answer.factor.shape[0] == n


# -- linear terms of low rank --------------------------------------------------------------------------


def colored_problem(n=40, sign=-1.0):
    rng = np.random.default_rng(3)
    i, j = np.triu_indices(n, 1)
    some = rng.choice(i.shape[0], 3 * n, replace=False)
    color = DiagonalEntries(np.arange(4), points=rng.standard_normal((4, n)))
    kept = SquaredDistances(i[some], j[some])
    return Problem(
        Frobenius(),
        Zeros(n),
        [Term(color, Linear(sign * 0.2)), Term(kept, Square(2.0, equal=1.0))],
    )


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_linear_terms_may_be_of_low_rank(sign) -> None:
    problem = colored_problem(sign=sign)
    lam = np.random.default_rng(0).standard_normal(problem.dual.size)
    dense, point = problem.dual.at(lam), SparsePoint(SparseDual(problem), lam)
    assert point.value == pytest.approx(dense.value, rel=1e-10)
    np.testing.assert_allclose(point.t, dense.t, atol=1e-9)
    answer, other = (
        solve(problem, "quasi_newton", tol=1e-7),
        solve(problem, "working_set", tol=1e-8),
    )
    assert abs(answer.primal - other.primal) <= answer.gap + other.gap


def test_more_directions_than_rows_are_no_low_rank() -> None:
    n = 12
    color = DiagonalEntries(np.arange(20), points=np.random.default_rng(0).standard_normal((20, n)))
    terms = [Term(color, Linear(0.1)), Term(SquaredDistances([0], [1]), Square(equal=1.0))]
    with pytest.raises(ValueError, match="make Y dense"):
        solve(Problem(Frobenius(), Zeros(n), terms), "quasi_newton")
