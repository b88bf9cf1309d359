"""Newton on the dual of a working set: the few constraints that are active at the optimum, and some others.

    1. scan all constraints at the present X: the certificate, and the violators
    2. working set = all with lam != 0, plus the worst violators, until it has about doubled
    3. projected Newton on the dual of the working set, to a fraction of the present gap
    4. again, until the relative gap and the largest violation are below tol

A Newton step costs a few matrix products of the size of the working set; only step 1 depends on the number of
all constraints, and for large problems it scans a sample until that is nearly solved.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    constant,
    count_true,
    every_row,
    largest,
    namespace,
    read,
    where_true,
)
from gramlearn._base.validation import check_count
from gramlearn.problem.certificate import UNKNOWN, Certificate, Review, review
from gramlearn.problem.dual import DualPoint
from gramlearn.problem.linear_maps import Products
from gramlearn.problem.problem import Problem
from gramlearn.problem.scan import Reference
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import State
from gramlearn.solvers.solver import Answer, Solver, Start
from gramlearn.solvers.working_set.enter_domain import enter_domain
from gramlearn.solvers.working_set.infeasibility import (
    end_infeasible,
    find_contradiction,
    find_impossible,
    find_opposed_bounds,
    pick_hopeless,
)
from gramlearn.solvers.working_set.newton_step import newton_step

INF = float("inf")

_INNER_STEPS = 20  # on one working set, before all constraints are scanned in any case
_COARSE_TOL = 0.3


@final
@dataclass(frozen=True, eq=False)
class WorkingSetState(State):
    """Rows and lam of the working set, and what is known of all constraints."""

    # changes with every step
    point: DualPoint
    # changes when constraints outside the working set are looked at
    rows: list[Array]
    references: list[Reference | None]
    stride: int = 1  # only every `stride`-th constraint is looked at, while that is enough
    target: float = 0.0  # the share of the present gap at which to look again
    looks: int = 0
    steps: int = 0  # on this working set
    failed: int = 0  # looks since the last step that improved the dual

    @property
    def details(self) -> Mapping[str, Any]:
        return {
            "working": self.point.dual.size,
            "active": count_true(self.point.lam != 0),
            "looks": self.looks,
            "dual": self.point.value,
        }


@final
@dataclass(frozen=True)
class WorkingSet(Solver[WorkingSetState]):
    """Working-set Newton on the dual, for every regularizer, loss and constraint.

    Parameters
    ----------
    first : int
        How many constraints every look may add, at least.
    growth : float
        By how much the active set may grow from one look to the next.
    sample : int
        A problem of more constraints than this is first brought near its optimum on a sample of
        them: far from the optimum a sample shows the same violations, at a fraction of the cost of a look.
    refinement : int
        How many times more constraints are looked at once a sample is nearly solved.
    """

    first: int = 500
    growth: float = 2.0
    sample: int = 15_000
    refinement: int = 16

    default_max_iter = 1000

    def __post_init__(self) -> None:
        check_count(self.first, "first")
        check_count(self.sample, "sample")
        check_count(self.refinement, "refinement", least=2)
        if not self.growth > 1:
            raise ValueError(f"`growth` must be greater than 1; got {self.growth!r}.")

    def init(self, problem: Problem, start: Start | None, tol: float) -> WorkingSetState:
        dual = problem.dual
        xp = namespace(dual.like)
        rows, lam = _starting_rows(problem, start)
        working = dual.materialize_rows(rows)
        lo, hi = working.box
        at_zero = clipped(xp.zeros_like(lam), lo, hi)
        point = working.at(clipped(lam, lo, working.ceiling(at_zero)))
        if point.value == -INF:
            point = working.at(at_zero)
        if point.value == -INF:
            rows = dual.every_row
            working = dual.materialize_rows(rows)
            lo, hi = working.box
            entry = enter_domain(working, clipped(constant(0.0, dual.like, working.size), lo, hi))
            if entry.lam is None:  # the prior is the only answer
                return WorkingSetState(point, rows, [None] * len(rows), ending=entry.ending)
            point = working.at(entry.lam)
        stride = 1
        while start is None and dual.size > self.sample * stride:
            stride *= 4
        state = WorkingSetState(point, rows, [None] * len(rows), stride)
        return self._look(problem, state, tol)

    def step(self, problem: Problem, state: WorkingSetState, tol: float) -> WorkingSetState:
        point = state.point
        accuracy = min(0.3, max(_badness(point), 1e-12) ** 0.35)
        better = newton_step(point, accuracy)
        if better is not None:
            state = replace(state, point=better, steps=state.steps + 1)
            # A point inside all domains is feasible, and nothing contradicts it.
            if better.violation > 0:
                directions = (better.lam, better.lam - point.lam)
                proof = find_contradiction(better.dual, better.conjugate.factor, directions)
                if proof is not None:
                    return end_infeasible(problem, state, state.rows, proof)
            reached = _badness(better) <= max(state.target, 0.3 * tol)
            if not reached and state.steps < _INNER_STEPS:
                return state
        failed = state.failed + 1 if better is None else 0
        looked = replace(self._look(problem, state, tol), failed=failed)
        # One failure may be due to the working set; two in a row are not.
        if failed > 1 and looked.status(tol) is None:
            looked = replace(looked, ending=Status.STALLED)
        return looked

    def settle(self, problem: Problem, state: WorkingSetState) -> WorkingSetState:
        if state.point.value == -INF:
            return state  # no lam is inside the domain, so there is no X to certify
        return self._look(problem, replace(state, stride=1), 0.0)

    def _look(self, problem: Problem, state: WorkingSetState, tol: float) -> WorkingSetState:
        """Scan all constraints, certify the point, and choose the next working set."""
        rows, point, stride = state.rows, state.point, state.stride
        products: Products = {}
        seen = review(problem, rows, point, state.references, stride, products)
        while stride > 1 and seen.certificate.is_within(_COARSE_TOL):
            stride = max(1, stride // int(self.refinement))
            seen = review(problem, rows, point, state.references, stride, products)
        candidate = None
        if stride == 1:
            candidate = Answer(
                seen.certificate, point.conjugate.factor, rows, point.dual.split(point.lam)
            )
        badness = seen.certificate.badness
        is_first = stride == 1 and all(known is None for known in state.references)
        state = replace(
            state,
            certificate=seen.certificate if stride == 1 else UNKNOWN._replace(dual=point.value),
            candidate=candidate,
            references=seen.references,
            looks=state.looks + 1,
            stride=stride,
            steps=0,
            ending=None,
        )
        if state.status(tol) is not None:
            return state
        proof = None
        if badness == INF or is_first:
            proof = find_impossible(problem, _suspects(problem, seen, state))
        if proof is None and is_first:
            proof = find_opposed_bounds(problem.dual)
        if proof is not None:
            return end_infeasible(problem, state, problem.dual.every_row, proof)
        rows, point = self._choose(problem, rows, point, seen)
        # Where hardly any violator is new, few will be at the next scan: go farther before it.
        news = sum(int(violators.shape[0]) for violators in seen.violators)
        share = 0.01 if news <= 0.1 * point.dual.size else 0.1
        return replace(state, rows=rows, point=point, target=share * min(_badness(point), badness))

    def _choose(
        self, problem: Problem, rows: list[Array], point: DualPoint, seen: Review
    ) -> tuple[list[Array], DualPoint]:
        """Keep what is active, and add the worst violators, until the active set may have doubled."""
        dual = problem.dual
        xp = namespace(dual.like)
        pieces = point.dual.split(point.lam)
        values = point.dual.split(point.t)
        keep = [
            (piece != 0) | ~part.loss.is_slack(t, t)
            for part, piece, t in zip(point.dual.parts, pieces, values, strict=True)
        ]
        active = sum(count_true(k) for k in keep)
        if active == point.dual.size and not any(v.shape[0] for v in seen.violators):
            return rows, point  # the same working set
        # Where nearly all constraints stayed active, most of them matter: grow faster.
        growth = self.growth if active < 0.98 * point.dual.size else 3 * self.growth
        room = max(self.first, int((growth - 1) * active))
        severity = concat(seen.severities, dual.like)
        threshold = 0.0
        if severity.shape[0] > room:
            worst = largest(severity, room)
            threshold = read(xp.min(xp.take(severity, worst)))
        new_rows, new_lam = [], []
        for k in range(len(dual.parts)):
            new = seen.violators[k][seen.severities[k] >= threshold]
            joined = concat([rows[k][keep[k]], new], new)
            values = concat([pieces[k][keep[k]], constant(0.0, dual.like, new.shape[0])], dual.like)
            order = xp.argsort(joined)
            new_rows.append(xp.take(joined, order))
            new_lam.append(xp.take(values, order))
        chosen = dual.materialize_rows(new_rows).next_to(concat(new_lam, dual.like))
        return (rows, point) if chosen is None else (new_rows, chosen)


def _suspects(problem: Problem, seen: Review, state: WorkingSetState) -> list[Array]:
    """Rows, inside and outside the working set, that perhaps no X can satisfy."""
    point = state.point
    inside = zip(point.dual.parts, point.dual.split(point.t), state.rows, strict=True)
    outside = zip(problem.dual.parts, seen.violators, seen.severities, strict=True)
    suspects = []
    for (part, t, rows), (whole, *missing) in zip(inside, outside, strict=True):
        present = pick_hopeless(part, rows, part.loss.severity(t, part.unit))
        suspects.append(concat([present, pick_hopeless(whole, *missing)], rows))
    return suspects


def _starting_rows(problem: Problem, start: Start | None) -> tuple[list[Array], Array]:
    """Rows and lam of the first working set: those with lam != 0, and those that are never slack."""
    dual = problem.dual
    rows, lam = [], []
    for k, part in enumerate(dual.parts):
        given = constant(0.0, dual.like, part.size) if start is None else start.duals[k]
        chosen = where_true(given != 0) if part.loss.can_be_slack else every_row(part.size, given)
        rows.append(chosen)
        lam.append(namespace(given).take(given, chosen))
    return rows, concat(lam, dual.like)


def _badness(point: DualPoint) -> float:
    """How far a working set is from solved: the larger of relative gap and violation."""
    primal, least = point.value + point.gap, point.dual.least
    known = point.value, point.gap, point.violation
    return Certificate(primal, *known, 1.0, least, point.prior_rounding).badness
