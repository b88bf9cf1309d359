"""Learn from one half, classify the other by its nearest points of the first, and the other way round (J12 6).

Side information and its bounds come from the half that is learned from: 100 alike and 100 unlike pairs for each
class, and the 1st and 99th percentile of its squared distances. gamma is the best of the paper's six in a
2-fold split of that half; of equally good ones the least, which is nearest to the prior.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.model_selection import StratifiedKFold

from gramlearn import Pairs

GAMMAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
PERCENTILES = (1, 99)
PER_CLASS = 100


@final
class Half(NamedTuple):
    """What is learned from, and what is classified. Labels are numbers from 0."""

    points: Any
    labels: np.ndarray
    others: Any
    others_labels: np.ndarray
    pairs: Pairs

    def wrong(self, answers: np.ndarray) -> int:
        """How many of the others got another class than theirs."""
        return int(np.count_nonzero(answers != self.others_labels))


Learner = Callable[[Half, float], np.ndarray]  # the answers for the others, with a value of gamma


def split_both_ways(
    X: Any, y: np.ndarray, rng: np.random.Generator, per_class: int = PER_CLASS
) -> Iterator[Half]:
    """Both directions of one split."""
    seed = int(rng.integers(2**31))
    for train, test in StratifiedKFold(2, shuffle=True, random_state=seed).split(X, y):
        pairs = Pairs.from_classes(y[train], per_class, random_state=rng)
        yield Half(X[train], y[train], X[test], y[test], pairs)


def choose_by_halves(
    learner: Learner,
    half: Half,
    rng: np.random.Generator,
    gammas: tuple[float, ...] = GAMMAS,
    per_class: int = PER_CLASS,
) -> float:
    """The value with the fewest errors where each half of the points learned from classifies the other."""
    within = list(split_both_ways(half.points, half.labels, rng, per_class))
    errors = [sum(part.wrong(learner(part, gamma)) for part in within) for gamma in gammas]
    return gammas[int(np.argmin(errors))]


def silence_warnings(learner: Learner) -> Learner:
    """The same, without warnings of pairs of equal points, and of bounds that hold already."""

    def silent(half: Half, gamma: float) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return learner(half, gamma)

    return silent
