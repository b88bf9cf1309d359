"""Certificates are valid: each test is a case in which one once was not.

The limits are those of double precision, and a known one is left out of the test of rounding: from b = 1e-13 on
X has the condition 1 / eps, the solve ends STALLED, and the gap falls short of the error by up
to one percent of itself.
"""

import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from gramlearn.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    SimilarityComparisons,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge
from sklearn.exceptions import ConvergenceWarning

from catalogue import REGULARIZERS, name_of
from conftest import Library
from gramlearn import (
    Frobenius,
    InfeasibleError,
    LogDet,
    Problem,
    Schatten,
    SolveInterrupted,
    Status,
    Term,
    VonNeumann,
    Zeros,
    solve,
)
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.linear_maps import Estimates
from gramlearn.problem.losses import Loss
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.refutation import Refutation
from gramlearn.problem.scan import Reference
from gramlearn.solvers.working_set import enter_domain as phase_one
from gramlearn.solvers.working_set.enter_domain import enter_domain
from matrices import orthogonal, spectral

I3 = np.eye(3)
D01 = SquaredDistances([0], [1])


def logdet(X: np.ndarray) -> float:
    return float(np.trace(X) - np.linalg.slogdet(X)[1] - len(X))


@pytest.mark.parametrize("seed", range(8))
def test_hard_and_soft_terms_together(seed: int) -> None:
    """The primal value of the certificate is that of the matrix, whatever was screened on the way."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((40, 4))
    i, j = rng.integers(0, 20, 400), rng.integers(20, 40, 400)
    soft, hard = SquaredDistances(i, j, points=P), SquaredDistances(i[:60], j[:60], points=P)
    bound = np.sum((P[i[:60]] - P[j[:60]]) ** 2, axis=1) * 0.8
    terms = [Term(soft, Hinge(0.05, lower=9.0)), Term(hard, Hard(upper=bound))]
    with np.errstate(all="raise"):
        solution = solve(Problem(LogDet(), np.eye(4), terms), tol=1e-5)
    t = np.einsum("kp,pq,kq->k", P[i] - P[j], solution.matrix, P[i] - P[j])
    assert np.all(t[:60] <= bound * (1 + 1e-5))
    primal = logdet(solution.matrix) + 0.05 * np.clip(9.0 - t, 0, None).sum()
    assert primal == pytest.approx(solution.primal, rel=1e-8)
    assert solution.dual <= primal * (1 + 1e-12)


@pytest.mark.parametrize("b", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounding_is_part_of_the_gap(b: float) -> None:
    """min over X of D(X, I) with d(0, 1) <= b is b/2 - log(b/2) - 1, and X has condition 2/b."""
    solution = solve(Problem(LogDet(), I3, [Term(D01, Hard(upper=b))]))
    optimum = b / 2 - np.log(b / 2) - 1
    assert solution.primal - solution.gap <= solution.dual <= optimum * (1 + 1e-15)
    assert solution.primal >= optimum * (1 - 1e-15)
    if solution.status is Status.OPTIMAL:
        assert solution.primal == pytest.approx(optimum, rel=1e-6)


def test_a_huge_prior_loses_small_values_and_the_gap_shows_it() -> None:
    term = Term(DiagonalEntries([0]), Square(equal=1e8 + 1e-3))
    solution = solve(Problem(Frobenius(), 1e8 * I3, [term]))
    assert abs(solution.primal - 2.5e-7) <= solution.gap + 5e-7


def test_problems_with_tiny_numbers_are_solved() -> None:
    term = Term(DiagonalEntries([0, 1, 2]), Square(equal=1e-10))
    solution = solve(Problem(Frobenius(), np.zeros((3, 3)), [term]))
    assert np.allclose(solution.matrix, 5e-11 * I3, rtol=1e-6, atol=0)


@pytest.mark.covering("bound", "slope")
@pytest.mark.parametrize("bound", [10.0, 100.0, 1e4])
@pytest.mark.parametrize("slope", [-1.0, -2.0, -1e3])
def test_bounded_rewards_are_not_unbounded(bound: float, slope: float, library: Library) -> None:
    terms = [Term(Trace(), Linear(slope)), Term(Trace(), Hard(upper=bound))]
    solution = solve(Problem(LogDet(), library.array(I3), terms))
    assert solution.status is Status.OPTIMAL
    assert np.allclose(library.numpy(solution.matrix), bound / 3 * I3, rtol=1e-5)


def test_unbounded_despite_a_constraint_that_does_not_bound_it() -> None:
    terms = [Term(Trace(), Linear(-2.0)), Term(D01, Hard(upper=1.0))]
    solution = solve(Problem(LogDet(), I3, terms))
    assert solution.status is Status.UNBOUNDED
    with pytest.raises(InfeasibleError, match="minus infinity"):
        solution.or_raise()


@pytest.mark.parametrize("r", [1e2, 1e4, 1e5])
@pytest.mark.parametrize("regularizer", [LogDet(), Frobenius(), VonNeumann()], ids=str)
def test_features_in_different_units_are_not_infeasible(r: float, regularizer) -> None:
    """d(0, 1) - d(0, 2) <= -1 asks for r^2 x_0 + 1 <= x_1, which diag(r^-2, 3) satisfies."""
    P = np.array([[0.0, 0.0], [r, 0.0], [0.0, 1.0]])
    term = Term(DistanceComparisons([0], [1], [2], points=P), Hard(upper=-1.0))
    solution = solve(Problem(regularizer, np.eye(2), [term]), tol=1e-4)
    assert solution.status is Status.OPTIMAL


def test_intervals_allow_for_their_rounding() -> None:
    """R = I and an X that shrinks one direction by 1e-12: no interval is better than a wrong one."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0]
    x = np.ones(20)
    x[-1] = 1e-12
    reference = Reference(LogDet().at_gradient(np.eye(20)), Estimates(np.zeros(0), 0.0, 0.0))
    assert (
        reference.interval(Q * np.sqrt(x)) is None or reference.interval(Q * np.sqrt(x))[0] <= 1e-12
    )
    low, high = reference.interval(Q * np.sqrt(np.linspace(0.5, 2.0, 20)))
    assert low <= 0.5
    assert high >= 2.0
    assert (low, high) == pytest.approx((0.5, 2.0), rel=1e-10)


