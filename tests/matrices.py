"""Random matrices of known spectrum and range, the same for the same seed."""

import numpy as np

__all__ = ["orthogonal", "positive", "spectral", "within"]


def orthogonal(seed, size):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


def spectral(U, x):
    """U diag(x) U'."""
    return U * x @ U.T


def positive(seed, size):
    """Give a positive definite matrix with eigenvalues between 0.2 and 5."""
    x = np.exp(np.random.default_rng(seed).uniform(-1.6, 1.6, size))
    return spectral(orthogonal(seed, size), x)


def within(seed, W):
    """Give a positive semidefinite matrix whose range is that of W."""
    n, r = W.shape
    return W @ positive(seed, r) @ W.T if r else np.zeros((n, n))
