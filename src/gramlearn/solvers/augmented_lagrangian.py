"""lam <- price of the problem with every kink smoothed around lam, ever less: for Hinge, with any regularizer.

    1. look at the constraints (a sample of them first): those that cost something, and those near their bounds
    2. Newton on the primal over these, each hinge smoothed by a proximal term around its last lam
    3. lam becomes the price that this gives, the smoothing a tenth of what it was; look again

A hinge leaves the dual flat wherever more constraints sit on their bounds than X has entries, and Newton on it
creeps. The proximal term gives it curvature, and with lam in its centre it does not move the optimum.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._arrays import Array, concat, constant, is_missing, namespace, read
from gramlearn._validation import check_count
from gramlearn.certificate import UNKNOWN, Certificate
from gramlearn.dual import Dual, DualPoint
from gramlearn.primal import PrimalPoint, near_rows
from gramlearn.problem import Problem
from gramlearn.solvers._direction import line_search, newton_direction, promised_fall
from gramlearn.solvers._loop import Answer, Solver, State
from gramlearn.solvers._proximal import smoothed
from gramlearn.solvers.working_set import WorkingSet
from gramlearn.spectral import ConjugatePoint
from gramlearn.status import Status

__all__ = ["AugmentedLagrangian"]

INF = float("inf")

_REFINEMENT = 4  # how many times more constraints are looked at next
_COARSE_TOL = 0.1  # relative gap at which a sample has told enough
_FIRST = 0.01  # sigma at the start: the share of the box that the usual t moves a price by
_GROWTH = 10.0
_RETREAT = 1e3
_ACCURACY = 0.01
_INNER = 1e-3  # promised fall of the value, against the proximal term, at which the centre moves
_INNER_STEPS = 50
_HALVINGS = 30
_DUAL_STEPS = 10
_IDLE = 30  # moves of the centre without a better answer, after which there will be none


@final
@dataclass(frozen=True, eq=False)
class LagrangianState(State):
    """The smoothed point over the constraints that are near."""

    certificate: Certificate
    best: Answer
    point: PrimalPoint
    working: Dual  # the same constraints, with the losses as they are
    rows: list[Array]
    stride: int  # only every so-manieth constraint is looked at, while that is enough
    looks: int
    growth: float  # sigma in units of its first value
    steps: int = 0  # since the centre moved
    idle: int = 0  # moves of the centre since the answer got better
    ending: Status | None = None
    conflict: tuple[str, ...] = ()

    @property
    def details(self) -> Mapping[str, Any]:
        return {
            "working": self.point.dual.size,
            "active": sum(priced.map.size for priced in self.point.priced),
            "looks": self.looks,
            "smoothing": 1 / self.growth,
        }


@final
@dataclass(frozen=True)
class AugmentedLagrangian(Solver[LagrangianState]):
    """Newton on an augmented Lagrangian, for problems with a Hinge.

    Parameters
    ----------
    first : int
        How many constraints that cost nothing yet are kept near, at least.
    sample : int
        A problem of more constraints than this is first brought near its optimum on a sample of them.
    """

    first: int = 5000
    sample: int = 15_000

    default_max_iter = 1000

    def __post_init__(self) -> None:
        check_count(self.first, "first")
        check_count(self.sample, "sample")

    def objection(self, problem: Problem) -> str | None:
        dual = problem.dual
        for part in dual.parts:
            name = type(part.loss).__name__
            if part.loss.is_hard:
                return f"{name} constraints may contradict each other, and it could not prove that"
            if not (part.loss.is_smooth or part.loss.is_polyhedral):
                return f"{name} has no derivative everywhere and no proximal form"
            if part.loss.has_domain:
                return f"{name} is infinite for some t"
        if all(part.loss.is_smooth for part in dual.parts):
            return "there is no kink to smooth"
        if dual.regularizer.at(dual.Y0).value == INF:
            return "a linear term leaves the regularizer without a minimum to start from"
        return None

    def init(self, problem: Problem, start: list[Array] | None, tol: float) -> LagrangianState:
        # Far from the optimum Newton on the dual goes straight, see `primal_newton`.
        base = WorkingSet(sample=self.sample, refinement=_REFINEMENT)
        dual = base.init(problem, start, tol)
        for _ in range(_DUAL_STEPS):
            if dual.ending is not None:
                break
            dual = base.step(problem, dual, tol)
        prices = _prices(dual.rows, dual.point)
        state = self._look(
            problem, dual.point.conjugate, prices, dual.best, dual.stride, dual.looks, 1.0, tol
        )
        if dual.ending is not None and dual.ending.is_answer:
            return replace(state, certificate=dual.certificate, best=dual.best, ending=dual.ending)
        return state

    def step(self, problem: Problem, state: LagrangianState, tol: float) -> LagrangianState:
        point = state.point
        dY = newton_direction(point, _ACCURACY)
        promise = promised_fall(point, dY)
        better = line_search(point, dY, promise, _HALVINGS)
        growth = state.growth
        if better is not None:
            point = better
            state = replace(state, point=point, steps=state.steps + 1)
            small = max(_INNER * _proximal_term(state), 1e-3 * tol * abs(point.value))
            if promise > small:
                if state.steps < _INNER_STEPS:
                    return state
                growth /= _RETREAT  # too little smoothing for Newton
        prices = _prices(state.rows, point)
        looked = self._look(
            problem, point.at, prices, state.best, state.stride, state.looks, growth, tol
        )
        better_now = looked.best is not state.best or looked.stride < state.stride
        looked = replace(looked, idle=0 if better_now else state.idle + 1)
        if looked.idle > _IDLE and looked.ending is None:
            return replace(looked, ending=Status.STALLED)
        return looked

    def settle(self, problem: Problem, state: LagrangianState) -> LagrangianState:
        point = state.point
        prices = _prices(state.rows, point)
        return self._look(problem, point.at, prices, state.best, 1, state.looks, state.growth, 0.0)

    def _look(
        self,
        problem: Problem,
        at: ConjugatePoint,
        prices: list[tuple[Array, Array]],
        best: Answer,
        stride: int,
        looks: int,
        growth: float,
        tol: float,
    ) -> LagrangianState:
        """Find what is near X, keep what has a price, judge X with these prices, and smooth around them."""
        while True:
            looks += 1
            near = near_rows(problem.dual, at.factor, stride, self.first)
            merged = [_merged(found, *old) for found, old in zip(near, prices, strict=True)]
            rows = [r for r, _ in merged]
            working = problem.dual.take(rows)
            centre = concat([v for _, v in merged], working.Y0)
            plain = PrimalPoint(working, at, centre)
            certificate, lam = plain.judged()
            if stride == 1 or not certificate.is_within(_COARSE_TOL):
                break
            stride //= _REFINEMENT
            growth = 1.0
        # Constraints that were not there before need the smoothing that the others had.
        growth = growth if _has_news(plain) else growth * _GROWTH
        ending = None
        if stride == 1:
            answer = Answer(certificate, at.factor, rows, working.split(lam))
            ending = Status.OPTIMAL if certificate.is_within(tol) else None
            best = answer if ending or answer.is_better_than(best) else best
        point = PrimalPoint(_smoothed(working, centre, growth), at)
        shown = certificate if stride == 1 else UNKNOWN
        return LagrangianState(
            shown, best, point, working, rows, stride, looks, growth, ending=ending
        )


def _prices(rows: list[Array], point: PrimalPoint | DualPoint) -> list[tuple[Array, Array]]:
    """Rows and values of the prices that are not zero, part by part."""
    pieces = zip(rows, point.dual.split(point.lam), strict=True)
    return [(r[v != 0], v[v != 0]) for r, v in pieces]


def _has_news(plain: PrimalPoint) -> bool:
    """Whether a constraint costs something and has no price yet."""
    xp = namespace(plain.lam)
    costs = plain.dual.each(lambda part, t: part.loss.value(t), plain.t)
    return bool(xp.any((costs > 0) & (plain.lam == 0)))


def _merged(near: Array, priced: Array, values: Array) -> tuple[Array, Array]:
    """The rows of both, ascending, with their prices: zero where there is none."""
    xp = namespace(values)
    new = near[is_missing(near, priced)]
    rows = concat([priced, new], priced)
    prices = concat([values, constant(0.0, values, new.shape[0])], values)
    order = xp.argsort(rows)
    return xp.take(rows, order), xp.take(prices, order)


def _smoothed(dual: Dual, centre: Array, growth: float) -> Dual:
    """Put a proximal term around the centre on every part whose loss has a kink."""
    parts = []
    for part, c in zip(dual.parts, dual.split(centre), strict=True):
        loss = part.loss
        if not loss.is_smooth:
            low, high = loss.box(dual.Y0, part.size)
            sigma = (_FIRST * growth / part.unit) * (high - low)
            loss = smoothed(loss, c, sigma)
        parts.append(replace(part, loss=loss))
    return replace(dual, parts=tuple(parts))


def _proximal_term(state: LagrangianState) -> float:
    """sum_k (lam_k - c_k)^2 / (2 sigma_k): what the smoothing adds to the conjugates."""
    point = state.point
    smoothed, plain = (
        dual.each(lambda part, lam: part.loss.conjugate(lam), point.lam)
        for dual in (point.dual, state.working)
    )
    return read(namespace(point.lam).sum(smoothed - plain))