@pytest.mark.parametrize("loss", [Hard(lower=1.0), LogDetSlack(lower=1.0)], ids=["hard", "slack"])
def test_equal_rows_of_a_factor_that_must_differ(loss) -> None:
    G = np.random.default_rng(0).standard_normal((6, 3))
    G[1] = G[0]
    solution = solve(Problem(LogDet(), G, [Term(D01, loss)]))
    assert solution.status is Status.INFEASIBLE
    with pytest.raises(
        InfeasibleError, match=r"Out of reach, as between equal points: constraint 0"
    ):
        solution.or_raise()


def test_duplicates_in_single_precision() -> None:
    twice = Term(SquaredDistances([0, 0], [1, 1]), Hard(upper=1.0))
    solution = solve(Problem(LogDet(), I3, [twice], dtype="float32"), tol=1e-3)
    assert solution.status is Status.OPTIMAL


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_step_that_fails_twice_ends_the_solve() -> None:
    """The values of this problem are all rounding: no step can be seen to improve anything."""
    term = Term(DiagonalEntries([0, 1]), Hard(upper=1e8 - 1e-3))
    problem = Problem(Frobenius(), 1e8 * I3, [term])
    assert solve(problem, "working_set", tol=1e-18).iterations < 50


def test_certificates_are_ordered_by_the_worse_of_gap_and_violation() -> None:
    assert Certificate(2.0, 1.0, 1.0, 0.7).badness == 0.7
    assert Certificate(2.0, 1.0, 1.0, 0.1).badness == 0.5
    assert Certificate(1e-9, 0.0, 1e-9, 0.0, least=1e-5).relative_gap == pytest.approx(1e-4)
    assert Certificate(np.inf, -np.inf, np.inf, 0.0).relative_gap == np.inf
    assert Certificate(0.0, 0.0, 0.0, 0.0).relative_gap == 0.0


def test_exceptions_survive_pickling() -> None:
    solution = solve(Problem(LogDet(), I3, [Term(D01, Hard(upper=1.0))]))
    for error in (SolveInterrupted(solution), InfeasibleError("no", solution)):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert np.array_equal(again.solution.matrix, solution.matrix)


def test_tensors_that_require_gradients_are_detached() -> None:
    torch = pytest.importorskip("torch")
    prior = torch.eye(3, dtype=torch.float64, requires_grad=True)
    solution = solve(Problem(LogDet(), prior, [Term(D01, Hard(upper=1.0))]))
    assert not solution.factor.requires_grad


