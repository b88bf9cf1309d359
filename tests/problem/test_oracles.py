"""The same optimum as another solver, a closed form, or a limit case.

CVXPY's general solvers answer to about 1e-6. The von Neumann divergence of full matrices has only an
approximate model in CVXPY, so it and Schatten(p) are compared on problems that are diagonal, where they reduce
to vectors.
"""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from gramlearn.constraints import DenseMatrices, DiagonalEntries, SquaredDistances, Trace
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge

from catalogue import LOSSES, REGULARIZERS, all_constraints, name_of
from gramlearn import Frobenius, LogDet, Problem, Schatten, Status, Term, VonNeumann, solve
from gramlearn.problem.constraints import Constraints
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Regularizer
from oracles import ask, squared_norm

N = 4
_rng = np.random.default_rng(7)
_square = _rng.standard_normal((N, N))
X0 = _square @ _square.T / N + 0.2 * np.eye(N)


# -- the oracle itself -----------------------------------------------------------------------------


class Sayings:
    """A problem whose solvers say one status after another, or nothing at all."""

    def __init__(self, *statuses: str | None) -> None:
        self.statuses = list(statuses)
        self.solvers: list[str] = []
        self.status: str | None = None
        self.value = 0.0

    def solve(self, solver: str, **options: object) -> None:
        assert 1e-8 in options.values()
        self.solvers.append(solver)
        self.status = self.statuses.pop(0)
        self.value += 1.0
        if self.status is None:
            raise cp.SolverError("gave up")
        if self.status != cp.OPTIMAL:
            warnings.warn("Solution may be inaccurate. Try another solver", stacklevel=2)


def test_a_solver_that_doubts_its_answer_is_asked_again() -> None:
    problem = Sayings(cp.OPTIMAL_INACCURATE, None, cp.OPTIMAL)
    assert ask(problem) == 3.0
    assert problem.solvers == [cp.CLARABEL] * 3


def test_answers_that_nobody_vouches_for_fail_the_test() -> None:
    said = [cp.OPTIMAL_INACCURATE, None, cp.OPTIMAL_INACCURATE, cp.OPTIMAL_INACCURATE]
    problem = Sayings(*said)
    with pytest.raises(AssertionError, match=r"no solver vouches.*not scaled: gave up; .*SCS: "):
        ask(problem)
    assert problem.solvers[-1] == cp.SCS


# -- CVXPY's words for our parts -------------------------------------------------------------------


