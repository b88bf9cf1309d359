"""Eigenvalues and eigenvectors of a diagonal matrix plus one of rank one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlearn._base.eigen.secular import rank_one_eigen, rank_one_roots


@settings(max_examples=300)
@given(
    seed=st.integers(0, 10_000),
    r=st.integers(1, 25),
    kind=st.sampled_from(["any", "equal", "close", "uneven", "holes"]),
    power=st.integers(-6, 6),
    sign=st.sampled_from([-1, 1]),
)
def test_eigenvalues_of_a_diagonal_plus_rank_one(seed, r, kind, power, sign) -> None:
    """Accurate beside the size of the matrix, with vectors that are orthogonal to rounding."""
    rng = np.random.default_rng(seed)
    d, w = rng.standard_normal(r) * 10.0 ** rng.integers(-3, 4), rng.standard_normal(r)
    if kind == "equal":
        d = d[rng.integers(0, r, r)]
    elif kind == "close":
        d = d[0] + 1e-13 * np.arange(r)
    elif kind == "uneven":
        w = w * 10.0 ** rng.integers(-8, 3, r)
    elif kind == "holes":
        w = w * (rng.random(r) < 0.5)
    d, rho = np.sort(d), sign * 10.0**power
    A = np.diag(d) + rho * np.outer(w, w)
    size = max(np.abs(A).max(), 1e-300)
    theta, U = rank_one_eigen(d, w, rho)
    np.testing.assert_allclose(U.T @ U, np.eye(r), atol=1e-13)
    np.testing.assert_allclose((U * theta) @ U.T, A, atol=1e-12 * size)
    np.testing.assert_allclose(theta, np.linalg.eigvalsh(A), atol=1e-12 * size)
    roots, seen = rank_one_roots(d, w, rho)
    np.testing.assert_allclose(np.sort(roots), theta, atol=1e-12 * size)
    # w'(A - x)^-1 w, far from the spectrum, sees all of them.
    x = theta[0] - 1.0 - np.abs(theta).max()
    exact = np.sum((U.T @ w) ** 2 / (theta - x))
    assert np.sum(seen / (roots - x)) == pytest.approx(exact, rel=1e-9, abs=1e-300)
