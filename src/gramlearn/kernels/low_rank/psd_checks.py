"""R = K - G G' is positive semidefinite where K is: R_ii >= 0 and R_ij^2 <= R_ii R_jj.

Whether a large K is positive semidefinite costs n^3 to decide. These look at what a low-rank factor has
computed anyway; what they refuse is proven indefinite, up to half of the digits.
"""

import numpy as np

from gramlearn._base.arrays import Array, chunks, clipped, namespace, read
from gramlearn.kernels.matrix import KernelMatrix


def read_diagonal(source: KernelMatrix) -> Array:
    """Give the diagonal of K, which is nowhere negative and not zero."""
    diagonal = source.diagonal()
    xp = namespace(diagonal)
    place, largest = int(xp.argmin(diagonal)), read(xp.max(xp.abs(diagonal)))
    least = read(diagonal[place])
    if least < -source.tolerance * largest:
        raise _indefinite(source, f"diagonal entry {place} is {least:.6g}")
    if largest <= np.finfo(float).tiny / source.eps:  # smaller numbers have too few digits
        raise ValueError(
            f"{source.words} has a diagonal of zeros, so it is zero itself or not positive semidefinite; "
            "check `X`, or choose another kernel."
        )
    return diagonal


def check_left(left: Array, diagonal: Array, source: KernelMatrix) -> None:
    """The diagonal of R, `left`, is nowhere negative."""
    xp = namespace(left)
    i = int(xp.argmin(left))
    if read(left[i]) < -source.tolerance * read(xp.max(diagonal)):
        there, least = read(diagonal[i]), read(diagonal[i] - left[i])
        raise _indefinite(
            source, f"diagonal entry {i} is {there:.6g}, and by other entries at least {least:.6g}"
        )


def check_entries(G: Array, left: Array, source: KernelMatrix) -> None:
    """No entry of R is larger than its diagonal `left` allows; for a K that is in memory."""
    K = source.stored
    if K is None:
        return
    xp, n = namespace(K), K.shape[0]
    size = xp.sqrt(clipped(left, low=0.0))
    rounding = source.tolerance * read(xp.max(xp.linalg.diagonal(K)))
    for rows in chunks(n, n, K):
        explained = G[rows, :] @ G.T
        excess = xp.abs(K[rows, :] - explained) - size[rows, None] * size
        if read(xp.max(excess)) > rounding:
            row, j = divmod(int(xp.argmax(xp.reshape(excess, (-1,)))), n)
            i = row + rows.start
            middle, off = read(explained[row, j]), read(size[i] * size[j])
            raise _indefinite(
                source,
                f"entry ({i}, {j}) is {read(K[i, j]):.6g}, and by other entries between {middle - off:.6g} and "
                f"{middle + off:.6g}",
            )


def check_spectrum(s: Array, source: KernelMatrix) -> None:
    """No eigenvalue, of K or of a part of it, is negative."""
    xp = namespace(s)
    least = read(xp.min(s))
    if least < -source.tolerance * read(xp.max(xp.abs(s))):
        raise _indefinite(source, f"it has the eigenvalue {least:.6g}")


def _indefinite(source: KernelMatrix, proof: str) -> ValueError:
    return ValueError(
        f"{source.words} is not positive semidefinite ({proof}); choose another kernel, or clip the negative "
        "eigenvalues of its matrix."
    )
