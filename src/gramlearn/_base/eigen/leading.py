"""A V ~ V diag(theta): the few largest eigenvalues of a sparse symmetric A, and a bound on all others.

A Krylov space holds only one of the vectors that share an eigenvalue, as those of the components of a graph do.
So the search is repeated, with the eigenvalues that were found moved below the rest, until none is as large.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.validation import check_count
from gramlearn._base.warnings import warn

_DENSE = 600  # up to this size all eigenvalues at once are quicker
_AFFORDABLE = 6000  # up to this size all eigenvalues are computed at once where the search fails
_EQUAL = 1e-9  # of |A|: eigenvalues that differ by less are the same
_CHECK = 4  # vectors of a search among the others


class Leading(NamedTuple):
    """The largest eigenvalues, in descending order, and their vectors V.

    `residual_norm` is |A V - V diag(values)|, and no other eigenvalue is above `next_eigenvalue_bound`.
    """

    values: np.ndarray
    vectors: np.ndarray
    residual_norm: float
    next_eigenvalue_bound: float


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
        # No eigenvalue is larger, or below its negative.
        self.size = float(abs(A).sum(axis=1).max())
        self.values, self.vectors = np.zeros(0), np.zeros((A.shape[0], 0))

    def searched(self, count: int, tol: float) -> Leading:
        """Search among the others until none of them is larger than the last wanted."""
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

    def leading(self, count: int, bound: float) -> Leading:
        bound = max([bound, *self.values[count : count + 1].tolist()])
        return _with_residual(self._A, self.values[:count], self.vectors[:, :count], bound)


def _all_at_once(A: Any, count: int) -> Leading:
    from scipy.linalg import eigh

    n = int(A.shape[0])
    values, V = eigh(A.toarray(), subset_by_index=(max(n - count, 0), n - 1), check_finite=False)
    return _with_residual(A, values[::-1], V[:, ::-1], float(values[0]))


def _with_residual(A: Any, values: np.ndarray, V: np.ndarray, bound: float) -> Leading:
    return Leading(values, V, float(np.linalg.norm(A @ V - V * values)), bound)
