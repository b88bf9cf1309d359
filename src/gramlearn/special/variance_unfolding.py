"""tr K -> max over PSD K with  sum_ij K_ij = 0  and  K_ii + K_jj - 2 K_ij = |x_i - x_j|^2  for neighbors.

Maximum variance unfolding (Weinberger, Sha and Saul 2004; Z11 6.1): the points are pulled apart as far as the
distances of neighbors allow. With t_k = <A_k, K> the squared distances of neighbors, d_k what they shall be,
and V a basis of the directions that a feasible K can have (`_rigid`), any multipliers lam give a bound. Let

    Z = V' (sum_k lam_k A_k - I) V,      z = max(0, -least eigenvalue of Z),      T = 1/(2n) sum_ij g_ij^2

with g_ij the length of the shortest path from i to j along the graph. Then every feasible K has

    tr K <= sum_k lam_k d_k + z T.

Proof. K = V S V' with S >= 0, so sum_k lam_k t_k - tr K = <Z, S> >= -z tr S = -z tr K, and t_k = d_k. K = R R'
is centered, so tr K = 1/(2n) sum_ij |r_i - r_j|^2, and |r_i - r_j| is at most the length of any path from i to
j, whose edges have kept their lengths: tr K <= T. With t_k <= d_k in place of t_k = d_k the same holds for
lam >= 0.

The judge adds to <Z, S> what K gains by violating distances: |bound - tr K| <= <Z, S> + z T + |lam'(d - t)|.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._validation import check_choice, check_count, check_host_points, check_positive
from gramlearn._warnings import warn
from gramlearn.certificate import UNKNOWN, Certificate
from gramlearn.solution import Record
from gramlearn.special._rigid import common_range
from gramlearn.special._trace_interior import Interior, begin, step
from gramlearn.special.unfolding import neighbor_pairs
from gramlearn.status import Status

__all__ = ["Unfolding", "UnfoldingProblem", "check_connected", "unfold"]

_DISTANCES = {"equal": False, "at_most": True}
_SAME = 1e-11  # squared, the part of a constraint beside those before it that counts as none
_PATIENCE = 8  # steps without a better answer before the search ends
_FAR = 0.1  # above which an answer may get worse before it gets better


@final
@dataclass(frozen=True, eq=False)
class UnfoldingProblem:
    """tr K -> max over centered PSD K that keeps the squared distances of pairs i, j, or makes them smaller.

    It is the judge of every answer, in units in which the mean squared distance is 1.
    """

    points: np.ndarray
    i: np.ndarray
    j: np.ndarray
    at_most: bool

    @cached_property
    def unit(self) -> float:
        """The mean squared distance of the pairs."""
        return float(np.mean(np.sum((self.points[self.i] - self.points[self.j]) ** 2, axis=1)))

    @cached_property
    def squared(self) -> np.ndarray:
        """d, in units of its mean."""
        apart = (self.points[self.i] - self.points[self.j]) / np.sqrt(self.unit)
        return np.asarray(np.sum(apart**2, axis=1))

    @cached_property
    def basis(self) -> np.ndarray:
        """V."""
        return common_range(self.points, self.i, self.j, rigid=not self.at_most)

    @cached_property
    def directions(self) -> np.ndarray:
        """v_i - v_j for each pair, of the rows of V."""
        return np.asarray(self.basis[self.i] - self.basis[self.j])

    @cached_property
    def largest_trace(self) -> float:
        """T: 1/(2n) times the sum of squared lengths of shortest paths."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        n, total = self.points.shape[0], 0.0
        # A length of zero would be no edge; the least positive number is as good.
        lengths = np.maximum(np.sqrt(self.squared), np.finfo(float).tiny)
        graph = coo_array((lengths, (self.i, self.j)), shape=(n, n)).tocsr()
        for at in range(0, n, 256):
            rows = np.arange(at, min(at + 256, n))
            total += float(np.sum(shortest_path(graph, directed=False, indices=rows) ** 2))
        return total / (2 * n)

    def independent(self) -> np.ndarray:
        """The pairs whose distances are not fixed by those of others, in the range of V."""
        from scipy.linalg.lapack import dpstrf

        D = self.directions
        if self.at_most:
            return np.flatnonzero(self.squared > 0)
        G = (D @ D.T) ** 2
        _, order, rank, _ = dpstrf(G, lower=1, tol=_SAME * float(G.diagonal().max()))
        return np.sort(order[:rank] - 1)

    def certificate(self, F: np.ndarray, lam: np.ndarray) -> Certificate:
        """How good K = V F F' V' is: -tr K as the value to minimize, -(sum lam d + z T) as its bound."""
        t = np.sum((self.directions @ F) ** 2, axis=1)
        Z = (self.directions.T * lam) @ self.directions - np.eye(F.shape[0])
        rounding = np.finfo(float).eps * float(np.abs(Z).sum(axis=1).max())
        z = max(0.0, rounding - float(np.linalg.eigvalsh(Z)[0]))
        trace, bound = float(np.sum(F**2)), float(lam @ self.squared) + z * self.largest_trace
        if self.at_most and np.any(lam < 0):
            bound = np.inf
        short = float(lam @ (self.squared - t))
        inner = max(float(np.sum(F * (Z @ F))), 0.0)
        gap = inner + z * self.largest_trace + abs(short)
        off = t - self.squared
        off = np.maximum(off, 0.0) if self.at_most else np.abs(off)
        return Certificate(-trace, -bound, gap if bound < np.inf else np.inf, float(off.max()))

    def feasible(self, F: np.ndarray) -> np.ndarray:
        """F, made smaller where distances may shrink and do not."""
        if not self.at_most:
            return F
        t = np.sum((self.directions @ F) ** 2, axis=1)
        seen = self.squared > 0
        return F / np.sqrt(max(1.0, float(np.max(t[seen] / self.squared[seen]))))


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
    tol = check_positive(tol, "tol", "unfold")
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
    best, F, lam = UNKNOWN, problem.basis, np.zeros(problem.i.shape[0])
    status, since = Status.ITERATION_LIMIT, 0
    for iteration in range(max_iter + 1):
        assert state is not None
        prices = np.zeros(problem.i.shape[0])
        prices[kept] = state.lam
        now = problem.feasible(state.F)
        certificate = problem.certificate(now, prices)
        since += 1
        if certificate.badness < best.badness or best is UNKNOWN:
            best, F, lam, since = certificate, now, prices, 0
        history.append(Record(iteration, time.perf_counter() - began, best, {}))
        if best.is_within(tol):
            status = Status.OPTIMAL
            break
        if callback is not None and callback(history[-1]):
            status = Status.STOPPED
            break
        state = (
            step(state, directions, b, share) if since < _PATIENCE or best.badness > _FAR else None
        )
        if state is None:
            status = Status.STALLED
            break
    U, s, _ = np.linalg.svd(problem.basis @ F, full_matrices=False)
    coordinates = U * (
        s * np.sqrt(problem.unit) * np.sign(U[np.abs(U).argmax(axis=0), range(len(s))])
    )
    seconds = time.perf_counter() - began
    return Unfolding(problem, coordinates, lam, best, status, history, seconds)
