"""Newton on X that goes on where workers are lost: it looks anew at the X it has.

Sites that came in the place of lost ones know nothing of earlier looks and prices. X is known here, and all
else follows from it.
"""

from dataclasses import dataclass, field, replace
from typing import final

from gramlearn._base.workers import PartsLostError
from gramlearn.problem.problem import Problem
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.primal_newton.state import PrimalState, look, look_again
from gramlearn.solvers.solver import Solver, Start


@final
@dataclass(frozen=True)
class Recovering(Solver[PrimalState]):
    """Newton on X over shards."""

    newton: PrimalNewton = field(default_factory=PrimalNewton)

    default_max_iter = PrimalNewton.default_max_iter

    def objection(self, problem: Problem) -> str | None:
        return self.newton.objection(problem)

    def init(self, problem: Problem, start: Start | None, tol: float) -> PrimalState:
        while True:
            try:
                return self.newton.init(problem, start, tol)
            except PartsLostError:
                continue

    def step(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        try:
            return self.newton.step(problem, state, tol)
        except PartsLostError:
            return self._anew(problem, state)

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
