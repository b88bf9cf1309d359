"""The optimal value of small problems by CVXPY, to check the formulas of the judge.

A gap that is recomputed proves an answer optimal for the formulas of the judge. Whether those are the
problem, CVXPY says, from its own definitions of log det, entropy and norms.
"""

import warnings
from typing import Any

import numpy as np

from stress.arithmetic import DOUBLE
from stress.question import Question
from stress.recompute import ReadClause, Reading

__all__ = ["make_program", "optimal_value"]

_MOST_ENTRIES = 400  # numbers in all matrices together: beyond that it takes too long


def optimal_value(question: Question) -> float | None:
    """The optimum by Clarabel; None where CVXPY cannot express the problem, or has no accurate answer."""
    import cvxpy

    program = make_program(question)
    if program is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an answer that says it is inaccurate is not taken
        try:
            program.solve(solver=cvxpy.CLARABEL)
        except cvxpy.SolverError:
            return None
    return float(program.value) if program.status == "optimal" else None


def make_program(question: Question) -> Any:
    """The question as a `cvxpy.Problem`; None where CVXPY cannot express it, or takes too long."""
    import cvxpy

    reading = Reading(question, DOUBLE)
    V, s = reading.space
    r = len(s)
    if question.size * r * r > _MOST_ENTRIES or question.regularizer == "Schatten":
        return None
    basis = np.eye(r) if V is None else V
    S = cvxpy.Variable((r, r), PSD=True)
    slope = reading.phi.slope(DOUBLE, s)
    constant = -reading.phi.h(DOUBLE, s).sum() + float(slope @ s)
    total = (
        _phi(question.regularizer, S) - cvxpy.sum(cvxpy.multiply(slope, cvxpy.diag(S))) + constant
    )
    limits: list[Any] = []
    for read in reading.clauses:
        A = np.einsum("ai,kab,bj->kij", basis, read.matrices, basis)
        for k in range(len(A)):
            t = read.offset[k] + cvxpy.sum(cvxpy.multiply(A[k], S))
            total = total + _loss(read, k, t, limits)
    return cvxpy.Problem(cvxpy.Minimize(total), limits)


def _phi(regularizer: str, S: Any) -> Any:
    import cvxpy

    if regularizer == "LogDet":
        return -cvxpy.log_det(S)
    if regularizer == "VonNeumann":
        return -cvxpy.von_neumann_entr(S) - cvxpy.trace(S)
    # As one vector: of a symmetric matrix CVXPY 1.5.2 to 1.9.0 take another quadratic form.
    return cvxpy.sum_squares(cvxpy.vec(S, order="C")) / 2


def _loss(read: ReadClause, k: int, t: Any, limits: list[Any]) -> Any:
    import cvxpy

    b, g, side = float(read.bound[k]), float(read.strength[k]), read.clause.side
    kind = read.clause.loss
    if kind == "Linear":
        return g * t
    if kind == "Hard":
        limits.append({"upper": t <= b, "lower": t >= b, "equal": t == b}[str(side)])
        return 0.0
    if side == "equal":
        u = t
    else:
        # The least loss over u on the wrong side, or at the bound: that of t itself, or 0.
        u = cvxpy.Variable()
        limits += [u >= t, u >= b] if side == "upper" else [u <= t, u <= b]
    if kind == "Hinge":
        return g * cvxpy.abs(u - b)
    if kind in ("Square", "SquaredHinge"):
        return g / 2 * cvxpy.square(u - b)
    if kind == "KLSlack":
        return g * cvxpy.kl_div(u, b)
    return g * (u / b - cvxpy.log(u / b) - 1)
