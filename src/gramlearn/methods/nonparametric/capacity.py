"""f(K) -> min over PSD K with tr K^p <= B, by way of f(K) + (G/p) tr K^p (Z11 4.1, 4.2).

f is a sum of losses of linear functions of K. With prices lam of the losses, Y = -sum_k lam_k A_k and 1/p + 1/q
= 1, Hoelder's inequality, <Y, K> <= |Y+|_q |K|_p, gives for every K within B

    f(K) >= -B^(1/p) |Y+|_q - sum_k loss_k*(lam_k)

and Proposition 1 says where equality is: K = s (Y+)^(1 / (p - 1)), of which tr K^p = B. The right side is
smooth in lam while Y+ is not zero, and where Y is sparse it is maximized as it is: `QuasiNewton(capacity=B)`,
without a search for G. Other solvers know prices G only. Prices lam that are optimal at some G give such a K,
the one of G scaled; its f less the bound is its gap, whatever G was. tr K^p falls as G grows, so a G with a
small gap is found by a search on a line. With a linear f the first G is the last: its prices do not change.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.arrays import Array
from gramlearn._base.validation import check_positive
from gramlearn._base.warnings import warn
from gramlearn.problem.problem import Problem
from gramlearn.problem.regularizers import Frobenius, Regularizer, Schatten
from gramlearn.problem.solution import Record, Solution
from gramlearn.problem.status import SolveInterrupted, Status
from gramlearn.solvers import QuasiNewton, warn_unless_solved
from gramlearn.solvers.solve import attempt

__all__ = [
    "CapacityAnswer",
    "capacity_of",
    "check_capacity",
    "priced_by",
    "solve_with_capacity",
]

_SEARCHES = 60
_STEPS = 200  # on a bound that has a kink at its best, more come to nothing
_FEW = 100  # points, of which Newton on a dense dual costs nothing, and arrives at prices that others do not


@final
@dataclass(frozen=True, eq=False)
class CapacityAnswer:
    """K = F F' with f(K) within `gap` of the least f of its capacity.

    Attributes
    ----------
    factor : array n x r
    G, capacity : float
        The price at which a kernel has this capacity, and the capacity, tr K^p.
    value, gap : float
        f(K), and a bound on what another K of no larger capacity, or of the B asked for, would gain.
    size : float
        What the gap is measured against: the larger of |f(K)| and |f(K) + (G/p) tr K^p|.
    solution : Solution, optional
        Of the problem divided by `divided_by`, with its capacity bounded by B or priced; none where K
        has a closed form.
    """

    factor: np.ndarray
    G: float
    capacity: float
    value: float
    gap: float
    size: float
    solution: Solution | None = None
    divided_by: float = 1.0

    def __repr__(self) -> str:
        numbers = (
            f"value {self.value:.6g}, relative gap {self.relative_gap:.1e}, capacity {self.capacity:.6g}, "
            f"G {self.G:.6g}, rank {self.factor.shape[1]}"
        )
        how = "in closed form" if self.solution is None else repr(self.solution)
        return f"CapacityAnswer({numbers}; {how})"

    def prices(self, G: float) -> list[Array]:
        """Of the losses, for the problem divided by G: so are they."""
        assert self.solution is not None
        return [lam * (self.divided_by / G) for lam in self.solution.duals]

    @property
    def is_solved(self) -> bool:
        """Whether the solve behind it came to its tolerance."""
        return self.solution is None or self.solution.status is Status.OPTIMAL

    @property
    def relative_gap(self) -> float:
        """The gap against `size`."""
        if self.gap == float("inf"):
            return self.gap
        return self.gap / self.size if self.size else float("inf") if self.gap else 0.0


def solve_with_capacity(
    problem_at: Callable[[float], Problem],
    p: float,
    *,
    B: float | None = None,
    G: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    solver: Any = "quasi_newton",
    smallest: float = 1e-5,
    near: CapacityAnswer | None = None,
    basis: np.ndarray | None = None,
    owner: str = "solve_with_capacity",
) -> CapacityAnswer:
    """Learn K for a G, or for a capacity B: tr K^p <= B. Without either, G = 1.

    Parameters
    ----------
    problem_at : function of G
        The problem divided by G: f / G, beside a Frobenius or Schatten(p) regularizer from zeros.
    p : float
    B, G : float, optional
    tol, max_iter, callback, solver :
        As in `solve`.
    smallest : float
        A G below this hardly prices capacity: the search ends there.
    near : CapacityAnswer, optional
        Of a problem nearby: its prices are the first, and with a B so is its G.
    basis : array n x d, optional
        V, orthonormal, where the problem is that of E in K = V E V'.
    owner : str
        Whose arguments B and G are, for errors.
    """
    try:
        answer = _searched(
            problem_at, p, B, G, tol, max_iter, callback, solver, smallest, near, owner
        )
    except SolveInterrupted as stop:
        raise SolveInterrupted(_lifted(stop.solution, basis)) from None
    return _lifted(answer, basis)


def _lifted(answer: CapacityAnswer, basis: np.ndarray | None) -> CapacityAnswer:
    return answer if basis is None else replace(answer, factor=basis @ answer.factor)


def _searched(
    problem_at: Callable[[float], Problem],
    p: float,
    B: float | None,
    G: float | None,
    tol: float,
    max_iter: int | None,
    callback: Callable[[Record], object] | None,
    solver: Any,
    smallest: float,
    near: CapacityAnswer | None,
    owner: str,
) -> CapacityAnswer:
    """At one G, at the capacity itself, or at a G that is looked for."""
    check_capacity(B, G, owner)

    def at(G: float, near: CapacityAnswer | None) -> tuple[CapacityAnswer, Problem]:
        problem = problem_at(G)
        start = None if near is None else near.prices(G)
        try:
            solution, limits = attempt(problem, solver, tol / 2, max_iter, callback, start)
        except SolveInterrupted as stop:
            raise SolveInterrupted(_priced(stop.solution, G, p)) from None
        if B is None:  # a search has its own word, at its end
            warn_unless_solved(solution, limits)
        return _priced(solution, G, p), problem

    if B is None:
        return at(1.0 if G is None else float(G), near)[0]
    best = None
    if solver == "quasi_newton":
        answer, is_over = _bounded(problem_at(1.0), p, B, tol, max_iter, callback, smallest)
        if is_over:
            return answer
        if smallest <= answer.G:  # what fills a capacity that hardly matters is no answer
            best = answer
        solver = "working_set" if answer.factor.shape[0] <= _FEW else solver
    return _within(at, problem_at, float(B), p, tol, smallest, near, best)


def _priced(solution: Solution, G: float, p: float) -> CapacityAnswer:
    """The answer of the problem divided by G."""
    F = np.asarray(solution.factor)
    capacity = capacity_of(F, p)
    value = G * (solution.primal - capacity / p)
    size = max(abs(value), G * abs(solution.primal))
    return CapacityAnswer(F, G, capacity, value, G * solution.gap, size, solution, G)


def capacity_of(F: np.ndarray, p: float) -> float:
    """tr K^p of K = F F'."""
    return float(np.sum(np.clip(np.linalg.eigvalsh(F.T @ F), 0.0, None) ** p))


