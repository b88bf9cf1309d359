"""minimize sum_t w_t eps_t + gamma1 sum_f s_f + gamma2 tr K: a kernel from comparisons, a linear program (F07).

    K = sum_p alpha_p K_p + beta I,    |alpha_p| <= s_f for the kernels p of group f
    K_ij - K_ik + eps_t >= margin_t    for each comparison t, "i is more like j than k"
    K_ii >= sum_{j != i} |K_ij|        for the points i of S: K is diagonally dominant there, and so PSD

Written out, the last line takes |S|^2 more variables. As cuts (see `dominance_rows`) it takes none: the program
is solved with some rows, the most violated ones are added, and it goes on from where it was until none is.

The identity I is always in the family. It pays through the trace alone, and comparisons, which are about the
sum over p, do not see it. Without it dominance is so strict that K = 0 is often the best there is. It also
gives every round an answer: beta = max_i (sum_{j != i} |K_ij| - K_ii) makes any alpha feasible, so `value` is
attained. `bound` is the value of the dual program's prices, less what their errors can be worth.
"""

import time
from collections.abc import Callable
from itertools import count
from numbers import Real
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.validation import as_float, check_count, check_positive
from gramlearn._base.warnings import warn
from gramlearn.kernels.families import read_kernels
from gramlearn.methods.kernel_design.answer import KernelDesign, certificate_of
from gramlearn.methods.kernel_design.comparisons import compare, read_groups, read_points, read_rows
from gramlearn.methods.kernel_design.dominance_rows import GramRows
from gramlearn.methods.kernel_design.lower_bound import LowerBound
from gramlearn.methods.kernel_design.program import Prices, Program
from gramlearn.problem.solution import Record
from gramlearn.problem.status import SolveInterrupted, Status
from gramlearn.side_information import Triplets

__all__ = ["DesignProblem", "KernelDesign", "check_price"]

_CUTS = 30  # rows added a round, the most violated ones
_FIRST = 1500  # comparisons to begin with; four times as many each time its cuts are known
_GROWTH = 4
_ROUNDING = 1e-9  # a weight below this share of the largest is none
_ROUNDS = 500
_LARGEST = 1e4  # gamma2, beside the sum of the weights of comparisons


class _Trial(NamedTuple):
    """A feasible answer, and the excess of its rows."""

    weights: np.ndarray
    identity: float
    value: float
    violation: float
    excess: np.ndarray


