"""Bregman matrix divergences (K09: Kulis, Sustik, Dhillon, JMLR 2009, section 4 and appendix A)."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import log as mplog
from mpmath import mp, mpf
from scipy.linalg import logm, sqrtm

from catalogue import REGULARIZERS, name_of
from gramlearn.problem.divergences import divergence
from gramlearn.problem.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from matrices import orthogonal, positive, spectral, within

frobenius_divergence = partial(divergence, regularizer=Frobenius())
logdet_divergence = partial(divergence, regularizer=LogDet())
von_neumann_divergence = partial(divergence, regularizer=VonNeumann())

n = 5
# Eigenvalues between 0.2 and 5 are found to n EPS 5 = 5e-15, and the terms are at most some 100.
CLOSE = {"rel": 1e-12, "abs": 1e-13}

every_regularizer = pytest.mark.parametrize("h", REGULARIZERS, ids=name_of)
seeds = st.integers(0, 10**6)
ranks = st.integers(0, n)


def scalar(h, x, x0):
    x, x0 = np.asarray(x), np.asarray(x0)
    return h.value(x) - h.value(x0) - h.derivative(x0) * (x - x0)


# -- formulas --------------------------------------------------------------------------------------


@given(seed=seeds)
def test_closed_forms(seed):
    X, Y = positive(seed, n), positive(seed + 1, n)
    R = X @ np.linalg.inv(Y)
    assert logdet_divergence(X, Y) == pytest.approx(
        np.trace(R) - np.linalg.slogdet(R)[1] - n, **CLOSE
    )
    assert von_neumann_divergence(X, Y) == pytest.approx(
        np.trace(X @ logm(X) - X @ logm(Y) - X + Y), **CLOSE
    )
    assert frobenius_divergence(X, Y) == pytest.approx(np.sum((X - Y) ** 2) / 2, **CLOSE)
    cubes = np.trace(X @ X @ X) / 3 + 2 * np.trace(Y @ Y @ Y) / 3 - np.trace(X @ Y @ Y)
    assert divergence(X, Y, Schatten(3.0)) == pytest.approx(cubes, **CLOSE)
    assert divergence(X, Y, Schatten(2.0)) == pytest.approx(frobenius_divergence(X, Y), **CLOSE)


@every_regularizer
@given(seed=seeds)
def test_the_definition(h, seed):
    X, Y = positive(seed, n), positive(seed + 1, n)
    y, U = np.linalg.eigh(Y)
    gradient = spectral(U, h.derivative(y))
    definition = (
        h.value(np.linalg.eigvalsh(X)).sum() - h.value(y).sum() - np.sum(gradient * (X - Y))
    )
    assert divergence(X, Y, h) == pytest.approx(definition, **CLOSE)


@every_regularizer
@given(seed=seeds)
def test_Corollary_2(h, seed):
    """D(X, Y) = sum_ij (v_i' u_j)^2 D(lambda_i, theta_j)."""
    X, Y = positive(seed, n), positive(seed + 1, n)
    (x, V), (y, U) = np.linalg.eigh(X), np.linalg.eigh(Y)
    expected = np.sum((V.T @ U) ** 2 * scalar(h, x[:, None], y[None, :]))
    assert divergence(X, Y, h) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("h", [LogDet(), VonNeumann()], ids=name_of)
@given(seed=seeds, r=st.integers(1, n))
def test_Theorems_6_and_7(h, seed, r):
    """The same sum over the r largest eigenvalues, if the range of both is the same."""
    W = orthogonal(seed, n)[:, :r]
    X, Y = within(seed, W), within(seed + 1, W)
    (x, V), (y, U) = np.linalg.eigh(X), np.linalg.eigh(Y)
    x, V, y, U = x[-r:], V[:, -r:], y[-r:], U[:, -r:]
    expected = np.sum((V.T @ U) ** 2 * scalar(h, x[:, None], y[None, :]))
    assert divergence(X, Y, h) == pytest.approx(expected, **CLOSE)


@every_regularizer
@given(seed=seeds, r=st.integers(1, n))
def test_Definition_4_does_not_depend_on_the_basis(h, seed, r):
    """D(X, Y) = D(W'XW, W'YW) for every W with orthonormal columns whose range contains that of Y."""
    W = orthogonal(seed, n)[:, :r]
    X, Y = within(seed, W), within(seed + 1, W)
    expected = divergence(X, Y, h)
    Q = orthogonal(seed + 2, r)
    wider = orthogonal(seed, n) @ np.eye(n)[:, : min(n, r + 1)]
    for basis in (W, W @ Q, wider):
        found = divergence(basis.T @ X @ basis, basis.T @ Y @ basis, h)
        assert found == pytest.approx(expected, **CLOSE)


# -- properties ------------------------------------------------------------------------------------


@every_regularizer
@given(seed=seeds, r=ranks)
def test_Proposition_11(h, seed, r):
    """D(Q'XQ, Q'YQ) = D(X, Y) for orthogonal Q."""
    W, Q = orthogonal(seed, n)[:, :r], orthogonal(seed + 2, n)
    X, Y = within(seed, W), within(seed + 1, W)
    found = divergence(Q.T @ X @ Q, Q.T @ Y @ Q, h)
    assert found == pytest.approx(divergence(X, Y, h), **CLOSE)


@given(seed=seeds, r=ranks)
def test_Proposition_12(seed, r):
    """D_ld(M'XM, M'YM) = D_ld(X, Y) for every invertible M, and of rank-deficient matrices too."""
    W = orthogonal(seed, n)[:, :r]
    X, Y = within(seed, W), within(seed + 1, W)
    M = positive(seed + 2, n) @ orthogonal(seed + 3, n)  # of condition at most 25
    found = logdet_divergence(M.T @ X @ M, M.T @ Y @ M)
    # The condition of M'YM is at most 25^3, so that is how much its eigenvalues lose.
    assert found == pytest.approx(logdet_divergence(X, Y), rel=1e-10, abs=1e-10)


@every_regularizer
def test_the_invariant_regularizer_is_LogDet(h):
    X, Y, M = positive(0, n), positive(1, n), orthogonal(2, n) * np.linspace(1, 2, n)
    same = divergence(M.T @ X @ M, M.T @ Y @ M, h) == pytest.approx(divergence(X, Y, h), rel=1e-6)
    assert same == h.is_invariant


@given(seed=seeds, r=ranks, exponent=st.integers(-100, 100))
def test_LogDet_is_invariant_under_scaling(seed, r, exponent):
    W = orthogonal(seed, n)[:, :r]
    X, Y = within(seed, W), within(seed + 1, W)
    c = 10.0**exponent
    assert logdet_divergence(c * X, c * Y) == pytest.approx(logdet_divergence(X, Y), **CLOSE)


@given(seed=seeds)
def test_Proposition_13(seed):
    """D_ld(X, Y) = D_vN(I, Z) = D_ld(Z, I) with Z = Y^(-1/2) X Y^(-1/2)."""
    X, Y = positive(seed, n), positive(seed + 1, n)
    root = np.linalg.inv(sqrtm(Y))
    Z, identity = root @ X @ root, np.eye(n)
    Z = (Z + Z.T) / 2
    expected = logdet_divergence(X, Y)
    assert von_neumann_divergence(identity, Z) == pytest.approx(expected, **CLOSE)
    assert logdet_divergence(Z, identity) == pytest.approx(expected, **CLOSE)


@every_regularizer
@given(seed=seeds, r=ranks)
def test_zero_exactly_at_equality(h, seed, r):
    W = orthogonal(seed, n)[:, :r]
    X, Y = within(seed, W), within(seed + 1, W)
    # The eigenvectors of X are orthogonal to EPS, and that enters squared.
    assert 0 <= divergence(X, X, h) <= 1e-25
    # Between 0.2 and 5, h'' is at least 1 / 25 (that is LogDet's), and D at least half of it.
    assert divergence(X, Y, h) >= 0.019 * np.sum((X - Y) ** 2)


@every_regularizer
@pytest.mark.parametrize("gap", [1.0, 0.5, 1e-2, 1e-5, 1e-9, 1e-13])
def test_no_digits_are_lost_near_equality(h, gap):
    x0 = np.asarray([0.3, 1.0, 7.0])
    x = x0 * (1 + gap)
    with mp.workdps(50):
        exact = sum(scalar_in_many_digits(h, mpf(a), mpf(b)) for a, b in zip(x, x0, strict=True))
    found = divergence(np.diag(x), np.diag(x0), h)
    # x and x0 as they are stored are a relative EPS uncertain, and their difference EPS / gap.
    assert found == pytest.approx(float(exact), rel=20 * np.finfo(float).eps / gap, abs=0)


def scalar_in_many_digits(h, x, x0):
    if isinstance(h, LogDet):
        return x / x0 - mplog(x / x0) - 1
    if isinstance(h, VonNeumann):
        return x * mplog(x / x0) - x + x0
    p = mpf(getattr(h, "p", 2))
    return x**p / p + x0**p * (p - 1) / p - x * x0 ** (p - 1)
