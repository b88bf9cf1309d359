"""Theorems about every optimum: regularizers x losses x constraints x solvers x array libraries.

At the optimum the gap is zero, X is the gradient of phi* at Y0 - sum lam A, and each lam is the price of
its t. No number is typed in: the certificate is checked against the definitions, written out here.
"""

from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from catalogue import LOSSES, REGULARIZERS, SOLVERS, all_constraints, covering, name_of
from conftest import Library
from gramlearn import (
    Factor,
    Frobenius,
    LogDet,
    Pairs,
    Problem,
    Solution,
    Status,
    Term,
    VonNeumann,
    solve,
)
from gramlearn.problem.constraints import (
    Constraints,
    DiagonalEntries,
    Similarities,
    SquaredDistances,
)
from gramlearn.problem.losses import Hard, Hinge, Loss, Square
from gramlearn.problem.spectral import Regularizer

N = 6
TOL = 1e-8

_rng = np.random.default_rng(0)
_square = _rng.standard_normal((N, N))
FULL_RANK = _square @ _square.T / N + 0.1 * np.eye(N)
FACTOR = _rng.standard_normal((N, 4)) / 2


def divergence(regularizer: Regularizer, X: np.ndarray, X0: np.ndarray) -> float:
    """D(X, X0) for positive definite matrices, from the definition alone."""
    x, s = np.linalg.eigvalsh(X), np.linalg.eigvalsh(X0)
    e, V = np.linalg.eigh(X0)
    slope = V @ np.diag(regularizer.derivative(e)) @ V.T
    value = regularizer.value(np.clip(x, 0, None)).sum() - regularizer.value(s).sum()
    return float(value - np.sum(slope * (X - X0)))


def values(constraints: Constraints, X: np.ndarray) -> np.ndarray:
    return np.asarray(constraints.restricted_map(None, len(X), X).apply(X)) + constraints.offset


def check_optimum(
    solution: Solution, regularizer: Regularizer, loss: Loss, t: np.ndarray, lam: np.ndarray
) -> None:
    """What holds at every optimum, up to the tolerance asked for."""
    assert solution.status is Status.OPTIMAL, solution
    assert solution.relative_gap <= TOL
    assert solution.violation <= TOL
    assert solution.gap >= abs(solution.primal - solution.dual) - 1e-12 * abs(solution.primal)
    lo, hi = loss.box(t, len(t))
    assert np.all(lam >= lo)
    assert np.all(lam <= hi)
    # Complementarity: each constraint adds to the gap, and no more than all of it.
    gaps = loss.gap(t, lam)
    scale = max(abs(solution.dual), 1.0)
    assert np.all(gaps <= TOL * scale + 1e-9)


def places(regularizer: Regularizer, constraints: Constraints) -> tuple[int, int]:
    """Where they stand in the catalogue."""
    names = [name_of(c) for c in all_constraints(N)]
    return REGULARIZERS.index(regularizer), names.index(name_of(constraints))


@cache
def solvable(library: str) -> list[tuple[int, ...]]:
    """(regularizer, constraint, loss, solver), by their places, for all solvers that do not object."""
    parts = [REGULARIZERS, all_constraints(N), LOSSES]
    prior = Library(library).array(FULL_RANK)
    found = []
    for three in product(*[range(len(part)) for part in parts]):
        regularizer, constraints, loss = (part[k] for part, k in zip(parts, three, strict=True))
        problem = Problem(regularizer, prior, [Term(constraints, loss)])
        willing = [s for s, solver in enumerate(SOLVERS) if not solver.objection(problem)]
        found += [(*three, s) for s in willing]
    return found


@cache
def to_solve(library: str) -> list[tuple[int, ...]]:
    """Any three of the four parts meet that ever do. Other libraries, which run the same lines: any two."""
    # From the end: a solver stands where it has to, and the quickest, which is the last, elsewhere.
    return covering(solvable(library)[::-1], 3 if library == "numpy" else 2)


