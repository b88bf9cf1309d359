"""known = learned from + held back: by the rest a metric is judged, and in the end all is learned from.

Of labels, points are held back, class by class. Of statements, those about points drawn at random, where they
are about so many points that this leaves enough to learn from; else statements drawn at random, and then all
that are about the same points.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn._base.arrays import Array, added_at, as_index, as_real, constant, to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.points import rows_at
from gramlearn.methods.choosing.candidates import Family, prior_root
from gramlearn.methods.choosing.judges import Judge, NeighborJudge, judge_of
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.within import Within, within_classes, within_pairs
from gramlearn.side_information import Pairs, SideInformation, Triplets
from gramlearn.side_information.against_others import shares_of_lists
from gramlearn.side_information.neighbors import Neighborhoods
from gramlearn.side_information.splitting import choose_held
from gramlearn.side_information.tables import pair_keys

_NEIGHBORS = 5  # of its own class, and of others, that each point is compared with, at most
_POINTS = 3000  # labeled points that choices are made with
_PER_POINT = 5  # comparisons of near neighbors, of all that their lists make, that are learned from in the end
_ENOUGH = 3000  # or so many, where that is more
# Of very many statements so many are enough: to choose among candidates, and to tell the covariance of points
# that are alike.
_CHOSEN_WITH = 50_000
_ALIKE = 200_000
# Comparisons of pairs with points drawn at random: so many for each entry of a metric, and so many at least.
# With four times as many, two more of ten thousand came out right (a million pairs, 64 features).
_PER_ENTRY, _COMPARISONS = 200, 500_000
_MEASURED = 10_000  # pairs that tell how far points lie apart
_MANY_POINTS = 600  # labeled points of which a third tells candidates apart
_MANY_STATEMENTS = 2000  # statements of which a quarter does
_FOLDS = 3
_LEAST = 8  # statements, or labeled points, of which some can be held back
_HELD = 0.25
_TRIES = 3  # draws for a pair, of which few are known already
_UNIT_MARGIN = {"neighbors": 1.0, "others": 2.0, "given": 1.0}
SAMPLE = {
    "neighbors": 1000,
    "others": 3000,
    "given": 3000,
    "drawn": 3000,
}  # statements that a choice is made with


class Fold(NamedTuple):
    """A part to learn from, and the judge that has the rest."""

    part: Any
    judge: Judge


class Task(ABC):
    """What is known of points, and what can be learned of it."""

    families: Sequence[Family]

    @abstractmethod
    def folds(self, rng: np.random.Generator) -> list[Fold]:
        """Parts and judges; none where too little is known to hold any of it back."""

    @property
    @abstractmethod
    def whole(self) -> Any:
        """All that is known, as a part."""

    @abstractmethod
    def root(self, prior: str, part: Any) -> np.ndarray:
        """A of the prior W0 = A'A, as this part tells it."""

    @abstractmethod
    def within(self, part: Any) -> Within:
        """What alike points differ by, coordinate by coordinate, as this part tells it."""

    @abstractmethod
    def places(self, part: Any) -> Places:
        """The points that the statements of a part are about."""

    @abstractmethod
    def statements(
        self, kind: str, part: Any, seen: np.ndarray, rng: np.random.Generator
    ) -> SideInformation:
        """Statements of that kind about `places(part)`, as points with coordinates `seen` tell them."""


