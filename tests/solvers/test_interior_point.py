"""Hinges with far more constraints on their bounds than X has entries, at any price."""

import cvxpy as cp
import numpy as np
import pytest
from gramlearn.constraints import (
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, SquaredHinge
from sklearn.exceptions import ConvergenceWarning

from catalogue import BOUNDED_LOSSES, LOSSES, REGULARIZERS, name_of
from conftest import Library
from gramlearn import Frobenius, LogDet, Problem, Solution, Status, Term, VonNeumann, solve
from gramlearn.problem.dual import Part
from gramlearn.problem.linear_maps import DirectionMap
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers import InteriorPoint
from gramlearn.solvers.interior_point.prices import central_prices
from gramlearn.solvers.symmetric import Coordinates, factorize
from oracles import ask, squared_norm

EACH_REGULARIZER = pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
R, N, C_PAIRS = 5, 60, 900


def pairs(scale: float = 1.0) -> tuple[np.ndarray, ...]:
    """Nine hundred pairs of sixty points in five dimensions, and which of them are to be close."""
    rng = np.random.default_rng(0)
    P, y = scale * rng.standard_normal((N, R)), rng.integers(0, 2, N)
    i, j = rng.integers(0, N // 2, C_PAIRS), rng.integers(N // 2, N, C_PAIRS)
    return P, i, j, y[i] == y[j]


def crowded(
    regularizer: Regularizer, C: float, library: Library | None = None, scale: float = 1.0
) -> Problem:
    """They are asked to be closer or farther than they are, at random: no X comes near to satisfying all."""
    P, i, j, alike = pairs(scale)
    array = np.asarray if library is None else library.array
    index = np.asarray if library is None else library.index
    points, terms = array(P), []
    for chosen, bound in ((alike, {"upper": 2.0}), (~alike, {"lower": 4.0})):
        scaled = {kind: b * scale**2 for kind, b in bound.items()}
        constraints = SquaredDistances(index(i[chosen]), index(j[chosen]), points=points)
        terms.append(Term(constraints, Hinge(C, **scaled)))
    return Problem(regularizer, array(np.eye(R)), terms)


def written_out(regularizer: Regularizer, X: np.ndarray, C: float, scale: float) -> float:
    """The primal value of X by its definition, for the prior I."""
    P, i, j, alike = pairs(scale)
    t = np.einsum("kp,pq,kq->k", P[i] - P[j], X, P[i] - P[j])
    wrong = np.where(alike, t - 2.0 * scale**2, 4.0 * scale**2 - t)
    x, one = np.linalg.eigvalsh(X), np.ones(1)
    h, slope = regularizer.value(one)[0], regularizer.derivative(one)[0]
    distance = np.sum(regularizer.value(np.clip(x, 0, None)) - h - slope * (x - 1))
    return float(distance + C * np.clip(wrong, 0, None).sum())


@pytest.mark.covering("regularizer", "price")
@pytest.mark.parametrize("price", [(0.01, 1.0), (1.0, 1.0), (100.0, 30.0)], ids=str)
@EACH_REGULARIZER
def test_hinges_are_solved_at_any_price(
    regularizer: Regularizer, price: tuple[float, float], library: Library
) -> None:
    C, scale = price
    solution = solve(crowded(regularizer, C, library, scale), "interior_point")
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= 1e-6
    assert solution.iterations <= 30
    X = library.numpy(solution.matrix)
    assert written_out(regularizer, X, C, scale) == pytest.approx(solution.primal, rel=1e-9)
    for term, lam in zip(solution.problem.terms, solution.duals, strict=True):
        low, high = term.loss.box(np.zeros(1), 1)
        values = library.numpy(lam)
        assert np.all((values >= low) & (values <= high))
        # Few are on their bound; the others are at an end of their box, and not next to it.
        inside = (values > low) & (values < high)
        assert 0 < np.sum(inside) <= 2 * R * (R + 1)


@pytest.mark.parametrize(("C", "scale"), [(0.01, 1.0), (1.0, 1.0), (100.0, 1.0), (1.0, 30.0)])
@pytest.mark.parametrize("regularizer", [Frobenius(), LogDet()], ids=name_of)
def test_the_optimum_is_that_of_clarabel(regularizer: Regularizer, C: float, scale: float) -> None:
    P, i, j, alike = pairs(scale)
    X = cp.Variable((R, R), PSD=True)
    Z = P[i] - P[j]
    # In units of the points, so that Clarabel's own tolerances mean something.
    t = cp.sum(cp.multiply(Z @ X, Z), axis=1) / scale**2
    off = cp.pos(t[alike] - 2.0), cp.pos(4.0 - t[~alike])
    distance = (
        squared_norm(X - np.eye(R)) / 2
        if regularizer == Frobenius()
        else cp.trace(X) - cp.log_det(X) - R
    )
    weight = C * scale**2
    value = distance / weight + cp.sum(off[0]) + cp.sum(off[1])
    optimum = weight * ask(cp.Problem(cp.Minimize(value)))
    solution = solve(crowded(regularizer, C, scale=scale), "interior_point")
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx(optimum, rel=2e-6)
    assert solution.dual <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("C", [0.001, 0.01])
@EACH_REGULARIZER
def test_the_optimum_is_that_of_the_dual_solver(regularizer: Regularizer, C: float) -> None:
    problem = crowded(regularizer, C)
    one, two = solve(problem, InteriorPoint()), solve(problem, "working_set")
    assert one.status is two.status is Status.OPTIMAL
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-9 * abs(one.primal)


@EACH_REGULARIZER
def test_the_duals_prove_the_gap(regularizer: Regularizer) -> None:
    """No X is better than the dual value at the lam returned, whichever X it belongs to."""
    solution = solve(crowded(regularizer, 1.0), tol=1e-3)
    lam = np.concatenate(solution.duals)
    proof = solution.problem.dual.at(lam).value
    better = solve(crowded(regularizer, 1.0), tol=1e-9)
    rounding = 1e-9 * better.primal
    assert solution.dual <= proof + rounding
    assert proof <= better.primal + rounding
    assert solution.primal - better.primal <= solution.gap + rounding
    assert better.primal - solution.dual <= solution.gap + rounding


def test_no_gap_below_double_precision_is_claimed() -> None:
    with pytest.warns(ConvergenceWarning, match="no step that improves"):
        solution = solve(crowded(LogDet(), 1.0), tol=1e-16)
    assert solution.status is Status.STALLED
    assert 1e-16 < solution.relative_gap < 1e-11


def test_other_losses_together_with_hinges() -> None:
    problem = crowded(LogDet(), 0.1)
    terms = [
        *problem.terms,
        Term(Trace(), SquaredHinge(2.0, upper=1.0)),
        Term(Trace(), LogDetSlack(2.0, upper=1.0)),
        Term(Trace(), Linear(0.1)),
    ]
    both = Problem(LogDet(), np.eye(R), terms)
    one, two = solve(both, InteriorPoint()), solve(both, "working_set")
    assert one.status is Status.OPTIMAL
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-9 * one.primal


@pytest.mark.parametrize("regularizer", [Frobenius(), VonNeumann()], ids=name_of)
def test_X_of_low_rank_is_reached(regularizer: Regularizer) -> None:
    """All pairs are to be close, at a price that leaves X next to nothing."""
    P, i, j, _ = pairs()
    terms = [Term(SquaredDistances(i, j, points=P), Hinge(10.0, upper=1e-3))]
    terms += [Term(Trace(), Hinge(1e4, lower=1e-2))]
    solution = solve(Problem(regularizer, np.eye(R), terms))
    assert solution.status is Status.OPTIMAL
    x = np.linalg.eigvalsh(solution.matrix)
    assert x[0] < 1e-3 * x[-1]


def test_a_zero_prior_and_a_warm_start() -> None:
    problem = crowded(Frobenius(), 1.0)
    from_zero = solve(Problem(Frobenius(), np.zeros((R, R)), problem.terms))
    assert from_zero.status is Status.OPTIMAL
    first = solve(problem, tol=1e-2)
    again = solve(problem, start=first)
    assert again.status is Status.OPTIMAL
    assert again.primal <= first.primal + 1e-6 * first.primal


@pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES if not loss.has_domain and not loss.is_fixed], ids=name_of
)
def test_prices_on_the_central_path(loss) -> None:
    """t = loss*'(lam) - mu / (lam - lo) + mu / (hi - lam), exactly for hinges; inside the box for all."""
    t = np.linspace(-3.0, 5.0, 81)
    lo, hi = loss.box(t, 81)
    part = Part(DirectionMap(np.ones((81, 1)), (1.0,)), loss, 0.0)
    for mu in (1e-6, 1e-3, 10.0):
        lam = central_prices(part, t, mu)
        assert np.all((lam >= lo) & (lam <= hi))
        if np.all(np.isfinite(lo) & np.isfinite(hi)) and not loss.is_smooth:
            wanted = loss.conjugate_derivative(lam) - mu / (lam - lo) + mu / (hi - lam)
            rounding = mu * 1e-15 * (hi - lo) / np.minimum(lam - lo, hi - lam) ** 2
            assert np.all(np.abs(wanted - t) <= 1e-9 * (1 + np.abs(t)) + rounding)


