"""Newton on X along its path: ramps and barrier by their definitions, answers against other solvers."""

from dataclasses import replace

import numpy as np
import pytest
from gramlearn.constraints import DistanceComparisons, SquaredDistances
from gramlearn.losses import Hinge, KLSlack, LogDetSlack, SquaredHinge
from sklearn.datasets import load_wine

import gramlearn.solvers.primal_newton.direction as direction
from catalogue import REGULARIZERS, name_of
from conftest import Library
from gramlearn import Frobenius, LogDet, Problem, Status, Term, VonNeumann, solve
from gramlearn._base.matrices import symmetric_part
from gramlearn.problem.dual import Dual
from gramlearn.problem.losses import Loss
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.ramps import can_be_smoothed, smoothed
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers import PrimalNewton
from gramlearn.solvers.primal_newton.barrier import BarrierPoint

HINGES = [Hinge(2.0, upper=1.5), Hinge(0.5, lower=0.7), Hinge(1.0, equal=1.2)]


def dual_of(loss: Loss, library: Library) -> Dual:
    pairs = SquaredDistances([0, 1, 2, 0], [1, 2, 3, 3])
    return Problem(LogDet(), library.array(np.eye(4)), [Term(pairs, loss)]).dual


@pytest.mark.parametrize("loss", HINGES, ids=name_of)
def test_a_ramp_is_the_largest_of_its_lines(loss: Hinge, library: Library) -> None:
    """loss(t) = max over lam of lam t - loss*(lam), on a grid; its price attains it, and is its slope."""
    dual = dual_of(loss, library)
    lo, hi = (library.numpy(end)[0] for end in dual.box)
    centers = [library.array(np.linspace(lo, hi, 4))]
    ramp = smoothed(dual, 0.3, centers).parts[0].loss
    grid = np.linspace(lo, hi, 1001)  # a step h of it costs h^2 / (8 slope), below 1e-6
    t = np.array([-0.5, 1.13, 1.31, 2.9])  # none at the end of a ramp
    conjugate = np.stack(
        [library.numpy(ramp.conjugate(library.array(np.full(4, lam)))) for lam in grid]
    )
    largest = np.max(grid[:, None] * t - conjugate, axis=0)
    value = library.numpy(ramp.value(library.array(t)))
    np.testing.assert_allclose(value, largest, atol=1e-5)
    price = library.numpy(ramp.price(library.array(t)))
    touching = library.numpy(ramp.fenchel_young(library.array(t), library.array(price)))
    np.testing.assert_allclose(touching, 0, atol=1e-12)
    step = 1e-6
    rise = [library.numpy(ramp.value(library.array(t + sign * step))) for sign in (1, -1)]
    np.testing.assert_allclose(price, (rise[0] - rise[1]) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("loss", HINGES, ids=name_of)
def test_a_ramp_through_the_price_at_the_bound_leaves_it_there(
    loss: Hinge, library: Library
) -> None:
    """At the optimum t = b, and the price there is the center, however wide the ramp is."""
    dual = dual_of(loss, library)
    lo, hi = (library.numpy(end)[0] for end in dual.box)
    center = np.linspace(lo, hi, 4)
    bound = library.array(np.full(4, float(loss.bound)))
    for width in (1e-6, 0.1, 1e6):
        ramp = smoothed(dual, width, [library.array(center)]).parts[0].loss
        np.testing.assert_allclose(library.numpy(ramp.price(bound)), center, atol=1e-12)


def test_only_kinks_of_finite_price_are_smoothed() -> None:
    like = np.ones(3)
    for loss, expected in ((Hinge(upper=1.0), True), (SquaredHinge(upper=1.0), False)):
        (part,) = dual_of(loss, Library("numpy")).parts
        assert can_be_smoothed(part, like) is expected


def pairs_of_points(rank: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points of three classes, of which only a few directions tell, and pairs of them, half alike."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 400)
    P = rng.standard_normal((400, rank)) * np.geomspace(1, 0.1, rank)
    P[:, -3:] += 0.5 * np.eye(3)[y]
    i, j = rng.integers(0, 400, (2, 8 * size))
    keep = i != j
    i, j = i[keep], j[keep]
    alike = np.flatnonzero(y[i] == y[j])[: size // 2]
    unlike = np.flatnonzero(y[i] != y[j])[: size - size // 2]
    return P, np.concatenate([i[alike], i[unlike]]), np.concatenate([j[alike], j[unlike]]), y


def problem_of(
    regularizer: Regularizer,
    loss: type[Loss],
    C: float,
    rank: int = 8,
    prior: np.ndarray | None = None,
    unit: float = 1.0,
) -> Problem:
    """Alike pairs are to come near, and others to stay far; the points are in this unit."""
    P, i, j, _ = pairs_of_points(rank, 600)
    P = P * unit
    squared = np.sum((P[i] - P[j]) ** 2, axis=1)
    low, high = np.percentile(squared, [10, 90])
    near, far = slice(0, 300), slice(300, 600)
    terms = [
        Term(SquaredDistances(i[near], j[near], points=P), loss(C, upper=low)),
        Term(SquaredDistances(i[far], j[far], points=P), loss(C, lower=high)),
    ]
    return Problem(regularizer, np.eye(rank) if prior is None else prior, terms)


def point_at(regularizer: Regularizer, F: np.ndarray) -> BarrierPoint:
    """X = F F', with a barrier."""
    dual = problem_of(regularizer, SquaredHinge, 1.0, len(F)).dual
    return BarrierPoint(PrimalPoint.of(dual, regularizer.at_gradient(F)), 0.1, np.ones(len(F)))


def matrix_of(point: BarrierPoint) -> np.ndarray:
    F = point.primal.at.factor
    return F @ F.T


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_a_ray_begins_with_the_direction_and_stays_inside_the_cone(
    regularizer: Regularizer,
) -> None:
    rng = np.random.default_rng(0)
    point = point_at(regularizer, rng.standard_normal((5, 5)))
    Q, X = point.primal.at.frame, matrix_of(point)
    S = symmetric_part(rng.standard_normal((5, 5)))
    ray = point.along(S)
    step = matrix_of(ray.at(1e-6)) - X
    np.testing.assert_allclose(step, 1e-6 * Q @ S @ Q.T, atol=1e-13 * np.abs(X).max())
    for size in (1.0, 10.0, 1e3):
        far = ray.at(size)
        assert np.linalg.svd(far.primal.at.factor)[1][-1] > 0
        assert far.is_finite


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_a_thick_direction_turns_toward_a_thin_one_as_far_as_asked(
    regularizer: Regularizer,
) -> None:
    """Only the thin direction becomes thicker, by what X needs to stay positive definite."""
    x, angle = np.array([2.0, 1.0, 1e-8, 1e-9]), 0.1
    point = point_at(regularizer, np.diag(np.sqrt(x)))
    Q = point.primal.at.frame
    turn = np.zeros((4, 4))
    turn[0, 2] = turn[2, 0] = angle
    # dX is in the frame, which for LogDet is no orthogonal one.
    dX = np.linalg.solve(Q, np.linalg.solve(Q, turn).T)
    X = matrix_of(point.along(dX).at(1.0))
    thicker = np.zeros((4, 4))
    thicker[2, 2] = angle**2 / x[0]
    np.testing.assert_allclose(X, np.diag(x) + turn + thicker, rtol=1e-9, atol=1e-15)


def raw_wine(regularizer: Regularizer, loss: type[Loss], C: float, every: int) -> Problem:
    """Wines in raw units, with one in so many of their pairs."""
    P, y = load_wine(return_X_y=True)
    i, j = np.triu_indices(len(P), 1)
    i, j = i[::every], j[::every]
    alike = y[i] == y[j]
    low, high = np.percentile(np.sum((P[i] - P[j]) ** 2, axis=1), [5, 95])
    terms = [
        Term(SquaredDistances(i[alike], j[alike], points=P), loss(C, upper=low)),
        Term(SquaredDistances(i[~alike], j[~alike], points=P), loss(C, lower=high)),
    ]
    return Problem(regularizer, np.eye(13), terms)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize(
    ("regularizer", "loss"),
    [(LogDet(), LogDetSlack), (VonNeumann(), KLSlack), (Frobenius(), SquaredHinge)],
)
def test_it_arrives_where_features_differ_a_thousandfold(
    regularizer: Regularizer, loss: type[Loss], C: float
) -> None:
    solution = solve(raw_wine(regularizer, loss, C, 10), "primal_newton")
    assert solution.status is Status.OPTIMAL


def test_auto_tries_interior_points_soon_where_these_are_cheap() -> None:
    """Raw features of wine, on which steps on X take hundreds with a hinge, and interior points thirty."""
    solution = solve(raw_wine(LogDet(), Hinge, 10.0, 16))
    assert solution.status is Status.OPTIMAL
    assert solution.iterations <= 90


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the other solver
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("loss", [Hinge, SquaredHinge, KLSlack, LogDetSlack])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_it_arrives_at_every_price(regularizer: Regularizer, loss: type[Loss], C: float) -> None:
    """And what another solver proves of the optimum, as far as it comes, holds for this answer too."""
    problem = problem_of(regularizer, loss, C)
    one = solve(problem, PrimalNewton(first=50, sample=150))
    two = solve(problem, "interior_point")
    assert one.status is Status.OPTIMAL
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the other solver
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("loss", [Hinge, SquaredHinge, LogDetSlack])
@pytest.mark.parametrize("regularizer", [r for r in REGULARIZERS if not r.keeps_range], ids=name_of)
def test_the_prior_may_be_zero_in_some_or_all_directions(
    regularizer: Regularizer, loss: type[Loss], unit: float
) -> None:
    """Whatever unit the points are in: a prior of zeros does not say how large X is to be."""
    V, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((8, 3)))
    for prior in (np.zeros((8, 8)), V @ V.T):
        problem = problem_of(regularizer, loss, 1.0, prior=prior, unit=unit)
        one, two = solve(problem, "primal_newton"), solve(problem, "interior_point")
        assert one.status is Status.OPTIMAL
        assert max(one.dual, two.dual) <= min(one.primal, two.primal) * (1 + 1e-9)


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_it_goes_on_from_the_answer_of_another_price(regularizer: Regularizer) -> None:
    for loss in (Hinge, SquaredHinge):
        problem, cheaper = (problem_of(regularizer, loss, C) for C in (0.2, 0.1))
        cold = solve(problem, "primal_newton")
        warm = solve(problem, "primal_newton", start=solve(cheaper, "primal_newton"))
        again = solve(problem, "primal_newton", start=cold)
        assert warm.status is again.status is Status.OPTIMAL
        assert abs(warm.primal - cold.primal) <= 2e-6 * abs(cold.primal)
        assert again.iterations <= warm.iterations
        assert again.iterations <= cold.iterations


@pytest.mark.parametrize("loss", [Hinge, SquaredHinge])
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_an_optimal_start_is_certified_at_once(regularizer: Regularizer, loss: type[Loss]) -> None:
    problem = problem_of(regularizer, loss, 10.0)
    cold = solve(problem, "primal_newton")
    again = solve(problem, "primal_newton", start=cold)
    assert again.status is Status.OPTIMAL
    assert again.iterations == 0
    assert again.primal == pytest.approx(cold.primal, rel=2e-6)


@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
@pytest.mark.parametrize("C", [0.1, 1000.0])
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_a_start_that_is_far_off_costs_a_step(
    regularizer: Regularizer, C: float, loss: type[Loss]
) -> None:
    """Duals or an X of another size are left for the prior, at the latest when a step was tried."""
    problem = problem_of(regularizer, loss, C)
    cold = solve(problem, "primal_newton")
    for factor in (1e-8, 0.1, 1e3, 1e30):
        duals = [factor * lam for lam in cold.duals]
        for start in (duals, replace(cold, duals=duals, factor=cold.factor * factor**0.5)):
            found = solve(problem, "primal_newton", start=start)
            assert found.status is Status.OPTIMAL
            assert found.iterations <= cold.iterations + 1


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann()], ids=name_of)
@pytest.mark.parametrize("rank", [1, 2])
def test_a_stage_that_is_solved_to_the_last_digit_is_not_the_end(
    rank: int, regularizer: Regularizer, C: float
) -> None:
    """Newton may find the optimum of a stage to the last digit while its barrier is still strong."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        P = 100 * rng.standard_normal((30, rank))
        i, j = rng.integers(30, size=(2, 74))
        j = (i + 1 + j % 29) % 30
        low, high = np.percentile(np.sum((P[i] - P[j]) ** 2, axis=1), [10, 90])
        near = Term(SquaredDistances(i[:37], j[:37], points=P), SquaredHinge(C, upper=low))
        far = Term(SquaredDistances(i[37:], j[37:], points=P), SquaredHinge(C, lower=high))
        problem = Problem(regularizer, 0.2 * np.eye(rank), [near, far])
        assert solve(problem, "primal_newton").status is Status.OPTIMAL


@pytest.mark.parametrize("nu", [1e-4, 1e-3])
def test_what_the_barrier_holds_up_falls_with_it(nu: float) -> None:
    """Along thin directions the optimum is x = nu / z, however much weaker the barrier became."""
    z, held = np.array([0.5, 3.0, 7.0, 50.0]), 1e-2
    x = (
        np.array([2.0, 1.0, 0.7, 1.0]) * held / z
    )  # where the former barrier left it, some a little off
    point = replace(point_at(Frobenius(), np.diag(np.sqrt(x))), nu=nu, held=held)
    # A slope of z and no curvature beside that of the barrier.
    vars(point)["residual"] = np.diag(z - nu / x)
    X = matrix_of(point.along(np.diag((nu / x - z) * x**2 / held)).at(1.0))
    np.testing.assert_allclose(np.diag(X), nu / z, rtol=0.02)


def test_remembered_systems_are_solved_with_fewer_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In single and in double precision; to the same optimum."""
    problem = problem_of(Frobenius(), SquaredHinge, 100.0, rank=20)
    calls: list[str] = []
    product = direction._System.product

    def counted(system: direction._System, S: np.ndarray) -> np.ndarray:
        calls.append(kind)
        return product(system, S)

    monkeypatch.setattr(direction._System, "product", counted)
    monkeypatch.setattr(direction, "_DIRECT_PRODUCTS", 0)
    monkeypatch.setattr(direction, "_DIRECT_ROWS", 0)
    for kind, rows, single in (("none", 1e9, 1e-3), ("single", 1, 1e-3), ("double", 1, 1.0)):  # noqa: B007
        monkeypatch.setattr(direction, "_MANY_ROWS", rows)
        monkeypatch.setattr(direction, "_SINGLE_ACCURACY", single)
        assert solve(problem, "primal_newton").status is Status.OPTIMAL
    assert calls.count("single") < 0.9 * calls.count("none")
    assert calls.count("double") < 0.9 * calls.count("none")


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_large_prices_of_hinges_take_few_steps(regularizer: Regularizer) -> None:
    """X is good enough long before its own prices prove it, since those of a few kinks leap with every step."""
    solution = solve(problem_of(regularizer, Hinge, 1e3, rank=14), "primal_newton")
    assert solution.status is Status.OPTIMAL
    assert solution.iterations <= 60


def test_comparisons_are_solved_too() -> None:
    P, i, j, y = pairs_of_points(8, 600)
    near = np.argsort(np.sum((P[i][:, None] - P[None]) ** 2, axis=2), axis=1)[:, 1]
    keep = (y[i] == y[j]) & (y[near] != y[i]) & (near != i)
    triplets = DistanceComparisons(i[keep], j[keep], near[keep], points=P)
    for loss in (Hinge(1.0, upper=-0.1), SquaredHinge(1e3, upper=-0.1)):
        problem = Problem(LogDet(), np.eye(8), [Term(triplets, loss)])
        assert PrimalNewton().objection(problem) is None
        one, two = solve(problem, "primal_newton"), solve(problem, "working_set")
        assert one.status is Status.OPTIMAL
        assert one.dual <= two.primal * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_continued_solve_never_gives_a_worse_answer() -> None:
    """However few steps it may take: the answer it was given is still there."""
    for regularizer in (LogDet(), VonNeumann(), Frobenius()):
        for loss in (Hinge, SquaredHinge, LogDetSlack):
            problem = problem_of(regularizer, loss, 1.0)
            for before in (3, 8):
                rough = solve(problem, "primal_newton", max_iter=before)
                if rough.status is Status.OPTIMAL:
                    continue
                for more in (0, 1, 3):
                    further = solve(problem, "primal_newton", start=rough, max_iter=more)
                    assert further.gap <= rough.gap * (1 + 1e-6)
