"""Y+ = V diag(theta+) V': the positive part of a large sparse matrix, from products with it, and a bound on it.

The number of positive eigenvalues is estimated; a Krylov space of a filter (`chebyshev`) of a few more
dimensions holds their vectors, and Y is diagonalized there. For a Y near an earlier one, the earlier vectors
are filtered instead. With R = Y V - V diag(theta), P = I - V V' and P Y P <= mu P, for every delta > 0

    Y <= V (diag(theta) + R'R / delta) V' + (mu + delta)+ P

so the eigenvalues of the right side bound those of Y, and for mu < 0 the error is that of R squared. V also
holds some negative eigenvalues, to make mu < 0. mu is computed from fresh random vectors, which find an
eigenvalue that V misses. Products of matrices are quicker than one vector at a time where hundreds are wanted.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.eigen.chebyshev import extended, filter_above, number_above, orthonormal
from gramlearn._base.eigen.sparse_plus_low_rank import SparsePlusLowRank
from gramlearn._base.warnings import warn

_DENSE = 500  # up to this size all eigenvalues at once are quicker
_AFFORDABLE = 6000  # up to this size all eigenvalues are computed at once where the search fails
_ROUNDS = 30
_PADDED = 1.4  # vectors of a search for each positive eigenvalue
_WANTED = 0.8  # the share of them above the cut
_GAIN = 15.0  # of a zero eigenvalue over those below the cut, each time the filter is used
_TOTAL_GAIN = 1e18  # of a whole Krylov space
_BLOCK = 24  # vectors of a step in a Krylov space
_CHECK = 8  # the same in a search for missed eigenvalues
_MEMORY = 8 * 2**30  # bytes, where it is not known
_COPIES = 5  # of all vectors at a time


@final
@dataclass(frozen=True, eq=False)
class PositivePart:
    """V diag(theta) V' of positive theta.

    The eigenvalues of Y are at most those in `above`, and then `rest`, `n_rest` times; those outside V are at
    most `next_eigenvalue_bound`. A search for a matrix nearby may begin with `block`.
    """

    theta: np.ndarray
    V: np.ndarray
    above: np.ndarray
    rest: float
    n_rest: int
    block: np.ndarray
    next_eigenvalue_bound: float = -np.inf

    def excess(self, unit: float) -> float:
        """What the bounds add to the sum of squares, relative to it or to the unit."""
        found = float(self.theta @ self.theta)
        bound = float(self.above @ self.above) + self.n_rest * self.rest**2
        if bound <= found:
            return 0.0
        return (bound - found) / max(found, unit) if max(found, unit) > 0 else np.inf

    def n_zero(self, error: float) -> int:
        """How many eigenvalues may be zero, if each may be off by this error."""
        # With delta = -mu/2 in the bound above, all of the rest are at most mu/2.
        unseen = self.n_rest if self.next_eigenvalue_bound / 2 >= -error else 0
        return int(np.sum(self.theta <= error)) + unseen

    def among(self, rows: np.ndarray, n: int) -> "PositivePart":
        """The same for a matrix n x n that is this one on some rows, and zero elsewhere."""
        V, block = np.zeros((n, self.V.shape[1])), np.zeros((n, self.block.shape[1]))
        V[rows], block[rows] = self.V, self.block
        return replace(self, V=V, block=block)


def positive_part(
    Y: Any,
    block: np.ndarray | None = None,
    accuracy: float = 1e-8,
    unit: float = 0.0,
) -> PositivePart:
    """Find the positive eigenvalues of Y: their sum of squares to this accuracy.

    Parameters
    ----------
    Y : sparse matrix n x n, or SparsePlusLowRank
    block : array n x m, optional
        From an earlier answer, for a Y nearby.
    accuracy : float
        Of the sum of squares, relative to it.
    unit : float
        A sum of squares below this is as good as this.
    """
    Y = SparsePlusLowRank.of(Y)
    n = Y.shape[0]
    rows = Y.rows()
    if rows.size < n:
        # Rows of zeros have eigenvalues of zero, which a search would have to tell from positive ones.
        inner = None if block is None else block[rows]
        return positive_part(Y.among(rows), inner, accuracy, unit).among(rows, n)
    if n == 0 or Y.interval()[1] <= 0:
        none = np.zeros((n, 0))
        return PositivePart(np.zeros(0), none, np.zeros(0), 0.0, 0, none)
    if n <= _DENSE:
        return _all_at_once(Y)
    rng = np.random.default_rng(0)  # the same Y gives the same answer
    low, high = Y.interval()
    spectrum = _Spectrum(low, high, number_above(Y, low, high, rng))
    size = spectrum.size
    most = n // 3 if n <= _AFFORDABLE else _fitting(n)
    if size > most:
        if n <= _AFFORDABLE:
            return _all_at_once(Y)
        raise MemoryError(
            f"about {size} vectors of {n} numbers are needed for the positive eigenvalues of Y, and {most} fit "
            "into memory; pass a `rank`, or a smaller `C`."
        )
    # The more steps a Krylov space has, the less each of them needs to gain.
    gain = (
        float(np.clip(_TOTAL_GAIN ** (_BLOCK / size), 5.0, 2 * _GAIN)) if block is None else _GAIN
    )
    raise_above = filter_above(Y, low, spectrum.level(_WANTED * size), high, gain)
    # Vectors of an earlier Y serve for this one, if it has about as many positive eigenvalues.
    if block is not None and block.any() and size / 2 < block.shape[1] < 1.5 * size:
        V, share = orthonormal(raise_above(block)), 1.0
    else:
        # The last vectors of a Krylov space are less accurate than the others.
        V = extended(np.zeros((n, 0)), raise_above, size, _BLOCK, rng)
        share = 0.5
    found = _search(Y, V, share, spectrum, accuracy, unit, most, rng)
    if found.excess(unit) <= accuracy:
        return found
    if n <= _AFFORDABLE:
        return _all_at_once(Y)
    warn(
        f"the positive eigenvalues of a matrix of size {n} were found to {found.excess(unit):.1e} of their sum "
        f"of squares, where {accuracy:.1e} was asked for: too many are near zero. A larger `tol` or a given "
        "`rank` asks for less.",
        ConvergenceWarning,
    )
    return found


def _search(
    Y: Any,
    V: np.ndarray,
    share: float,
    spectrum: "_Spectrum",
    accuracy: float,
    unit: float,
    most: int,
    rng: np.random.Generator,
) -> PositivePart:
    """Diagonalize, filter and grow until the bounds are accurate enough, or the vectors too many."""
    last, look = np.inf, 4 * _CHECK
    for _ in range(_ROUNDS):
        theta, V, R = _diagonalized(Y, V, share)
        share = 1.0
        found = _bound_spectrum(V, theta, R)
        excess, count, size = found.excess(unit), found.theta.shape[0], V.shape[1]
        high = max(float(theta[0]), 1e-3 * spectrum.high)
        raise_above = filter_above(Y, spectrum.low, spectrum.level(size), high, _GAIN)
        if excess <= accuracy:
            W = extended(V, raise_above, look, _CHECK, rng)
            found = _bound_spectrum(V, theta, R, _largest(Y, V, W[:, size:]))
            if found.excess(unit) <= accuracy:
                break
            V, look = W, 2 * look
        else:
            # A block has some vectors more than are wanted: the more, the fewer rounds.
            missing = 8 + count // 8 - (size - count)
            if missing > 0 or excess > 0.1 * last:
                V = extended(V, raise_above, max(missing, _BLOCK, size // 4), _BLOCK, rng)
            V = orthonormal(raise_above(V))
        last = excess
        if V.shape[1] > most:
            break
    return found


@final
@dataclass(frozen=True)
class _Spectrum:
    """The eigenvalues of Y lie between low and high; about `above(level)` of them are above a level."""

    low: float
    high: float
    above: Callable[[np.ndarray], np.ndarray]

    @property
    def size(self) -> int:
        """How many vectors a search begins with."""
        positive = max(float(self.above(np.zeros(1))[0]), 1.0)
        return int(_PADDED * positive) + 2 * _BLOCK

    def level(self, number: float) -> float:
        """A level below zero with this number of eigenvalues above it."""
        levels = np.linspace(min(self.low, 0.0), 0.0, 400)
        enough = np.flatnonzero(self.above(levels) >= number)
        return float(levels[enough[-1]]) if enough.size else self.low / 2


def _fitting(n: int) -> int:
    """How many vectors fit into half of the memory, with their working copies."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not every system tells
        memory = _MEMORY
    return memory // (2 * 8 * _COPIES * n)


