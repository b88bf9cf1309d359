"""solve(problem): one entry for every regularizer, loss and constraint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gramlearn._base.arrays import Array, namespace
from gramlearn._base.validation import check_choice, check_count
from gramlearn.problem.problem import Problem
from gramlearn.problem.solution import Record, Solution
from gramlearn.solvers import (
    InteriorPoint,
    PrimalNewton,
    Projections,
    QuasiNewton,
    Solver,
    WorkingSet,
)
from gramlearn.solvers.fallback import Fallback, Stage
from gramlearn.solvers.loop import Limits, iterate, warn_unless_solved
from gramlearn.solvers.solver import Start

# Up to this rank the Newton systems of interior points are small enough to factorize.
_FEW_ENTRIES = 30
INF = float("inf")
_FIRST_ITERATIONS = 60  # of Newton on the dual, before interior points are tried
_FIRST_ON_X = 150  # the same of Newton on X, whose steps are cheaper
# Up to so many multiplications for the system of interior points, one of their steps costs as much as two or
# three on X. Then they are tried sooner: after about as many steps on X as most problems need, if they end.
_CHEAP_SYSTEM = 2e7
_FIRST_SMOOTH = 20
_FIRST_KINKED = 40
# From so many rows of X on, and so many equations a row, quasi-Newton is tried first, for so many iterations.
_MANY_ROWS, _MANY_EQUATIONS, _FIRST_QUASI = 100, 10, 100


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
    """minimize over PSD X    D_phi(X, X0) + sum_k loss_k(offset_k + <A_k, X>), with a certificate.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "primal_newton", "interior_point", "working_set", "projections", "quasi_newton"} or Solver
        "auto" decides so:

        1. more constraints than X has entries, with a derivative of their losses (LogDetSlack, KLSlack,
           SquaredHinge, Square) or a Hinge: "primal_newton", Newton on X itself.
        2. the same with a loss of your own that has other kinks, and rank at most 30: "interior_point", steps
           along a path on which no price is at a kink.
        3. every other problem: "working_set", Newton on the dual of the constraints that matter. It proves
           that Hard constraints contradict each other where they do.
        4. the same with at least 100 rows, ten times as many Square losses as rows, on entries of X or other
           sparse matrices, at most one equation a row that must hold, Frobenius or Schatten, and a diagonal
           prior in NumPy: first 100 iterations of "quasi_newton", one decomposition each, unless `max_iter` is
           given.

        Where one fails, others continue: "interior_point", for a rank of at most 30 and any loss, and then
        "working_set". They begin after 150 iterations of "primal_newton", or 60 of another solver. Where
        c r^4 / 4 is at most 2e7, for c constraints and rank r, and all losses are finite everywhere, they begin
        after 40 iterations of "primal_newton" with a Hinge, and after 20 without. Each passes over all
        constraints now and then, and otherwise multiplies matrices of the size of the active ones. Where single
        precision fails, with a gap or violation above 3e-4, double precision continues, and the answer is in
        double precision. "auto" never chooses "projections", the Bregman projections of K09 for LogDet and
        VonNeumann in random order (`Projections(order="cyclic")` is the published order; the first call
        compiles). "quasi_newton" is also for kernels over so many points that X does not fit into memory.
    tol : float
        The relative gap, and the relative violation of hard constraints, at which to stop.
    max_iter : int, optional
        The largest number of iterations (default: the solver's own limit).
    callback : function of a Record, optional
        Called after every iteration; the solve stops when it returns True.
    start : Solution or sequence of arrays, optional
        Where to start: at the X and the duals of a solution, or at duals, one vector a term, as in
        `Solution.duals`. They are copied.
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
    start: Solution | Sequence[Array] | Start | None = None,
    time_limit: float | None = None,
    on_interrupt: Callable[[], object] | None = None,
) -> tuple[Solution, Limits]:
    """Solve without a warning, and give the limits as well."""
    if not isinstance(problem, Problem):
        raise TypeError(f"`problem` must be a Problem; got {type(problem).__name__}.")
    method = method_for(problem, solver, max_iter, start)
    limits = Limits.read(tol, max_iter, time_limit, "solve")
    # The limit of iterations is each stage's own.
    endless, products = replace(limits, max_iter=INF), products_of(problem)
    return iterate(method, endless, callback, products, on_interrupt), limits


def products_of(problem: Problem) -> int:
    """The multiplications of one pass: a matrix product of size c x r by r x r."""
    return problem.pool.size * problem.space.dimension**2