def test_a_reward_that_nothing_else_limits_is_unbounded() -> None:
    """x - log x - x = -log x falls without end, on the edge of the domain: Y = diag(0, ...) for every lam."""
    terms = [
        Term(DiagonalEntries([0]), Linear(-1.0)),
        Term(DiagonalEntries([1]), Square(1.0, equal=1.0)),
    ]
    assert solve(Problem(LogDet(), np.eye(2), terms)).status is Status.UNBOUNDED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann()], ids=name_of)
@pytest.mark.parametrize("seed", range(8))
def test_a_ray_is_found_where_hidden_sums_leave_a_face_for_it(seed: int, regularizer) -> None:
    """Targets of A_k that a D >= 0 does not see; two of them add up to Z Z': rays vanish on Z, as D does."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    D, Z = Q[:, :3] @ np.diag([3.0, 2.0, 1.0]) @ Q[:, :3].T, Q[:, 4:]
    A = rng.normal(size=(5, 6, 6))
    A = A + A.mT
    A -= np.tensordot(A, D, 2)[:, None, None] * D / np.sum(D * D)
    A[1] = Z @ Z.T - A[0]
    size = 3.0 if regularizer.is_invariant else 1e4
    terms = [Term(DenseMatrices(A), Square(equal=1.0)), Term(Trace(), Linear(-size))]
    status = solve(Problem(regularizer, np.eye(6), terms)).status
    assert status is (Status.UNBOUNDED if regularizer.is_invariant else Status.OVERFLOW)


def nearly_unbounded(margin: float, penalty: float) -> Problem:
    """Prices of about 1.2 bound it, by that margin, however dear another direction is."""
    P = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]

    def term(diagonal: tuple[float, ...], loss: Loss) -> Term:
        return Term(DenseMatrices((P @ np.diag(diagonal) @ P.T)[None]), loss)

    terms = [
        term((0.0, 1.0, -3.0), Hard(equal=0.5)),
        term((0.0, 2.0, -2.0 - margin), Linear(-1.0)),
        term((1.0, 0.0, 0.0), Linear(penalty)),
    ]
    return Problem(LogDet(), np.eye(3), terms)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("margin", "penalty"), [(1.0, 1e10), (0.1, 1e9), (1e-2, 1e8), (1e-4, 1e6), (1e-9, 0.0)]
)
def test_a_problem_that_is_just_bounded_is_not_unbounded(margin: float, penalty: float) -> None:
    solution = solve(nearly_unbounded(margin, penalty))
    assert not solution.status.is_answer or solution.status is Status.OPTIMAL
    assert solution.relative_gap < 1e-5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rewards_that_cancel_are_not_unbounded() -> None:
    """The trace rewarded and penalized a billion times leaves what is left to decide."""
    matrices = np.diag([1.0, -3.0])[None], np.diag([2.0, -3.0])[None]
    terms = [Term(Trace(), Linear(1e9)), Term(Trace(), Linear(-1e9))]
    terms += [Term(DenseMatrices(matrices[0]), Hard(equal=0.5))]
    terms += [Term(DenseMatrices(matrices[1]), Linear(-1.0))]
    assert solve(Problem(LogDet(), np.eye(2), terms)).status is not Status.UNBOUNDED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("small", [1e-5, 1e-4])
@pytest.mark.parametrize("solver", ["working_set", "interior_point"])
def test_a_small_entry_at_a_large_price_bounds_single_precision_too(small, solver) -> None:
    """c X_00 at 0.3/c costs 0.3 X_00, however small c is: it is not to be rounded away."""
    diagonals = [(1.0, -3.0, 0.0), (2.0, -1.5, 0.0), (small, 0.0, 1.0)]
    losses = [Hard(equal=0.5), Linear(-1.0), Hinge(upper=1.0, weight=0.3 / small)]
    pairs = zip(diagonals, losses, strict=True)
    terms = [Term(DenseMatrices(np.diag(diagonal)[None]), loss) for diagonal, loss in pairs]
    problem = Problem(LogDet(), I3, terms, dtype="float32")
    assert solve(problem, solver=solver).status is not Status.UNBOUNDED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_face_without_interior_has_an_answer() -> None:
    """Targets of distances leave a face of one dimension, where the reward is 1e5 above the ceiling."""
    P = np.array([[0.2, -3e-3, -3e-3], [0.01, 2e-3, 3e-3], [2.0, 2e-4, 5e-4], [-20.0, 3e-3, 4e-3]])
    reward = np.array([[[0.2, -1.0, 0.1], [-1.0, -0.6, -0.3], [0.1, -0.3, -0.7]]])
    targets = Square(equal=np.array([1000.0, 800.0, 10.0]))
    terms = [
        Term(DenseMatrices(reward), Linear(5e4)),
        Term(SquaredDistances([1, 3, 2], [3, 0, 1], points=P), targets),
    ]
    solution = solve(Problem(VonNeumann(), I3, terms))
    assert not np.any(np.isnan(solution.matrix))
    assert solution.status in (Status.OVERFLOW, Status.STALLED, Status.OPTIMAL)


def test_an_unbounded_reward_does_not_hide_a_contradiction() -> None:
    """X_11 is rewarded and nothing bounds it; but X_00 <= 1 and X_00 >= 2 leave no X at all."""
    terms = [
        Term(DiagonalEntries([0]), Hard(upper=1.0)),
        Term(DiagonalEntries([1]), Linear(-2.0)),
        Term(DiagonalEntries([0]), Hard(lower=2.0)),
    ]
    solution = solve(Problem(LogDet(), np.eye(2), terms))
    assert solution.status is Status.INFEASIBLE
    assert "term 0" in solution.conflict[0]
    assert "term 2" in solution.conflict[1]
    assert [np.sign(v[0]) for v in solution.duals] == [1.0, -1.0, -1.0]


@pytest.mark.parametrize("seed", range(6))
def test_distances_that_a_ray_leaves_alone_do_not_limit_a_reward(seed: int) -> None:
    """Unbounded where Y0 has a positive eigenvalue beside the differences that are bounded, and only there."""
    rng = np.random.default_rng(seed)
    P, i = rng.normal(size=(10, 4)), rng.integers(0, 10, 2)
    j = (i + 1 + rng.integers(0, 8, 2)) % 10
    G = rng.normal(size=(20, 4)) * 10.0 ** rng.uniform(-1, 1, 4)
    prior = G.T @ G / 20
    bounds = Term(SquaredDistances(i, j, points=P), Hard(upper=1.0))
    solution = solve(Problem(LogDet(), prior, [bounds, Term(Trace(), Linear(-5.0))]))
    beside = np.linalg.svd(P[i] - P[j])[2][2:].T
    top = np.linalg.eigvalsh(beside.T @ (5 * np.eye(4) - np.linalg.inv(prior)) @ beside)[-1]
    assert abs(top) > 0.1
    assert solution.status is (Status.UNBOUNDED if top > 0 else Status.OPTIMAL)


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann()], ids=name_of)
def test_points_far_from_the_origin_keep_their_bounds(regularizer) -> None:
    """A feature with a mean of 1e6 and a spread of 1: differences are known to 1e-10, and so are distances."""
    rng = np.random.default_rng(0)
    P = rng.normal(size=(60, 8))
    i, j = rng.integers(0, 60, (2, 80))
    i, j = i[i != j], j[i != j]
    upper = np.sum((P[i] - P[j]) ** 2, axis=1) * rng.uniform(0.8, 1.5, len(i))
    far = P + 1e6 * np.eye(8)[0]
    solution = solve(
        Problem(
            regularizer, np.eye(8), [Term(SquaredDistances(i, j, points=far), Hard(upper=upper))]
        )
    )
    assert solution.status is Status.OPTIMAL
    t = np.sum(((P[i] - P[j]) @ solution.factor) ** 2, axis=1)
    assert np.all(t <= upper * (1 + 1e-6))


@pytest.mark.parametrize("solver", ["primal_newton", "interior_point", "working_set"])
@pytest.mark.parametrize("x0", [64.0, 100.0, 1000.0])
def test_the_optimum_lies_between_the_two_values(solver: str, x0: float) -> None:
    """x / x0 - log(x / x0) - 1 + (x - b)^2 / 4 at its minimum, in 40 digits, where the terms cancel."""
    b = x0 + 0.1
    solution = solve(
        Problem(LogDet(), [[x0]], [Term(Trace(), Square(0.5, equal=b))]), solver=solver
    )
    with mpmath.workdps(40):
        x = mpmath.findroot(lambda x: 1 / mpmath.mpf(x0) - 1 / x + (x - mpmath.mpf(b)) / 2, b)
        optimum = x / x0 - mpmath.log(x / x0) - 1 + (x - mpmath.mpf(b)) ** 2 / 4
        assert solution.dual <= optimum <= solution.primal


def test_overflow_is_claimed_only_with_a_proof(monkeypatch) -> None:
    """The optimum is I: a price of 5000 holds what a reward of 5000 pushes, if there is time to find it."""
    terms = [
        Term(DiagonalEntries([0]), Linear(-5e3)),
        Term(DiagonalEntries([0]), Hard(upper=1.0)),
    ]
    dual = Problem(VonNeumann(), np.eye(2), terms).dual
    assert enter_domain(dual, np.zeros(1)).lam is not None
    monkeypatch.setattr(phase_one, "_STEPS", 0)
    assert enter_domain(dual, np.zeros(1)).ending is Status.STALLED


@pytest.mark.parametrize("seed", range(12))
def test_targets_that_a_ray_can_keep_do_not_limit_a_reward(seed: int) -> None:
    """Y0 > 0, and Y0 - S < 0 asks for six positive eigenvalues of S, but three comparisons have three."""
    rng = np.random.default_rng(seed)
    i, j, k = rng.integers(0, 6, (3, 3))  # j = k says nothing at all
    comparisons = Term(SimilarityComparisons(i, j, k), Square(3.0, equal=rng.normal(size=3)))
    prior = spectral(orthogonal(seed, 6), rng.uniform(0.5, 2.0, 6))
    problem = Problem(LogDet(), prior, [comparisons, Term(Trace(), Linear(-5.0))])
    assert solve(problem).status is Status.UNBOUNDED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_prices_that_overflow_are_told_from_those_that_do_not_help() -> None:
    """A price of 4 would bound the first entry, by exp(4e6), and no price another one."""
    slack = Term(DiagonalEntries([0]), KLSlack(1e-6, upper=1.0))
    first, all_of_them = Term(DiagonalEntries([0]), Linear(-5.0)), Term(Trace(), Linear(-5.0))
    assert solve(Problem(LogDet(), I3, [slack, first])).status is Status.OVERFLOW
    assert solve(Problem(LogDet(), I3, [slack, all_of_them])).status is Status.UNBOUNDED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("regularizer", "terms"),
    [
        (LogDet(), [Term(Trace(), KLSlack(1.0, upper=1.0)), Term(Trace(), Linear(-1e3))]),
        (VonNeumann(), [Term(Trace(), Linear(-800.0))]),
    ],
    ids=["slack", "entropy"],
)
def test_an_optimum_that_overflows_is_not_unbounded(regularizer, terms) -> None:
    """The optimum is exp(1000), or exp(800): it exists, and cannot be written down."""
    solution = solve(Problem(regularizer, I3, terms))
    assert solution.status is Status.OVERFLOW
    assert not np.any(np.isnan(solution.matrix))


@pytest.mark.parametrize("slope", [-8.0, -80.0, -800.0, -8e3, -1e6])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_a_large_reward_takes_no_more_steps_than_its_logarithm(slope: float, regularizer) -> None:
    """With tr X <= 10 and a reward of the trace that outweighs the rest, X = 5 I."""
    terms = [Term(Trace(), Linear(slope)), Term(Trace(), Hard(upper=10.0))]
    solution = solve(Problem(regularizer, np.eye(2), terms), max_iter=100)
    assert solution.status is Status.OPTIMAL
    if slope <= -800.0:
        assert np.allclose(solution.matrix, 5 * np.eye(2), rtol=1e-3)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("seed", range(10))
def test_empty_constraints_do_not_contradict_others(seed: int, scale: float) -> None:
    """Comparisons of a point with itself, among targets that X = 2 I meets: rounding is no proof."""
    rng = np.random.default_rng(seed)
    P = scale * rng.integers(1, 5, (3, 1))
    i, j, k = rng.integers(0, 3, (3, 6))
    k[:2] = j[:2]
    t = 2 * np.sum(P[i] * (P[j] - P[k]), axis=1)
    term = Term(SimilarityComparisons(i, j, k, points=P), Hard(equal=t))
    solution = solve(Problem(LogDet(), np.eye(1), [term]))
    assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("apart", [1.0, 1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_the_duals_of_a_refuted_problem_are_a_proof(apart: float, regularizer) -> None:
    """tr X <= 1 and tr X >= 1 + apart."""
    terms = [Term(Trace(), Hard(upper=1.0)), Term(Trace(), Hard(lower=1.0 + apart))]
    problem = Problem(regularizer, I3, terms)
    solution = solve(problem)
    assert solution.status is Status.INFEASIBLE
    assert Refutation(problem.dual, np.concatenate(solution.duals), np.ones(3)).holds


def test_a_refutation_counts_its_rounding() -> None:
    """Two rows that say the same, a third of the other: v is no proof, though S and its room are not zero."""
    A = np.stack([I3, I3 / 3])
    problem = Problem(LogDet(), I3, [Term(DenseMatrices(A), Hard(equal=np.array([0.3, 0.1])))])
    assert not Refutation(problem.dual, np.array([1.0, -3.0]) * (1 + 2e-16), np.ones(3)).holds
    assert not Refutation(problem.dual, np.array([1.0, -3.0001]), np.ones(3)).holds
    worse = Problem(LogDet(), I3, [Term(DenseMatrices(A), Hard(equal=np.array([0.3, 0.2])))])
    assert Refutation(worse.dual, np.array([1.0, -3.0]), np.ones(3)).holds


def test_a_strict_refutation_needs_a_margin() -> None:
    """tr X = tr X - share X_33 = 1 leaves no X > 0, but many whose X_33 is next to nothing, if the share is."""

    def refutation(share: float) -> Refutation:
        A = np.stack([I3, np.diag([1.0, 1.0, 1.0 - share])])
        problem = Problem(LogDet(), I3, [Term(DenseMatrices(A), Hard(equal=1.0))])
        return Refutation(problem.dual, np.array([1.0, -1.0]), np.ones(3))

    assert refutation(0.1).holds
    assert not refutation(1e-5).holds


def test_empty_terms_have_a_value_of_exactly_zero() -> None:
    """d(0, 0) - d(0, 0) <= t, at prices whose sums round."""
    nothing = Term(DistanceComparisons([0] * 33, [0] * 33, [0] * 33), Linear(0.14 / 3))
    solution = solve(Problem(Frobenius(), Zeros(1), [nothing]), solver="quasi_newton")
    assert (solution.primal, solution.dual, solution.gap) == (0.0, 0.0, 0.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["quasi_newton", "auto"])
def test_steps_stop_short_of_the_open_end_of_a_box(solver: str) -> None:
    """(1/3) tr X^3 + slack of the trace: X = x I, with x^2 = gamma (1/(5x) - 1)."""
    problem = Problem(Schatten(3.0), Zeros(5), [Term(Trace(), LogDetSlack(1e-3, equal=1.0))])
    solution = solve(problem, solver=solver)
    x = float(np.mean(np.diag(solution.matrix)))
    assert solution.status is Status.OPTIMAL
    assert x**2 == pytest.approx(1e-3 * (1 / (5 * x) - 1), rel=1e-2)


@pytest.mark.parametrize("seed", range(12))
def test_far_more_constraints_than_entries_are_solved(seed: int) -> None:
    """28 constraints on the 3 entries of X: the Hessian is singular, and another method is tried."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((28, 2, 2))
    for A, status in ((F @ F.mT, Status.OPTIMAL), (F + F.mT, Status.INFEASIBLE)):
        term = Term(DenseMatrices(A), LogDetSlack(lower=1.0))
        assert solve(Problem(Schatten(3.0), Zeros(2), [term])).status is status


