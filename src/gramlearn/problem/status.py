"""How a solve ended: a `Status` whose values are the sentences users read, and two exceptions."""

from enum import Enum
from typing import Any

INF = float("inf")


class Status(Enum):
    """How a solve ended. The value is the sentence."""

    OPTIMAL = "the relative gap and the largest violation are within the tolerance"
    ITERATION_LIMIT = "stopped after max_iter iterations, before the tolerance was reached"
    TIME_LIMIT = "stopped at time_limit, before the tolerance was reached"
    STALLED = (
        "no step improves the dual any more, before the tolerance was reached: the problem is too "
        "badly scaled for this precision; rescale the points or the bounds, or raise tol"
    )
    LOCAL = "no small change improves the answer; a large one may, since the problem is not convex"
    INFEASIBLE = "no positive semidefinite matrix satisfies the constraints"
    UNBOUNDED = "the linear terms send the objective to minus infinity; bound the matrix from above"
    OVERFLOW = (
        "the optimum is too large for this precision: the linear terms reward more than can be written down; "
        "make them smaller, or bound the matrix from above"
    )
    STOPPED = "stopped by the callback"
    INTERRUPTED = "interrupted from the keyboard"

    @property
    def is_answer(self) -> bool:
        """Whether the question was settled: an optimum, or the proof that there is none."""
        return self in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)


class InfeasibleError(ValueError):
    """The problem has no optimum: nothing satisfies the constraints, or nothing bounds the objective.

    `solution` holds the proof.
    """

    def __init__(self, message: str, solution: Any = None) -> None:
        super().__init__(message)
        self.solution = solution

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.solution)


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C: `solution` holds the best answer found so far, with its gap where it has one.

    The rule of the whole library: a solve ends at once with its best answer in this exception, which is a
    KeyboardInterrupt, so that scripts end as usual. An interrupted `fit` uses that answer and raises when it is
    done: the estimator is fitted with it. Without an answer of a finite gap, or after a second Ctrl-C, the
    estimator is as it was before `fit`, and the next `fit` is not affected; `solution` is the prior then, or
    nothing is known of how far it is from the optimum, and `advice` says where to go on from, if anywhere.
    """

    def __init__(self, solution: Any, where: str = "", fitted: str = "", advice: str = "") -> None:
        is_known = getattr(solution, "relative_gap", 0.0) < INF
        if is_known and not where:
            where = f"at relative gap {solution.relative_gap:.1e}"
        where = where or "before it had a certificate"
        held = "the attribute `solution` of this exception"
        holder = f"{fitted} is fitted with it" if fitted else "it may be gone on from"
        told = (
            f"the answer so far is {held}, and {holder}"
            if is_known
            else f"{held} is the prior, or not known to be better"
        )
        super().__init__(f"the solve was interrupted {where}; {told}{advice and '; '}{advice}")
        self.solution, self.where, self.fitted = solution, where, fitted
        self.advice = advice

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.solution, self.where, self.fitted, self.advice)
