"""maximize tr K over PSD K with  sum_ij K_ij = 0  and  K_ii + K_jj - 2 K_ij = |x_i - x_j|^2  for neighbors.

Maximum variance unfolding (Weinberger, Sha and Saul 2004; Z11 6.1): the points are pulled apart as far as the
distances of neighbors allow. Steps are those of interior points (`interior_step`), in the directions that a
feasible K can have (`facial_reduction`), and `variance_bound` proves how good each answer is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gramlearn._base.validation import check_choice, check_host_points
from gramlearn.graphs.edges import check_connected, read_edges
from gramlearn.methods.unfolding.interior_step import Interior, step
from gramlearn.methods.unfolding.variance_bound import UnfoldingProblem
from gramlearn.problem.solution import CertifiedAnswer, Record
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Limits, Method, Run, State, iterate, warn_unless_solved

_DISTANCES = {"equal": False, "at_most": True}
_STEPS = 100
_PATIENCE = 8  # steps without a better answer before the search ends
_FAR = 0.1  # above this badness answers may get worse before they get better


@final
@dataclass(frozen=True, eq=False, repr=False)
class Unfolding(CertifiedAnswer):
    """K = F F' with |bound - tr K| <= gap, where no feasible K has a trace above the bound.

    Attributes
    ----------
    factor : array n x p
        F, columns orthogonal and centered, in descending order of their lengths: coordinates of the points.
    pairs : array m x 2
    multipliers : vector of m
        lam, the prices of squared distances.
    trace, bound : float
        tr K, and what no feasible K exceeds: -primal and -dual, in the units of the points.
    primal, dual, gap, relative_gap, violation, status, history, iterations, seconds :
        As of a `Solution`; the violation is the largest error of a squared distance, in units of their mean.
    """

    problem: UnfoldingProblem
    factor: np.ndarray
    multipliers: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """(i, j) of every multiplier."""
        return np.column_stack([self.problem.i, self.problem.j])

    @property
    def trace(self) -> float:
        """tr K."""
        return -self.primal

    @property
    def bound(self) -> float:
        """No feasible K has a larger trace."""
        return -self.dual

    def __repr__(self) -> str:
        return (
            f"Unfolding({self.status.name}: trace {self.trace:.8g}, bound {self.bound:.8g}, relative gap "
            f"{self.relative_gap:.1e}, violation {self.violation:.1e}, {self.iterations} iterations, "
            f"{self.seconds:.3g} s)"
        )


def unfold(
    points: Any,
    graph: Any,
    *,
    distances: str = "equal",
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
    owner: str = "unfold",
) -> Unfolding:
    """Find the centered kernel of largest trace that keeps the distances of neighbors.

    Parameters
    ----------
    points : array n x d
    graph : SciPy sparse matrix n x n, or array m x 2
        Of neighbors, such as `neighbor_graph`, or its edges as pairs of row numbers. It must join all points:
        pieces would fly apart.
    distances : {"equal", "at_most"}
        Whether distances of neighbors are kept, or may shrink. With "at_most" the answer is always feasible,
        and its trace is below the largest one by at most the gap.
    tol : float
        The relative gap, and the violation, to stop at.
    max_iter : int, optional
        By default 100 steps; each costs a Cholesky decomposition of size m and some of size n.
    callback, time_limit :
        As in `solve`.
    """
    X = check_host_points(points, "points")
    at_most = check_choice(distances, "distances", _DISTANCES)
    most = _STEPS if max_iter is None else max_iter
    limits = Limits.read(tol, most, time_limit, owner, least=1)
    i, j = read_edges(graph, X.shape[0])
    problem = UnfoldingProblem(X, i, j, at_most)
    check_connected(X.shape[0], i, j, "graph", "or unfold each piece by itself")
    if not problem.unit > 0:
        raise ValueError(
            "all points are equal, or squares of their distances are zero, so there is nothing to unfold; pass "
            "points that differ, or other units."
        )
    answer = iterate(_Unfolding(problem), limits, callback)
    shrink = 'let distances shrink, distances="at_most"'
    warn_unless_solved(answer, limits, shrink, ("found no step that improves the answer", shrink))
    return answer


@final
@dataclass(frozen=True, eq=False)
class _UnfoldingState(State):
    interior: Interior
    best: Unfolding  # of all steps, by the worse of gap and violation, which are estimates
    idle: int  # steps since there was a better one


@final
@dataclass(frozen=True, eq=False)
class _Unfolding(Method[_UnfoldingState, Unfolding, Unfolding]):
    """Interior-point steps. Of an answer, unlike a candidate, the columns of the factor are orthogonal.

    To prove a bound takes as long as a part of a step, so only what seems good enough, and the best of a run
    that was cut short, is certified.
    """

    problem: UnfoldingProblem

    def begin(self, tol: float) -> _UnfoldingState:
        return self._look(self.problem.start(), None, tol)

    def step(self, state: _UnfoldingState, tol: float) -> _UnfoldingState:
        is_hopeful = state.idle < _PATIENCE or state.best.certificate.badness > _FAR
        # Adding more to the matrix of a step makes it safer and less accurate.
        share = min(max(1e-9 * tol, 1e-15), 1e-13)
        further = step(state.interior, self.problem.program, share) if is_hopeful else None
        if further is None:
            return replace(state, ending=Status.STALLED)
        return self._look(further, state, tol)

    def settle(self, state: _UnfoldingState) -> _UnfoldingState:
        """Certify the best of all steps."""
        return replace(state, candidate=self._certified(state.best))

    def _look(
        self, interior: Interior, before: _UnfoldingState | None, tol: float
    ) -> _UnfoldingState:
        prices = np.zeros(self.problem.i.shape[0])
        prices[self.problem.kept] = interior.lam
        F = self.problem.feasible(interior.F)
        # Steps keep Z positive definite, up to rounding.
        estimate = self.problem.certificate(F, prices, z=0.0).times(self.problem.unit)
        new = Unfolding(self.problem, F, prices, certificate=estimate)
        candidate = self._certified(new) if estimate.is_within(tol) else None
        if before is None or estimate.badness < before.best.certificate.badness:
            best, idle = new, 0
        else:
            best, idle = before.best, before.idle + 1
        certificate = estimate if candidate is None else candidate.certificate
        return _UnfoldingState(interior, best, idle, candidate=candidate, certificate=certificate)

    def _certified(self, found: Unfolding) -> Unfolding:
        certificate = self.problem.certificate(found.factor, found.multipliers)
        return replace(found, certificate=certificate.times(self.problem.unit))

    def answer(self, best: Unfolding, run: Run) -> Unfolding:
        """Coordinates of the points, in their units."""
        U, s, _ = np.linalg.svd(best.factor, full_matrices=False)
        signs = np.sign(U[np.abs(U).argmax(axis=0), range(len(s))])
        coordinates = U * (s * np.sqrt(self.problem.unit) * signs)
        return super().answer(replace(best, factor=coordinates), run)