def test_interior_points_stop_where_there_are_no_prices() -> None:
    """In single precision the gap of the only X there is may be above tol, and stays so."""
    term = Term(DenseMatrices(np.ones((1, 4, 4))), Linear(0.1))
    problem = Problem(Schatten(3.0), np.eye(4), [term], dtype="float32")
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, solver="interior_point", tol=1e-9)
    assert solution.status is Status.STALLED
    assert 1e-9 < solution.relative_gap < 1e-3


def test_comparisons_of_a_point_with_itself_give_no_nan() -> None:
    """Sixteen times 0.06 - 0.06: a sum of sizes that rounds below zero has no root."""
    nothing = Term(DistanceComparisons([0] * 16, [0] * 16, [0] * 16), Linear(0.06225))
    target = Term(DiagonalEntries([0]), Square(equal=14.0))
    solution = solve(Problem(Frobenius(), Zeros(1), [nothing, target]), solver="interior_point")
    assert solution.status is Status.OPTIMAL
    assert solution.matrix[0, 0] == pytest.approx(7.0, rel=1e-2)


@pytest.mark.parametrize("price", [1e3, 1e6])
def test_prices_that_cancel_still_count_the_rounding_of_t(price: float) -> None:
    """1e8 + X_00 = 1e8 + 1, asked for twice at prices that cancel: the next t would cost its distance twice."""
    rows = DiagonalEntries([0, 0], offset=1e8)
    problem = Problem(Frobenius(), I3, [Term(rows, Hard(equal=1e8 + 1))])
    at = problem.dual.regularizer.at(np.eye(3))
    certificate, _ = PrimalPoint.of(problem.dual, at, np.array([price, -price])).certify()
    assert certificate.gap >= 2 * price * np.spacing(1e8 + 1)


