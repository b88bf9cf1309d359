"""Factors, eigenvalues and inverses of matrices in any array library; sums of their rows' squares.

What the array API lacks, or leaves to each library, is here: a Cholesky factor that may not exist, a solution
where a matrix is singular, small matrices of a GPU, which the host decomposes more quickly.
"""

from collections.abc import Callable
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np

from gramlearn._base.arrays import (
    Array,
    chunks,
    constant,
    eye,
    is_finite,
    is_numpy,
    namespace,
    read,
)

_SMALL_ON_DEVICE = 256  # rows of a matrix that a GPU needs longer to decompose than the host


def transpose(matrix: Array) -> Array:
    """Swap the last two axes."""
    return namespace(matrix).matrix_transpose(matrix)


def symmetric_part(matrix: Array) -> Array:
    """(M + M') / 2."""
    return (matrix + transpose(matrix)) / 2


def cholesky_or_none(matrix: Array) -> Array | None:
    """L with L L' = matrix, or None where the matrix is not positive definite."""
    xp = namespace(matrix)
    if array_api_compat.is_torch_namespace(xp):
        factor, failed = xp.linalg.cholesky_ex(matrix)
        return factor if not bool(failed) and is_finite(factor) else None
    try:
        factor = xp.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    # Some libraries answer with NaN instead of raising.
    return factor if is_finite(factor) else None


def eigh(matrix: Array) -> tuple[Array, Array]:
    """(e, U) with U diag(e) U' = matrix, the e ascending."""
    return _decomposed(matrix, lambda xp, a: tuple(xp.linalg.eigh(a)))


def eigvalsh(matrix: Array) -> Array:
    """The eigenvalues of a symmetric matrix, ascending."""
    return _decomposed(matrix, lambda xp, a: (xp.linalg.eigvalsh(a),))[0]


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """(U, s, V) with U diag(s) V = matrix, the s descending, as many as rows or columns, the fewer."""
    return _decomposed(matrix, lambda xp, a: tuple(xp.linalg.svd(a, full_matrices=False)))


def triangle_of(matrix: Array) -> Array:
    """R of the QR factorization: it has the singular values and right singular vectors of the matrix."""
    if is_numpy(matrix):
        return np.linalg.qr(matrix, mode="r")
    return namespace(matrix).linalg.qr(matrix, mode="reduced")[1]


def zero_diagonal(matrix: Array) -> Array:
    """The square matrix with zeros on its diagonal, written over it where its library can."""
    if is_numpy(matrix):
        np.fill_diagonal(matrix, 0.0)
        return matrix
    if array_api_compat.is_torch_array(matrix):
        return matrix.fill_diagonal_(0.0)
    return matrix * (1.0 - eye(matrix.shape[0], matrix))


def log_abs_det(matrix: Array) -> float:
    """log |det M|, -inf where M is singular."""
    return read(_decomposed(matrix, lambda xp, a: (xp.asarray(xp.linalg.slogdet(a)[1]),))[0])


def inverted(matrix: Array) -> Array:
    """M^-1 of a square matrix."""
    return _decomposed(matrix, lambda xp, a: (xp.linalg.inv(a),))[0]


def solved_or_nan(matrix: Array, right: Array) -> Array:
    """x with M x = right, for a matrix M and a vector; NaN where M is singular."""
    xp = namespace(matrix)
    errors = (np.linalg.LinAlgError, getattr(xp.linalg, "LinAlgError", np.linalg.LinAlgError))
    try:
        return xp.linalg.solve(matrix, right[:, None])[:, 0]
    except errors:
        return xp.full_like(right, float("nan"))


def _decomposed(matrix: Array, decompose: Callable[[Any, Array], tuple[Array, ...]]) -> Any:
    """Decompose where it is quickest: a small matrix of a GPU on the host."""
    xp = namespace(matrix)
    is_small = max(matrix.shape) <= _SMALL_ON_DEVICE
    if not (is_small and array_api_compat.is_torch_namespace(xp) and matrix.is_cuda):
        return decompose(xp, matrix)
    found = decompose(array_api_compat.numpy, matrix.cpu().numpy())
    return tuple(xp.asarray(part, device=matrix.device) for part in found)


def inverse_of_lower(lower: Array) -> Array:
    """L^-1 for L lower triangular, with zeros above its diagonal, at a sixth of the cost of any inverse."""
    xp = namespace(lower)
    if array_api_compat.is_torch_namespace(xp):
        return xp.linalg.solve_triangular(lower, eye(lower.shape[0], lower), upper=False)
    if not is_numpy(lower):
        return xp.linalg.inv(lower)
    from scipy.linalg import get_lapack_funcs

    (trtri,) = get_lapack_funcs(("trtri",), (lower,))
    return trtri(lower.T, lower=0)[0].T  # LAPACK reads by columns, and so sees the transpose


def weighted_gram(z: Array, v: Array) -> Array:
    """sum_k v_k z_k z_k' over the rows of z, in blocks, so that no copy of z is written to memory."""
    xp = namespace(z)
    # NumPy takes half the multiplications for a matrix times its own transpose.
    sign = 0.0
    if is_numpy(z):
        sign = 1.0 if np.all(v >= 0) else -1.0 if np.all(v <= 0) else 0.0
    scale = xp.sqrt(sign * v) if sign else v
    total = constant(0.0, z, (z.shape[1], z.shape[1]))
    for rows in chunks(z.shape[0], z.shape[1], z):
        scaled = z[rows, :] * scale[rows][:, None]
        total = total + transpose(scaled) @ (scaled if sign else z[rows, :])
    return -total if sign < 0 else total
