"""Bregman projections: each maximizes the dual along its constraint, and they converge to the optimum."""

import io
import warnings
from typing import Any

import numpy as np
import pytest
from gramlearn.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SimilarityComparisons,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from catalogue import LOSSES, all_constraints, name_of
from gramlearn import LogDet, Problem, Status, Term, VonNeumann, solve
from gramlearn._base.compilation import announced
from gramlearn.problem.constraints import Constraints
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers import Projections
from gramlearn.solvers.projections.blas import DGEMM, add_product
from gramlearn.solvers.projections.constraint_table import table_of
from gramlearn.solvers.projections.forms import FORMS_OF_X
from gramlearn.solvers.projections.logdet_epoch import cholupdatemult

N = 5
_square = np.random.default_rng(0).standard_normal((N, N))
X0 = _square @ _square.T / N + 0.3 * np.eye(N)
BOTH = pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann()], ids=name_of)


def pairs_problem(
    regularizer: Regularizer, loss: type, size: int = 60, r: int = 6, reach: float = 2.0
) -> Problem:
    """Squared distances of about 2 r are asked to shrink, or to grow, by up to `reach`."""
    rng = np.random.default_rng(1)
    P = rng.standard_normal((40, r))
    i, j = rng.integers(0, 20, size), rng.integers(20, 40, size)
    half = size // 2
    terms = [
        Term(SquaredDistances(i[:half], j[:half], points=P), loss(upper=2 * r / reach)),
        Term(SquaredDistances(i[half:], j[half:], points=P), loss(lower=2 * r * reach)),
    ]
    return Problem(regularizer, np.eye(r), terms)


# --------------------------------------------------------------------------------------------------
# The pieces


@given(seed=st.integers(0, 10_000), m=st.integers(1, 9), n=st.integers(1, 9), k=st.integers(1, 9))
def test_add_product_adds_a_product(seed, m, n, k) -> None:
    rng = np.random.default_rng(seed)
    A, B, C = (rng.standard_normal(shape) for shape in ((m, k), (n, k), (m, n)))
    expected = C + A @ B.T
    add_product(DGEMM, A, B, C)
    np.testing.assert_allclose(C, expected, atol=1e-13)


@given(seed=st.integers(0, 10_000), r=st.integers(1, 30), size=st.floats(-0.99, 50))
def test_cholupdatemult_multiplies_by_the_factor_of_a_rank_one_update(seed, r, size) -> None:
    rng = np.random.default_rng(seed)
    B, w = np.tril(rng.standard_normal((r, r))), rng.standard_normal(r)
    beta = size / (w @ w)
    expected = B @ np.linalg.cholesky(np.eye(r) + beta * np.outer(w, w))
    transposed = np.ascontiguousarray(B.T)
    cholupdatemult(beta, w, transposed, np.empty(r), np.empty(r), np.empty(r))
    np.testing.assert_allclose(transposed.T, expected, atol=1e-11 * (1 + np.abs(expected).max()))


@BOTH
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_a_projection_maximizes_the_dual_along_its_constraint(
    regularizer: Regularizer, constraints: Constraints
) -> None:
    """After it t is what lam prices, or lam is at the end of the box that holds it."""
    for loss in LOSSES:
        problem = Problem(regularizer, X0, [Term(constraints, loss)])
        if Projections().objection(problem) or problem.dual.size == 0:
            continue
        dual = problem.dual
        table = table_of(dual)
        lo, hi = dual.box
        for k in range(dual.size):
            lam = np.clip(np.zeros(dual.size), lo, hi)
            X = FORMS_OF_X[str(regularizer.form)](dual.at(lam).conjugate, 1, False)
            X.run(np.asarray([k]), table, lam, np.zeros(2, dtype=np.int64))
            point = dual.at(lam)
            np.testing.assert_allclose(
                X.factor @ X.factor.T,
                point.conjugate.factor @ point.conjugate.factor.T,
                rtol=1e-8,
                atol=1e-10,
            )
            gradient = point.gradient[k]
            held = (lam[k] <= lo[k] and gradient <= 0) or (lam[k] >= hi[k] and gradient >= 0)
            assert held or abs(gradient) <= 1e-9 * (1 + abs(point.t[k])), (loss, k)


