"""minimize over X >= 0 with tr X = 1    D_vN(X, I/n)    with <A_k, X> <= 0: DefiniteBoost (K09 6.3).

Tsuda, Raetsch and Warmuth (2005) start from the scaled identity and ask for homogeneous constraints, such as
"i is nearer to j than to k", which is d(i, j) - d(i, k) <= 0. The optimum is

    X = exp(log X0 - sum_k lam_k A_k) / Z,      lam >= 0

and from X0 = I/n it is the density matrix of largest entropy that satisfies them. Without tr X = 1, which K09
leaves out, the optimum is a multiple of this one: a homogeneous constraint does not see the scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from gramlearn._base.arrays import Array, as_real, eye, is_array, namespace, read
from gramlearn._base.validation import check_count, check_points, check_symmetric
from gramlearn.problem.constraints import Constraints, Trace
from gramlearn.problem.losses import Hard
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import VonNeumann
from gramlearn.problem.solution import Solution
from gramlearn.solvers.solve import solve


@final
@dataclass(frozen=True, eq=False)
class DefiniteBoost:
    """minimize over X >= 0 with tr X = 1    D_vN(X, X0)    with <A_k, X> <= 0.

    Parameters
    ----------
    constraints : Constraints or sequence of Constraints
        The <A_k, X> that have to be at most zero: DistanceComparisons(i, j, k), SimilarityComparisons,
        DenseMatrices and others, without an offset. They are about X itself, n x n, or about `points`
        with n columns.
    n : int
        The size of X.
    prior : array n x n, optional
        X0, positive semidefinite; it is divided by its trace (default: I/n).
    """

    constraints: Any
    n: int
    prior: Any = None

    def __post_init__(self) -> None:
        given: Any = self.constraints
        several: Sequence[Any] = (given,) if isinstance(given, Constraints) else tuple(given)
        for part in several:
            if not isinstance(part, Constraints):
                raise TypeError(
                    "`constraints` must be Constraints, such as DistanceComparisons(i, j, k), or a list of "
                    f"them; got {part!r}."
                )
            offset = part.offset
            if bool(namespace(offset).any(offset != 0)) if is_array(offset) else offset != 0:
                raise ValueError(
                    f"`constraints` must be homogeneous, <A, X> <= 0; {type(part).__name__} has the offset "
                    f"{offset}. For other bounds state the problem with VonNeumann, Trace and Hard."
                )
        object.__setattr__(self, "constraints", several)
        object.__setattr__(self, "n", check_count(self.n, "n"))

    def _start(self) -> Array:
        if self.prior is None:
            identity = eye(self.n, as_real([0.0]))
            return identity / self.n
        X0 = check_symmetric(as_real(check_points(self.prior, "prior")), "prior")
        trace = read(namespace(X0).sum(namespace(X0).linalg.diagonal(X0)))
        if X0.shape[0] != self.n or not trace > 0:
            raise ValueError(
                f"`prior` must be positive semidefinite of size n = {self.n}; got size {X0.shape[0]} and trace "
                f"{trace:.3g}."
            )
        return X0 / trace

    @cached_property
    def problem(self) -> Problem:
        """The problem: one term for each of the constraints, and one for the trace."""
        terms = [Term(part, Hard(upper=0.0)) for part in self.constraints]
        return Problem(VonNeumann(), self._start(), [*terms, Term(Trace(), Hard(equal=1.0))])

    def solve(self, **options: Any) -> Solution:
        """Solve it, with the options of `gramlearn.solve`; the last dual is that of the trace."""
        return solve(self.problem, **options)
