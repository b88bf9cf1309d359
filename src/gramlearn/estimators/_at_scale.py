"""fit(X, side=StoredPairs | StoredTriplets, client=...): statements that are never held whole, on any machines.

The metric is that of all statements, with its certificate. What is a statistic, and no sum over statements,
comes of 20,000 of them, and of the points that these are about: bounds and priors that are not given, the
price where it is chosen, the threshold, shares of features and columns.
"""

import math
import sys
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import as_real, constant, is_elsewhere, to_numpy
from gramlearn._base.moving import beside
from gramlearn._base.validation import as_numbers, check_flag, generator, state_of
from gramlearn._base.warnings import warn
from gramlearn._base.workers import Crew, crew_for
from gramlearn._base.workers.lazy import is_lazy
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._asked_at_scale import AsksAtScale
from gramlearn.estimators._choosing import Known
from gramlearn.estimators._learned_from import is_from_file, told
from gramlearn.estimators._learning import check_side, side_of, warn_of_unused_labels
from gramlearn.methods.choosing.candidates import mix_with_prior
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.metric.at_scale import (
    AtScale,
    Sample,
    digest_of_points,
    is_double,
)
from gramlearn.methods.metric.fitting import measured
from gramlearn.methods.metric.maps import FullMap
from gramlearn.problem.problem import Problem
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import SolveInterrupted, Status
from gramlearn.side_information import Bounds, Pairs, Triplets
from gramlearn.side_information.digest import as_bytes, digest
from gramlearn.side_information.stored import StoredStatements
from gramlearn.side_information.stored_pairs import StoredPairs
from gramlearn.side_information.stored_triplets import StoredTriplets
from gramlearn.solvers.loop import Limits
from gramlearn.solvers.primal_newton import PrimalNewton
from gramlearn.solvers.shards import Checkpoint, Forecast, Needed, Recovering
from gramlearn.solvers.shards.checkpoint import PROBLEM, STATE
from gramlearn.solvers.shards.forecast import in_small_chunks, read_limit
from gramlearn.solvers.solve import attempt
from gramlearn.solvers.solver import Start

# Parameters that change how an answer is found, and not which one.
_OF_THE_WAY = (
    "solver",
    "tol",
    "max_iter",
    "time_limit",
    "callback",
    "verbose",
    "warm_start",
    "memory_limit",
    "checkpoint",
)


