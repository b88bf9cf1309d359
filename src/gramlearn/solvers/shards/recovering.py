"""Newton on X that goes on where workers are lost: it looks anew at the X it has.

Sites that came in the place of lost ones know nothing of earlier looks and prices. X is known here, and all
else follows from it.

A value is a divergence plus losses. Where no loss is ever below zero, no optimum is, and there is a finite gap
from the first step on: of the sample at hand, until all constraints were looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

from gramlearn._base.arrays import as_real
from gramlearn._base.workers import PartsLostError
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.problem import Problem
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.primal_newton.beginning import reference
from gramlearn.solvers.primal_newton.stage import Stage
from gramlearn.solvers.primal_newton.state import PrimalState, look, look_again
from gramlearn.solvers.shards.checkpoint import Reached
from gramlearn.solvers.solver import Solver, Start

INF = float("inf")


@final
@dataclass(frozen=True)
class Recovering(Solver[PrimalState]):
    """Newton on X over shards, begun where it had come to; `keep` is given every state that it comes to."""

    newton: PrimalNewton = field(default_factory=PrimalNewton)
    reached: Reached | None = None
    keep: Callable[[PrimalState], None] | None = None

    default_max_iter = PrimalNewton.default_max_iter

    def objection(self, problem: Problem) -> str | None:
        return self.newton.objection(problem)

    def init(self, problem: Problem, start: Start | None, tol: float) -> PrimalState:
        while True:
            try:
                if self.reached is not None:
                    return _with_gap(problem, self._go_on(problem, self.reached))
                return _with_gap(problem, self.newton.init(problem, start, tol))
            except PartsLostError:
                continue

    def step(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        try:
            state = self.newton.step(problem, state, tol)
        except PartsLostError:
            state = self._anew(problem, state)
        if self.keep is not None:
            self.keep(state)
        return _with_gap(problem, state)

    def settle(self, problem: Problem, state: PrimalState) -> PrimalState:
        while True:
            try:
                return _with_gap(problem, look_again(problem, state, self.newton.first))
            except PartsLostError:
                state = self._anew(problem, state)

    def _anew(self, problem: Problem, state: PrimalState) -> PrimalState:
        """The state at the same X in the same stage, with what the sites say of it now."""
        while True:
            try:
                point = state.point
                found = look(
                    problem.pool, point.primal.at, state.stage, point.x0, self.newton.first
                )
                found = replace(found, point=replace(found.point, held=point.held))
                return replace(found, stages=state.stages + 1, certificate=state.certificate)
            except PartsLostError:
                continue

    def _go_on(self, problem: Problem, reached: Reached) -> PrimalState:
        """The state at an X that was reached, in its stage."""
        at = problem.regularizer.at_gradient(as_real(reached.factor, problem.space.spectrum))
        stage = Stage(reached.stride, reached.nu, reached.width)
        found = look(problem.pool, at, stage, reference(problem), self.newton.first)
        point = replace(found.point, held=reached.held)
        return replace(found, point=point, stages=reached.stages)


def _with_gap(problem: Problem, state: PrimalState) -> PrimalState:
    """The state with a finite gap: that of the sample at hand, or what is certified of all constraints."""
    if not problem.pool.is_never_negative:
        return state
    if state.candidate is not None:
        found = _above_zero(state.candidate.certificate)
        candidate = replace(state.candidate, certificate=found)
        return replace(state, candidate=candidate, certificate=found)
    found = state.certificate
    if state.stage.stride > 1 or not found.gap < INF:
        exact = state.point.primal.with_kinks()
        least = exact.dual.least
        found = Certificate(exact.value, exact.value - exact.gap, exact.gap, 0.0, 1.0, least)
    return replace(state, certificate=_above_zero(found))


def _above_zero(found: Certificate) -> Certificate:
    """The certificate, with zero for the optimum where nothing better is known."""
    return found if found.gap <= found.primal else found._replace(dual=0.0, gap=found.primal)
