"""solve(problem): one entry for every regularizer, loss and constraint."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gramlearn._base.arrays import Array, concat, without_overflow_warnings
from gramlearn._base.threads import one_thread
from gramlearn._base.validation import check_choice, check_count, check_no_class, check_positive
from gramlearn.problem.losses import Linear
from gramlearn.problem.problem import Problem
from gramlearn.problem.refutation import Refutation
from gramlearn.problem.solution import Record, Solution
from gramlearn.problem.status import SolveInterrupted, Status
from gramlearn.solvers import (
    InteriorPoint,
    Limits,
    PrimalNewton,
    Projections,
    QuasiNewton,
    Solver,
    Solving,
    WorkingSet,
    iterate,
    warn_unless_solved,
)

__all__ = ["attempt", "solve"]

# Up to this rank the Newton systems of interior points are solved by elimination, fast enough.
_FEW_ENTRIES = 30
INF = float("inf")
_FIRST_ITERATIONS = 60
_NOTHING_IN_SINGLE = 3e-4  # a gap or violation above which double precision goes on
_SINGLE_ROUNDINGS = 2e-6  # 16 of them
_ROUNDING = 1e-9  # a relative gap at which no step is found any more, as there is none
# Up to so many multiplications a pass, a second thread has nothing to gain.
_SMALL = 50_000_000


class _Stage(NamedTuple):
    """A solver to try, with its limit of iterations."""

    problem: Problem
    solver: Solver[Any]
    max_iter: int


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

        Where one comes to nothing, others go on: "interior_point", for a rank of at most 30 and whatever the
        losses, and "working_set". All cost a look at all constraints now and then, and matrix products of the
        size of what is active. Where single precision comes to nothing, a gap or violation above 3e-4, double
        precision goes on, and the answer is in it. "projections" is never chosen: these are the
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
    if not (callback is None or callable(check_no_class(callback, "callback"))):
        raise TypeError(
            f"`callback` must be a function of a Record, or None; got {type(callback).__name__}."
        )
    stages = _stages(solver, problem, max_iter)
    tol = check_positive(tol, "tol", "solve", any_size=True)
    seconds = INF if time_limit is None else check_positive(time_limit, "time_limit", "solve")
    duals = start_of(start)
    problem.free_duals(duals)  # refused here, not inside
    may_go_on = solver == "auto" and max_iter is None and problem.dtype == "float32"
    every = _then_in_double(stages) if may_go_on else iter(stages)
    with one_thread(when=_products(problem) <= _SMALL):
        return without_overflow_warnings(_tried, every, tol, seconds, callback, duals)


def _tried(
    stages: Iterator[_Stage],
    tol: float,
    seconds: float,
    callback: Callable[[Record], object] | None,
    duals: Sequence[Array] | None,
) -> tuple[Solution, Limits]:
    """Try one solver after another, until there is an answer or the time is over."""
    best, asked = None, None
    for problem, chosen, iterations in stages:
        asked = asked or problem.dtype
        if best and problem.dtype != asked and best.certificate.badness <= _NOTHING_IN_SINGLE:
            break
        limits = Limits(tol, iterations, seconds - (best.seconds if best else 0.0))
        try:
            solving = Solving(problem, chosen, problem.free_duals(duals))
            solution = iterate(solving, limits, callback)
            if solution.status is Status.UNBOUNDED:
                solution = _contradiction_or(solution, tol, seconds - solution.seconds, callback)
        except SolveInterrupted as stop:
            raise SolveInterrupted(_joined(best, stop.solution)) from None
        except (MemoryError, RuntimeError):
            if best is None or problem.dtype == asked:
                raise
            break  # there is no room for double precision
        if problem.dtype != asked and _is_contradiction_of_roundings(solution):
            break
        best = _joined(best, solution)
        if not _may_be_better(solution) or best.seconds >= seconds:
            break
    assert best is not None
    return best, replace(limits, time_limit=seconds)


def _contradiction_or(
    unbounded: Solution, tol: float, seconds: float, callback: Callable[[Record], object] | None
) -> Solution:
    """INFEASIBLE, where no X satisfies the constraints, whatever linear terms reward; else what there is."""
    problem = unbounded.problem
    if not any(part.loss.has_domain for part in problem.dual.parts):
        return unbounded
    nothing = Linear(0.0)
    terms = [replace(t, loss=nothing) if t.loss.is_fixed else t for t in problem.terms]
    stages = iter(_stages("auto", replace(problem, terms=terms), None))
    found, _ = _tried(stages, tol, seconds, callback, None)
    took = unbounded.seconds + found.seconds
    if found.status is not Status.INFEASIBLE:
        return replace(unbounded, seconds=took)
    proof = problem.duals(problem.free_duals(found.duals) or [])
    return replace(found, problem=problem, duals=proof, seconds=took)


def _may_be_better(solution: Solution) -> bool:
    """Whether another solver may find more: not where there is an answer, nor where rounding alone is left."""
    if solution.status is Status.STALLED:
        return solution.certificate.badness > _ROUNDING
    if solution.status in (Status.OVERFLOW, Status.UNBOUNDED):
        return solution.problem.dtype == "float32"
    return solution.status is Status.ITERATION_LIMIT


def _is_contradiction_of_roundings(solution: Solution) -> bool:
    """Whether bounds contradict each other by no more than they were rounded by, if in single precision."""
    problem, free = solution.problem, solution.problem.free_duals(solution.duals)
    if solution.status is not Status.INFEASIBLE or not free:
        return False
    v = concat(free, problem.dual.like)
    room, terms = Refutation(problem.dual, v, problem.dual.like).room
    return -room <= _SINGLE_ROUNDINGS * terms


def _joined(earlier: Solution | None, later: Solution) -> Solution:
    """The better of two, which ended as the later one did and took the time of both."""
    if earlier is None:
        return later
    is_better = later.certificate.badness < earlier.certificate.badness
    best = later if later.status.is_answer or is_better else earlier
    return replace(best, status=later.status, seconds=earlier.seconds + later.seconds)


def _stages(solver: str | Solver[Any], problem: Problem, max_iter: int | None) -> list[_Stage]:
    """The solvers to try, one after another until there is an answer, each with its limit of iterations.

    The iterations of the one say nothing of those of the other, so whoever limits them gets one solver.
    """
    chosen = _chosen(solver, problem)
    if max_iter is not None:
        return [_Stage(problem, chosen, check_count(max_iter, "max_iter", least=0))]
    if solver != "auto":
        return [_Stage(problem, chosen, chosen.default_max_iter)]
    last = WorkingSet()
    if problem.space.dimension > _FEW_ENTRIES or not problem.dual.size:
        candidates = dict.fromkeys([chosen, last])
        return [_Stage(problem, known, known.default_max_iter) for known in candidates]
    # Newton on a few constraints is quickest where it arrives; where it has not, it creeps.
    inside = InteriorPoint()
    first = [_Stage(problem, chosen, _FIRST_ITERATIONS)] if chosen != inside else []
    rest = [_Stage(problem, known, known.default_max_iter) for known in (inside, last)]
    return [*first, *rest]


def _then_in_double(stages: list[_Stage]) -> Iterator[_Stage]:
    """The same once more where single precision has come to nothing, in place of its last resort."""
    first, last = (stages[:-1], stages[-1:]) if len(stages) > 1 else (stages, [])
    yield from first
    try:
        wide = replace(stages[0].problem, dtype="float64")
    except (ValueError, TypeError, MemoryError, RuntimeError):
        # The prior is semidefinite up to single precision only, or the device has no double precision.
        yield from last
    else:
        yield from _stages("auto", wide, None)


def _products(problem: Problem) -> int:
    """The multiplications of one pass: a matrix product of size c x r by r x r."""
    return problem.dual.size * problem.space.dimension**2


def _is_kinked(problem: Problem) -> bool:
    """Whether some loss has a kink, none is infinite, and more may sit on theirs than X has entries."""
    rank, parts = problem.space.dimension, problem.dual.parts
    many = rank <= _FEW_ENTRIES and problem.dual.size > rank * (rank + 1) // 2
    finite = not any(part.loss.has_domain for part in parts)
    return many and finite and not all(part.loss.is_smooth for part in parts)


def start_of(start: Solution | Sequence[Array] | None) -> Sequence[Array] | None:
    """Read the duals out of an earlier answer."""
    return start.duals if isinstance(start, Solution) else start


def _chosen(solver: str | Solver[Any], problem: Problem) -> Solver[Any]:
    named = solver if isinstance(solver, Solver) else check_choice(solver, "solver", SOLVERS)
    if named is None:
        candidates: list[Solver[Any]] = [PrimalNewton()]
        suitable = (known for known in candidates if known.objection(problem) is None)
        default = InteriorPoint() if _is_kinked(problem) else WorkingSet()
        return next(suitable, default)
    objection = named.objection(problem)
    if objection:
        raise ValueError(
            f"`solver={solver!r}` cannot solve this problem: {objection}. "
            'Leave the choice to solver="auto".'
        )
    return named