class LearnsAtScale(AsksAtScale):
    """An estimator of all of a metric that also learns from statements in files, and on clusters."""

    regularizer: Any
    prior: Any
    rank: Any
    memory_limit: Any
    checkpoint: Any
    random_state: Any
    get_params: Any
    normalize: Any
    shape: Any

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: Any = None, client: Any = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, Triplets or Bounds over the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, data frame or tensor n x d
            Also an array of Dask, or a memory map where `side` is in files.
        y : vector of n labels, optional
            Labels of -1 (integer), NaN or None mean unknown, and such points take no part.
        side : Pairs, Triplets or Bounds, optional
            Also `StoredPairs` and `StoredTriplets`, which are in files and read in chunks in every pass: as
            many as there are. They are learned from as they are, by all of a metric (no rank, no diagonal), and
            by losses that are finite.
        client : distributed.Client, optional
            The cluster whose workers read the statements and sum over them; they must see the same files. Of an
            array of Dask the current one, if None.
        """
        self.__dict__.pop("bytes_moved_", None)  # of an earlier fit
        if client is None and not isinstance(side, StoredStatements) and not is_lazy(X):
            self._warn_of_idle_parameters()
            return super().fit(X, y, side=side)
        self._forget_choice()
        self._adds = False
        given = self._in_words()  # before anything is drawn
        stored = self._stored(X, y, side, client)
        for name in ("basis_", "inner_", "feature_weights_", "_seen"):
            self.__dict__.pop(name, None)  # of an earlier fit
        with self._timed(self._chooses):
            self._learn_at_scale(X, stored, client, given, is_drawn=side is None)
        self._settle_beside(X)
        self.learned_from_ = told(
            type(stored).__name__, stored.size, int(X.shape[0]), stored.digest, repr(stored)
        )
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, *, side: Any = None) -> Self:
        """See `GoesOn`."""
        is_learned_here = hasattr(self, "solution_") and not is_from_file(self)
        is_at_scale = is_learned_here and not hasattr(self, "_seen")
        if isinstance(side, StoredStatements) or is_lazy(X) or is_at_scale:
            raise TypeError(
                "`partial_fit` goes on from statements in memory; of those in files, and on a cluster, call "
                "`fit` with all of them, with warm_start=True."
            )
        return super().partial_fit(X, y, side=side)

    def _warn_of_idle_parameters(self) -> None:
        """Say which ones take no part where statements are in memory."""
        for name in ("memory_limit", "checkpoint"):
            if getattr(self, name) is not None:
                warn(
                    f"`{name}` is for statements in files and on clusters, and takes no part in this fit; "
                    "leave it out, or pass `side=StoredPairs.of(pairs)`."
                )

    def _settle_beside(self, X: Any) -> None:
        """Bring what was learned to where X is; the sample that told the rest of it was in host memory."""
        if is_elsewhere(X):
            held = (self._map, self._leading, self._explanation.prior)
            self._map, self._leading, prior = beside(held, X)
            self._explanation = self._explanation._replace(prior=prior)
            self._home = constant(0.0, as_real(X), 0)

    def forecast(self, X: Any, side: Any) -> Forecast:
        """The memory that `fit(X, side=side)` takes beside X, in one process: `least`, and `most`.

        The least is where statements are read in every pass, and the least `memory_limit` that `fit` takes; the
        most where all of them are kept. It is an estimate before the start, made without reading X or the
        statements.
        """
        limit = None if self.memory_limit is None else read_limit(self.memory_limit)
        return self._forecast(X, self._stored(X, None, side), 1, limit)

    def _forecast(
        self, X: Any, stored: StoredStatements, n_places: int, room: float | None
    ) -> Forecast:
        """That of each of so many places."""
        n, d = (int(size) for size in X.shape)
        may_choose = self._chooses and self.prior is None
        is_plain = self.prior is None or (isinstance(self.prior, str) and self.prior == "identity")
        is_same = is_plain and not may_choose and not self.normalize and is_double(X)
        copied = 0 if is_same else 8 * n * d
        stored = self._with_most_drawn(stored)
        least, most = (
            Needed.of(some, range(-(-some.n_chunks // n_places)), n, d, copied)
            for some in (in_small_chunks(stored), stored)
        )
        return Forecast(least.least, most.most, room)

    # ---- what is learned from ---------------------------------------------------------------

    def _stored(self, X: Any, y: Any, side: Any, client: Any = None) -> StoredStatements:
        """What is known, to be read in chunks; refuse what can only be learned from in memory."""
        if issparse(X) or len(getattr(X, "shape", ())) != 2:
            raise TypeError(
                "`X` must be a dense table with a row for each point where statements are read in chunks; got "
                f"{type(X).__name__}. Pass an array, a memory map, an array of Dask, or `side` in memory."
            )
        if hasattr(X, "map_partitions"):
            raise TypeError(
                "`X` is a data frame of Dask; pass X.to_dask_array(lengths=True), its numbers as an array."
            )
        if math.isnan(X.shape[0]):  # NaN: blocks of which nobody knows how many rows they have
            raise ValueError(
                "`X` is an array of Dask of unknown length; call X.compute_chunk_sizes() first."
            )
        self._check_is_for_all_of_a_metric()
        n = int(X.shape[0])
        if side is None and y is not None and is_lazy(y):
            with crew_for(y, client, None) as crew:
                y = crew.computed(y)
        if isinstance(side, StoredStatements):
            if y is not None:
                warn_of_unused_labels("from which all is learned")
            side.check_fits(n)
            return side
        if side is not None:
            check_side(side, n)
        known = side_of(side, y, n, self.n_pairs, generator(self.random_state))
        if isinstance(known, Bounds):
            raise TypeError(
                "`side` holds Bounds, which are learned from in memory; pass Pairs(similar, dissimilar, "
                "upper=, lower=), or X in memory without a client."
            )
        return (
            StoredPairs.of(known)
            if isinstance(known, Pairs)
            else StoredTriplets.of(cast(Triplets, known))
        )

    def _check_is_for_all_of_a_metric(self) -> None:
        given = [
            name
            for name, is_given in (
                ('shape="diagonal"', self.shape == "diagonal"),
                ("rank", self.rank is not None),
                ("basis", not (isinstance(self.basis, str) and self.basis == "svd")),
                ('regularize="kernel"', self._is_of_kernel(read_regularizer(self.regularizer))),
            )
            if is_given
        ]
        if given:
            raise ValueError(
                f"`{given[0]}` is for statements in memory; those in files, and on a cluster, are learned from "
                "by all of a metric. Leave it out, or pass `side.sample(n)`."
            )
        solver = self.solver
        if not (isinstance(solver, PrimalNewton) or solver in ("auto", "primal_newton")):
            raise ValueError(
                f'`solver={solver!r}` needs all statements in memory; leave solver="auto", or pass '
                "`side.sample(n)`."
            )

    @abstractmethod
    def _is_of_kernel(self, regularizer: Regularizer) -> bool:
        """Whether the regularizer is applied to the kernel matrix, where that makes a difference."""

    # ---- learning ---------------------------------------------------------------------------

    def _learn_at_scale(
        self, X: Any, stored: StoredStatements, client: Any, given: dict[str, str], is_drawn: bool
    ) -> None:
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        memory = None if self.memory_limit is None else read_limit(self.memory_limit)
        with crew_for(X, client, memory) as crew:
            self._learn_by(crew, X, stored, checkpoint, given, is_drawn)

    def _learn_by(
        self,
        crew: Crew,
        X: Any,
        stored: StoredStatements,
        checkpoint: Checkpoint | None,
        given: dict[str, str],
        is_drawn: bool,
    ) -> None:
        """Learn by a crew, which somebody closes however it ends; `given` are the parameters, in words."""
        last = self._last_answer()
        # Not for a refusal after all has been chosen.
        self._forecast(X, stored, *crew.room_beside(X)).check(self.memory_limit, crew.own_room)
        # What is drawn at random is the same when a fit goes on.
        is_seeded = checkpoint is not None and self.random_state is None
        rng = generator(checkpoint.seed if is_seeded and checkpoint else self.random_state)
        # A data frame stays with the sample, for its names.
        table = X if is_lazy(X) else as_numbers(X, "X")
        about = {}
        if checkpoint is not None:
            about = {"X": digest_of_points(table, crew), "statements": stored.digest}
            checkpoint.check(about, given)
        sample = Sample.of(X, stored, rng, crew)
        points = self._checked_points(sample.points, reset=True)
        self._check_n_components(points)
        want = self._choose_at_scale if self._chooses else self._want_as_given
        wanted = want(stored, Known(sample.side, is_drawn=is_drawn), points, rng)
        if wanted is None:
            return
        whole = AtScale.of(
            read_regularizer(self.regularizer),
            wanted.root,
            wanted.matrix,
            points,
            check_flag(self.normalize, "normalize"),
            wanted.stored,
            wanted.asked.loss,
            wanted.asked.bounds,
        )
        reached = keep = None
        if checkpoint is not None:
            reached = checkpoint.resume(about | {PROBLEM: whole.digest}, given)
            keep = checkpoint.keep
        newton = self.solver if isinstance(self.solver, PrimalNewton) else PrimalNewton()
        with crew:  # whose memory is needed for the rest
            solution = self._solve_in_shards(
                whole.placed(crew, table),
                whole.problem,
                Recovering(newton, reached, keep),
                last,
                (lambda: "") if checkpoint is None else checkpoint.advice,
            )
        self.bytes_moved_ = crew.moved
        if self._chooses:
            self._keep_verdict(solution.relative_gap)
        P = points if wanted.root is None else whole.seen.of_measured(points)
        F = mix_with_prior(to_numpy(solution.factor), Places(P), wanted.prior_share)
        learned = measured(wanted.asked, solution, F, P, None)
        root = F.T if wanted.root is None else F.T @ wanted.root
        self._keep_map(points, FullMap(root), wanted.n_components)
        self._keep_answer(learned, wanted.asked, judges_pairs=True)
        self._keep_explanation(points, None, wanted.asked, wanted.given)

    def _in_words(self) -> dict[str, str]:
        """The parameters that a problem follows from, each as it was given."""
        words = {
            name: repr(given) if np.ndim(given) == 0 else digest(name, [as_bytes(given)])
            for name, given in self.get_params(deep=False).items()
            if name not in _OF_THE_WAY
        }
        if (state := state_of(self.random_state)) is not None:
            words[STATE] = digest(STATE, [repr(state).encode()])
            del words["random_state"]
        return words

    def _solve_in_shards(
        self,
        problem: Problem,
        bare: Problem,
        solver: Recovering,
        last: Any,
        advice: Callable[[], str],
    ) -> Solution:
        """Solve over all statements; the answer holds on to none of them, and Ctrl-C gives the advice."""
        n = problem.n
        if objection := problem.pool.objection():
            raise ValueError(
                f"`loss` is not for statements that are read in chunks: {objection}. Pass `side.read()`, or "
                'loss="hinge", "squared_hinge" or "slack".'
            )
        if solver.objection(problem):
            raise ValueError(
                f"`side` has {problem.pool.size:,} statements, and a metric of {n} x {n} with this loss and "
                f"regularizer takes more than {n * (n + 1) // 2:,} where they are read in chunks, or on a "
                'cluster; pass `side` in memory, without a client, or loss="squared_hinge" with '
                'regularizer="logdet".'
            )
        start = Start((), last.factor) if _is_start(last, n) else None

        def run(given: Limits, callback: Any) -> tuple[Solution, Limits]:
            limit = None if self.time_limit is None else given.time_limit
            try:
                solution, limits = attempt(
                    problem,
                    solver,
                    given.tol,
                    self.max_iter,
                    callback,
                    start,
                    limit,
                    lambda: _say_it_ends(advice()),
                )
            except SolveInterrupted as stop:
                answer = replace(stop.solution, problem=bare)
                raise SolveInterrupted(answer, stop.where, advice=advice()) from None
            return replace(solution, problem=bare), limits

        solution = self._search(run)
        if solution.status is Status.OPTIMAL and not solution.history[-1].details.get("active", 1):
            warn(
                "all statements hold under the prior already, so the metric is the prior; tighten the bounds, "
                "or raise the margin of the triplets."
            )
        return solution


def _say_it_ends(advice: str) -> None:
    """Say at once what goes on after Ctrl-C: a look at all statements may take minutes."""
    words = (
        "interrupted; a look at all statements now makes a certificate of what was learned so far"
    )
    after = "; ".join(
        part for part in (words, "Ctrl-C again ends at once, without one", advice) if part
    )
    sys.stderr.write(f"\n{after}\n")
    sys.stderr.flush()


def _is_start(last: Any, n: int) -> bool:
    return isinstance(last, Solution) and int(last.factor.shape[0]) == n
