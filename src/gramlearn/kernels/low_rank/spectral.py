"""K ~= V diag(s) V' with the r largest eigenvalues s: of all factors with r columns the one of least error.

The linear kernel of n points with d < n features, K = X X', has them from X = V diag(s)^(1/2) R': n d^2
operations, and x -> R'x for new points.
"""

from contextlib import suppress
from typing import Any

import numpy as np

from gramlearn._base.arrays import (
    Array,
    constant,
    count_true,
    is_numpy,
    namespace,
    placed_like,
    read,
)
from gramlearn._base.matrices import svd, symmetric_part
from gramlearn._base.points import rows_at
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
    xp = namespace(s)
    order = xp.flip(xp.argsort(s))[:rank]
    s, V = xp.take(s, order), xp.take(V, order, axis=1)
    kept = count_true(s > rounding_of_spectrum(n, s, diagonal, source))
    s, V = s[:kept], V[:, :kept]
    return finish_factor(source, V * xp.sqrt(s), diagonal, np.arange(n), V / xp.sqrt(s))


def _from_features(source: KernelMatrix, X: Array, rank: int, diagonal: Array) -> LowRankKernel:
    _, root, Rt = svd(X)
    s = root**2
    kept = count_true(s > rounding_of_spectrum(X.shape[0], s, diagonal, source))
    R = Rt[: min(rank, kept), :].T
    return finish_factor(source, X @ R, diagonal, np.arange(0), R, Features(X.shape[1]))


def _largest_eigenpairs(source: KernelMatrix, rank: int) -> tuple[Array, Array]:
    """The `rank` eigenvalues of largest modulus, or more, so that a large negative one is seen."""
    n = source.n_points
    is_small_part = n >= _MANY and rank * _FEW <= n
    if is_small_part and n > _LARGEST and source.stored is None:
        return _by_passes(source, rank)
    K = symmetric_part(check_either_way(source.matrix(), source.words, source.tolerance))
    if not is_numpy(K):
        return tuple(namespace(K).linalg.eigh(K))
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    if is_small_part:
        start = np.random.default_rng(0).standard_normal(n)
        with suppress(ArpackNoConvergence):
            s, V = eigsh(K, k=rank, which="LM", v0=start)
            return s, V
    s, V = eigh(K)
    return s, V


def _by_passes(source: KernelMatrix, rank: int) -> tuple[Array, Array]:
    """Block Lanczos iterations: a pass over the columns of K multiplies it by many vectors at once.

    The eigenvectors are sought in the span of Q, KQ, K^2 Q, ...; what is found is exact to `_RESIDUAL`.
    """
    n, xp = source.n_points, namespace(source.points)
    start = np.random.default_rng(0).standard_normal((n, rank + _SPARE))
    Q = xp.linalg.qr(placed_like(start, source.points))[0]
    V, KV = Q, _times(source, Q)
    for _ in range(_PASSES):
        s, U = xp.linalg.eigh(symmetric_part(V.T @ KV))
        largest = xp.argsort(-xp.abs(s))[:rank]
        s, U = xp.take(s, largest), xp.take(U, largest, axis=1)
        residual = read(xp.max(xp.linalg.vector_norm(KV @ U - (V @ U) * s, axis=0)))
        if residual <= _RESIDUAL * read(xp.max(xp.abs(s))):
            break
        Q = KV[:, -Q.shape[1] :]
        for _ in range(2):  # the second time for what rounding has left
            Q = xp.linalg.qr(Q - V @ (V.T @ Q))[0]
        V, KV = xp.concat([V, Q], axis=1), xp.concat([KV, _times(source, Q)], axis=1)
    else:
        raise ValueError(
            f"the {rank} largest eigenvalues of {source.words} are not found, as too many are alike; ask for "
            "another `rank`, or use incomplete_cholesky."
        )
    return s, V @ U


def _times(source: KernelMatrix, Q: Array) -> Array:
    """K Q, from as many columns of K at a time as memory allows; some of them are checked for symmetry."""
    n = source.n_points
    total = constant(0.0, Q, tuple(Q.shape))
    for rows in np.array_split(np.arange(n), -(-n * n // _BLOCK)):
        columns = source.columns(rows)
        check_either_way(rows_at(columns, rows), source.words, source.tolerance)
        total += columns @ rows_at(Q, rows)
    return total
