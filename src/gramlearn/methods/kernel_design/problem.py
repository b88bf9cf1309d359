"""minimize sum_t w_t eps_t + g1 sum_f s_f + g2 tr K: a kernel from comparisons, a linear program (F07).

g1 is the parameter `sparsity` and g2 is `trace_price`; F07 calls them gamma_1 and gamma_2.

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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import as_float, check_points
from gramlearn.kernels.families import read_kernels
from gramlearn.methods.kernel_design.answer import KernelDesign
from gramlearn.methods.kernel_design.comparisons import compare, read_groups, read_rows
from gramlearn.methods.kernel_design.dominance_rows import GramRows
from gramlearn.methods.kernel_design.lower_bound import LowerBound
from gramlearn.methods.kernel_design.program import Coefficients, Prices, Program
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.dual import LEAST_SHARE
from gramlearn.problem.solution import Record
from gramlearn.problem.status import Status
from gramlearn.side_information import Triplets
from gramlearn.solvers.loop import Limits, Method, Run, State, iterate, warn_unless_solved

_CUTS = 30  # rows added a round, the most violated ones
_FIRST = 1500  # comparisons in the first program; four times as many each time its cuts are known
_GROWTH = 4
_ROUNDING = 1e-9  # a weight below this share of the largest is set to 0
_ROUNDS = 500
_LARGEST = 1e4  # the largest trace_price, relative to the sum of the weights of comparisons


class _Trial(NamedTuple):
    """A feasible answer, and the excess of its rows."""

    weights: np.ndarray
    identity: float
    value: float
    violation: float
    excess: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class _Round(State):
    """The last trial and its prices; the least value, the best bound and the best trial of all rounds."""

    trial: _Trial
    value: float
    bound: float
    cuts: int
    comparisons: int
    prices: Prices | None = None
    best: _Trial | None = None

    @property
    def details(self) -> Mapping[str, Any]:
        return {"cuts": self.cuts, "comparisons": self.comparisons}


@final
class DesignProblem:
    """Comparisons and a family of kernels: `solve(sparsity, trace_price)`, each from where the last one ended.

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
        kernels, points = read_kernels(kernels), to_numpy(check_points(points, "points"))
        group_numbers = read_groups(groups, len(kernels))
        table = compare(kernels, points, triplets)
        rows = read_rows(psd_points, len(points))
        self._rows = GramRows(kernels, points[rows])
        diagonal = self._rows.diagonal
        sizes = np.maximum(np.abs(table.differences).max(axis=0), np.abs(diagonal).max(axis=0))
        self._data = Coefficients(
            *table,
            diagonal.sum(axis=0),
            len(rows),
            group_numbers,
            np.where(sizes > 0, sizes, 1.0),
            identity,
            nonnegative,
        )
        self._lower = LowerBound(self._data)
        # A random order, so that the first comparisons are a sample of all.
        self._order = np.random.default_rng(0).permutation(triplets.size)
        self._begin()

    def _begin(self) -> None:
        """A program without comparisons, and with one cut."""
        data = self._data
        self._program = Program(data)
        self._entered, self._settled = 0, False
        self._cuts = np.zeros((0, data.traces.size))
        # Before any other cut, that the trace is at least 0: less than the mean of what all rows ask for.
        self._add_cuts(data.traces[None] / data.n_points)
        self._is_whole = True

    @property
    def differences(self) -> np.ndarray:
        """D, a row a comparison, a column a kernel."""
        return self._data.differences

    @property
    def largest_sparsity(self) -> float:
        """From here on all weights are zero, whatever trace_price is."""
        gains = np.abs(self._data.weight @ self.differences)
        return float(np.bincount(self._data.groups, gains).max())

    @property
    def usual_trace_price(self) -> float:
        """A hundredth of the weight of all comparisons over |S|^2: the least dominant trace grows as |S|^2."""
        return 0.01 * float(self._data.weight.sum()) / self._data.n_points**2

    def share_kept(self, weights: np.ndarray) -> float:
        """The share of comparisons that these weights keep, each counted by its price."""
        return float(np.average(self.differences @ weights > 0, weights=self._data.weight))

    def solve(
        self,
        sparsity: float,
        trace_price: float,
        *,
        tol: float = 1e-6,
        max_iter: int | None = None,
        callback: Callable[[Record], object] | None = None,
        time_limit: float | None = None,
        owner: str = "DesignProblem.solve",
    ) -> KernelDesign:
        """The design for these prices, to a relative gap of `tol`; a warning where it is not reached."""
        sparsity = check_price(sparsity, "sparsity")
        trace_price = check_price(trace_price, "trace_price")
        rounds = _ROUNDS if max_iter is None else max_iter
        limits = Limits.read(tol, rounds, time_limit, owner, least=1)
        if not self._is_whole:  # a solve was interrupted, and the state of its program is unknown
            self._begin()
        self._is_whole = False
        answer = iterate(_Cutting(self, sparsity, trace_price), limits, callback)
        self._is_whole = True
        stalled = "found no more rows to cut off", "ask for a larger tol"
        warn_unless_solved(answer, limits, "ask for a larger tol", stalled)
        return answer

    def _enter(self, weights: np.ndarray, go_on: bool) -> bool:
        """Add comparisons once the cuts for the present ones are known; whether all are in."""
        total, weight = len(self._order), self._data.weight
        if self._entered and (not go_on or self._entered == total or not self._settled):
            return self._entered == total
        entered = min(total, max(_FIRST, _GROWTH * self._entered))
        new = self._order[self._entered : entered]
        is_violated = self.differences[new] @ weights < self._data.margin[new]
        share = weight.sum() / weight[self._order[:entered]].sum()
        self._program.add_comparisons(new, share * weight[new], is_violated)
        self._program.set_weights(share * weight[self._order[:entered]])
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

    def _trial(self, alpha: np.ndarray, sparsity: float, trace_price: float) -> _Trial:
        """These weights without what is rounding, the least identity that goes with them, and their value."""
        data = self._data
        sizes = np.abs(alpha) * data.sizes
        weights = np.where(sizes > _ROUNDING * max(sizes.max(), 1e-300), alpha, 0.0)
        if data.nonnegative:
            weights = np.maximum(weights, 0.0)
        excess = self._rows.excess(weights)
        identity = float(excess.max()) if data.has_identity else 0.0
        if data.nonnegative:
            identity = max(identity, 0.0)
        slack = np.maximum(data.margin - data.differences @ weights, 0.0)
        largest = float(data.largest_of_groups(np.abs(weights)).sum())
        trace = float(data.traces @ weights) + data.n_points * identity
        value = float(data.weight @ slack) + sparsity * largest + trace_price * trace
        missing = max(float(excess.max()) - identity, 0.0)
        largest_entry = max(float(np.abs(self._rows.diagonal @ weights).max()), missing)
        violation = missing / largest_entry if missing else 0.0
        return _Trial(weights, identity, value, violation, excess)

    def _bound(self, prices: Prices, sparsity: float, trace_price: float, value: float) -> float:
        """The lower bound of prices of all comparisons, or of a sample.

        Zero prices of all comparisons, with all of g2 |S| on the first cut, satisfy the equations, too. So a
        mix of these and the prices of a sample is within the bounds of all comparisons.
        """
        entered, cuts = prices.lam.size, self._cuts[: prices.mu.size]  # without those added later
        weight = self._data.weight
        sample = weight[self._order[:entered]].sum() / weight.sum()
        share = 1.0 if entered == self._order.size else float(sample)
        lam, mu = np.zeros(self._order.size), share * prices.mu
        lam[self._order[:entered]] = share * prices.lam
        mu[0] += (1 - share) * trace_price * self._data.n_points
        return self._lower.of(lam, mu, cuts, sparsity, trace_price, value)


