"""Scans in single precision decide nothing wrongly: large offsets, odd scales, parts that vanish."""

import numpy as np
import pytest
from gramlearn.constraints import Similarities, SquaredDistances, Trace
from gramlearn.losses import Hinge, KLSlack, Linear, Square, SquaredHinge

from gramlearn import Frobenius, LogDet, Problem, Status, Term, solve
from gramlearn._base import arrays
from gramlearn.problem.linear_maps import Direction, PointMap
from gramlearn.problem.scan import NEARNESS, scan, widest
from gramlearn.solvers import InteriorPoint, PrimalNewton

rng = np.random.default_rng(0)
P = rng.standard_normal((60, 5))
FIRST, SECOND = rng.integers(0, 30, 900), rng.integers(30, 60, 900)


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("working_set", Hinge(0.01)),
        (InteriorPoint(first=10), Hinge(0.01)),
        ("working_set", SquaredHinge(0.01)),
        (PrimalNewton(first=10), SquaredHinge(0.01)),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, -1e9])
def test_an_offset_moves_the_bound_and_nothing_else(solver, loss, offset: float) -> None:
    """t and the bound move by the same number; in double that costs digits, in single all of them."""

    def problem(offset: float) -> Problem:
        bounded = type(loss)(loss.C, upper=offset + 8.0)
        pairs = SquaredDistances(FIRST, SECOND, points=P, offset=offset)
        return Problem(LogDet(), np.eye(5), [Term(pairs, bounded)])

    plain = solve(problem(0.0), tol=1e-9)
    moved = solve(problem(offset), solver, tol=1e-5)
    assert moved.status is Status.OPTIMAL
    assert moved.primal == pytest.approx(plain.primal, rel=2e-5)
    assert np.allclose(moved.matrix, plain.matrix, atol=0.02)


def test_bounds_hold_whatever_the_scale_of_the_columns() -> None:
    """Features of size 1e-8 and 1e8, in a frame that makes up for it."""
    points = rng.standard_normal((100, 2)) * [1e-8, 1e8]
    F = np.diag([1e8, 1e-8])
    pairs = PointMap((np.arange(50), np.arange(50) + 50), (Direction(1.0, 0, -1, 1),), points)
    low, high = pairs.estimates(F, {}).bounds(0.0)
    exact = np.sum(((points[:50] - points[50:]) @ F) ** 2, axis=1)
    assert np.all((low <= exact) & (exact <= high))
    # And one that is nothing beside the other is left out, within the bounds.
    F = np.diag([1e8, 1e-28])
    low, high = pairs.estimates(F, {}).bounds(0.0)
    exact = np.sum(((points[:50] - points[50:]) @ F) ** 2, axis=1)
    assert np.all((low <= exact) & (exact <= high))


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_the_error_of_a_scan_of_few_columns_is_bounded(weight: float) -> None:
    """X of two large eigenvalues and many small ones: the others are not looked at, within the bounds."""
    draw = np.random.default_rng(3)
    points, spectrum = draw.standard_normal((4000, 30)), np.full(30, 1e-6)
    spectrum[:2] = 1.0
    F = np.linalg.qr(draw.standard_normal((30, 30)))[0] * np.sqrt(spectrum)
    i, j = draw.integers(0, 4000, 9000), draw.integers(0, 4000, 9000)
    pairs = PointMap((i, j), (Direction(weight, 0, -1, 1),), points)
    products: dict = {}
    low, high = pairs.estimates(F, products).bounds(0.0)
    exact = weight * np.sum(((points[i] - points[j]) @ F) ** 2, axis=1)
    assert np.all((low <= exact) & (exact <= high))
    assert np.all(high - low <= 2e-3 * weight)
    ((scanned, *_),) = products.values()
    assert scanned.shape == (4000, 2)


@pytest.mark.parametrize("seed", [0, 19, 30, 54])
def test_hinges_do_not_get_stuck_at_X_zero(seed: int) -> None:
    """At X = 0 nothing is promised to first order, for Frobenius; these seeds lead there."""
    draw = np.random.default_rng(seed)
    points = draw.standard_normal((200, 5)) / 5**0.5 * 1.5
    i, j = draw.integers(0, 100, 900), draw.integers(100, 200, 900)
    terms = [
        Term(SquaredDistances(i[:450], j[:450], points=points), Hinge(0.1, upper=2.0)),
        Term(SquaredDistances(i[450:], j[450:], points=points), Hinge(0.1, lower=4.0)),
    ]
    problem = Problem(Frobenius(), np.eye(5), terms)
    one, two = solve(problem, "interior_point"), solve(problem, "working_set")
    assert one.status is Status.OPTIMAL
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-9 * one.primal


def test_a_part_that_vanishes_from_the_working_set() -> None:
    points = np.random.default_rng(0).standard_normal((300, 5))
    draw = np.random.default_rng(1)
    i, j = draw.integers(0, 150, 6000), draw.integers(150, 300, 6000)
    terms = [
        Term(SquaredDistances(i, j, points=points), Hinge(1.0, upper=1e4)),
        Term(SquaredDistances(i[:900], j[:900], points=points), Hinge(0.01, upper=2.0)),
    ]
    assert solve(Problem(LogDet(), np.eye(5), terms)).status is Status.OPTIMAL


