"""X with primal - dual <= gap: a nearest correlation matrix, and the multipliers that prove how near it is."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

from gramlearn._base.arrays import Array, clipped, namespace
from gramlearn._base.matrices import eigh
from gramlearn.problem.solution import CertifiedAnswer


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class NearestCorrelation(CertifiedAnswer):
    """The nearest correlation matrix, as far as its entries were asked to be near.

    Attributes
    ----------
    matrix : array n x n
        X, of diagonal one.
    factor : array n x n
        F with X = F F'.
    multipliers : array n x n
        S, positive semidefinite: <S, X - min_eigenvalue I> >= 0 is what proves `dual`. Where there is a `face`,
        U'SU is. Where the status is INFEASIBLE, what proves that.
    face : array n x r or None
        U, where fixed entries leave no positive definite X - min_eigenvalue I: every feasible one is U Y U'.
    primal, dual, gap, relative_gap : float
        sum_ij W_ij (X_ij - C_ij)^2 / 2, what no feasible matrix is below, and the distance between them.
    violation : float
        By how much a fixed entry or a bound is missed, at most.
    status : Status
        How the search ended; its value is a sentence.
    conflict : tuple of str
        The entries that contradict each other, where the status is INFEASIBLE.
    history : list of Record
    iterations : int
    seconds : float
    """

    matrix: Array = field(repr=False)
    multipliers: Array = field(repr=False)
    face: Array | None = field(default=None, repr=False)
    conflict: tuple[str, ...] = ()

    @cached_property
    def factor(self) -> Array:
        """F with X = F F', n x n."""
        xp = namespace(self.matrix)
        x, U = eigh(self.matrix)
        return U * xp.sqrt(clipped(x, low=0.0))
