"""R = K - G G' is positive semidefinite where K is: R_ii >= 0 and R_ij^2 <= R_ii R_jj.

Whether a large K is positive semidefinite costs n^3 to decide. These look at what a low-rank factor has
computed anyway; what they refuse is proven indefinite, up to half of the digits.
"""

import numpy as np

from gramlearn._base.arrays import chunks
from gramlearn.kernels.matrix import KernelMatrix


def read_diagonal(source: KernelMatrix) -> np.ndarray:
    """Give the diagonal of K, which is nowhere negative and not zero."""
    diagonal = source.diagonal()
    least, largest = int(np.argmin(diagonal)), float(np.abs(diagonal).max())
    if diagonal[least] < -source.tolerance * largest:
        raise _indefinite(source, f"diagonal entry {least} is {diagonal[least]:.6g}")
    if largest <= np.finfo(float).tiny / source.eps:  # smaller numbers have too few digits
        raise ValueError(
            f"{source.words} has a diagonal of zeros, so it is zero itself or not positive semidefinite; "
            "check `X`, or choose another kernel."
        )
    return diagonal


def check_left(left: np.ndarray, diagonal: np.ndarray, source: KernelMatrix) -> None:
    """The diagonal of R, `left`, is nowhere negative."""
    i = int(np.argmin(left))
    if left[i] < -source.tolerance * diagonal.max():
        raise _indefinite(
            source,
            f"diagonal entry {i} is {diagonal[i]:.6g}, and by other entries at least "
            f"{diagonal[i] - left[i]:.6g}",
        )


def check_entries(G: np.ndarray, left: np.ndarray, source: KernelMatrix) -> None:
    """No entry of R is larger than its diagonal `left` allows; for a K that is in memory."""
    K = source.stored
    if K is None:
        return
    size = np.sqrt(np.clip(left, 0.0, None))
    rounding = source.tolerance * np.diagonal(K).max()
    for rows in chunks(len(K), len(K), K):
        explained = G[rows] @ G.T
        excess = np.abs(K[rows] - explained) - size[rows, None] * size
        if excess.max() > rounding:
            i, j = (int(k) for k in np.unravel_index(np.argmax(excess), excess.shape))
            low, high = (explained[i, j] + sign * size[rows][i] * size[j] for sign in (-1, 1))
            i += rows.start
            raise _indefinite(
                source,
                f"entry ({i}, {j}) is {K[i, j]:.6g}, and by other entries between {low:.6g} and {high:.6g}",
            )


def check_spectrum(s: np.ndarray, source: KernelMatrix) -> None:
    """No eigenvalue, of K or of a part of it, is negative."""
    if s.min() < -source.tolerance * np.abs(s).max():
        raise _indefinite(source, f"it has the eigenvalue {s.min():.6g}")


def _indefinite(source: KernelMatrix, proof: str) -> ValueError:
    return ValueError(
        f"{source.words} is not positive semidefinite ({proof}); choose another kernel, or clip the negative "
        "eigenvalues of its matrix."
    )