def test_coordinates_of_symmetric_matrices(library: Library) -> None:
    rng = np.random.default_rng(0)
    S, T, K = rng.standard_normal((3, 4, 4))
    S, T, Z = S + S.T, T + T.T, rng.standard_normal((7, 4))
    c = Coordinates(4, library.array(S))
    s, t = (library.numpy(c.vector(library.array(M))) for M in (S, T))
    assert s @ t == pytest.approx(np.sum(S * T))
    assert np.allclose(library.numpy(c.matrix(library.array(s))), S)
    turned = library.numpy(c.congruence(library.array(K))) @ s
    assert np.allclose(turned, library.numpy(c.vector(library.array(K @ S @ K.T))))
    weights = rng.random(7)
    gram = library.numpy(c.gram([DirectionMap(library.array(Z), (1.0,))], library.array(weights)))
    assert s @ gram @ t == pytest.approx(
        np.sum(weights * np.einsum("kp,pq,kq->k", Z, S, Z) * np.einsum("kp,pq,kq->k", Z, T, Z))
    )


@pytest.mark.parametrize("weight", [1.0, 1e8, 1e14])
def test_one_large_weight_does_not_lose_the_others(weight: float, library: Library) -> None:
    """(I + w b b')^-1 b = b / (1 + w b'b), and what is orthogonal to b stays: at any w."""
    z = np.random.default_rng(0).standard_normal((1, 3))
    c = Coordinates(3, library.array(z))
    maps = [DirectionMap(library.array(z), (1.0,))]
    base = library.array(np.eye(6))
    inverse = factorize(c, maps, base, library.array([weight]))
    b = library.numpy(c.rows(maps[0]))[0]
    other = np.linalg.svd(b[None, :])[2][-1]
    assert np.allclose(library.numpy(inverse(library.array(other))), other, atol=1e-7)
    along = library.numpy(inverse(library.array(b)))
    assert np.allclose(along, b / (1 + weight * (b @ b)), atol=1e-7)