@final
class OfLabels(Task):
    """Classes of points, numbered from 0; -1 where a point has none."""

    def __init__(self, places: Places, classes: np.ndarray, families: Sequence[Family]) -> None:
        self._all = places
        self._classes = classes
        self.families = families

    @property
    def whole(self) -> Any:
        return np.flatnonzero(self._classes >= 0)

    def folds(self, rng: np.random.Generator) -> list[Fold]:
        rows = np.sort(rng.permutation(self.whole)[:_POINTS])
        fold = self._deal(rows, rng)
        parts = [(rows[fold != k], rows[fold == k]) for k in range(_FOLDS)]
        if any(min(len(known), len(held)) == 0 or not self._tells(known) for known, held in parts):
            return []
        if len(rows) >= _MANY_POINTS:
            parts = parts[:1]
        number = rng.permutation(self._all.n_points)
        return [
            Fold(known, NeighborJudge(self._all, known, held, self._classes, number[held]))
            for known, held in parts
        ]

    def _deal(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The fold of each row: the members of each class go round."""
        fold = np.empty(len(rows), dtype=np.intp)
        for label in np.unique(self._classes[rows]):
            members = rng.permutation(np.flatnonzero(self._classes[rows] == label))
            fold[members] = (np.arange(len(members)) + rng.integers(_FOLDS)) % _FOLDS
        return fold

    def _tells(self, rows: np.ndarray) -> bool:
        """Whether some class has two members among these, and there is another class."""
        counts = np.unique(self._classes[rows], return_counts=True)[1]
        return len(rows) >= _LEAST and counts.size > 1 and bool(np.any(counts > 1))

    def root(self, prior: str, part: Any) -> np.ndarray:
        places = self._all.within(part)
        within = differences_from_means(places.coordinates, self._classes[part])
        return prior_root(prior, places, within)

    def within(self, part: Any) -> Within:
        return within_classes(self._all.within(part).coordinates, self._classes[part])

    def places(self, part: Any) -> Places:
        return self._all.within(part)

    def statements(
        self, kind: str, part: Any, seen: np.ndarray, rng: np.random.Generator
    ) -> SideInformation:
        # As `Triplets.from_neighbors`, but where all points equal their nearest others, nothing is wrong here.
        found = Neighborhoods.of(seen, self._classes[part], _NEIGHBORS, _NEIGHBORS)
        margin = _UNIT_MARGIN[kind] * found.mean_distance(found.pairs_of_two_classes)
        side = Triplets(found.triplets, n_points=len(part), margin=margin)
        return thinned(side, rng, max(_PER_POINT * len(part), _ENOUGH))


@final
class OfStatements(Task):
    """Statements of any kind."""

    def __init__(self, places: Places, side: SideInformation, families: Sequence[Family]) -> None:
        self._all = places
        self._side = side
        self.families = families
        self._compares = any(family.statements == "others" for family in families)

    @property
    def whole(self) -> Any:
        return self._side

    def to_choose(self, rng: np.random.Generator, *, all_points: bool) -> "OfStatements":
        """The same, or of very many statements some, about their own points unless all are needed."""
        if self._side.size <= _CHOSEN_WITH:
            return self
        side = evenly_thinned(self._side, rng, _CHOSEN_WITH)
        places = self._all
        if not all_points:
            rows = to_numpy(side.involved())
            side, places = side.keep_points(rows), places.within(rows)
        return OfStatements(places, side, self.families)

    def folds(self, rng: np.random.Generator) -> list[Fold]:
        size = self._side.size
        if size < _LEAST:
            return []
        table = np.asarray(self._side.statement_points())
        # Statements about the same points are one thing, such as the two of an odd one out.
        kind = distinct_rows(np.sort(table, axis=1)).kind
        number = rng.permutation(size)[kind]
        count = _FOLDS if size < _MANY_STATEMENTS else 1
        found = []
        for _ in range(count):
            held = hold_back(table, rng)
            if held is None:
                return []
            part = self._side.drop(held)
            if self._compares and not len(alike_pairs(part)[0]):
                return []  # with nothing alike, there is nothing to compare with others
            judge = judge_of(self._all, self._side.drop(~held), number[held], rng)
            found.append(Fold(part, judge))
        return found

    def root(self, prior: str, part: Any) -> np.ndarray:
        P = self._all.coordinates
        # Only this one is told by what is alike, and very many pairs take a while to look through.
        differences = differences_of_alike(P, part) if prior == "inverse_within" else P[:0, ...]
        return prior_root(prior, self._all, differences)

    def within(self, part: Any) -> Within:
        return within_pairs(self._all.coordinates, *alike_pairs(part))

    def places(self, part: Any) -> Places:
        return self._all

    def statements(
        self, kind: str, part: Any, seen: np.ndarray, rng: np.random.Generator
    ) -> SideInformation:
        if kind == "given":
            return scaled_to(part, seen)
        if kind == "drawn":
            return beside_drawn(part, rng)
        pairs = part
        if not isinstance(part, Pairs):
            rows, weight = alike_pairs(part)
            pairs = Pairs(rows, n_points=self._all.n_points, similar_weight=weight)
        k = int(seen.shape[1])
        return Triplets.from_pairs(
            pairs,
            seen,
            _NEIGHBORS,
            margin=_UNIT_MARGIN[kind],
            max_triplets=max(_PER_ENTRY * k * (k + 1) // 2, _COMPARISONS),
            random_state=rng,
        )


def hold_back(table: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """A mask of about a quarter of the statements, or None where they cannot be told apart."""
    for by in ("points", "statements"):
        try:
            held = choose_held(table, _HELD, by, rng)
        except ValueError:
            continue
        if _HELD / 2 <= held.mean() <= 2 * _HELD:
            return held
    return None


def differences_from_means(P: Array, classes: np.ndarray) -> Array:
    """p - m of each point and the mean of its class, numbered from 0."""
    of_point, counts = as_index(classes, P), np.maximum(np.bincount(classes), 1)
    sums = added_at(constant(0.0, P, (counts.size, P.shape[1])), of_point, P)
    return P - rows_at(sums / as_real(counts, P)[:, None], of_point)


def differences_of_alike(P: Array, side: SideInformation) -> Array:
    """(p_i - p_j) sqrt(w / 2) of pairs called near, which has the covariance of points about their mean.

    w are the weights of the pairs, over their mean. Of very many pairs it is some.
    """
    pairs, weight = alike_pairs(side)
    step = -(-len(pairs) // _ALIKE) or 1
    pairs, weight = pairs[::step], weight[::step]
    i, j = pairs.T
    return (rows_at(P, i) - rows_at(P, j)) * as_real(np.sqrt(weight / 2.0), P)[:, None]


def alike_pairs(side: SideInformation) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that statements call near, each once, and the sum of their weights, over its mean."""
    i, j, alike = (to_numpy(v) for v in side.near_and_far())
    some = distinct_rows(np.sort(np.stack([i, j], axis=1)[alike], axis=1))
    weight = np.bincount(some.kind, np.asarray(side.pair_weights())[alike])
    rows, weight = some.rows[weight > 0], weight[weight > 0]
    return rows, weight / max(float(weight.mean()), np.finfo(float).tiny) if weight.size else weight


def beside_drawn(pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """These, and dissimilar ones drawn among all points, as many as are similar and weighing as much.

    Two points drawn at random are mostly unlike. Those that are alike after all are errors among many, which a
    soft loss bears.
    """
    similar = len(pairs.similar)
    drawn = rng.integers(pairs.n_points, size=(_TRIES * similar, 2))
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    known = np.concatenate([to_numpy(pairs.similar), to_numpy(pairs.dissimilar)])
    is_new = ~np.isin(pair_keys(drawn, pairs.n_points), pair_keys(known, pairs.n_points))
    drawn = drawn[is_new][:similar]
    if not len(drawn):
        return pairs
    weight = float(np.mean(pairs.pair_weights()[: len(pairs.similar)]))
    return pairs + Pairs(None, drawn, n_points=pairs.n_points, dissimilar_weight=weight)


def scaled_to(side: SideInformation, seen: np.ndarray) -> SideInformation:
    """Comparisons that were given no margin get one, in proportion to how far points lie apart."""
    if not isinstance(side, Triplets) or side.margin is not None:
        return side
    return replace(side, margin=_UNIT_MARGIN["given"] * unit_of(side, Places(seen)))


def thinned(side: SideInformation, rng: np.random.Generator, most: int | None) -> SideInformation:
    """At most so many of the statements, drawn at random; None is no limit."""
    if most is None or side.size <= most:
        return side
    dropped = np.ones(side.size, dtype=bool)
    dropped[rng.permutation(side.size)[:most]] = False
    return side.drop(dropped)


def evenly_thinned(side: SideInformation, rng: np.random.Generator, most: int) -> SideInformation:
    """So many of more statements; of few similar pairs beside many others all stay, and these weigh more."""
    if not isinstance(side, Pairs):
        return thinned(side, rng, most)
    counts = int(side.similar.shape[0]), int(side.dissimilar.shape[0])
    kept = shares_of_lists(counts, most)
    chosen = [rng.permutation(n) >= k for n, k in zip(counts, kept, strict=True)]
    near, far = (n / max(k, 1) for n, k in zip(counts, kept, strict=True))
    some = side.drop(np.concatenate(chosen))
    return replace(
        some,
        similar_weight=_times(some.similar_weight, near),
        dissimilar_weight=_times(some.dissimilar_weight, far),
    )


def _times(weight: Any, factor: float) -> Any:
    """Weights times a number; None is 1."""
    return factor if weight is None else weight * factor


def unit_of(side: SideInformation, places: Places) -> float:
    """The mean squared distance of the pairs called far; of all pairs, where none is called so."""
    i, j, alike = (to_numpy(v) for v in side.near_and_far())
    far = ~alike if np.any(~alike) else np.ones(len(i), dtype=bool)
    if not len(i):
        table = to_numpy(side.statement_points())
        i, j, far = table[:, 0], table[:, 1], np.ones(len(table), dtype=bool)
    rows = np.flatnonzero(far)
    rows = rows[:: max(1, len(rows) // _MEASURED)]
    unit = float(np.mean(places.squared(None, i[rows], j[rows])))
    return unit or 1.0
