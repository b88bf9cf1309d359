"""What an estimator learns from, labels y or side information, and how it solves for a matrix."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gramlearn._base.arrays import placed_like, to_numpy
from gramlearn._base.validation import check_flag
from gramlearn._base.warnings import is_called_by, warn
from gramlearn.estimators._all_or_nothing import run_search
from gramlearn.estimators._parts.answers import StoredAnswer
from gramlearn.methods.metric.diagonal.method import (
    DEFAULT_MAX_ITER,
    WeightSolution,
    solve_weights,
)
from gramlearn.methods.metric.diagonal.problem import WeightProblem
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.solution import Solution, SomeSolution, unless_infeasible
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import Pairs, SideInformation, Triplets
from gramlearn.side_information.sampling import read_labels
from gramlearn.side_information.stored import StoredStatements, refuse_stored
from gramlearn.side_information.triplets import check_triplets
from gramlearn.solvers.loop import Limits, warn_unless_solved
from gramlearn.solvers.progress import progress_bar
from gramlearn.solvers.solve import attempt
from gramlearn.solvers.solver import Start

_MOMENT = 1e-3  # seconds
_SOFT, _FINITE = 'loss="slack" or "hinge"', 'loss="hinge" or "squared_hinge"'


class SolvesProblems:
    """An estimator whose parameters say how to solve."""

    solver: Any
    tol: Any
    max_iter: Any
    time_limit: Any
    callback: Any
    verbose: Any
    warm_start: Any = False  # where it is no parameter
    _adds: bool = False  # statements to those of an earlier fit
    _began: float | None = None  # when limited time began, where that was before the solve

    def _solve(self, regularizer: Regularizer, prior: Any, terms: list[Term]) -> Solution:
        """Solve, and warn where the tolerance is not reached; contradictions raise InfeasibleError."""
        problem = Problem(regularizer, prior, terms)
        last = self._last_answer()
        start = start_at(problem, last) if isinstance(last, Solution) else None

        def run(given: Limits, callback: Any) -> tuple[Solution, Limits]:
            limit = None if self.time_limit is None else given.time_limit
            return attempt(problem, self.solver, given.tol, self.max_iter, callback, start, limit)

        return unless_infeasible(self._search(run), _SOFT, _FINITE)

    def _last_answer(self) -> Any:
        """What a warm start goes on from; None where nothing is to be, or was learned."""
        goes_on = check_flag(self.warm_start, "warm_start") or self._adds
        last = getattr(self, "solution_", None) if goes_on else None
        if isinstance(last, StoredAnswer):
            warn(
                f"{type(self).__name__}: the last answer came from a model file, which does not hold what a "
                "warm start goes on from; this fit begins anew, and finds the same."
            )
        return last

    def _solve_weights(self, problem: WeightProblem) -> WeightSolution:
        """The same for a weight for each feature."""
        self._check_no_solver()

        def run(given: Limits, callback: Any) -> tuple[WeightSolution, Limits]:
            most = DEFAULT_MAX_ITER if self.max_iter is None else given.max_iter
            limits = replace(given, max_iter=most)
            return solve_weights(problem, limits, callback), limits

        proven = "no weights of the features satisfy the constraints"
        return unless_infeasible(self._search(run), _SOFT, _FINITE, proven)

    def _check_no_solver(self) -> None:
        """A weight for each feature has a method of its own."""
        if self.solver != "auto":
            raise ValueError(
                f'`solver={self.solver!r}` finds a full matrix, and `shape="diagonal"` has a method of its '
                'own; leave solver="auto".'
            )

    @contextmanager
    def _timed(self, when: bool = True) -> Iterator[None]:
        """Count what is done within as part of the time that is limited."""
        if not when or self._began is not None:
            yield
            return
        self._began = time.perf_counter()
        try:
            yield
        finally:
            del self._began

    def _limits(self) -> Limits:
        """Those of a solve that begins now; one that comes too late still gets its first look."""
        given = Limits.read(self.tol, self.max_iter, self.time_limit, type(self).__name__)
        if self._began is None:
            return given
        return replace(given, time_limit=max(given.time_limit - self._seconds(), _MOMENT))

    def _seconds(self) -> float:
        """Since limited time began."""
        return 0.0 if self._began is None else time.perf_counter() - self._began

    def _search(self, run: Callable[[Limits, Any], tuple[SomeSolution, Limits]]) -> SomeSolution:
        """What a solve under the limits of the parameters gives, with a progress bar and a warning."""
        given = self._limits()

        def search() -> SomeSolution:
            show = check_flag(self.verbose, "verbose")
            with progress_bar("learning", given.tol, show, self.callback) as callback:
                solution, limits = run(given, callback)
            asked = replace(limits, time_limit=self.time_limit or limits.time_limit)
            warn_unless_solved(solution, asked, "raise tol")
            return solution

        return run_search(self, search)


def start_at(problem: Problem, last: Solution) -> Start | None:
    """The X of an earlier answer, and its prices where its statements are the first ones of each term."""
    if int(last.factor.shape[0]) != problem.n:
        return None
    sizes = [part.size for part in problem.parts]
    duals = [np.zeros(size) for size in sizes]
    known = [to_numpy(vector) for vector in last.duals]
    is_begun = len(known) == len(sizes) and all(
        len(vector) <= size and np.isfinite(vector).all()
        for vector, size in zip(known, sizes, strict=True)
    )
    if is_begun:
        for vector, some in zip(duals, known, strict=True):
            vector[: len(some)] = some
    is_same = is_begun and [len(vector) for vector in known] == sizes
    # The last fit may have been elsewhere.
    return Start(duals, placed_like(last.factor, problem.space.spectrum), is_answer=is_same)


def side_of(
    side: Any,
    y: Any,
    n_points: int,
    n_drawn: int | None,
    rng: np.random.Generator,
    draw: Callable[..., SideInformation] = Pairs.from_labels,
    *,
    uses_both: bool = False,
) -> SideInformation:
    """The side information as given, or so many pairs, or what `draw` draws, from the labels."""
    check_not_side(y)
    if y is not None:
        check_labels(y, n_points)
        if side is not None and not uses_both:
            warn_of_unused_labels("from which all is learned")
    if side is None:
        if y is None:
            raise ValueError(
                "nothing is known about the points: this estimator requires y to be passed, but the target y "
                "is None; pass labels as `y`, or `side=Pairs(...)`, Triplets or Bounds."
            )
        return draw(y, n_drawn, random_state=rng)
    check_side(side, n_points)
    side.check_not_empty()
    return side


def check_side(side: Any, n_points: int) -> None:
    """Side information about so many points; there may be no statements."""
    refuse_stored(side, "`side`")
    if not isinstance(side, SideInformation):
        raise TypeError(
            f"`side` must be Pairs, Triplets or Bounds; got {type(side).__name__}. Pairs of row numbers become "
            "Pairs(similar=..., dissimilar=..., n_points=len(X))."
        )
    side.check_fits(n_points)


def warn_of_unused_labels(why: str) -> None:
    """Say that labels beside side information are not used, but to scikit-learn.

    A Pipeline passes y to every step, for the sake of a later one.
    """
    if not is_called_by("sklearn"):
        warn(f"`y` is not used beside `side`, {why}; pass one of the two.")


def triplets_of(
    side: Any, y: Any, n_points: int, n_drawn: int | None, rng: np.random.Generator
) -> Triplets:
    """Comparisons, as given, or so many drawn from the labels."""
    check_not_side(y)
    if side is None and y is None:
        raise ValueError(
            "nothing is known about the points: this estimator requires y to be passed, but the target y is "
            "None; pass labels as `y`, or `side=Triplets(rows of (i, j, k), n_points=len(X))`."
        )
    if side is not None:
        check_triplets(side, "side", n_points)
    return cast(Triplets, side_of(side, y, n_points, n_drawn, rng, Triplets.from_labels))


def check_labels(y: Any, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, one for each point, and the rows that have one."""
    labels, labeled = read_labels(y)
    if labels.size != n_points:
        raise ValueError(
            f"`y` has {labels.size} labels, but `X` has {n_points} rows; pass one for each."
        )
    return labels, labeled


def check_not_side(y: Any) -> None:
    """Refuse pairs in the place of labels."""
    if isinstance(y, SideInformation | StoredStatements):
        raise TypeError(f"{type(y).__name__} is side information; pass it as `side=`, not as `y`.")