@EACH_REGULARIZER
def test_a_point_is_determined_by_its_gradient(regularizer: Regularizer, library: Library) -> None:
    """X = F F' is the gradient of phi* at Y = grad phi(X), where phi* has the same value."""
    F = np.random.default_rng(0).standard_normal((4, 4))
    point = regularizer.at_gradient(library.array(F))
    factor = library.numpy(point.factor)
    assert np.allclose(factor @ factor.T, F @ F.T)
    x, U = np.linalg.eigh(F @ F.T)
    Y = U @ np.diag(regularizer.derivative(x)) @ U.T
    same = regularizer.at(library.array(Y))
    assert point.value == pytest.approx(same.value, rel=1e-9)
    assert point.potential == pytest.approx(np.sum(regularizer.value(x)), rel=1e-9)


@pytest.mark.parametrize("loss", BOUNDED_LOSSES, ids=name_of)
@EACH_REGULARIZER
def test_every_loss_is_solved(regularizer, loss) -> None:
    """Kinks, hard bounds, targets, losses that are infinite for some t: the optimum of another solver."""
    rng = np.random.default_rng(0)
    P = rng.standard_normal((12, 3))
    i, j = rng.integers(0, 12, (2, 9))
    keep = i != j
    problem = Problem(
        regularizer, np.eye(3), [Term(SquaredDistances(i[keep][:4], j[keep][:4], points=P), loss)]
    )
    inside, other = solve(problem, "interior_point"), solve(problem, "working_set")
    assert inside.status is other.status is Status.OPTIMAL
    assert inside.primal == pytest.approx(other.primal, rel=4e-6, abs=1e-9)


