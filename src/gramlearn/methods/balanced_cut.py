"""minimize tr L X  with  X_ii = 1, e'Xe = 0, X >= 0: the relaxed minimum balanced cut, by LogDet (K09 6.4).

L is the Laplacian of a graph and e the vector of ones. For X within the range of pinv(L), where Le = 0 gives
e'Xe = 0 for free,

    eps D_logdet(X, eps pinv(L)) = tr L X - eps log det X + constant

so the nearest correlation matrix to eps pinv(L) tends to an optimum of the relaxation as eps falls. With the
duals lam, mu = eps lam proves that no balanced cut weighs less than a quarter of -sum mu, and tr L X lies above
that by eps rank(L) at most.

A disconnected graph has other null vectors than e, and the range of pinv(L) would ask every component to be cut
in half. So L + c (I - ee'/n) is used for L. As tr X = n this adds a constant to tr L X and changes no
minimizer, and its range has all directions but e, whatever the graph.

From X = F F' to a cut: the half of the vertices with the larger f_i'g, for random directions g. The directions
are normal, and one is the leading one of F. The best of these cuts are improved by swapping the pair of
vertices that gains most, w(i) + w(j) - 2 A_ij, where w is the weight across less that within, until none gains.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import (
    as_numbers,
    check_count,
    check_finite,
    check_positive,
    check_symmetric,
    generator,
)
from gramlearn._base.warnings import warn
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.constraints import DiagonalEntries
from gramlearn.problem.losses import Hard
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import LogDet
from gramlearn.problem.solution import CertifiedAnswer, Record, Solution
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Attempt, Limits, Method, Run, State, iterate
from gramlearn.solvers.solve import method_for

_FALL = 0.2  # from one eps to the next
_MOST_ROUNDS = 1_000_000  # directions, all in memory
_INNER_TOL = 1e-6
_IMPROVED = 10  # the number of cuts that are improved by swaps


@final
@dataclass(frozen=True, eq=False)
class BalancedCut(CertifiedAnswer):
    """A cut of a graph into two halves, and what no such cut can be below.

    Attributes
    ----------
    labels : array of n
        0 or 1 for each vertex; as many of one as of the other, or one more.
    weight, bound : float
        The weight of the edges between the halves, and what no cut into two halves is below.
    relaxed : float
        tr L X / 4, the value of the relaxation at the last X.
    path : tuple of (eps, tr L X / 4)
        How that value fell with eps.
    solution : Solution
        The last X, with the gap to the nearest correlation matrix. For an odd number of vertices its last row
        is that of a vertex without edges, which stands on the smaller side.
    """

    labels: np.ndarray
    relaxed: float
    path: tuple[tuple[float, float], ...] = field(repr=False)
    solution: Solution = field(repr=False)

    @property
    def weight(self) -> float:
        """The weight of the edges between the halves."""
        return self.primal

    @property
    def bound(self) -> float:
        """No cut into two halves weighs less."""
        return self.dual


def balanced_cut(
    graph: Any,
    eps: float = 1e-3,
    n_rounds: int = 100,
    random_state: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
) -> BalancedCut:
    """Cut a graph into two halves of the same size, with little weight between them.

    Parameters
    ----------
    graph : array or SciPy sparse matrix n x n
        Weights of the edges, symmetric and not negative; the diagonal does not count. It may be
        disconnected. An odd number of vertices gives halves that differ by one.
    eps : float
        How near to come to the optimum of the relaxation, as a share of it, or of the mean degree where that
        is larger. Smaller is sharper and slower.
    n_rounds : int
        How many random directions to try for the cut.
    random_state : int, optional
        The seed of these directions.
    callback, time_limit :
        As in `solve`.

    Returns
    -------
    BalancedCut
        `labels`, the `weight` of the cut, and a `bound` that no balanced cut is below. The cut itself is found
        by rounding and need not be the best.

    Raises
    ------
    SolveInterrupted
        On Ctrl-C, with the cut of the last X, and its bound, as its attribute `solution`.
    """
    check_positive(eps, "eps", "balanced_cut")
    n_rounds, rng = check_count(n_rounds, "n_rounds", most=_MOST_ROUNDS), generator(random_state)
    limits = Limits.read(_INNER_TOL, None, time_limit, "balanced_cut")
    path = _EpsPath(_read_weights(graph), eps, n_rounds, rng)
    cut = iterate(path, limits, callback, path.n**3)
    if cut.status is not Status.LOCAL:
        warn(
            f"balanced_cut ended at eps = {cut.path[-1][0]:.1e} of its path: {cut.status.value}. The bound "
            "holds, and may be farther from the best than asked for.",
            ConvergenceWarning,
        )
    return cut


class _AtEps(NamedTuple):
    """The relaxation at one eps, and the best bound so far."""

    certificate: Certificate
    solution: Solution
    path: tuple[tuple[float, float], ...]


@final
@dataclass(frozen=True, eq=False)
class _PathState(State):
    """The attempt at one eps, and the path so far."""

    ends_by_gap = False

    attempt: Attempt
    eps: float
    bound: float = 0.0
    path: tuple[tuple[float, float], ...] = ()

    @property
    def details(self) -> Mapping[str, Any]:
        return {**self.attempt.details, "eps": self.eps}


@final
class _EpsPath(Method[_PathState, _AtEps, BalancedCut]):
    """Nearest correlation matrices as eps falls, each from the prices of the one before."""

    def __init__(
        self, weights: np.ndarray, eps: float, n_rounds: int, rng: np.random.Generator
    ) -> None:
        self._given, self._eps, self._n_rounds, self._rng = weights, eps, n_rounds, rng
        # With a vertex without edges, halves that differ by one are halves of the same size.
        self._A = np.pad(weights, (0, weights.shape[0] % 2))
        n = self.n = self._A.shape[0]
        self._L = np.diag(self._A.sum(axis=1)) - self._A
        self._lift = float(np.trace(self._L)) / n or 1.0
        values, U = np.linalg.eigh(self._L + self._lift * (np.eye(n) - 1.0 / n))
        self._V = U[:, 1:]  # the first is e, with eigenvalue zero
        self._G = self._V / np.sqrt(values[1:])
        self._first = n / float(np.sum(1 / values[1:]))  # the prior has the trace of the answer

    def begin(self, tol: float) -> _PathState:
        """At the first eps."""
        return self.step(_PathState(self._attempt(self._first, None, tol), self._first), tol)

    def step(self, state: _PathState, tol: float) -> _PathState:
        """A step of the solve at work; where it ends, the next eps."""
        attempt = state.attempt.step()
        state = replace(state, attempt=attempt, certificate=attempt.certificate, candidate=None)
        if attempt.status is None:
            return state
        state = self._extend(state)
        assert state.candidate is not None
        solution = state.candidate.solution.or_raise()
        if solution.status is not Status.OPTIMAL:
            return replace(state, ending=solution.status)
        if state.eps * (self.n - 1) <= self._eps * max(state.bound, self._lift):
            return replace(state, ending=Status.LOCAL)
        eps = state.eps * _FALL
        # eps lam, the prices of tr L X, hardly change with eps.
        start = [solution.duals[0] / _FALL]
        return replace(state, attempt=self._attempt(eps, start, tol), eps=eps)

    def settle(self, state: _PathState) -> _PathState:
        """The last eps that was solved counts, or the first one as it is."""
        return state if state.path else self._extend(state)

    def _extend(self, state: _PathState) -> _PathState:
        """Add the solve at work to the path."""
        solution = state.attempt.settle().answer()
        relaxed = _relaxed_value(self._L, solution)
        bound = max(state.bound, _bound(self._L, self._V, state.eps * solution.duals[0]))
        path = (*state.path, (state.eps, relaxed))
        gap = max(relaxed - bound / 4, 0.0)
        certificate = Certificate(relaxed, bound / 4, gap, solution.violation)
        candidate = _AtEps(certificate, solution, path)
        return replace(state, candidate=candidate, certificate=certificate, bound=bound, path=path)

    def answer(self, best: _AtEps, run: Run) -> BalancedCut:
        """The best of the cuts found; of a run that was interrupted, that of one direction."""
        n_rounds = 0 if run.status is Status.INTERRUPTED else self._n_rounds
        sides = _best_halves(self._A, best.solution.factor, n_rounds, self._rng)
        labels = sides[: self._given.shape[0]]
        weight = float(np.sum(self._given[labels == 0][:, labels == 1]))
        bound = best.certificate.dual
        return BalancedCut(
            labels,
            best.certificate.primal,
            best.path,
            best.solution,
            certificate=Certificate(weight, bound, max(weight - bound, 0.0), 0.0),
            status=run.status,
            history=run.history,
            seconds=run.seconds,
        )

    def is_better(self, new: _AtEps, old: _AtEps) -> bool:
        """A smaller eps is."""
        return len(new.path) > len(old.path)

    def _attempt(self, eps: float, start: list[Any] | None, tol: float) -> Attempt:
        """The nearest correlation matrix to eps pinv(L)."""
        terms = [Term(DiagonalEntries(range(self.n)), Hard(equal=1.0))]
        problem = Problem(LogDet(), Factor(np.sqrt(eps) * self._G), terms)
        return Attempt(method_for(problem, "auto", start=start), tol)


def _relaxed_value(L: np.ndarray, solution: Solution) -> float:
    """tr L X / 4."""
    return float(np.sum(solution.factor * (L @ solution.factor))) / 4


def _read_weights(graph: Any) -> np.ndarray:
    """The weights as a dense matrix without its diagonal."""
    from scipy.sparse import issparse

    dense = graph.toarray() if issparse(graph) else graph
    A = np.array(to_numpy(as_numbers(dense, "graph")), dtype=float)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] < 2:
        raise ValueError(
            f"`graph` must be a square matrix of weights of at least 2 vertices; got shape {A.shape}."
        )
    check_symmetric(check_finite(A, "graph"), "graph")
    np.fill_diagonal(A, 0.0)
    if A.min() < 0:
        raise ValueError(
            f"`graph` has the weight {A.min():.3g}; weights must not be negative. Leave such edges out, or "
            "shift all weights."
        )
    return A


def _bound(L: np.ndarray, V: np.ndarray, mu: np.ndarray) -> float:
    """What tr L X is at least, over X >= 0 with X_ii = 1 and Xe = 0.

    That is n times the least eigenvalue of L + diag mu, less sum mu: tr L X = <L + diag mu, X> - sum mu.
    """
    n = L.shape[0]
    least = float(np.linalg.eigvalsh(V.T @ (L + np.diag(mu)) @ V)[0])
    # A bound allows for its own rounding.
    rounding = 8 * n**1.5 * np.finfo(float).eps * (np.abs(L).max() + np.abs(mu).max())
    return n * least - float(np.sum(mu)) - rounding


def _best_halves(
    A: np.ndarray, F: np.ndarray, n_rounds: int, rng: np.random.Generator
) -> np.ndarray:
    """Labels 0 and 1, as many of each, of the lightest cut found; A has an even number of vertices."""
    n = A.shape[0]
    leading = np.linalg.svd(F, full_matrices=False)[2][0]
    directions = np.column_stack([leading, rng.standard_normal((F.shape[1], n_rounds))])
    order = np.argsort(F @ directions, axis=0, kind="stable")
    signs = np.ones((n, directions.shape[1]))
    np.put_along_axis(signs, order[: n // 2], -1.0, axis=0)
    agreement = np.sum(signs * (A @ signs), axis=0)  # the total weight less twice the cut, twice
    best = np.argsort(-agreement, kind="stable")[:_IMPROVED]
    improved = [_swap_vertices(A, signs[:, k]) for k in best]
    sides = max(improved, key=lambda s: float(s @ A @ s))
    return np.asarray(sides[0] * sides < 0, dtype=np.int64)  # the first vertex is on side 0


def _swap_vertices(A: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Swap pairs of vertices as long as the cut gets lighter."""
    s = sides.copy()
    least = 1e-12 * max(float(A.sum()), 1e-300)
    while True:
        across = -s * (A @ s)
        left, right = np.flatnonzero(s > 0), np.flatnonzero(s < 0)
        gain = across[left][:, None] + across[right][None, :] - 2 * A[np.ix_(left, right)]
        k = int(np.argmax(gain))
        if not gain.ravel()[k] > least:
            return s
        s[left[k // len(right)]], s[right[k % len(right)]] = -1.0, 1.0
