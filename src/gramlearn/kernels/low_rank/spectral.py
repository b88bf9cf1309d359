"""K ~= V diag(s) V' with the r largest eigenvalues s: of all factors with r columns the one of least error.

The linear kernel of n points with d < n features, K = X X', has them from X = V diag(s)^(1/2) R': n d^2
operations, and x -> R'x for new points.
"""

from contextlib import suppress
from typing import Any

import numpy as np

from gramlearn._base.validation import check_either_way
from gramlearn.kernels.kernel import Features
from gramlearn.kernels.low_rank.factor import (
    LowRankKernel,
    check_rank,
    finish_factor,
    rounding_of_spectrum,
)
from gramlearn.kernels.low_rank.psd_checks import check_spectrum, read_diagonal
from gramlearn.kernels.matrix import KernelMatrix, read_kernel_matrix

# Lanczos iterations find at most one eigenvalue in _FEW, of matrices of at least _MANY rows.
_FEW, _MANY = 10, 500
_LARGEST = 10_000  # points whose K is formed for that: 800 MB
_BLOCK = 2**23  # entries of K at a time, where it is not: 64 MB
_SPARE = 10  # vectors more than are asked for, which speeds up the convergence of the others
_PASSES = 30
_RESIDUAL = 1e-12  # |K v - s v|, relative to the largest s


def spectral_factor(
    X: Any, kernel: Any, *, rank: int | None = None, **params: Any
) -> LowRankKernel:
    """K ~= V diag(s) V' with the r largest eigenvalues s: no G with r columns has a smaller error.

    A few eigenvalues of a large K are computed by Lanczos iterations to full precision, others by a dense
    decomposition. K is formed, n x n, up to 10,000 points and wherever many eigenvalues are asked for; the
    iterations on more points go over its columns a few times instead. New points are compared with all n.
    The linear kernel of fewer features than points needs neither: its eigenvectors are singular vectors of X.

    Parameters
    ----------
    X, kernel, **params :
        As for `incomplete_cholesky`.
    rank : int, optional
        How many eigenvalues; all that are not rounding errors where it is not given. G has fewer
        columns where K has lower rank.
    """
    return spectral_factor_of(read_kernel_matrix(X, kernel, params), rank)


def spectral_factor_of(source: KernelMatrix, rank: int | None = None) -> LowRankKernel:
    """The same of a kernel that was read before."""
    n = source.n_points
    rank = n if rank is None else check_rank(rank, n)
    diagonal = read_diagonal(source)
    if source.features is not None and source.features.shape[1] < n:
        return _from_features(source, source.features, rank, diagonal)
    s, V = _largest_eigenpairs(source, rank)
    check_spectrum(s, source)
    order = np.argsort(s)[::-1][:rank]
    s, V = s[order], V[:, order]
    kept = s > rounding_of_spectrum(n, s, diagonal, source)
    s, V = s[kept], V[:, kept]
    return finish_factor(source, V * np.sqrt(s), diagonal, np.arange(n), V / np.sqrt(s))


def _from_features(
    source: KernelMatrix, X: np.ndarray, rank: int, diagonal: np.ndarray
) -> LowRankKernel:
    _, root, Rt = np.linalg.svd(X, full_matrices=False)
    s = root**2
    kept = np.flatnonzero(s > rounding_of_spectrum(len(X), s, diagonal, source))[:rank]
    R = Rt[kept].T
    return finish_factor(source, X @ R, diagonal, np.arange(0), R, Features(X.shape[1]))


def _largest_eigenpairs(source: KernelMatrix, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The `rank` eigenvalues of largest modulus, or more, so that a large negative one is seen."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = source.n_points
    if n >= _MANY and rank * _FEW <= n:
        if n > _LARGEST and source.stored is None:
            return _by_passes(source, rank)
        start = np.random.default_rng(0).standard_normal(n)
        with suppress(ArpackNoConvergence):
            s, V = eigsh(_symmetric(source), k=rank, which="LM", v0=start)
            return s, V
    s, V = eigh(_symmetric(source))
    return s, V


def _symmetric(source: KernelMatrix) -> np.ndarray:
    K = check_either_way(source.matrix(), source.words, source.tolerance)
    return np.asarray((K + K.T) / 2)


def _by_passes(source: KernelMatrix, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Block Lanczos iterations: a pass over the columns of K multiplies it by many vectors at once.

    The eigenvectors are sought in the span of Q, KQ, K^2 Q, ...; what is found is exact to `_RESIDUAL`.
    """
    n = source.n_points
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, rank + _SPARE)))[0]
    V, KV = Q, _times(source, Q)
    for _ in range(_PASSES):
        H = V.T @ KV
        s, U = np.linalg.eigh((H + H.T) / 2)
        largest = np.argsort(-np.abs(s))[:rank]
        s, U = s[largest], U[:, largest]
        residual = np.linalg.norm(KV @ U - (V @ U) * s, axis=0).max()
        if residual <= _RESIDUAL * np.abs(s).max():
            break
        Q = KV[:, -Q.shape[1] :]
        for _ in range(2):  # the second time for what rounding has left
            Q = np.linalg.qr(Q - V @ (V.T @ Q))[0]
        V, KV = np.hstack([V, Q]), np.hstack([KV, _times(source, Q)])
    else:
        raise ValueError(
            f"the {rank} largest eigenvalues of {source.words} are not found, as too many are alike; ask for "
            "another `rank`, or use incomplete_cholesky."
        )
    return s, V @ U


def _times(source: KernelMatrix, Q: np.ndarray) -> np.ndarray:
    """K Q, from as many columns of K at a time as memory allows; some of them are checked for symmetry."""
    n = source.n_points
    total = np.zeros_like(Q)
    for rows in np.array_split(np.arange(n), -(-n * n // _BLOCK)):
        columns = source.columns(rows)
        check_either_way(columns[rows], source.words, source.tolerance)
        total += columns @ Q[rows]
    return total
