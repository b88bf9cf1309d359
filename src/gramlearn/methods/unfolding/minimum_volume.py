"""-<K0, K> + C/2 sum_ij (d_ij - D_ij)^2 -> min over PSD K, tr K^2 <= B, again and again (Z11 6.2).

d_ij = K_ii + K_jj - 2 K_ij are the squared distances of neighbors and D_ij what they are to be. With the
eigenvectors v_i of the last K, K0 = sum_(i <= d) v_i v_i' - sum_(i > d) v_i v_i' = 2 V V' - I. The first d
eigenvalues less all others,

    f(K) = lambda_1 + ... + lambda_d - lambda_(d+1) - ... - lambda_n = 2 max_(V'V = I) <VV', K> - tr K,

are convex in K, and <K0, .> touches f from below at the last K. So -f(K) + C/2 sum_ij (d_ij - D_ij)^2, with
G/2 tr K^2 where G is given, never grows from one round to the next, by more than the gap that the round was
solved to: a share of what the last one gained, until that is as little as is asked for.

K is centered without being asked to: e is orthogonal to V, so K0 e = -e, and no distance changes that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from gramlearn.methods.nonparametric.capacity import CapacityAnswer, solve_with_capacity
from gramlearn.problem.constraints import DenseMatrices, SquaredDistances
from gramlearn.problem.losses import Linear, Square
from gramlearn.problem.prior import Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius
from gramlearn.problem.solution import Record
from gramlearn.problem.status import SolveInterrupted

__all__ = ["Distances", "Round", "VolumeAnswer", "minimum_volume", "signs_of", "volume_problem"]

_FIRST = 1e-2  # the gap to which the first round is solved
_SHARE = 0.1  # of what the last round gained, and at the end of tol, to which rounds are solved
_ROUNDING = 1e-10  # a gap below it that a solve could not close is one of rounding
_NEAREST = 4  # times the gap that rounding left is a gap that can be asked for


class Distances(NamedTuple):
    """Pairs (i, j) of n points, once each, with the squared distances that they are to have."""

    n: int
    i: np.ndarray
    j: np.ndarray
    squared: np.ndarray


class Round(NamedTuple):
    """What a round came to: the objective, the share of the trace in the first d eigenvalues, and its gap."""

    objective: float
    share: float
    relative_gap: float


@final
@dataclass(frozen=True, eq=False)
class VolumeAnswer:
    """The last kernel that improved the objective, with all rounds, and whether they came to their end.

    `V` are the first d eigenvectors of the kernel, or as many as it has, and `eigenvalues` all of them.
    """

    kernel: CapacityAnswer
    V: np.ndarray
    eigenvalues: np.ndarray
    rounds: tuple[Round, ...]
    is_converged: bool

    @property
    def relative_gap(self) -> float:
        """Of the round that it is from."""
        return self.kernel.relative_gap


def volume_problem(K0: np.ndarray, distances: Distances, C: float, G: float) -> Problem:
    """One round, divided by G."""
    isometry = SquaredDistances(distances.i, distances.j)
    return Problem(
        Frobenius(),
        Zeros(distances.n),
        [
            Term(DenseMatrices(K0[None]), Linear(-1 / G)),
            Term(isometry, Square(C / G, equal=distances.squared)),
        ],
    )


def signs_of(V: np.ndarray) -> np.ndarray:
    """K0 = 2 V V' - I, for orthonormal columns of V."""
    return 2 * V @ V.T - np.eye(V.shape[0])


def minimum_volume(
    distances: Distances,
    K0: np.ndarray,
    d: int,
    *,
    C: float,
    B: float | None = None,
    G: float | None = None,
    tol: float = 1e-3,
    max_rounds: int = 100,
    smallest: float = 1e-5,
    callback: Callable[[Record], object] | None = None,
    owner: str = "minimum_volume",
) -> VolumeAnswer:
    """Rounds, until one improves the objective by less than tol, relative to its size.

    Parameters
    ----------
    distances : Distances
    K0 : array n x n
        Of the first round: the identity less ee'/n for maximum variance unfolding, or `signs_of` eigenvectors
        of another kernel that are orthogonal to e.
    d : int
    C : float
    B, G, smallest, callback, owner :
        As in `solve_with_capacity`.
    tol : float
        The last round is solved to a tenth of it, and so is the one that is kept.
    max_rounds : int
    """
    best: VolumeAnswer | None = None
    near: CapacityAnswer | None = None
    rounds: list[Round] = []
    enough = _SHARE * tol
    accuracy = max(enough, _FIRST)
    for left in reversed(range(max_rounds)):
        if not left:
            accuracy = enough

        def problem_at(G: float, K0: np.ndarray = K0) -> Problem:
            return volume_problem(K0, distances, C, G)

        try:
            near = solve_with_capacity(
                problem_at,
                2.0,
                B=B,
                G=G,
                tol=accuracy,
                callback=callback,
                solver="auto",
                smallest=smallest,
                near=near,
                owner=owner,
            )
        except SolveInterrupted as stop:
            if (
                best is None
            ):  # a round that is not over is an answer, too, if not to compare with others
                V, eigenvalues, last = _judged(stop.solution, K0, d, G)
                best = VolumeAnswer(stop.solution, V, eigenvalues, (last,), False)
            raise SolveInterrupted(best) from None
        except KeyboardInterrupt:
            if best is None:
                raise
            raise SolveInterrupted(best) from None
        V, eigenvalues, last = _judged(near, K0, d, G)
        rounds.append(last)
        improved = np.inf if best is None else best.rounds[-1].objective - last.objective
        is_converged = improved <= tol * near.size and min(accuracy, near.relative_gap) <= enough
        if best is None or improved > 0 or best.kernel.relative_gap > enough:
            best = VolumeAnswer(near, V, eigenvalues, tuple(rounds), is_converged)
        if is_converged:
            break
        K0 = signs_of(V)
        if (
            not near.is_solved and near.relative_gap < _ROUNDING
        ):  # no round comes nearer, and none is asked to
            enough = max(enough, _NEAREST * near.relative_gap)
        accuracy = max(enough, min(_SHARE * improved / near.size, accuracy))
    assert best is not None
    return VolumeAnswer(best.kernel, best.V, best.eigenvalues, tuple(rounds), is_converged)


def _judged(
    kernel: CapacityAnswer, K0: np.ndarray, d: int, G: float | None
) -> tuple[np.ndarray, np.ndarray, Round]:
    """The leading eigenvectors, all eigenvalues, and what came of the round that began with K0."""
    V, eigenvalues = _spectrum(kernel.factor, d)
    first, total = float(eigenvalues[:d].sum()), float(eigenvalues.sum())
    # What f has gained on its tangent since the round began.
    gain = 2 * first - total - float(np.sum(kernel.factor * (K0 @ kernel.factor)))
    priced = 0.0 if G is None else G / 2 * kernel.capacity
    objective = kernel.value - gain + priced
    return V, eigenvalues, Round(objective, first / total if total else 0.0, kernel.relative_gap)


def _spectrum(F: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The first d eigenvectors of F F', those of positive eigenvalues, and all eigenvalues but zeros."""
    F = F[:, F.any(axis=0)]
    U, s, _ = np.linalg.svd(F, full_matrices=False)
    positive = int(np.sum(s > 1e-8 * s.max(initial=0.0)))
    return U[:, : min(d, positive)], s**2
