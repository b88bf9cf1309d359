"""How a solve can end: infeasible, unbounded, stopped by a limit or callback, interrupted, continued."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from gramlearn.constraints import (
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard, Hinge, Linear, LogDetSlack, SquaredHinge
from sklearn.exceptions import ConvergenceWarning

from catalogue import REGULARIZERS, SOLVERS, name_of
from conftest import Library
from gramlearn import (
    Frobenius,
    InfeasibleError,
    LogDet,
    Problem,
    SolveInterrupted,
    Status,
    Term,
    VonNeumann,
    Zeros,
    solve,
)
from gramlearn.problem.certificate import Certificate, review
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers import InteriorPoint, PrimalNewton, Solver, WorkingSet
from gramlearn.solvers.solver import Solving
from gramlearn.solvers.working_set.infeasibility import _is_far_from_definite
from gramlearn.solvers.working_set.newton_step import newton_step

X0 = np.diag([0.5, 1.0, 2.0, 3.0])


EACH_SOLVER = pytest.mark.parametrize("solver", SOLVERS, ids=name_of)
SAMPLING = [
    WorkingSet(sample=500),
    PrimalNewton(first=10, sample=500),
    InteriorPoint(first=10, sample=500),
]


def problem_for(solver: Solver) -> Problem:
    """A problem that takes several looks and steps, with losses that the solver is for."""
    candidates = (many_pairs(), many_pairs(loss=Hinge), kernel_of_a_path())
    return next(problem for problem in candidates if not solver.objection(problem))


def kernel_of_a_path(n: int = 40) -> Problem:
    """Neighbors are to be near each other, and others to be alike or not."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n // 2, n), rng.integers(n // 2, n, n)
    alike = rng.random(n) < 0.5
    terms = [
        Term(SquaredDistances(np.arange(n - 1), np.arange(1, n)), Linear(0.2)),
        Term(Similarities(i[alike], j[alike]), SquaredHinge(50.0, lower=1.0)),
        Term(Similarities(i[~alike], j[~alike]), SquaredHinge(50.0, upper=-1.0)),
    ]
    return Problem(Frobenius(), Zeros(n), terms)


def many_pairs(
    seed: int = 0, n: int = 300, r: int = 8, c: int = 4000, loss: type = LogDetSlack
) -> Problem:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    P = 2 * rng.standard_normal((4, r))[y] + rng.standard_normal((n, r))
    i, j = rng.integers(0, n, c), rng.integers(0, n, c)
    i, j = i[i != j], j[i != j]
    alike = y[i] == y[j]
    upper, lower = np.percentile(np.sum((P[i] - P[j]) ** 2, axis=1), [5, 95])
    terms = [
        Term(SquaredDistances(i[alike], j[alike], points=P), loss(upper=upper)),
        Term(SquaredDistances(i[~alike], j[~alike], points=P), loss(lower=lower)),
    ]
    return Problem(LogDet(), np.eye(r), terms)


# -- infeasible is an answer -----------------------------------------------------------------------