def loss_model(loss: Loss, t: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """loss(t) with a slack variable s for the wrong side, in CVXPY's cones."""
    if isinstance(loss, Linear):
        return cp.sum(loss.slope * t), []
    b, side = loss.bound, loss.side
    s = cp.Variable(t.shape)  # t moved to where the loss is the two-sided one
    link = {1: [s >= t], -1: [s <= t], 0: [s == t]}[side]
    if isinstance(loss, Hard):
        return cp.Constant(0), [{1: t <= b, -1: t >= b, 0: t == b}[side]]
    if isinstance(loss, Hinge):
        return loss.C * cp.sum(cp.abs(s - b)), link
    if isinstance(loss, SquaredHinge | Square):
        return loss.C / 2 * cp.sum_squares(s - b), link
    if isinstance(loss, LogDetSlack):
        return loss.C * cp.sum(s / b - cp.log(s / b) - 1), link
    assert isinstance(loss, KLSlack)
    return loss.C * cp.sum(-cp.entr(s) - s * np.log(b) - s + b), link


def matrices_of(constraints: Constraints, n: int) -> np.ndarray:
    return np.asarray(constraints.restricted_map(None, n, np.eye(n)).matrices())


def divergence_model(regularizer: Regularizer, X: cp.Variable) -> cp.Expression:
    if isinstance(regularizer, LogDet):
        inverse = np.linalg.inv(X0)
        return cp.trace(inverse @ X) - cp.log_det(X) + np.linalg.slogdet(X0)[1] - N
    return squared_norm(X - X0) / 2


@pytest.mark.parametrize("regularizer", [LogDet(), Frobenius()], ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_same_optimum_as_cvxpy(regularizer: Regularizer, constraints: Constraints) -> None:
    A = matrices_of(constraints, N)
    for loss in LOSSES:
        X = cp.Variable((N, N), PSD=True)
        t = cp.hstack([cp.sum(cp.multiply(a, X)) for a in A])
        cost, links = loss_model(loss, t)
        theirs = ask(cp.Problem(cp.Minimize(divergence_model(regularizer, X) + cost), links))
        ours = solve(Problem(regularizer, X0, [Term(constraints, loss)]), tol=1e-9)
        # Between our bounds, as far as their own accuracy goes.
        slack = 2e-5 * (1 + abs(theirs))
        assert ours.dual - slack <= theirs <= ours.primal + slack, (loss, theirs, ours)


def vector_divergence(regularizer: Regularizer, x: cp.Variable, s: np.ndarray) -> cp.Expression:
    if isinstance(regularizer, LogDet):
        return cp.sum(cp.multiply(1 / s, x) - cp.log(x)) + np.sum(np.log(s)) - len(s)
    if isinstance(regularizer, VonNeumann):
        return cp.sum(-cp.entr(x) - cp.multiply(np.log(s), x) - x) + np.sum(s)
    p = regularizer.p if isinstance(regularizer, Schatten) else 2.0
    linear = cp.sum(cp.multiply(s ** (p - 1), x - s))
    return cp.sum(cp.power(x, p)) / p - np.sum(s**p) / p - linear


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_diagonal_problems_are_vector_problems(regularizer: Regularizer, loss: Loss) -> None:
    s = np.array([0.5, 1.0, 1.7, 2.5])
    A = np.array([[1.0, 0.5, 0.0, 0.2], [0.0, 0.4, 0.6, -0.3]])
    constraints = DenseMatrices(np.stack([np.diag(a) for a in A]), offset=np.array([0.1, 0.4]))
    x = cp.Variable(len(s), nonneg=True)
    cost, links = loss_model(loss, A @ x + np.array([0.1, 0.4]))
    theirs = ask(cp.Problem(cp.Minimize(vector_divergence(regularizer, x, s) + cost), links))
    ours = solve(Problem(regularizer, np.diag(s), [Term(constraints, loss)]), tol=1e-10)
    assert ours.primal == pytest.approx(theirs, rel=2e-5, abs=2e-6)
    assert np.allclose(
        np.diag(ours.matrix), x.value, atol=5e-3
    )  # sqrt of the accuracy of the value
    assert np.allclose(ours.matrix, np.diag(np.diag(ours.matrix)), atol=1e-10)


# -- closed forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["upper", "lower", "equal"])
def test_one_distance_under_logdet_in_closed_form(side: str) -> None:
    """Sherman-Morrison: X = X0 + (b/p - 1)/p X0 z z' X0 with p = z'X0z (K09 5.1.1)."""
    z = np.array([1.0, -1.0, 0.0, 0.0])
    p = z @ X0 @ z
    b = p * {"upper": 0.3, "lower": 4.0, "equal": 2.0}[side]
    solution = solve(
        Problem(LogDet(), X0, [Term(SquaredDistances([0], [1]), Hard(**{side: b}))]), tol=1e-12
    )
    u = X0 @ z
    assert np.allclose(solution.matrix, X0 + (b / p - 1) / p * np.outer(u, u), atol=1e-9)
    assert solution.duals[0][0] == pytest.approx(1 / b - 1 / p, rel=1e-8)


@pytest.mark.parametrize(("solver", "digits"), [("auto", 2e-6), ("projections", 1e-8)])
def test_slack_of_one_distance_in_closed_form(solver: str, digits: float) -> None:
    """K09 6.2.1: the change of the dual is gamma / (gamma + 1) (1/p - 1/b), up to sign."""
    z = np.array([1.0, -1.0, 0.0, 0.0])
    p, gamma = z @ X0 @ z, 2.5
    b = 0.4 * p
    term = Term(SquaredDistances([0], [1]), LogDetSlack(gamma, upper=b))
    solution = solve(Problem(LogDet(), X0, [term]), solver, tol=1e-12)
    lam, best = solution.duals[0][0], gamma / (gamma + 1) * (1 / b - 1 / p)
    # The dual is as curved as t^2 (1 + 1 / gamma), so that the gap is at least half of that times the square.
    curvature = (p / (1 + best * p)) ** 2 * (1 + 1 / gamma)
    assert curvature * (lam - best) ** 2 / 2 <= solution.gap
    assert lam == pytest.approx(best, rel=digits)


def test_one_entry_under_von_neumann_in_closed_form() -> None:
    """A direction that is an eigenvector commutes: its eigenvalue becomes b, the others stay."""
    s = np.array([0.5, 2.0, 3.0])
    term = Term(DiagonalEntries([1]), Hard(upper=0.7))
    solution = solve(Problem(VonNeumann(), np.diag(s), [term]), tol=1e-12)
    assert np.allclose(solution.matrix, np.diag([0.5, 0.7, 3.0]), atol=1e-9)
    assert solution.duals[0][0] == pytest.approx(np.log(2.0 / 0.7), rel=1e-8)


def test_frobenius_from_zero_with_a_linear_term_is_the_positive_part() -> None:
    """min |X|^2/2 + <C, X> over PSD X is the positive part of -C: Proposition 1 of Z11 at p = 2."""
    C = _rng.standard_normal((N, N))
    C = (C + C.T) / 2
    solution = solve(
        Problem(Frobenius(), np.zeros((N, N)), [Term(DenseMatrices(C[None]), Linear())])
    )
    e, U = np.linalg.eigh(-C)
    assert np.allclose(solution.matrix, (U * np.clip(e, 0, None)) @ U.T, atol=1e-12)
    assert solution.gap <= 1e-12


def test_trace_term_shrinks_the_spectrum_under_frobenius() -> None:
    """min |X - X0|^2/2 + tau tr X thresholds the eigenvalues at tau."""
    tau = 0.5
    solution = solve(Problem(Frobenius(), X0, [Term(Trace(), Linear(tau))]))
    e, U = np.linalg.eigh(X0)
    assert np.allclose(solution.matrix, (U * np.clip(e - tau, 0, None)) @ U.T, atol=1e-12)


def test_vector_example_of_appendix_b() -> None:
    """K09 (24): with dual corrections the answer is [1/3, 1/3, 1/3], not [1/5, 7/15, 1/3]."""
    rows = np.array([[0.0912, 0.9385, -0.4377], [0.6020, 0.6020, -0.4377]])
    stack = np.stack([np.diag(row) for row in rows])
    terms = [
        Term(DenseMatrices(stack), Hard(lower=np.array([0.0238, 0.2554]))),
        Term(Trace(), Hard(equal=1.0)),
    ]
    solution = solve(Problem(VonNeumann(), np.diag([0.1, 0.1, 0.8]), terms), tol=1e-9)
    # The paper prints its coefficients with four digits: (2 * 0.6020 - 0.4377) / 3 = 0.25543.
    assert np.allclose(np.diag(solution.matrix), 1 / 3, atol=1e-4)
    wrong = np.array([1 / 5, 7 / 15, 1 / 3])
    # The other vector satisfies the constraints as well, and is worse.
    assert np.all(rows @ wrong >= np.array([0.0238, 0.2554]) - 1e-4)
    start = np.array([0.1, 0.1, 0.8])
    assert np.sum(wrong * np.log(wrong / start)) > solution.primal + 0.01


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("soft", [LogDetSlack, KLSlack, Hinge, SquaredHinge], ids=name_of)
@pytest.mark.parametrize("bound", [{"upper": 0.4}, {"lower": 3.0}], ids=str)
def test_a_large_price_is_a_hard_bound(
    regularizer: Regularizer, soft: type, bound: dict[str, float]
) -> None:
    constraints = SquaredDistances([0, 1], [1, 2])
    hard = solve(Problem(regularizer, X0, [Term(constraints, Hard(**bound))]), tol=1e-9)
    # A price of 1e7 or more times the rounding of t is above the tolerance: only luck would reach it.
    loose = solve(Problem(regularizer, X0, [Term(constraints, soft(1e6, **bound))]), tol=1e-9)
    assert loose.primal == pytest.approx(hard.primal, rel=1e-5)
    assert loose.primal <= hard.primal * (1 + 1e-8)  # a soft bound can only be cheaper
    assert np.allclose(loose.matrix, hard.matrix, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_schatten_2_is_frobenius(loss: Loss) -> None:
    for constraints in all_constraints(N):
        one = solve(Problem(Frobenius(), X0, [Term(constraints, loss)]), tol=1e-9)
        two = solve(Problem(Schatten(2.0), X0, [Term(constraints, loss)]), tol=1e-9)
        assert one.status is two.status is Status.OPTIMAL
        assert one.primal == pytest.approx(two.primal, rel=1e-8, abs=1e-10)
        assert np.allclose(one.matrix, two.matrix, atol=1e-6)


def test_square_is_the_limit_of_both_squared_hinges() -> None:
    constraints = SquaredDistances([0, 1], [1, 2])
    both = [Term(constraints, SquaredHinge(3.0, **{side: 0.8})) for side in ("upper", "lower")]
    one = solve(Problem(LogDet(), X0, both), tol=1e-9)
    two = solve(Problem(LogDet(), X0, [Term(constraints, Square(3.0, equal=0.8))]), tol=1e-9)
    assert one.primal == pytest.approx(two.primal, rel=1e-7)
    assert np.allclose(one.matrix, two.matrix, atol=1e-5)


def test_a_weight_is_a_repeated_constraint() -> None:
    twice = SquaredDistances([0, 0, 1], [1, 1, 2])
    once = SquaredDistances([0, 1], [1, 2])
    loss = LogDetSlack(0.7, upper=0.4)
    weighted = LogDetSlack(0.7, upper=0.4, weight=np.array([2.0, 1.0]))
    one = solve(Problem(LogDet(), X0, [Term(twice, loss)]), tol=1e-9)
    two = solve(Problem(LogDet(), X0, [Term(once, weighted)]), tol=1e-9)
    assert np.allclose(one.matrix, two.matrix, atol=1e-6)


def test_an_offset_moves_the_bound() -> None:
    one = Term(SquaredDistances([0, 1], [1, 2], offset=0.3), Hinge(2.0, upper=0.9))
    two = Term(SquaredDistances([0, 1], [1, 2]), Hinge(2.0, upper=0.6))
    answers = [solve(Problem(VonNeumann(), X0, [term]), tol=1e-9) for term in (one, two)]
    assert np.allclose(answers[0].matrix, answers[1].matrix, atol=1e-7)
    assert answers[0].primal == pytest.approx(answers[1].primal, rel=1e-8)
