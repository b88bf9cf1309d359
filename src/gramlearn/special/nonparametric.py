"""<L, K> + C sum_ij loss(T_ij K_ij) + (G/p) tr K^p -> min over PSD K: a kernel of given points alone (Z11 4).

T_ij is 1 for points that belong together and -1 for points that do not; L is the Laplacian of a graph. Divided
by G this is a `Problem` with a prior of zeros. The capacity may be bounded instead, tr K^p <= B. Both have the
same solutions: that of G is the one of B = tr K^p, and since a multiplier of the bound is G/p

    f(K) - min_{tr K^p <= B} f <= G (primal - dual) + (G/p) (B - tr K^p),      f = <L, K> + C sum loss

whatever G is, which tells how well a G serves for a B. tr K^p falls as G grows, so G is found by a search on a
line. With the linear loss, K = (A+ / G)^(1 / (p - 1)) for A = C T - L (Propositions 1 and 2): the second G is
the last.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._validation import check_choice, check_positive
from gramlearn._warnings import warn
from gramlearn.constraints import Similarities, SparseMatrices
from gramlearn.losses import Hinge, Linear, Loss, Square, SquaredHinge
from gramlearn.problem import Problem, Term
from gramlearn.regularizers import Frobenius, Schatten
from gramlearn.side_information import Pairs
from gramlearn.solution import Record, Solution
from gramlearn.solve import solve
from gramlearn.space import Zeros

__all__ = ["NonparametricAnswer", "nonparametric_problem", "solve_nonparametric"]

_LOSSES: Mapping[str, Callable[[float, float], Loss]] = {
    "linear": lambda price, sign: Linear(-sign * price),
    "hinge": lambda price, sign: Hinge(price, **_beyond(sign)),
    "squared_hinge": lambda price, sign: SquaredHinge(price, **_beyond(sign)),
    "square": lambda price, sign: Square(price, equal=sign),
}
_SEARCHES = 60
_SMALLEST = 1e-5  # of C: a G below this hardly prices capacity


def _beyond(sign: float) -> dict[str, float]:
    return {"lower": 1.0} if sign > 0 else {"upper": -1.0}


@final
@dataclass(frozen=True, eq=False)
class NonparametricAnswer:
    """K = F F' with f(K) within `gap` of the least f of its capacity.

    Attributes
    ----------
    factor : array n x r
    G, capacity : float
        The G at which K is optimal, and tr K^p.
    value, gap : float
        f(K), and a bound on what another K of no larger capacity, or of the B asked for, would gain.
    solution : Solution
        Of the problem divided by G.
    """

    factor: np.ndarray
    G: float
    capacity: float
    value: float
    gap: float
    solution: Solution

    @property
    def relative_gap(self) -> float:
        """The gap against the larger of |f(K)| and |f(K) + (G/p) tr K^p|."""
        size = max(abs(self.value), self.G * abs(self.solution.primal))
        return self.gap / size if size else float("inf") if self.gap else 0.0


def nonparametric_problem(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    p: float = 2.0,
    G: float = 1.0,
) -> Problem:
    """The problem divided by G, with loss(t) = -t, max(0, 1 - t), its square / 2, or (1 - t)^2 / 2."""
    kind = check_choice(loss, "loss", _LOSSES)
    price = check_positive(C, "C", "nonparametric_problem") / check_positive(
        G, "G", "nonparametric_problem"
    )
    n = int(laplacian.shape[0])
    pairs.check_fits(n)
    terms = [Term(SparseMatrices([laplacian]), Linear(1.0 / G))]
    for table, sign in ((pairs.similar, 1.0), (pairs.dissimilar, -1.0)):
        if table is not None and len(table):
            rows = np.asarray(table)
            terms.append(Term(Similarities(rows[:, 0], rows[:, 1]), kind(price, sign)))
    return Problem(Frobenius() if p == 2 else Schatten(p), Zeros(n), terms)


def solve_nonparametric(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    p: float = 2.0,
    B: float | None = None,
    G: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
) -> NonparametricAnswer:
    """Learn K for a G, or for a capacity B: tr K^p <= B. Without either, G = 1."""
    if B is not None and G is not None:
        raise ValueError("pass `B` or `G`, not both: each B belongs to one G.")

    def at(G: float, near: NonparametricAnswer | None) -> NonparametricAnswer:
        problem = nonparametric_problem(laplacian, pairs, loss=loss, C=C, p=p, G=G)
        # Prices are divided by G, too.
        start = None if near is None else [lam * (near.G / G) for lam in near.solution.duals]
        # With a capacity, half of the gap may come from its being missed.
        solution = solve(problem, "quasi_newton", tol / 2, max_iter, callback, start)
        F = np.asarray(solution.factor)
        capacity = float(np.sum(np.clip(np.linalg.eigvalsh(F.T @ F), 0.0, None) ** p))
        value = G * (solution.primal - capacity / p)
        return NonparametricAnswer(F, G, capacity, value, G * solution.gap, solution)

    if B is None:
        return at(1.0 if G is None else check_positive(G, "G", "solve_nonparametric"), None)
    return _of_capacity(at, check_positive(B, "B", "solve_nonparametric"), p, tol, _SMALLEST * C)


def _of_capacity(
    at: Callable[[float, NonparametricAnswer | None], NonparametricAnswer],
    B: float,
    p: float,
    tol: float,
    smallest: float,
) -> NonparametricAnswer:
    """Find a G whose answer has a capacity of B, or so little less that the gap stays within tol."""
    answer, low, high = at(1.0, None), None, None
    for turn in range(_SEARCHES):
        spare = answer.G / p * (B - answer.capacity)
        if answer.capacity == 0 or smallest > answer.G:
            break  # nothing to bound: no K, or one whose capacity stays below B without a price
        if 0 <= spare <= tol * abs(answer.value) / 2:
            break
        low, high = (answer, high) if answer.capacity > B else (low, answer)
        share = min(max(tol * abs(answer.value) * p / (answer.G * B), 1e-9), 0.5)
        answer = at(_next(low, high, B * (1 - share / 4), p, turn), answer)
    if answer.capacity > B and high is not None:
        answer = high  # the search ended on the wrong side: the best that is within B
    spare = answer.G / p * (B - answer.capacity)
    answer = replace(answer, gap=answer.gap + spare if spare >= 0 else float("inf"))
    if answer.capacity > 0 and answer.relative_gap > tol:
        warn(
            f"no G gives tr K^p = B={B:g} to tol={tol:g}: the best has {answer.capacity:.6g} and a relative "
            f"gap of {answer.relative_gap:.1e}. A smaller B, or a G, asks for less.",
            ConvergenceWarning,
        )
    return answer


def _next(
    low: NonparametricAnswer | None,
    high: NonparametricAnswer | None,
    B: float,
    p: float,
    turn: int,
) -> float:
    """Where log tr K^p over log G meets log B: on a straight line between two, or farther out from one."""
    if low is None or high is None:
        end = low or high
        assert end is not None
        # tr K^p goes as G^(-p / (p - 1)) with the linear loss, and less steeply with others: longer strides.
        return float(end.G * (end.capacity / B) ** ((p - 1) / p * 2**turn))
    a, b = np.log(low.G), np.log(high.G)
    above, below = np.log(low.capacity / B), np.log(B / high.capacity)
    # Every third time the middle: the line alone may creep in from one side.
    share = np.clip(above / (above + below), 0.01, 0.99) if turn % 3 else 0.5
    at = a + (b - a) * share
    return float(np.exp(at))
