"""Where Bregman matrix divergences are finite (K09 section 4), and which input they accept."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import REGULARIZERS, name_of
from gramlearn.problem.divergences import RANK_TOLERANCE, divergence
from gramlearn.problem.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from matrices import orthogonal, positive, spectral, within

frobenius_divergence = partial(divergence, regularizer=Frobenius())
logdet_divergence = partial(divergence, regularizer=LogDet())
von_neumann_divergence = partial(divergence, regularizer=VonNeumann())

n = 5
CLOSE = {"rel": 1e-12, "abs": 1e-13}  # as in test_divergences.py

every_regularizer = pytest.mark.parametrize("h", REGULARIZERS, ids=name_of)
seeds = st.integers(0, 10**6)
ranks = st.integers(0, n)

# -- ranges ----------------------------------------------------------------------------------------


@every_regularizer
@given(seed=seeds, common=ranks, only_x=ranks, only_y=ranks)
def test_finite_exactly_where_the_ranges_allow(h, seed, common, only_x, only_y):
    common = min(common, n)
    only_x = min(only_x, n - common)
    only_y = min(only_y, n - common - only_x)
    U = orthogonal(seed, n)
    x, y = np.zeros(n), np.zeros(n)
    x[: common + only_x] = 1.5
    y[:common] = y[common + only_x : common + only_x + only_y] = 0.7
    found = divergence(spectral(U, x), spectral(U, y), h)
    allowed = {
        LogDet: only_x == only_y == 0,
        VonNeumann: only_x == 0,
    }.get(type(h), True)
    assert not np.isnan(found)
    assert np.isfinite(found) == allowed


@given(seed=seeds, r=st.integers(1, n - 1), exponent=st.integers(-10, 0))
def test_a_small_part_outside_the_range_is_seen(seed, r, exponent):
    U = orthogonal(seed, n)
    X0, small = within(seed, U[:, :r]), 10.0**exponent * np.outer(U[:, r], U[:, r])
    X = X0 + small  # 1e-10 is far above n RANK_TOLERANCE = 1e-14
    assert n * RANK_TOLERANCE < 1e-13
    assert logdet_divergence(X, X0) == von_neumann_divergence(X, X0) == np.inf
    assert logdet_divergence(X0, X) == np.inf
    # Of von Neumann, the other order adds nothing but the trace.
    assert von_neumann_divergence(X0, X) == pytest.approx(10.0**exponent, rel=1e-3, abs=0)


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10])
@given(seed=seeds)
def test_rounding_does_not_leave_the_range(condition, seed):
    """The range of an ill-conditioned X0 is known to EPS * condition only, and no more is asked for."""
    W = orthogonal(seed, n)[:, :3]
    X0 = spectral(W, np.geomspace(1, 1 / condition, 3))
    assert np.isfinite(logdet_divergence(W @ W.T, X0))
    assert np.isfinite(von_neumann_divergence(W @ W.T, X0))


@every_regularizer
@given(seed=seeds)
def test_zero_matrices(h, seed):
    zero, X = np.zeros((n, n)), positive(seed, n)
    assert divergence(zero, zero, h) == 0.0
    assert np.isfinite(divergence(X, zero, h)) == (not h.keeps_range)
    assert np.isfinite(divergence(zero, X, h)) == (not h.needs_interior)
    if isinstance(h, VonNeumann):
        assert divergence(zero, X, h) == pytest.approx(np.trace(X), **CLOSE)
    if isinstance(h, Frobenius | Schatten):
        x = np.linalg.eigvalsh(X)
        assert divergence(X, zero, h) == pytest.approx(h.value(x).sum(), **CLOSE)


@given(seed=seeds, r=st.integers(1, n - 1))
def test_the_limit_of_full_rank(seed, r):
    """D(X + eps I, X0 + eps I) tends to D(X, X0) if that is finite, and else to infinity."""
    U = orthogonal(seed, n)
    X, X0 = within(seed, U[:, :r]), within(seed + 1, U[:, :r])
    eps = 1e-7
    identity = np.eye(n)
    for D in (logdet_divergence, von_neumann_divergence):
        # The derivative by eps is at most some hundred here: eigenvalues are 0.2 and more.
        assert D(X + eps * identity, X0 + eps * identity) == pytest.approx(D(X, X0), abs=1e-3)
    outside = X + np.outer(U[:, r], U[:, r])
    growth = [von_neumann_divergence(outside, X0 + e * identity) for e in (1e-4, 1e-7, 1e-10)]
    # One unit of X outside the range of X0 costs -log eps: seven each time.
    np.testing.assert_allclose(np.diff(growth), 3 * np.log(10), atol=1e-2)


# -- input -----------------------------------------------------------------------------------------


@every_regularizer
@pytest.mark.parametrize("r", [2, n])
def test_every_library(h, r, library):
    W = orthogonal(7, n)[:, :r]
    X, X0 = within(8, W), within(9, W)
    found = divergence(library.array(X), library.array(X0), h)
    assert type(found) is float
    assert found == pytest.approx(divergence(X, X0, h), **CLOSE)
    if library.name != "numpy":
        with pytest.raises(TypeError, match="must come from one library"):
            divergence(X, library.array(X0), h)


def test_lists_and_read_only_matrices_are_accepted():
    X = np.asarray([[2.0, 1.0], [1.0, 2.0]])
    X.flags.writeable = False
    assert frobenius_divergence(X, [[0, 0], [0, 0]]) == pytest.approx(5.0, rel=1e-15)


I2 = np.eye(2)
REFUSALS = [
    (I2, np.eye(3), "`X` has shape (2, 2), but `X0` has shape (3, 3); the two must agree."),
    (np.zeros((2, 3)), I2, "`X` must be a square matrix; got shape (2, 3)."),
    (I2, np.ones(2), "`X0` must be a square matrix; got shape (2,)."),
    (np.zeros((0, 0)), I2, "`X` has shape (0, 0); at least one row is needed."),
    (
        I2,
        [[1.0, 0.5], [0.4, 1.0]],
        "`X0` is not symmetric (largest difference from its transpose 0.1)",
    ),
    ([[1.0, np.nan], [np.nan, 1.0]], I2, "`X` contains NaN or infinity (first at row 0)"),
    (I2, np.diag([1.0, np.inf]), "`X0` contains NaN or infinity (first at row 1)"),
    (
        np.diag([1.0, -0.5]),
        I2,
        "`X` is not positive semidefinite: its eigenvalues reach from -0.5 to 1.",
    ),
    (
        I2,
        -I2,
        "`X0` is not positive semidefinite: its eigenvalues reach from -1 to -1. If rounding",
    ),
]


@pytest.mark.parametrize(("X", "X0", "sentence"), REFUSALS, ids=[r[2][:40] for r in REFUSALS])
@every_regularizer
def test_bad_input_raises_a_clear_error(X, X0, sentence, h):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the sentence is compared below
        divergence(X, X0, h)
    assert sentence in str(raised.value)
