"""minimize D(M, I) + s C1 sum_k loss_k(t_k) in coordinates p A', for a prior W0 = A'A, at every strength s.

C1 is the price at strength 1 (see `candidates`). To choose, a path of strengths is solved to a gap of a
hundredth, which tells candidates apart; the one that is chosen is solved to the gap that was asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn.methods.choosing.candidates import (
    Candidate,
    Family,
    keep_leading,
    price_at_strength_one,
)
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import SAMPLE, Task, thinned, unit_of
from gramlearn.methods.metric.fitting import Learned, Statements, keep_prior, learn, root_of
from gramlearn.problem.losses.bounded import PricedLoss
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import SolveInterrupted
from gramlearn.side_information import Pairs, SideInformation
from gramlearn.solvers.path import follow_path
from gramlearn.solvers.solve import attempt

_GAP = 1e-2  # relative, of the solves that a choice is made with
_STEPS = 60
PERCENTILES = (
    25.0,
    75.0,
)  # of the squared distances of judged pairs, for bounds that are not given

Solve = Callable[[Regularizer, Any, list[Term]], Solution]


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """What was asked for, whatever is chosen: the divergence, the loss but for its price, bounds, a solver.

    `percentiles` of the squared distances of judged pairs replace bounds of None.

    With `of_kernel` the divergence is that of the kernels of the points.
    """

    regularizer: Regularizer
    loss: PricedLoss
    bounds: tuple[float | None, float | None] = (None, None)
    percentiles: tuple[float, float] = PERCENTILES
    of_kernel: bool = False
    solver: Any = "auto"

    def ask(self, side: SideInformation, places: Places, strength: float) -> Statements:
        """Statements with a price and bounds, about points as the prior sees them."""
        loss = replace(self.loss, C=self.price(side, places, strength))
        return Statements(side, loss, self._find_bounds(side, places))

    def price(self, side: SideInformation, places: Places, strength: float) -> float:
        """C of the loss of these statements at a strength."""
        weight = float(side.weights().sum())
        unit = unit_of(side, places)
        return strength * price_at_strength_one(self.loss, places.n_directions, weight, unit)

    def prior(self, places: Places) -> Any:
        """I, of the map or of the kernel of the points."""
        return Factor(places.coordinates) if self.of_kernel else np.eye(places.n_directions)

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


def learn_family(
    family: Family, task: Task, part: Any, setting: Setting, rng: np.random.Generator
) -> list[np.ndarray]:
    """F of the distances |(p_i - p_j) F|^2, for each candidate of a family, from a part of what is known."""
    A = task.root(family.prior, part)
    if family.statements is None:
        return [keep_leading(A.T, task.places(part), family.n_components)]
    places = task.places(part).moved(A)
    kind = family.statements
    side = thinned(task.statements(kind, part, places.coordinates, rng), rng, SAMPLE[kind])
    problem = _problem(setting.ask(side, places, 1.0), places, setting)

    def solve_at(now: Problem, start: Any) -> Solution:
        return _solve_roughly(now, setting.solver, start)

    found = follow_path(problem, list(family.strengths), solve_at)
    P = places.coordinates
    return [A.T @ root_of(solution, P, setting.of_kernel) for solution in found]


class Final(NamedTuple):
    """The metric in the end: what was asked, F of |(p_i - p_j) F|^2 with its certificate, and the price."""

    asked: Statements
    learned: Learned
    price: float | None


def learn_candidate(
    candidate: Candidate, task: Task, setting: Setting, solve: Solve, rng: np.random.Generator
) -> Final:
    """Learn from all that is known; near neighbors are found again under the metric learned from the first."""
    part = task.whole
    A = task.root(candidate.prior, part)
    places = task.places(part).moved(A)
    kind = candidate.statements or task.families[-1].statements
    assert kind is not None
    side = task.statements(kind, part, places.coordinates, rng)
    if candidate.strength is None:
        asked = Statements(side, setting.loss, None)
        kept = keep_prior(
            asked,
            setting.regularizer,
            solve,
            places.coordinates,
            setting.prior(places),
            rest=places.beyond,
            of_kernel=setting.of_kernel,
        )
        return Final(asked, _composed(kept, A), None)
    if kind == "neighbors":
        # Found again under the metric that is learned from the first, of which a sample says where they are.
        some = thinned(side, rng, SAMPLE[kind])
        first = setting.ask(some, places, candidate.strength)
        found = _solve_roughly(_problem(first, places, setting), setting.solver)
        root = root_of(found, places.coordinates, setting.of_kernel)
        side = task.statements(kind, part, places.coordinates @ root, rng)
    asked = setting.ask(side, places, candidate.strength)
    learned = learn(
        asked,
        setting.regularizer,
        solve,
        places.coordinates,
        setting.prior(places),
        rest=places.beyond,
        of_kernel=setting.of_kernel,
    )
    return Final(asked, _composed(learned, A), setting.price(side, places, candidate.strength))


def _solve_roughly(problem: Problem, solver: Any, start: Any = None) -> Solution:
    try:
        return attempt(problem, solver, _GAP, _STEPS, None, start, None)[0]
    except SolveInterrupted:  # what it holds is no answer to what the user asked
        raise KeyboardInterrupt from None


def _problem(asked: Statements, places: Places, setting: Setting) -> Problem:
    """What is asked of points as the prior sees them."""
    terms = asked.terms(None if setting.of_kernel else places.coordinates, places.beyond)
    return Problem(setting.regularizer, setting.prior(places), terms)


def _composed(learned: Learned, A: np.ndarray) -> Learned:
    """The metric of p, where that of p A' was learned."""
    F = A.T @ learned.root
    return learned._replace(root=F, matrix=F @ F.T)
