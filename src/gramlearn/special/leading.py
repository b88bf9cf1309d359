"""max <A, K> over PSD K of rank r with tr K^p <= B, or less (G/p) tr K^p: the leading eigenvectors of A alone.

For K of rank r with eigenvalues kappa, <A, K> <= sum_i lambda_i(A) kappa_i (von Neumann), so K has the leading
eigenvectors of A, and kappa follows from the r largest lambda+ as in Propositions 1 and 2 of Z11. For p = 1 and
B, K = B v v' with the first of them, shared evenly where several are the largest. With residuals R = A V - V
theta, the r largest eigenvalues are at most theta_i + |R| if none was missed: a bound on what is left to gain.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._validation import check_count
from gramlearn._warnings import warn
from gramlearn.special.capacity import CapacityAnswer

__all__ = ["Leading", "leading_eigenvectors", "leading_kernel"]

_DENSE = 600  # up to this size all eigenvalues at once are quicker
_AFFORDABLE = 6000  # up to this size all eigenvalues at once can be had, where the search fails
_EQUAL = 1e-9  # of the largest: eigenvalues that differ by less are the same


class Leading(NamedTuple):
    """The largest eigenvalues, in descending order, and their vectors; `off` is |A V - V diag(values)|."""

    values: np.ndarray
    vectors: np.ndarray
    off: float


def leading_eigenvectors(A: Any, count: int, tol: float = 1e-9) -> Leading:
    """The `count` largest eigenvalues of a sparse symmetric matrix; all at once where that is quick."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = int(A.shape[0])
    count = check_count(count, "count")
    if n <= _DENSE or 3 * count >= n:
        return _all_at_once(A, count)
    start = np.random.default_rng(0).standard_normal(n)  # the same A gives the same answer
    try:
        values, vectors = eigsh(A, count, which="LA", v0=start, tol=tol, ncv=min(n, 2 * count + 40))
    except ArpackNoConvergence as error:
        if n <= _AFFORDABLE:
            return _all_at_once(A, count)
        found = len(error.eigenvalues)
        warn(
            f"the eigensolver found {found} of the {count} leading eigenvectors of a matrix of size {n}; the "
            "others are left out. A smaller `rank` asks for less.",
            ConvergenceWarning,
        )
        values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(-values)
    return _judged(A, values[order], vectors[:, order])


def _all_at_once(A: Any, count: int) -> Leading:
    from scipy.linalg import eigh

    n = int(A.shape[0])
    values, V = eigh(A.toarray(), subset_by_index=(max(n - count, 0), n - 1), check_finite=False)
    return _judged(A, values[::-1], V[:, ::-1])


def _judged(A: Any, values: np.ndarray, V: np.ndarray) -> Leading:
    return Leading(values, V, float(np.linalg.norm(A @ V - V * values)))


def leading_kernel(
    A: Any, rank: int | None, p: float, B: float | None, G: float = 1.0
) -> CapacityAnswer:
    """The K of a rank that has the largest <A, K>, for a capacity B or else for its price G."""
    # All that can be largest for p = 1: so many equal eigenvalues are not expected.
    found = leading_eigenvectors(A, 8 if rank is None else rank)
    theta, V = np.clip(found.values, 0.0, None), found.vectors
    if p == 1:
        assert B is not None
        first = theta >= theta[0] - _EQUAL * abs(theta[0])
        kappa = np.where(first, B / first.sum(), 0.0) if theta[0] > 0 else 0.0 * theta
        value = -float(found.values @ kappa)
        price = float(theta[0])
    else:
        q = p / (p - 1)
        if B is not None:
            G = (float(np.sum(theta**q)) / B) ** (1 / q)
        kappa = (theta / G) ** (q - 1) if G > 0 else 0.0 * theta
        value, price = -float(found.values @ kappa), G
    kept = kappa > 0
    gap = _more(theta, theta + found.off, p, B, price)
    capacity = float(np.sum(kappa**p))
    size = abs(value + (0.0 if p == 1 else price * capacity / p))
    factor = V[:, kept] * np.sqrt(kappa[kept])
    return CapacityAnswer(factor, price, capacity, value, gap, max(abs(value), size))


def _more(low: np.ndarray, high: np.ndarray, p: float, B: float | None, G: float) -> float:
    """How much larger the best value is with the larger eigenvalues."""
    if p == 1:
        assert B is not None
        return float(B * (high[0] - low[0]))
    q = p / (p - 1)
    if B is not None:
        norms = (float(np.sum(x**q)) ** (1 / q) for x in (high, low))
        return float(B ** (1 / p) * (next(norms) - next(norms)))
    return float(np.sum(high**q - low**q) / q * G ** (1 - q))
