"""minimize -<K0, K> + C/2 sum_ij (d_ij - D_ij)^2 over PSD K, tr K^2 <= B, in rounds (Z11 6.2).

d_ij = K_ii + K_jj - 2 K_ij are the squared distances of neighbors and D_ij what they are to be. With the
eigenvectors v_i of the last K, K0 = sum_(i <= d) v_i v_i' - sum_(i > d) v_i v_i' = 2 V V' - I. The first d
eigenvalues less all others,

    f(K) = lambda_1 + ... + lambda_d - lambda_(d+1) - ... - lambda_n = 2 max_(V'V = I) <VV', K> - tr K,

are convex in K, and <K0, .> touches f from below at the last K. So -f(K) + C/2 sum_ij (d_ij - D_ij)^2, with
G/2 tr K^2 where G is given, never grows from one round to the next, by more than the gap that the round was
solved to: a share of what the last one gained, until that is as little as is asked for.

K is centered without being asked to: e is orthogonal to V, so K0 e = -e, and no distance changes that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.validation import check_count
from gramlearn._base.warnings import warn
from gramlearn.graphs.edges import Edges
from gramlearn.methods.nonparametric.capacity import CapacityAnswer, CapacitySearch, check_capacity
from gramlearn.problem.constraints import DenseMatrices, SquaredDistances
from gramlearn.problem.losses import Linear, Square
from gramlearn.problem.prior import Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius
from gramlearn.problem.solution import CertifiedAnswer, Record
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Attempt, Limits, Method, State, iterate

_FIRST = 1e-2  # the gap to which the first round is solved
_SHARE = 0.1  # of what the last round gained, and at the end of tol, to which rounds are solved
_ROUNDING = 1e-10  # a gap below this that a solve could not close is rounding
_NEAREST = 4  # times the gap that rounding left: what can be asked for


class Round(NamedTuple):
    """The result of a round: objective, share of the trace in the first d eigenvalues, and relative gap."""

    objective: float
    share: float
    relative_gap: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class VolumeAnswer(CertifiedAnswer):
    """The last kernel that improved the objective, K = F F', with all rounds.

    The problem is not convex, but each round is: the gap is that of the round that K is from. The status is
    LOCAL where the last round hardly improved.

    Attributes
    ----------
    factor : array n x r
    capacity, capacity_price : float
        tr K^2, and the price at which it is optimal.
    eigenvalues : vector
        Of K, in descending order.
    rounds : tuple of Round
    """

    factor: np.ndarray
    capacity: float
    capacity_price: float
    eigenvalues: np.ndarray
    rounds: tuple[Round, ...]

    def __repr__(self) -> str:
        return (
            f"VolumeAnswer({self.status.name}: objective {self.rounds[-1].objective:.6g}, share "
            f"{self.rounds[-1].share:.4f}, relative gap {self.relative_gap:.1e}, {len(self.rounds)} rounds, "
            f"{self.seconds:.3g} s)"
        )


def volume_problem(K0: np.ndarray, edges: Edges, C: float, G: float) -> Problem:
    """One round, divided by G."""
    isometry = Term(SquaredDistances(edges.i, edges.j), Square(C / G, equal=edges.squared))
    terms = [Term(DenseMatrices(K0[None]), Linear(-1 / G)), isometry]
    return Problem(Frobenius(), Zeros(len(K0)), terms)


def signs_of(V: np.ndarray) -> np.ndarray:
    """K0 = 2 V V' - I, for orthonormal columns of V."""
    return 2 * V @ V.T - np.eye(V.shape[0])


def minimum_volume(
    edges: Edges,
    K0: np.ndarray,
    d: int,
    *,
    C: float,
    capacity: float | None = None,
    capacity_price: float | None = None,
    tol: float = 1e-3,
    max_rounds: int = 100,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
    smallest: float = 1e-5,
    owner: str = "minimum_volume",
) -> VolumeAnswer:
    """Rounds, until one improves the objective by less than tol, relative to its size.

    Parameters
    ----------
    edges : Edges
        Pairs of neighbors, with the squared distances that they are to have.
    K0 : array n x n
        Of the first round: the identity less ee'/n for maximum variance unfolding, or `signs_of` eigenvectors
        of another kernel that are orthogonal to e.
    d : int
    C : float
    capacity, capacity_price, max_iter, callback, time_limit, smallest, owner :
        As in `solve_with_capacity`.
    tol : float
        The last round is solved to a tenth of it, and so is the one that is kept.
    max_rounds : int
    """
    check_capacity(capacity, capacity_price, owner)
    limits = Limits.read(tol, max_iter, time_limit, owner)
    check_count(max_rounds, "max_rounds")
    rounds = _Rounds(edges, K0, d, C, capacity, capacity_price, max_rounds, smallest)
    answer = iterate(rounds, limits, callback, len(edges.i) * len(K0) ** 2)
    if answer.status is not Status.LOCAL:
        is_last = len(answer.rounds) == max_rounds
        ended = "all rounds were over" if is_last else answer.status.value
        warn(
            f"the rounds of {owner} still improved by more than tol={tol:g} when they ended: {ended} ("
            f"max_rounds={max_rounds}, max_iter={max_iter}, time_limit={time_limit}); raise the limit, or tol.",
            ConvergenceWarning,
        )
    return answer