@pytest.mark.parametrize("offset", [1e4, 1e8, 1e12])
def test_the_optimum_lies_between_the_values_where_t_is_rounded(offset: float) -> None:
    """min |X - diag(2, 1, 1)|^2 / 2 with X_00 = 1 is 1/2; at an X_00 that is off by half a rounding of t."""
    rows = DiagonalEntries([0], offset=offset)
    problem = Problem(Frobenius(), np.diag([2.0, 1, 1]), [Term(rows, Hard(equal=offset + 1))])
    e = 0.45 * np.spacing(offset)
    at = problem.dual.regularizer.at(np.diag([1 - e, 1, 1]))
    certificate, _ = PrimalPoint.of(problem.dual, at, np.array([1 + e])).certify()
    # As accurate as X is: the value of an X outside the bound is less, by its price.
    assert certificate.dual <= 0.5 <= certificate.primal + 2 * e
    assert certificate.primal - certificate.dual <= certificate.gap * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_t_errors_cover_directions_beside_a_large_eigenvector(seed: int) -> None:
    """t = sum_a x_a (q_a'z)^2 with x_0 = 1e12 and q_0'z = 1e-6, of which rounding leaves ten digits."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    x = np.r_[1e12, rng.uniform(0.5, 2, 7)]
    z = Q @ np.r_[1e-6, rng.normal(size=7)]
    points = np.vstack([z, np.zeros(8)])
    term = Term(SquaredDistances([0], [1], points=points), Hard(upper=1.0))
    (part,) = Problem(LogDet(), np.eye(8), [term]).dual.parts
    framed = part.map.restrict(Q)
    dots = [sum(Fraction(a) * Fraction(b) for a, b in zip(q, z, strict=True)) for q in Q.T]
    exact = sum(Fraction(value) * dot**2 for value, dot in zip(x, dots, strict=True))
    off = abs(Fraction(float(framed.traces(x)[0])) - exact)
    assert off <= float(part.t_error(framed, x, Q)[0])


def test_without_constraints_the_gap_is_exactly_zero() -> None:
    """The prior is the answer and its value 0, whatever the last bit of a factorization is."""
    rng = np.random.default_rng(0)
    B = rng.standard_normal((6, 6))
    solution = solve(Problem(LogDet(), B @ B.T, []))
    assert (solution.primal, solution.dual, solution.gap) == (0.0, 0.0, 0.0)


def test_ctrl_c_restores_the_floating_point_error_state(monkeypatch) -> None:
    """However the block that is quiet about overflow ends, even where its own end is interrupted."""

    def interrupted(self, *details) -> None:
        raise KeyboardInterrupt

    before = np.geterr()
    with monkeypatch.context() as patch:
        patch.setattr(np.errstate, "__exit__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solve(Problem(LogDet(), I3, [Term(D01, Hard(upper=1.0))]))
    assert np.geterr() == before


def test_the_relative_gap_is_one_of_the_values_in_single_precision() -> None:
    """Rounding of the prior is no size of the values: what is claimed holds of the numbers that come out."""
    x0, b, tol = 1.464, 0.6088, 1e-3
    term = Term(Trace(), LogDetSlack(equal=b, C=1.0))
    problem = Problem(Schatten(p=10.0), np.diag([x0]), [term], dtype="float32")
    solution = solve(problem, solver="interior_point", tol=tol)
    assert solution.status is Status.OPTIMAL
    x, lam, q = float(solution.matrix[0, 0]), float(solution.duals[0][0]), 10 / 9
    primal = (x**10 - x0**10) / 10 - x0**9 * (x - x0) + x / b - np.log(x / b) - 1
    dual = (x0**9) ** q / q - (x0**9 - lam) ** q / q + np.log1p(-lam * b)
    assert primal - dual <= tol * primal
    assert solution.relative_gap >= (primal - dual) / primal


def test_an_optimum_below_the_rounding_of_the_prior_is_one() -> None:
    """tr X costs a thousandth, and phi(X0) = 2504 has a rounding of 1e-4 in single precision."""
    x0, slope = np.array([1.0, 2.0, 10.0]), 1e-3
    problem = Problem(Schatten(p=4.0), np.diag(x0), [Term(Trace(), Linear(slope))], dtype="float32")
    solution = solve(problem, tol=1e-3)
    assert solution.status is Status.OPTIMAL
    x = (x0**3 - slope) ** (1 / 3)
    optimum = np.sum((x**4 - x0**4) / 4 - x0**3 * (x - x0) + slope * x)
    assert solution.dual <= optimum <= solution.primal
    assert solution.gap <= 1e-5 * np.sum(x0**4)
    np.testing.assert_allclose(np.diag(solution.matrix), x, rtol=1e-5)


def test_a_bound_that_rounding_may_violate_is_not_known_to_hold() -> None:
    """An error of t counts where it reaches beyond the bound, by more than next to nothing of it."""
    loss = Hard(lower=2.0).prepare(1, I3)
    kept, cases = np.array([2.0]), {0.0: 0.0, 2.0**-32: 0.0, 0.25: 0.125, 1e6: 5e5}
    assert {error: loss.violation(kept, t_error=np.array([error])) for error in cases} == cases
    assert loss.violation(np.array([3.0]), t_error=np.array([0.5])) == 0.0
    assert loss.violation(np.array([1.9]), t_error=np.array([1e-12])) == pytest.approx(0.05)


def test_bounds_below_the_rounding_of_what_they_bound() -> None:
    """t = x1 - x2 with a reward that makes both 1e9, and a bound of 1e-13 on t, which rounds to 1e-7."""
    terms = [
        Term(Trace(), Linear(-1e9)),
        Term(DenseMatrices(np.diag([1.0, -1.0])[None]), Hard(lower=1e-13)),
    ]
    solution = solve(Problem(Frobenius(), np.eye(2), terms))
    x1, x2 = np.diag(solution.matrix)
    assert solution.status is Status.OPTIMAL
    assert x1 == pytest.approx(1e9, rel=1e-3)
    assert (
        x1 - x2 > 1e-7
    )  # more than the bound, as rounding asks for, and no more than the gap allows


@pytest.mark.parametrize("solver", ["auto", "working_set", "interior_point", "quasi_newton"])
def test_rounding_of_a_large_cost_hides_nothing_that_is_far_from_it(solver: str) -> None:
    """A cost of 1e11 makes X = 0, whose Y is known to 5e-4: that says nothing of a hinge of 1e-7."""
    bound, C, x0 = 1e-5, 1e3, 1e-7
    terms = [
        Term(Trace(), Linear(1e11)),
        Term(DiagonalEntries([0, 1, 2]), SquaredHinge(C, lower=bound)),
    ]
    solution = solve(Problem(Frobenius(), x0 * I3, terms), solver=solver)
    optimum = 3 * (x0**2 + C * bound**2) / 2
    assert solution.status is Status.OPTIMAL
    assert solution.dual == pytest.approx(optimum, rel=1e-5)
    assert solution.primal == pytest.approx(optimum, rel=1e-5)


def test_rounding_errors_are_not_a_gap() -> None:
    assert Certificate(1e-9, 0.0, 1e-9, 0.0, prior_rounding=2e-9).relative_gap == 0.0
    assert Certificate(3.0, 1.0, 2.0, 0.0, prior_rounding=0.5).relative_gap == 0.5
    assert Certificate(np.inf, -np.inf, np.inf, 0.0, prior_rounding=1.0).relative_gap == np.inf