@pytest.mark.parametrize("apart", [1.0, 1e-2, 1e-4])
def test_contradictions_are_proven(apart: float) -> None:
    terms = [Term(Trace(), Hard(upper=1.0)), Term(Trace(), Hard(lower=1.0 + apart))]
    solution = solve(Problem(LogDet(), np.eye(3), terms), "interior_point")
    assert solution.status is Status.INFEASIBLE
    assert len(solution.conflict) == 2


@pytest.mark.parametrize("price", [1e2, 1e4, 1e6, 1e8, 1e10])
def test_large_prices_converge(price: float) -> None:
    """As the price grows the answer tends to one that does not depend on it, and the steps do not grow."""
    rng = np.random.default_rng(0)
    P = rng.standard_normal((30, 4))
    i, j = rng.integers(0, 15, 100), rng.integers(15, 30, 100)
    far = SquaredDistances(i[:50], j[:50], points=P)
    near = SquaredDistances(i[50:], j[50:], points=P)
    terms = [Term(far, LogDetSlack(price, lower=20.0)), Term(near, LogDetSlack(price, upper=2.0))]
    solution = solve(Problem(LogDet(), np.eye(4), terms))
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 100


@EACH_REGULARIZER
def test_empty_constraints_change_nothing(regularizer: Regularizer) -> None:
    """A comparison of a point with itself is 0 >= 0: it holds at any price, and has none."""
    rng = np.random.default_rng(3)
    P = rng.standard_normal((12, 4))
    i, j, k = rng.integers(0, 12, (3, 60))
    told = j != k
    near, far = ((P[i] - P[other]) ** 2 @ np.array([0.5, 1.0, 2.0, 3.0]) for other in (j, k))

    def solved(rows: np.ndarray) -> Solution:
        constraints = DistanceComparisons(i[rows], j[rows], k[rows], points=P)
        term = Term(constraints, Hard(lower=(near - far - 0.1 * told)[rows]))  # this X keeps them
        return solve(Problem(regularizer, np.eye(4), [term]), solver="interior_point")

    every, telling = solved(j >= 0), solved(told)
    assert not told.all()
    assert every.status is telling.status is Status.OPTIMAL
    assert every.primal == pytest.approx(telling.primal, rel=3e-6)
    assert np.all(every.duals[0][~told] == 0)


