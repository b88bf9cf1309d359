"""Newton on X that goes on where workers are lost: it looks anew at the X it has.

Sites that came in the place of lost ones know nothing of earlier looks and prices. X is known here, and all
else follows from it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

from gramlearn._base.arrays import as_real
from gramlearn._base.workers import PartsLostError
from gramlearn.problem.problem import Problem
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.primal_newton.beginning import reference
from gramlearn.solvers.primal_newton.stage import Stage
from gramlearn.solvers.primal_newton.state import PrimalState, look, look_again
from gramlearn.solvers.shards.checkpoint import Reached
from gramlearn.solvers.solver import Solver, Start


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
                    return self._go_on(problem, self.reached)
                return self.newton.init(problem, start, tol)
            except PartsLostError:
                continue

    def step(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        try:
            state = self.newton.step(problem, state, tol)
        except PartsLostError:
            state = self._anew(problem, state)
        if self.keep is not None:
            self.keep(state)
        return state

    def settle(self, problem: Problem, state: PrimalState) -> PrimalState:
        while True:
            try:
                return look_again(problem, state, self.newton.first)
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