@pytest.mark.parametrize(("strength", "share"), [(3, 2), (2, 10)])
def test_a_covering_has_all_that_meet(strength: int, share: int) -> None:
    every = solvable("numpy")
    some = covering(every, strength)
    assert len(some) < len(every) / share
    for columns in combinations(range(4), strength):
        met, ever = ({tuple(q[k] for k in columns) for q in rows} for rows in (some, every))
        assert met == ever


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_every_loss_is_solved_to_a_certified_optimum(
    regularizer: Regularizer, constraints: Constraints, library: Library
) -> None:
    """Any three of the four parts meet, and any two of them in other libraries: see `to_solve`."""
    prior = library.array(FULL_RANK)
    here = places(regularizer, constraints)
    for loss, solver in [
        (LOSSES[q[2]], SOLVERS[q[3]]) for q in to_solve(library.name) if q[:2] == here
    ]:
        problem = Problem(regularizer, prior, [Term(constraints, loss)])
        solution = solve(problem, solver, tol=TOL)
        X = library.numpy(solution.matrix)
        lam = library.numpy(solution.duals[0])
        t = values(constraints, X)
        check_optimum(solution, regularizer, loss, t, lam)
        assert np.linalg.eigvalsh(X)[0] >= -1e-12 * np.trace(X)
        cost = 0.0 if isinstance(loss, Hard) else float(np.sum(loss.value(t)))
        primal = divergence(regularizer, X, FULL_RANK) + cost
        # The primal of the certificate is that of the definition, but for what the duals charge for a t that
        # is outside the domain by TOL, a tenth of what is allowed here.
        assert primal == pytest.approx(solution.primal, rel=1e-7, abs=1e-9), loss


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_within_the_range_of_a_factor(regularizer: Regularizer, constraints: Constraints) -> None:
    """Any two of the three parts meet."""
    V = np.linalg.svd(FACTOR, full_matrices=False)[0]
    counts = [len(REGULARIZERS), len(all_constraints(N)), len(LOSSES)]
    chosen = covering(list(product(*map(range, counts))), 2)
    here = places(regularizer, constraints)
    for loss in [LOSSES[q[2]] for q in chosen if q[:2] == here]:
        solution = solve(Problem(regularizer, FACTOR, [Term(constraints, loss)]), tol=TOL)
        if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED):
            # Few dimensions are left, and some of the examples contradict each other in them; that
            # this is so is checked in test_status.py.
            continue
        X = solution.matrix
        assert np.allclose(V @ (V.T @ X @ V) @ V.T, X, atol=1e-10 * np.trace(X))
        check_optimum(solution, regularizer, loss, values(constraints, X), solution.duals[0])


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_a_matrix_prior_and_its_factor_agree(regularizer: Regularizer) -> None:
    constraints = SquaredDistances([0, 1, 2], [1, 2, 3])
    term = Term(constraints, Hard(upper=0.5))
    G = np.linalg.cholesky(FULL_RANK)
    one = solve(Problem(regularizer, FULL_RANK, [term]), tol=1e-9)
    two = solve(Problem(regularizer, Factor(G), [term]), tol=1e-9)
    assert np.allclose(one.matrix, two.matrix, atol=1e-6)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_points_and_prior_are_the_same_problem_in_any_orthonormal_basis(
    regularizer: Regularizer,
) -> None:
    rng = np.random.default_rng(3)
    P = rng.standard_normal((8, N))
    Q = np.linalg.qr(rng.standard_normal((N, N)))[0]
    i, j = [0, 1, 2, 3], [4, 5, 6, 7]

    def solved(points: np.ndarray, prior: np.ndarray) -> np.ndarray:
        term = Term(SquaredDistances(i, j, points=points), Hard(upper=1.0))
        return solve(Problem(regularizer, prior, [term]), tol=1e-9).matrix

    assert np.allclose(
        Q.T @ solved(P, FULL_RANK) @ Q, solved(P @ Q, Q.T @ FULL_RANK @ Q), atol=1e-6
    )


def test_map_and_kernel_agree_for_logdet_and_differ_for_von_neumann() -> None:
    rng = np.random.default_rng(5)
    P = rng.standard_normal((9, 4))
    i, j = [0, 1, 2], [3, 4, 5]

    def difference(regularizer: Regularizer) -> float:
        on_map = SquaredDistances(i, j, points=P)
        W = solve(
            Problem(regularizer, np.eye(4), [Term(on_map, Hard(upper=1.0))]), tol=1e-10
        ).matrix
        K = solve(
            Problem(regularizer, P, [Term(SquaredDistances(i, j), Hard(upper=1.0))]), tol=1e-10
        ).matrix
        return float(np.abs(P @ W @ P.T - K).max())

    assert difference(LogDet()) < 1e-6
    assert difference(VonNeumann()) > 1e-2


