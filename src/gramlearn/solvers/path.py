"""X(c') ~ F exp(sum_k w_k log(F^-1 X(c_k) F^-T)) F', with F F' = X(c): a problem at many prices c.

Where losses are smooth, and X is not next to singular, the optimum is a smooth function of log c. From the last
few the next is foreseen, by a polynomial in coordinates in which every symmetric matrix is a definite X.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramlearn._base.arrays import Array, clipped, eigh, is_finite, namespace, read, svd, transpose
from gramlearn._base.validation import check_positive
from gramlearn.problem.problem import Problem
from gramlearn.problem.solution import Solution
from gramlearn.solvers.loop import warn_unless_solved
from gramlearn.solvers.solve import attempt
from gramlearn.solvers.solver import Solver

_KNOWN = 4  # earlier prices from which the next X is foreseen
_SINGULAR = 1e-10  # the least ratio of eigenvalues of an X from which others are foreseen
_FARTHEST = 3.0  # the largest logarithm of a ratio between an X and the next


def solve_path(
    problem: Problem,
    prices: Sequence[float],
    solver: str | Solver[Any] = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
) -> Iterator[Solution]:
    """Solve a problem at each of these prices, beginning at the X that the last answers foretell.

    Parameters
    ----------
    problem : Problem
    prices : sequence of positive numbers
        Each multiplies the weights of all losses, except Hard and Linear. In rising or falling order; evenly
        spaced logarithms, such as np.geomspace(1e-3, 1e2, 20), can be foreseen best.
    solver, tol, max_iter, time_limit
        As of `solve`, for each price.

    Yields
    ------
    Solution
        One after another, each with its own certificate; its problem has the losses at this price.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"`problem` must be a Problem; got {type(problem).__name__}.")
    given = [check_positive(price, "prices", "solve_path") for price in np.atleast_1d(prices)]

    def solve_at(now: Problem, start: list[Array] | None, factor: Array | None) -> Solution:
        found, limits = attempt(now, solver, tol, max_iter, None, start, time_limit, factor)
        warn_unless_solved(found, limits)
        return found

    return _solutions(problem, given, solve_at)


def at_price(problem: Problem, price: float) -> Problem:
    """The problem with so many times the weight on its losses."""
    terms = [
        term
        if term.loss.is_hard or term.loss.is_fixed
        else replace(term, loss=replace(term.loss, weight=term.loss.weight * price))
        for term in problem.terms
    ]
    return replace(problem, terms=terms)


def _solutions(
    problem: Problem, prices: list[float], solve_at: Callable[..., Solution]
) -> Iterator[Solution]:
    found: list[tuple[float, Solution]] = []
    for price in prices:
        start, factor = None, None
        if found:
            before, last = found[-1]
            # A dual at the end of its box is proportional to the price.
            start = [lam * (price / before) for lam in last.duals]
            factor = foreseen(
                [(np.log(c), problem.space.lower(s.factor)) for c, s in found], float(np.log(price))
            )
        solution = solve_at(at_price(problem, price), start, factor)
        yield solution
        # The same price twice says nothing of how X changes.
        others = [(c, s) for c, s in found if c != price]
        found = [*others[1 - _KNOWN :], (price, solution)]


def foreseen(known: list[tuple[float, Array]], at: float) -> Array | None:
    """Give a factor of X(at) from known pairs (parameter, factor), the nearest last.

    Singular ones are left out; None where the last one is singular.
    """
    if _is_singular(known[-1][1]):
        return None
    known = [(there, G) for there, G in known if not _is_singular(G)]
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


def _is_singular(F: Array) -> bool:
    """Whether X = F F' is next to singular."""
    if F.shape[0] != F.shape[1]:
        return True
    _, s, _ = svd(F)
    return not read(s[-1]) ** 2 > _SINGULAR * read(s[0]) ** 2
