"""K ~= G G' with G n x r: a kernel of n points as coordinates in r dimensions.

    incomplete Cholesky    one column of K a step, where the diagonal of K - GG' is largest
    Nystroem               G = K_nm K_mm^(-1/2), from m landmarks
    combinations           G = K J (J'KJ)^(-1/2), from k combinations of the points

All of them from a few columns of K; `spectral` has the one that looks at all.
"""

from numbers import Real
from typing import Any

import numpy as np

from gramlearn._base.arrays import (
    Array,
    constant,
    copied,
    count_true,
    is_numpy,
    namespace,
    placed_like,
    read,
    to_numpy,
)
from gramlearn._base.matrices import eigh, inverse_of_lower, symmetric_part
from gramlearn._base.points import rows_at
from gramlearn._base.validation import (
    as_float,
    check_count,
    check_either_way,
    check_host_points,
    check_indices,
    generator,
)
from gramlearn.kernels.low_rank.factor import (
    LowRankKernel,
    check_rank,
    finish_factor,
    rounding,
    rounding_of_spectrum,
)
from gramlearn.kernels.low_rank.psd_checks import check_left, check_spectrum, read_diagonal
from gramlearn.kernels.matrix import read_kernel_matrix

_DEFAULT_TOL = 0.01  # the share of the trace that may be left where nothing else is asked for
_FIRST_COLUMNS = 64


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
        Stop once tr(K - G G') <= tol tr K, or once the residual of every point is rounding. Where neither
        rank nor tol is given it is 0.01: 99 % of the trace is kept, as by a principal component analysis of
        99 % of the variance, and for smooth kernels of many features every further digit takes hundreds of
        columns more. Where rank alone is given it is 0, and rank decides.
    **params
        Parameters of the kernel, such as gamma=0.1.
    """
    source = read_kernel_matrix(X, kernel, params)
    n = source.n_points
    most = n if rank is None else check_rank(rank, n)
    tol = (_DEFAULT_TOL if rank is None else 0.0) if tol is None else _check_tol(tol)
    diagonal = read_diagonal(source)
    left, xp = copied(diagonal), namespace(diagonal)
    enough = tol * read(xp.sum(diagonal))
    noise = rounding(n, diagonal, source)
    G = _by_columns(constant(0.0, diagonal, (n, min(most, _FIRST_COLUMNS))))
    none, is_left = constant(0.0, diagonal, n), constant(1.0, diagonal, n) > 0
    pivots: list[int] = []
    while len(pivots) < most and read(xp.sum(left)) > enough:
        p, t = int(xp.argmax(left)), len(pivots)
        largest = read(left[p])
        if largest <= noise:
            break
        if t == G.shape[1]:
            more = constant(0.0, diagonal, (n, min(t, most - t)))
            G = _by_columns(xp.concat([G, more], axis=1))
        column = source.columns(np.asarray([p]))[:, 0] - G[:, :t] @ G[p, :t]
        # What a pivot explains stays explained, whatever rounding says.
        column = xp.where(is_left, column / largest**0.5, none)
        column[p] = largest**0.5
        G[:, t] = column
        pivots.append(p)
        is_left[p] = False
        left = xp.where(is_left, left - column**2, none)
        check_left(left, diagonal, source)
    landmarks = np.asarray(pivots)
    G = (
        copied(G[:, : len(pivots)])
        if not is_numpy(G)
        else np.ascontiguousarray(G[:, : len(pivots)])
    )
    return finish_factor(source, G, diagonal, landmarks, inverse_of_lower(rows_at(G, landmarks)).T)


def _by_columns(G: Array) -> Array:
    """Written and read by columns, where the library tells how they lie in memory."""
    return np.asfortranarray(G) if is_numpy(G) else G


def nystroem(
    X: Any, kernel: Any, *, landmarks: Any, random_state: Any = None, **params: Any
) -> LowRankKernel:
    """K ~= K_nm K_mm^+ K_mn, factored as G = K_nm U diag(s)^(-1/2) with K_mm = U diag(s) U'.

    Eigenvalues s that are rounding errors are left out, so that equal landmarks do no harm; G then has
    fewer columns than there are landmarks.

    Parameters
    ----------
    X, kernel, **params :
        As for `incomplete_cholesky`.
    landmarks : int or vector of row indices
        How many to draw, every set of points equally likely; or the points themselves.
    random_state : int, Generator or None
        Seeds the draw.
    """
    source = read_kernel_matrix(X, kernel, params)
    chosen = _check_landmarks(landmarks, source.n_points, random_state)
    diagonal = read_diagonal(source)
    columns = source.columns(chosen)
    core = check_either_way(rows_at(columns, chosen), source.words, source.tolerance)
    s, U = eigh(symmetric_part(core))
    check_spectrum(s, source)
    root = _inverse_root(s, U, rounding_of_spectrum(s.shape[0], s, diagonal, source))
    if root is None:
        raise ValueError(
            f"{source.words} is zero among `landmarks`; choose other ones, or more of them."
        )
    return finish_factor(source, columns @ root, diagonal, chosen, root)


def _inverse_root(s: Array, U: Array, rounding: float) -> Array | None:
    """U diag(s)^(-1/2) of the eigenvalues, ascending, that are more than rounding; None where none is."""
    first = s.shape[0] - count_true(s > rounding)
    return None if first == s.shape[0] else U[:, first:] / namespace(s).sqrt(s[first:])


def combined_factor(X: Any, kernel: Any, J: Any, **params: Any) -> LowRankKernel:
    """K ~= P P' with P = K J (J'KJ)^(-1/2): within the span of k combinations of the points (J12 3.6).

    Column c of J, n x k, holds the weights of the points in the c-th direction of feature space. Directions
    that depend on the others are left out.
    """
    source = read_kernel_matrix(X, kernel, params)
    J = check_host_points(J, "basis")
    if J.shape[0] != source.n_points:
        raise ValueError(
            f"`basis` has {J.shape[0]} rows, but there are {source.n_points} points; a column holds one weight "
            "for each."
        )
    used = np.flatnonzero(J.any(axis=1))
    if not used.size:
        raise ValueError("`basis` spans no direction: all of its columns are zero.")
    diagonal = read_diagonal(source)
    J = J[np.ix_(used, J.any(axis=0))]
    J = placed_like(J / np.linalg.norm(J, axis=0), diagonal)
    KJ = constant(0.0, diagonal, (source.n_points, J.shape[1]))
    for start in range(0, len(used), _FIRST_COLUMNS):
        some = slice(start, min(start + _FIRST_COLUMNS, len(used)))
        KJ += source.columns(used[some]) @ J[some, :]
    core = J.T @ rows_at(KJ, used)
    s, U = eigh(symmetric_part(core))
    root = _inverse_root(s, U, rounding_of_spectrum(len(used), s, diagonal, source))
    if root is None:
        raise ValueError(
            f"`basis` spans no direction: {source.words} is zero on all of its columns, to rounding."
        )
    return finish_factor(source, KJ @ root, diagonal, used, J @ root)


def _check_tol(tol: Any) -> float:
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0 <= as_float(tol) < 1:
        raise ValueError(
            f"`tol` must be a number in [0, 1), a share of the trace of the kernel; got {tol!r}."
        )
    return float(tol)


def _check_landmarks(landmarks: Any, n: int, random_state: Any) -> Array:
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