@pytest.mark.covering("regularizer")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_contradicting_bounds_are_named(regularizer: Regularizer, library: Library) -> None:
    terms = [
        Term(SquaredDistances([0, 0, 1], [1, 2, 2]), Hard(upper=np.array([9.0, 1.0, 9.0]))),
        Term(SquaredDistances([2], [0]), Hard(lower=2.0)),
    ]
    solution = solve(Problem(regularizer, library.array(X0), terms))
    assert solution.status is Status.INFEASIBLE
    assert solution.conflict == (
        "constraint 1 of term 0 (squared distance of points 0 and 2 at most 1)",
        "constraint 0 of term 1 (squared distance of points 2 and 0 at least 2)",
    )


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_the_triangle_inequality_is_found(regularizer: Regularizer) -> None:
    """sqrt(d_02) <= sqrt(d_01) + sqrt(d_12): with 1 and 1 no d_02 above 4 is possible."""
    near = Term(SquaredDistances([0, 1], [1, 2]), Hard(upper=1.0))
    for far, status in ((3.9, Status.OPTIMAL), (4.2, Status.INFEASIBLE)):
        problem = Problem(
            regularizer, X0, [near, Term(SquaredDistances([0], [2]), Hard(lower=far))]
        )
        solution = solve(problem)
        assert solution.status is status, far
        assert len(solution.conflict) == (3 if status is Status.INFEASIBLE else 0)


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_the_duals_of_an_infeasible_problem_are_a_proof(regularizer: Regularizer) -> None:
    """Farkas: sum lam A >= 0, and sum lam b < 0, though lam b >= lam t = <sum lam A, X> for every X."""
    upper, lower = np.array([1.0, 1.0]), np.array([4.2])
    terms = [
        Term(SquaredDistances([0, 1], [1, 2]), Hard(upper=upper)),
        Term(SquaredDistances([0], [2]), Hard(lower=lower)),
    ]
    solution = solve(Problem(regularizer, X0, terms))
    u, v = solution.duals
    A = [
        part.map.adjoint(lam)
        for part, lam in zip(solution.problem.parts, solution.duals, strict=True)
    ]
    assert np.all(u >= 0)
    assert np.all(v <= 0)
    assert np.linalg.eigvalsh(sum(A))[0] >= -1e-9
    assert u @ upper + v @ lower < -1e-3
    assert (solution.primal, solution.gap, solution.relative_gap) == (np.inf, np.inf, np.inf)
    with pytest.raises(
        InfeasibleError, match=r"In conflict: .*constraint 0 of term 1 .*LogDetSlack"
    ) as caught:
        solution.or_raise()
    assert caught.value.solution is solution


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_a_negative_square_is_infeasible(regularizer: Regularizer) -> None:
    solution = solve(Problem(regularizer, X0, [Term(DiagonalEntries([2]), Hard(upper=-1.0))]))
    assert solution.status is Status.INFEASIBLE
    assert solution.conflict == ("constraint 0 of term 0 (squared norm of point 2 at most -1)",)


def test_a_matrix_is_called_far_from_definite_only_if_it_is(library: Library) -> None:
    """A matrix that the cheap look refuses has a least eigenvalue below minus a tenth of the largest."""
    rng = np.random.default_rng(0)
    refused = 0
    for n in (1, 2, 5, 30):
        for lowest in (-10.0, -1.0, -0.3, -0.11, -0.09, -1e-3, 0.0, 0.5):
            U = np.linalg.qr(rng.standard_normal((n, n)))[0]
            e = np.concatenate([[lowest], rng.uniform(max(lowest, -0.05), 1.0, n - 1)])
            S = (U * e) @ U.T
            if _is_far_from_definite(library.array((S + S.T) / 2)):
                refused += 1
                assert -e.min() > 0.1 * e.max()
    assert refused > 8
    assert not _is_far_from_definite(library.array(np.zeros((3, 3))))


def test_zero_distance_is_infeasible_for_logdet_alone() -> None:
    """LogDet keeps the rank, so a distance cannot become zero; the others let it."""
    for regularizer in REGULARIZERS:
        problem = Problem(regularizer, X0, [Term(SquaredDistances([0], [1]), Hard(upper=0.0))])
        expected = Status.INFEASIBLE if regularizer.needs_interior else Status.OPTIMAL
        assert solve(problem).status is expected, regularizer


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_a_badly_scaled_prior_is_not_infeasible(regularizer: Regularizer, scale: float) -> None:
    term = Term(SquaredDistances([0, 1], [1, 2]), Hard(equal=1.0))
    solution = solve(Problem(regularizer, scale * X0, [term]))
    assert solution.status is Status.OPTIMAL
    d = np.diag(solution.matrix)
    assert d[0] + d[1] - 2 * solution.matrix[0, 1] == pytest.approx(1.0, rel=1e-5)


def test_identical_points_that_must_differ_are_infeasible() -> None:
    P = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    for loss in (LogDetSlack(lower=1.0), Hard(lower=1.0)):
        solution = solve(
            Problem(LogDet(), np.eye(2), [Term(SquaredDistances([0, 0], [2, 1], points=P), loss)])
        )
        assert solution.status is Status.INFEASIBLE
        assert solution.conflict == (
            "constraint 1 of term 0 (squared distance of points 0 and 1 at least 1)",
        )
    alike = Term(SquaredDistances([0], [1], points=P), LogDetSlack(upper=1.0))
    assert solve(Problem(LogDet(), np.eye(2), [alike])).status is Status.OPTIMAL