@EACH_REGULARIZER
@pytest.mark.parametrize("gamma", [1e-7, 1e-4, 1e3])
@pytest.mark.parametrize("loss", [KLSlack, LogDetSlack])
def test_slack_losses_of_any_weight_are_solved(
    regularizer: Regularizer, gamma: float, loss: type[KLSlack | LogDetSlack]
) -> None:
    """An exponential or a pole of the price, at strengths where loss* overflows next to the optimum."""
    rng = np.random.default_rng(4)
    P = rng.standard_normal((12, 4))
    i, j = rng.integers(0, 6, 30), rng.integers(6, 12, 30)
    terms = [
        Term(SquaredDistances(i[:15], j[:15], points=P), loss(gamma, upper=2.0)),
        Term(SquaredDistances(i[15:], j[15:], points=P), loss(gamma, lower=9.0)),
        Term(Trace(), Hinge(1.0, lower=5.0)),
    ]
    problem = Problem(regularizer, np.eye(4), terms)
    solution = solve(problem, solver="interior_point", tol=1e-8)
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 40
    assert solution.primal == pytest.approx(solve(problem, tol=1e-8).primal, rel=3e-8)


@EACH_REGULARIZER
def test_contradictions_among_soft_constraints_are_proven(regularizer: Regularizer) -> None:
    """The prices of two bounds grow without end, those of the others do not: the proof is of the two."""
    rng = np.random.default_rng(5)
    P = rng.standard_normal((12, 4))
    i, j = rng.integers(0, 6, 30), rng.integers(6, 12, 30)
    terms = [
        Term(SquaredDistances(i, j, points=P), KLSlack(7e3, lower=4.0)),
        Term(Similarities(i, j, points=P), LogDetSlack(1e4, equal=1.0)),
        Term(Trace(), Hard(upper=18.9337)),
        Term(Trace(), Hard(lower=18.9339)),
    ]
    solution = solve(Problem(regularizer, np.eye(4), terms), solver="interior_point")
    assert solution.status is Status.INFEASIBLE
    assert len(solution.conflict) == 2


@EACH_REGULARIZER
def test_it_starts_next_to_an_optimum_of_almost_zero_cost(regularizer: Regularizer) -> None:
    """The prior costs nothing and violates one bound by a ten-thousandth."""
    terms = [Term(DiagonalEntries([0]), Hard(lower=1.0001)), Term(Trace(), Hinge(upper=5.0))]
    solution = solve(Problem(regularizer, np.eye(3), terms), solver="interior_point")
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 20
    np.testing.assert_allclose(solution.matrix, np.diag([1.0001, 1.0, 1.0]), rtol=0, atol=1e-6)


def test_it_needs_no_dual_point_to_start_from() -> None:
    """A reward that only prices of bounds outweigh: X(lam) exists far out, where X is next to nothing."""
    P = np.diag([1.0, 2.0, 3.0, 4.0])
    terms = [
        Term(Trace(), Linear(-1e6)),
        Term(SquaredDistances([0, 1, 2, 0], [1, 2, 3, 3], points=P), Hard(upper=5.0)),
        Term(Trace(), Hard(upper=7.0)),
    ]
    problem = Problem(LogDet(), np.eye(4), terms)
    solution = solve(problem, solver="interior_point")
    assert solution.status is Status.OPTIMAL
    assert solution.iterations < 30
    assert np.trace(solution.matrix) == pytest.approx(
        7.0, rel=1e-5
    )  # the reward is all that counts


@pytest.mark.parametrize("mu", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("loss", BOUNDED_LOSSES, ids=name_of)
def test_prices_are_finite_at_any_mu(loss, mu: float) -> None:
    t = np.array([-3.0, 0.0, 1e-9, 0.5, 1.2, 1e9])
    part = Part(DirectionMap(np.ones((6, 1)), (1.0,)), loss.prepare(6, t), 0.0)
    with np.errstate(all="ignore"):  # as in a solve
        lam = central_prices(part, t, mu)
    lo, hi = part.loss.box(t, 6)
    assert np.all(np.isfinite(lam) & (lo <= lam) & (lam <= hi))
