"""lam_k <- the maximum of the dual along lam_k, k after k: Bregman projections, as published (K09 5).

A projection on constraint k changes Y by -delta A_k, with delta such that t_k meets the bound, or the slack
that lam_k pays for; where lam_k would leave its box it stops there, which is the correction for inequalities
(K09 appendix B). A cycle is one projection on every constraint. X is kept as B B' (LogDet) or W exp(theta) W'
(von Neumann); after every cycle X is computed from lam afresh, and certified.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import every_row, is_numpy
from gramlearn._base.compilation import announced
from gramlearn._base.validation import check_choice, check_count
from gramlearn.problem.certificate import review
from gramlearn.problem.dual import Dual, DualPoint
from gramlearn.problem.problem import Problem
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import State
from gramlearn.solvers.projections.constraint_table import Table, table_of
from gramlearn.solvers.projections.forms import FORMS_OF_X
from gramlearn.solvers.solver import Answer, Solver, Start
from gramlearn.solvers.working_set.enter_domain import enter_domain
from gramlearn.solvers.working_set.infeasibility import (
    end_infeasible,
    find_contradiction,
    find_impossible,
    find_opposed_bounds,
    pick_hopeless,
)

INF = float("inf")
_SETTLED = 1e-15  # the relative change of the duals over a cycle below which no more will happen


@final
@dataclass(frozen=True, eq=False)
class ProjectionState(State):
    """lam of all constraints, and what the last cycle did."""

    table: Table
    point: DualPoint
    change: float = INF  # of the duals over the last cycle, relative to them
    projections: int = 0
    evaluations: int = 0  # of t, by the root finder of the von Neumann divergence

    @property
    def details(self) -> Mapping[str, Any]:
        return {
            "change": self.change,
            "projections": self.projections,
            "evaluations": self.evaluations,
            "active": int(np.count_nonzero(self.point.lam)),
            "dual": self.point.value,
        }


@final
@dataclass(frozen=True)
class Projections(Solver[ProjectionState]):
    """Bregman projections for LogDet and the von Neumann divergence; an iteration is a cycle.

    Parameters
    ----------
    order : {"random", "cyclic", "greatest"}
        "random" draws a new order for every cycle. "cyclic" draws one for all cycles, as published, and may
        take ten times as many. "greatest" projects on the constraint that is violated most, as many times
        as there are constraints, and looks at all of them before each.
    block : int
        How many directions are projected on together, with the same iterates, where that is possible: for
        LogDet, and not for "greatest". 1 is one constraint at a time, Algorithms 1 and 2 of K09 to the letter.
    approximate : bool
        For the von Neumann divergence and distances, go only as far as a bound allows, as DefiniteBoost does: a
        published baseline. It may take fewer cycles than exact projections, or more.
    seed : int
        Of the order.
    """

    order: str = "random"
    block: int = 16
    approximate: bool = False
    seed: int = 0

    default_max_iter = 1000

    def __post_init__(self) -> None:
        check_choice(self.order, "order", {"cyclic": 0, "random": 0, "greatest": 0})
        check_count(self.block, "block")
        check_count(self.seed, "seed", least=0)

    def objection(self, problem: Problem) -> str | None:
        dual = problem.dual
        if not is_numpy(dual.like):
            return "projections run in compiled code, one after another, on NumPy arrays only"
        if dual.regularizer.form not in FORMS_OF_X:
            return f"{type(dual.regularizer).__name__} has no form that makes a projection cheap"
        for part in dual.parts:
            if part.loss.curve is None:
                return f"{type(part.loss).__name__} says no `curve` that compiled loops know"
        return self._approximate_objection(problem) if self.approximate else None

    def _approximate_objection(self, problem: Problem) -> str | None:
        dual = problem.dual
        if dual.regularizer.form != "exponential":
            return "approximate projections are those of the von Neumann divergence"
        for part in dual.parts:
            curve = part.loss.curve
            plain = part.map.is_nonnegative and np.all(np.asarray(part.offset) == 0)
            ones = part.map.index_rows(every_row(min(part.size, 1), dual.like)).rank_ones()
            plain = plain and bool(np.all(ones.weight == 1)) and ones.weight.size <= 1
            if curve is None or curve.form not in ("constant", "exponential") or not plain:
                return "approximate projections need Hard, Hinge or KLSlack on squared distances"
            if np.any(np.asarray(curve.bound) <= 0):
                return "approximate projections need bounds above 0"
        return None

    def init(self, problem: Problem, start: Start | None, tol: float) -> ProjectionState:
        dual = problem.dual
        pieces = [np.zeros(p.size) for p in dual.parts] if start is None else start.duals
        lam = np.concatenate([*pieces, np.zeros(0)])
        lo, hi = dual.box
        point = dual.at(np.clip(lam, lo, hi))
        if point.value == -INF:
            point = dual.at(np.clip(np.zeros_like(lam), lo, hi))
        state = ProjectionState(table_of(dual), point)
        if point.value == -INF:
            entry = enter_domain(dual, np.clip(np.zeros_like(lam), lo, hi))
            if entry.lam is None:
                return replace(state, ending=entry.ending)
            state = replace(state, point=dual.at(entry.lam))
            point = state.point
        suspects = [
            pick_hopeless(part, every_row(part.size, t), part.loss.severity(t, part.unit))
            for part, t in zip(dual.parts, dual.split(point.t), strict=True)
        ]
        proof = find_impossible(problem, suspects)
        proof = find_opposed_bounds(dual) if proof is None else proof
        if proof is not None:
            return end_infeasible(problem, state, dual.every_row, proof)
        return self._certify(problem, state)

    def step(self, problem: Problem, state: ProjectionState, tol: float) -> ProjectionState:
        previous, before = state.point, state.point.lam
        state = self.cycled(problem, state)
        point, lam = state.point, state.point.lam
        if not point.value >= previous.value - 10 * previous.noise:
            # Rounding spoiled lam or took it out of the domain, or there is no X: keep the last good state.
            return replace(state, point=previous, ending=Status.STALLED)
        if point.violation > 0:
            proof = find_contradiction(point.dual, point.conjugate.factor, (lam, lam - before))
            if proof is not None:
                return end_infeasible(problem, state, problem.dual.every_row, proof)
        looked = self._certify(problem, state)
        if looked.status(tol) is None and looked.change <= _SETTLED:
            return replace(looked, ending=Status.STALLED)
        return looked

    def cycled(self, problem: Problem, state: ProjectionState) -> ProjectionState:
        """Project once on every constraint, without a look at the result."""
        before = state.point.lam
        lam = before.copy()
        counts = np.zeros(2, dtype=np.int64)
        with announced("the projections"):
            self._cycle(problem, state, lam, counts)
        size = float(np.sum(np.abs(lam))) or 1.0
        return replace(
            state,
            point=problem.dual.at(lam),
            change=float(np.sum(np.abs(lam - before))) / size,
            projections=state.projections + lam.shape[0],
            evaluations=state.evaluations + int(counts[0]),
        )

    def settle(self, problem: Problem, state: ProjectionState) -> ProjectionState:
        if state.point.value == -INF:
            return state  # no lam is inside the domain, so there is no X to certify
        return self._certify(problem, state)

    def _cycle(
        self, problem: Problem, state: ProjectionState, lam: np.ndarray, counts: np.ndarray
    ) -> None:
        """Project once on every constraint; lam changes in place."""
        size = lam.shape[0]
        done = state.projections // max(size, 1) if self.order == "random" else 0
        order = np.random.default_rng([self.seed, done]).permutation(size)
        block = 1 if self.order == "greatest" else self.block
        form = FORMS_OF_X[str(problem.dual.regularizer.form)]
        X = form(state.point.conjugate, block, self.approximate)
        if self.order != "greatest":
            X.run(order, state.table, lam, counts)
            return
        for _ in range(size):
            worst = _most_violated(problem.dual, X.factor, lam)
            X.run(np.asarray([worst]), state.table, lam, counts)

    def _certify(self, problem: Problem, state: ProjectionState) -> ProjectionState:
        point, rows = state.point, problem.dual.every_row
        certificate = review(problem, rows, point).certificate
        answer = Answer(certificate, point.conjugate.factor, rows, point.dual.split(point.lam))
        return replace(state, certificate=certificate, candidate=answer)


def _most_violated(dual: Dual, factor: np.ndarray, lam: np.ndarray) -> int:
    """The constraint whose t is farthest from loss*'(lam), among those whose lam may still move there."""
    t = dual.t_of([part.map.restrict(factor) for part in dual.parts], np.ones(1))
    priced = dual.each(lambda part, v: part.loss.conjugate_derivative(v), lam)
    lo, hi = dual.box
    held = ((lam >= hi) & (t > priced)) | ((lam <= lo) & (t < priced))
    miss = np.abs(t - priced) / np.maximum(np.abs(t) + np.abs(priced), 1e-300)
    return int(np.argmax(np.where(held, -1.0, miss)))
