"""A problem at many prices: the same answers as one by one, in fewer steps; extrapolation by its formula."""

from dataclasses import replace

import numpy as np
import pytest
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge
from sklearn.exceptions import ConvergenceWarning

from catalogue import REGULARIZERS, name_of
from conftest import Library
from gramlearn import (
    Frobenius,
    LogDet,
    Problem,
    Status,
    Term,
    VonNeumann,
    Zeros,
    solve,
    solve_path,
)
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers.path import extrapolated

LOSSES = [Hinge(1.0, upper=1.0), SquaredHinge(1.0, upper=1.0), LogDetSlack(1.0, upper=1.0)]
PRICES = np.geomspace(1e-2, 1e1, 3)


def problem_of(regularizer: Regularizer, loss: Loss, library: Library | None = None) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) * np.logspace(0, -0.5, 5)
    i, j = rng.integers(40, size=(2, 60))
    prior = np.diag(np.logspace(0, -1, 5))
    if library is not None:
        X, prior = library.array(X), library.array(prior)
    pairs = SquaredDistances(i, (i + 1 + j % 39) % 40, points=X)
    return Problem(regularizer, prior, [Term(pairs, loss)])


@pytest.mark.covering("regularizer", "loss")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_the_answers_are_those_of_each_price_alone(
    regularizer: Regularizer, loss: Loss, library: Library
) -> None:
    problem = problem_of(regularizer, loss, library)
    for price, solution in zip(PRICES, solve_path(problem, PRICES), strict=True):
        alone = solve(problem.at_price(price))
        assert solution.status is Status.OPTIMAL
        assert solution.primal == pytest.approx(alone.primal, rel=3e-6, abs=1e-9)
        assert solution.problem.terms[0].loss.weight == pytest.approx(price)


@pytest.mark.parametrize("loss", [KLSlack(1.0, upper=1.0), *LOSSES[1:]], ids=name_of)
def test_a_path_takes_fewer_steps_than_its_prices_alone(loss: Loss) -> None:
    problem, prices = problem_of(LogDet(), loss), np.geomspace(1e-3, 1e2, 20)
    together = sum(solution.iterations for solution in solve_path(problem, prices))
    alone = sum(solve(problem.at_price(price)).iterations for price in prices)
    assert together < 0.6 * alone


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_a_path_takes_no_more_steps_than_its_prices_alone(
    regularizer: Regularizer, loss: Loss
) -> None:
    """Up to the one that shows that a start is far from the optimum."""
    problem = problem_of(regularizer, loss)
    for price, solution in zip(PRICES, solve_path(problem, PRICES, "primal_newton"), strict=True):
        alone = solve(problem.at_price(price), "primal_newton")
        assert solution.iterations <= alone.iterations + 1


@pytest.mark.parametrize("solver", ["primal_newton", "working_set"])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_the_same_price_again_takes_no_step(regularizer: Regularizer, solver: str) -> None:
    for loss in (SquaredHinge(1.0, upper=1.0), Hinge(1.0, upper=1.0)):
        first, *others = solve_path(problem_of(regularizer, loss), [10.0] * 3, solver)
        assert first.iterations > 1
        assert [solution.iterations for solution in others] == [0, 0]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_prices_next_to_each_other_do_not_spoil_the_next() -> None:
    problem = problem_of(LogDet(), LOSSES[1])
    plain = list(solve_path(problem, [1.0, 2.0, 4.0]))
    dense = list(solve_path(problem, [1.0, np.nextafter(1.0, 2.0), 1 + 1e-9, 2.0, 4.0]))
    assert [s.iterations for s in dense[-2:]] == [s.iterations for s in plain[-2:]]


def test_hard_bounds_keep_their_duals() -> None:
    """With nothing but hard bounds every price has the same answer, duals included."""
    problem = problem_of(LogDet(), Hard(upper=1.0))
    first, *others = solve_path(problem, [1.0, 10.0, 100.0])
    assert first.iterations > 0
    assert [solution.iterations for solution in others] == [0, 0]


def test_single_precision_may_be_left_on_the_way(library: Library) -> None:
    """An answer that needed double precision is followed by a start in single precision."""
    problem = problem_of(VonNeumann(), KLSlack(1.0, upper=1.0), library)
    single = replace(problem, dtype="float32")
    prices = [0.1, 1.0, 10.0, 1e3]
    for price, solution in zip(prices, solve_path(single, prices, tol=1e-4), strict=True):
        alone = solve(problem.at_price(price))
        assert solution.primal == pytest.approx(alone.primal, rel=1e-3)


