"""minimize f(K) over PSD K with tr K^p <= B, by way of f(K) + (G/p) tr K^p (Z11 4.1, 4.2).

f is a sum of losses of linear functions of K. With prices lam of the losses, Y = -sum_k lam_k A_k and 1/p + 1/q
= 1, Hoelder's inequality, <Y, K> <= |Y+|_q |K|_p, gives for every K within B

    f(K) >= -B^(1/p) |Y+|_q - sum_k loss_k*(lam_k)

with equality for K = s (Y+)^(1 / (p - 1)), scaled to tr K^p = B (Proposition 1). The right side is smooth in
lam while Y+ is not zero. Where Y is sparse it is maximized directly, as `Problem(capacity=B)`, without a search
for G. Solvers of dense problems need a price G: the lam that are optimal at G give such a K, the kernel of G
scaled to B, and its gap is f(K) less the bound. tr K^p falls as G grows, so a G with a small gap is found by a
search on a line. With a linear f the first G is enough, since lam does not depend on G.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn._base.arrays import Array
from gramlearn._base.validation import check_positive
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.problem import Problem
from gramlearn.problem.regularizers import Frobenius, Schatten
from gramlearn.problem.solution import CertifiedAnswer, Record, Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import Status
from gramlearn.solvers import QuasiNewton
from gramlearn.solvers.loop import (
    Attempt,
    Limits,
    Method,
    Run,
    State,
    iterate,
    warn_unless_solved,
)
from gramlearn.solvers.solve import method_for, products_of
from gramlearn.solvers.solver import Solving

_SEARCHES = 60
_STEPS = 200  # where the bound has a kink at its maximum, more steps do not help
_FEW = (
    100  # points for which Newton on a dense dual is cheap; it solves at prices where others fail
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class CapacityAnswer(CertifiedAnswer):
    """K = F F' with f(K) within `gap` of the least f of its capacity.

    Attributes
    ----------
    factor : array n x r
    capacity, capacity_price : float
        tr K^p, and the price G at which a kernel has this capacity.
    primal, gap : float
        f(K), and a bound on what another K of no larger capacity, or of the B asked for, would gain. It is
        measured against the larger of |f(K)| and |f(K) + (G/p) tr K^p|.
    duals : tuple of arrays
        The prices of the losses, one vector a term of f; none where K has a closed form.
    solution : Solution, optional
        While a search goes on: of the problem divided by G, or with its capacity bounded.
    """

    factor: np.ndarray
    capacity: float
    capacity_price: float
    duals: tuple[Array, ...] = ()
    solution: Solution | None = None

    @property
    def is_solved(self) -> bool:
        """Whether the solve behind it reached its tolerance."""
        found = self if self.solution is None else self.solution
        return found.status is Status.OPTIMAL

    def __repr__(self) -> str:
        return (
            f"CapacityAnswer({self.status.name}: value {self.primal:.6g}, relative gap "
            f"{self.relative_gap:.1e}, capacity {self.capacity:.6g}, price {self.capacity_price:.6g}, rank "
            f"{self.factor.shape[1]}, {self.iterations} iterations, {self.seconds:.3g} s)"
        )


def value_within(value: float, gap: float, size: float) -> Certificate:
    """The certificate of a value at most `gap` above the least; `size` is what the gap is measured against."""
    return Certificate(value, value - gap, gap, 0.0, least=size)


def solve_with_capacity(
    problem_at: Callable[[float], Problem],
    p: float,
    *,
    capacity: float | None = None,
    capacity_price: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
    solver: Any = "quasi_newton",
    smallest: float = 1e-5,
    basis: np.ndarray | None = None,
    owner: str = "solve_with_capacity",
) -> CapacityAnswer:
    """Learn K for a capacity B, tr K^p <= B, or for its price G. Without either, G = 1.

    Parameters
    ----------
    problem_at : function of G
        The problem divided by G: f / G, and a Frobenius or Schatten(p) regularizer from zeros.
    p : float
    capacity, capacity_price : float, optional
        B and G.
    tol, max_iter, callback, time_limit, solver :
        As in `solve`.
    smallest : float
        A G below this hardly prices capacity: the search ends there.
    basis : array n x d, optional
        V, orthonormal, where the problem is that of E in K = V E V'.
    """
    check_capacity(capacity, capacity_price, owner)
    limits = Limits.read(tol, max_iter, time_limit, owner)
    at = lru_cache(maxsize=1)(problem_at)  # the first price is asked for more than once
    search = CapacitySearch(at, p, capacity, capacity_price, solver, smallest, None, basis)
    answer = iterate(search, limits, callback, products_of(at(capacity_price or 1.0)))
    what, advice = (
        "found no step that improves the dual any more",
        "a larger price, or tol, asks for less",
    )
    if capacity is not None:
        what = f"found no price at which tr K^p is {capacity=:g}"
        advice = "a smaller one asks for less"
    warn_unless_solved(answer, limits, "ask for a larger tol", (what, advice))
    return answer


class _End(NamedTuple):
    """A price that was tried, and the capacity it gave."""

    G: float
    capacity: float


@final
@dataclass(frozen=True, eq=False)
class SearchState(State):
    """The attempt at one price, or at the capacity itself, and the prices between which the right one lies."""

    attempt: Attempt
    G: float | None  # None: at the capacity itself
    solver: Any
    low: _End | None = None
    high: _End | None = None
    turn: int = 0
    least_gap: float = float("inf")

    @property
    def details(self) -> Mapping[str, Any]:
        return {"round": self.turn, **self.attempt.details}


@final
@dataclass(frozen=True, eq=False)
class CapacitySearch(Method[SearchState, CapacityAnswer, CapacityAnswer]):
    """At one G; or at the capacity itself, and where that fails by a search for G.

    `near` is the kernel of a similar problem: its prices of the losses are the first, and with a B so is its G.
    """

    problem_at: Callable[[float], Problem]
    p: float
    B: float | None
    G: float | None
    solver: Any
    smallest: float
    near: CapacityAnswer | None = None
    basis: np.ndarray | None = None

    def begin(self, tol: float) -> SearchState:
        """At the capacity itself where Y is sparse, else at the first price."""
        if self.B is not None and self.solver == "quasi_newton":
            solving = Solving(replace(self.problem_at(1.0), capacity=float(self.B)), QuasiNewton())
            return self.step(SearchState(Attempt(solving, tol, _STEPS), None, self.solver), tol)
        return self.step(self._begin_prices(self.solver, tol), tol)

    def step(self, state: SearchState, tol: float) -> SearchState:
        """One step of the solve; where it ends, certify its kernel and choose the next price."""
        attempt = state.attempt.step()
        state = replace(state, attempt=attempt, certificate=attempt.certificate, candidate=None)
        if state.G is None:
            price = attempt.details.get("price", np.inf)
            is_over = attempt.status is not None or price < self.smallest
            return self._end_bounded(state, tol) if is_over else state
        if attempt.status is None:
            return state
        found = self._kernel_of(state)
        if self.B is None:
            return replace(state, candidate=found, ending=attempt.status)
        return self._end_price(state, found, tol)

    def settle(self, state: SearchState) -> SearchState:
        """Judge the kernel of the solve as it is now, if it has begun."""
        if state.attempt.state is None:
            return state
        found = self._kernel_of(state)
        if not np.isfinite(found.certificate.gap):
            return state
        is_within = self.B is None or state.G is None
        return replace(state, candidate=found if is_within else self._scale_to_capacity(found))

    def is_better(self, new: CapacityAnswer, old: CapacityAnswer) -> bool:
        """By the gap itself: where it is large, its ratio to the bound says nothing."""
        return new.certificate.gap < old.certificate.gap

    def answer(self, best: CapacityAnswer, run: Run) -> CapacityAnswer:
        """In all coordinates."""
        F = best.factor if self.basis is None else self.basis @ best.factor
        return super().answer(replace(best, factor=F, solution=None), run)

    def _begin_prices(self, solver: Any, tol: float) -> SearchState:
        G, near = 1.0 if self.G is None else float(self.G), self.near
        if self.B is not None and near is not None:
            G, near = (near.capacity_price, near) if near.capacity_price > 0 else (1.0, None)
        return SearchState(self._attempt_at(G, near, solver, tol), G, solver)

    def _attempt_at(
        self, G: float, near: CapacityAnswer | None, solver: Any, tol: float
    ) -> Attempt:
        """The solve at this price, from prices of the losses nearby; they are divided by G, as f is."""
        start = None if near is None else [lam / G for lam in near.duals]
        return Attempt(method_for(self.problem_at(G), solver, start=start), tol / 2)

    def _kernel_of(self, state: SearchState) -> CapacityAnswer:
        """The kernel of the solve as it is now."""
        solution = state.attempt.settle().answer()
        if state.G is None:
            return self._fill_capacity(solution)
        G, F = state.G, np.asarray(solution.factor)
        capacity = capacity_of(F, self.p)
        value = G * (solution.primal - capacity / self.p)
        size = max(abs(value), G * abs(solution.primal))
        duals = tuple(lam * G for lam in solution.duals)
        certificate = value_within(value, G * solution.gap, size)
        return CapacityAnswer(F, capacity, G, duals, solution, certificate=certificate)

    def _fill_capacity(self, solution: Solution) -> CapacityAnswer:
        """The kernel of a solve that knew its capacity."""
        assert self.B is not None
        F = np.asarray(solution.factor) * (1 - 1e-15)
        # The dual is constant - B G - cost, where B^(1/p) |Y+|_q = B G.
        constant = solution.problem.dual.constant
        price = max(constant - _conjugate_cost(solution) - solution.dual, 0.0) / self.B
        capacity, value = self.B if F.any() else 0.0, solution.primal
        size = max(abs(value), abs(value + price * capacity / self.p) if capacity else 0.0)
        certificate = value_within(value, solution.gap, size)
        return CapacityAnswer(F, capacity, price, solution.duals, solution, certificate=certificate)

    def _end_bounded(self, state: SearchState, tol: float) -> SearchState:
        """End, or go on with prices: where B hardly matters, Y+ is zero at the best bound."""
        found = self._kernel_of(state)
        if found.certificate.is_within(tol):
            return replace(state, candidate=found)
        few = found.factor.shape[0] <= _FEW
        following = self._begin_prices("working_set" if few else self.solver, tol)
        # A kernel that fills a capacity that hardly matters is not an answer.
        if self.smallest > found.capacity_price:
            return following
        return replace(following, candidate=found, least_gap=found.certificate.gap)

    def _end_price(self, state: SearchState, found: CapacityAnswer, tol: float) -> SearchState:
        """Scale the kernel to the capacity; the next price, unless there is nothing more to find."""
        assert self.B is not None
        scaled, before = self._scale_to_capacity(found), state.least_gap
        least = min(before, scaled.certificate.gap)
        state = replace(state, candidate=scaled, certificate=scaled.certificate, least_gap=least)
        # K is zero, or stays below B at a price of almost nothing.
        price = found.capacity_price
        is_over = found.capacity == 0 or self.smallest > price or state.turn + 1 == _SEARCHES
        # Where a solve failed and helped little, the one at the next G would, too.
        helped_little = not found.is_solved and np.isfinite(before) and least > before / 2
        if is_over or helped_little:
            return replace(state, ending=Status.STALLED)
        end = _End(price, found.capacity)
        low, high = (end, state.high) if found.capacity > self.B else (state.low, end)
        G = _next_price(low, high, self.B, self.p, state.turn)
        attempt = self._attempt_at(G, found, state.solver, tol)
        return replace(state, attempt=attempt, G=G, low=low, high=high, turn=state.turn + 1)

    def _scale_to_capacity(self, found: CapacityAnswer) -> CapacityAnswer:
        """The kernel scaled to a capacity of B, or as it is where it is within B and better, with its gap."""
        assert self.B is not None
        if found.capacity == 0:
            return self._scale(found, 1.0)
        choices = [(self.B / found.capacity) ** (1 / self.p) * (1 - 1e-15)]
        if found.capacity <= self.B:
            choices.append(1.0)
        return min((self._scale(found, s) for s in choices), key=lambda a: a.certificate.gap)

    def _scale(self, found: CapacityAnswer, scale: float) -> CapacityAnswer:
        """s K, with f(s K) and its distance from the bound that the prices give."""
        solution, B, p, G = found.solution, self.B, self.p, found.capacity_price
        assert solution is not None
        assert B is not None
        F, q, dual = found.factor, p / (p - 1), solution.problem.dual
        ones = np.ones(F.shape[1])
        losses, at_scale = 0.0, 0.0
        for part in dual.parts:
            change = np.asarray(part.map.restrict(F).traces(ones))
            losses += float(np.sum(part.loss.value(part.offset + change)))
            at_scale += float(np.sum(part.loss.value(part.offset + scale * change)))
        cost = _conjugate_cost(solution)
        # The rest of the primal are linear terms, which scale.
        linear = solution.primal - found.capacity / p - losses
        # In units of G, as all of these: the value of the dual is constant - |Y+|_q^q / q - cost.
        powers = max(q * (dual.constant - solution.dual - cost), 0.0)
        bound = dual.constant - B ** (1 / p) * powers ** (1 / q) - cost
        value = linear * scale + at_scale
        rounding = 8 * np.finfo(float).eps * (abs(linear * scale) + abs(at_scale) + abs(bound))
        gap = G * (max(value - bound, 0.0) + rounding)
        capacity = found.capacity * scale**p
        certificate = value_within(G * value, gap, G * max(abs(value), abs(value + capacity / p)))
        # The price at which s K itself is optimal, for these prices of the losses: below Proposition 2.
        price, factor = G if scale == 1 else G * (powers / B) ** (1 / q), F * scale**0.5
        return replace(
            found, factor=factor, capacity=capacity, capacity_price=price, certificate=certificate
        )


def _conjugate_cost(solution: Solution) -> float:
    """sum_k loss_k*(lam_k) - offset_k lam_k."""
    problem = solution.problem
    parts = zip(problem.dual.parts, problem.free_duals(solution.duals) or [], strict=True)
    return sum(float(np.sum(part.loss.conjugate(v) - part.offset * v)) for part, v in parts)


def capacity_of(F: np.ndarray, p: float) -> float:
    """tr K^p of K = F F'."""
    return float(np.sum(np.clip(np.linalg.eigvalsh(F.T @ F), 0.0, None) ** p))