def test_a_term_without_constraints_beside_others() -> None:
    none = np.zeros(0, dtype=int)
    for loss in (SquaredHinge(upper=1.0), Hinge(upper=1.0)):
        empty = SquaredDistances(none, none, points=P, offset=np.zeros(0))
        terms = [
            Term(empty, loss),
            Term(SquaredDistances(FIRST, SECOND, points=P), type(loss)(0.1, upper=4.0)),
        ]
        assert solve(Problem(LogDet(), np.eye(5), terms)).status is Status.OPTIMAL


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_same_constraint_three_times_in_single_precision() -> None:
    pairs = SquaredDistances([0, 0, 1, 0], [1, 1, 2, 1], points=P[:5])
    term = Term(pairs, Square(1e9, equal=3.0))
    solution = solve(Problem(LogDet(), np.eye(5), [term], dtype="float32"), "working_set")
    assert solution.relative_gap < 1e-2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_t_just_outside_its_domain_is_a_violation() -> None:
    points = np.array([[1.0, 1.0], [1.0, -1.0 - 1e-9]])
    term = Term(Similarities([0], [1], points=points), KLSlack(1.0, lower=1e-3))
    solution = solve(Problem(LogDet(), np.eye(2), [term]), "working_set", max_iter=0)
    assert solution.violation > 0


def test_linear_terms_beside_a_hinge_start_elsewhere() -> None:
    """A reward that LogDet alone does not hold: the dual has to find its domain first."""
    terms = [Term(Trace(), Linear(-2.0)), *(Term(Trace(), Hinge(5.0, upper=b)) for b in (3.0, 4.0))]
    assert solve(Problem(LogDet(), np.eye(1), terms)).status is Status.OPTIMAL


def test_a_point_outside_every_sample_keeps_its_bounds() -> None:
    for seed in range(50):
        draw = np.random.default_rng(seed)
        points = np.zeros((3000, 2))
        points[::3, 0] = draw.standard_normal(1000)
        points[1] = [0.0, draw.uniform(1, 2)]
        points[2] = -points[1]
        i, j = np.r_[1, np.arange(2997)], np.r_[2, np.arange(3, 3000)]
        low, high = (
            PointMap((i, j), (Direction(1.0, 0, -1, 1),), points).estimates(np.eye(2), {}).bounds(0)
        )
        exact = np.sum((points[i] - points[j]) ** 2, axis=1)
        assert np.all((low <= exact) & (exact <= high))


def test_moving_all_points_changes_no_difference() -> None:
    draw = np.random.default_rng(0)
    points = draw.standard_normal((500, 3))
    i, j = draw.integers(0, 500, 2000), draw.integers(0, 500, 2000)
    for shift in (0.0, 1e3, 1e6):
        moved = PointMap((i, j), (Direction(1.0, 0, -1, 1),), points + shift)
        low, high = moved.estimates(np.eye(3), {}).bounds(0.0)
        exact = np.sum((moved.points[i] - moved.points[j]) ** 2, axis=1)
        assert np.all((low <= exact) & (exact <= high))
        assert np.all(high - low <= 1e-3)


@pytest.mark.parametrize("chunk", [1, 5000, 1 << 30])
def test_nearness_is_the_smallest_margin_within_which_a_constraint_may_cost(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One constraint at a time, a few, or all at once."""
    monkeypatch.setattr(arrays, "_CHUNK_BYTES_HOST", chunk)
    at = LogDet().at_gradient(np.diag([1.0, 2.0, 0.5, 1.0, 0.1]))
    pairs = SquaredDistances(FIRST[:500], SECOND[:500])

    def look(upper):
        part = Problem(LogDet(), P, [Term(pairs, Hinge(1.0, upper=upper))]).dual.parts[0]
        return scan(part, at, {}, exact=True)

    room = np.random.default_rng(0).uniform(-0.02, 0.15, 500)
    scanned = look(look(1.0).bounds(slice(None))[0] * (1 + room))
    expected = np.searchsorted(NEARNESS, room)
    near = np.flatnonzero(expected < len(NEARNESS))
    rows, level = scanned.nearness()
    assert set(level.tolist()) == set(range(len(NEARNESS)))
    assert rows.tolist() == near.tolist()
    assert level.tolist() == expected[near].tolist()
    assert scanned.undecided().tolist() == np.flatnonzero(room < 0).tolist()
    assert scanned.undecided(0.1).tolist() == near.tolist()


def test_a_stride_and_a_given_interval_bound_what_they_are_about() -> None:
    """Of every third constraint; or of all, from their values at another X and the eigenvalues between."""
    at = LogDet().at_gradient(np.diag([1.0, 2.0, 0.5, 1.0, 0.1]))
    later = LogDet().at_gradient(np.diag([1.1, 1.9, 0.51, 1.0, 0.1]))
    offset, bounds = rng.standard_normal(FIRST.size), np.full(FIRST.size, 1e4)
    pairs = SquaredDistances(FIRST, SECOND, points=P, offset=offset)
    problem = Problem(LogDet(), np.eye(5), [Term(pairs, Hinge(1.0, upper=bounds))])
    part = problem.dual.parts[0]

    def exact(factor):
        return offset + np.sum(((P[FIRST] - P[SECOND]) @ factor) ** 2, axis=1)

    first = scan(part, at, {})
    known = scan(part, later, {}, known=first.reference)
    assert known.reference is first.reference
    assert known.interval != (1.0, 1.0)
    some = scan(part, later, {}, stride=3)
    for scanned, expected in (
        (first, exact(at.factor)),
        (known, exact(later.factor)),
        (some, exact(later.factor)[::3]),
    ):
        low, high = scanned.bounds(slice(0, len(expected)))
        assert np.all((low <= expected) & (expected <= high))
        part_of = slice(7, 19)
        np.testing.assert_array_equal(scanned.bounds(part_of), (low[part_of], high[part_of]))


@pytest.mark.parametrize(
    ("counts", "first", "level"),
    [([0, 5, 9, 20, 30], 10, 2), ([5, 6, 7, 20, 90], 10, 3), ([9, 99, 99, 99, 99], 0, 0)],
)
def test_more_are_kept_near_where_these_are_few(counts, first: int, level: int) -> None:
    assert widest(counts, first) == level
