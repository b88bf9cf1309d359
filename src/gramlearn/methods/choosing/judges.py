"""score in [0, 1] of each thing held back, under a metric: neighbors that are right, statements that hold.

    labels     of a point held back, among the points learned from: whether the nearest is of its class, whether
               most of the five nearest are, and which share of those five
    pairs      of a similar one, the share of unlike pairs held back, and of points drawn at random, that are
               farther; of a dissimilar one, the share of similar pairs held back that are nearer
    triplets   whether the comparison holds
    bounds     1 less the violation, in units of the distances asked for, and at least 0

Equal distances count half. What is drawn at random is the same for all metrics.

Things held back are dealt into groups by their numbers, which are random, and pairs are compared with pairs of
their own group alone: so what chooses by some groups knows nothing of the others.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, final

import numpy as np

from gramlearn.methods.choosing.places import Places
from gramlearn.side_information import Bounds, Pairs, SideInformation, Triplets

_NEAREST = 5  # neighbors that vote
_OTHERS = 20  # points drawn at random for each similar pair
_GROUPS = 5
_DIGITS = 9  # of squared distances, in units of their mean: what is beyond is rounding


class Judge(ABC):
    """Scores what was held back; `items` numbers it, at random, and the same thing always alike."""

    items: np.ndarray
    what: ClassVar[str]  # is scored, in words

    @abstractmethod
    def score(self, F: np.ndarray | None) -> np.ndarray:
        """One number for each item, under the distances of p F; without F under the plain ones."""


@final
class NeighborJudge(Judge):
    """Points of known classes among others that a metric was learned from."""

    what: ClassVar[str] = "near neighbors that are right"

    def __init__(
        self,
        places: Places,
        known: np.ndarray,
        held: np.ndarray,
        classes: np.ndarray,
        items: np.ndarray,
    ) -> None:
        self.items = items
        self._places = places
        self._known, self._held = known, held
        self._classes, self._answers = classes[known], classes[held]
        self._n_classes = int(classes.max()) + 1

    def score(self, F: np.ndarray | None) -> np.ndarray:
        squared = self._places.squared_between(F, self._held, self._known)
        squared = np.round(squared / max(float(squared.mean()), 1e-300), _DIGITS)
        count = min(_NEAREST, squared.shape[1])
        nearest = np.argsort(squared, axis=1, kind="stable")[:, :count]
        found = self._classes[nearest]
        votes = (found[:, :, None] == np.arange(self._n_classes)).sum(axis=1)
        first = (found[:, 0] == self._answers).astype(float)
        most = np.argmax(votes, axis=1) == self._answers
        share = np.mean(found == self._answers[:, None], axis=1)
        return np.asarray((first + most + 2 * share) / 4)


@final
class PairJudge(Judge):
    """Pairs called alike or not."""

    what: ClassVar[str] = "comparisons of pairs that come out right"

    def __init__(
        self, places: Places, held: Pairs, items: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.items = items
        self._places = places
        self._near, self._far = np.asarray(held.similar), np.asarray(held.dissimilar)
        self._others = rng.integers(places.n_points, size=(len(self._near), _OTHERS))

    def score(self, F: np.ndarray | None) -> np.ndarray:
        near, far = (self._places.squared(F, *pairs.T) for pairs in (self._near, self._far))
        i = np.repeat(self._near[:, 0], _OTHERS)
        others = self._places.squared(F, i, self._others.reshape(-1)).reshape(-1, _OTHERS)
        of_similar = _share_below(near[:, None], others).mean(axis=1)
        # A dissimilar pair without a similar one has nothing to be farther than.
        of_dissimilar = np.full(far.size, 0.5)
        group = np.split(group_of(self.items), [near.size])
        for k in range(_GROUPS):
            a, b = (of_kind == k for of_kind in group)
            if np.any(a) and np.any(b):
                of_similar[a] = (of_similar[a] + 1 - _ranks(near[a], far[b])) / 2
                of_dissimilar[b] = _ranks(far[b], near[a])
        return np.concatenate([of_similar, of_dissimilar])


@final
class TripletJudge(Judge):
    """Comparisons of distances."""

    what: ClassVar[str] = "comparisons that hold"

    def __init__(
        self, places: Places, held: Triplets, items: np.ndarray, rng: np.random.Generator
    ) -> None:
        del rng
        self.items = items
        self._places = places
        i, j, _ = held.near_and_far()
        self._near, self._far = (
            (np.asarray(i)[some], np.asarray(j)[some])
            for some in (slice(held.size), slice(held.size, None))
        )

    def score(self, F: np.ndarray | None) -> np.ndarray:
        near, far = (self._places.squared(F, *pairs) for pairs in (self._near, self._far))
        return np.asarray(_share_below(near, far))


@final
class BoundJudge(Judge):
    """Squared distances that are known up to an interval."""

    what: ClassVar[str] = "bounds that are kept, up to the share by which they are missed"

    def __init__(
        self, places: Places, held: Bounds, items: np.ndarray, rng: np.random.Generator
    ) -> None:
        del rng
        self.items = items
        self._places = places
        self._i, self._j = np.asarray(held.i), np.asarray(held.j)
        self._upper, self._lower = (np.asarray(bound) for bound in held.limits)

    def score(self, F: np.ndarray | None) -> np.ndarray:
        d = self._places.squared(F, self._i, self._j)
        missed = np.maximum(d - self._upper, 0.0) + np.maximum(self._lower - d, 0.0)
        asked = np.where(d > self._upper, self._upper, self._lower)
        relative = np.divide(missed, missed + asked, out=np.zeros_like(d), where=missed > 0)
        return np.asarray(1 - relative)


def group_of(items: np.ndarray) -> np.ndarray:
    """The group of each thing held back, from 0."""
    return np.asarray(items % _GROUPS)


def judge_of(
    places: Places, held: SideInformation, items: np.ndarray, rng: np.random.Generator
) -> Judge:
    """The judge of such statements."""
    return _JUDGES[type(held)](places, held, items, rng)


def _share_below(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    return np.asarray((near < far) + (near == far) / 2)


def _ranks(values: np.ndarray, those: np.ndarray) -> np.ndarray:
    """The share of `those` at most as large as, or smaller than, each value: the mean of the two."""
    ordered = np.sort(those)
    sides: Sequence[np.ndarray] = [
        np.searchsorted(ordered, values, side=side) for side in ("left", "right")
    ]
    return np.asarray((sides[0] + sides[1]) / (2 * len(those)))


_JUDGES: Mapping[type[SideInformation], Callable[..., Judge]] = {
    Pairs: PairJudge,
    Triplets: TripletJudge,
    Bounds: BoundJudge,
}
