"""X(c') ~ F exp(sum_k w_k log(F^-1 X(c_k) F^-T)) F', with F F' = X(c): a problem at many prices c.

Where losses are smooth, and X is not next to singular, the optimum is a smooth function of log c. From the last
few the next is extrapolated, by a polynomial in coordinates in which every symmetric matrix is a definite X.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gramlearn._base.arrays import Array, as_real, clipped, is_finite, namespace
from gramlearn._base.matrices import eigh, svd, transpose
from gramlearn._base.validation import as_numbers, check_positive
from gramlearn.problem.problem import Problem
from gramlearn.problem.solution import Solution
from gramlearn.problem.status import Status
from gramlearn.solvers.loop import Limits, warn_unless_solved
from gramlearn.solvers.solve import attempt, check_solver
from gramlearn.solvers.solver import Solver, Start, is_singular

_KNOWN = 4  # earlier prices from which the next X is extrapolated
_APART = 0.05  # the least difference of their logarithms: nearer ones say little of how X changes
_FARTHEST = 3.0  # the largest logarithm of a ratio between an X and the next


def solve_path(
    problem: Problem,
    prices: Sequence[float],
    solver: str | Solver[Any] = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
) -> Iterator[Solution]:
    """Solve a problem at each of these prices, each time from the answers so far.

    A solve begins at the X that is extrapolated from the last few answers, if they are not singular; where that
    is far from the optimum, it begins anew. With LogDet and losses that have a derivative, 20 prices take about
    five times as long as the hardest of them alone. With a Hinge, VonNeumann or Frobenius an answer is next to
    singular at large prices, and then a path takes as long as its prices one by one.

    Parameters
    ----------
    problem : Problem
    prices : sequence of positive numbers
        Each multiplies the weights of all losses, except Hard and Linear ones, as `problem.at_price(c)` does.
        Evenly spaced logarithms, such as np.geomspace(1e-3, 1e2, 20), can be extrapolated best.
    solver, tol, max_iter, time_limit
        As of `solve`, for each price.

    Yields
    ------
    Solution
        One after another, each with its own certificate; its problem has the losses at this price.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"`problem` must be a Problem; got {type(problem).__name__}.")
    given = [float(check_positive(c, "prices", "solve_path")) for c in _numbers(prices)]
    check_solver(solver, problem)
    Limits.read(tol, max_iter, time_limit, "solve_path")

    def solve_at(now: Problem, start: Start | None) -> Solution:
        found, limits = attempt(now, solver, tol, max_iter, None, start, time_limit)
        warn_unless_solved(found, limits)
        return found

    return follow_path(problem, given, solve_at)


def _numbers(prices: Any) -> list[Any]:
    """One number, or a flat sequence of them."""
    numbers = np.asarray(as_numbers(prices, "prices"))
    if numbers.ndim > 1:
        raise ValueError(
            f"`prices` must be a flat sequence of positive numbers; got an array of shape {numbers.shape}."
        )
    return list(prices) if isinstance(prices, list | tuple) else list(np.atleast_1d(numbers))


def follow_path(
    problem: Problem, prices: list[float], solve_at: Callable[[Problem, Start | None], Solution]
) -> Iterator[Solution]:
    """What `solve_at` finds at each price, from the start that the answers so far make likely."""
    # Logarithms of prices, and factors of X there, the nearest last.
    known: list[tuple[float, Array]] = []
    last: tuple[float, Solution] | None = None
    like = problem.space.spectrum
    for price in prices:
        start = None if last is None else _start_at(problem, price, *last, known)
        solution = solve_at(problem.at_price(price), start)
        yield solution
        last = price, solution
        # Solves that failed say nothing of the optimum.
        F = problem.space.lower(as_real(solution.factor, like))
        if solution.status is Status.OPTIMAL and not is_singular(F):
            here = float(np.log(price))
            others = [(there, G) for there, G in known if abs(there - here) >= _APART]
            known = [*others[1 - _KNOWN :], (here, F)]
        else:
            known = []


def _start_at(
    problem: Problem, price: float, before: float, last: Solution, known: list[tuple[float, Array]]
) -> Start:
    """Where to begin at a price, from the last answer, at the price before, and the X that are known."""
    if price == before:
        return Start(last.duals, last.factor, is_answer=True)
    # A dual at the end of its box is proportional to the price.
    ratios = [price / before if has_price else 1.0 for has_price in problem.has_price]
    duals = [ratio * lam for ratio, lam in zip(ratios, last.duals, strict=True)]
    factor = extrapolated(known, float(np.log(price))) if known else None
    return Start(duals, None if factor is None else problem.space.lift(factor))


def extrapolated(known: list[tuple[float, Array]], at: float) -> Array:
    """Give a factor of X(at) from known pairs (parameter, factor), the nearest last."""
    _, F = known[-1]
    xp = namespace(F)
    log = xp.zeros_like(F)
    for k, (there, G) in enumerate(known[:-1]):
        others = [x for j, (x, _) in enumerate(known) if j != k]
        weight = np.prod([(at - x) / (there - x) for x in others])
        U, s, _ = svd(xp.linalg.solve(F, G))
        log = log + float(weight) * ((U * (2 * xp.log(s))) @ transpose(U))
    if not is_finite(log):
        return F
    values, U = eigh(log)
    values = clipped(values, low=-_FARTHEST, high=_FARTHEST)
    return F @ (U * xp.exp(values / 2))
