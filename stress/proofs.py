"""Check proofs: of contradictions (Farkas), and of objectives that are unbounded below.

A proof of infeasibility is v with sum_k v_k A_k >= 0 on the space of X and sum_k v_k b_k < 0, where b_k is the
end of the domain that v_k pushes to, less the offset. In doubles neither holds exactly, so it is read with its
error: if the least eigenvalue is -delta and sum v_k b_k = -rho, every X that keeps the bounds has

    -rho >= <sum v_k A_k, X> >= -delta tr X,      so      tr X >= rho / delta,

and the proof counts where that is out of this world: a million times the traces that the data speak of, and a
hundred times in single precision, in which sums of a million terms have no digit left. An X_ii that has an
upper bound of its own counts in units of that.
"""

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from stress.arithmetic import DOUBLE, SIXTY
from stress.question import Question
from stress.recompute import Reading, dual_value

__all__ = ["check_contradiction", "check_overflow", "check_unboundedness"]

INF = float("inf")
_OUT_OF_THIS_WORLD = {"float64": 1e6, "float32": 1e2}
_ROUNDING = 1e-10
_KEPT = 1e-2  # a known X keeps the bounds if it violates them by this share of tol at most

Complaint = str | None


def check_contradiction(question: Question, duals: Sequence[np.ndarray]) -> Complaint:
    """What is wrong where INFEASIBLE is false or not proven."""
    kept = _violation_of_known(question)
    if kept is not None and kept <= _KEPT * question.tol:
        return f"INFEASIBLE, but a known X violates the bounds by {kept:.1e} only"
    reading = Reading(question, SIXTY)
    a = reading.a
    rho: Any = 0
    room: Any = 0  # what rho is the sum of, without signs
    is_open = False
    prices = []
    for read, given in zip(reading.clauses, duals, strict=True):
        low, high = read.formula.domain(read.bound, read.clause.side)
        v = a.real(given) if not read.formula.is_fixed else a.real(np.zeros(len(given)))
        end = np.where(v > 0, high, np.where(v < 0, low, 0 * v))
        if any(abs(e) == INF for e in end):
            return "INFEASIBLE, but the duals push to a side without a bound"
        terms = v * (end - np.where(v != 0, read.offset, 0 * v))
        rho, room = rho - terms.sum(), room + abs(terms).sum()
        is_open = is_open or (read.formula.open_domain and bool(np.any(v != 0)))
        prices.append(np.asarray([float(x) for x in v]))
    if not any(np.any(v) for v in prices):
        return "INFEASIBLE, but all duals are zero"
    S, summed = reading.adjoint(prices)
    in_units = a.eigh(reading.restricted(_scale_to_units(reading, S)))[0]
    if rho > 0 and rho >= _OUT_OF_THIS_WORLD[question.dtype] * max(-in_units[0], 0):
        return None
    eigenvalues, _ = a.eigh(reading.restricted(S))
    delta, largest = max(-eigenvalues[0], 0), max(abs(e) for e in eigenvalues)
    # Equality is impossible too where t may not reach the end, or where X is positive definite and the sum
    # does not cancel: <S, X> = 0 would make X singular.
    touches = rho >= -_ROUNDING * room and delta <= _ROUNDING * largest
    if touches and (is_open or (reading.phi.needs_interior and largest >= 1e-3 * summed)):
        return None
    if delta > 0 and rho > 0:
        return f"INFEASIBLE, but its duals leave every X with a trace from {float(rho / delta):.3g}"
    return f"INFEASIBLE, but the bounds leave room {float(-rho):.3g}"


def _scale_to_units(reading: Reading, S: Any) -> Any:
    """S with its rows and columns times sqrt(u_i), so that X_ii counts in units of u_i.

    That is the trace that prior and bounds speak of; for an X_ii with an upper bound of its own, that if less.
    """
    u = np.full(len(S), float(_usual_trace(reading)))
    for read in reading.clauses if reading.space[0] is None else ():
        _, high = read.formula.domain(read.bound, read.clause.side)
        for A, end in zip(read.floats, high - read.offset, strict=True):
            (entry,) = np.nonzero(np.diag(A))
            if len(entry) == 1 and np.count_nonzero(A) == 1 and A[entry, entry] > 0:
                u[entry] = np.clip(float(end) / A[entry, entry], 0, u[entry])
    root = reading.a.real(np.sqrt(u))
    return root[:, None] * S * root[None, :]


def _usual_trace(reading: Reading) -> Any:
    """The largest trace that the prior and the bounds suggest."""
    _, s = reading.space
    usual = s.sum()
    for read in reading.clauses:
        if not read.clause.side or not read.matrices.shape[0]:
            continue
        A = read.floats
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


