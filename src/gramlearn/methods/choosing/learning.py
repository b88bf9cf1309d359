"""minimize D(M, I) + s C1 sum_k loss_k(t_k) in coordinates p A', for a prior W0 = A'A, at every strength s.

C1 is the price at strength 1 (see `candidates`). To choose, a path of strengths is solved to a gap of a
hundredth, which tells candidates apart; the one that is chosen is solved to the gap that was asked for.

What M is, a matrix or a weight for each feature (see `weights`), is a matter of the setting.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple, Self, cast, final

import numpy as np

from gramlearn._base.arrays import as_real, eye
from gramlearn.methods.choosing.candidates import (
    Candidate,
    Family,
    keep_leading,
    mix_with_prior,
    price_at_strength_one,
)
from gramlearn.methods.choosing.places import Places, times
from gramlearn.methods.choosing.tasks import SAMPLE, Task, thinned, unit_of
from gramlearn.methods.metric.diagonal.fitting import LearnedWeights
from gramlearn.methods.metric.fitting import (
    Learned,
    Statements,
    keep_prior,
    learn,
    measured,
    root_of,
)
from gramlearn.problem.losses.bounded import PricedLoss
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import SolveInterrupted
from gramlearn.side_information import Pairs, SideInformation
from gramlearn.solvers.path import follow_path
from gramlearn.solvers.solve import attempt

GAP = 1e-2  # relative, of the solves that a choice is made with
STEPS = 60
PERCENTILES = (
    25.0,
    75.0,
)  # of the squared distances of judged pairs, for bounds that are not given

Solve = Callable[..., Any]  # of the last problem, as the user asked
SomeLearned = Learned | LearnedWeights


@dataclass(frozen=True, eq=False)
class Setting(ABC):
    """What was asked for, whatever is chosen: the divergence, the loss but for its price, bounds.

    `percentiles` of the squared distances of judged pairs replace bounds of None. With `of_sample` what is
    chosen is learned again from more: so from as much as there is to choose by, at any strength.
    """

    regularizer: Regularizer
    loss: PricedLoss
    bounds: tuple[float | None, float | None] = (None, None)
    percentiles: tuple[float, float] = PERCENTILES
    of_sample: bool = False
    _: KW_ONLY
    solve: Solve

    @abstractmethod
    def roughly(self) -> Self:
        """The same where what is learned in the end is learned again, from more."""

    @abstractmethod
    def possible(self, families: Sequence[Family], n_columns: int | None) -> Sequence[Family]:
        """Those of a task that can be learned; all but the plain distance in so many columns, if not None."""

    @abstractmethod
    def root(self, prior: str, task: Task, part: Any) -> np.ndarray:
        """A of the prior W0 = A'A, or its diagonal, as this part of what is known tells it."""

    @abstractmethod
    def most_statements(self, kind: str, n_directions: int, *, roughly: bool) -> int | None:
        """How many are learned from to choose, and in the end; None for all."""

    @abstractmethod
    def path(
        self, side: SideInformation, places: Places, strengths: Sequence[float]
    ) -> list[np.ndarray]:
        """F at each strength, from points as the prior sees them, to a gap that tells candidates apart."""

    @abstractmethod
    def learn(self, asked: Statements, places: Places, *, roughly: bool) -> SomeLearned:
        """What is learned from points as the prior sees them; to that gap, or as the user asked."""

    @abstractmethod
    def keep(self, asked: Statements, places: Places) -> SomeLearned:
        """The prior as an answer of its own."""

    @abstractmethod
    def mixed(
        self, asked: Statements, learned: SomeLearned, places: Places, share: float
    ) -> SomeLearned:
        """What was learned, with a share of the prior; the certificate stays that of what was learned."""

    @abstractmethod
    def composed(self, learned: SomeLearned, A: np.ndarray) -> SomeLearned:
        """The metric of p, where that of p A' was learned."""

    def ask(self, side: SideInformation, places: Places, strength: float) -> Statements:
        """Statements with a price and bounds, about points as the prior sees them."""
        loss = replace(self.loss, C=self.price(side, places, strength))
        return Statements(side, loss, self._find_bounds(side, places))

    def price(self, side: SideInformation, places: Places, strength: float) -> float:
        """C of the loss of these statements at a strength."""
        weight = float(side.weights().sum())
        unit = unit_of(side, places)
        return strength * price_at_strength_one(self.loss, places.n_directions, weight, unit)

    def _find_bounds(
        self, side: SideInformation, places: Places
    ) -> tuple[float | None, float | None] | None:
        """Those given, or percentiles of the distances that were judged."""
        if not isinstance(side, Pairs) or (side.upper is not None and side.lower is not None):
            return None
        i, j, _ = side.near_and_far()
        low, high = np.percentile(places.squared(None, i, j), self.percentiles)
        upper, lower = self.bounds
        return (float(low) if upper is None else upper, float(high) if lower is None else lower)