def test_circular_comparisons_are_found() -> None:
    circle = DistanceComparisons([0, 0, 0], [1, 2, 3], [2, 3, 1])
    solution = solve(Problem(LogDet(), X0, [Term(circle, Hard(upper=-0.1))]))
    assert solution.status is Status.INFEASIBLE
    assert len(solution.conflict) == 3


def test_an_unbounded_problem_has_status_UNBOUNDED(library: Library) -> None:
    """-log det X - 2 tr X falls without end; a bound on the trace gives it one."""
    prior = library.array(np.eye(3))
    reward = Term(Trace(), Linear(-2.0))
    assert solve(Problem(LogDet(), prior, [reward])).status is Status.UNBOUNDED
    bounded = solve(Problem(LogDet(), prior, [reward, Term(Trace(), Hard(upper=6.0))]))
    assert bounded.status is Status.OPTIMAL
    assert np.allclose(library.numpy(bounded.matrix), 2 * np.eye(3), atol=1e-5)


# -- a feasible X, where scaling gives one ---------------------------------------------------------


@pytest.mark.parametrize("max_iter", [0, 1, 2, 3])
def test_a_scaled_answer_satisfies_the_hard_bounds(max_iter: int) -> None:
    term = Term(SquaredDistances([0, 1, 2], [1, 2, 3]), Hard(upper=np.array([0.5, 1.0, 0.7])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = solve(Problem(LogDet(), X0, [term]), max_iter=max_iter)
    X = solution.matrix
    d = np.array([X[a, a] + X[b, b] - 2 * X[a, b] for a, b in ((0, 1), (1, 2), (2, 3))])
    assert solution.violation == 0
    assert np.all(d <= np.array([0.5, 1.0, 0.7]) * (1 + 1e-12))
    assert solution.primal >= solution.dual
    assert solution.gap == pytest.approx(solution.primal - solution.dual)


# -- stopping, and going on ------------------------------------------------------------------------


def test_stopping_early_warns_with_the_gap_and_the_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .* relative gap .*start=solution"):
        solution = solve(many_pairs(), max_iter=3)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations == 3
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        assert solve(many_pairs(), time_limit=1e-9).status is Status.TIME_LIMIT


@EACH_SOLVER
def test_a_warm_start_takes_fewer_iterations(solver: Solver) -> None:
    """From near by. Of an answer that is far off nothing is said: Newton may lose its way from there."""
    problem = problem_for(solver)
    whole = solve(problem, solver)
    rest = solve(problem, solver, start=solve(problem, solver, tol=1e-4))
    assert rest.status is Status.OPTIMAL
    assert rest.iterations < whole.iterations
    assert rest.primal == pytest.approx(whole.primal, rel=1e-6)
    again = solve(problem, solver, start=whole.duals)
    assert again.iterations <= 1  # the duals of an X within tol give one that may just miss it
    assert again.relative_gap <= 1e-6


@EACH_SOLVER
def test_a_solve_cut_short_continues_to_the_same_optimum(solver: Solver) -> None:
    problem = problem_for(solver)
    whole = solve(problem, solver)
    with pytest.warns(ConvergenceWarning):
        half = solve(problem, solver, max_iter=whole.iterations // 2)
    rest = solve(problem, solver, start=half)
    assert rest.status is Status.OPTIMAL
    assert rest.primal == pytest.approx(whole.primal, rel=1e-6)


def test_a_start_is_copied_and_may_lie_outside_the_box() -> None:
    problem = many_pairs()
    start = [np.full(term.constraints.size, 50.0) for term in problem.terms]
    kept = [vector.copy() for vector in start]
    assert solve(problem, start=start).status is Status.OPTIMAL
    assert all(np.array_equal(a, b) for a, b in zip(start, kept, strict=True))


def test_the_callback_sees_every_record_and_may_stop() -> None:
    seen = []

    def stop_at_two(record):
        seen.append(record)
        return record.iteration == 2

    with pytest.warns(ConvergenceWarning, match="callback"):
        solution = solve(many_pairs(), callback=stop_at_two)
    assert solution.status is Status.STOPPED
    assert [record.iteration for record in seen] == [0, 1, 2]
    assert solution.history == seen


@EACH_SOLVER
def test_history_rises_in_the_dual_or_falls_in_the_primal(solver: Solver) -> None:
    """The primal between two looks, that is, over the same constraints."""
    solution = solve(problem_for(solver), solver)
    details = [record.details for record in solution.history]
    for a, b in pairwise(details):
        if "dual" in b:
            assert b["dual"] >= a["dual"] - 1e-12 * abs(b["dual"])
        elif "primal" in b and a["stages"] == b["stages"]:
            assert b["primal"] <= a["primal"] + 1e-12 * abs(b["primal"])


@EACH_SOLVER
def test_history_ends_in_the_certificate(solver: Solver) -> None:
    solution = solve(problem_for(solver), solver)
    assert solution.history[-1].certificate == solution.certificate
    seconds = [record.seconds for record in solution.history]
    assert seconds == sorted(seconds)
    assert solution.seconds >= seconds[-1]


@pytest.mark.parametrize("solver", [WorkingSet(), *SAMPLING], ids=name_of)
def test_ctrl_c_gives_the_best_answer_so_far(solver: Solver) -> None:
    problem = problem_for(solver)

    def interrupt(record):
        if record.iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted, match="relative gap") as caught:
        solve(problem, solver, callback=interrupt)
    answer = caught.value.solution
    assert answer.status is Status.INTERRUPTED
    assert np.isfinite(answer.gap)
    assert solve(problem, start=answer).status is Status.OPTIMAL
    assert isinstance(caught.value, KeyboardInterrupt)


# -- the judge -------------------------------------------------------------------------------------


def test_scanning_only_undecided_constraints_changes_nothing() -> None:
    """Interval screening rules constraints out only where they surely are satisfied."""
    problem = many_pairs(c=20_000)
    solver = WorkingSet()
    state = solver.init(problem, None, 1e-9)
    looked = 0
    while state.status(1e-9) is None:
        state = solver.step(problem, state, 1e-9)
        if state.steps == 0:
            full = review(problem, state.rows, state.point)
            screened = review(problem, state.rows, state.point, state.references)
            assert screened.certificate.gap == pytest.approx(full.certificate.gap, rel=1e-9)
            for one, two in zip(full.violators, screened.violators, strict=True):
                assert np.array_equal(one, two)
            looked += 1
    assert looked >= 3


@pytest.mark.parametrize("solver", SAMPLING, ids=name_of)
def test_samples_first_reach_the_same_optimum(solver: Solver) -> None:
    loss = Hinge if solver.objection(many_pairs()) else LogDetSlack
    problem = many_pairs(c=20_000, loss=loss)
    plain = solve(problem)
    sampled = solve(problem, solver=solver)
    assert sampled.status is Status.OPTIMAL
    assert sampled.dual <= plain.primal
    assert plain.dual <= sampled.primal
    # A sample says nothing of the whole, so there is no certificate before the first look at everything.
    gaps = [record.certificate.gap for record in sampled.history]
    assert gaps[0] == np.inf
    assert gaps[-1] == sampled.gap
    with pytest.warns(ConvergenceWarning):
        early = solve(problem, solver, max_iter=1)
    assert np.isfinite(early.gap)


@pytest.mark.parametrize("solver", SAMPLING[:2], ids=name_of)
def test_a_constraint_outside_every_sample_is_found_at_the_end(solver: Solver) -> None:
    """One pair in 5000 asks two equal points to differ."""
    rng = np.random.default_rng(0)
    P = rng.standard_normal((100, 4))
    P[7] = P[3]
    i, j = rng.integers(0, 50, 5000), rng.integers(50, 100, 5000)
    i[4321], j[4321] = 3, 7
    solution = solve(
        Problem(
            LogDet(), np.eye(4), [Term(SquaredDistances(i, j, points=P), LogDetSlack(lower=9.0))]
        ),
        solver,
    )
    assert solution.status is Status.INFEASIBLE
    assert solution.conflict == (
        "constraint 4321 of term 0 (squared distance of points 3 and 7 at least 9)",
    )
    assert np.flatnonzero(solution.duals[0]).tolist() == [4321]


def test_a_newton_step_never_lowers_the_dual_or_changes_its_input() -> None:
    problem = many_pairs()
    everything = [np.arange(part.size) for part in problem.dual.parts]
    point = problem.dual.materialize_rows(everything).at(np.zeros(problem.dual.size))
    lam = point.lam.copy()
    better = newton_step(point, 0.1)
    assert better is not None
    assert better.value > point.value
    assert np.array_equal(point.lam, lam)


def test_the_certificate_of_an_optimum_at_zero() -> None:
    problem = Problem(Frobenius(), np.zeros((3, 3)), [Term(Trace(), Hard(upper=1.0))])
    solution = solve(problem)
    assert (solution.primal, solution.gap, solution.relative_gap) == (0.0, 0.0, 0.0)
    assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("loss", [Hard(equal=1.0), LogDetSlack(equal=1.0), LogDetSlack(lower=1.0)])
@pytest.mark.parametrize("solver", ["auto", "working_set"])
def test_equal_points_cannot_be_separated(loss: Loss, solver: str) -> None:
    P = np.random.default_rng(0).standard_normal((20, 3))
    P[7] = P[3]
    pairs = SquaredDistances([3, 1, 2], [7, 4, 5], points=P)
    solution = solve(Problem(LogDet(), np.eye(3), [Term(pairs, loss)]), solver)
    assert solution.status is Status.INFEASIBLE
    assert len(solution.conflict) == 1
    assert "points 3 and 7" in solution.conflict[0]


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()])
@pytest.mark.parametrize("loss", [Hard(lower=1e-16), LogDetSlack(lower=1e-16)])
def test_a_feature_in_small_units_separates_points(regularizer: Regularizer, loss: Loss) -> None:
    """Two points that differ by 1e-8 in one feature, beside others of size 1 and 1e8."""
    P = np.random.default_rng(0).standard_normal((20, 3)) * [1e-8, 1.0, 1e8]
    P[7] = P[3] + [1e-8, 0.0, 0.0]
    terms = [
        Term(SquaredDistances([3], [7], points=P), loss),
        Term(SquaredDistances([1, 2], [4, 5], points=P), LogDetSlack(upper=1e16)),
    ]
    solution = solve(Problem(regularizer, np.eye(3), terms), "working_set")
    assert solution.status is Status.OPTIMAL


