"""d(i, j) <= upper for pairs that are alike, d(i, j) >= lower for unlike ones; d is squared.

A pair stands on one side, and once: how often it was listed is its weight. What the pairs imply is added by
`closure`, on request.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import (
    Array,
    as_index,
    every_row,
    is_numpy,
    namespace,
    to_numpy,
)
from gramlearn._base.distances import squared_distances
from gramlearn._base.validation import check_count, check_points, check_share
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import tables
from gramlearn.side_information.base import (
    Coincide,
    Lengths,
    SideInformation,
    logarithms,
)
from gramlearn.side_information.closure import (
    Contradiction,
    find_contradictions,
    refuse_pairs_in_both,
    transitive_closure,
)
from gramlearn.side_information.judgments import settle_judgments
from gramlearn.side_information.neighbors import Neighborhoods
from gramlearn.side_information.percentiles import (
    check_not_crossed,
    percentile_bounds,
)
from gramlearn.side_information.sampling import (
    draw_pairs,
    draw_pairs_of_each_class,
    find_extreme_pairs,
)
from gramlearn.side_information.stated import (
    Stated,
    missing_bounds,
    own_or_given,
    state_pairs,
)
from gramlearn.side_information.stored import refuse_stored

if TYPE_CHECKING:
    from gramlearn.side_information.stored_pairs import StoredPairs

# What goes with each list of pairs: its bound, and its weight.
_NUMBERS = {"similar": ("upper", "similar_weight"), "dissimilar": ("lower", "dissimilar_weight")}


@final
@dataclass(frozen=True, eq=False, repr=False)
class Pairs(SideInformation):
    """d(i, j) <= upper for the similar pairs, d(i, j) >= lower for the dissimilar ones, d squared.

    `+` joins the pairs of two about the same points. `Pairs(n_points=n)` has none: a start to add others to.

    Parameters
    ----------
    similar, dissimilar : m x 2 table of row indices, optional
        A list, or an array of any library. A pair listed again in the same list, in either order, becomes one
        with the first, and their weights add up. Listed with different bounds it is two statements, whose
        losses add up. A pair in both lists is refused; `from_judgments` settles it.
    n_points : int
        How many points the indices refer to: len(X).
    upper, lower : number or one for each pair, optional
        Squared distances. Where they are missing `bind` finds them. Of two numbers, upper must not exceed
        lower; bounds given for each pair are not compared, as they belong to different pairs.
    similar_weight, dissimilar_weight : positive number or one for each pair, optional
        What the loss of a pair is multiplied by; 1 without it.
    """

    similar: Any = None
    dissimilar: Any = None
    _: KW_ONLY
    n_points: Any = None
    upper: Any = None
    lower: Any = None
    similar_weight: Any = None
    dissimilar_weight: Any = None

    def __post_init__(self) -> None:
        n = tables.check_n_points(self.n_points, "Pairs")
        lists = _check_tables(self.similar, self.dissimilar, n)
        fields: dict[str, Any] = {"n_points": n, **lists}
        for side, names in _NUMBERS.items():
            for name, positive in zip(names, (False, True), strict=True):
                describe = partial(_name, side, lists[side])
                fields[name] = tables.check_numbers(
                    getattr(self, name), name, lists[side], describe, positive=positive
                )
        keys = {side: tables.pair_keys(table, n) for side, table in lists.items()}
        xp = namespace(keys["similar"])
        twice = tables.repeated(xp.concat(list(keys.values())))
        if twice.shape[0]:
            rows = {side: tables.rows_with(every, twice) for side, every in keys.items()}
            keys = {side: xp.take(every, rows[side]) for side, every in keys.items()}
            refuse_pairs_in_both(keys["similar"], keys["dissimilar"], n)
            for side, (bound, weight) in _NUMBERS.items():
                merged = tables.merge_repeats(
                    lists[side], rows[side], [keys[side]], fields[bound], fields[weight]
                )
                fields.update(zip((side, bound, weight), merged, strict=True))
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        check_not_crossed(self.upper, self.lower, "")

    @classmethod
    def from_labels(cls, y: Any, n_pairs: int | None = None, *, random_state: Any = None) -> Self:
        """n_pairs / 2 pairs with y_i = y_j and n_pairs / 2 with y_i != y_j, every pair equally likely.

        No pair is drawn twice. Where a half asks for more pairs than there are, it is all of them, and
        the draw has fewer than n_pairs. An odd n_pairs gives the odd one to the unlike half.

        Parameters
        ----------
        y : vector of n labels
            Numbers, strings or booleans, in any array library; the indices are drawn in host memory.
            The integer -1, NaN, None and pandas' NA mean unlabeled, and such points are in no pair; -1.0 and
            "-1" are labels as any other: if -1 is a class of yours, pass y.astype(str). Labels that are
            exactly -1, 0 and 1 draw a warning, for they may be three classes. A class with one member is in
            unlike pairs only.
        n_pairs : int, optional
            40 c^2 for c classes (K09 7.2), but ten million at most, where it is not given.
        random_state : int, Generator or None
            Seeds the draw.
        """
        similar, dissimilar, n_points = draw_pairs(y, n_pairs, random_state)
        return cls(similar, dissimilar, n_points=n_points)

    @classmethod
    def from_classes(cls, y: Any, per_class: int = 100, *, random_state: Any = None) -> Self:
        """`per_class` pairs within each class, and as many with one point in it and one outside (J12 6).

        A pair that two classes drew is listed once, so that there may be a few less; and a class that has
        fewer pairs gives all of them. Labels as in `from_labels`.
        """
        similar, dissimilar, n_points = draw_pairs_of_each_class(y, per_class, random_state)
        return cls(similar, dissimilar, n_points=n_points)

    @classmethod
    def from_neighbors(cls, X: Any, y: Any, n_same: int = 3, n_other: int = 3) -> Self:
        """Each point with the nearest of its class, which are similar, and with the nearest of the others.

        A pair that both of its points list has weight 2.

        Parameters
        ----------
        X : array or sparse matrix n x d
            In the units in which neighbors shall be found: distances are plain.
        y : vector of n labels
            As for `from_labels`; points without one are in no pair.
        n_same, n_other : int
            How many neighbors of its own class each point lists, and how many of the others.
        """
        found = Neighborhoods.of(X, y, n_same, n_other)
        lists = found.pairs_of_one_class, found.pairs_of_two_classes
        return cls(*lists, n_points=found.points.shape[0])

    @classmethod
    def from_similarities(
        cls,
        S: Any,
        n_pairs: int | None = None,
        percentiles: tuple[float, float] = (5, 95),
        *,
        random_state: Any = None,
    ) -> Self:
        """Similar are the pairs above the upper percentile of S_ij, dissimilar those below the lower one.

        Parameters
        ----------
        S : array n x n
            Symmetric similarities, the larger the more alike; its diagonal is ignored.
        n_pairs : int, optional
            How many to draw of them, half of each kind; all where it is not given.
        percentiles : (low, high)
            Of the entries above the diagonal.
        random_state : int, Generator or None
            Seeds the draw.
        """
        drawn = find_extreme_pairs(S, n_pairs, percentiles, random_state)
        similar, dissimilar, n_points = drawn
        return cls(similar, dissimilar, n_points=n_points)

    @classmethod
    def from_judgments(
        cls, i: Any, j: Any, alike: Any, n_points: int, *, conflicts: str = "majority"
    ) -> Self:
        """Pairs of judgments "i and j are alike", or not; a pair may be judged many times, in either order.

        Each pair is listed once, with i < j. Where all judgments agree, its weight is their number.

        Parameters
        ----------
        i, j : vectors of row indices
        alike : vector of booleans, or of 1 for yes and -1 or 0 for no
        n_points : int
            How many points the indices refer to: len(X).
        conflicts : {"majority", "drop", "similar", "dissimilar", "raise"}
            What to do with a pair that judgments disagree about: "majority" lists it on the side of the
            majority with its lead as weight, and leaves out ties; "drop" leaves it out; "similar" and
            "dissimilar" count the judgments for that side alone; "raise" raises ContradictionError.
        """
        table, lead = settle_judgments(i, j, alike, n_points, conflicts)
        return cls(
            table[lead > 0],
            table[lead < 0],
            n_points=n_points,
            similar_weight=lead[lead > 0],
            dissimilar_weight=-lead[lead < 0],
        )

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        *,
        n_points: int,
        i: str = "i",
        j: str = "j",
        alike: str | bool = "alike",
        upper: Any = None,
        lower: Any = None,
        weight: Any = None,
    ) -> "StoredPairs":
        """Pairs in Parquet files, with a row for each, that are read in chunks and never held whole.

        `read()` gives them as `Pairs`, `sample(n)` some of them. Files are read again in every pass and
        must stay as they are. A pair that is listed again counts again, and one listed as both is not found.

        Parameters
        ----------
        path : path, list of paths, or folder
            The files in a folder, and in those in it, are taken in the order of their names.
        n_points : int
            How many points the indices refer to: len(X).
        i, j : str
            The columns with the row numbers of the two points.
        alike : str or bool
            The column that says which pairs are alike: booleans, or 1 for yes and 0 or -1 for no. True or False
            where all of them are, or none is.
        upper, lower, weight : str or number, optional
            As in `Pairs`: a column, or one number for all. Only upper counts for pairs that are alike, and only
            lower for the others.
        """
        from gramlearn.side_information.stored_pairs import StoredPairs

        numbers = {"upper": upper, "lower": lower, "weight": weight}
        return StoredPairs.open(path, n_points, {"i": i, "j": j}, {"alike": alike}, numbers)

    @classmethod
    def from_npy(
        cls,
        similar: Any = None,
        dissimilar: Any = None,
        *,
        n_points: int,
        upper: Any = None,
        lower: Any = None,
        similar_weight: Any = None,
        dissimilar_weight: Any = None,
    ) -> "StoredPairs":
        """The same of files of .npy; arguments are those of `Pairs`, with a path in place of each array."""
        from gramlearn.side_information.stored_pairs import StoredPairs

        numbers = {
            "similar": {"upper": upper, "similar_weight": similar_weight},
            "dissimilar": {"lower": lower, "dissimilar_weight": dissimilar_weight},
        }
        lists = {"similar": similar, "dissimilar": dissimilar}
        return StoredPairs.of_arrays(lists, n_points, numbers)

    def with_relative_bounds(self, points: Any, eps: float = 0.25) -> Self:
        """The same pairs with bounds of their own: (1 - eps) d if similar, (1 + eps) d if not (K09 7.1).

        d is the squared distance that the pair has now. No metric changes the distance of equal points, so
        pairs of them are left out.
        """
        eps = check_share(eps, "eps")
        points = points.tocsr() if issparse(points) else check_points(points, "points")
        self.check_fits(int(points.shape[0]))
        self.check_not_empty()
        i, j, alike = self.near_and_far()
        d = squared_distances(points, i, j)
        d = to_numpy(d) if is_numpy(i) else d  # bounds lie where row numbers do
        equal = d == 0
        if bool(namespace(d).all(equal)):
            raise ValueError("all pairs are of equal points, whose distance no metric changes.")
        d, alike = d[~equal], alike[~equal]
        return replace(self.drop(equal), upper=(1 - eps) * d[alike], lower=(1 + eps) * d[~alike])

    def __add__(self, other: Self) -> Self:
        """The pairs of both, about the same points; weights of the same pair add up."""
        if not isinstance(other, Pairs):
            return NotImplemented
        self._check_same_points(other)
        fields: dict[str, Any] = {}
        for side, (bound, weight) in _NUMBERS.items():
            first, second = getattr(self, side), getattr(other, side)
            table, sizes = (
                tables.join_tables(first, second),
                (int(first.shape[0]), int(second.shape[0])),
            )
            bounds = getattr(self, bound), getattr(other, bound)
            weights = getattr(self, weight), getattr(other, weight)
            fields[side] = table
            fields[bound] = tables.join_numbers(bounds, sizes, table, bound)
            fields[weight] = tables.join_weights(weights, sizes, table)
        return replace(self, **fields)

    @property
    def size(self) -> int:
        return int(self.similar.shape[0]) + int(self.dissimilar.shape[0])

    def __repr__(self) -> str:
        similar, dissimilar = self.similar.shape[0], self.dissimilar.shape[0]
        return f"Pairs({similar} similar, {dissimilar} dissimilar, n_points={self.n_points})"

    def describe(self, k: int) -> str:
        n_similar = int(self.similar.shape[0])
        if k < n_similar:
            return _name("similar", self.similar, k)
        return _name("dissimilar", self.dissimilar, k - n_similar)

    def keep_points(self, rows: Any) -> Self:
        kept = {
            side: tables.renumber(getattr(self, side), rows, self.n_points) for side in _NUMBERS
        }
        n_rows = kept["similar"][2]
        lists = {side: table for side, (table, _, _) in kept.items()}
        numbers = self._numbers_at({side: places for side, (_, places, _) in kept.items()})
        return replace(self, n_points=n_rows, **lists, **numbers)

    def find_impossible(self, coincide: Coincide) -> Array:
        i, j = tables.contiguous_columns(self.dissimilar)
        none_of_the_similar = self.similar[:, 0] < 0
        impossible = as_index(coincide(i, j), i) > 0
        return namespace(i).concat([none_of_the_similar, impossible])

    def _drop(self, mask: Array) -> Self:
        n_similar = int(self.similar.shape[0])
        masks, xp = (mask[:n_similar], mask[n_similar:]), namespace(self.similar)
        kept = {
            side: tables.rows_left(part, self.similar)
            for side, part in zip(_NUMBERS, masks, strict=True)
        }
        lists = {side: xp.take(getattr(self, side), rows, axis=0) for side, rows in kept.items()}
        return replace(self, **lists, **self._numbers_at(kept))

    def _numbers_at(self, kept: dict[str, Array]) -> dict[str, Any]:
        """The bounds and weights of the rows that are kept of each list."""
        return {
            name: tables.rows_of(getattr(self, name), rows)
            for side, rows in kept.items()
            for name in _NUMBERS[side]
        }

    def statement_points(self) -> Array:
        return namespace(self.similar).concat([self.similar, self.dissimilar])

    def near_and_far(self) -> tuple[Array, Array, Array]:
        table = self.statement_points()
        alike = every_row(table.shape[0], table) < self.similar.shape[0]
        return table[:, 0], table[:, 1], alike

    def pair_weights(self) -> np.ndarray:
        sides = ((self.similar, self.similar_weight), (self.dissimilar, self.dissimilar_weight))
        return np.concatenate([tables.weights_in_full(w, table.shape[0]) for table, w in sides])

    def weights(self) -> np.ndarray:
        return self.pair_weights()

    def excess(self, lengths: Lengths, bounds: tuple[Any, Any] | None = None) -> np.ndarray:
        near, far = self._lengths(lengths)
        upper, lower = self._own_or(bounds)
        return np.concatenate([near - upper, lower - far])

    def log_ratios(self, lengths: Lengths) -> np.ndarray:
        near, far = logarithms(*self._lengths(lengths))
        # Halfway between the medians: a few wrong statements do not move it.
        middle = float(np.mean([np.median(some) for some in (near, far) if some.size]))
        return np.concatenate([near - middle, middle - far])

    def term_statements(self, loss: BoundedLoss) -> list[np.ndarray]:
        del loss
        near, far = np.split(np.arange(self.size), [int(self.similar.shape[0])])
        return [rows for rows in (near, far) if rows.size]

    def _lengths(self, lengths: Lengths) -> tuple[np.ndarray, np.ndarray]:
        i, j, _ = self.near_and_far()
        near, far = np.split(lengths(i, j), [int(self.similar.shape[0])])
        return near, far

    def _own_or(self, bounds: tuple[Any, Any] | None) -> tuple[Any, Any]:
        """(upper, lower), in host memory: those of the pairs, else those given; 0 for a list without pairs."""
        given = (None, None) if bounds is None else bounds
        found = []
        for (side, (name, _)), other in zip(_NUMBERS.items(), given, strict=True):
            value = getattr(self, name)
            value = other if value is None else value
            if value is None and getattr(self, side).shape[0]:
                raise ValueError(
                    f"`side` has {side} pairs without a bound, and no `{name}` is known; pass Pairs(..., "
                    f"{name}=a squared distance)."
                )
            found.append(0.0 if value is None else to_numpy(value))
        return found[0], found[1]

    def _state(
        self, loss: BoundedLoss, points: Any, bounds: Any, random_state: Any
    ) -> list[Stated]:
        """One term for the similar pairs, then one for the dissimilar ones, each if there are any.

        A bound is the one given to `Pairs`; else the one in `bounds=(upper, lower)`; else it comes from
        `percentile_bounds(points)`.
        """
        upper, lower = self._find_bounds(points, bounds, random_state)
        lists = [
            (tables.contiguous_columns(table), bound, weight) if table.shape[0] else None
            for table, bound, weight in (
                (self.similar, upper, self.similar_weight),
                (self.dissimilar, lower, self.dissimilar_weight),
            )
        ]
        return state_pairs(loss, *lists)

    def _find_bounds(self, points: Any, bounds: Any, random_state: Any) -> tuple[Any, Any]:
        upper, lower = own_or_given((self.upper, self.lower), bounds)
        needed = self.similar.shape[0] > 0, self.dissimilar.shape[0] > 0
        if missing := missing_bounds(upper, lower, needed):
            if points is None:
                raise ValueError(
                    f"no bound is known ({missing}); pass `bounds=(upper, lower)` in squared "
                    "distances, or `points` to find them from."
                )
            found = percentile_bounds(points, random_state=random_state)
            upper = found[0] if upper is None else upper
            lower = found[1] if lower is None else lower
        if all(needed):
            check_not_crossed(upper, lower, "; pass both, so that they fit each other")
        return upper, lower

    def contradictions(self) -> list[Contradiction]:
        """List the dissimilar pairs that similar pairs join, as (pair, shortest chain).

        Runs in host memory, a breadth-first search for each point at which a contradiction begins.
        """
        return find_contradictions(to_numpy(self.similar), to_numpy(self.dissimilar), self.n_points)

    def closure(self, *, max_pairs: int = 10_000_000) -> Self:
        """Add what follows: alike is transitive, and unlike holds between whole components.

        The result can be far larger: m points joined by m - 1 similar pairs give m (m - 1) / 2. A
        closure of more than `max_pairs` pairs is refused. Contradictions raise
        `ContradictionError`, which lists all of them. Bounds must be one number each, which the
        implied pairs inherit; they have the least weight of those in their list. Pairs come back as
        (i, j) with i < j in an order of their own. Runs in host memory.
        """
        max_pairs = check_count(max_pairs, "max_pairs")
        for name in ("upper", "lower"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, float):
                raise ValueError(
                    f"`{name}` has one number for each pair, and the pairs that `closure` adds "
                    "have none; pass one number for all."
                )
        lists = to_numpy(self.similar), to_numpy(self.dissimilar)
        implied = transitive_closure(*lists, self.n_points, max_pairs)
        closed = dict(zip(_NUMBERS, implied, strict=True))
        changes = {side: as_index(table, self.similar) for side, table in closed.items()}
        for side, (_, weight) in _NUMBERS.items():
            given = getattr(self, weight)
            if given is not None and not isinstance(given, float):
                every = zip(to_numpy(getattr(self, side)).tolist(), to_numpy(given), strict=True)
                known, least = {frozenset(pair): w for pair, w in every}, to_numpy(given).min()
                changes[weight] = [known.get(frozenset(p), least) for p in closed[side].tolist()]
        return replace(self, **changes)


def _name(side: str, table: Array, k: int) -> str:
    return f"the {side} pair ({int(table[k, 0])}, {int(table[k, 1])})"


def _check_tables(similar: Any, dissimilar: Any, n_points: int) -> dict[str, Array]:
    """Both as m x 2 lists of one library, each row with two different points."""
    lists: dict[str, Array] = {}
    for name, x in (("similar", similar), ("dissimilar", dissimilar)):
        lists[name] = tables.check_table([] if x is None else x, name, (2,), n_points)
        tables.check_differ(tables.views(lists[name]), f"`{name}`", (0, 1), tables.DIFFERENT)
    like = lists["similar"] if lists["similar"].shape[0] else lists["dissimilar"]
    names = ("`dissimilar`", "`similar`")  # of which the second, where there are any, is the model
    return {name: as_index(table, like, names) for name, table in lists.items()}


def check_pairs(x: Any, name: str, n_points: int) -> None:
    """Pairs, over so many points."""
    refuse_stored(x, f"`{name}`")
    if not isinstance(x, Pairs):
        raise TypeError(
            f"`{name}` must be Pairs(similar=..., dissimilar=..., n_points=...); got {type(x).__name__}."
        )
    x.check_fits(n_points)