@final
@dataclass(frozen=True, eq=False)
class _RoundsState(State):
    """The attempt of the round at work, which begins with K0, and the rounds before it.

    Rounds are solved to `accuracy`, and the last to `enough`; `best` is the best of those before, of this
    `objective`.
    """

    ends_by_gap = False

    attempt: Attempt
    K0: np.ndarray
    enough: float
    accuracy: float
    rounds: tuple[Round, ...] = ()
    best: VolumeAnswer | None = None
    objective: float = float("inf")

    @property
    def details(self) -> Mapping[str, Any]:
        return {**self.attempt.details, "round": len(self.rounds)}


@final
@dataclass(frozen=True, eq=False)
class _Rounds(Method[_RoundsState, VolumeAnswer, VolumeAnswer]):
    """Each a convex problem at its capacity, whose K0 comes from the last."""

    edges: Edges
    K0: np.ndarray
    d: int
    C: float
    B: float | None
    G: float | None
    max_rounds: int
    smallest: float

    def begin(self, tol: float) -> _RoundsState:
        """The first round."""
        enough = _SHARE * tol
        accuracy = enough if self.max_rounds == 1 else max(enough, _FIRST)
        attempt = self._attempt(self.K0, accuracy, None)
        return self.step(_RoundsState(attempt, self.K0, enough, accuracy), tol)

    def step(self, state: _RoundsState, tol: float) -> _RoundsState:
        """One step of this round; where it ends, the next round."""
        attempt = state.attempt.step()
        state = replace(state, attempt=attempt, certificate=attempt.certificate, candidate=None)
        return state if attempt.status is None else self._end_round(state, tol)

    def settle(self, state: _RoundsState) -> _RoundsState:
        """A round that is not over is an answer where it is the first; later ones cannot be compared."""
        kernel = state.attempt.settle().best
        if state.best is not None or kernel is None:
            return state
        return replace(state, candidate=self._answer_of(kernel, state)[0])

    def is_better(self, new: VolumeAnswer, old: VolumeAnswer) -> bool:
        """Every candidate is better than those before it, by the choice in `_end_round`."""
        del new, old
        return True

    def _attempt(self, K0: np.ndarray, accuracy: float, near: CapacityAnswer | None) -> Attempt:
        def problem_at(G: float) -> Problem:
            return volume_problem(K0, self.edges, self.C, G)

        search = CapacitySearch(problem_at, 2.0, self.B, self.G, "auto", self.smallest, near)
        return Attempt(search, accuracy)

    def _end_round(self, state: _RoundsState, tol: float) -> _RoundsState:
        """Keep the round if it improved the objective; begin the next, unless it hardly did."""
        best, kernel = state.best, state.attempt.settle().best
        new, V = self._answer_of(kernel, state)
        size, gap = kernel.certificate.least, kernel.relative_gap
        improved = state.objective - new.rounds[-1].objective
        is_converged = improved <= tol * size and min(state.accuracy, gap) <= state.enough
        if best is None or improved > 0 or best.relative_gap > state.enough:
            best, state = new, replace(state, objective=new.rounds[-1].objective)
        # The answer has all rounds, also those that did not improve.
        best = replace(best, rounds=new.rounds)
        state = replace(state, rounds=new.rounds, best=best, candidate=best)
        if is_converged or len(new.rounds) == self.max_rounds:
            return replace(state, ending=Status.LOCAL if is_converged else Status.ITERATION_LIMIT)
        enough = state.enough
        if not kernel.is_solved and gap < _ROUNDING:
            enough = max(enough, _NEAREST * gap)  # no later round comes nearer either
        accuracy = max(enough, min(_SHARE * improved / size, state.accuracy))
        if len(new.rounds) + 1 == self.max_rounds:
            accuracy = enough
        K0 = signs_of(V)
        attempt = self._attempt(K0, accuracy, kernel)
        return replace(state, attempt=attempt, K0=K0, enough=enough, accuracy=accuracy)

    def _answer_of(
        self, kernel: CapacityAnswer, state: _RoundsState
    ) -> tuple[VolumeAnswer, np.ndarray]:
        """The answer of the round that began with K0, and the leading eigenvectors of its kernel."""
        U, s, _ = np.linalg.svd(kernel.factor[:, kernel.factor.any(axis=0)], full_matrices=False)
        n_positive, eigenvalues = int(np.sum(s > 1e-8 * s.max(initial=0.0))), s**2
        first, total = float(eigenvalues[: self.d].sum()), float(eigenvalues.sum())
        # What f has gained on its tangent since the round began.
        gain = 2 * first - total - float(np.sum(kernel.factor * (state.K0 @ kernel.factor)))
        priced = 0.0 if self.G is None else self.G / 2 * kernel.capacity
        share = first / total if total else 0.0
        last = Round(kernel.primal - gain + priced, share, kernel.relative_gap)
        answer = VolumeAnswer(
            kernel.factor,
            kernel.capacity,
            kernel.capacity_price,
            eigenvalues,
            (*state.rounds, last),
            certificate=kernel.certificate,
        )
        return answer, U[:, : min(self.d, n_positive)]
