"""tr K -> max over PSD K with  sum_ij K_ij = 0  and  K_ii + K_jj - 2 K_ij = |x_i - x_j|^2  for neighbors.

Maximum variance unfolding (Weinberger, Sha and Saul 2004; Z11 6.1): the points are pulled apart as far as the
distances of neighbors allow. Steps are those of interior points (`interior_step`), in the directions that a
feasible K can have (`facial_reduction`), and `variance_bound` proves how good each answer is.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.validation import check_choice, check_count, check_host_points, check_positive
from gramlearn._base.warnings import warn
from gramlearn.methods.unfolding.interior_step import Interior, begin, step
from gramlearn.methods.unfolding.logdet import neighbor_pairs
from gramlearn.methods.unfolding.variance_bound import UnfoldingProblem
from gramlearn.problem.certificate import UNKNOWN, Certificate
from gramlearn.problem.solution import Record
from gramlearn.problem.status import SolveInterrupted, Status

__all__ = ["Unfolding", "check_connected", "unfold"]

_DISTANCES = {"equal": False, "at_most": True}
_PATIENCE = 8  # steps without a better answer before the search ends
_FAR = 0.1  # above which an answer may get worse before it gets better


@final
@dataclass(frozen=True, eq=False)
class Unfolding:
    """K = F F' with |bound - tr K| <= gap, where no feasible K has a trace above the bound.

    Attributes
    ----------
    factor : array n x p
        F, columns orthogonal and centered, in descending order of their lengths: coordinates of the points.
    pairs : array m x 2
    multipliers : vector of m
        lam, the prices of squared distances.
    trace, bound, gap, relative_gap : float
        tr K, what no feasible K exceeds, and a bound on their difference.
    violation : float
        The largest error of a squared distance, in units of their mean.
    status : Status
    history : list of Record
    seconds : float
    """

    problem: UnfoldingProblem
    factor: np.ndarray
    multipliers: np.ndarray
    certificate: Certificate
    status: Status
    history: list[Record]
    seconds: float

    @property
    def pairs(self) -> np.ndarray:
        """(i, j) of every multiplier."""
        return np.column_stack([self.problem.i, self.problem.j])

    @property
    def trace(self) -> float:
        """tr K."""
        return -self.certificate.primal * self.problem.unit

    @property
    def bound(self) -> float:
        """No feasible K has a larger trace."""
        return -self.certificate.dual * self.problem.unit

    @property
    def gap(self) -> float:
        """A bound on |bound - tr K|."""
        return self.certificate.gap * self.problem.unit

    @property
    def relative_gap(self) -> float:
        """The gap against the larger of tr K and the bound."""
        return self.certificate.relative_gap

    @property
    def violation(self) -> float:
        """The largest error of a squared distance, in units of their mean."""
        return self.certificate.violation

    @property
    def iterations(self) -> int:
        """The number of steps."""
        return self.history[-1].iteration if self.history else 0

    def __repr__(self) -> str:
        return (
            f"Unfolding({self.status.name}: trace {self.trace:.8g}, bound {self.bound:.8g}, relative gap "
            f"{self.relative_gap:.1e}, violation {self.violation:.1e}, {self.iterations} iterations, "
            f"{self.seconds:.3g} s)"
        )


def unfold(
    points: Any,
    neighbors: Any,
    *,
    distances: str = "equal",
    tol: float = 1e-4,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
) -> Unfolding:
    """Find the centered kernel of largest trace that keeps the distances of neighbors.

    Parameters
    ----------
    points : array n x d
    neighbors : array m x 2, or SciPy sparse matrix n x n
        Pairs of row numbers, or a neighbor graph. They must join all points: pieces would fly apart.
    distances : {"equal", "at_most"}
        Whether distances of neighbors are kept, or may shrink. The second has always a feasible K, of which the
        trace is below the largest one by at most the gap.
    tol : float
        The relative gap, and the violation, to stop at.
    max_iter : int, optional
        By default 100 steps; each costs a Cholesky decomposition of size m and some of size n.
    callback : function of a Record, optional
    """
    X = check_host_points(points, "points")
    at_most = check_choice(distances, "distances", _DISTANCES)
    tol = check_positive(tol, "tol", "unfold", any_size=True)
    most = 100 if max_iter is None else check_count(max_iter, "max_iter")
    i, j = neighbor_pairs(neighbors, X.shape[0])
    problem = UnfoldingProblem(X, i, j, at_most)
    check_connected(X.shape[0], i, j, "neighbors", "or unfold each piece by itself")
    if not problem.unit > 0:
        raise ValueError(
            "all points are equal, or squares of their distances are zero, so there is nothing to unfold; pass "
            "points that differ, or other units."
        )
    answer = _search(problem, tol, most, callback)
    if answer.status is not Status.OPTIMAL:
        warn(
            f"unfolding {answer.status.value} (relative gap {answer.relative_gap:.1e}, violation "
            f"{answer.violation:.1e}, tol={tol:g}). The result is usable to that accuracy; raise tol, or "
            'max_iter if that was the limit, or let distances shrink, distances="at_most".',
            ConvergenceWarning,
        )
    return answer


def check_connected(n: int, i: np.ndarray, j: np.ndarray, name: str, otherwise: str) -> None:
    """Refuse a graph in pieces: nothing keeps them from flying apart. `otherwise` says what else to do."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(i.shape[0]), (i, j)), shape=(n, n))
    count, labels = connected_components(graph, directed=False)
    if count > 1:
        least = int(np.bincount(labels).min())
        raise ValueError(
            f"the graph of `{name}` is in {count} pieces, the smallest of {least} point(s), which nothing "
            f"keeps from flying apart; take more neighbors, {otherwise}."
        )