def test_limits_are_those_of_every_price() -> None:
    path = solve_path(problem_of(LogDet(), LOSSES[1]), [1.0, 10.0], tol=1e-9, max_iter=1)
    with pytest.warns(ConvergenceWarning):
        assert next(path).iterations == 1
    fine = list(solve_path(problem_of(LogDet(), LOSSES[1]), [1.0, 10.0], tol=1e-10))
    assert all(solution.relative_gap <= 1e-10 for solution in fine)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "foo"}, "solver"),
        ({"tol": -1.0}, r"solve_path\(tol=-1.0\)"),
        ({"max_iter": -1}, "max_iter"),
        ({"time_limit": 0.0}, "solve_path"),
    ],
)
def test_options_are_checked_at_the_call(options, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        solve_path(problem_of(LogDet(), LOSSES[1]), [1.0], **options)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polynomials_in_the_logarithm_are_extrapolated(order: int, library: Library) -> None:
    """X(s) = F exp(p(s)) F' with commuting coefficients, p of degree `order`, from order + 1 values."""
    rng = np.random.default_rng(2)
    F, Q = rng.standard_normal((4, 4)), np.linalg.qr(rng.standard_normal((4, 4)))[0]
    coefficients = rng.standard_normal((order + 1, 4)) / 4

    def factor(s: float) -> np.ndarray:
        return F @ Q * np.exp(sum(c * s**k for k, c in enumerate(coefficients)) / 2)

    known = [(s, library.array(factor(s))) for s in (0.0, 0.4, 1.0, 1.5)[: order + 1]]
    G, exact = library.numpy(extrapolated(known, 1.7)), factor(1.7)
    np.testing.assert_allclose(G @ G.T, exact @ exact.T, rtol=1e-8)


@pytest.mark.parametrize("prior", [Zeros(6), np.zeros((6, 6)), np.eye(6)], ids=type)
@pytest.mark.parametrize("solver", ["auto", "working_set"])
def test_answers_may_be_singular(prior, solver: str) -> None:
    """Nothing is extrapolated from them, and every price is solved all the same."""
    terms = [Term(SquaredDistances([0, 1, 2], [1, 2, 5]), Hinge(10.0, upper=0.1))]
    terms.append(Term(SquaredDistances([3], [4]), Square(1.0, equal=2.0)))
    problem = Problem(Frobenius(), prior, terms)
    for price, solution in zip(PRICES, solve_path(problem, PRICES, solver), strict=True):
        assert solution.status is Status.OPTIMAL
        assert solution.primal == pytest.approx(solve(problem.at_price(price)).primal, rel=3e-6)


def test_bounds_that_must_hold_and_linear_terms_keep_their_price() -> None:
    pairs = SquaredDistances([0, 1], [1, 2])
    losses = [Hard(upper=1.0), Linear(0.5), Hinge(2.0, upper=1.0, weight=3.0)]
    problem = Problem(LogDet(), np.eye(3), [Term(pairs, loss) for loss in losses])
    assert [term.loss.weight for term in problem.at_price(10.0).terms] == [1.0, 1.0, 30.0]


def test_prices_are_solved_when_asked_for_in_any_order() -> None:
    problem = problem_of(LogDet(), LOSSES[1])
    path = solve_path(problem, [1.0, 1.0, 0.01, 10.0])
    found = [next(path) for _ in range(3)]
    assert [s.problem.terms[0].loss.weight for s in found] == [1.0, 1.0, 0.01]
    assert found[0].primal == pytest.approx(found[1].primal, rel=1e-6)
    assert next(path).status is Status.OPTIMAL
    with pytest.raises(StopIteration):
        next(path)


NO_PRICES = [
    [0.0],
    [1.0, -1.0],
    [float("nan")],
    ["many"],
    None,
    [True, 2.0],
    [[1.0], [1.0, 2.0]],
    [[1.0, 2.0]],
]


@pytest.mark.parametrize("prices", NO_PRICES)
def test_prices_must_be_positive_numbers(prices) -> None:
    with pytest.raises((TypeError, ValueError), match="prices"):
        solve_path(problem_of(LogDet(), LOSSES[0]), prices)


def test_a_path_is_one_of_a_problem() -> None:
    with pytest.raises(TypeError, match="`problem` must be a Problem"):
        solve_path(np.eye(3), [1.0])  # type: ignore[arg-type]
