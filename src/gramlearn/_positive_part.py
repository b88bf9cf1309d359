"""Y+ = V diag(theta+) V': the positive part of a large sparse matrix, from products with it, and a bound on it.

A block of vectors is multiplied by a Chebyshev polynomial of Y that is small on [low, cut], where the unwanted
eigenvalues are, and grows above; then Y is diagonalized on their span, and cut becomes the least of what was
found. The block grows until it holds negative eigenvalues, too. With R = Y V - V diag(theta), P = I - V V' and
P Y P <= mu P, for every delta > 0

    Y <= V (diag(theta) + R'R / delta) V' + (mu + delta)+ P

so the eigenvalues of the right side bound those of Y, and for mu < 0 the error is that of R squared. mu is
looked for by Lanczos steps from a random vector: an eigenvalue that the block does not see is found there.
Everything else is a product of matrices: quicker than one vector at a time where hundreds are wanted.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gramlearn._sparse_plus_low_rank import SparsePlusLowRank

__all__ = ["PositivePart", "positive_part"]

_DENSE = 500  # up to this size all eigenvalues at once are quicker
_AFFORDABLE = 6000  # up to this size all eigenvalues at once can be had, where the search fails
_ROUNDS = 50
_GAIN = 100.0  # of a zero eigenvalue over those below the cut, a round
_RANGE = 1e10  # between the largest and zero, a round: more, and rounding would hide the small ones


@final
@dataclass(frozen=True, eq=False)
class PositivePart:
    """V diag(theta) V' of positive theta.

    The eigenvalues of Y are at most those in `above`, and then `rest`, `n_rest` times. `block` is where a
    search for a matrix nearby may begin.
    """

    theta: np.ndarray
    V: np.ndarray
    above: np.ndarray
    rest: float
    n_rest: int
    block: np.ndarray

    def excess(self, unit: float) -> float:
        """What the bounds add to the sum of squares, relative to it or to the unit."""
        found = float(self.theta @ self.theta)
        bound = float(self.above @ self.above) + self.n_rest * self.rest**2
        if bound <= found:
            return 0.0
        return (bound - found) / max(found, unit) if max(found, unit) > 0 else np.inf

    def among(self, rows: np.ndarray, n: int) -> "PositivePart":
        """The same for a matrix n x n that is this one on some rows, and zero elsewhere."""
        V, block = np.zeros((n, self.V.shape[1])), np.zeros((n, self.block.shape[1]))
        V[rows], block[rows] = self.V, self.block
        return replace(self, V=V, block=block)


def positive_part(
    Y: Any,
    rank: int,
    block: np.ndarray | None = None,
    accuracy: float = 1e-8,
    unit: float = 0.0,
) -> PositivePart:
    """Find the positive eigenvalues of Y: their sum of squares to this accuracy.

    Parameters
    ----------
    Y : sparse matrix n x n, or SparsePlusLowRank
    rank : int
        A first guess of how many there are.
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
        return positive_part(Y.among(rows), rank, inner, accuracy, unit).among(rows, n)
    if n == 0 or Y.interval()[1] <= 0:
        none = np.zeros((n, 0))
        return PositivePart(np.zeros(0), none, np.zeros(0), 0.0, 0, none)
    block = None if block is None or not block.any() else block
    size = rank + _padding(rank) if block is None else block.shape[1]
    if n <= _DENSE or (n <= _AFFORDABLE and 4 * size >= n):
        return _all_at_once(Y)
    rng = np.random.default_rng(0)  # the same Y gives the same answer
    V = rng.standard_normal((n, min(size, n // 4))) if block is None else block
    found = _search(Y, V, accuracy, unit, rng)
    return _all_at_once(Y) if found.excess(unit) > accuracy and n <= _AFFORDABLE else found


def _search(
    Y: Any, V: np.ndarray, accuracy: float, unit: float, rng: np.random.Generator
) -> PositivePart:
    """Filter, diagonalize and grow, until the bounds are as close as asked for or the block is large."""
    n, last = Y.shape[0], np.inf
    low, high = Y.interval()
    cut = 0.0
    for _ in range(_ROUNDS):
        V, _ = np.linalg.qr(_filtered(Y, V, low, cut, high))
        image = Y @ V
        theta, U = np.linalg.eigh(V.T @ image)
        theta, U = theta[::-1], U[:, ::-1]  # the largest stand out, and go first in the next QR
        V, image = V @ U, image @ U
        high, cut = max(float(theta[0]), 1e-3 * high), min(float(theta[-1]), 0.0)
        R = image - V * theta
        excess = _judged(V, theta, R, cut).excess(unit)
        if excess <= accuracy:
            mu, vector = _largest_beside(Y, V, low, rng)
            found = _judged(V, theta, R, mu)
            if found.excess(unit) <= accuracy:
                return found
            V = np.hstack([V, vector[:, None]])
        count = int((theta > 1e-12 * high).sum())
        more = _padding(count) - (V.shape[1] - count)
        if more <= 0 and excess > 0.1 * last:
            more = 1 + V.shape[1] // 4  # eigenvalues crowd at the cut: it has to be lower
        last = excess
        if more > 0:
            more = max(more, V.shape[1] // 4)
            if V.shape[1] + more > n // 4:
                break
            V, last = np.hstack([V, rng.standard_normal((n, more))]), np.inf
    V = V[:, : theta.shape[0]]  # without what was added after the last look
    return _judged(V, theta, R, _largest_beside(Y, V, low, rng)[0])


def _padding(rank: int) -> int:
    """How many vectors beside the wanted ones a block has: the more, the fewer rounds."""
    return 8 + rank // 8


def _all_at_once(Y: Any) -> PositivePart:
    from scipy.linalg import eigh

    matrix = Y.toarray()
    theta, V = eigh(matrix, subset_by_value=(0.0, np.inf), check_finite=False)
    rounding = np.finfo(float).eps * np.abs(matrix).sum(axis=1).max(initial=0.0)
    return PositivePart(theta, V, theta + rounding, 0.0, 0, V)


def _filtered(Y: Any, V: np.ndarray, low: float, cut: float, high: float) -> np.ndarray:
    """T_d(Z) V for the Chebyshev polynomial of a degree d, with [low, cut] moved to [-1, 1]."""
    # Neither the interval nor what is above it may vanish.
    width = max(high - low, high)
    cut = min(cut, -1e-3 * width)
    low = min(low, cut - 1e-3 * width)
    center, half = (low + cut) / 2, (cut - low) / 2
    wanted = np.arccosh(_GAIN) / np.arccosh((0.0 - center) / half)
    allowed = np.arccosh(_RANGE) / np.arccosh(max((high - center) / half, 1.0 + 1e-12))
    degree = int(np.clip(min(wanted, allowed), 4, 60))
    before, now = V, (Y @ V - center * V) / half
    for _ in range(degree - 1):
        after = Y @ now
        after -= center * now
        after *= 2 / half
        after -= before
        before, now = now, after
    return now / np.linalg.norm(now, axis=0)


def _judged(V: np.ndarray, theta: np.ndarray, R: np.ndarray, mu: float) -> PositivePart:
    n, m = V.shape
    size = float(np.linalg.norm(R))
    # |theta| |R|^2 / delta + n delta^2 is least about here, if mu leaves the choice.
    delta = max(-mu, (np.linalg.norm(theta) * size**2 / n) ** (1 / 3), np.finfo(float).tiny)
    above = np.clip(np.linalg.eigvalsh(np.diag(theta) + R.T @ R / delta), 0.0, None)
    positive = theta > 0
    return PositivePart(theta[positive], V[:, positive], above, max(mu + delta, 0.0), n - m, V)


def _largest_beside(
    Y: Any, V: np.ndarray, bottom: float, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of P Y P, or a little more, and its vector; Y has none below the bottom."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = Y.shape[0]

    def product(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        inside = x - V @ (V.T @ x)
        image = Y @ inside - bottom * inside  # positive semidefinite, and zero on the span of V
        return np.asarray(image - V @ (V.T @ image))

    start = product(rng.standard_normal(n))
    if not start.any():
        return bottom, rng.standard_normal(n)  # all that is left beside V is at the bottom
    operator = LinearOperator((n, n), matvec=product, dtype=float)
    # Three, and in a large subspace: the largest alone may settle before it is the largest.
    size = {"k": min(3, n - 1), "ncv": min(60, n), "tol": 1e-4}
    try:
        values, vectors = eigsh(operator, which="LA", v0=start, **size)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
        if not len(values):
            return np.inf, rng.standard_normal(n)
    value, vector = values[-1], vectors[:, -1]
    off = float(np.linalg.norm(product(vector) - value * vector))
    return float(value) + off + bottom, vector
