"""Does the proof prove it? Contradictions (Farkas) and objectives without a lower end.

A proof of infeasibility is v with sum_k v_k A_k >= 0 on the space of X and sum_k v_k b_k < 0, where b_k is the
end of the domain that v_k pushes to, less the offset. In doubles neither holds exactly, so it is read with its
error: if the least eigenvalue is -delta and sum v_k b_k = -rho, every X that keeps the bounds has

    -rho >= <sum v_k A_k, X> >= -delta tr X,      so      tr X >= rho / delta,

and the proof counts where that is out of this world: a million times the traces that the data speak of.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stress.arithmetic import DOUBLE, SIXTY
from stress.question import Question
from stress.recompute import Reading

__all__ = ["contradiction_complaint", "unboundedness_complaint"]

INF = float("inf")
_OUT_OF_THIS_WORLD = 1e6
_KEPT = 1e-2  # a known X keeps the bounds if it violates them by this share of tol at most

Complaint = tuple[str, str] | None


def contradiction_complaint(question: Question, duals: Sequence[np.ndarray]) -> Complaint:
    """(key, words) where INFEASIBLE is false or not proven."""
    kept = _violation_of_known(question)
    if kept is not None and kept <= _KEPT * question.tol:
        return "feasible", f"INFEASIBLE, but a known X violates the bounds by {kept:.1e} only"
    reading = Reading(question, SIXTY)
    a = reading.a
    rho: Any = 0
    is_open = False
    prices = []
    for read, given in zip(reading.clauses, duals, strict=True):
        low, high = read.formula.domain(read.bound, read.clause.side)
        v = a.real(given) if not read.formula.is_fixed else a.real(np.zeros(len(given)))
        end = np.where(v > 0, high, np.where(v < 0, low, 0 * v))
        if any(abs(e) == INF for e in end):
            return "unproven", "INFEASIBLE, but the duals push to a side without a bound"
        rho = rho - (v * (end - np.where(v != 0, read.offset, 0 * v))).sum() if len(v) else rho
        is_open = is_open or (read.formula.open_domain and bool(np.any(v != 0)))
        prices.append(np.asarray([float(x) for x in v]))
    if not any(np.any(v) for v in prices):
        return "unproven", "INFEASIBLE, but all duals are zero"
    S, _ = reading.adjoint(prices)
    eigenvalues, _ = a.eigh(reading.restricted(S))
    delta, largest = max(-eigenvalues[0], 0), max(abs(e) for e in eigenvalues)
    # Equality is impossible too where X is positive definite, or where t may not reach the end.
    is_strict = is_open or (reading.phi.needs_interior and largest > 0)
    if rho > 0 and rho >= delta * _OUT_OF_THIS_WORLD * _usual_trace(reading):
        return None
    if is_strict and rho >= 0 and delta == 0:
        return None
    return (
        "unproven",
        f"INFEASIBLE, but its duals leave every X with a trace from {float(rho / delta):.3g}"
        if delta > 0
        else f"INFEASIBLE, but the bounds leave room {float(-rho):.3g}",
    )


def _usual_trace(reading: Reading) -> Any:
    """The largest trace that prior and bounds speak of."""
    _, s = reading.space
    usual = s.sum()
    for read in reading.clauses:
        if not read.clause.side or not read.matrices.shape[0]:
            continue
        A = np.asarray(reading.a.real(read.matrices), dtype=float)
        sizes = np.sqrt((A * A).sum(axis=(1, 2)))
        bounds = np.abs(np.asarray(read.bound - read.offset, dtype=float))
        ratios = bounds[sizes > 0] / sizes[sizes > 0]
        usual = max(usual, float(ratios.max(initial=0.0)))
    return usual


def _violation_of_known(question: Question) -> float | None:
    """The largest relative violation of the X that the generator knows, exactly."""
    if question.feasible is None:
        return None
    reading = Reading(question, SIXTY)
    X = reading.a.data(question.feasible)
    worst = 0.0
    for read, unit in zip(reading.clauses, reading.units, strict=True):
        if not read.matrices.shape[0]:
            continue
        t, _ = reading.traces(read, X)
        low, high = read.formula.domain(read.bound, read.clause.side)
        if read.formula.open_domain and read.clause.side != "upper" and np.any(t <= low):
            return INF
        size = np.where(read.bound != 0, abs(read.bound), unit)
        off = abs(t - np.minimum(np.maximum(t, low), high)) / size
        worst = max(worst, float(off.max()))
    return worst


def unboundedness_complaint(question: Question) -> Complaint:
    """(key, words) where UNBOUNDED is false: the regularizer outgrows every reward, or something else does."""
    reading = Reading(question, DOUBLE)
    if reading.phi.is_superlinear:
        return (
            question.regularizer,
            f"UNBOUNDED, but {question.regularizer} outgrows every linear term: there is an optimum",
        )
    if "bounded" in question.facts:
        return "bounded", "UNBOUNDED, but a hard bound on the trace bounds the objective"
    return None
