"""solve(problem): one entry for every regularizer, loss and constraint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gramlearn._arrays import Array, overflow_is_infinity
from gramlearn._validation import check_choice, check_count, check_positive
from gramlearn.problem import Problem
from gramlearn.solution import Record, Solution
from gramlearn.solvers import (
    InteriorPoint,
    Limits,
    PrimalNewton,
    Projections,
    QuasiNewton,
    Solver,
    WorkingSet,
    run,
    warn_unless_solved,
)
from gramlearn.solvers._threads import one_thread
from gramlearn.status import Status

__all__ = ["attempt", "solve"]

# Up to this rank the Newton systems of interior points are solved by elimination, fast enough.
_FEW_ENTRIES = 30
# Up to so many multiplications a pass, a second thread has nothing to gain.
_SMALL = 50_000_000

SOLVERS: Mapping[str, Solver[Any] | None] = {
    "auto": None,
    "primal_newton": PrimalNewton(),
    "interior_point": InteriorPoint(),
    "working_set": WorkingSet(),
    "projections": Projections(),
    "quasi_newton": QuasiNewton(),
}


def solve(
    problem: Problem,
    solver: str | Solver[Any] = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    start: Solution | Sequence[Array] | None = None,
    time_limit: float | None = None,
) -> Solution:
    """minimise over PSD X    D_phi(X, X0) + sum_k loss_k(offset_k + <A_k, X>), with a certificate.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "primal_newton", "interior_point", "working_set", "projections", "quasi_newton"} or Solver
        "auto" decides so:

        1. LogDet, and losses with a derivative (LogDetSlack, KLSlack, SquaredHinge, Square): "primal_newton",
           Newton on X itself.
        2. some Hinge beside such losses, with rank at most 30 and more constraints than X has entries:
           "interior_point", steps along a path on which no price is at a kink.
        3. every other problem: "working_set", Newton on the dual of the constraints that matter. It proves
           that Hard constraints contradict each other where they do.

        Where the first two come to nothing, the third goes on. All cost a look at all constraints now and
        then, and matrix products of the size of what is active. "projections" is never chosen: these are the
        Bregman projections of K09, for LogDet and VonNeumann, in random order; `Projections(order="cyclic")`
        is the published one. The first call compiles, once. Nor is "quasi_newton": it is for kernels over so
        many points that X does not fit into memory.
    tol : float
        The relative gap, and the relative violation of hard constraints, at which to stop.
    max_iter : int, optional
        The largest number of iterations (default: the solver's own limit).
    callback : function of a Record, optional
        Called after every iteration; the solve stops when it returns True.
    start : Solution or sequence of arrays, optional
        The duals to start from, one vector a term, as in `Solution.duals`. They are copied.
    time_limit : float, optional
        Seconds after which to stop, at the end of an iteration.

    Returns
    -------
    Solution
        A ConvergenceWarning is given where the tolerance was not reached. Infeasible is an answer:
        status INFEASIBLE, and `conflict` names the constraints.

    Raises
    ------
    SolveInterrupted
        On Ctrl-C, with the best answer so far as its attribute `solution`.
    """
    solution, limits = attempt(problem, solver, tol, max_iter, callback, start, time_limit)
    warn_unless_solved(solution, limits)
    return solution


def attempt(
    problem: Problem,
    solver: str | Solver[Any],
    tol: float,
    max_iter: int | None,
    callback: Callable[[Record], object] | None = None,
    start: Solution | Sequence[Array] | None = None,
    time_limit: float | None = None,
) -> tuple[Solution, Limits]:
    """What `solve` does, without its warning; the limits are those that were kept."""
    if not isinstance(problem, Problem):
        raise TypeError(f"`problem` must be a Problem; got {type(problem).__name__}.")
    chosen = _chosen(solver, problem)
    limits = Limits(
        check_positive(tol, "tol", "solve"),
        chosen.default_max_iter if max_iter is None else check_count(max_iter, "max_iter", least=0),
        float("inf") if time_limit is None else check_positive(time_limit, "time_limit", "solve"),
    )
    started = problem.free_duals(start_of(start))
    with one_thread(when=_products(problem) <= _SMALL), overflow_is_infinity():
        solution = run(problem, chosen, limits, callback, started)
        if solver == "auto" and max_iter is None and _gave_up(solution, chosen):
            # The iterations of the one say nothing of those of the other; the time is one.
            left = limits.time_limit - solution.seconds
            later = replace(limits, max_iter=WorkingSet.default_max_iter, time_limit=left)
            other = run(problem, WorkingSet(), later, callback, started)
            if other.status.is_answer or other.certificate.badness < solution.certificate.badness:
                solution = other
                limits = replace(later, time_limit=limits.time_limit)
    return solution, limits


def _gave_up(solution: Solution, solver: Solver[Any]) -> bool:
    """Whether this solver found no answer where the one for every problem may."""
    found_none = solution.status in (Status.STALLED, Status.ITERATION_LIMIT)
    return found_none and type(solver) is not WorkingSet


def _products(problem: Problem) -> int:
    """The multiplications of one pass: a matrix product of size c x r by r x r."""
    return problem.dual.size * problem.space.dimension**2


def start_of(start: Solution | Sequence[Array] | None) -> Sequence[Array] | None:
    """Read the duals out of an earlier answer."""
    return start.duals if isinstance(start, Solution) else start


def _chosen(solver: str | Solver[Any], problem: Problem) -> Solver[Any]:
    named = solver if isinstance(solver, Solver) else check_choice(solver, "solver", SOLVERS)
    if named is None:
        rank, size = problem.space.dimension, problem.dual.size
        candidates: list[Solver[Any]] = [PrimalNewton()]
        if rank <= _FEW_ENTRIES and size > rank * (rank + 1) // 2:
            candidates.append(InteriorPoint())
        suitable = (known for known in candidates if known.objection(problem) is None)
        return next(suitable, WorkingSet())
    objection = named.objection(problem)
    if objection:
        raise ValueError(
            f"`solver={solver!r}` does not do for this problem: {objection}. "
            'Leave the choice to solver="auto".'
        )
    return named