def test_the_first_projections_of_the_paper_in_closed_form() -> None:
    """K09 (19) without slack, and its 6.2.1 with slack."""
    z = np.asarray([1.0, -2.0, 0.5])
    p = z @ z
    points = np.stack([z, np.zeros(3)])
    for loss, alpha in (
        (Hard(upper=2.0), 1 / p - 1 / 2.0),
        (LogDetSlack(0.7, upper=2.0), 0.7 / 1.7 * (1 / p - 1 / 2.0)),
    ):
        term = Term(SquaredDistances([0], [1], points=points), loss)
        solution = solve(Problem(LogDet(), np.eye(3), [term]), Projections(block=1), tol=1e-12)
        assert solution.iterations == 1
        assert solution.duals[0][0] == pytest.approx(-alpha, rel=1e-12)


# --------------------------------------------------------------------------------------------------
# Cycles


@pytest.mark.parametrize("loss", [Hard, LogDetSlack, KLSlack])
@pytest.mark.parametrize("block", [2, 7, 64])
def test_blocks_are_the_same_iterates(loss: type, block: int) -> None:
    problem = pairs_problem(LogDet(), loss, size=16, reach=1.2)
    mixed = Problem(
        LogDet(),
        X0,
        [
            Term(Similarities([0, 1, 2], [1, 2, 3]), Hard(upper=0.1)),
            Term(SquaredDistances([0, 1, 2, 3], [4, 3, 4, 2]), LogDetSlack(lower=3.0)),
            Term(DiagonalEntries(np.arange(N)), Hard(equal=1.0)),
        ],
    )
    for one in (problem, mixed):
        runs = []
        for width in (1, block):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                runs.append(solve(one, Projections(block=width), tol=1e-13, max_iter=5))
        np.testing.assert_allclose(runs[0].matrix, runs[1].matrix, rtol=1e-10, atol=1e-12)
        for a, b in zip(*(run.duals for run in runs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * (1 + np.abs(a).max()))


@BOTH
@pytest.mark.parametrize("order", ["cyclic", "random", "greatest"])
def test_every_order_ends_at_the_optimum(regularizer: Regularizer, order: str) -> None:
    loss = regularizer.slack_loss
    problem = pairs_problem(regularizer, loss, size=24)
    solver = Projections(order=order)
    solution = solve(problem, solver, tol=1e-7, max_iter=5000)
    exact = solve(problem, "working_set", tol=1e-10)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(exact.primal, rel=1e-6)
    changes = [record.details["change"] for record in solution.history]
    assert changes[0] == np.inf
    assert changes[-1] < 0.05 * changes[1]
    again = solve(problem, solver, tol=1e-7, max_iter=5000)
    np.testing.assert_array_equal(solution.matrix, again.matrix)
    other = solve(problem, Projections(order="random", seed=1), tol=1e-7, max_iter=5000)
    assert other.primal == pytest.approx(exact.primal, rel=1e-6)


def test_the_root_finder_needs_few_evaluations() -> None:
    problem = pairs_problem(VonNeumann(), KLSlack, size=200, r=20)
    with pytest.warns(ConvergenceWarning):
        solution = solve(problem, Projections(), tol=1e-13, max_iter=30)
    details = solution.history[-1].details
    assert 0 < details["evaluations"] <= 6 * details["projections"]


def test_vectors_stay_orthogonal_over_many_projections() -> None:
    problem = pairs_problem(VonNeumann(), KLSlack, size=100, r=6)
    dual = problem.dual
    lam, counts = np.zeros(dual.size), np.zeros(2, dtype=np.int64)
    X: Any = FORMS_OF_X["exponential"](dual.at(lam).conjugate, 1, False)
    order = np.random.default_rng(0).integers(0, dual.size, 100_000)
    X.run(order, table_of(dual), lam, counts)
    assert np.abs(X._W.T @ X._W - np.eye(6)).max() < 1e-10
    exact = dual.at(lam).conjugate.factor
    np.testing.assert_allclose(X.factor @ X.factor.T, exact @ exact.T, rtol=1e-8, atol=1e-10)


@BOTH
def test_inequalities_need_dual_corrections(regularizer: Regularizer) -> None:
    """K09 appendix B: three points on a line of weights; inequalities must give back what they took."""
    terms = [
        Term(DiagonalEntries([0]), Hard(upper=0.2)),
        Term(DiagonalEntries([0]), Hard(upper=0.1)),
    ]
    problem = Problem(regularizer, np.eye(2), terms)
    solution = solve(problem, Projections(), tol=1e-10)
    assert solution.duals[0][0] == 0.0
    assert solution.duals[1][0] > 0
    np.testing.assert_allclose(solution.matrix, np.diag([0.1, 1.0]), atol=1e-8)


def test_approximate_projections_end_at_the_same_optimum_and_take_longer() -> None:
    problem = pairs_problem(VonNeumann(), KLSlack, size=16, r=6)
    exact = solve(problem, Projections("cyclic"), tol=1e-4, max_iter=20_000)
    short = solve(problem, Projections("cyclic", approximate=True), tol=1e-4, max_iter=20_000)
    assert short.primal == pytest.approx(exact.primal, rel=2e-4)
    assert short.iterations > exact.iterations


SEVEN = np.random.default_rng(1).standard_normal((7, 3))


@pytest.mark.parametrize(
    ("prior", "points"),
    [
        (np.eye(3), SEVEN),
        (np.diag([1.0, 2.0, 3.0]) + 0.1, SEVEN),  # in another basis
        (np.eye(7), None),  # X is the kernel: rows of the identity
        (SEVEN, None),  # or of the basis of its factor
    ],
    ids=["points", "turned points", "identity", "factor"],
)
def test_points_of_several_terms_are_stored_once(
    prior: np.ndarray, points: np.ndarray | None
) -> None:
    pairs = [([0, 1], [2, 3]), ([4], [5])]
    terms = [Term(SquaredDistances(i, j, points=points), Hard(upper=0.5)) for i, j in pairs]
    ones = Term(DenseMatrices(np.ones((1, len(prior), len(prior)))), Hinge(upper=1.0))
    dual = Problem(LogDet(), prior, [*terms, ones, terms[1]]).dual
    table, first, second, sign = (table_of(dual).directions[k] for k in (0, 2, 3, 4))
    assert table.shape[0] == 7 + 1  # and the direction of the matrix of ones
    z = table[first] + sign[:, None] * table[second]
    expected = np.concatenate([part.map.matrices() for part in dual.parts])
    np.testing.assert_allclose(z[:, :, None] * z[:, None, :], expected, atol=1e-12)


# --------------------------------------------------------------------------------------------------
# What cannot be done


@BOTH
def test_equal_points_are_named(regularizer: Regularizer) -> None:
    P = np.asarray([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    term = Term(SquaredDistances([0, 1], [1, 2], points=P), Hard(lower=1.0))
    solution = solve(Problem(regularizer, np.eye(2), [term]), "projections")
    assert solution.status is Status.INFEASIBLE
    assert solution.conflict == (
        "constraint 0 of term 0 (squared distance of points 0 and 1 at least 1)",
    )


LINE = np.asarray([[0.0], [1.0], [3.0]])
PLANE = np.asarray([[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]])
TWINS = np.asarray([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
KERNEL = np.asarray([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
NOTHING = DenseMatrices(np.zeros((1, 2, 2)), offset=0.5)
DEGENERATE = {
    "one feature": (
        LogDet(),
        np.eye(1),
        [
            Term(DistanceComparisons([0], [1], [2], points=LINE), Hinge(upper=1.0)),
            Term(SquaredDistances([0], [1], points=LINE), Hard(upper=0.5)),
        ],
    ),
    "a target of zero": (
        LogDet(),
        np.eye(2),
        [Term(DenseMatrices(np.diag([1.0, 2.0])[None]), Hinge(upper=0.0))],
    ),
    "one direction twice": (
        LogDet(),
        np.eye(2),
        [Term(Similarities([0], [0], offset=2.0), Hinge(upper=1.0))],
    ),
    "far targets": (
        VonNeumann(),
        1e-2 * np.eye(2),
        [
            Term(
                DiagonalEntries([1, 2], points=PLANE, offset=-5.0),
                Hard(equal=np.asarray([15.0, 30.0])),
            )
        ],
    ),
    "a start outside the domain": (
        LogDet(),
        np.eye(2),
        [Term(Trace(), Linear(-2.0)), Term(Trace(), Hard(upper=5.0))],
    ),
    "directions that cancel": (
        VonNeumann(),
        KERNEL,
        [
            Term(SimilarityComparisons([0, 0], [1, 1], [1, 2]), Hard(upper=0.0)),
            Term(DiagonalEntries([0]), Hard(upper=0.5)),
        ],
    ),
    "equal points, squares": (
        VonNeumann(),
        np.eye(2),
        [Term(SquaredDistances([0], [1], points=TWINS), Square(equal=1.0))],
    ),
    "equal points, entropy": (
        VonNeumann(),
        np.eye(2),
        [Term(SquaredDistances([0], [1], points=TWINS), KLSlack(lower=1.0))],
    ),
    "no matrix at all": (LogDet(), np.eye(2), [Term(NOTHING, Square(equal=1.0))]),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_constraints_have_the_same_optimum(name: str) -> None:
    problem = Problem(*DEGENERATE[name])
    solution, exact = solve(problem, "projections"), solve(problem, "working_set")
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(exact.primal, rel=2e-6, abs=1e-9)


@BOTH
def test_contradicting_constraints_are_infeasible(regularizer: Regularizer) -> None:
    terms = [
        Term(SquaredDistances([0], [1]), Hard(upper=0.5)),
        Term(SquaredDistances([0], [1]), Hard(lower=0.6)),
    ]
    solution = solve(Problem(regularizer, np.eye(3), terms), "projections")
    assert solution.status is Status.INFEASIBLE
    assert len(solution.conflict) == 2


SAME = np.asarray([[0.3, 0.7], [1.1, 0.2], [1.1, 0.2]])
CONSTANT = {
    "above": (NOTHING, Hard(upper=-1.0), 1.0),
    "below": (NOTHING, Hard(lower=1.0), -1.0),
    "off": (NOTHING, Hard(equal=0.4), 1.0),
    "without an offset": (DenseMatrices(np.zeros((1, 2, 2))), Hard(equal=1.0), -1.0),
    "cancelling": (DistanceComparisons([0], [1], [2], points=SAME), Hard(upper=-1.0), 1.0),
}


@pytest.mark.parametrize("solver", ["projections", "working_set"])
@pytest.mark.parametrize("name", CONSTANT)
@BOTH
def test_a_constant_beyond_its_bound_is_infeasible(
    regularizer: Regularizer, name: str, solver: str
) -> None:
    """Whatever else is asked for: t = offset for every X, and the dual of it alone is the proof."""
    constraints, loss, side = CONSTANT[name]
    possible = Term(SquaredDistances([0], [1]), Hard(upper=0.5))
    terms = [possible, Term(constraints, loss)]
    solution = solve(Problem(regularizer, np.eye(2), terms), solver)
    assert solution.status is Status.INFEASIBLE
    assert [lam.tolist() for lam in solution.duals] == [[0.0], [side]]
    (named,) = solution.conflict
    assert named.startswith("constraint 0 of term 1 ")


@BOTH
def test_a_constant_within_its_bound_changes_nothing(regularizer: Regularizer) -> None:
    possible = Term(SquaredDistances([0], [1]), Hard(upper=0.5))
    alone = solve(Problem(regularizer, np.eye(2), [possible]), "projections")
    terms = [possible, Term(NOTHING, Hard(upper=1.0)), Term(NOTHING, Hard(equal=0.5))]
    solution = solve(Problem(regularizer, np.eye(2), terms), "projections")
    assert solution.status is Status.OPTIMAL
    np.testing.assert_allclose(solution.matrix, alone.matrix, atol=1e-9)


@pytest.mark.parametrize("solver", ["projections", "working_set"])
@pytest.mark.parametrize("apart", [1e-3, 1e-8])
def test_nearly_equal_points_are_not_a_constant(apart: float, solver: str) -> None:
    """d(0, 1) - d(0, 2) + 1 <= 1 - apart / 10 asks for little; as a constant it would be refused."""
    P = np.asarray([[0.3, 0.7], [1.1, 0.2], [1.1 + apart, 0.2]])
    nearly = DistanceComparisons([0], [1], [2], points=P, offset=1.0)
    term = Term(nearly, Hard(upper=1.0 - apart / 10))
    assert solve(Problem(LogDet(), np.eye(2), [term]), solver).status is Status.OPTIMAL


@pytest.mark.parametrize("bound", [1e300, 1e-300, 1e150])
@pytest.mark.parametrize("loss", [KLSlack, Hard])
def test_exponents_never_overflow_to_nan(bound: float, loss: type) -> None:
    P = np.random.default_rng(0).standard_normal((4, 3))
    term = Term(SquaredDistances([0, 1], [2, 3], points=P), loss(equal=bound))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = solve(Problem(VonNeumann(), np.eye(3), [term]), "projections", max_iter=20)
    assert np.all(np.isfinite(solution.matrix))
    assert solution.gap == solution.gap


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Projections(order="sideways"), "`order='sideways'` is not known"),
        (lambda: Projections(block=0), "`block` must be a whole number of at least 1"),
        (lambda: Projections(seed=-1), "`seed` must be a whole number of at least 0"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("loss", "approximate", "message"),
    [
        (KLSlack(upper=1.0), True, "approximate projections are those of the von Neumann"),
        (LogDetSlack(upper=1.0), False, None),
    ],
)
def test_problems_it_cannot_solve_are_refused(
    loss: Loss, approximate: bool, message: str | None
) -> None:
    problem = Problem(LogDet(), X0, [Term(SquaredDistances([0], [1]), loss)])
    said = Projections(approximate=approximate).objection(problem)
    assert (said is None) == (message is None)
    assert message is None or message in str(said)


def test_compiling_is_announced_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    class Terminal(io.StringIO):
        def __init__(self, tty: bool) -> None:
            super().__init__()
            self.tty = tty

        def isatty(self) -> bool:
            return self.tty

    for tty in (True, False):
        stream = Terminal(tty)
        monkeypatch.setattr("sys.stderr", stream)
        with announced("a test"):
            numba.njit(lambda x: x + 1)(1)
        assert ("compiling a test, once" in stream.getvalue()) == tty


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_dual_without_a_point_does_not_crash() -> None:
    """A reward that a hinge cannot outweigh: there is no X(lam) to look at."""
    terms = [
        Term(Trace(), Linear(-2.0)),
        Term(DiagonalEntries([0]), Hinge(0.5, upper=1.0)),
    ]
    solution = solve(Problem(LogDet(), np.eye(2), terms), "projections")
    assert solution.status is Status.UNBOUNDED
