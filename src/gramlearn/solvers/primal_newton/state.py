"""X, the stage it belongs to, and what all constraints say of it.

Between two looks at all constraints, a solve works with those that cost something or are near their bounds.
An answer is certified over all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._base.arrays import Array
from gramlearn.problem.pool import Look, Pool
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import State
from gramlearn.solvers.primal_newton.barrier import BarrierPoint
from gramlearn.solvers.primal_newton.memory import Memory
from gramlearn.solvers.primal_newton.stage import Stage
from gramlearn.solvers.solver import Answer
from gramlearn.solvers.working_set.infeasibility import end_infeasible, find_impossible

INF = float("inf")


@final
@dataclass(frozen=True, eq=False)
class PrimalState(State):
    """The stage and the point, and how far X went since the last look at the constraints.

    The primal of the details is that of the stage, and falls until the next. The gap is an estimate between two
    looks at all constraints.
    """

    stage: Stage
    point: BarrierPoint
    stages: int = 0
    drift: float = 0.0
    memory: Memory | None = None
    is_fresh: bool = False  # no step was taken in this stage yet
    is_given: bool = False  # X was given, and may be far from the path

    @property
    def details(self) -> Mapping[str, Any]:
        return {
            "working": self.stage.working.size,
            "active": self.point.primal.costs.active,
            "stages": self.stages,
            "barrier": self.stage.nu,
            "primal": self.point.value,
            "is_estimate": self.candidate is None and not self.stage.is_whole,
        }


def look(
    pool: Pool, at: ConjugatePoint, stage: Stage, x0: Array, first: int, *, everywhere: bool = False
) -> PrimalState:
    """Find the constraints that matter at X, all or among a sample; `everywhere`, all do.

    At least `first` that cost nothing are kept near.
    """
    working = pool.look(at, Look(stage.stride, stage.width, first, everywhere, stage.prices))
    primal = PrimalPoint(pool.dual, at, working.costs(at))
    return PrimalState(replace(stage, working=working), BarrierPoint(primal, stage.nu, x0))


def look_again(problem: Problem, state: PrimalState, first: int) -> PrimalState:
    """Certify X over all constraints, at the prices it has, and go on with those that matter."""
    stage, primal = state.stage, state.point.primal
    if stage.stride > 1 or not stage.is_whole:
        # Ramps go through prices; a constraint of which nothing is known yet has none.
        is_priced = stage.width > 0 and stage.stride == 1
        prices = stage.working.everywhere(primal.costs) if is_priced else None
        stage = replace(stage, stride=1, prices=prices)
        looked = look(problem.pool, primal.at, stage, state.point.x0, first)
        state = replace(looked, stages=state.stages + 1, memory=state.memory)
        stage, primal = state.stage, state.point.primal
    if not state.point.is_finite:
        return refuse(problem, state)
    return answered(state, primal.with_kinks())


def at_prices(state: PrimalState, prices: Any) -> PrimalPoint:
    """The same X at these prices of all constraints, in place of its own."""
    primal = state.point.primal
    return primal.with_costs(state.stage.working.at_prices(primal.costs, prices))


def answered(state: PrimalState, primal: PrimalPoint) -> PrimalState:
    """The state with this X, at these prices, as an answer with its certificate."""
    certificate, prices = primal.certify()
    answer = Answer(certificate, primal.at.factor, *state.stage.working.named(prices))
    return replace(state, certificate=certificate, candidate=answer)


def refuse(problem: Problem, state: PrimalState) -> PrimalState:
    """A constraint costs infinity at X: prove that no X can change that, or leave it to another solver."""
    primal = state.point.primal
    lost = state.stage.working.infinite(primal.costs)
    proof = None if lost is None else find_impossible(problem, lost)
    if proof is None:
        return replace(state, ending=Status.STALLED)
    found = primal.at.factor, -INF, INF
    ended: PrimalState = end_infeasible(problem, state, problem.dual.every_row, proof, found)
    return ended
