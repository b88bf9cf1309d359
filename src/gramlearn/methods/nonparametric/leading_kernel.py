"""max <A, K> over PSD K of rank r with tr K^p <= B, or less (G/p) tr K^p: the leading eigenvectors of A alone.

For K of rank r with eigenvalues kappa, <A, K> <= sum_i lambda_i(A) kappa_i (von Neumann), so K has the leading
eigenvectors of A, and kappa follows from the r largest lambda+ as in Propositions 1 and 2 of Z11. For p = 1 and
B, K = B v v' with the first of them, shared evenly where several are the largest. With R = A V - V theta and
P A P <= beside P for P = I - V V', the i-th eigenvalue of A is at most the i-th largest among theta and copies
of `beside`, plus |R| (Weyl): a bound on what is left to gain. Of the vectors that share an eigenvalue, as those
of the pieces of a graph do, a Krylov space holds one; so `beside` is looked for afresh, and what is found there
added.
"""

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.validation import check_count
from gramlearn._base.warnings import warn
from gramlearn.methods.nonparametric.capacity import CapacityAnswer, certificate_of
from gramlearn.problem.status import Status

__all__ = ["Leading", "leading_eigenvectors", "leading_kernel", "too_large"]

_DENSE = 600  # up to this size all eigenvalues at once are quicker
_AFFORDABLE = 6000  # up to this size all eigenvalues at once can be had, where the search fails
_EQUAL = 1e-9  # of |A|: eigenvalues that differ by less are the same
_CHECK = 4  # vectors of a search beside those found


class Leading(NamedTuple):
    """The largest eigenvalues, in descending order, and their vectors V.

    `off` is |A V - V diag(values)|, and `beside` the largest eigenvalue that others may have.
    """

    values: np.ndarray
    vectors: np.ndarray
    off: float
    beside: float


def leading_eigenvectors(A: Any, count: int, tol: float = 1e-9) -> Leading:
    """The `count` largest eigenvalues of a sparse symmetric matrix; all at once where that is quick."""
    from scipy.sparse.linalg import ArpackNoConvergence

    n = int(A.shape[0])
    count = check_count(count, "count")
    if n <= _DENSE or 3 * count >= n:
        return _all_at_once(A, count)
    found = _Found(A)
    try:
        return found.searched(count, tol)
    except ArpackNoConvergence as error:
        if n <= _AFFORDABLE:
            return _all_at_once(A, count)
        found.add(error.eigenvectors)
    kept = min(count, found.values.size)
    if kept == 0:
        raise RuntimeError(
            f"the eigensolver found none of the {count} leading eigenvectors of a matrix of size {n}; a "
            "smaller `rank` asks for less."
        )
    warn(
        f"the eigensolver found {kept} of the {count} leading eigenvectors of a matrix of size {n}; the "
        "others are left out. A smaller `rank` asks for less.",
        ConvergenceWarning,
    )
    return found.leading(kept, found.size)


class _Found:
    """Eigenvectors of A found so far, in descending order."""

    def __init__(self, A: Any) -> None:
        self._A = A
        self.size = float(
            abs(A).sum(axis=1).max()
        )  # no eigenvalue is larger, or below its negative
        self.values, self.vectors = np.zeros(0), np.zeros((A.shape[0], 0))

    def searched(self, count: int, tol: float) -> Leading:
        """Search beside those found until none there is larger than the last wanted."""
        from scipy.sparse.linalg import eigsh

        n = int(self._A.shape[0])
        rng = np.random.default_rng(0)  # the same A gives the same answer
        wanted = count
        while True:
            start = rng.standard_normal(n)
            values, vectors = eigsh(
                self._others(), wanted, which="LA", v0=start, tol=tol, ncv=min(n, 2 * wanted + 40)
            )
            has_all = self.values.size >= count
            if has_all and values.max() <= self.values[count - 1] + max(tol, _EQUAL) * self.size:
                return self.leading(count, float(values.max()))
            self.add(vectors)
            wanted = min(2 * wanted, count) if has_all else _CHECK

    def _others(self) -> Any:
        """A with the eigenvalues of those found moved below all others."""
        from scipy.sparse.linalg import LinearOperator

        V, moved = self.vectors, self.values + self.size
        if not V.size:
            return self._A
        return LinearOperator(
            self._A.shape,
            matvec=lambda x: self._A @ x - V @ (moved * (V.T @ x.ravel())),
            dtype=float,
        )

    def add(self, vectors: np.ndarray) -> None:
        Q = np.linalg.qr(np.hstack([self.vectors, vectors]))[0]
        values, U = np.linalg.eigh(Q.T @ (self._A @ Q))
        self.values, self.vectors = values[::-1], Q @ U[:, ::-1]

    def leading(self, count: int, beside: float) -> Leading:
        more = self.values[count : count + 1]
        return _judged(
            self._A, self.values[:count], self.vectors[:, :count], max([beside, *more.tolist()])
        )


