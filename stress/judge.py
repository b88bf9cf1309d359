"""Is the answer what it says it is? Every claim of a solution against its recomputation.

An answer claims values, a gap, a violation, and a status. Doubles with a bound on their rounding acquit;
whatever they cannot acquit is decided in 60 digits, so every finding here is one of exact arithmetic.

    OPTIMAL       true relative gap and violation at most 2 tol
    any status    primal and dual as claimed to 2 tol; gap and violation no larger than claimed by more
    INFEASIBLE    the duals prove it, and no X is known that keeps every bound (see `proofs`)
    UNBOUNDED     no lam is known that bounds the objective from below (see `proofs`)
    OVERFLOW      no lam is known whose X could be written down (see `proofs`)
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from stress.arithmetic import DOUBLE, SIXTY
from stress.outcome import Finding
from stress.proofs import check_contradiction, check_overflow, check_unboundedness
from stress.question import Question
from stress.recompute import Reading, Values, recompute

__all__ = ["Claim", "judge"]

INF = float("inf")
_LEAST_TOL = 1e-10  # what is asked for beyond that is beyond doubles


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """What a solution says, as plain data."""

    status: str
    factor: np.ndarray
    duals: tuple[np.ndarray, ...]
    primal: float
    dual: float
    gap: float
    violation: float

    @classmethod
    def of(cls, solution: Any) -> "Claim":
        """Read a solution of the library."""
        return cls(
            solution.status.name,
            np.asarray(solution.factor, dtype=float),
            tuple(np.asarray(v, dtype=float) for v in solution.duals),
            float(solution.primal),
            float(solution.dual),
            float(solution.gap),
            float(solution.violation),
        )

    @property
    def has_nan(self) -> bool:
        """Whether any number is NaN, or an entry of the answer infinite."""
        numbers = [self.primal, self.dual, self.gap, self.violation]
        arrays = [self.factor, *self.duals]
        return any(x != x for x in numbers) or not all(np.all(np.isfinite(v)) for v in arrays)


def judge(question: Question, claim: Claim) -> list[Finding]:
    """Everything that is wrong with the answer."""
    if claim.has_nan:
        return [Finding("nan", f"nan {claim.status}", "the answer contains NaN or infinity")]
    wrong = _shape_complaint(question, claim)
    if wrong:
        return [wrong]
    if claim.status == "INFEASIBLE":
        found = check_contradiction(question, claim.duals)
        return [Finding("status", "false INFEASIBLE", found)] if found else []
    if claim.status == "UNBOUNDED":
        found = check_unboundedness(question)
        return (
            [Finding("status", f"false UNBOUNDED {question.regularizer}", found)] if found else []
        )
    if claim.status == "OVERFLOW":
        found = check_overflow(question)
        return [Finding("status", f"false OVERFLOW {question.regularizer}", found)] if found else []
    with np.errstate(over="ignore"):  # 2 tol of a large value is infinite: then anything is right
        if not _complaints(question, claim, _values(question, claim, DOUBLE)):
            return []
        return _complaints(question, claim, _values(question, claim, SIXTY))


def _shape_complaint(question: Question, claim: Claim) -> Finding | None:
    sizes = [clause.size for clause in question.clauses]
    if claim.factor.shape[0] != question.dimension or [len(v) for v in claim.duals] != sizes:
        return Finding("shape", "shape", "factor or duals have another shape than the problem")
    return None


def _values(question: Question, claim: Claim, a: Any) -> Values:
    return recompute(Reading(question, a), claim.factor, claim.duals)


def _complaints(question: Question, claim: Claim, true: Values) -> list[Finding]:
    """Compare with the recomputed values; what lies within their rounding errors is complained of, too."""
    tol = max(question.tol, _LEAST_TOL)
    room = 2 * tol * true.against + true.prior_rounding
    found = []

    def complain(what: str, words: str) -> None:
        key = f"{what} {claim.status} {question.regularizer}"
        found.append(Finding("certificate", key, f"{claim.status}: {words}"))

    errors = true.primal_error + true.dual_error
    pessimism = claim.gap + 2 * true.slippage
    if _exceeds(claim.dual, true.dual, room - true.dual_error):
        complain("dual", f"dual claimed {claim.dual:.9g}, true {_text(true.dual)}")
    if _exceeds(true.dual, claim.dual, room - true.dual_error + pessimism):
        complain("dual too low", f"dual claimed {claim.dual:.9g}, true {_text(true.dual)}")
    if _exceeds(true.primal, claim.primal, room - true.primal_error):
        complain("primal", f"primal claimed {claim.primal:.9g}, true {_text(true.primal)}")
    if _exceeds(claim.primal, true.primal, room - true.primal_error + pessimism):
        complain("primal too high", f"primal claimed {claim.primal:.9g}, true {_text(true.primal)}")
    if _exceeds(true.gap, claim.gap, room - errors):
        complain("gap", f"gap claimed {claim.gap:.3g}, true {_text(true.gap)}")
    slack = 2 * tol * max(1.0, claim.violation) - true.violation_error
    if _exceeds(true.violation, claim.violation, slack):
        complain(
            "violation", f"violation claimed {claim.violation:.3g}, true {_text(true.violation)}"
        )
    if not true.outside <= max(question.tol, 1e-9):
        complain("range", f"{_text(true.outside)} of X lies outside the range of the prior")
    if claim.status == "OPTIMAL":
        if _exceeds(true.gap, 0.0, room - errors):
            relative = true.gap / true.against if true.against > 0 else INF
            complain("not optimal", f"true relative gap {_text(relative)}, tol {question.tol:g}")
        if _exceeds(true.violation, 0.0, 2 * tol - true.violation_error):
            complain("not feasible", f"true violation {_text(true.violation)}")
    return found


def _exceeds(larger: Any, smaller: Any, room: Any) -> bool:
    """Whether one number exceeds another by more than the room; NaN does."""
    if larger == smaller or smaller == INF or larger == -INF:
        return False
    return not larger - smaller <= room


def _text(x: Any) -> str:
    return f"{float(x):.9g}"
