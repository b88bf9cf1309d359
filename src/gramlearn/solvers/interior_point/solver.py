"""grad phi(X) = Y0 - sum lam A + Z, with X Z and the room of lam times its multipliers all mu -> 0.

For any loss:

    1. look at the constraints (a sample of them first): those that cost something, and those near their bounds
    2. steps along the central path over these, see `step`, until their gap has become small
    3. look again; what costs something and was not there before joins, with the price it has at the present mu

A hinge or a hard bound leaves the dual flat wherever more constraints sit on it than X has entries, and Newton
on the dual creeps; so it does where prices are large. On the central path every price moves with its t, and
ten to thirty steps reach any accuracy. Where hard bounds contradict each other, the prices become the proof.
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
from gramlearn.problem.dual import Dual, DualPoint, Part
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.scan import near_rows
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.problem.status import Status
from gramlearn.solvers.interior_point.point import Interior, center, central_prices, rounded
from gramlearn.solvers.interior_point.step import advance
from gramlearn.solvers.loop import State
from gramlearn.solvers.solver import Answer, Solver
from gramlearn.solvers.working_set import WorkingSet
from gramlearn.solvers.working_set.infeasibility import find_contradiction, refuted

INF = float("inf")

_REFINEMENT = 4  # how many times more constraints are looked at next
_COARSE_TOL = 0.1  # relative gap at which a sample has told enough
_FURTHER = 0.01  # share of the gap at which to look again, after a look that found news
_FLOOR = 0.1  # least share of its largest eigenvalue that an eigenvalue of X starts with
# X(lam) first where it is a good one, or else something large; a start that fails leaves the others.
_NEAR_STARTS = (0.0, 100.0, 1e5)
_FAR_STARTS = (100.0, 0.0, 1e5)
_FEW = 0.01  # share of new rows that may join those that keep their prices
_NEAR = 1e-3  # relative gap below which only rounding keeps a step from being long
_UNEVEN = 100.0  # times as large as that of the prices the mean product may be
_IDLE = 20  # steps without a smaller gap or mu, after which there will be none


@final
@dataclass(frozen=True, eq=False)
class InteriorState(State):
    """The point over the constraints that are near."""

    point: Interior
    rows: list[Array]
    stride: int  # only every `stride`-th constraint is looked at, while that is enough
    looks: int
    target: float = INF  # relative gap over the rows at which to look again
    least: tuple[float, float] = (INF, INF)  # relative gap over the rows, and mu, so far
    idle: int = 0  # steps since one of them became smaller
    starts: tuple[float, ...] = ()  # other sizes to start with, see `_started`

    @property
    def details(self) -> Mapping[str, Any]:
        return {
            "working": self.point.dual.size,
            "looks": self.looks,
            "mu": self.point.mu,
        }


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

    def init(self, problem: Problem, start: list[Array] | None, tol: float) -> InteriorState:
        base = WorkingSet(sample=self.sample, refinement=_REFINEMENT).init(problem, start, tol)
        # Where no lam was found at which the dual is finite, a point inside needs none. Where there is none to
        # choose, X is what it is.
        status = base.status(tol)
        ending = base.ending if problem.dual.size else status or Status.STALLED
        over = status not in (None, Status.STALLED) or not problem.dual.size
        starts = _NEAR_STARTS if base.certificate.is_within(_COARSE_TOL) else _FAR_STARTS
        state = InteriorState(
            certificate=base.certificate,
            candidate=base.candidate,
            point=_started(base.point, starts[0]),
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
                values = (certificate.dual, certificate.violation)
                fields = refuted(problem, *values, point.frame, state.rows, proof)
                return replace(state, point=point, **fields)
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
        point, starts = _started(start, state.starts[0]), state.starts[1:]
        fresh = replace(state, point=point, starts=starts, least=(INF, INF), idle=0)
        return self._look(problem, fresh, tol)

    def settle(self, problem: Problem, state: InteriorState) -> InteriorState:
        looked = self._look(problem, replace(state, stride=1), 0.0)
        if looked.point is not state.point:
            return looked  # what has joined has no prices yet that would fit
        return _with_fitting_prices(looked)

    def _look(self, problem: Problem, state: InteriorState, tol: float) -> InteriorState:
        """Find the constraints near X, certify X with the present prices, and price those that are new."""
        point, stride = state.point, state.stride
        while True:
            near = near_rows(problem.dual, point.at, stride, self.first)
            rows, working = _gathered(problem, state, near)
            same = working is point.dual
            plain = point.primal_point
            if not same:
                none = constant(0.0, point.lam, working.size)
                plain = PrimalPoint(
                    working, point.at, _carried(state, rows, point.lam, working.split(none))
                )
            certificate, lam = plain.certify()
            if stride == 1 or not certificate.is_within(_COARSE_TOL):
                break
            stride = max(1, stride // _REFINEMENT)
        answer = None
        if stride == 1:
            answer = Answer(certificate, point.at.factor, rows, working.split(lam))
            if same and certificate.is_within(tol):
                answer = _tidied(point, rows, answer, True, tol)
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
            looked, point=_joined(state, rows, plain, certificate), least=(INF, INF), idle=0
        )


def _with_fitting_prices(state: InteriorState) -> InteriorState:
    """The candidate of a state that has just been looked at, with the prices that fit it best."""
    candidate = state.candidate
    assert candidate is not None
    tidied = _tidied(state.point, state.rows, candidate, False, candidate.certificate.badness)
    return replace(state, candidate=tidied, certificate=tidied.certificate)


def _tidied(
    point: Interior, rows: list[Array], answer: Answer, to_ends: bool, tol: float
) -> Answer:
    """X with prices that fit it better, see `rounded`, if these are good to tol; else the answer there is."""
    certificate, lam = PrimalPoint(point.dual, point.at, rounded(point, to_ends)).certify()
    if not (certificate.is_within(tol) and certificate.badness < INF):
        return answer
    return Answer(certificate, point.at.factor, rows, point.dual.split(lam))


def _started(start: DualPoint, times: float) -> Interior:
    """So many times as large as what is asked of t, and no smaller than the prior; for 0 times, X(lam).

    A multiple of I, or for LogDet, which knows no other shape, of the prior. X(lam) is lifted off the boundary.
    """
    xp, dual = namespace(start.lam), start.dual
    prior = dual.regularizer.conjugate_derivative(dual.origin.slope)
    shape = prior if dual.regularizer.is_invariant else xp.ones_like(prior)
    if not times and start.value > -INF:
        x, frame = start.conjugate.spectrum, start.conjugate.frame
        largest = read(xp.max(x))
        if not largest > 0:
            x = shape * _usual_size(dual, shape)
        elif not dual.regularizer.is_own_barrier:
            x = clipped(x, low=_FLOOR * largest)
        return Interior.without_multipliers(dual, frame * xp.sqrt(x), start.lam)
    size = max(read(xp.max(prior / shape)), times * _usual_size(dual, shape))
    frame = eye(dual.rank, shape) * xp.sqrt(size * shape)
    return Interior.without_multipliers(dual, frame, start.lam)


def _usual_size(dual: Dual, shape: Array) -> float:
    """The c at which t of c diag(shape), before it cancels, is as large as what some term asks of it."""
    xp, size = namespace(dual.like), 0.0
    for part in dual.parts:
        zero = constant(0.0, dual.like, part.size)
        off = part.loss.conjugate_derivative(zero) - part.offset
        asked, given = read(xp.sum(xp.abs(off))), read(xp.sum(part.map.magnitudes(shape)))
        if 0 < asked < INF and 0 < given < INF:
            size = max(size, asked / given)
    return size or 1.0


def _usual_product(at: ConjugatePoint, dual: Dual) -> float:
    """The mean of x^2 h''(x): by how much phi changes where X does by a share of itself.

    A violated bound of a hard constraint costs nothing and everything; this is what there is to go by.
    """
    x = at.spectrum
    xp = namespace(x)
    curvature = dual.regularizer.conjugate_second(dual.regularizer.derivative(x))
    return read(xp.mean(x**2 / curvature))


def _joined(
    state: InteriorState, rows: list[Array], plain: PrimalPoint, certificate: Certificate
) -> Interior:
    """The point over more rows: centered anew at X, or where few are new, with the multipliers there were."""
    old, dual = state.point, plain.dual
    # The prices of a start may fit another X than its own; those of a point inside fit its X.
    gap = min(abs(certificate.primal), certificate.gap if old.is_inside else INF)
    mu = max(old.mu, gap / (dual.size + int(old.cone.shape[0]))) if gap < INF else old.mu
    if not old.is_inside:
        # Next to the optimum, which may cost nothing at all, bounds are violated by this share at most.
        share = certificate.violation if certificate.is_within(_NEAR) else 1.0
        mu = max(mu, share * _usual_product(old.at, dual))
    point = _priced(dual, old.frame, plain.t, mu)
    if point.mu > _UNEVEN * mu:
        point = _priced(dual, old.frame, plain.t, point.mu)
    if dual.size > (1 + _FEW) * old.dual.size or not old.is_inside:
        return point
    kept = {
        name: _carried(state, rows, getattr(old, name), dual.split(getattr(point, name)))
        for name in ("lam", "below", "above", "inside", "under", "over")
    }
    return replace(point, cone=old.cone, **kept)


def _priced(dual: Dual, frame: Array, t: Array, mu: float) -> Interior:
    """X with the prices that its t have at mu; the mean product is more where X needs more, see `center`."""
    lam = dual.each(lambda part, piece: central_prices(part, piece, mu), t)
    return center(dual, frame, lam, mu)


def _carried(state: InteriorState, rows: list[Array], values: Array, fresh: list[Array]) -> Array:
    """What the old rows have, and what is fresh for the others."""
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


def _gathered(
    problem: Problem, state: InteriorState, near: list[Array]
) -> tuple[list[Array], Dual]:
    """The rows that are near and those there are, and the dual over them.

    Rows with A_k = 0 that hold are left out: they do at any price, which would grow along the central path.
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
        held = [_held(*each, factor) for each in zip(dual.parts, idle, strict=True)]
        rows = [r[~h] for r, h in zip(rows, held, strict=True)]
        dual = problem.dual.materialize_rows(rows)
    return rows, old if state.point.is_inside and dual.size == old.size else dual


def _held(part: Part, idle: Array, factor: Array) -> Array:
    """Which of the idle rows hold, up to rounding."""
    one, framed = constant(1.0, factor, 1), part.map.restrict(factor)
    off = part.loss.outside(part.offset + framed.traces(one))
    return idle & (off <= part.t_error(framed, one, factor))