def test_terms_may_be_mixed(library: Library) -> None:
    from gramlearn.constraints import Similarities, Trace
    from gramlearn.losses import Hinge, Linear, LogDetSlack

    prior = library.array(FULL_RANK)
    terms = [
        Term(SquaredDistances([0, 1], [2, 3]), Hard(upper=0.6)),
        Term(SquaredDistances([0, 4], [5, 1]), LogDetSlack(2.0, lower=2.0)),
        Term(Similarities([2], [5], offset=0.1), Hinge(0.3, equal=0.2)),
        Term(Trace(), Linear(0.05)),
    ]
    solution = solve(Problem(LogDet(), prior, terms), tol=TOL)
    assert solution.status is Status.OPTIMAL
    X = library.numpy(solution.matrix)
    primal = divergence(LogDet(), X, FULL_RANK)
    for term in terms[1:]:
        primal += float(np.sum(term.loss.value(values(term.constraints, X))))
    assert primal == pytest.approx(solution.primal, rel=1e-9)
    assert [len(library.numpy(lam)) for lam in solution.duals] == [2, 2, 1, 1]
    assert library.numpy(solution.duals[3])[0] == 0.05


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize(
    "prior", [FULL_RANK, FACTOR, np.diag([0.3, 1.0, 7.0])], ids=["full", "factor", "diagonal"]
)
def test_no_constraints_leave_the_prior_and_empty_duals(
    regularizer: Regularizer, prior: np.ndarray, library: Library
) -> None:
    """D(X0, X0) = 0 to the last bit, whichever way a factorization rounds: nothing is subtracted."""
    nothing = SquaredDistances(library.index([]), library.index([]))
    X0 = prior @ prior.T if prior is FACTOR else prior
    for terms, shapes in (([], []), ([Term(nothing, Hard(upper=1.0))], [(0,)])):
        solution = solve(Problem(regularizer, library.array(prior), terms))
        assert solution.status is Status.OPTIMAL
        np.testing.assert_allclose(library.numpy(solution.matrix), X0, rtol=1e-12, atol=1e-13)
        assert [tuple(lam.shape) for lam in solution.duals] == shapes
        assert (solution.primal, solution.dual, solution.gap) == (0.0, 0.0, 0.0)


def test_inactive_constraints_leave_the_prior(library: Library) -> None:
    """K09 appendix B: d(0, 1) = 2 >= 1 holds at the identity, which must stay as it is."""
    for regularizer in REGULARIZERS:
        term: Any = Term(SquaredDistances([0], [1]), Hard(lower=1.0))
        solution = solve(Problem(regularizer, library.array(np.eye(2)), [term]))
        assert np.array_equal(library.numpy(solution.matrix), np.eye(2)), regularizer
        assert library.numpy(solution.duals[0])[0] == 0


def test_the_solver_that_goes_on_has_a_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interior points that may take one step give up; the working set needs more than one."""
    from gramlearn.solvers import InteriorPoint

    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 3))
    pairs = Pairs.from_labels(np.arange(40) % 2, 100, random_state=0)
    problem = Problem(Frobenius(), np.eye(3), pairs.bind(Hinge(1.0), points, random_state=0))
    assert solve(problem, "interior_point").status is Status.OPTIMAL
    monkeypatch.setattr(InteriorPoint, "default_max_iter", 1)
    solution = solve(problem)
    assert solution.status is Status.OPTIMAL
    assert solution.iterations > 1


def weighted_nearest(hard: list[tuple[int, float]]) -> Problem:
    """1,200 entries of a matrix of 100 rows with their targets, and entries of the diagonal that must hold."""
    n = 100
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(n, 1)
    chosen = rng.choice(i.size, 12 * n, replace=False)
    squares = Square(3.0, equal=rng.uniform(-1, 1, chosen.size))
    terms = [Term(Similarities(i[chosen], j[chosen]), squares)]
    if hard:
        rows, targets = zip(*hard, strict=True)
        terms.append(Term(DiagonalEntries(np.array(rows)), Hard(equal=np.array(targets))))
    return Problem(Frobenius(), np.eye(n), terms)


@pytest.mark.parametrize("hard", [[], [(k, 1.0) for k in range(100)]], ids=["free", "diagonal"])
def test_many_squares_on_entries_are_solved_by_quasi_newton_first(
    hard: list[tuple[int, float]],
) -> None:
    problem = weighted_nearest(hard)
    found, sparse, newton = (
        solve(problem, solver) for solver in ("auto", "quasi_newton", "working_set")
    )
    assert found.status is newton.status is Status.OPTIMAL
    assert found.iterations == sparse.iterations != newton.iterations
    assert found.primal == pytest.approx(newton.primal, rel=2e-6)


@pytest.mark.parametrize("options", [{}, {"max_iter": 50}], ids=["plain", "max_iter"])
def test_contradictions_among_squares_are_still_proven(options: dict[str, int]) -> None:
    for hard in ([(0, 1.0), (0, 2.0)], [(0, -1.0)]):
        solution = solve(weighted_nearest(hard), **options)
        assert solution.status is Status.INFEASIBLE
