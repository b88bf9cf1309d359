"""X <- F (I + S) F' with S the Newton direction of the primal itself: for LogDet and losses with a derivative.

    1. bring a sample of the constraints near its optimum, by Newton on its dual
    2. at that X find, among four times as many, those that cost something or are near their bounds
    3. take a few Newton steps on the primal over these; then again four times as many, and finally all
    4. with all of them, go on to the tolerance; the gap over the rows of a last look is the gap over all

Near the optimum full steps succeed, and any number of constraints come and go with each, where the box of the
dual would hold them back. Far from it a step may leave X so small in some direction that it takes dozens to
recover. So where a step has to be cut short, Newton on the dual continues.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from gramlearn._base.arrays import Array, is_array, namespace, read
from gramlearn._base.validation import check_count
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.scan import near_rows
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.loop import State
from gramlearn.solvers.primal_newton.direction import newton_direction, promised_fall, search_along
from gramlearn.solvers.solver import Answer, Solver
from gramlearn.solvers.working_set import WorkingSet, WorkingSetState

INF = float("inf")
_REFINEMENT = 4  # how many times more constraints are looked at next
_NEAR = 0.3  # the relative gap of a dual at which the primal takes over
_COARSE_TOL = 0.1  # promised relative fall of the value at which a sample is solved well enough
_ACCURACY = 0.1  # residual of the Newton system, far from the optimum
_HALVINGS = 3  # of a step; one that needs more is left to the dual


@final
@dataclass(frozen=True, eq=False)
class PrimalState(State):
    """The state of the dual, and the primal point over the constraints near X, once there is one."""

    base: WorkingSetState
    near: float = _NEAR
    point: PrimalPoint | None = None
    stride: int = 1  # only every `stride`-th constraint is looked at, while that is enough
    looks: int = 0

    @property
    def details(self) -> Mapping[str, Any]:
        if self.point is None:
            return self.base.details
        return {
            "working": self.point.dual.size,
            "active": sum(priced.map.size for priced in self.point.priced),
            "looks": self.base.looks + self.looks,
            "primal": self.point.value,
        }


@final
@dataclass(frozen=True)
class PrimalNewton(Solver[PrimalState]):
    """Newton on the primal: LogDet with losses that have a derivative, bounds on distances or the like.

    Parameters
    ----------
    first : int
        How many constraints that cost nothing yet are kept near, at least.
    base : WorkingSet
        What brings a sample of the constraints near its optimum, and goes on where the primal cannot.
    """

    first: int = 5000
    base: WorkingSet = field(default_factory=lambda: WorkingSet(sample=4000, refinement=4))

    default_max_iter = WorkingSet.default_max_iter

    def __post_init__(self) -> None:
        check_count(self.first, "first")

    def objection(self, problem: Problem) -> str | None:
        dual = problem.dual
        if not dual.regularizer.is_self_concordant:
            return f"{type(dual.regularizer).__name__} is not self-concordant, as LogDet is"
        for part in dual.parts:
            name = type(part.loss).__name__
            if not part.loss.is_smooth:
                return f"{name} has no derivative everywhere"
            # Where t may be zero or less, such a loss is infinite, at the start or later.
            offset = part.offset
            is_positive = (
                bool(namespace(offset).all(offset >= 0)) if is_array(offset) else offset >= 0
            )
            if part.size and part.loss.has_domain and not (part.map.is_nonnegative and is_positive):
                return f"{name} is infinite for some t that these constraints may have"
        return None

    def init(self, problem: Problem, start: list[Array] | None, tol: float) -> PrimalState:
        base = self.base.init(problem, start, tol)
        return self._follow(problem, PrimalState(base), base, tol)

    def step(self, problem: Problem, state: PrimalState, tol: float) -> PrimalState:
        point = state.point
        if point is None:
            base = self.base.step(problem, state.base, tol)
            return self._follow(problem, state, base, tol)
        against = max(abs(point.value), point.dual.least)  # see `Certificate.relative_gap`
        goal = tol * against
        # The gap after a step is about half the squared residual that it leaves, in the norm of Phi.
        xp = namespace(point.residual)
        size = read(xp.sum(point.at.divided_differences * point.residual**2)) ** 0.5
        least = (0.4 * goal) ** 0.5 / size if size > 0 else 1.0
        forcing = min(_ACCURACY, (point.gap / against) ** 0.5) if against > 0 else _ACCURACY
        dY = newton_direction(point, max(least, forcing, 1e-6))
        promise = promised_fall(point, dY)
        better = search_along(point, dY, promise, _HALVINGS)
        if better is None:
            # Too far from the optimum, or so near that only rounding is left: the dual continues.
            return replace(state, point=None, near=0.01 * state.near)
        state = replace(state, point=better)
        coarse = state.stride > 1 and promise / 2 <= _COARSE_TOL * abs(better.value)
        if not coarse and better.gap > 0.5 * goal:
            return state
        return self._look(problem, state, better.at, max(1, state.stride // _REFINEMENT))

    def settle(self, problem: Problem, state: PrimalState) -> PrimalState:
        if state.point is None:
            return replace(state, candidate=self.base.settle(problem, state.base).candidate)
        return self._look(problem, state, state.point.at, 1)

    def _follow(
        self, problem: Problem, state: PrimalState, base: WorkingSetState, tol: float
    ) -> PrimalState:
        """Take over the state of the dual, and continue on the primal once it is near enough."""
        sampled = base.stride < state.base.stride
        state = replace(
            state,
            base=base,
            certificate=base.certificate,
            candidate=base.candidate,
            ending=base.ending,
            conflict=base.conflict,
        )
        arrived = base.stride == 1 and base.certificate.is_within(state.near)
        if base.status(tol) is not None or not (sampled or arrived):
            return state
        return self._look(problem, state, base.point.conjugate, base.stride)

    def _look(
        self, problem: Problem, state: PrimalState, at: ConjugatePoint, stride: int
    ) -> PrimalState:
        """Look at all constraints (or a sample) at X, and certify X where it was all of them."""
        rows = near_rows(problem.dual, at, stride, self.first)
        point = PrimalPoint(problem.dual.materialize_rows(rows), at)
        if point.value == INF:
            return replace(state, point=None, near=0.0)  # the dual proves it
        state = replace(state, point=point, stride=stride, looks=state.looks + 1)
        if stride > 1:
            return state
        certificate, lam = point.certify()
        answer = Answer(certificate, at.factor, rows, point.dual.split(lam))
        return replace(state, certificate=certificate, candidate=answer)
