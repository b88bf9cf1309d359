"""K ~= V diag(s) V' with the r largest eigenvalues s: of all factors with r columns the one of least error."""

from contextlib import suppress
from typing import Any

import numpy as np

from gramlearn._definiteness import check_spectrum, checked_diagonal
from gramlearn._low_rank_kernel import LowRankKernel, check_rank, finished, rounding_of_spectrum
from gramlearn._validation import check_symmetric
from gramlearn.kernel_functions import Kernel, read_kernel

__all__ = ["spectral_factor", "spectral_factor_of"]

_FEW = 10  # Lanczos takes over where at most one eigenvalue of so many is asked for,
_MANY = 500  # of matrices so large
_LARGEST = 10_000  # points whose K is formed for that: 800 MB
_BLOCK = 2**23  # entries of K at a time, where it is not: 64 MB


def spectral_factor(
    X: Any, kernel: Any, *, rank: int | None = None, **params: Any
) -> LowRankKernel:
    """K ~= V diag(s) V' with the r largest eigenvalues s: no G with r columns has a smaller error.

    A few eigenvalues of a large K are computed by Lanczos iterations to full precision, others by a dense
    decomposition. K is formed, n x n, up to 10,000 points and wherever many eigenvalues are asked for; the
    iterations on more points compute its columns anew each time instead. New points are compared with all n.

    Parameters
    ----------
    X : array n x d, or n x n
        Points, or the kernel matrix itself.
    kernel : str or callable
        As for `incomplete_cholesky`.
    rank : int, optional
        How many eigenvalues; all that are not rounding errors where it is not given. G has fewer
        columns where K has lower rank.
    **params
        Parameters of the kernel.
    """
    return spectral_factor_of(read_kernel(X, kernel, params), rank)


def spectral_factor_of(source: Kernel, rank: int | None = None) -> LowRankKernel:
    """The same of a kernel that was read before."""
    n = source.n_points
    rank = n if rank is None else check_rank(rank, n)
    diagonal = checked_diagonal(source)
    s, V = _largest_eigenpairs(source, rank)
    check_spectrum(s, source)
    order = np.argsort(s)[::-1][:rank]
    s, V = s[order], V[:, order]
    kept = s > rounding_of_spectrum(n, s, diagonal, source)
    s, V = s[kept], V[:, kept]
    return finished(source, V * np.sqrt(s), diagonal, np.arange(n), V / np.sqrt(s))


def _largest_eigenpairs(source: Kernel, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The `rank` eigenvalues of largest modulus, or more, so that a large negative one is seen."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = source.n_points
    if n >= _MANY and rank * _FEW <= n:
        is_formed = n <= _LARGEST or source.stored is not None
        operator = _symmetric(source) if is_formed else _by_columns(source)
        start = np.random.default_rng(0).standard_normal(n)
        with suppress(ArpackNoConvergence):
            s, V = eigsh(operator, k=rank, which="LM", v0=start)
            return s, V
    s, V = eigh(_symmetric(source))
    return s, V


def _symmetric(source: Kernel) -> np.ndarray:
    K = np.asarray(check_symmetric(source.matrix(), source.words, tolerance=source.tolerance))
    return np.asarray((K + K.T) / 2)


def _by_columns(source: Kernel) -> Any:
    """v -> K v, from so many columns of K at a time as memory allows; the symmetry of some is looked at."""
    from scipy.sparse.linalg import LinearOperator

    n = source.n_points
    blocks = np.array_split(np.arange(n), -(-n * n // _BLOCK))
    first = source.columns(blocks[0])[blocks[0]]
    check_symmetric(first, source.words, tolerance=source.tolerance)

    def product(v: np.ndarray) -> np.ndarray:
        total = np.zeros(n)
        for rows in blocks:
            total += source.columns(rows) @ np.ravel(v)[rows]
        return total

    return LinearOperator((n, n), matvec=product, dtype=np.float64)