def method_for(
    problem: Problem,
    solver: str | Solver[Any],
    max_iter: int | None = None,
    start: Solution | Sequence[Array] | Start | None = None,
) -> Fallback:
    """The method that `solve` runs in the loop, from this start."""
    stages = _stages(solver, problem, max_iter)
    if isinstance(start, Solution):
        n = int(start.factor.shape[0])
        if n != problem.n:
            raise ValueError(
                f"`start` is a solution with an X of {n} x {n}, but the X of this problem is {problem.n} x "
                f"{problem.n}; pass a solution of this problem, or its duals."
            )
        start = Start(start.duals, start.factor, is_answer=True)
    elif start is not None and not isinstance(start, Start):
        start = Start(start)
    if start is not None:
        problem.free_duals(start.duals)  # refused here, not inside
    may_widen = solver == "auto" and max_iter is None and problem.dtype == "float32"
    return Fallback(tuple(stages), start, lambda other: _stages("auto", other, None), may_widen)


def _stages(solver: str | Solver[Any], problem: Problem, max_iter: int | None) -> list[Stage]:
    """The solvers to try until there is an answer, each with its limit of iterations.

    With `max_iter` it is one solver: iterations of different solvers cannot be compared.
    """
    chosen = check_solver(solver, problem)
    if max_iter is not None:
        return [Stage(problem, chosen, check_count(max_iter, "max_iter", least=0))]
    if solver != "auto" or problem.capacity is not None:
        return [Stage(problem, chosen, chosen.default_max_iter)]
    last = WorkingSet()
    if chosen == last and _may_be_for_quasi_newton(problem):
        # It proves no contradiction, and creeps where prices are large.
        return [
            Stage(problem, QuasiNewton(), _FIRST_QUASI),
            Stage(problem, last, last.default_max_iter),
        ]
    if problem.space.dimension > _FEW_ENTRIES or not problem.dual.size:
        candidates = dict.fromkeys([chosen, last])
        return [Stage(problem, known, known.default_max_iter) for known in candidates]
    # Newton is quickest where it converges at all.
    inside = InteriorPoint()
    most = _patience_on_x(problem) if chosen == PrimalNewton() else _FIRST_ITERATIONS
    first = [Stage(problem, chosen, most)] if chosen != inside else []
    rest = [Stage(problem, known, known.default_max_iter) for known in (inside, last)]
    return [*first, *rest]


def _patience_on_x(problem: Problem) -> int:
    """After how many steps on X interior points are tried, which cost c (r (r + 1) / 2)^2 a step."""
    rank, parts = problem.space.dimension, problem.dual.parts
    is_cheap = problem.dual.size * (rank * (rank + 1) // 2) ** 2 <= _CHEAP_SYSTEM
    # A loss that is infinite at t = 0 keeps X away from singular, and the path short.
    if not is_cheap or any(part.loss.has_domain for part in parts):
        return _FIRST_ON_X
    return _FIRST_SMOOTH if all(part.loss.is_smooth for part in parts) else _FIRST_KINKED


def _may_be_for_quasi_newton(problem: Problem) -> bool:
    """Whether there are many equations with a price over a sparse dual, as of a weighted nearest matrix.

    A step of quasi-Newton then costs one decomposition, however many they are, and tens of steps suffice where
    prices are not large.
    """
    rank, parts = problem.space.dimension, problem.dual.parts
    hard = sum(part.size for part in parts if not part.loss.is_smooth)
    if rank < _MANY_ROWS or hard > rank or problem.dual.size - hard < _MANY_EQUATIONS * rank:
        return False
    lo, hi = problem.dual.box
    xp = namespace(lo)
    are_equations = bool(xp.all(lo == -INF) and xp.all(hi == INF))
    return are_equations and QuasiNewton().objection(problem) is None


def _is_for_the_primal(problem: Problem) -> bool:
    """Whether Newton on X is quickest: more constraints than X has entries."""
    dual = problem.dual
    many = dual.size > dual.rank * (dual.rank + 1) // 2
    return many and PrimalNewton().objection(problem) is None


def _is_kinked(problem: Problem) -> bool:
    """Whether some loss has a kink, none is infinite, and more may sit on theirs than X has entries."""
    rank, parts = problem.space.dimension, problem.dual.parts
    many = rank <= _FEW_ENTRIES and problem.dual.size > rank * (rank + 1) // 2
    finite = not any(part.loss.has_domain for part in parts)
    return many and finite and not all(part.loss.is_smooth for part in parts)


def check_solver(solver: str | Solver[Any], problem: Problem) -> Solver[Any]:
    """The solver of this name, or the library's choice; one that cannot solve the problem is refused."""
    named = solver if isinstance(solver, Solver) else check_choice(solver, "solver", SOLVERS)
    if named is None and problem.capacity is not None:
        named = QuasiNewton()
    if named is None:
        if _is_for_the_primal(problem):
            return PrimalNewton()
        return InteriorPoint() if _is_kinked(problem) else WorkingSet()
    objection = named.objection(problem)
    if objection:
        raise ValueError(
            f"`solver={solver!r}` cannot solve this problem: {objection}. "
            'Leave the choice to solver="auto".'
        )
    return named
