"""X = V S V': the space a matrix is sought in, with X0 = V diag(s) V' for orthonormal V.

LogDet and von Neumann keep X within the range of the prior, so the problem is solved for the r x r
matrix S (K09 section 4). The basis is the orthonormal eigenbasis of X0, not a factor G with X0 = G G':
only LogDet gives the same answer in both.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import Array, as_real, clipped, count_true, machine_eps, namespace, read
from gramlearn._base.matrices import symmetric_part, transpose
from gramlearn._base.validation import check_count, check_points, check_symmetric

_NO_RANGE = (
    "`prior` has rank zero, and the answer must stay within its range. Use Frobenius or Schatten with a square "
    "prior to start from zero."
)


@final
@dataclass(frozen=True)
class Zeros:
    """X0 = 0, n x n, not written out: for kernels over many points, with Frobenius or Schatten."""

    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_count(self.n, "n"))


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """X0 = G G' for an array G of any shape n x r; X is sought within the range of G.

    Needed only where G happens to be square: another array that is not square is taken as a factor.
    """

    G: Any


@final
@dataclass(frozen=True, eq=False)
class Space:
    """X = V S V' with X0 = V diag(s) V'. `basis` is V, or None for the identity."""

    basis: Array | None
    spectrum: Array
    dimension: int

    def lift(self, F: Array) -> Array:
        """Give V F, a factor of X from a factor of S."""
        return F if self.basis is None else self.basis @ F

    def lower(self, F: Array) -> Array:
        """Give V'F, a factor of S from a factor of X."""
        return F if self.basis is None else transpose(self.basis) @ F

    @staticmethod
    def of(prior: Any, keeps_range: bool, dtype: str) -> "Space":
        """Read a prior: an n x n matrix, or a factor n x r."""
        if isinstance(prior, Zeros):
            if keeps_range:
                raise ValueError(_NO_RANGE)
            return Space(None, as_real(np.zeros(prior.n), dtype=dtype), prior.n)
        given = prior.G if isinstance(prior, Factor) else prior
        array = as_real(check_points(given, "prior"), dtype=dtype)
        if isinstance(prior, Factor) or array.shape[0] != array.shape[1]:
            return _of_factor(array)
        otherwise = (
            ", or Factor(prior) if it is a factor G of the prior G G' that happens to be square"
        )
        return _of_matrix(check_symmetric(array, "prior", otherwise), keeps_range)


def _of_factor(G: Array) -> Space:
    xp = namespace(G)
    n, r = int(G.shape[0]), int(G.shape[1])
    # A tall G is first made square, which is quicker.
    Q, R = xp.linalg.qr(G) if r < n else (None, G)
    U, singular, _ = xp.linalg.svd(R, full_matrices=False)
    U = U if Q is None else Q @ U
    rank = _rank(singular, n)
    return Space(U[:, :rank], singular[:rank] ** 2, n)


def _of_matrix(X0: Array, keeps_range: bool) -> Space:
    xp = namespace(X0)
    n = int(X0.shape[0])
    diagonal = xp.linalg.diagonal(X0)
    is_diagonal = count_true(X0 != 0) == count_true(diagonal != 0)
    least = read(xp.min(diagonal))
    if is_diagonal and (least > 0 or (least == 0 and not keeps_range)):
        # Already in its eigenbasis: the points are used as they are.
        return Space(None, diagonal, n)
    s, V = xp.linalg.eigh(symmetric_part(X0))
    s, V = xp.flip(s), xp.flip(V, axis=1)
    noise = n * machine_eps(s) * max(read(s[0]), -read(s[-1]))
    if read(s[-1]) < -10 * noise:
        raise ValueError(
            f"`prior` is not positive semidefinite (least eigenvalue {read(s[-1]):.6g}); clip its negative "
            "eigenvalues, or, to stay near an indefinite matrix C in the Frobenius norm, start from a prior "
            "of zeros with the term Term(DenseMatrices(C[None]), Linear(-1.0))."
        )
    if not keeps_range:
        return Space(V, clipped(s, low=0.0), n)
    rank = _rank(s, n)
    return Space(V[:, :rank], s[:rank], n)


def _rank(descending: Array, n: int) -> int:
    """Count the values that are not rounding errors of the largest one."""
    rank = count_true(descending > n * machine_eps(descending) * read(descending[0]))
    if rank == 0:
        raise ValueError(_NO_RANGE)
    return rank