@final
class DesignProblem:
    """Comparisons and a family of kernels: `solve(gamma1, gamma2)`, each time from where the last one ended.

    Parameters
    ----------
    kernels : sequence of base kernels, as `KernelDesigner` takes it
    points : array n x d
    triplets : Triplets
        Over these points.
    psd_points : vector of row numbers
        S.
    groups : vector of group numbers, one a kernel, optional
        Kernels that are priced together, by the largest of their weights, as (7) has it; each alone, as in
        (4), where they are not given.
    identity : bool
        Whether the identity is in the family; leave it out only to see why it should not be.
    nonnegative : bool
        Only weights of at least 0: K is then PSD on all points, where the kernels are.
    """

    def __init__(
        self,
        kernels: Any,
        points: Any,
        triplets: Triplets,
        psd_points: Any,
        *,
        groups: Any = None,
        identity: bool = True,
        nonnegative: bool = False,
    ) -> None:
        self._identity, self._nonnegative = identity, nonnegative
        kernels, points = read_kernels(kernels), read_points(points)
        m = len(kernels)
        self._groups = read_groups(groups, m)
        self._table = compare(kernels, points, triplets)
        self.differences, self._margin, self._weight = self._table
        rows = read_rows(psd_points, len(points))
        self._rows = GramRows(kernels, points[rows])
        self._n = len(rows)
        self._traces = self._rows.diagonal.sum(axis=0)
        self._sizes = _sizes(self.differences, self._rows.diagonal)
        self._lower = LowerBound(
            self.differences,
            self._margin,
            self._weight,
            self._traces,
            self._n,
            self._groups,
            self._sizes,
            identity,
            nonnegative,
        )
        # Comparisons come in an order of their own, so that the first of them are a sample of all.
        self._order = np.random.default_rng(0).permutation(triplets.size)
        self._begin()

    def _begin(self) -> None:
        """A program without comparisons, and with one cut."""
        self._program = Program(
            self._sizes,
            self._groups,
            self._traces,
            self._n,
            float(self._margin.max()) or 1.0,
            has_identity=self._identity,
            nonnegative=self._nonnegative,
        )
        self._entered, self._settled = 0, False
        self._cuts = np.zeros((0, self._traces.size))
        # Before any other cut, that the trace is at least 0: less than the mean of what all rows ask for.
        self._add_cuts(self._traces[None] / self._n)
        self._is_whole = True

    @property
    def largest_gamma1(self) -> float:
        """From here on all weights are zero, whatever gamma2 is."""
        return float(np.bincount(self._groups, np.abs(self._weight @ self.differences)).max())

    @property
    def usual_gamma2(self) -> float:
        """A hundredth of the weight of all comparisons over |S|^2: the least dominant trace grows as |S|^2."""
        return 0.01 * float(self._weight.sum()) / self._n**2

    def share_kept(self, weights: np.ndarray) -> float:
        """The share of comparisons that these weights keep."""
        return self._table.share_kept(weights)

    def solve(
        self,
        gamma1: float,
        gamma2: float,
        *,
        tol: float = 1e-6,
        max_iter: int | None = None,
        callback: Callable[[Record], object] | None = None,
    ) -> KernelDesign:
        """The design for these prices, to a relative gap of `tol`; a warning where it is not reached."""
        gamma1, gamma2 = check_price(gamma1, "gamma1"), check_price(gamma2, "gamma2")
        tol = check_positive(tol, "tol", "DesignProblem.solve", any_size=True)
        limit = _ROUNDS if max_iter is None else check_count(max_iter, "max_iter")
        priced = self._within_reach(gamma1, gamma2)
        if not self._is_whole:  # a solve was interrupted, and its program is in no known state
            self._begin()
        self._is_whole = False
        self._program.set_prices(*priced)
        began, history = time.perf_counter(), list[Record]()
        best: _Trial | None = None
        # Slacks and weights are priced at 0 or more, and the trace of what is dominant is at least 0.
        bound, status = 0.0, Status.ITERATION_LIMIT
        weights, prices = np.zeros(self._traces.size), None
        size = float(self._weight @ self._margin)
        try:
            for iteration in count(1):
                is_whole = self._enter(weights, iteration > 1)
                prices = self._program.solve()
                trial = self._trial(prices.alpha, gamma1, gamma2)
                weights = trial.weights
                if best is None or trial.value < best.value or not self._identity:
                    best = trial
                if is_whole:
                    bound = max(bound, self._bound(prices, *priced, best.value))
                certificate = certificate_of(best.value, bound, best.violation, size)
                details = {"cuts": len(self._cuts), "comparisons": self._entered}
                history.append(Record(iteration, time.perf_counter() - began, certificate, details))
                if is_whole and certificate.is_within(tol):
                    status = Status.OPTIMAL
                    break
                if callback is not None and callback(history[-1]):
                    status = Status.STOPPED
                    break
                if iteration >= limit:
                    break
                if not self._cut(trial, prices.beta) and is_whole:
                    status = Status.STALLED
                    break
        except KeyboardInterrupt:
            # Inside a round, too: whatever weights HiGHS has come to, the identity makes them feasible.
            now = self._program.so_far() if self._identity else None
            if now is not None:
                trial = self._trial(now.alpha, gamma1, gamma2)
                best = trial if trial.value < (size if best is None else best.value) else best
            if best is None:
                raise
            known = [known for known in (prices, now) if known is not None]
            bound = max(bound, *(self._bound(known, *priced, best.value) for known in known))
            certificate = certificate_of(best.value, bound, best.violation, size)
            details = {"cuts": len(self._cuts), "comparisons": self._entered}
            history.append(
                Record(len(history) + 1, time.perf_counter() - began, certificate, details)
            )
            answer = self._answer(best, gamma1, gamma2, bound, Status.INTERRUPTED, size, history)
            raise SolveInterrupted(answer) from None
        self._is_whole = True
        answer = self._answer(best, gamma1, gamma2, bound, status, size, history)
        if status is not Status.OPTIMAL:
            warn(
                f"the design is not finished: {status.value}; its relative gap is {answer.relative_gap:.1e}, "
                f"and not {tol:.0e}.",
                ConvergenceWarning,
            )
        return answer

    def _within_reach(self, gamma1: float, gamma2: float) -> tuple[float, float]:
        """Prices no larger than a solver can work with.

        All weights are zero before they are reached; if not, a bound for lower prices is one for these.
        """
        return (
            min(gamma1, 2 * self.largest_gamma1 + 1.0),
            min(gamma2, _LARGEST * float(self._weight.sum())),
        )

    def _enter(self, weights: np.ndarray, go_on: bool) -> bool:
        """Let more comparisons in where the cuts for those so far are known; whether all are in."""
        total = len(self._order)
        if self._entered and (not go_on or self._entered == total or not self._settled):
            return self._entered == total
        entered = min(total, max(_FIRST, _GROWTH * self._entered))
        new = self._order[self._entered : entered]
        D, margin = self.differences[new], self._margin[new]
        share = self._weight.sum() / self._weight[self._order[:entered]].sum()
        self._program.add_comparisons(D, margin, share * self._weight[new], D @ weights < margin)
        self._program.set_weights(share * self._weight[self._order[:entered]])
        self._entered, self._settled = entered, False
        return entered == total

    def _cut(self, trial: _Trial, beta: float) -> bool:
        """Add the most violated rows; whether there were any."""
        missing = trial.excess - beta
        rows = np.argsort(-missing)[:_CUTS]
        least = _ROUNDING * max(abs(beta), float(np.abs(trial.excess).max()))
        rows = rows[missing[rows] > least]
        self._settled = len(rows) < _CUTS // 2
        if rows.size:
            self._add_cuts(self._rows.cuts(trial.weights, rows))
        return bool(rows.size) or self._entered < len(self._order)

    def _add_cuts(self, C: np.ndarray) -> None:
        self._cuts = np.concatenate([self._cuts, C])
        self._program.add_cuts(C)

    def _trial(self, alpha: np.ndarray, gamma1: float, gamma2: float) -> _Trial:
        """These weights without what is rounding, the least identity that goes with them, and their value."""
        seen = np.abs(alpha) * self._sizes
        weights = np.where(seen > _ROUNDING * max(seen.max(), 1e-300), alpha, 0.0)
        if self._nonnegative:
            weights = np.maximum(weights, 0.0)
        excess = self._rows.excess(weights)
        identity = float(excess.max()) if self._identity else 0.0
        if self._nonnegative:
            identity = max(identity, 0.0)
        slack = np.maximum(self._margin - self.differences @ weights, 0.0)
        largest = np.zeros(self._groups.max() + 1)
        np.maximum.at(largest, self._groups, np.abs(weights))
        trace = float(self._traces @ weights) + self._n * identity
        value = float(self._weight @ slack) + gamma1 * float(largest.sum()) + gamma2 * trace
        missing = max(float(excess.max()) - identity, 0.0)
        largest_entry = max(float(np.abs(self._rows.diagonal @ weights).max()), missing)
        violation = missing / largest_entry if missing else 0.0
        return _Trial(weights, identity, value, violation, excess)

    def _bound(self, prices: Prices, gamma1: float, gamma2: float, value: float) -> float:
        """Of prices of all comparisons, or of a sample, whose weights are those of all.

        No price on any comparison, and all of gamma2 |S| on the first cut, satisfies the equations, too. So
        between that and the prices of a sample lie some that are within the ends of all comparisons.
        """
        entered, cuts = prices.lam.size, self._cuts[: prices.mu.size]  # of which some may be newer
        sample = self._weight[self._order[:entered]].sum() / self._weight.sum()
        share = 1.0 if entered == self._order.size else float(sample)
        lam, mu = np.zeros(self._order.size), share * prices.mu
        lam[self._order[:entered]] = share * prices.lam
        mu[0] += (1 - share) * gamma2 * self._n
        return self._lower.of(lam, mu, cuts, gamma1, gamma2, value)

    def _answer(
        self,
        trial: Any,
        gamma1: float,
        gamma2: float,
        bound: float,
        status: Status,
        size: float,
        history: list[Record],
    ) -> KernelDesign:
        return KernelDesign(
            trial.weights,
            trial.identity,
            gamma1,
            gamma2,
            trial.value,
            bound,
            trial.violation,
            size,
            self._n,
            status,
            len(self._cuts) - 1,
            tuple(history),
        )


def check_price(value: Any, name: str) -> float:
    """A number of at least 0."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= as_float(value) < np.inf:
        raise ValueError(f"`{name}` must be a finite number of at least 0; got {value!r}.")
    return float(value)


def _sizes(differences: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """The size of the values of each kernel; 1 of those that are zero."""
    sizes = np.maximum(np.abs(differences).max(axis=0), np.abs(diagonal).max(axis=0))
    return np.where(sizes > 0, sizes, 1.0)