def test_near_duplicates_may_be_asked_to_keep_their_distance() -> None:
    """A difference that is nothing beside the points is still one that X can scale."""
    P = np.asarray([[1e6, 1e6], [1e6 + 1e-9, 1e6 - 1e-9], [1e6 + 3, 1e6], [1e6, 1e6 - 2.0]])
    i, j = [0, 0, 2], [1, 2, 3]
    doubled = 2 * np.sum((P[i] - P[j]) ** 2, axis=1)
    term = Term(SquaredDistances(i, j, points=P), Hard(equal=doubled))
    solution = solve(Problem(LogDet(), np.eye(2), [term]))
    assert solution.status is Status.OPTIMAL
    np.testing.assert_allclose(solution.matrix, 2 * np.eye(2), rtol=1e-5, atol=1e-5)


def test_a_callback_stops_with_any_true_and_with_nothing_else() -> None:
    points = np.random.default_rng(0).standard_normal((30, 4))
    term = Term(SquaredDistances(range(15), range(15, 30), points=points), Hinge(upper=1e-3))
    problem = Problem(LogDet(), np.eye(4), [term])
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        assert solve(problem, callback=lambda record: np.True_).status is Status.STOPPED
    assert solve(problem, callback=lambda record: 1).status is Status.OPTIMAL


def test_far_from_the_optimum_the_better_of_two_answers_is_that_of_the_smaller_gap() -> None:
    """Relative gaps are all near 1 there, and tell nothing."""

    class Candidate:
        def __init__(self, primal: float) -> None:
            self.certificate = Certificate(primal, -1e3, primal + 1e3, 0.0)

    method = Solving(Problem(LogDet(), np.eye(2), []), WorkingSet())
    assert method.is_better(Candidate(18226.0), Candidate(145116.0))
    assert not method.is_better(Candidate(145116.0), Candidate(18226.0))
