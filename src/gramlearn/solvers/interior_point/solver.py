"""grad phi(X) = Y0 - sum lam A + Z, with X Z and the room of lam times its multipliers all mu -> 0.

    1. find the constraints (of a sample first) that cost something or are near their bounds
    2. take steps along the central path over these, see `step`, until their gap is small
    3. look again; new constraints that cost something join, with the price they have at the present mu

A hinge or a hard bound leaves the dual flat wherever more constraints are at their bounds than X has entries;
there, and where prices are large, Newton on the dual is slow. On the central path every price moves with its
t, and ten to thirty steps reach any accuracy. Prices of bounds that contradict each other become the proof.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    constant,
    eye,
    is_missing,
    namespace,
    read,
)
from gramlearn._base.validation import check_count
from gramlearn.problem.certificate import UNKNOWN, Certificate
from gramlearn.problem.costs import CostsHere
from gramlearn.problem.dual import Dual, DualPoint, Part
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.scan import near_rows
from gramlearn.problem.status import Status
from gramlearn.solvers.interior_point.point import Interior, center, fit_prices
from gramlearn.solvers.interior_point.prices import central_prices
from gramlearn.solvers.interior_point.step import advance
from gramlearn.solvers.loop import State
from gramlearn.solvers.solver import Answer, Solver, Start
from gramlearn.solvers.working_set import WorkingSet
from gramlearn.solvers.working_set.infeasibility import end_infeasible, find_contradiction

INF = float("inf")

_REFINEMENT = 4  # how many times more constraints are looked at next
_COARSE_TOL = 0.1  # relative gap at which a sample is solved well enough
_FURTHER = 0.01  # share of the gap at which to look again, after a look that found new constraints
_FLOOR = 0.1  # least share of its largest eigenvalue that an eigenvalue of X starts with
# Sizes of X to start with, one after another: 0 is X(lam), which comes first where it is near the optimum.
_NEAR_STARTS = (0.0, 100.0, 1e5)
_FAR_STARTS = (100.0, 0.0, 1e5)
_FEW = 0.01  # share of new rows that may join those that keep their prices
_NEAR = 1e-3  # relative gap below which only rounding keeps a step from being long
_UNEVEN = 100.0  # how many times larger than that of the prices the mean product may be
_IDLE = 20  # steps without a smaller gap or mu, after which the solver gives up


@final
@dataclass(frozen=True, eq=False)
class InteriorState(State):
    """The point over the constraints near X."""

    point: Interior
    rows: list[Array]
    stride: int  # only every `stride`-th constraint is looked at, while that is enough
    looks: int
    target: float = INF  # relative gap over the rows at which to look again
    least: tuple[float, float] = (INF, INF)  # relative gap over the rows, and mu, so far
    idle: int = 0  # steps since one of them became smaller
    starts: tuple[float, ...] = ()  # other sizes to start with, see `_start`

    @property
    def details(self) -> Mapping[str, Any]:
        return {"working": self.point.dual.size, "looks": self.looks, "mu": self.point.mu}


@final
@dataclass(frozen=True)
class InteriorPoint(Solver[InteriorState]):
    """Primal-dual interior points, for any loss; the rank should be small.

    Parameters
    ----------
    first : int
        How many constraints that cost nothing yet are kept near, at least.
    sample : int
        A problem of more constraints than this is first brought near its optimum on a sample of them.
    """

    first: int = 5000
    sample: int = 15_000

    default_max_iter = 300

    def __post_init__(self) -> None:
        check_count(self.first, "first")
        check_count(self.sample, "sample")

    def init(self, problem: Problem, start: Start | None, tol: float) -> InteriorState:
        base = WorkingSet(sample=self.sample, refinement=_REFINEMENT).init(problem, start, tol)
        # A start needs no lam at which the dual is finite. Without constraints there is nothing to solve.
        status = base.status(tol)
        ending = base.ending if problem.dual.size else status or Status.STALLED
        over = status not in (None, Status.STALLED) or not problem.dual.size
        starts = _NEAR_STARTS if base.certificate.is_within(_COARSE_TOL) else _FAR_STARTS
        state = InteriorState(
            certificate=base.certificate,
            candidate=base.candidate,
            point=_start(base.point, starts[0]),
            rows=base.rows,
            stride=base.stride,
            looks=base.looks,
            starts=starts[1:],
            ending=ending if over else None,
            conflict=base.conflict,
        )
        return state if over else self._look(problem, state, tol)

    def step(self, problem: Problem, state: InteriorState, tol: float) -> InteriorState:
        point = advance(state.point)
        if point is None:
            return self._look_or_restart(problem, state, tol)
        certificate, _ = point.primal_point.certify()
        gap = certificate.relative_gap
        if certificate.violation > 0:
            directions = (point.lam, point.lam - state.point.lam)
            proof = find_contradiction(point.dual, point.frame, directions)
            if proof is not None:
                found = (point.frame, certificate.dual, certificate.violation)
                state = replace(state, point=point)
                return end_infeasible(problem, state, state.rows, proof, found)
        least_gap, least_mu = state.least
        idle = 0 if gap < least_gap or point.mu < 0.9 * least_mu else state.idle + 1
        least = (min(gap, least_gap), min(point.mu, least_mu))
        state = replace(state, point=point, idle=idle, least=least)
        if idle > _IDLE:
            return self._look_or_restart(problem, state, tol)
        if point.dual.size == problem.dual.size or gap <= max(state.target, tol):
            return self._look(problem, state, tol)
        return state

    def _look_or_restart(self, problem: Problem, state: InteriorState, tol: float) -> InteriorState:
        """Look at all constraints; if none is new, fit the prices, or far from the optimum start elsewhere."""
        looked = self._look(problem, replace(state, stride=1), tol)
        if looked.status(tol) is not None or looked.point is not state.point:
            return looked
        state = _with_fitting_prices(looked)
        if state.status(tol) is not None:
            return state
        if not state.starts or state.certificate.is_within(_NEAR):
            return replace(state, ending=Status.STALLED)
        start = state.point.dual.at(namespace(state.point.lam).zeros_like(state.point.lam))
        point, starts = _start(start, state.starts[0]), state.starts[1:]
        fresh = replace(state, point=point, starts=starts, least=(INF, INF), idle=0)
        return self._look(problem, fresh, tol)

    def settle(self, problem: Problem, state: InteriorState) -> InteriorState:
        looked = self._look(problem, replace(state, stride=1), 0.0)
        if looked.point is not state.point:
            return looked  # new constraints have no fitting prices yet
        return _with_fitting_prices(looked)

    def _look(self, problem: Problem, state: InteriorState, tol: float) -> InteriorState:
        """Find the constraints near X, certify X with the present prices, and price those that are new."""
        point, stride = state.point, state.stride
        while True:
            near = near_rows(problem.dual, point.at, stride, self.first)
            rows, working = _gather_rows(problem, state, near)
            same = working is point.dual
            costs = point.costs
            if not same:
                none = constant(0.0, point.lam, working.size)
                lam = _carry_over(state, rows, point.lam, working.split(none))
                costs = CostsHere(working, point.at.frame, point.at.spectrum, lam)
            certificate, lam = PrimalPoint(working, point.at, costs).certify()
            if stride == 1 or not certificate.is_within(_COARSE_TOL):
                break
            stride = max(1, stride // _REFINEMENT)
        answer = None
        if stride == 1:
            answer = Answer(certificate, point.at.factor, rows, working.split(lam))
            if same and certificate.is_within(tol):
                answer = _with_better_prices(point, rows, answer, True, tol)
                certificate = answer.certificate
        gap = certificate.relative_gap
        looked = replace(
            state,
            certificate=certificate if stride == 1 else UNKNOWN,
            candidate=answer,
            rows=rows,
            stride=stride,
            looks=state.looks + 1,
            target=_COARSE_TOL if stride > 1 else tol if same else _FURTHER * gap,
            ending=None,
        )
        if looked.status(tol) is not None or (same and point.is_inside):
            return looked
        return replace(
            looked, point=_join(state, rows, costs, certificate), least=(INF, INF), idle=0
        )


def _with_fitting_prices(state: InteriorState) -> InteriorState:
    """The state with the prices that fit its candidate best."""
    candidate = state.candidate
    assert candidate is not None
    better = _with_better_prices(
        state.point, state.rows, candidate, False, candidate.certificate.badness
    )
    return replace(state, candidate=better, certificate=better.certificate)


def _with_better_prices(
    point: Interior, rows: list[Array], answer: Answer, to_ends: bool, tol: float
) -> Answer:
    """X with prices that fit it better, see `fit_prices`, if these are good to tol; else the old answer."""
    certificate, lam = PrimalPoint.of(point.dual, point.at, fit_prices(point, to_ends)).certify()
    if not (certificate.is_within(tol) and certificate.badness < INF):
        return answer
    return Answer(certificate, point.at.factor, rows, point.dual.split(lam))


def _start(start: DualPoint, times: float) -> Interior:
    """A multiple of I (for LogDet, of the prior) at which t is `times` its bounds, no smaller than the prior.

    For 0 times it is X(lam), moved off the boundary.
    """
    xp, dual = namespace(start.lam), start.dual
    prior = dual.regularizer.conjugate_derivative(dual.origin.slope)
    shape = prior if dual.regularizer.is_invariant else xp.ones_like(prior)
    if not times and start.value > -INF:
        x, frame = start.conjugate.spectrum, start.conjugate.frame
        largest = read(xp.max(x))
        if not largest > 0:
            x = shape * dual.multiple_at_bounds(shape)
        elif not dual.regularizer.is_own_barrier:
            x = clipped(x, low=_FLOOR * largest)
        return Interior.without_multipliers(dual, frame * xp.sqrt(x), start.lam)
    size = max(read(xp.max(prior / shape)), times * dual.multiple_at_bounds(shape))
    frame = eye(dual.rank, shape) * xp.sqrt(size * shape)
    return Interior.without_multipliers(dual, frame, start.lam)


def _join(
    state: InteriorState, rows: list[Array], costs: CostsHere, certificate: Certificate
) -> Interior:
    """The point over more rows: centered anew at X, or where few rows are new, with the old multipliers."""
    old, dual = state.point, costs.dual
    # The prices of a start need not fit its X; those of a point with multipliers do.
    gap = min(abs(certificate.primal), certificate.gap if old.is_inside else INF)
    mu = max(old.mu, gap / (dual.size + int(old.cone.shape[0]))) if gap < INF else old.mu
    if not old.is_inside:
        # Near the optimum, whose cost may be zero, bounds are violated by this share at most.
        share = certificate.violation if certificate.is_within(_NEAR) else 1.0
        # x^2 h''(x) is by how much phi changes with log x: a violated hard bound itself gives no scale.
        x = old.at.spectrum
        curvature = dual.regularizer.conjugate_second(dual.regularizer.derivative(x))
        mu = max(mu, share * read(namespace(x).mean(x**2 / curvature)))
    point = _price(dual, old.frame, costs.t, mu)
    if point.mu > _UNEVEN * mu:
        point = _price(dual, old.frame, costs.t, point.mu)
    if dual.size > (1 + _FEW) * old.dual.size or not old.is_inside:
        return point
    before, after = ((p.lam, p.inside, *p.multipliers) for p in (old, point))
    both = zip(before, after, strict=True)
    lam, inside, *multipliers = (_carry_over(state, rows, a, dual.split(b)) for a, b in both)
    return replace(point, cone=old.cone, lam=lam, inside=inside, multipliers=tuple(multipliers))


def _price(dual: Dual, frame: Array, t: Array, mu: float) -> Interior:
    """X with the prices that its t have at mu; the mean product may be larger, see `center`."""
    lam = dual.each(lambda part, piece: central_prices(part, piece, mu), t)
    return center(dual, frame, lam, mu)


def _carry_over(
    state: InteriorState, rows: list[Array], values: Array, fresh: list[Array]
) -> Array:
    """The values of the old rows, and the fresh ones of the others."""
    xp = namespace(values)
    out = []
    for new, known, old, own in zip(
        rows, state.rows, state.point.dual.split(values), fresh, strict=True
    ):
        joined = xp.asarray(own, copy=True)
        if known.shape[0] and new.shape[0] and old.shape[0]:
            joined[~is_missing(new, known)] = old[~is_missing(known, new)]
        out.append(joined)
    return concat(out, values)


def _gather_rows(
    problem: Problem, state: InteriorState, near: list[Array]
) -> tuple[list[Array], Dual]:
    """The rows near X with those of the state, and the dual over them.

    Rows with A_k = 0 that hold are left out: their prices would grow along the central path.
    """
    old, xp = state.point.dual, namespace(state.point.lam)
    both = zip(state.rows, near, strict=True)
    rows = [xp.sort(concat([known, new[is_missing(new, known)]], new)) for known, new in both]
    if state.point.is_inside and sum(int(r.shape[0]) for r in rows) == old.size:
        return rows, old
    dual = problem.dual.materialize_rows(rows)
    idle = dual.split(dual.idle)
    if bool(xp.any(dual.idle)):
        factor = state.point.at.factor
        held = [_are_held(*each, factor) for each in zip(dual.parts, idle, strict=True)]
        rows = [r[~h] for r, h in zip(rows, held, strict=True)]
        dual = problem.dual.materialize_rows(rows)
    return rows, old if state.point.is_inside and dual.size == old.size else dual


def _are_held(part: Part, idle: Array, factor: Array) -> Array:
    """Which of the idle rows hold, up to rounding."""
    one, framed = constant(1.0, factor, 1), part.map.restrict(factor)
    off = part.loss.outside(part.offset + framed.traces(one))
    return idle & (off <= part.t_error(framed, one, factor))
