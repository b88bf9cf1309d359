"""minimize -<W, K> + C xi over centered PSD K, tr K^p <= B,  d_ik <= d_ij + xi for neighbors k, others j of i.

Structure preserving embedding (Z11 6.3): W is the adjacency of a graph, d_ij = K_ii + K_jj - 2 K_ij, and
one slack xi >= 0 is shared by all n^2 k comparisons. With prices a of the comparisons, A their matrices, H
= I - ee'/n, 1/p + 1/q = 1,

    dual(a) = -tr (Y+)^q / q,      Y = HWH - sum a A,  a >= 0,  sum a <= C,      K = (Y+)^(q - 1)

where tr K^p is priced at 1/p. All is linear in K but this price, so K of a capacity B is this one scaled,
and by Hoelder's inequality f = -<W, K> + C xi >= -B^(1/p) (-q dual(a))^(1/q) for every K of this capacity.
Z11 has p = 2; a smaller p gives fewer dimensions, and p = 1 would be the trace that the authors of the
method bound.

Comparisons are added when they are violated. Those never added have a price of zero, so the dual is that of
all, and the largest violation comes from distances, a few rows at a time: the farthest neighbor of i
against the nearest other point. For a slack the comparisons are hard constraints; the slack is 0, or the
one at which the prices add up to C.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn._base.validation import RANGE
from gramlearn.methods.nonparametric.capacity import (
    capacity_of,
    capacity_term,
    check_capacity,
)
from gramlearn.methods.nonparametric.leading_kernel import explain_overflow
from gramlearn.methods.unfolding.graph_comparisons import Comparisons, drop_known
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.constraints import DenseMatrices, DistanceComparisons
from gramlearn.problem.losses import Hard, Linear
from gramlearn.problem.prior import Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.solution import CertifiedAnswer, Record, Solution
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Attempt, Limits, Method, State, iterate, warn_unless_solved
from gramlearn.solvers.solve import method_for

_FIRST = 500  # at most so many comparisons are added at a time, or as many as have a price
_ROUNDS = 200
_SEARCHES = 60
_LEAST_P = 1.01  # whose q is 101
_LARGEST_LOG = math.log(RANGE)
_ROUNDING = 1e-10  # a share of the graph's matrix that counts as zero


@final
@dataclass(frozen=True, eq=False, repr=False)
class StructureAnswer(CertifiedAnswer):
    """K = F F', optimal to its gap among all kernels of no larger capacity.

    Attributes
    ----------
    factor : array n x r
    primal, gap : float
        f(K) = -<W, K> + C xi, and a bound on what another kernel of this capacity would gain.
    violation : float
        Without C, the largest violation of all comparisons, relative to the mean squared distance.
    capacity : float
        tr K^p.
    slack : float
        xi. Without C, the largest violation.
    made : array m x 3
        The comparisons (i, k, j) that were added, of `count`, with their `prices`, the proof of the gap.
    rounds : tuple of (int, float)
        How many there were in each round, and the largest violation beyond the slack.
    """

    factor: np.ndarray
    capacity: float
    slack: float
    made: np.ndarray
    prices: np.ndarray
    count: int
    rounds: tuple[tuple[int, float], ...]

    def __repr__(self) -> str:
        return (
            f"StructureAnswer({self.status.name}: value {self.primal:.6g}, relative gap "
            f"{self.relative_gap:.1e}, violation {self.violation:.1e}, slack {self.slack:.4g}, "
            f"{len(self.made)} of {self.count} comparisons, {len(self.rounds)} rounds, {self.seconds:.3g} s)"
        )


def structure_preserving(
    graph: Any,
    *,
    C: float | None = None,
    p: float = 2.0,
    capacity: float | None = None,
    capacity_price: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
    owner: str = "structure_preserving",
) -> StructureAnswer:
    """Learn K from a graph: a symmetric sparse matrix of zeros and ones. Without C the slack is zero.

    Parameters
    ----------
    graph : sparse matrix n x n
    C : float, optional
        The price of the slack.
    p : float
        At least 1.01: capacity is tr K^p.
    capacity, capacity_price : float, optional
        The capacity B, or its price, G/p tr K^p (default: G = 1). They scale K and change nothing else.
    tol : float
        The relative gap at which to stop; without C also the largest violation, relative to the mean squared
        distance.
    max_iter, callback, time_limit :
        As in `solve`.
    """
    check_capacity(capacity, capacity_price, owner)
    capacity_term(p)  # refuses what is not an exponent
    if p < _LEAST_P:
        raise ValueError(
            f"`p={p:g}` asks for powers of {p / (p - 1):.0f}, which leave the range of numbers; pass "
            f"{_LEAST_P} or more, which is near to the trace."
        )
    limits = Limits.read(tol, max_iter, time_limit, owner)
    M, size = _center(graph, p)
    price = None if C is None else C / size
    search = _SlackSearch(Comparisons(graph), M, size, price, p, capacity, capacity_price)
    answer = iterate(search, limits, callback, len(M) ** 3)
    stalled = (
        ("left comparisons violated", "a larger tol, or p, asks for less")
        if C is None
        else (f"found no slack for `C={C:g}`", "a larger C, or None, asks for less")
    )
    warn_unless_solved(answer, limits, "ask for a larger tol", stalled)
    return answer


def _center(graph: Any, p: float) -> tuple[np.ndarray, float]:
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


class _Made(NamedTuple):
    """The comparisons added by now, their prices, and the rounds in which they were added."""

    rows: np.ndarray
    prices: np.ndarray
    rounds: tuple[tuple[int, float], ...]


class _End(NamedTuple):
    """A slack, and what the prices add up to there."""

    slack: float
    total: float


@final
@dataclass(frozen=True, eq=False)
class _SlackState(State):
    """The attempt at one slack with the comparisons added by now, and the slacks on either side of it."""

    attempt: Attempt
    slack: float
    made: _Made
    round: int = 0
    left: _End | None = None
    right: _End | None = None
    turn: int = 0

    @property
    def details(self) -> Mapping[str, Any]:
        return {**self.attempt.details, "round": len(self.made.rounds), "made": len(self.made.rows)}


@final
@dataclass(frozen=True, eq=False)
class _SlackSearch(Method[_SlackState, StructureAnswer, StructureAnswer]):
    """Rounds at a slack, and the search for the slack whose prices add up to C.

    M is HWH divided by `size`, and C is in the same units.
    """

    comparisons: Comparisons
    M: np.ndarray
    size: float
    C: float | None
    p: float
    B: float | None
    G: float | None

    @property
    def q(self) -> float:
        """1/p + 1/q = 1."""
        return self.p / (self.p - 1)

    def begin(self, tol: float) -> _SlackState:
        """Without a slack, with the comparisons that K without any violates."""
        nothing = _Made(np.zeros((0, 3), dtype=np.intp), np.zeros(0), ())
        made, _, _ = self._add_violated(nothing, self._without_prices(), 0.0, tol)
        return self.step(_SlackState(self._attempt(made, 0.0, tol), 0.0, made), tol)

    def step(self, state: _SlackState, tol: float) -> _SlackState:
        """One step of the solve; where it ends, add what it violates, or choose the next slack."""
        attempt = state.attempt.step()
        state = replace(state, attempt=attempt, certificate=attempt.certificate, candidate=None)
        if attempt.status is None:
            return state
        solution, made = self._read_solution(state)
        F = np.asarray(solution.factor)
        more, largest, is_over = self._add_violated(made, F, state.slack, tol)
        if not is_over and state.round + 1 < _ROUNDS:
            attempt = self._attempt(more, state.slack, tol)
            return replace(state, attempt=attempt, made=more, round=state.round + 1)
        made = made._replace(rounds=more.rounds)
        return self._end_slack(replace(state, made=made), solution, largest, tol)

    def settle(self, state: _SlackState) -> _SlackState:
        """Judge the solve as it is now."""
        if state.attempt.state is None:
            return state
        solution, made = self._read_solution(state)
        if not np.isfinite(solution.gap):
            return state
        F = np.asarray(solution.factor)
        largest = self.comparisons.find_violated(F, state.slack, 0.0, 1)[1]
        return replace(state, candidate=self._answer_of(made, state.slack, largest, solution))

    def _end_slack(
        self, state: _SlackState, solution: Solution, largest: float, tol: float
    ) -> _SlackState:
        """Judge K; go on to the next slack, unless the prices add up to at most C or enough were tried."""
        found = self._answer_of(state.made, state.slack, largest, solution)
        state = replace(state, candidate=found, certificate=found.certificate)
        total = float(state.made.prices.sum())
        left, here = state.left, _End(state.slack, total)
        if self.C is None or (left is None and total <= self.C) or state.turn == _SEARCHES:
            is_known = solution.status is not Status.OPTIMAL
            return replace(state, ending=solution.status if is_known else Status.STALLED)
        right = state.right
        if right is None:  # at the largest violation of K without any price, all prices are zero
            F = self._without_prices()
            right = _End(self.comparisons.find_violated(F, 0.0, 0.0, 1)[1], 0.0)
        left, right = (here, right) if left is None or total > self.C else (left, here)
        share = (left.total - self.C) / (left.total - right.total)
        share = min(max(share, 0.01), 0.99) if state.turn % 3 < 2 else 0.5
        slack = left.slack + share * (right.slack - left.slack)
        attempt, turn = self._attempt(state.made, slack, tol), state.turn + 1
        state = replace(state, left=left, right=right, turn=turn)
        return replace(state, attempt=attempt, slack=slack, round=0)

    def _attempt(self, made: _Made, slack: float, tol: float) -> Attempt:
        """The solve with these comparisons, from their prices."""
        terms = [Term(DenseMatrices(self.M[None]), Linear(-1.0))]
        start = [np.full(1, -1.0)]
        if len(made.rows):
            terms.append(Term(DistanceComparisons(*made.rows.T), Hard(upper=slack)))
            start.append(made.prices)
        problem = Problem(capacity_term(self.p), Zeros(self.comparisons.n), terms)
        return Attempt(method_for(problem, "working_set", start=start), tol / 4)

    def _read_solution(self, state: _SlackState) -> tuple[Solution, _Made]:
        """The solution of the solve as it is now, and the comparisons with their prices."""
        solution, made = state.attempt.settle().answer(), state.made
        prices = np.asarray(solution.duals[-1]) if len(made.rows) else np.zeros(0)
        return solution, made._replace(prices=prices)

    def _add_violated(
        self, made: _Made, F: np.ndarray, slack: float, tol: float
    ) -> tuple[_Made, float, bool]:
        """Add what F violates, in place of what has no price; the largest violation, and if none is new."""
        mean = 2 * float(np.sum(F * F)) / self.comparisons.n
        kept = made.prices > 0
        room = max(_FIRST, int(kept.sum()))
        new, largest = self.comparisons.find_violated(F, slack, tol * mean / 4, room)
        new = drop_known(new, made.rows)
        rounds = (*made.rounds, (len(made.rows), max(largest - slack, 0.0)))
        if not len(new):
            return made._replace(rounds=rounds), largest, True
        rows = np.concatenate([made.rows[kept], new])
        prices = np.concatenate([made.prices[kept], np.zeros(len(new))])
        return _Made(rows, prices, rounds), largest, False

    def _answer_of(
        self, made: _Made, slack: float, largest: float, solution: Solution
    ) -> StructureAnswer:
        """K with tr K^p = B, or as a price of G has it, against prices that add up to no more than C."""
        p, q, F = self.p, self.q, np.asarray(solution.factor)
        total = float(made.prices.sum())
        share = 1.0 if self.C is None or total <= self.C else self.C / total
        dual = solution.dual
        if share < 1:
            dual = self._dual(made.rows, share * made.prices)
        elif self.C is not None:
            dual += slack * total
        # K is a power of Y+ and may differ from it in size: whether it is rounding shows in Y+.
        if np.linalg.norm(F, 2) ** (2 * (p - 1)) <= _ROUNDING * np.linalg.norm(self.M):
            F = F[:, :0]
        scale, capacity = self._find_scale(capacity_of(F, p))
        slack = max(largest, 0.0) if capacity else 0.0
        f = -float(np.sum(F * (self.M @ F))) + (self.C or 0.0) * slack
        bound = -(capacity ** (1 / p)) * (q * max(-dual, 0.0)) ** (1 / q)
        value, gap = self.size * scale * f, self.size * max(scale * f - bound, 0.0)
        mean = 2 * float(np.sum(F * F)) / self.comparisons.n
        violation = slack / mean if self.C is None and mean > 0 else 0.0
        return StructureAnswer(
            F * scale**0.5,
            capacity,
            scale * slack,
            made.rows,
            self.size * share * made.prices,
            self.comparisons.count(),
            made.rounds,
            certificate=Certificate(value, value - gap, gap, violation),
        )

    def _find_scale(self, capacity: float) -> tuple[float, float]:
        """The number to multiply K by, and its capacity after that."""
        if self.B is not None:
            return ((self.B / capacity) ** (1 / self.p), self.B) if capacity else (1.0, 0.0)
        price = 1.0 if self.G is None else self.G
        if (1 - self.q) * math.log(price / self.size) > _LARGEST_LOG:
            raise ValueError(explain_overflow(self.p, price))
        scale = (price / self.size) ** (1 - self.q)
        return scale, capacity * scale**self.p

    def _dual(self, made: np.ndarray, prices: np.ndarray) -> float:
        i, k, j = made.T
        Y = self.M.copy()
        for other, sign in ((k, -1.0), (j, 1.0)):
            np.add.at(Y, (i, i), sign * prices)
            np.add.at(Y, (other, other), sign * prices)
            np.add.at(Y, (i, other), -sign * prices)
            np.add.at(Y, (other, i), -sign * prices)
        return -float(np.sum(np.clip(np.linalg.eigvalsh(Y), 0.0, None) ** self.q)) / self.q

    def _without_prices(self) -> np.ndarray:
        """F of K = (M+)^(q - 1)."""
        s, V = np.linalg.eigh(self.M)
        return np.asarray(V[:, s > 0] * s[s > 0] ** ((self.q - 1) / 2))