@final
@dataclass(frozen=True, eq=False)
class OfMatrices(Setting):
    """M is a matrix; with `of_kernel` the divergence is that of the kernels of the points."""

    of_kernel: bool = False
    solver: Any = "auto"

    def possible(self, families: Sequence[Family], n_columns: int | None) -> Sequence[Family]:
        if n_columns is None:
            return families
        return [f if f.is_plain else replace(f, n_components=n_columns) for f in families]

    def root(self, prior: str, task: Task, part: Any) -> np.ndarray:
        return task.root(prior, part)

    def most_statements(self, kind: str, n_directions: int, *, roughly: bool) -> int | None:
        return SAMPLE[kind] if roughly and not self.of_sample else None

    def path(
        self, side: SideInformation, places: Places, strengths: Sequence[float]
    ) -> list[np.ndarray]:
        asked = self.ask(side, places, 1.0)
        terms = asked.terms(None if self.of_kernel else places.coordinates, places.beyond)
        problem = Problem(self.regularizer, self._prior(places), terms)

        def solve_at(now: Problem, start: Any) -> Solution:
            return _solve_roughly(now, self.solver, start)

        found = follow_path(problem, list(strengths), solve_at)
        return [root_of(solution, places.coordinates, self.of_kernel) for solution in found]

    def learn(self, asked: Statements, places: Places, *, roughly: bool) -> Learned:
        return learn(
            asked,
            self.regularizer,
            self._solve_some if roughly else self.solve,
            places.coordinates,
            self._prior(places),
            rest=places.beyond,
            of_kernel=self.of_kernel,
        )

    def keep(self, asked: Statements, places: Places) -> Learned:
        return keep_prior(
            asked,
            self.regularizer,
            self.solve,
            places.coordinates,
            self._prior(places),
            rest=places.beyond,
            of_kernel=self.of_kernel,
        )

    def mixed(self, asked: Statements, learned: Any, places: Places, share: float) -> Learned:
        F = mix_with_prior(learned.root, places, share)
        return measured(asked, learned.solution, F, places.coordinates, places.beyond)

    def composed(self, learned: Any, A: np.ndarray) -> Learned:
        F = as_real(A, learned.root).T @ learned.root
        return cast(Learned, learned._replace(root=F, matrix=F @ F.T))

    def roughly(self) -> Self:
        return replace(self, solve=self._solve_some, of_sample=True)

    def _solve_some(self, regularizer: Regularizer, prior: Any, terms: list[Term]) -> Solution:
        return _solve_roughly(Problem(regularizer, prior, terms), self.solver)

    def _prior(self, places: Places) -> Any:
        """I, of the map or of the kernel of the points."""
        P = places.coordinates
        return Factor(P) if self.of_kernel else eye(places.n_directions, P)


def learn_family(
    family: Family, task: Task, part: Any, setting: Setting, rng: np.random.Generator
) -> list[np.ndarray]:
    """F of the distances |(p_i - p_j) F|^2, for each candidate of a family, from a part of what is known."""
    A = setting.root(family.prior, task, part)
    if family.statements is None:
        return [keep_leading(A.T, task.places(part), family.n_components)]
    places = task.places(part).moved(A)
    kind = family.statements
    side = task.statements(kind, part, places.coordinates, rng)
    side = thinned(side, rng, setting.most_statements(kind, places.n_directions, roughly=True))
    learned = setting.path(side, places, family.strengths)
    found = [times(A.T, mix_with_prior(F, places, family.prior_share)) for F in learned]
    return [keep_leading(F, task.places(part), family.n_components) for F in found]


class Final(NamedTuple):
    """The metric in the end: what was asked, F of |(p_i - p_j) F|^2 with its certificate, and the price."""

    asked: Statements
    learned: Any  # SomeLearned, of the kind of the setting
    price: float | None


def learn_candidate(
    candidate: Candidate, task: Task, setting: Setting, rng: np.random.Generator
) -> Final:
    """Learn from all that is known; near neighbors are found again under the metric learned from the first."""
    part = task.whole
    A = setting.root(candidate.prior, task, part)
    places = task.places(part).moved(A)
    kind = candidate.statements or task.families[-1].statements
    assert kind is not None

    def find(seen: Any, *, roughly: bool) -> SideInformation:
        most = setting.most_statements(kind, places.n_directions, roughly=roughly)
        return thinned(task.statements(kind, part, seen, rng), rng, most)

    if candidate.strength is None:
        # Nothing is learned from these; they tell alike points from others.
        asked = Statements(find(places.coordinates, roughly=True), setting.loss, None)
        return Final(asked, setting.composed(setting.keep(asked, places), A), None)
    seen = places.coordinates
    if kind == "neighbors":
        # Found again under the metric that is learned from the first, of which a sample says where they are.
        first = setting.ask(find(seen, roughly=True), places, candidate.strength)
        seen = times(seen, setting.learn(first, places, roughly=True).root)
    side = find(seen, roughly=False)
    asked = setting.ask(side, places, candidate.strength)
    learned = setting.learn(asked, places, roughly=False)
    learned = setting.mixed(asked, learned, places, candidate.prior_share)
    price = setting.price(side, places, candidate.strength)
    return Final(asked, setting.composed(learned, A), price)


def _solve_roughly(problem: Problem, solver: Any, start: Any = None) -> Solution:
    try:
        return attempt(problem, solver, GAP, STEPS, None, start, None)[0]
    except SolveInterrupted:  # what it holds is no answer to what the user asked
        raise KeyboardInterrupt from None
