"""Steps along the central path of weights, until the gap is small, or the prices prove a contradiction.

A path begins at weights as large as the bounds ask for. Where it ends without an answer, others begin at larger
and at smaller ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gramlearn.methods.metric.diagonal.point import InsideWeights, begin
from gramlearn.methods.metric.diagonal.problem import (
    Sums,
    WeightProblem,
    certify,
    find_contradiction,
)
from gramlearn.methods.metric.diagonal.step import advance
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.solution import CertifiedAnswer, Record
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Limits, Method, Run, State, iterate

INF = float("inf")
_STARTS = (1.0, 100.0, 1e5)  # sizes of t to start with, in units of the bounds
_NOTHING = 1e-3  # the share of the tolerance that is small
_IDLE = 20  # steps without a smaller gap or mu, after which a path has ended
_NAMED_SHARE = 1e-3  # a statement with less than this share of the largest price is not named
DEFAULT_MAX_ITER = 300


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class WeightSolution(CertifiedAnswer):
    """w with primal(w) - dual(lam) <= gap.

    Attributes
    ----------
    weights : vector of d
        w, one number a feature.
    duals : tuple of vectors
        lam, one vector a term.
    conflict : tuple of str
        The statements that contradict each other, where the status is INFEASIBLE.
    """

    weights: np.ndarray
    duals: tuple[np.ndarray, ...]
    conflict: tuple[str, ...] = ()

    @property
    def matrix(self) -> np.ndarray:
        """diag(w), d x d."""
        return np.diag(self.weights)

    @property
    def factor(self) -> np.ndarray:
        """F with diag(w) = F F', d x d."""
        return np.diag(np.sqrt(self.weights))

    def __repr__(self) -> str:
        return (
            f"WeightSolution({self.status.name}: {np.count_nonzero(self.weights)} of {self.weights.size} "
            f"features, primal {self.primal:.8g}, relative gap {self.relative_gap:.1e}, violation "
            f"{self.violation:.1e}, {self.iterations} iterations, {self.seconds:.3g} s)"
        )


def solve_weights(
    problem: WeightProblem, limits: Limits, callback: Callable[[Record], object] | None = None
) -> WeightSolution:
    """Solve to the tolerance, or as far as the limits allow."""
    products = int(np.prod(problem.differences.shape)) * min(problem.differences.shape)
    return iterate(_WeightSearch(problem), limits, callback, products)


@final
@dataclass(frozen=True, eq=False)
class _Candidate:
    certificate: Certificate
    w: np.ndarray
    lam: np.ndarray


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class _WeightState(State):
    """A point of a path, and the sizes that other paths begin with."""

    point: InsideWeights | None = None  # None before the first path
    starts: tuple[float, ...] = _STARTS
    least: tuple[float, float] = (INF, INF)  # badness and mu, so far
    idle: int = 0  # steps since one of them became smaller

    @property
    def details(self) -> Mapping[str, Any]:
        return {} if self.point is None else {"mu": self.point.mu}


@final
@dataclass(frozen=True, eq=False)
class _WeightSearch(Method[_WeightState, _Candidate, WeightSolution]):
    """The search for the weights of a problem."""

    problem: WeightProblem

    def begin(self, tol: float) -> _WeightState:
        problem, w = self.problem, self.problem.prior
        none = np.zeros(problem.differences.shape[0])
        sums = Sums.of(problem.differences, w, none)
        certificate, lam = certify(problem, w, none, sums)
        state = _WeightState(candidate=_Candidate(certificate, w, lam), certificate=certificate)
        if certificate.is_within(tol):
            return state
        # Statements about equal points: no weights change what they measure.
        low, high = problem.domain
        idle = problem.differences.uncanceled.times(np.ones_like(w)) == 0
        side = np.where(idle, (high < 0.0) * 1.0 - (low > 0.0), 0.0)
        return _refuted(problem, state, certificate, find_contradiction(problem, w, [side]))

    def step(self, state: _WeightState, tol: float) -> _WeightState:
        before = state.point
        point = None if before is None else advance(before)
        if before is None or point is None:
            return self._begin_path(state)
        certificate, lam = point.certified
        # What the gap is made of: once mu is next to nothing, a smaller one is no progress.
        matters = point.mu * sum(self.problem.differences.shape) > _NOTHING * tol * abs(
            certificate.primal
        )
        improves = certificate.badness < state.least[0] or (
            matters and point.mu < 0.9 * state.least[1]
        )
        state = replace(
            state,
            point=point,
            candidate=_Candidate(certificate, point.w, lam),
            certificate=certificate,
            idle=0 if improves else state.idle + 1,
            least=(min(certificate.badness, state.least[0]), min(point.mu, state.least[1])),
        )
        if certificate.violation > 0:
            directions = [point.lam, point.lam - before.lam]
            proof = find_contradiction(self.problem, point.w, directions)
            state = _refuted(self.problem, state, certificate, proof)
        return self._begin_path(state) if state.idle > _IDLE else state

    def _begin_path(self, state: _WeightState) -> _WeightState:
        if not state.starts:
            return replace(state, ending=Status.STALLED)
        point = begin(self.problem, state.starts[0])
        return replace(state, point=point, starts=state.starts[1:], least=(INF, INF), idle=0)

    def answer(self, best: _Candidate, run: Run) -> WeightSolution:
        return WeightSolution(
            certificate=best.certificate,
            status=run.status,
            history=run.history,
            seconds=run.seconds,
            weights=self.problem.in_all_features(best.w),
            duals=tuple(self.problem.split(best.lam)),
            conflict=run.conflict,
        )


def _refuted(
    problem: WeightProblem, state: _WeightState, certificate: Certificate, v: np.ndarray | None
) -> _WeightState:
    """End a state with a proof that no weights satisfy the statements, if there is one; it is its duals."""
    if v is None:
        return state
    found = certificate._replace(primal=INF, gap=INF)
    names = tuple(problem.describe(int(k)) for k in np.flatnonzero(np.abs(v) > _NAMED_SHARE))
    w = state.candidate.w
    return replace(
        state,
        certificate=found,
        candidate=_Candidate(found, w, v),
        ending=Status.INFEASIBLE,
        conflict=names,
    )