def priced_by(p: float) -> Regularizer:
    """tr K^p / p."""
    return Frobenius() if p == 2 else Schatten(p)


def check_capacity(B: float | None, G: float | None, owner: str) -> None:
    """B or G, positive, or neither."""
    if B is not None and G is not None:
        raise ValueError("pass `B` or `G`, not both: each B belongs to one G.")
    for value, name in ((B, "B"), (G, "G")):
        if value is not None:
            check_positive(value, name, owner)


def _bounded(
    problem: Problem,
    p: float,
    B: float,
    tol: float,
    max_iter: int | None,
    callback: Callable[[Record], object] | None,
    smallest: float,
) -> tuple[CapacityAnswer, bool]:
    """Maximize the bound itself; and whether that is an end: where B hardly matters, Y+ is zero at the best."""
    stopped = []

    def watch(record: Record) -> bool:
        if callback is not None and callback(record) is True:
            stopped.append(record)
        return bool(stopped) or record.details["price"] < smallest

    most = _STEPS if max_iter is None else max_iter
    try:
        solution, limits = attempt(problem, QuasiNewton(capacity=B), tol, most, watch)
    except SolveInterrupted as stop:
        raise SolveInterrupted(_filled(stop.solution, B, p)) from None
    answer = _filled(solution, B, p)
    if answer.relative_gap <= tol:
        return answer, True
    was_cut = bool(stopped) or solution.iterations == max_iter
    if was_cut:
        warn_unless_solved(solution, limits, "ask for a larger tol")
    return answer, was_cut


def _filled(solution: Solution, B: float, p: float) -> CapacityAnswer:
    """The answer of a solve that knew its capacity."""
    price = float(solution.history[-1].details["price"]) if solution.history else 1.0
    F = np.asarray(solution.factor) * (1 - 1e-15)
    capacity = B if F.any() else 0.0
    value = solution.primal
    size = max(abs(value), abs(value + price * capacity / p) if capacity else 0.0)
    return CapacityAnswer(F, price, capacity, value, solution.gap, size, solution)