def _all_at_once(Y: Any) -> PositivePart:
    from scipy.linalg import eigh

    matrix = Y.toarray()
    try:
        theta, V = eigh(matrix, subset_by_value=(0.0, np.inf), check_finite=False)
    except np.linalg.LinAlgError:
        # A search for a part of the spectrum may fail where many eigenvalues are close to each other.
        theta, V = np.linalg.eigh(matrix)
        theta, V = theta[theta > 0], V[:, theta > 0]
    rounding = np.finfo(float).eps * np.abs(matrix).sum(axis=1).max(initial=0.0)
    return PositivePart(theta, V, theta + rounding, 0.0, 0, V)


def _diagonalized(Y: Any, Q: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(theta, V, Y V - V theta) on the span of Q, descending, with this share of the negative ones."""
    image = np.empty(Q.shape, order="F")
    for at in range(0, Q.shape[1], 64):
        image[:, at : at + 64] = Y @ np.ascontiguousarray(Q[:, at : at + 64])
    theta, U = np.linalg.eigh(Q.T @ image)
    count = int((theta > 0).sum())
    kept = count + int(np.ceil(share * (theta.shape[0] - count)))
    theta, U = theta[::-1][:kept], np.asfortranarray(U[:, ::-1][:, :kept])
    V = Q @ U
    return theta, V, image @ U - V * theta


def _bound_spectrum(
    V: np.ndarray, theta: np.ndarray, R: np.ndarray, mu: float = -np.inf
) -> PositivePart:
    """The best bounds of V without its last vectors, which bound all other eigenvalues together with mu."""
    n = V.shape[0]
    squares = np.sum(R * R, axis=0)
    count = int((theta > 0).sum())
    best, least = (count, 1.0, np.inf), np.inf
    for m in range(count, theta.shape[0]):
        others = max(mu, float(theta[m] + squares[m] ** 0.5))
        delta = -others
        if others >= 0:  # about where |theta| |R|^2 / delta + n delta^2 is least
            delta = (np.linalg.norm(theta[:m]) * np.sum(squares[:m]) / n) ** (1 / 3)
        delta = max(delta, np.finfo(float).tiny)
        above = np.clip(theta[:m] + squares[:m] / delta, 0.0, None)
        bound = float(above @ above) + (n - m) * max(others + delta, 0.0) ** 2
        if bound < least:
            best, least = (m, delta, others), bound
    m, delta, others = best
    R = R[:, :m]
    above = np.clip(np.linalg.eigvalsh(np.diag(theta[:m]) + R.T @ R / delta), 0.0, None)
    rest = max(others + delta, 0.0)
    return PositivePart(theta[:count], V[:, :count], above, rest, n - m, V, others)


def _largest(Y: Any, V: np.ndarray, W: np.ndarray) -> float:
    """A bound on the largest eigenvalue of P Y P from the span of W, which is orthogonal to V."""
    image = Y @ np.ascontiguousarray(W)
    theta, U = np.linalg.eigh(W.T @ image)
    vector = W @ U[:, -1]
    residual = image @ U[:, -1] - theta[-1] * vector
    return float(theta[-1] + np.linalg.norm(residual - V @ (V.T @ residual)))
