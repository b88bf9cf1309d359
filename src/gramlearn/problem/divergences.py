"""D(X, X0) = phi(X) - phi(X0) - <grad phi(X0), X - X0>, of matrices of any rank.

With X = V diag(x) V' and X0 = U diag(x0) U', a spectral divergence is an average of scalar ones
(Corollary 2 and Theorems 6 and 7 of Kulis, Sustik, Dhillon, JMLR 2009):

    D(X, X0) = sum_ij (v_i' u_j)^2 d(x_i, x0_j),     d(x, x0) = h(x) - h(x0) - h'(x0) (x - x0)

No term is negative, so nothing cancels between them. Where d is infinite at an eigenvalue zero, its
weight has to vanish, and the term with it: LogDet is finite where X and X0 have the same range, von
Neumann where the range of X lies within that of X0, Frobenius and Schatten everywhere.
"""

import numpy as np

from gramlearn._base.arrays import Array, as_real, namespace, read, where_true
from gramlearn._base.matrices import transpose
from gramlearn._base.validation import check_finite, check_symmetric
from gramlearn.problem.spectral import Regularizer

INF = float("inf")
EPS = float(np.finfo(np.float64).eps)

# An eigenvalue of an n x n matrix is zero if it is at most n times this, relative to the largest:
# ten times what rounding may add in forming and in decomposing the matrix.
RANK_TOLERANCE = 10 * EPS

# Gauss-Legendre on [0, 1]. On [x0, 2 x0] the singularity of h' at zero is three half-lengths from
# the middle, so twelve nodes leave an error of about (3 + sqrt 8)^-24 = 4e-19.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def divergence(X: Array, X0: Array, regularizer: Regularizer) -> float:
    """D(X, X0) of two positive semidefinite matrices, +inf where their ranges do not allow it.

    Parameters
    ----------
    X, X0 : array of shape (n, n)
        Symmetric positive semidefinite, of any rank. An eigenvalue of at most `n * RANK_TOLERANCE`
        times the largest one counts as zero.
    regularizer : Regularizer
        Which phi: `LogDet()`, `VonNeumann()`, `Frobenius()`, `Schatten(p)`.

    Returns
    -------
    float
        Nonnegative, never NaN; 0 if and only if X = X0, up to rounding.
    """
    X = _check_matrix(X, "X")
    X0 = as_real(_check_matrix(X0, "X0"), X)
    if X.shape != X0.shape:
        raise ValueError(
            f"`X` has shape {tuple(X.shape)}, but `X0` has shape {tuple(X0.shape)}; the two must "
            "agree."
        )
    xp = namespace(X)
    x, V = _spectrum(X, "X")
    x0, U = _spectrum(X0, "X0")
    weights = (transpose(V) @ U) ** 2
    if regularizer.keeps_range:
        if not _is_within_range(x, x0, weights):
            return INF
        inside = where_true(x0 > 0)
        x0, weights = xp.take(x0, inside), xp.take(weights, inside, axis=1)
    rank = int(x0.shape[0])
    if rank == 0:
        return 0.0  # both are zero
    if regularizer.needs_interior:
        if where_true(x > 0).shape[0] < rank:
            return INF
        # The rank largest. Others, if any, are part of what rounding put outside the range of X0.
        x, weights = x[-rank:], weights[-rank:, :]
    value = read(xp.sum(weights * _scalar_divergence(regularizer, x[:, None], x0[None, :])))
    return INF if value != value else value  # inf - inf: h overflowed


def _check_matrix(X: Array, name: str) -> Array:
    X = as_real(X)
    if 0 in X.shape:
        raise ValueError(f"`{name}` has shape {tuple(X.shape)}; at least one row is needed.")
    return check_symmetric(check_finite(X, name), name)


def _spectrum(X: Array, name: str) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors; what is zero up to rounding is exactly zero."""
    xp = namespace(X)
    x, V = xp.linalg.eigh(X)
    zero = RANK_TOLERANCE * x.shape[0] * read(xp.max(xp.abs(x)))
    least = read(x[0])
    if least < -zero:
        raise ValueError(
            f"`{name}` is not positive semidefinite: its eigenvalues reach from {least:.3g} to "
            f"{read(x[-1]):.3g}. If rounding is the cause, set the negative ones to zero first."
        )
    return xp.where(x > zero, x, xp.zeros_like(x)), V


def _is_within_range(x: Array, x0: Array, weights: Array) -> bool:
    """Whether tr X (I - P), P the projection on the range of X0, is no more than rounding explains.

    Rounding adds to X about n eps max(x) in any direction, and turns the range of X0 away from u_j
    by an angle of about n eps max(x0) / x0_j, which costs the square of it times u_j' X u_j.
    """
    xp = namespace(x)
    positive = x0 > 0
    energy = x @ weights  # u_j' X u_j
    unit = x0.shape[0] * EPS
    angle = unit * xp.max(x0) / xp.where(positive, x0, xp.ones_like(x0))
    leak = xp.sum(xp.where(positive, xp.zeros_like(energy), energy))
    turned = xp.sum(xp.where(positive, angle**2 * energy, xp.zeros_like(energy)))
    return bool(leak <= 10 * unit * xp.max(x) + turned)


def _scalar_divergence(regularizer: Regularizer, x: Array, x0: Array) -> Array:
    """d(x, x0) for all pairs of a column x and a row x0, where it is finite.

    The definition cancels as x comes near x0. There

        d(x, x0) = (x - x0) integral_0^1 [h'(x0 + s (x - x0)) - h'(x0)] ds

    is used: its integrand has one sign, and its error is what rounding of x and x0 causes anyway.
    """
    xp = namespace(x)
    difference = x - x0
    gap = xp.abs(difference)
    near = (gap <= x) & (gap <= x0) & (x0 > 0)  # within a factor of two of each other
    slope = regularizer.derivative(x0)
    definition = regularizer.value(x) - regularizer.value(x0) - slope * difference
    step = xp.where(near, difference, xp.zeros_like(gap))
    integral = xp.zeros_like(gap)
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
        integral = integral + weight * (regularizer.derivative(x0 + node * step) - slope)
    return xp.where(near, step * integral, definition)
