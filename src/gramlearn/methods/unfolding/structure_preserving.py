"""-<W, K> + C xi -> min over centered PSD K, tr K^p <= B,  d_ik <= d_ij + xi for neighbors k of i, others j.

Structure preserving embedding (Z11 6.3): W is the adjacency of a graph, d_ij = K_ii + K_jj - 2 K_ij, and
one slack xi >= 0 is shared by all n^2 k comparisons. With prices a of the comparisons, A their matrices, H
= I - ee'/n, 1/p + 1/q = 1,

    dual(a) = -tr (Y+)^q / q,      Y = HWH - sum a A,  a >= 0,  sum a <= C,      K = (Y+)^(q - 1)

where tr K^p is priced at 1/p. All is linear in K but this price, so K of a capacity B is this one scaled,
and by Hoelder's inequality f = -<W, K> + C xi >= -B^(1/p) (-q dual(a))^(1/q) for every K of this capacity.
Z11 has p = 2; a smaller p gives fewer dimensions, and p = 1 would be the trace that the authors of the
method bound.

Comparisons are made when they are violated. Those never made have a price of zero, so the dual is that of
all, and the largest violation comes from distances, a few rows at a time: the farthest neighbor of i
against the nearest other point. For a slack the comparisons are hard constraints; the slack is 0, or the
one at which the prices add up to C.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.validation import RANGE
from gramlearn._base.warnings import warn
from gramlearn.methods.nonparametric.capacity import capacity_of, check_capacity, priced_by
from gramlearn.methods.nonparametric.leading_kernel import too_large
from gramlearn.methods.unfolding.graph_comparisons import Comparisons, without
from gramlearn.problem.constraints import DenseMatrices, DistanceComparisons
from gramlearn.problem.losses import Hard, Linear
from gramlearn.problem.prior import Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Regularizer
from gramlearn.problem.solution import Record, Solution
from gramlearn.problem.status import SolveInterrupted
from gramlearn.solvers.solve import solve

__all__ = ["StructureAnswer", "structure_preserving"]

_FIRST = 500  # comparisons that may be made at a time, or as many as there are already
_ROUNDS = 200
_SEARCHES = 60
_LEAST_P = 1.01  # whose q is 101
_LARGEST_LOG = math.log(RANGE)
_ROUNDING = 1e-10  # a share of the graph's matrix that counts as none of it


@final
@dataclass(frozen=True, eq=False)
class StructureAnswer:
    """K = F F', optimal to its gap among all kernels of no larger capacity.

    Attributes
    ----------
    factor : array n x r
    capacity, value, gap : float
        tr K^p, f(K) = -<W, K> + C xi, and a bound on what another kernel of this capacity would gain.
    slack : float
        xi. Without C, the largest violation of all comparisons.
    made : array m x 3
        The comparisons (i, k, j) that were made, of `count`, with their `prices`, the proof of the gap.
    rounds : tuple of (int, float)
        How many were made in each round, and the largest violation beyond the slack that was left.
    solution : Solution
        Of the comparisons made, at this slack, with tr K^p priced at 1/p, and HWH divided by a number.
    """

    factor: np.ndarray
    capacity: float
    value: float
    gap: float
    slack: float
    made: np.ndarray
    prices: np.ndarray
    count: int
    rounds: tuple[tuple[int, float], ...]
    solution: Solution

    @property
    def relative_gap(self) -> float:
        """The gap against |f(K)|."""
        return self.gap / abs(self.value) if self.value else float("inf") if self.gap else 0.0


def structure_preserving(
    graph: Any,
    *,
    C: float | None = None,
    p: float = 2.0,
    B: float | None = None,
    G: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
) -> StructureAnswer:
    """Learn K from a graph: a symmetric sparse matrix of zeros and ones. Without C the slack is zero.

    Parameters
    ----------
    graph : sparse matrix n x n
    C : float, optional
        The price of the slack.
    p : float
        At least 1.01: capacity is tr K^p.
    B, G : float, optional
        The capacity, or its price, G/p tr K^p (default: G = 1). They scale K and change nothing else.
    tol : float
        The relative gap at which to stop; without C also the largest violation, relative to the mean squared
        distance.
    max_iter, callback :
        As in `solve`.
    """
    check_capacity(B, G, "structure_preserving")
    regularizer = priced_by(p)
    if p < _LEAST_P:
        raise ValueError(
            f"`p={p:g}` asks for powers of {p / (p - 1):.0f}, which leave the range of numbers; pass "
            f"{_LEAST_P} or more, which is near to the trace."
        )
    M, size = _centered(graph, p)
    price = None if C is None else C / size
    comparisons = Comparisons(graph)
    search = _Search(comparisons, M, price, regularizer, p, tol, max_iter, callback)
    try:
        answer = search.at(0.0)
        if price is not None and answer.total > price:
            answer = search.priced(answer)
    except KeyboardInterrupt as stop:
        best = search.so_far(stop)
        if best is None:
            raise
        raise SolveInterrupted(search.scaled(best, B, G, size)) from None
    scaled = search.scaled(answer, B, G, size)
    mean = 2 * float(np.sum(scaled.factor**2)) / comparisons.n
    if C is None and scaled.slack > tol * mean:
        warn(
            f"comparisons are violated by up to {scaled.slack / mean:.1e} of the mean squared distance, "
            f"tol={tol:g}, after {len(scaled.rounds)} rounds. A larger tol, or p, asks for less.",
            ConvergenceWarning,
        )
    if C is not None and scaled.relative_gap > tol and answer.solution.status.is_answer:
        warn(
            f"no slack was found for `C={C:g}` to tol={tol:g}; the best has a relative gap of "
            f"{scaled.relative_gap:.1e}. A larger C, or None, asks for less.",
            ConvergenceWarning,
        )
    return scaled


def _centered(graph: Any, p: float) -> tuple[np.ndarray, float]:
    """H W H divided by what makes 1 the mean squared distance of K without prices, and that number."""
    W = np.asarray(graph.toarray(), dtype=float)
    means = W.mean(axis=0)
    M = W - means[:, None] - means[None, :] + means.mean()
    s = np.linalg.eigvalsh(M)
    whole = float(np.abs(s).max())
    if s[-1] <= _ROUNDING * whole:
        return np.asarray(M / whole), whole
    share = 2 * float(np.mean(np.clip(s / s[-1], 0.0, None) ** (1 / (p - 1))))
    size = float(s[-1]) * share ** (p - 1)
    return np.asarray(M / size), size


@final
@dataclass(frozen=True, eq=False)
class _AtSlack:
    """The solve at one slack."""

    slack: float
    largest: float  # d_ik - d_ij of K
    made: np.ndarray
    prices: np.ndarray
    solution: Solution
    primal: float
    dual: float

    @property
    def total(self) -> float:
        return float(self.prices.sum())

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)


@final
class _Search:
    """Rounds at a slack, and the search for the slack whose prices add up to C."""

    def __init__(
        self,
        comparisons: Comparisons,
        M: np.ndarray,
        C: float | None,
        regularizer: Regularizer,
        p: float,
        tol: float,
        max_iter: int | None,
        callback: Callable[[Record], object] | None,
    ) -> None:
        self._comparisons, self._M, self._C = comparisons, M, C
        self._regularizer = regularizer
        self._p, self._q = p, p / (p - 1)
        self._tol, self._max_iter, self._callback = tol, max_iter, callback
        self._made = np.zeros((0, 3), dtype=np.intp)
        self._prices = np.zeros(0)
        self._rounds: list[tuple[int, float]] = []
        # The slack that is looked at, and the best of those before.
        self._slack = 0.0
        self._best: _AtSlack | None = None

    def at(self, slack: float) -> _AtSlack:
        """Make comparisons until none is violated by more than the slack."""
        self._slack = slack
        if not len(self._made):
            self._make(self._without_prices(), slack)
        for _ in range(_ROUNDS):
            solution = self._solved(slack)
            self._prices = np.asarray(solution.duals[-1]) if len(self._made) else np.zeros(0)
            largest, is_over = self._make(np.asarray(solution.factor), slack)
            if is_over:
                break
        found = self._judged(slack, largest, solution)
        self._best = found if self._best is None or found.gap < self._best.gap else self._best
        return found

    def so_far(self, stop: KeyboardInterrupt) -> _AtSlack | None:
        """The best that there is, of a search that was stopped: the slacks before, or a first solve itself."""
        if self._best is None and isinstance(stop, SolveInterrupted):
            solution = stop.solution
            self._prices = np.asarray(solution.duals[-1]) if len(self._made) else np.zeros(0)
            F = np.asarray(solution.factor)
            if np.isfinite(solution.gap):
                largest = self._comparisons.violated(F, self._slack, 0.0, 1)[1]
                return self._judged(self._slack, largest, solution)
        return self._best

    def _make(self, F: np.ndarray, slack: float) -> tuple[float, bool]:
        """Make what F violates, in place of what has no price; the largest violation, and if none is new."""
        mean = 2 * float(np.sum(F * F)) / self._comparisons.n
        room = max(_FIRST, int(np.sum(self._prices > 0)))
        new, largest = self._comparisons.violated(F, slack, self._tol * mean / 4, room)
        new = without(new, self._made)
        self._rounds.append((len(self._made), max(largest - slack, 0.0)))
        if len(new):
            kept = self._prices > 0
            self._made = np.concatenate([self._made[kept], new])
            self._prices = np.concatenate([self._prices[kept], np.zeros(len(new))])
        return largest, not len(new)

    def _solved(self, slack: float) -> Solution:
        n = self._comparisons.n
        terms = [Term(DenseMatrices(self._M[None]), Linear(-1.0))]
        start = [np.full(1, -1.0)]
        if len(self._made):
            terms.append(Term(DistanceComparisons(*self._made.T), Hard(upper=slack)))
            start.append(self._prices)
        problem = Problem(self._regularizer, Zeros(n), terms)
        return solve(
            problem, "working_set", self._tol / 4, self._max_iter, self._callback, start=start
        )

    def _judged(self, slack: float, largest: float, solution: Solution) -> _AtSlack:
        """The value of K with the slack it needs, and that of prices that add up to no more than C."""
        F = np.asarray(solution.factor)
        plain = capacity_of(F, self._p) / self._p - float(np.sum(F * (self._M @ F)))
        made, prices = self._made, self._prices
        if self._C is None:
            dual = solution.dual
            return _AtSlack(slack, largest, made, prices, solution, plain, dual)
        total = float(prices.sum())
        share = self._share(total)
        dual = solution.dual + slack * total if share == 1 else self._dual(share * prices)
        primal = plain + self._C * max(largest, 0.0)
        return _AtSlack(slack, largest, made, prices, solution, primal, dual)

    def _share(self, total: float) -> float:
        """What is left of prices that may not add up to more than C."""
        return 1.0 if self._C is None or total <= self._C else self._C / total

    def _dual(self, prices: np.ndarray) -> float:
        i, k, j = self._made.T
        Y = self._M.copy()
        for other, sign in ((k, -1.0), (j, 1.0)):
            np.add.at(Y, (i, i), sign * prices)
            np.add.at(Y, (other, other), sign * prices)
            np.add.at(Y, (i, other), -sign * prices)
            np.add.at(Y, (other, i), -sign * prices)
        return -float(np.sum(np.clip(np.linalg.eigvalsh(Y), 0.0, None) ** self._q)) / self._q

    def priced(self, low: _AtSlack) -> _AtSlack:
        """Find the slack at which the prices add up to C: they fall as it grows."""
        assert self._C is not None
        best = low
        left, total_left = low.slack, low.total
        # Where the slack is what K violates without any price, all prices are zero.
        right, total_right = self._comparisons.violated(self._without_prices(), 0.0, 0.0, 1)[1], 0.0
        for turn in range(_SEARCHES):
            if best.gap <= self._tol * abs(best.primal):
                break
            share = (total_left - self._C) / (total_left - total_right)
            share = min(max(share, 0.01), 0.99) if turn % 3 < 2 else 0.5
            found = self.at(left + share * (right - left))
            best = found if found.gap < best.gap else best
            if found.total > self._C:
                left, total_left = found.slack, found.total
            else:
                right, total_right = found.slack, found.total
        return best

    def _without_prices(self) -> np.ndarray:
        """F of K = (M+)^(q - 1)."""
        s, V = np.linalg.eigh(self._M)
        return np.asarray(V[:, s > 0] * s[s > 0] ** ((self._q - 1) / 2))

    def scaled(
        self, answer: _AtSlack, B: float | None, G: float | None, size: float
    ) -> StructureAnswer:
        """K with tr K^p = B, or as a price of G has it, and all else in units in which M is `size` times M."""
        F = np.asarray(answer.solution.factor)
        # K is a power of Y+, which may be far from it in size: whether it is rounding, Y+ has to tell.
        if np.linalg.norm(F, 2) ** (2 * (self._p - 1)) <= _ROUNDING * np.linalg.norm(self._M):
            F = F[:, :0]
        capacity = capacity_of(F, self._p)
        if B is None:
            price = 1.0 if G is None else G
            if (1 - self._q) * math.log(price / size) > _LARGEST_LOG:
                raise ValueError(too_large(self._p, price))
            scale = (price / size) ** (1 - self._q)
            B = capacity * scale**self._p
        else:
            scale = (B / capacity) ** (1 / self._p) if capacity else 1.0
        slack = max(answer.largest, 0.0) if capacity else 0.0
        f = -float(np.sum(F * (self._M @ F))) + (self._C or 0.0) * slack
        bound = -(B ** (1 / self._p)) * (self._q * max(-answer.dual, 0.0)) ** (1 / self._q)
        return StructureAnswer(
            factor=F * scale**0.5,
            capacity=B if capacity else 0.0,
            value=size * scale * f,
            gap=size * max(scale * f - bound, 0.0) if capacity else 0.0,
            slack=scale * slack,
            made=answer.made,
            prices=size * answer.prices * self._share(answer.total),
            count=self._comparisons.count(),
            rounds=tuple(self._rounds),
            solution=answer.solution,
        )