def capacity_term(p: float) -> Regularizer:
    """tr K^p / p."""
    return Frobenius() if p == 2 else Schatten(p)


def check_capacity(capacity: float | None, price: float | None, owner: str) -> None:
    """One of them, positive, or neither."""
    if capacity is not None and price is not None:
        raise ValueError(
            "pass `capacity` or `capacity_price`, not both: each capacity has one price."
        )
    for value, name in ((capacity, "capacity"), (price, "capacity_price")):
        if value is not None:
            check_positive(value, name, owner)


def _next_price(low: _End | None, high: _End | None, B: float, p: float, turn: int) -> float:
    """The G at which log tr K^p, a line in log G, is log B: between two prices, or beyond the only one."""
    if low is None or high is None:
        end = low or high
        assert end is not None
        # tr K^p is G^(-p / (p - 1)) times a constant for a linear f, and flatter for others: steps get longer.
        return float(end.G * (end.capacity / B) ** ((p - 1) / p * 2**turn))
    a, b = np.log(low.G), np.log(high.G)
    above, below = np.log(low.capacity / B), np.log(B / high.capacity)
    # Every third time the middle: the line alone may approach from one side only, slowly.
    share = np.clip(above / (above + below), 0.01, 0.99) if turn % 3 else 0.5
    return float(np.exp(a + (b - a) * share))