def _within(
    at: Callable[[float, CapacityAnswer | None], tuple[CapacityAnswer, Problem]],
    problem_at: Callable[[float], Problem],
    B: float,
    p: float,
    tol: float,
    smallest: float,
    near: CapacityAnswer | None,
    best: CapacityAnswer | None,
) -> CapacityAnswer:
    """Look for a G whose kernel, scaled to a capacity of B, has a gap within tol, or the `best` there is."""
    if near is not None and not near.G > 0:
        near = None  # whose capacity had no price to begin with
    low, high = None, None
    try:
        found, problem = at(1.0 if near is None else near.G, near)
        for turn in range(_SEARCHES):
            before, best = best, _better(best, _scaled(found, problem, B, p))
            # Nothing more to find: near enough, no K at all, or one that stays below B without a price.
            if best.relative_gap <= tol or found.capacity == 0 or smallest > found.G:
                break
            # What cannot be solved at one G is no better off at the next, where this one helped little.
            if before is not None and not found.is_solved and best.gap > before.gap / 2:
                break
            low, high = (found, high) if found.capacity > B else (low, found)
            found, problem = at(_next(low, high, B, p, turn), found)
    except SolveInterrupted as stop:
        last = stop.solution
        if np.isfinite(last.gap):
            best = _better(best, _scaled(last, problem_at(last.divided_by), B, p))
        raise SolveInterrupted(last if best is None else best) from None
    except KeyboardInterrupt:
        if best is None:
            raise
        raise SolveInterrupted(best) from None
    assert best is not None
    if best.relative_gap > tol:
        warn(
            f"no G gives tr K^p = B={B:g} to tol={tol:g}: the best has {best.capacity:.6g} and a relative gap "
            f"of {best.relative_gap:.1e}. A smaller B, or a G, asks for less.",
            ConvergenceWarning,
        )
    return best


def _better(best: CapacityAnswer | None, other: CapacityAnswer) -> CapacityAnswer:
    return other if best is None or other.gap < best.gap else best


def _scaled(found: CapacityAnswer, problem: Problem, B: float, p: float) -> CapacityAnswer:
    """The kernel scaled to a capacity of B, or as it is where it is within B and better, with its gap."""
    if found.capacity == 0:
        return _judged(found, problem, B, p, 1.0)
    choices = [(B / found.capacity) ** (1 / p) * (1 - 1e-15)]
    if found.capacity <= B:
        choices.append(1.0)
    return min((_judged(found, problem, B, p, s) for s in choices), key=lambda a: a.gap)


def _judged(
    found: CapacityAnswer, problem: Problem, B: float, p: float, scale: float
) -> CapacityAnswer:
    """s K, with f(s K) and its distance from the bound that the prices give."""
    assert found.solution is not None
    F, q, dual = found.factor, p / (p - 1), problem.dual
    ones = np.ones(F.shape[1])
    losses, at_scale, cost = 0.0, 0.0, 0.0
    free = problem.free_duals(found.solution.duals) or []
    for part, lam in zip(dual.parts, free, strict=True):
        change = np.asarray(part.map.restrict(F).traces(ones))
        losses += float(np.sum(part.loss.value(part.offset + change)))
        at_scale += float(np.sum(part.loss.value(part.offset + scale * change)))
        cost += float(np.sum(part.loss.conjugate(lam) - part.offset * lam))
    # Linear terms are what else there is in the primal; they scale.
    linear = found.solution.primal - found.capacity / p - losses
    # In units of G, as all of these: the value of the dual is constant - |Y+|_q^q / q - cost.
    powers = max(q * (dual.constant - found.solution.dual - cost), 0.0)
    bound = dual.constant - B ** (1 / p) * powers ** (1 / q) - cost
    value = linear * scale + at_scale
    rounding = 8 * np.finfo(float).eps * (abs(linear * scale) + abs(at_scale) + abs(bound))
    # The price at which s K itself is optimal, for these prices of the losses: below Proposition 2.
    return CapacityAnswer(
        F * scale**0.5,
        found.G if scale == 1 else found.G * (powers / B) ** (1 / q),
        found.capacity * scale**p,
        found.G * value,
        found.G * (max(value - bound, 0.0) + rounding),
        found.G * max(abs(value), abs(value + found.capacity * scale**p / p)),
        found.solution,
        found.divided_by,
    )


def _next(
    low: CapacityAnswer | None, high: CapacityAnswer | None, B: float, p: float, turn: int
) -> float:
    """Where log tr K^p over log G meets log B: on a straight line between two, or farther out from one."""
    if low is None or high is None:
        end = low or high
        assert end is not None
        # tr K^p goes as G^(-p / (p - 1)) with a linear f, and less steeply with others: longer strides.
        return float(end.G * (end.capacity / B) ** ((p - 1) / p * 2**turn))
    a, b = np.log(low.G), np.log(high.G)
    above, below = np.log(low.capacity / B), np.log(B / high.capacity)
    # Every third time the middle: the line alone may creep in from one side.
    share = np.clip(above / (above + below), 0.01, 0.99) if turn % 3 else 0.5
    return float(np.exp(a + (b - a) * share))
