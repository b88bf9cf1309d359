"""The step of a stream: the optimum of its problem, bounds and a rate that come from the stream itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from gramlearn.methods.metric.online import Asked, OnlineMetric, Spread, new_squared_distance

SIZES = st.floats(1e-3, 1e3)


def asked(lower, upper, weight=1.0):
    return Asked(np.asarray([lower]), np.asarray([upper]), np.asarray([weight]))


def divergence(W, V):
    """D of LogDet, by its definition."""
    P = W @ np.linalg.inv(V)
    return np.trace(P) - np.linalg.slogdet(P)[1] - len(W)


@given(*[st.floats(1e-8, 1e8)] * 3)
def test_the_new_distance_lies_between_the_old_and_the_target(p, y, eta):
    s = new_squared_distance(p, y, eta)
    assert min(p, y) * (1 - 1e-12) <= s <= max(p, y) * (1 + 1e-12)
    # Both sides are differences, known to the rounding of their terms.
    rounding = 1e-12 * (1 / s + 1 / p + eta * (s + y))
    assert 1 / s - 1 / p == pytest.approx(eta * (s - y), abs=rounding)


@settings(max_examples=60, deadline=None)
@given(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_the_new_distance_is_the_optimum_of_one_number(p, one, other, eta, weight):
    """min over s of s/p - 1 - log(s/p) + eta w/2 dist(s, [lower, upper])^2, by a search along log s."""
    lower, upper = sorted([one, other])
    z = np.asarray([math.sqrt(p), 0.0])
    after = OnlineMetric(np.eye(2)).updated(z, p, asked(lower, upper, weight), 0, eta)[0]
    s = float(((after.factor @ z) ** 2).sum())

    def value(s):
        return s / p - 1 - math.log(s / p) + eta * weight * (s - min(max(s, lower), upper)) ** 2 / 2

    ends = [math.log(end) for end in (min(p, lower), max(p, upper))]
    found = minimize_scalar(lambda x: value(math.exp(x)), bounds=ends, method="bounded")
    # The values of two sums of such terms are known to their rounding.
    terms = s / p + abs(math.log(s / p)) + eta * weight * (s**2 + upper**2)
    assert value(s) <= found.fun + 1e-9 + 1e-14 * terms


@pytest.mark.parametrize("eta", [None, 0.3])
@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.2), (90.0, math.inf), (0.5, 0.5), (0.0, 0.0)])
def test_no_metric_nearby_is_better_than_the_one_after_a_step(eta, lower, upper):
    """D(W, W_t) + eta/2 dist(z'Wz, interval)^2 is convex in W, so a minimum nearby is the minimum."""
    rng = np.random.default_rng(0)
    A, z = rng.standard_normal((3, 3)) + 2 * np.eye(3), rng.standard_normal(3)
    V, p = A.T @ A, float(((A @ z) ** 2).sum())
    after, length, loss = OnlineMetric(A).updated(z, p, asked(lower, upper), 0, eta)
    rate = 9 / p**2 if eta is None else eta  # the sum of a stream that begins is p^2
    W = after.factor.T @ after.factor

    def value(W):
        t = float(z @ W @ z)
        return divergence(W, V) + rate / 2 * (t - min(max(t, lower), upper)) ** 2

    assert length == pytest.approx(p)
    assert loss == pytest.approx((p - min(max(p, lower), upper)) ** 2 / 2)
    assert value(W) < value(V)
    for _ in range(50):
        E = rng.standard_normal((3, 3))
        step = 1e-3 * np.linalg.norm(W) * (E + E.T) / np.linalg.norm(E + E.T)
        assert value(W + step) > value(W)


@pytest.mark.parametrize("eta", [None, 5.0])
@pytest.mark.parametrize(
    ("lower", "upper"), [(0.0, math.inf), (0.0, 6.0), (4.0, math.inf), (4.0, 6.0)]
)
def test_a_pair_within_its_interval_changes_nothing(eta, lower, upper):
    before = OnlineMetric(np.diag([1.0, 2.0]))
    after, length, loss = before.updated(np.ones(2), 2.0, asked(lower, upper), 0, eta)
    assert length == pytest.approx(5.0)
    assert loss == 0
    np.testing.assert_array_equal(after.factor, before.factor)
    assert after.gained == before.gained


def test_bounds_are_percentiles_of_normal_points():
    """In d dimensions squared distances are chi-squared, up to a factor: within a twentieth of theirs."""
    for d in (4, 10, 60):
        spread = Spread()
        for squared in 2 * np.random.default_rng(0).chisquare(d, 20_000):
            spread = spread.including(float(squared))
        expected = 2 * chi2.ppf([0.05, 0.95], d)
        np.testing.assert_allclose(spread.bounds, expected, rtol=0.05)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_bounds_are_in_order_and_move_with_the_units(squared):
    one, other = Spread(), Spread()
    for value in squared:
        one, other = one.including(value), other.including(8e6 * value)
    upper, lower = one.bounds
    assert 0 <= upper <= lower
    np.testing.assert_allclose(
        other.bounds, (8e6 * upper, 8e6 * lower), rtol=1e-6, atol=1e-6 * 8e6 * lower
    )


def learned(Z, ask, eta=None, start=1.0):
    stream = OnlineMetric(start * np.eye(Z.shape[1]))
    losses = []
    for k, z in enumerate(Z):
        stream, _, loss = stream.updated(z, float(z @ z), ask, k, eta)
        losses.append(loss)
    return stream, np.asarray(losses)


def judged(m=400, d=4, wrong=0.1):
    """Pairs of two classes that differ along one of d directions, some of them judged wrongly."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=(m, 2))
    Z = rng.standard_normal((m, d))
    Z[:, 0] += 4.0 * (labels[:, 0] - labels[:, 1])
    return Z, (labels[:, 0] == labels[:, 1]) ^ (rng.random(m) < wrong)


@pytest.mark.parametrize("unit", [1e-40, 1e-3, 1e3, 1e40])
def test_other_units_give_the_same_metric(unit):
    Z, alike = judged()
    ask = Asked.of_judgments(alike)
    (one, losses), (other, more) = learned(Z, ask), learned(unit * Z, ask)
    np.testing.assert_allclose(other.factor, one.factor, atol=1e-9)
    np.testing.assert_allclose(more, unit**4 * losses, rtol=1e-6, atol=1e-9 * more.max())
    y = (Z**2) @ [4.0, 1.0, 0.5, 2.0]
    one, other = (
        learned(Z, Asked.of_targets(y))[0],
        learned(unit * Z, Asked.of_targets(unit**2 * y))[0],
    )
    np.testing.assert_allclose(other.factor, one.factor, atol=1e-9)


def test_weights_count_as_prices_and_in_themselves_are_no_matter():
    Z, alike = judged(50)
    heavy = Asked.of_judgments(alike, weights=7.0)
    plain = learned(Z, Asked.of_judgments(alike))[0].factor
    np.testing.assert_allclose(learned(Z, heavy)[0].factor, plain, atol=1e-10)
    fixed = learned(Z, Asked.of_judgments(alike), 0.07)[0].factor
    np.testing.assert_allclose(learned(Z, heavy, 0.01)[0].factor, fixed, atol=1e-10)


# Of exact targets one metric has no loss at all, and the longest steps find it first.
@pytest.mark.parametrize(
    ("kind", "wrong", "factor"),
    [("judged", 0.0, 1.3), ("judged", 0.1, 1.3), ("targets", 0.1, 1.3), ("targets", 0.0, 2.0)],
)
def test_the_rate_of_a_stream_is_nearly_as_good_as_the_best_in_hindsight(kind, wrong, factor):
    Z, alike = judged(2000, wrong=wrong)
    noise = np.exp(5 * wrong * np.random.default_rng(1).standard_normal(len(Z)))
    y = (Z**2) @ [4.0, 1.0, 0.25, 2.0] * noise
    ask = Asked.of_judgments(alike) if kind == "judged" else Asked.of_targets(y)
    rates = 10.0 ** np.arange(-6, 1.1, 0.5)
    fixed = [learned(Z, ask, rate)[1].sum() for rate in rates]
    assert 0 < np.argmin(fixed) < len(rates) - 1
    assert learned(Z, ask)[1].sum() < factor * min(fixed)


@pytest.mark.parametrize("start", [1.0, 10.0, 1e3])
def test_a_prior_that_is_too_large_is_left_behind(start):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((3000, 3))
    true = np.diag([4.0, 1.0, 0.25])
    stream, losses = learned(Z, Asked.of_targets(np.einsum("ki,ij,kj->k", Z, true, Z)), start=start)
    np.testing.assert_allclose(stream.factor.T @ stream.factor, true, atol=0.05)
    assert losses[-100:].max() < 1e-2


def test_targets_of_zero_shrink_and_never_end_at_zero():
    Z = np.random.default_rng(0).standard_normal((40, 3))
    stream, losses = learned(Z, Asked.of_targets(np.zeros(40)))
    assert losses[-10:].max() < 1e-3 * losses[:10].max()
    assert np.linalg.svd(stream.factor)[1][-1] > 0


def test_the_kinds_of_intervals():
    ask = Asked(
        np.asarray([0.0, 0.0, 0.0, 2.0, np.nan, 1.0, 3.0, 0.0]),
        np.asarray([np.nan, 3.0, np.inf, np.inf, np.inf, 2.0, 3.0, 0.0]),
        np.ones(8),
    )
    np.testing.assert_array_equal(ask.kinds, [1, 1, 0, -1, -1, 0, 0, 0])


@pytest.mark.parametrize("unit", [1e-320, 1e-200, 1e-160])
def test_distances_next_to_zero_are_no_matter(unit):
    z = np.asarray([math.sqrt(unit), 0.0])
    for y in (0.0, unit / 2, 1.0):
        stream, _, loss = OnlineMetric(np.eye(2)).updated(z, unit, asked(y, y), 0, None)
        assert np.isfinite(stream.factor).all()
        assert math.isfinite(loss)
        assert math.isfinite(stream.gained)
