"""K ~= G G' with G n x r: a kernel of n points as coordinates in r dimensions.

    incomplete Cholesky    one column of K a step, where the diagonal of K - GG' is largest
    Nystroem               G = K_nm K_mm^(-1/2), from m landmarks
    spectral               G = V diag(s)^(1/2), from the r largest eigenvalues: the least error of all

In each, G = K_np W for some rows p, the landmarks, and weights W. So a new point x has the coordinates
g(x) = W' k(X_p, x), and g(x)' G_i approximates k(x, x_i).
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

import numpy as np

from gramlearn._arrays import to_numpy
from gramlearn._definiteness import check_entries, check_left, check_spectrum, checked_diagonal
from gramlearn._validation import (
    check_count,
    check_host_points,
    check_indices,
    check_symmetric,
    generator,
)
from gramlearn.kernel_functions import Kernel, read_kernel

__all__ = [
    "LowRankKernel",
    "combined_factor",
    "incomplete_cholesky",
    "nystroem",
    "spectral_factor",
]

_DEFAULT_TOL = 0.01  # the share of the trace that may be left where nothing else is asked for
_FIRST_COLUMNS = 64
_FEW = 10  # Lanczos takes over where at most one eigenvalue of so many is asked for,
_MANY = 500  # of matrices so large


@final
@dataclass(frozen=True, eq=False)
class LowRankKernel:
    """K ~= G G', and k(x, x_i) ~= g(x)' G_i for new points x.

    Attributes
    ----------
    factor : array n x r
        G. Its rows are coordinates of the points: squared distances between them are those of the
        kernel, K_ii + K_jj - 2 K_ij, up to the error.
    error : float
        tr(K - G G'), the trace that is left.
    trace : float
        tr K.
    landmarks : vector of row indices
        The points that new ones are compared with; for incomplete Cholesky the pivots in their order.
    compare : callable
        Gives the kernel values of new points with the landmarks.
    weights : array of a row a landmark and r columns
        W in G = K_np W.
    """

    factor: np.ndarray
    error: float
    trace: float
    landmarks: np.ndarray
    compare: Callable[[Any], np.ndarray]
    weights: np.ndarray

    def transform(self, X_new: Any) -> np.ndarray:
        """Give g(x) for each row of X_new.

        Parameters
        ----------
        X_new : array m x d
            New points; for a precomputed kernel their kernel values with all n points, m x n.

        Returns
        -------
        array m x r
            New rows of the factor; for the points it was made of, those it has.
        """
        return self.compare(X_new) @ self.weights

    def __repr__(self) -> str:
        n, r = self.factor.shape
        return (
            f"LowRankKernel({n} points, rank {r}, error {self.error:.3g}, "
            f"{self.error / self.trace:.2g} of the trace)"
        )


def incomplete_cholesky(
    X: Any, kernel: Any, *, rank: int | None = None, tol: float | None = None, **params: Any
) -> LowRankKernel:
    """K ~= G G' by a Cholesky factorization with pivots, stopped early: n r^2 operations.

    Each step takes the point whose k(x, x) is least explained so far. Only the diagonal of K and r of
    its columns are asked for.

    Parameters
    ----------
    X : array n x d, or n x n
        Points, or the kernel matrix itself.
    kernel : str or callable
        A name of scikit-learn's `pairwise_kernels`, such as "rbf"; a function k(A, B) that gives the
        matrix of all k(a, b); or "precomputed".
    rank : int, optional
        The most columns G may have; n where it is not given.
    tol : float, optional
        Stop once tr(K - G G') <= tol tr K, or once what is left of every point is rounding. Where neither
        rank nor tol is given it is 0.01: 99 % of the trace is kept, as by a principal component analysis of
        99 % of the variance, and for smooth kernels of many features every further digit takes hundreds of
        columns more. Where rank alone is given it is 0, and rank decides.
    **params
        Parameters of the kernel, such as gamma=0.1.
    """
    source = read_kernel(X, kernel, params)
    n = source.n_points
    most = n if rank is None else _check_rank(rank, n)
    tol = (_DEFAULT_TOL if rank is None else 0.0) if tol is None else _check_tol(tol)
    diagonal = checked_diagonal(source)
    left = diagonal.copy()
    enough = tol * diagonal.sum()
    rounding = _rounding(n, diagonal, source)
    G = np.zeros((n, min(most, _FIRST_COLUMNS)), order="F")  # written and read by columns
    pivots: list[int] = []
    while len(pivots) < most and left.sum() > enough:
        p, t = int(np.argmax(left)), len(pivots)
        if left[p] <= rounding:
            break
        if t == G.shape[1]:
            G = np.asfortranarray(np.hstack([G, np.zeros((n, min(t, most - t)))]))
        column = source.columns(np.asarray([p]))[:, 0] - G[:, :t] @ G[p, :t]
        column /= np.sqrt(left[p])
        column[pivots] = 0.0  # what a pivot explains stays explained, whatever rounding says
        column[p] = np.sqrt(left[p])
        G[:, t] = column
        pivots.append(p)
        left -= column**2
        left[pivots] = 0.0
        check_left(left, diagonal, source)
    landmarks = np.asarray(pivots)
    G = np.ascontiguousarray(G[:, : len(pivots)])
    from scipy.linalg import solve_triangular

    weights = solve_triangular(G[landmarks], np.eye(len(pivots)), lower=True).T
    return _finish(source, G, diagonal, landmarks, weights)


def nystroem(
    X: Any, kernel: Any, *, landmarks: Any, random_state: Any = None, **params: Any
) -> LowRankKernel:
    """K ~= K_nm K_mm^+ K_mn, factored as G = K_nm U diag(s)^(-1/2) with K_mm = U diag(s) U'.

    Eigenvalues s that are rounding errors are left out, so that equal landmarks do no harm; G then has
    fewer columns than there are landmarks.

    Parameters
    ----------
    X : array n x d, or n x n
        Points, or the kernel matrix itself.
    kernel : str or callable
        As for `incomplete_cholesky`.
    landmarks : int or vector of row indices
        How many to draw, every set of points equally likely; or the points themselves.
    random_state : int, Generator or None
        Seeds the draw.
    **params
        Parameters of the kernel.
    """
    source = read_kernel(X, kernel, params)
    chosen = _check_landmarks(landmarks, source.n_points, random_state)
    diagonal = checked_diagonal(source)
    columns = source.columns(chosen)
    core = np.asarray(check_symmetric(columns[chosen], f"{source.words} among `landmarks`"))
    s, U = np.linalg.eigh((core + core.T) / 2)
    check_spectrum(s, source)
    kept = s > _rounding_of_spectrum(len(s), s, diagonal, source)
    if not kept.any():
        raise ValueError(
            f"{source.words} is zero among `landmarks`; choose other ones, or more of them."
        )
    weights = U[:, kept] / np.sqrt(s[kept])
    return _finish(source, columns @ weights, diagonal, chosen, weights)


def spectral_factor(
    X: Any, kernel: Any, *, rank: int | None = None, **params: Any
) -> LowRankKernel:
    """K ~= V diag(s) V' with the r largest eigenvalues s: no G with r columns has a smaller error.

    K is formed, n x n. A few eigenvalues of a large K are computed by Lanczos iterations to full
    precision, others by a dense decomposition. New points are compared with all n.

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
    source = read_kernel(X, kernel, params)
    n = source.n_points
    rank = n if rank is None else _check_rank(rank, n)
    diagonal = checked_diagonal(source)
    K = np.asarray(check_symmetric(source.matrix(), source.words))
    s, V = _largest_eigenpairs((K + K.T) / 2, rank, source)
    kept = s > _rounding_of_spectrum(n, s, diagonal, source)
    s, V = s[kept], V[:, kept]
    return _finish(source, V * np.sqrt(s), diagonal, np.arange(n), V / np.sqrt(s))


def combined_factor(X: Any, kernel: Any, J: Any, **params: Any) -> LowRankKernel:
    """K ~= P P' with P = K J (J'KJ)^(-1/2): within the span of k combinations of the points (J12 3.6).

    Column c of J, n x k, holds the weights of the points in the c-th direction of feature space. Directions
    that depend on the others are left out.
    """
    source = read_kernel(X, kernel, params)
    J = check_host_points(J, "basis")
    if J.shape[0] != source.n_points:
        raise ValueError(
            f"`basis` has {J.shape[0]} rows, but there are {source.n_points} points; a column holds one weight "
            "for each."
        )
    used = np.flatnonzero(J.any(axis=1))
    if not used.size:
        raise ValueError("`basis` spans no direction: all of its columns are zero.")
    diagonal = checked_diagonal(source)
    J = J[used] / np.linalg.norm(J[used], axis=0).max()
    KJ = np.zeros((source.n_points, J.shape[1]))
    for start in range(0, len(used), _FIRST_COLUMNS):
        some = slice(start, start + _FIRST_COLUMNS)
        KJ += source.columns(used[some]) @ J[some]
    core = J.T @ KJ[used]
    s, U = np.linalg.eigh((core + core.T) / 2)
    kept = s > len(s) * max(source.eps, np.finfo(float).eps) * s[-1]
    weights = J @ (U[:, kept] / np.sqrt(s[kept]))
    return _finish(source, KJ @ (U[:, kept] / np.sqrt(s[kept])), diagonal, used, weights)


def _largest_eigenpairs(K: np.ndarray, rank: int, source: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """The `rank` largest eigenvalues, in descending order, and their eigenvectors."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = len(K)
    if n >= _MANY and rank * _FEW <= n:
        start = np.random.default_rng(0).standard_normal(n)
        try:
            # Of largest modulus, so that a large negative one is seen.
            s, V = eigsh(K, k=rank, which="LM", v0=start)
        except ArpackNoConvergence:
            s, V = eigh(K)
    else:
        s, V = eigh(K)
    check_spectrum(s, source)
    order = np.argsort(s)[::-1][:rank]
    return s[order], V[:, order]


def _rounding(size: int, diagonal: np.ndarray, source: Kernel) -> float:
    """What rounding of its entries can add to a size x size part of K, in the spectral norm."""
    return float(size * source.eps * diagonal.max())


def _rounding_of_spectrum(size: int, s: np.ndarray, diagonal: np.ndarray, source: Kernel) -> float:
    """The same of its eigenvalues, which are rounded once more when they are computed."""
    own = size * np.finfo(float).eps * s.max()
    return max(_rounding(size, diagonal, source), float(own))


def _finish(
    source: Kernel, G: np.ndarray, diagonal: np.ndarray, landmarks: np.ndarray, weights: np.ndarray
) -> LowRankKernel:
    """Measure what is left, K - G G', which is positive semidefinite where K is."""
    left = diagonal - np.vecdot(G, G)
    check_left(left, diagonal, source)
    check_entries(G, left, source)
    error = max(float(left.sum()), 0.0)
    compare = source.comparison(landmarks)
    return LowRankKernel(G, error, float(diagonal.sum()), landmarks, compare, weights)


# --------------------------------------------------------------------------------------------------
# What is refused


def _check_rank(rank: Any, n: int) -> int:
    rank = check_count(rank, "rank")
    if rank > n:
        raise ValueError(f"`rank={rank}` is more than the {n} points have; pass at most {n}.")
    return rank


def _check_tol(tol: Any) -> float:
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0 <= float(tol) < 1:
        raise ValueError(
            f"`tol` must be a number in [0, 1), a share of the trace of the kernel; got {tol!r}."
        )
    return float(tol)


def _check_landmarks(landmarks: Any, n: int, random_state: Any) -> np.ndarray:
    if np.ndim(landmarks) == 0:
        size = check_count(landmarks, "landmarks")
        if size > n:
            raise ValueError(
                f"`landmarks={size}` asks for more landmarks than the {n} points; pass at most {n}."
            )
        return generator(random_state).choice(n, size, replace=False)
    rows = to_numpy(check_indices(landmarks, "landmarks", n))
    if rows.size == 0:
        raise ValueError("`landmarks` is empty; pass at least one row index, or their number.")
    return rows
