"""M = diag(m) in learning (see `learning`): a weight for each feature, of points that may be sparse.

    sum_f D(m_f, 1) + s C1 sum_k loss_k(t_k)        w_f = w0_f m_f

Roots are vectors here, the diagonals of what they are for matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from gramlearn.methods.choosing.candidates import Family, mix_with_prior
from gramlearn.methods.choosing.families import families_of_weights
from gramlearn.methods.choosing.learning import GAP, STEPS, Setting
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import SAMPLE, Task
from gramlearn.methods.choosing.within import weights_standardized, weights_within
from gramlearn.methods.metric.diagonal.fitting import LearnedWeights, measured, weigh
from gramlearn.methods.metric.diagonal.method import WeightSolution, solve_weights
from gramlearn.methods.metric.diagonal.problem import WeightProblem
from gramlearn.methods.metric.fitting import Statements
from gramlearn.problem.status import SolveInterrupted
from gramlearn.side_information import SideInformation
from gramlearn.solvers.loop import Limits

# Squared differences, a row a statement, that each solve of a choice is about.
_NUMBERS_TO_CHOOSE = 10**6
_NUMBERS = 10**7  # the same of the last solve
_FEW = 1000  # statements that there are of any number of features


@final
@dataclass(frozen=True, eq=False)
class OfWeights(Setting):
    """M is a weight for each feature."""

    def roughly(self) -> Self:
        return replace(self, solve=_solve_roughly, of_sample=True)

    def possible(self, families: Sequence[Family], n_columns: int | None) -> Sequence[Family]:
        del n_columns  # are single features
        return families_of_weights(families)

    def root(self, prior: str, task: Task, part: Any) -> np.ndarray:
        places = task.places(part)
        if prior == "identity":
            return np.ones(places.n_directions)
        if prior == "standardized":
            return np.sqrt(weights_standardized(places))
        return np.sqrt(weights_within(places, task.within(part)))

    def most_statements(self, kind: str, n_directions: int, *, roughly: bool) -> int | None:
        if roughly:
            return min(max(_FEW, _NUMBERS_TO_CHOOSE // n_directions), SAMPLE[kind])
        # What was given all counts; of the comparisons that are made here, as many as tell the weights.
        return None if kind == "given" else max(_FEW, _NUMBERS // n_directions)

    def path(
        self, side: SideInformation, places: Places, strengths: Sequence[float]
    ) -> list[np.ndarray]:
        asked = [self.ask(side, places, strength) for strength in strengths]
        return [self.learn(at, places, roughly=True).root for at in asked]

    def learn(self, asked: Statements, places: Places, *, roughly: bool) -> LearnedWeights:
        solve = _solve_roughly if roughly else self.solve
        return weigh(asked, self.regularizer, solve, places.coordinates, _ones(places))

    def keep(self, asked: Statements, places: Places) -> LearnedWeights:
        P, prior = places.coordinates, _ones(places)
        solution = self.solve(WeightProblem.of(self.regularizer, prior, P, []))
        return measured(asked, solution, solution.weights, P)

    def mixed(
        self, asked: Statements, learned: Any, places: Places, share: float
    ) -> LearnedWeights:
        w = mix_with_prior(learned.root, places, share) ** 2
        return measured(asked, learned.solution, w, places.coordinates)

    def composed(self, learned: Any, A: np.ndarray) -> LearnedWeights:
        return LearnedWeights(A**2 * learned.feature_weights, *learned[1:])


def _ones(places: Places) -> np.ndarray:
    return np.ones(places.n_directions)


def _solve_roughly(problem: WeightProblem) -> WeightSolution:
    try:
        return solve_weights(problem, Limits(GAP, STEPS))
    except SolveInterrupted:  # what it holds is no answer to what the user asked
        raise KeyboardInterrupt from None
