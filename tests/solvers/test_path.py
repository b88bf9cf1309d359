"""A problem at many prices: the same answers as one by one, in fewer steps; an X is foreseen by its formula."""

import numpy as np
import pytest
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge

from catalogue import REGULARIZERS, name_of
from conftest import Library
from gramlearn import Frobenius, LogDet, Problem, Status, Term, Zeros, solve, solve_path
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers.path import at_price, foreseen

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
        alone = solve(at_price(problem, price))
        assert solution.status is Status.OPTIMAL
        assert solution.primal == pytest.approx(alone.primal, rel=3e-6, abs=1e-9)
        assert solution.problem.terms[0].loss.weight == pytest.approx(price)


@pytest.mark.parametrize("loss", [KLSlack(1.0, upper=1.0), *LOSSES[1:]], ids=name_of)
def test_a_path_takes_fewer_steps_than_its_prices_alone(loss: Loss) -> None:
    problem, prices = problem_of(LogDet(), loss), np.geomspace(1e-3, 1e2, 20)
    together = sum(solution.iterations for solution in solve_path(problem, prices))
    alone = sum(solve(at_price(problem, price)).iterations for price in prices)
    assert together < 0.6 * alone


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polynomials_in_the_logarithm_are_foreseen(order: int, library: Library) -> None:
    """X(s) = F exp(p(s)) F' with commuting coefficients, p of degree `order`, from order + 1 values."""
    rng = np.random.default_rng(2)
    F, Q = rng.standard_normal((4, 4)), np.linalg.qr(rng.standard_normal((4, 4)))[0]
    coefficients = rng.standard_normal((order + 1, 4)) / 4

    def factor(s: float) -> np.ndarray:
        return F @ Q * np.exp(sum(c * s**k for k, c in enumerate(coefficients)) / 2)

    known = [(s, library.array(factor(s))) for s in (0.0, 0.4, 1.0, 1.5)[: order + 1]]
    G, exact = library.numpy(foreseen(known, 1.7)), factor(1.7)
    np.testing.assert_allclose(G @ G.T, exact @ exact.T, rtol=1e-8)


@pytest.mark.parametrize("prior", [Zeros(6), np.zeros((6, 6)), np.eye(6)], ids=type)
@pytest.mark.parametrize("solver", ["auto", "working_set"])
def test_answers_may_be_singular(prior, solver: str) -> None:
    """Nothing is foreseen from them, and every price is solved all the same."""
    terms = [Term(SquaredDistances([0, 1, 2], [1, 2, 5]), Hinge(10.0, upper=0.1))]
    terms.append(Term(SquaredDistances([3], [4]), Square(1.0, equal=2.0)))
    problem = Problem(Frobenius(), prior, terms)
    for price, solution in zip(PRICES, solve_path(problem, PRICES, solver), strict=True):
        assert solution.status is Status.OPTIMAL
        assert solution.primal == pytest.approx(solve(at_price(problem, price)).primal, rel=3e-6)


def test_bounds_that_must_hold_and_linear_terms_keep_their_price() -> None:
    pairs = SquaredDistances([0, 1], [1, 2])
    losses = [Hard(upper=1.0), Linear(0.5), Hinge(2.0, upper=1.0, weight=3.0)]
    problem = Problem(LogDet(), np.eye(3), [Term(pairs, loss) for loss in losses])
    assert [term.loss.weight for term in at_price(problem, 10.0).terms] == [1.0, 1.0, 30.0]


def test_prices_are_solved_when_asked_for_in_any_order() -> None:
    problem = problem_of(LogDet(), LOSSES[1])
    path = solve_path(problem, [1.0, 1.0, 0.01, 10.0])
    found = [next(path) for _ in range(3)]
    assert [s.problem.terms[0].loss.weight for s in found] == [1.0, 1.0, 0.01]
    assert found[0].primal == pytest.approx(found[1].primal, rel=1e-6)
    assert next(path).status is Status.OPTIMAL
    with pytest.raises(StopIteration):
        next(path)


@pytest.mark.parametrize("prices", [[0.0], [1.0, -1.0], [float("nan")], ["many"], None])
def test_prices_must_be_positive_numbers(prices) -> None:
    with pytest.raises((TypeError, ValueError), match="prices"):
        solve_path(problem_of(LogDet(), LOSSES[0]), prices)


def test_a_path_is_one_of_a_problem() -> None:
    with pytest.raises(TypeError, match="`problem` must be a Problem"):
        solve_path(np.eye(3), [1.0])  # type: ignore[arg-type]
