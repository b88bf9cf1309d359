"""T_d((Y - c) / h) V: Chebyshev polynomials of a sparse symmetric Y that raise the eigenvalues above a cut.

T_d stays within [-1, 1] on [low, cut], moved to [-1, 1], and grows quickly above. So a Krylov space of the
filter, grown block by block, holds the eigenvectors above the cut with about as many dimensions as there are
such eigenvalues. The same polynomials count them beforehand: for random signs v, the mean of v' T_k v is
tr T_k, and these moments give the number of eigenvalues above a level, smoothed (Jackson).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn._base.eigen.sparse_plus_low_rank import SparsePlusLowRank

_MOMENTS = 40  # products, for twice as many moments
_PROBES = 8
_LONGEST = 60  # the largest degree
_RANGE = (
    1e10  # the largest ratio of filtered eigenvalues: more would hide the small ones in rounding
)
_AT_ONCE = 64  # columns of a product that stay in the cache


@final
@dataclass(frozen=True, eq=False)
class Filter:
    """V -> T_d(Z) V."""

    Z: SparsePlusLowRank
    degree: int

    def __call__(self, V: np.ndarray) -> np.ndarray:
        """Columns in pieces: each is worked on while it is in the cache."""
        out = np.empty(V.shape, order="F")
        for at in range(0, V.shape[1], _AT_ONCE):
            before = np.ascontiguousarray(V[:, at : at + _AT_ONCE])
            now = self.Z @ before
            for _ in range(self.degree - 1):
                after = self.Z @ now
                after += after
                after -= before
                before, now = now, after
            out[:, at : at + _AT_ONCE] = now
        return out


def filter_above(Y: SparsePlusLowRank, low: float, cut: float, high: float, gain: float) -> Filter:
    """The filter that raises zero over [low, cut] by this gain, or by less where the largest would overflow."""
    # Neither the interval nor the part above it may be empty.
    width = max(high - low, high)
    cut = min(cut, -1e-3 * width)
    low = min(low, cut - 1e-3 * width)
    center, half = (low + cut) / 2, (cut - low) / 2
    wanted = np.arccosh(gain) / np.arccosh((0.0 - center) / half)
    allowed = np.arccosh(_RANGE) / np.arccosh(max((high - center) / half, 1.0 + 1e-12))
    degree = int(np.clip(min(wanted, allowed), 4, _LONGEST))
    return Filter(Y.moved(center, half), degree)


def number_above(
    Y: SparsePlusLowRank, low: float, high: float, rng: np.random.Generator
) -> Callable[[np.ndarray], np.ndarray]:
    """A function of levels: about how many eigenvalues of Y are above each."""
    n = Y.shape[0]
    center = (low + high) / 2
    half = 0.505 * max(high - low, 1e-3 * abs(center))
    Z = Y.moved(center, half)
    first = rng.integers(0, 2, (n, _PROBES)) * 2.0 - 1.0
    before, now = first, Z @ first
    moments = np.empty(2 * _MOMENTS)
    moments[0], moments[1] = n, float(np.sum(first * now)) / _PROBES
    for k in range(1, _MOMENTS):
        after = 2 * (Z @ now) - before
        moments[2 * k] = 2 * float(np.sum(now * now)) / _PROBES - n
        moments[2 * k + 1] = 2 * float(np.sum(now * after)) / _PROBES - moments[1]
        before, now = now, after
    size = 2 * _MOMENTS
    orders = np.arange(1, size)
    angle = np.pi / (size + 1)
    jackson = (
        (size - orders + 1) * np.cos(angle * orders) + np.sin(angle * orders) / np.tan(angle)
    ) / (size + 1)
    weights = 2 * jackson * moments[1:] / orders

    def above(levels: np.ndarray) -> np.ndarray:
        phi = np.arccos(np.clip((levels - center) / half, -1.0, 1.0))
        return np.asarray(n * phi + np.sin(np.outer(phi, orders)) @ weights) / np.pi

    return above


def extended(
    V: np.ndarray, filtered: Filter, size: int, block: int, rng: np.random.Generator
) -> np.ndarray:
    """V with `size` more columns, all orthonormal: a Krylov space of the filter, from random vectors."""
    n, m = V.shape
    Q = np.empty((n, m + size), order="F")
    Q[:, :m] = V
    W = rng.standard_normal((n, min(block, size)))
    while m < Q.shape[1]:
        W = _orthogonal_to(filtered(W), Q[:, :m])[:, : Q.shape[1] - m]
        Q[:, m : m + W.shape[1]] = W
        m += W.shape[1]
    return Q


def _orthogonal_to(W: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns of W, projected on the complement of Q."""
    W = W / np.linalg.norm(W, axis=0)
    for _ in range(4):
        inside = Q.T @ W
        W = orthonormal(W - Q @ inside)
        if not inside.size or np.abs(inside).max() < 1e-10:
            break
    return W


def orthonormal(W: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns: by Cholesky's factor twice, or by reflections where that fails."""
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    try:
        for _ in range(2):
            W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
            R = cholesky(W.T @ W, check_finite=False)
            if np.diag(R).min() < 1e-6:
                break
            W = solve_triangular(R, W.T, trans="T", check_finite=False).T
        else:
            return W
    except LinAlgError:
        pass
    return np.linalg.qr(W)[0]