def check_unboundedness(question: Question) -> Complaint:
    """What is wrong where UNBOUNDED is false: the regularizer outgrows every reward, or something else does."""
    reading = Reading(question, DOUBLE)
    if reading.phi.is_superlinear:
        return (
            f"UNBOUNDED, but {question.regularizer} outgrows every linear term: there is an optimum"
        )
    top, prices = _least_scaled_top(reading)
    if not prices:
        return "UNBOUNDED, and no other solver says whether it is"
    if top < -1e-9:
        return f"UNBOUNDED, but prices are known that bound the objective (Y <= {top:.3g})"
    return None


def check_overflow(question: Question) -> Complaint:
    """What is wrong where OVERFLOW is false.

    Prices with a moderate Y give the dual a moderate value, the optimum one no lower, and so a phi*(Y), and an
    X, that can be written down. For LogDet it is the prices themselves that are too large, or their costs.
    """
    reading = Reading(question, DOUBLE)
    is_single = question.dtype == "float32"
    if reading.phi.is_superlinear:
        V, s = reading.space
        basis = np.eye(len(s)) if V is None else V
        moderate = {"VonNeumann": 40.0 if is_single else 500.0}.get(
            question.regularizer, 1e3 if is_single else 1e30
        )
        origin = np.diag(reading.phi.slope(DOUBLE, s))
        top, prices = _least_top(reading, basis, origin, -1.0)
    else:
        moderate = -1e-9
        top, prices = _least_scaled_top(reading)
    if not prices:
        return "OVERFLOW, and no other solver says whether it is"
    if top < moderate and dual_value(reading, prices)[0] > (-1e30 if is_single else -1e250):
        return f"OVERFLOW, but prices are known with eigenvalues of Y up to {top:.3g} only"
    return None


def _least_scaled_top(reading: Reading) -> tuple[float, list[np.ndarray]]:
    """`_least_top` in units in which the eigenvalues of Y0 are 1 and -1, or less: its sign is the same."""
    V, s = reading.space
    root = (np.eye(len(s)) if V is None else V) * np.sqrt(s)
    Y0 = -np.eye(len(s))
    for read in reading.clauses:
        if read.formula.is_fixed:
            Y0 = Y0 - root.T @ np.tensordot(read.strength, read.floats, 1) @ root
    e, U = np.linalg.eigh(Y0)
    unit = U / np.sqrt(np.maximum(np.abs(e), 1.0))
    return _least_top(reading, root @ unit, -unit.T @ unit, -0.5)


def _least_top(
    reading: Reading, basis: np.ndarray, origin: np.ndarray, floor: float
) -> tuple[float, list[np.ndarray]]:
    """The largest eigenvalue of origin - sum_k lam_k B'A_kB, made small by prices in their boxes, and these.

    Another solver finds the prices, and may be as inaccurate as it likes: the eigenvalue is computed from what
    it found. It need not go below the floor. Infinite where nothing was found.
    """
    prices = _lowering_prices(reading, basis, origin, floor)
    if prices is None:
        return INF, []
    S, _ = reading.adjoint(prices)
    return float(np.linalg.eigvalsh(origin - basis.T @ S @ basis)[-1]), prices


def _lowering_prices(
    reading: Reading, basis: np.ndarray, origin: np.ndarray, floor: float
) -> list[np.ndarray] | None:
    import cvxpy

    r = len(origin)
    Y: Any = origin
    limits, variables = [], []
    for read in reading.clauses:
        A = np.einsum("ai,kab,bj->kij", basis, read.matrices, basis)
        sizes = np.sqrt((A * A).sum(axis=(1, 2)))
        sizes = np.where(sizes > 0, sizes, 1.0)
        low, high = read.box()
        if read.formula.is_fixed:
            Y = Y - np.tensordot(read.strength, A, 1)
            variables.append(None)
            continue
        v = cvxpy.Variable(len(sizes))
        for end, is_low in ((low, True), (high, False)):
            finite = np.flatnonzero(np.isfinite(end))
            if finite.size:
                reached = end[finite] * sizes[finite]
                limits.append(v[finite] >= reached if is_low else v[finite] <= reached)
        flat = (A / sizes[:, None, None]).reshape(len(sizes), -1)
        Y = Y - cvxpy.reshape(flat.T @ v, (r, r), order="C")
        variables.append((v, sizes, low, high))
    top = cvxpy.Variable()
    program = cvxpy.Problem(cvxpy.Minimize(top), [*limits, top * np.eye(r) - Y >> 0, top >= floor])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate answer is checked by whoever asked
        for solver in (cvxpy.CLARABEL, cvxpy.SCS):
            with contextlib.suppress(cvxpy.SolverError):
                program.solve(solver=solver)
            if top.value is not None:
                break
    if top.value is None:
        return None
    prices = []
    for read, variable in zip(reading.clauses, variables, strict=True):
        if variable is None:
            prices.append(read.strength)
        else:
            v, sizes, low, high = variable
            prices.append(np.clip(v.value / sizes, low, high))
    return prices
