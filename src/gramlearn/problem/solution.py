"""What a solve returns: the matrix, the duals, and the certificate of how close to optimal they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, final

from gramlearn._base.arrays import Array
from gramlearn._base.matrices import transpose
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.problem import Problem
from gramlearn.problem.status import InfeasibleError, Status

SomeSolution = TypeVar("SomeSolution", bound=Any)

_NAMED = 5  # so many conflicting constraints are written out


class Record(NamedTuple):
    """One entry of the history: the state of a solve after an iteration.

    `certificate` is the last one computed; solvers look at all constraints only now and then. `details`
    are the solver's own numbers, such as the size of the working set; where they have `is_estimate` set, the
    certificate is one over the constraints at hand.
    """

    iteration: int
    seconds: float
    certificate: Certificate
    details: Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedAnswer:
    """What every method returns, whatever else it has: how good the answer is, and how it was found.

    Attributes
    ----------
    primal, dual, gap, relative_gap : float
        The value of the answer, a lower bound on every value, and a bound on the distance between them.
    violation : float
        The largest violation of a hard constraint, relative to its bound.
    status : Status
        How the search ended; its value is a sentence.
    history : list of Record
    iterations : int
    seconds : float
    """

    certificate: Certificate
    # The rest is known when the run is over.
    status: Status = Status.STOPPED
    history: list[Record] = field(default_factory=list, repr=False)
    seconds: float = 0.0

    @property
    def primal(self) -> float:
        return self.certificate.primal

    @property
    def dual(self) -> float:
        return self.certificate.dual

    @property
    def gap(self) -> float:
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """The gap against the largest of |primal|, |dual| and what the digits of the prior can tell."""
        return self.certificate.relative_gap

    @property
    def violation(self) -> float:
        return self.certificate.violation

    @property
    def iterations(self) -> int:
        return self.history[-1].iteration if self.history else 0


@final
@dataclass(frozen=True, eq=False, repr=False)
class Solution(CertifiedAnswer):
    """X = F F' with primal(X) - dual(lam) <= gap.

    Attributes
    ----------
    factor : array n x r
        F, in the library and on the device of the prior.
    matrix : array n x n
        X = F F', made when first asked for.
    duals : tuple of arrays
        lam, one vector a term.
    primal, dual, gap, relative_gap : float
        D(X, X0) + sum loss, a lower bound on every such value, and the distance between them.
    violation : float
        The largest violation of a hard constraint, relative to its bound.
    status : Status
        How the solve ended; its value is a sentence.
    conflict : tuple of str
        The constraints that contradict each other, where the status is INFEASIBLE. The duals are then
        the proof: sum_k lam_k A_k is positive semidefinite, and the bounds ask it to be negative.
    history : list of Record
    iterations : int
    seconds : float
    """

    problem: Problem
    factor: Array
    duals: tuple[Array, ...]
    conflict: tuple[str, ...] = ()

    @cached_property
    def matrix(self) -> Array:
        """X = F F', n x n."""
        return self.factor @ transpose(self.factor)

    def __getstate__(self) -> dict[str, Any]:
        """All but the problem, whose terms hold the points, and the matrix, which the factor gives."""
        return {name: vars(self)[name] for name in vars(self) if name not in ("problem", "matrix")}

    if not TYPE_CHECKING:  # to a type checker it would allow every name

        def __getattr__(self, name: str) -> Any:
            if name != "problem":
                raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
            raise AttributeError(
                "this Solution comes from a pickle or a copy, which leaves out `problem` and the points in it; "
                "solve the problem again to have it."
            )

    def or_raise(self) -> "Solution":
        """Give the solution itself, or raise InfeasibleError where the problem has none."""
        return unless_infeasible(self, "LogDetSlack or Hinge", "Hinge or SquaredHinge")

    def __repr__(self) -> str:
        return (
            f"Solution({self.status.name}: primal {self.primal:.8g}, dual {self.dual:.8g}, "
            f"relative gap {self.relative_gap:.1e}, violation {self.violation:.1e}, "
            f"{self.iterations} iterations, {self.seconds:.3g} s)"
        )


def unless_infeasible(
    solution: SomeSolution, soft: str, finite: str, proven: str = Status.INFEASIBLE.value
) -> SomeSolution:
    """Give the solution, or raise InfeasibleError with advice in the words of whoever posed the problem.

    `soft` names losses that let bounds be violated, `finite` those of them that are finite everywhere, and
    `proven` says what a proof of infeasibility is about.
    """
    status, conflict = solution.status, solution.conflict
    if status is Status.UNBOUNDED:
        raise InfeasibleError(f"{status.value}.", solution)
    if status is not Status.INFEASIBLE:
        return solution
    named = "; ".join(conflict[:_NAMED]) + ("; ..." if len(conflict) > _NAMED else "")
    reason = (
        f"In conflict: {named}. Use {soft}, which let bounds be violated at a price, or widen the bounds."
        if len(conflict) > 1
        else f"Out of reach, as between equal points: {named}. Leave it out, or use {finite}."
    )
    raise InfeasibleError(f"{proven}. {reason}", solution)
