"""A loss and its conjugate are conjugate to each other, on the box and nowhere else."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import BOUNDED_LOSS_TYPES, BOUNDED_LOSSES, LOSSES, name_of
from gramlearn import LogDet, Problem, Term
from gramlearn.problem.constraints import SquaredDistances
from gramlearn.problem.losses import Hard, Hinge, KLSlack, LogDetSlack, Square, SquaredHinge

EPS = np.finfo(np.float64).eps
# The noise floor of a central difference with the step EPS^(1/3); see test_regularizers.py.
STEP, FLOOR = EPS ** (1 / 3), EPS ** (2 / 3)
KINDS = ["upper", "lower", "equal"]

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=name_of)
every_bounded_loss = pytest.mark.parametrize("loss", BOUNDED_LOSSES, ids=name_of)
every_bounded_type = pytest.mark.parametrize("cls", BOUNDED_LOSS_TYPES, ids=name_of)
times = st.floats(-3, 2).map(lambda e: 10.0**e)
prices = st.floats(-5, 5)


def at(x):
    return np.asarray([x])


def box_of(loss):
    lo, hi = loss.box(at(0.0), 1)
    return lo[0], hi[0]


def inside(loss, lam, margin=0.0):
    """Bring lam into the box, a part `margin` of its width away from the ends."""
    lo, hi = box_of(loss)
    hi = np.nextafter(hi, lo) if loss.has_open_end else hi
    if not loss.is_fixed:
        width = min(hi - lo, 1.0)
        lo, hi = lo + margin * width, hi - margin * width
    return at(np.clip(lam, lo, hi))


@every_loss
def test_a_pool_knows_whether_a_loss_is_ever_negative(loss):
    points = np.eye(4)
    problem = Problem(LogDet(), points, [Term(SquaredDistances([0, 1], [2, 3]), loss)])
    t = np.linspace(-10, 10, 1001)
    low, high = loss.domain()
    inside = t[(t > (-np.inf if low is None else low)) & (t < (np.inf if high is None else high))]
    assert problem.pool.is_never_negative is bool(np.all(loss.value(inside) >= 0))


def forms(cls, bound, **parameters):
    """Give the two one-sided forms and the two-sided one, for a class that has them."""
    two_sided = Square if cls is SquaredHinge else cls
    classes = {"upper": cls, "lower": cls, "equal": two_sided}
    return {kind: classes[kind](**{kind: bound}, **parameters) for kind in KINDS}


def test_a_loss_without_a_derivative_says_so():
    with pytest.raises(NotImplementedError, match="Hinge has no derivative"):
        Hinge(upper=1.0).price(at(2.0))


@every_bounded_loss
def test_losses_of_some_constraints_are_followed_by_those_of_others(loss, library):
    size, like = 7, library.array([])
    numbers = np.linspace(1.0, 2.0, size)
    kind = next(kind for kind in KINDS if getattr(loss, kind) is not None)
    given = {kind: numbers, "weight": library.array(numbers)}
    for some in ({}, {kind: numbers}, given):
        every = dataclasses.replace(loss, **some).prepare(size, like)
        parts = [every.take(rows) for rows in (slice(0, 3), slice(3, 3), slice(3, size))]
        joined, t = parts[0].followed_by(parts[1:]), library.array(numbers[::-1])
        assert library.numpy(joined.value(t)).tolist() == library.numpy(every.value(t)).tolist()


@every_loss
@given(t=times)
def test_the_price_of_t_is_where_fenchel_young_is_tight(loss, t):
    if not loss.is_smooth:
        return
    lam = loss.price(at(t))
    size = loss.value(at(t)) + np.abs(loss.conjugate(lam)) + np.abs(lam * t)
    assert loss.fenchel_young(at(t), lam)[0] <= 32 * EPS * size[0]
    lo, hi = box_of(loss)
    assert lo <= lam[0] <= hi
    # The right side of a bound has the price 0 of a whole half-line; on the wrong one, prices tell t.
    if not loss.is_slack(at(t), at(t))[0]:
        again = loss.conjugate_derivative(lam)[0]
        spread = loss.conjugate_second(lam)[0] * (abs(lam[0]) + 1e-3)
        assert again == pytest.approx(t, rel=1e-12, abs=8 * EPS * spread)


# -- conjugacy -------------------------------------------------------------------------------------


@every_loss
@given(t=times, lam=prices)
def test_fenchel_young(loss, t, lam):
    value, conjugate = loss.value(at(t))[0], loss.conjugate(at(lam))[0]
    size = value + abs(conjugate) + abs(lam * t)
    assert size == np.inf or loss.fenchel_young(at(t), at(lam))[0] >= -8 * EPS * size


@every_loss
@given(lam=prices)
def test_fenchel_young_is_an_equality_at_the_price(loss, lam):
    lam = inside(loss, lam, margin=1e-6)
    t = loss.conjugate_derivative(lam)
    size = loss.value(t) + abs(loss.conjugate(lam)) + abs(lam * t)
    # Rounding of t enters squared; rounding inside the conjugate as t lam EPS, which is in `size`.
    assert abs(loss.fenchel_young(t, lam))[0] <= 8 * EPS * size[0]
    assert abs(loss.gap(t, lam))[0] <= 8 * EPS * size[0]


@every_loss
@given(lam=prices)
def test_derivatives_are_derivatives_and_the_conjugate_is_convex(loss, lam):
    if loss.is_fixed:
        return  # one point has no derivative
    lam = inside(loss, lam, margin=0.25)
    for f, derivative in (
        (loss.conjugate, loss.conjugate_derivative),
        (loss.conjugate_derivative, loss.conjugate_second),
    ):
        slope = (f(lam + STEP) - f(lam - STEP)) / (2 * STEP)
        # A quarter from its end, the third derivative of LogDetSlack is some 100 times its first.
        size = 1 + abs(f(lam)) + abs(derivative(lam))
        np.testing.assert_allclose(slope, derivative(lam), rtol=0, atol=100 * FLOOR * size[0])
    assert loss.conjugate_second(lam)[0] >= 0


@every_loss
@given(lam=prices)
def test_the_curve_is_the_derivative_of_the_conjugate(loss, lam):
    """In the form it names, which is all that compiled loops see of a loss."""
    if loss.curve is None:
        return
    form, b, g = loss.curve
    written_out = {
        "constant": lambda v: np.full_like(v, b),
        "rational": lambda v: b / (1 - v * b / g),
        "exponential": lambda v: b * np.exp(v / g),
        "affine": lambda v: b + v / g,
    }[form]
    lo, hi = loss.box(np.zeros(1), 1)
    v = np.clip(np.asarray([lam]), lo, hi)
    np.testing.assert_allclose(written_out(v), loss.conjugate_derivative(v), rtol=1e-12)


@every_loss
@given(lam=prices)
def test_the_conjugate_is_finite_exactly_on_the_box(loss, lam):
    lo, hi = box_of(loss)
    below_top = lam < hi if loss.has_open_end else lam <= hi
    assert np.isfinite(loss.conjugate(at(lam))[0]) == (lo <= lam and below_top)
    assert loss.conjugate(at(lam))[0] > -np.inf


@every_loss
def test_the_ends_of_the_box(loss):
    for end in box_of(loss):
        if np.isfinite(end):
            beyond = loss.conjugate(np.nextafter(end, [-np.inf, np.inf]))
            assert np.any(beyond == np.inf)
            is_open = loss.has_open_end and end > 0
            assert np.isfinite(loss.conjugate(at(end))[0]) != is_open


@every_bounded_loss
def test_the_least_loss_is_zero(loss):
    assert loss.conjugate(at(0.0))[0] == 0 == loss.value(at(loss.bound))[0]


@every_loss
@pytest.mark.parametrize("t", [-1.0, 0.0, 0.05, 0.3, 0.7, 1.0, 1.2, 1.5, 2.0, 4.0])
def test_the_loss_is_the_conjugate_of_its_conjugate(loss, t):
    lo, hi = np.clip(box_of(loss), -20, 20)
    lam = np.linspace(lo, hi, 40_001)
    below = lam * t - loss.conjugate(lam)
    value = loss.value(at(t))[0]
    if value == np.inf:
        assert np.argmax(below) in (0, len(lam) - 1), "the supremum is +inf, so it grows to an end"
    else:
        assert np.max(below) <= value + 8 * EPS * (1 + value)
        # Neighbors are 1e-3 apart, and loss*'' is below 40 where the maximum is: 1e-6 / 8 * 40.
        assert np.max(below) >= value - 5e-6


@every_loss
def test_never_nan_at_extreme_arguments(loss, library):
    extremes = [0.0, -0.0, 5e-324, -5e-324, 1e-160, 1.0, -1.0, 1e300, -1e300]
    with np.errstate(over="ignore", invalid="raise"):
        for function in ("value", "conjugate"):
            found = library.numpy(getattr(loss, function)(library.array(extremes)))
            assert not np.any(np.isnan(found)), function
        assert np.all(loss.value(np.asarray(extremes)) >= 0) or loss.is_fixed


def test_LogDetSlack_is_accurate_up_to_its_open_end():
    # Of pairs (gamma, b) drawn at random, one in twelve has 1 - lam b / gamma round to 0 at the end.
    gamma, b = np.exp(np.random.default_rng(0).normal(size=(2, 1000)))
    loss = LogDetSlack(upper=b, weight=gamma)
    _, hi = loss.box(b, 1000)
    np.testing.assert_allclose(hi, gamma / b, rtol=4e-15)
    last = np.nextafter(hi, 0.0)
    assert np.all(np.isfinite(loss.conjugate(last)))
    assert np.all(loss.conjugate_derivative(last) > b)
    assert np.all(np.isfinite(loss.conjugate_second(last)))


# -- one side and two ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [c for c in BOUNDED_LOSS_TYPES if c is not Square], ids=name_of)
@pytest.mark.parametrize("kind", ["upper", "lower"])
def test_a_one_sided_loss_is_half_of_the_two_sided_one(cls, kind):
    pair = forms(cls, 1.25)
    one, two = pair[kind], pair["equal"]
    t = np.linspace(0.05, 3.0, 60)
    wrong = t > 1.25 if kind == "upper" else t < 1.25
    np.testing.assert_array_equal(one.value(t), np.where(wrong, two.value(t), 0.0))
    np.testing.assert_array_equal(one.excess(t), np.where(wrong, two.excess(t), 0.0))
    lam = np.linspace(-2, 2, 81)
    half = lam >= 0 if kind == "upper" else lam <= 0
    np.testing.assert_array_equal(one.conjugate(lam), np.where(half, two.conjugate(lam), np.inf))
    (lo, hi), (least, largest) = box_of(one), box_of(two)
    assert (lo, hi) == ((0.0, largest) if kind == "upper" else (least, 0.0))


@pytest.mark.parametrize("cls", [Hard, Hinge, SquaredHinge], ids=name_of)
@given(bound=st.floats(-3, 3), t=st.floats(-5, 5), lam=prices)
def test_a_lower_bound_mirrors_an_upper_one(cls, bound, t, lam):
    lower, upper = cls(lower=bound), cls(upper=-bound)
    assert lower.value(at(t)) == upper.value(at(-t))
    assert lower.conjugate(at(lam)) == upper.conjugate(at(-lam))
    assert box_of(lower) == tuple(-end for end in reversed(box_of(upper)))


@every_bounded_type
def test_a_steep_loss_is_a_hard_one(cls):
    strength = {field.name for field in dataclasses.fields(cls)} & {"C"}
    lam = np.asarray([-1.5, -0.2, 0.0, 0.4, 2.0])
    for loss in cls.examples():
        for name in strength:
            steep = dataclasses.replace(loss, **{name: 1e12})
            hard = Hard(upper=loss.upper, lower=loss.lower, equal=loss.equal)
            # The next term of the expansion is at most (b lam)^2 / 1e12.
            np.testing.assert_allclose(steep.conjugate(lam), hard.conjugate(lam), atol=1e-11)


# -- where the loss is finite ----------------------------------------------------------------------


@every_loss
@given(t=st.floats(-3, 5), lam=prices)
def test_the_domain_is_where_the_loss_is_finite(loss, t, lam):
    low, high = loss.domain()
    if t not in (low, high):  # LogDetSlack is infinite at 0, KLSlack is not
        assert np.isfinite(loss.value(at(t))[0]) == (low < t < high)
        assert (loss.outside(at(t))[0] > 0) == (loss.value(at(t))[0] == np.inf)
    assert loss.has_domain == ((low, high) != (-np.inf, np.inf))
    ends = np.asarray([end for end in (low, high) if np.isfinite(end)])
    assert np.all(np.isinf(loss.value(ends)) == loss.has_open_domain)
    # Within the domain the gap is that of Fenchel and Young; outside, that of the nearest t inside.
    lam = inside(loss, lam)
    gap, young = loss.gap(at(t), lam)[0], loss.fenchel_young(at(t), lam)[0]
    assert gap == young if np.isfinite(young) else gap >= -8 * EPS * abs(lam[0] * t)
    nearest = np.clip(t, low, high)
    np.testing.assert_array_equal(loss.value_inside(at(t)), loss.value(at(nearest)))


# -- slack and violation ---------------------------------------------------------------------------


@every_loss
@given(low=st.floats(-1, 4), width=st.sampled_from([0.0, 0.1, 2.0]))
def test_is_slack_means_that_the_loss_vanishes(loss, low, width):
    t = np.linspace(low, low + width, 11)
    found = loss.is_slack(at(low), at(t[-1]))[0]
    vanishes = bool(np.all(loss.value(t) == 0))
    assert found == (vanishes and loss.can_be_slack)


@every_bounded_loss
@given(t=st.floats(-1, 4))
def test_excess_is_the_distance_to_where_the_loss_vanishes(loss, t):
    excess = loss.excess(at(t))[0]
    if loss.side == 0:
        assert excess == abs(t - loss.bound)
    else:
        enough = excess + 2 * EPS * (abs(t) + abs(loss.bound))  # t - excess rounds, too
        assert loss.value(at(t - loss.side * enough))[0] == 0
    if excess > 1e-6:  # nearer, a quadratic loss rounds to 0
        assert loss.value(at(t - loss.side * 0.99 * excess))[0] > 0
    assert 0 <= loss.severity(at(t))[0] <= 1
    assert loss.scale(at(t))[0] == abs(loss.bound)


def test_a_bound_of_zero_is_measured_by_the_size_of_t():
    t = np.asarray([1.0, -3.0])
    np.testing.assert_array_equal(Hard(upper=0.0).scale(t, 2.0), [2.0, 2.0])
    np.testing.assert_array_equal(Hard(upper=-3.0).scale(t, 2.0), [3.0, 3.0])


def test_a_violation_is_relative_to_the_bound():
    t = np.asarray([1.0, 3.0, -1.0])
    assert Hard(upper=2.0).violation(t) == 0.5
    assert Hard(lower=0.0).violation(t, 4.0) == 0.25  # a bound of zero has no size of its own
    assert Hard(equal=1.0).violation(t) == 2.0
    assert Hinge(upper=2.0).violation(t) == 0.0  # it has a price, so nothing is violated
    assert Hard(upper=2.0).violation(t[:0]) == 0.0


@pytest.mark.parametrize("cls", [KLSlack, LogDetSlack], ids=name_of)
@pytest.mark.parametrize("kind", ["lower", "equal"])
def test_slack_losses_are_infinite_below_zero(cls, kind):
    assert np.all(cls(**{kind: 1.0}).value(np.asarray([-1.0, -5e-324])) == np.inf)
    assert cls(**{kind: 1.0}).value(at(0.0))[0] == (np.inf if cls is LogDetSlack else 1.0)