@final
@dataclass(frozen=True, eq=False)
class _Cutting(Method[_Round, KernelDesign, KernelDesign]):
    """Rounds at these prices: solve, certify, and cut off what is not dominant."""

    problem: DesignProblem
    sparsity: float
    trace_price: float

    def begin(self, tol: float) -> _Round:
        """K = 0, which is not a candidate: it violates all comparisons."""
        problem = self.problem
        problem._program.set_prices(*self._priced)
        zeros = np.zeros(problem._data.traces.size)
        nothing = problem._trial(zeros, self.sparsity, self.trace_price)
        # Slacks and weights are priced at 0 or more, and the trace of what is dominant is at least 0.
        certificate = self._certificate(nothing, 0.0)
        counts = len(problem._cuts), problem._entered
        return _Round(nothing, nothing.value, 0.0, *counts, certificate=certificate)

    def step(self, state: _Round, tol: float) -> _Round:
        """One round."""
        problem = self.problem
        if state.prices is not None and not problem._cut(state.trial, state.prices.beta):
            return replace(state, ending=Status.STALLED)
        is_whole = problem._enter(state.trial.weights, state.prices is not None)
        return self._try(state, problem._program.solve(), is_whole)

    def settle(self, state: _Round) -> _Round:
        """Inside a round, too: the identity makes the present weights of HiGHS feasible."""
        has_identity = self.problem._data.has_identity
        now = self.problem._program.last_prices() if has_identity else None
        settled = state if now is None else self._try(state, now, True)
        return settled if settled.trial.value < self._value_of_nothing else state

    def answer(self, best: KernelDesign, run: Run) -> KernelDesign:
        """The best design, with the number of all cuts."""
        return super().answer(replace(best, cuts=len(self.problem._cuts) - 1), run)

    @property
    def _priced(self) -> tuple[float, float]:
        """Prices no larger than a solver can work with.

        Below these all weights are zero; if not, a bound for lower prices is one for higher prices.
        """
        largest = _LARGEST * float(self.problem._data.weight.sum())
        sparsity = min(self.sparsity, 2 * self.problem.largest_sparsity + 1.0)
        return sparsity, min(self.trace_price, largest)

    def _try(self, state: _Round, prices: Prices, is_whole: bool) -> _Round:
        """The trial of these prices, with the better of the last bound and theirs."""
        problem = self.problem
        trial = problem._trial(prices.alpha, self.sparsity, self.trace_price)
        value, bound = min(state.value, trial.value), state.bound
        if is_whole:
            bound = max(bound, problem._bound(prices, *self._priced, value))
        # An earlier trial counts against the newest bound, too.
        best = min(
            [trial, state.best or trial],
            key=lambda t: (self._certificate(t, bound).badness, t.value),
        )
        certificate, n_cuts = self._certificate(best, bound), len(problem._cuts)
        state = _Round(
            trial, value, bound, n_cuts, problem._entered, prices, best, certificate=certificate
        )
        design = KernelDesign(
            best.weights,
            best.identity,
            self.sparsity,
            self.trace_price,
            problem._data.n_points,
            n_cuts - 1,
            certificate=certificate,
        )
        return replace(state, candidate=design)

    def _certificate(self, trial: _Trial, bound: float) -> Certificate:
        gap, least = max(trial.value - bound, 0.0), LEAST_SHARE * self._value_of_nothing
        return Certificate(trial.value, bound, gap, trial.violation, least=least)

    @property
    def _value_of_nothing(self) -> float:
        """Of K = 0, which violates all comparisons."""
        return float(self.problem._data.weight @ self.problem._data.margin)


def check_price(value: Any, name: str) -> float:
    """A number of at least 0."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= as_float(value) < np.inf:
        raise ValueError(f"`{name}` must be a finite number of at least 0; got {value!r}.")
    return float(value)
