"""Scores of things held back, under a metric: neighbors that are right, statements that hold. Means are 0 to 1.

The formulas are those of `evaluation.statements`. A label is judged among the points learned from. Of a similar
pair, what counts is also the share of points drawn at random, the same for all metrics, that are farther. A
statement of weight w counts w times.

Things held back are dealt into groups by their numbers, which are random, and pairs are compared with pairs of
their own group alone: so what chooses by some groups knows nothing of the others.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import final

import numpy as np

from gramlearn.evaluation.statements import (
    comparison_scores,
    neighbor_scores,
    pair_scores,
    statement_scores,
)
from gramlearn.methods.choosing.places import Places
from gramlearn.side_information import Bounds, Pairs, SideInformation, Triplets

_OTHERS = 20  # points drawn at random for each similar pair
_GROUPS = 5


class Judge(ABC):
    """Scores what was held back; `items` numbers it, at random, and the same thing always alike.

    `weights` says how much each counts, and a row of `points` which points it is about.
    """

    items: np.ndarray
    weights: np.ndarray
    points: np.ndarray
    what: str  # is scored, in words
    _places: Places

    def score(self, F: np.ndarray | None, is_whole: bool = True) -> np.ndarray:
        """One number for each item, under the distances of p F; without F under the plain ones.

        Where F is not whole, its columns are all there is: what lies beyond the coordinates is left out.
        """
        return self._score(F, self._places if is_whole else self._places.inside)

    @abstractmethod
    def _score(self, F: np.ndarray | None, places: Places) -> np.ndarray:
        """The same at these places."""


@final
class NeighborJudge(Judge):
    """Points of known classes among others that a metric was learned from."""

    what = "near neighbors that are right"

    def __init__(
        self,
        places: Places,
        known: np.ndarray,
        held: np.ndarray,
        classes: np.ndarray,
        items: np.ndarray,
    ) -> None:
        self.items, self.weights, self.points = items, np.ones(len(items)), held[:, None]
        self._places = places
        self._known, self._held = known, held
        self._classes, self._answers = classes[known], classes[held]
        self._n_classes = int(classes.max()) + 1

    def _score(self, F: np.ndarray | None, places: Places) -> np.ndarray:
        squared = places.squared_between(F, self._held, self._known)
        return neighbor_scores(squared, self._classes, self._answers, self._n_classes)


@final
class PairJudge(Judge):
    """Pairs called alike or not.

    The share U of (similar, dissimilar) in the right order is one number of two samples. Each pair scores what
    it adds to the mean, so that the standard error is that of both: U + (u_i - U) W / W_kind, with u_i the
    share of those in the right order with it, W the weight with which U counts, and W_kind that of its kind.
    """

    what = "comparisons of pairs that come out right"

    def __init__(
        self, places: Places, held: Pairs, items: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.items, self.weights = items, np.asarray(held.weights())
        self.points = np.asarray(held.statement_points())
        self._places = places
        self._near, self._far = np.asarray(held.similar), np.asarray(held.dissimilar)
        self._others = others_than(self._near, places.n_points, _OTHERS, rng)

    def _score(self, F: np.ndarray | None, places: Places) -> np.ndarray:
        near, far = (places.squared(F, *pairs.T) for pairs in (self._near, self._far))
        i = np.repeat(self._near[:, 0], _OTHERS)
        others = places.squared(F, i, self._others.reshape(-1)).reshape(-1, _OTHERS)
        of_similar = comparison_scores(near[:, None], others).mean(axis=1)
        # A dissimilar pair without a similar one has nothing to be farther than.
        of_dissimilar = np.full(far.size, 0.5)
        group = np.split(group_of(self.items), [near.size])
        weights = np.split(self.weights, [near.size])
        for k in range(_GROUPS):
            a, b = (of_kind == k for of_kind in group)
            if np.any(a) and np.any(b):
                above, below = pair_scores(near[a], far[b], weights[0][a], weights[1][b])
                alike, unlike = weights[0][a].sum(), weights[1][b].sum()
                order = float(np.average(below, weights=weights[1][b]))
                share = alike / 2 + unlike
                of_similar[a] = (of_similar[a] + order) / 2 + share / alike * (above - order)
                of_dissimilar[b] = order + share / unlike * (below - order)
        return np.concatenate([of_similar, of_dissimilar])


@final
class StatementJudge(Judge):
    """Statements that are scored one by one."""

    def __init__(self, places: Places, held: SideInformation, items: np.ndarray, what: str) -> None:
        self.items, self.weights, self.what = items, np.asarray(held.weights()), what
        self.points = np.asarray(held.statement_points())
        self._places, self._held = places, held

    def _score(self, F: np.ndarray | None, places: Places) -> np.ndarray:
        return statement_scores(self._held, partial(places.squared, F))


def others_than(
    pairs: np.ndarray, n_points: int, count: int, rng: np.random.Generator
) -> np.ndarray:
    """So many points for each pair, drawn among all but its own two, which would tie with it.

    Where there are no others, the second of the pair stands for them.
    """
    first, second = np.sort(pairs, axis=1).T[:, :, None]
    drawn = rng.integers(max(n_points - 2, 1), size=(len(pairs), count))
    if n_points < 3:
        return np.broadcast_to(pairs[:, 1:], drawn.shape)
    drawn += drawn >= first
    drawn += drawn >= second
    return drawn


def group_of(items: np.ndarray) -> np.ndarray:
    """The group of each thing held back, from 0."""
    return np.asarray(items % _GROUPS)


def judge_of(
    places: Places, held: SideInformation, items: np.ndarray, rng: np.random.Generator
) -> Judge:
    """The judge of such statements."""
    if isinstance(held, Pairs):
        return PairJudge(places, held, items, rng)
    return StatementJudge(places, held, items, _WORDS[type(held)])


_WORDS: Mapping[type[SideInformation], str] = {
    Triplets: "comparisons that hold",
    Bounds: "bounds that are kept, up to the share by which they are missed",
}