def _all_at_once(A: Any, count: int) -> Leading:
    from scipy.linalg import eigh

    n = int(A.shape[0])
    values, V = eigh(A.toarray(), subset_by_index=(max(n - count, 0), n - 1), check_finite=False)
    return _judged(A, values[::-1], V[:, ::-1], float(values[0]))


def _judged(A: Any, values: np.ndarray, V: np.ndarray, beside: float) -> Leading:
    return Leading(values, V, float(np.linalg.norm(A @ V - V * values)), beside)


def leading_kernel(
    A: Any, rank: int | None, p: float, B: float | None, G: float = 1.0, tol: float = 1e-6
) -> CapacityAnswer:
    """The K of a rank that has the largest <A, K>, for a capacity B or else for its price G."""
    began = time.perf_counter()
    # All that can be largest for p = 1: so many equal eigenvalues are not expected.
    count = 8 if rank is None else rank
    found = leading_eigenvectors(A, count, tol / 100)
    theta, V = np.clip(found.values, 0.0, None), found.vectors
    largest = float(abs(A).sum(axis=1).max())
    if p == 1:
        assert B is not None
        first = theta >= theta[0] - _EQUAL * abs(theta[0])
        kappa = np.where(first, B / first.sum(), 0.0) if theta[0] > 0 else 0.0 * theta
        price = float(theta[0])
    else:
        q = p / (p - 1)
        price = G if B is None else _norm(theta, q) / B ** (1 / q)
        with np.errstate(over="ignore"):
            kappa = (theta / price) ** (q - 1) if price > 0 else 0.0 * theta
            if not np.sum(kappa**p) < np.inf:
                raise ValueError(too_large(p, price))
    value = -float(found.values @ kappa)
    kept = kappa > 0
    high = np.sort(np.append(found.values, np.full(count, found.beside)))[::-1][:count]
    gap = _best(np.clip(high + found.off, 0.0, None), p, B, price) - _best(theta, p, B, price)
    capacity = float(np.sum(kappa**p))
    size = abs(value + (0.0 if p == 1 else price * capacity / p))
    factor = V[:, kept] * np.sqrt(kappa[kept])
    # Where K is zero, what a single eigenvalue of the size of A would give is the measure.
    size = max(abs(value), size) or _best(np.asarray([largest]), p, B, price)
    return CapacityAnswer(
        factor,
        price,
        capacity,
        (),
        certificate=certificate_of(value, max(gap, 0.0), size),
        status=Status.OPTIMAL if gap <= tol * size else Status.STALLED,
        history=[],
        seconds=time.perf_counter() - began,
    )


def too_large(p: float, G: float) -> str:
    """What to say where (A+ / G)^(1 / (p - 1)) overflows."""
    return (
        f"the kernel of `p={p:g}` and `G={G:g}`, (A+ / G)^(1 / (p - 1)), is too large for floating-point "
        "numbers; raise `p` or `G`, or pass a capacity `B`."
    )


def _norm(x: np.ndarray, q: float) -> float:
    """|x|_q, without overflow for large q."""
    largest = float(x.max(initial=0.0))
    return largest * float(np.sum((x / largest) ** q)) ** (1 / q) if largest > 0 else 0.0


def _best(eigenvalues: np.ndarray, p: float, B: float | None, G: float) -> float:
    """The largest <A, K>, less (G/p) tr K^p where there is no B, for these leading eigenvalues of A."""
    if p == 1:
        assert B is not None
        return B * float(eigenvalues[0])
    q = p / (p - 1)
    if B is not None:
        return float(B ** (1 / p)) * _norm(eigenvalues, q)
    with np.errstate(over="ignore"):
        return min(G / q * float(np.sum((eigenvalues / G) ** q)), float(np.finfo(float).max))