def _search(
    problem: UnfoldingProblem,
    tol: float,
    max_iter: int,
    callback: Callable[[Record], object] | None,
) -> Unfolding:
    began = time.perf_counter()
    kept = problem.independent()
    directions, b = problem.directions[kept], problem.squared[kept]
    # The more is added to a step's matrix, the surer the step, and the larger the error that is left.
    share = min(max(1e-7 * tol, 1e-15), 1e-11)
    state: Interior | None = begin(directions, b, at_most=problem.at_most)
    history: list[Record] = []
    found = (UNKNOWN, problem.basis, np.zeros(problem.i.shape[0]))  # the best, with its F and lam
    status, since = Status.ITERATION_LIMIT, 0
    try:
        for iteration in range(max_iter + 1):
            assert state is not None
            prices = np.zeros(problem.i.shape[0])
            prices[kept] = state.lam
            now = problem.feasible(state.F)
            certificate = problem.certificate(now, prices)
            since += 1
            if certificate.badness < found[0].badness or found[0] is UNKNOWN:
                found, since = (certificate, now, prices), 0
            best = found[0]
            history.append(Record(iteration, time.perf_counter() - began, best, {}))
            if best.is_within(tol):
                status = Status.OPTIMAL
                break
            if callback is not None and callback(history[-1]):
                status = Status.STOPPED
                break
            is_hopeful = since < _PATIENCE or best.badness > _FAR
            state = step(state, directions, b, share) if is_hopeful else None
            if state is None:
                status = Status.STALLED
                break
    except KeyboardInterrupt:
        if found[0] is UNKNOWN:
            raise
        answer = _answer(problem, *found, Status.INTERRUPTED, history, began)
        raise SolveInterrupted(answer) from None
    return _answer(problem, *found, status, history, began)


def _answer(
    problem: UnfoldingProblem,
    best: Certificate,
    F: np.ndarray,
    lam: np.ndarray,
    status: Status,
    history: list[Record],
    began: float,
) -> Unfolding:
    """Coordinates of the points, in their units."""
    U, s, _ = np.linalg.svd(problem.basis @ F, full_matrices=False)
    coordinates = U * (
        s * np.sqrt(problem.unit) * np.sign(U[np.abs(U).argmax(axis=0), range(len(s))])
    )
    seconds = time.perf_counter() - began
    return Unfolding(problem, coordinates, lam, best, status, history, seconds)
