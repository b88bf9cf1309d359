"""Certificates that hold: each test once was a way in which one did not.

The limits are those of double precision, and a known one is left out of the test of rounding: from b = 1e-13 on
X has the condition 1 / eps, the solve ends STALLED, and the gap falls short of the error by up
to one percent of itself.
"""

import pickle

import numpy as np
import pytest

from conftest import Library
from gramlearn import (
    DiagonalEntries,
    DistanceComparisons,
    Frobenius,
    Hard,
    Hinge,
    InfeasibleError,
    Linear,
    LogDet,
    LogDetSlack,
    Problem,
    SolveInterrupted,
    Square,
    SquaredDistances,
    Status,
    Term,
    Trace,
    VonNeumann,
    solve,
)
from gramlearn.certificate import Certificate, Reference
from gramlearn.linear_maps import Estimates

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
    assert abs(solution.primal - optimum) <= solution.gap
    assert abs(solution.dual - optimum) <= solution.gap
    if solution.status is Status.OPTIMAL:
        assert solution.primal == pytest.approx(optimum, rel=1e-6)


def test_a_huge_prior_drowns_small_values_and_says_so() -> None:
    term = Term(DiagonalEntries([0]), Square(equal=1e8 + 1e-3))
    solution = solve(Problem(Frobenius(), 1e8 * I3, [term]))
    assert abs(solution.primal - 2.5e-7) <= solution.gap + 5e-7


def test_tiny_problems_are_solved_too() -> None:
    term = Term(DiagonalEntries([0, 1, 2]), Square(equal=1e-10))
    solution = solve(Problem(Frobenius(), np.zeros((3, 3)), [term]))
    assert np.allclose(solution.matrix, 5e-11 * I3, rtol=1e-6, atol=0)


@pytest.mark.parametrize("bound", [10.0, 100.0, 1e4])
@pytest.mark.parametrize("slope", [-1.0, -2.0, -1e3])
def test_bounded_rewards_are_not_unbounded(bound: float, slope: float, library: Library) -> None:
    terms = [Term(Trace(), Linear(slope)), Term(Trace(), Hard(upper=bound))]
    solution = solve(Problem(LogDet(), library.array(I3), terms))
    assert solution.status is Status.OPTIMAL
    assert np.allclose(library.numpy(solution.matrix), bound / 3 * I3, rtol=1e-5)


def test_unbounded_beside_a_constraint_that_does_not_help() -> None:
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
    reference = Reference(np.eye(20), Estimates(np.zeros(0), 0.0, 0.0))
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
    assert solve(Problem(Frobenius(), 1e8 * I3, [term]), tol=1e-18).iterations < 50


def test_certificates_are_ordered_by_the_worse_of_gap_and_violation() -> None:
    assert Certificate(2.0, 1.0, 1.0, 0.7).badness == 0.7
    assert Certificate(2.0, 1.0, 1.0, 0.1).badness == 0.5
    assert Certificate(1e-9, 0.0, 1e-9, 0.0, size=10.0).relative_gap == pytest.approx(1e-4)
    assert Certificate(np.inf, -np.inf, np.inf, 0.0).relative_gap == np.inf
    assert Certificate(0.0, 0.0, 0.0, 0.0).relative_gap == 0.0


def test_exceptions_survive_pickling() -> None:
    solution = solve(Problem(LogDet(), I3, [Term(D01, Hard(upper=1.0))]))
    for error in (SolveInterrupted(solution), InfeasibleError("no", solution)):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert np.array_equal(again.solution.matrix, solution.matrix)


def test_tensors_that_require_gradients_stay_out_of_it() -> None:
    torch = pytest.importorskip("torch")
    prior = torch.eye(3, dtype=torch.float64, requires_grad=True)
    solution = solve(Problem(LogDet(), prior, [Term(D01, Hard(upper=1.0))]))
    assert not solution.factor.requires_grad
