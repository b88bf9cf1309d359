"""Hinges with far more constraints on their bounds than X has entries, where the dual is flat."""

import numpy as np
import pytest

from catalogue import LOSSES, REGULARIZERS, name_of
from conftest import Library
from gramlearn import (
    Hard,
    Hinge,
    Linear,
    LogDet,
    LogDetSlack,
    Problem,
    SquaredDistances,
    SquaredHinge,
    Status,
    Term,
    Trace,
    solve,
)
from gramlearn.regularizers import Regularizer
from gramlearn.solvers import AugmentedLagrangian
from gramlearn.solvers._proximal import smoothed

HINGES = [loss for loss in LOSSES if loss.is_polyhedral]


def crowded(regularizer: Regularizer, C: float, library: Library | None = None) -> Problem:
    """Nine hundred pairs among sixty points in five dimensions, asked to be closer or farther than they are."""
    rng = np.random.default_rng(0)
    P, y = rng.standard_normal((60, 5)), rng.integers(0, 2, 60)
    i, j = rng.integers(0, 30, 900), rng.integers(30, 60, 900)
    alike = y[i] == y[j]
    array = np.asarray if library is None else library.array
    index = np.asarray if library is None else library.index
    points, terms = array(P), []
    for chosen, bound in ((alike, {"upper": 2.0}), (~alike, {"lower": 4.0})):
        pairs = SquaredDistances(index(i[chosen]), index(j[chosen]), points=points)
        terms.append(Term(pairs, Hinge(C, **bound)))
    return Problem(regularizer, array(np.eye(5)), terms)


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_crowded_hinges_are_solved(regularizer: Regularizer, C: float, library: Library) -> None:
    solution = solve(crowded(regularizer, C, library), max_iter=200)
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= 1e-6
    for term, lam in zip(solution.problem.terms, solution.duals, strict=True):
        low, high = term.loss.box(np.zeros(1), 1)
        values = library.numpy(lam)
        assert np.all((values >= low) & (values <= high))


def test_the_optimum_is_that_of_the_dual_solver() -> None:
    problem = crowded(LogDet(), 0.01)
    one, two = solve(problem, AugmentedLagrangian()), solve(problem, "working_set")
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-9 * abs(one.primal)


def test_other_losses_beside_hinges() -> None:
    problem = crowded(LogDet(), 0.1)
    terms = [
        *problem.terms,
        Term(Trace(), SquaredHinge(2.0, upper=1.0)),
        Term(Trace(), Linear(0.1)),
    ]
    solution = solve(Problem(LogDet(), np.eye(5), terms), AugmentedLagrangian())
    assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("loss", HINGES, ids=name_of)
def test_a_smoothed_loss_is_an_envelope(loss) -> None:
    """max over lam of lam t - loss*(lam) - (lam - c)^2 / (2 sigma), by trying many lam."""
    t = np.linspace(-1.0, 4.0, 41)
    low, high = (float(end[0]) for end in loss.box(t, 1))
    lam = np.linspace(max(low, -50.0), min(high, 50.0), 200_001)
    for c, sigma in ((0.0, 0.3), (0.2, 2.0)):
        soft = smoothed(loss, np.full_like(t, c), sigma)
        price, value = soft.price(t), soft.value(t)
        every = lam * t[:, None] - loss.conjugate(lam) - (lam - c) ** 2 / (2 * sigma)
        np.testing.assert_allclose(value, np.max(every, axis=1), atol=1e-6)
        np.testing.assert_allclose(price, lam[np.argmax(every, axis=1)], atol=1e-3)
        # The price is the slope, and its change the inverse of the curvature of the conjugate.
        step = 1e-6
        slope = (soft.value(t + step) - soft.value(t - step)) / (2 * step)
        np.testing.assert_allclose(slope, price, atol=1e-5)
        moves = ~soft.is_flat(t - step) & ~soft.is_flat(t + step)
        change = (soft.price(t + step) - soft.price(t - step)) / (2 * step)
        np.testing.assert_allclose(
            change[moves], 1 / soft.conjugate_second(price)[moves], rtol=1e-6
        )
        np.testing.assert_allclose(change[soft.is_flat(t)], 0, atol=sigma)


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (Term(Trace(), Hard(upper=1.0)), "Hard constraints may contradict"),
        (Term(Trace(), SquaredHinge(upper=1.0)), "no kink"),
        (Term(Trace(), LogDetSlack(lower=1.0)), "infinite for some t"),
    ],
)
def test_what_it_is_not_for(term: Term, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"augmented_lagrangian.*{reason}.*auto"):
        solve(Problem(LogDet(), np.eye(2), [term]), "augmented_lagrangian")
