"""d(i, j) + margin <= d(i, k), or d(k, l): which of two squared distances is the smaller.

Comparisons are answers, often of many people: one listed twice counts twice, as its weight, and opposite ones
may both be listed. A soft loss weighs them against each other.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import (
    Array,
    as_real,
    every_row,
    namespace,
    read,
    to_numpy,
)
from gramlearn._base.distances import squared_distances
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.validation import check_count, check_number, check_points, generator
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import tables
from gramlearn.side_information.against_others import compare_with_others
from gramlearn.side_information.base import (
    Coincide,
    Lengths,
    SideInformation,
    logarithms,
)
from gramlearn.side_information.neighbors import Neighborhoods
from gramlearn.side_information.pairs import Pairs, check_pairs
from gramlearn.side_information.sampling import draw_triplets
from gramlearn.side_information.stated import Stated, state_comparisons
from gramlearn.side_information.stored import refuse_stored

if TYPE_CHECKING:
    from gramlearn.side_information.stored_triplets import StoredTriplets


@final
@dataclass(frozen=True, eq=False, repr=False)
class Triplets(SideInformation):
    """d(i, j) <= d(i, k) - margin for rows (i, j, k), d(i, j) <= d(k, l) - margin for (i, j, k, l).

    A row (i, j, k) reads "i is nearer to j than to k". d is the squared distance. `+` joins the comparisons of
    two about the same points.

    Parameters
    ----------
    triplets : m x 3 or m x 4 table of row indices
        A list, or an array of any library. Rows that make the same comparison with the same margin become one,
        the first, and their weights add up.
    n_points : int
        How many points the indices refer to: len(X).
    margin : number or one for each row, optional
        In squared distances, at least 0. It sets the scale of what is learnt from a zero prior;
        with another prior choose it in proportion to the squared distances there. Without it a learner that
        chooses for itself takes such a margin, and all others take 1.
    weight : positive number or one for each row, optional
        What the loss of a row is multiplied by; 1 without it.
    """

    triplets: Any
    _: KW_ONLY
    n_points: Any = None
    margin: Any = None
    weight: Any = None

    def __post_init__(self) -> None:
        n = tables.check_n_points(self.n_points, "Triplets")
        table = _check_comparisons(self.triplets, "triplets", (3, 4), n)
        object.__setattr__(self, "n_points", n)
        object.__setattr__(self, "triplets", table)
        margin, weight = (
            tables.check_numbers(getattr(self, name), name, table, self.describe, positive=positive)
            for name, positive in (("margin", False), ("weight", True))
        )
        keys = self._keys(table)
        rows = tables.rows_alike(keys)
        keys = [namespace(key).take(key, rows) for key in keys]
        merged = tables.merge_repeats(table, rows, keys, margin, weight)
        for name, value in zip(("triplets", "margin", "weight"), merged, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_labels(
        cls, y: Any, n_triplets: int | None = None, *, random_state: Any = None
    ) -> Self:
        """n_triplets rows (i, j, k) with y_i = y_j != y_k, every such row equally likely (F07 3.1).

        No row is drawn twice. Where fewer exist than are asked for, it is all of them, in random order. The
        work is that of the rows drawn, however many there are.

        Parameters
        ----------
        y : vector of n labels
            As for `Pairs.from_labels`. Unlabeled points are in no row. A class with one member is only ever k,
            and a class is in the more rows the larger it is.
        n_triplets : int, optional
            Without it 1500, which F07 learns from with up to six classes, or 40 c^2 for c classes if that is
            more: as many for each pair of classes as `Pairs.from_labels` draws; ten million at most.
        random_state : int, Generator or None
            Seeds the draw.
        """
        rows, n_points = draw_triplets(y, n_triplets, random_state)
        return cls(rows, n_points=n_points)

    @classmethod
    def from_clicks(cls, rows: Any, n_points: int, margin: float | None = None) -> Self:
        """Rows (query, chosen, passed over): the query is nearer to what was chosen than to what was not.

        Clicks that repeat become one triplet of that weight. Opposite ones stay, for a soft loss to weigh. All
        three number the rows of one X.
        """
        table = _check_given(rows, "(query, chosen, passed over)", n_points, "from_clicks")
        return cls(table, n_points=n_points, margin=margin)

    @classmethod
    def from_odd_one_out(cls, rows: Any, n_points: int, margin: float | None = None) -> Self:
        """Rows (i, j, odd): of three things the last is the odd one out.

        i and j are then nearer to each other than either is to the third: two triplets, (i, j, odd) and
        (j, i, odd). `split` keeps them together.
        """
        table = _check_given(rows, "(i, j, odd)", n_points, "from_odd_one_out")
        both = [tables.contiguous_columns(table)[c] for c in (1, 0, 2)]
        swapped = namespace(table).stack(both, axis=1)
        return cls(namespace(table).concat([table, swapped]), n_points=n_points, margin=margin)

    @classmethod
    def from_neighbors(
        cls, X: Any, y: Any, n_same: int = 3, n_other: int = 3, *, margin: float = 0.5
    ) -> Self:
        """Each point is nearer to each of the nearest of its class than to each of the nearest of the others.

        Parameters
        ----------
        X : array or sparse matrix n x d
            In the units in which neighbors shall be found: distances are plain.
        y : vector of n labels
            As for `Pairs.from_labels`; points without one are in no triplet.
        n_same, n_other : int
            How many neighbors of its own class each point has, and how many of the others.
        margin : float
            By how much, in units of the mean squared distance to the neighbors of other classes: rescaled
            points give the same triplets with a rescaled margin.
        """
        found = Neighborhoods.of(X, y, n_same, n_other)
        unit = found.mean_distance(found.pairs_of_two_classes)
        if unit == 0:
            raise ValueError(
                "`X`: every point is equal to its nearest of other classes, which no metric tells apart; check "
                "the labels, or add features."
            )
        share = check_number(margin, "margin")
        return cls(found.triplets, n_points=found.points.shape[0], margin=share * unit)

    @classmethod
    def from_pairs(
        cls,
        pairs: Pairs,
        X: Any,
        n_others: int = 5,
        *,
        margin: float = 1.0,
        max_triplets: int | None = None,
        random_state: Any = None,
    ) -> Self:
        """Each point of a similar pair is nearer to the other than to points drawn at random.

        So a few judged pairs are compared with all of X, judged or not: what people do with clicks and
        embeddings, and what helps a search most. Dissimilar pairs take part where one of their points is in a
        similar pair, too.

        Parameters
        ----------
        pairs : Pairs
            At least one of them similar.
        X : array or sparse matrix n x d
            The points, all of which are drawn from.
        n_others : int
            How many points each point of a similar pair is compared with; weights are shared among them.
        margin : float
            By how much it is nearer, in units of the mean squared distance to the others.
        max_triplets : int, optional
            The most to make, at least 8. Where that is less, points are compared with fewer others, and then
            only those of some pairs, drawn at random, which weigh as much as all.
        random_state : int, Generator or None
            Seeds the draw.
        """
        points = X.tocsr() if issparse(X) else as_real(check_points(X, "X"))
        check_pairs(pairs, "pairs", int(points.shape[0]))
        count, share = check_count(n_others, "n_others"), check_number(margin, "margin")
        most = None if max_triplets is None else check_count(max_triplets, "max_triplets", least=8)
        if not pairs.similar.shape[0]:
            raise ValueError(
                "`pairs` has no similar pair to compare with others; pass some, or learn from Pairs."
            )
        rows, weight = compare_with_others(pairs, count, generator(random_state), most)
        far = squared_distances(points, rows[:, 0], rows[:, 2])
        xp = namespace(far)
        if not xp.any(far != 0):
            raise ValueError(
                f"`pairs` leaves none of {pairs.n_points} points to compare with: each is similar or equal to "
                "all others."
            )
        margin = share * read(xp.mean(far))
        return cls(rows, n_points=pairs.n_points, margin=margin, weight=weight)

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        *,
        n_points: int,
        i: str = "i",
        j: str = "j",
        k: str = "k",
        l: str | None = None,  # noqa: E741 - the fourth letter of (i, j, k, l)
        margin: Any = None,
        weight: Any = None,
    ) -> "StoredTriplets":
        """Comparisons in Parquet files, with a row for each, that are read in chunks and never held whole.

        `read()` gives them as `Triplets`, `sample(n)` some of them. Files are read again in every pass and
        must stay as they are. A comparison that is listed again counts again.

        Parameters
        ----------
        path : path, list of paths, or folder
            The files in a folder, and in those in it, are taken in the order of their names.
        n_points : int
            How many points the indices refer to: len(X).
        i, j, k, l : str
            The columns with the row numbers of the points; `l` is for comparisons of four.
        margin, weight : str or number, optional
            As in `Triplets`: a column, or one number for all.
        """
        from gramlearn.side_information.stored_triplets import StoredTriplets

        points = {"i": i, "j": j, "k": k} | ({} if l is None else {"l": l})
        return StoredTriplets.open(path, n_points, points, {}, {"margin": margin, "weight": weight})

    @classmethod
    def from_npy(
        cls, triplets: Any, *, n_points: int, margin: Any = None, weight: Any = None
    ) -> "StoredTriplets":
        """The same of files of .npy; arguments are those of `Triplets`, with a path in place of each array."""
        from gramlearn.side_information.stored_triplets import StoredTriplets

        return StoredTriplets.of_arrays(triplets, n_points, {"margin": margin, "weight": weight})

    def __add__(self, other: Self) -> Self:
        """The comparisons of both, about the same points; weights of the same comparison add up."""
        if not isinstance(other, Triplets):
            return NotImplemented
        self._check_same_points(other)
        if not (self.size and other.size):
            return self if self.size else other
        width = max(self.triplets.shape[1], other.triplets.shape[1])
        table = tables.join_tables(*(_widen(side.triplets, width) for side in (self, other)))
        sizes = (self.size, other.size)
        has_none = self.margin is None and other.margin is None
        margins = (None, None) if has_none else (self.margin_or_one, other.margin_or_one)
        return replace(
            self,
            triplets=table,
            margin=tables.join_numbers(margins, sizes, table, "margin"),
            weight=tables.join_weights((self.weight, other.weight), sizes, table),
        )

    @property
    def size(self) -> int:
        return int(self.triplets.shape[0])

    def __repr__(self) -> str:
        return f"Triplets({self.size} comparisons, n_points={self.n_points})"

    def describe(self, k: int) -> str:
        row = [int(self.triplets[k, c]) for c in range(self.triplets.shape[1])]
        if len(row) == 3:
            return "the triplet ({}, {}, {})".format(*row)
        return "the comparison of the pairs ({}, {}) and ({}, {})".format(*row)

    def keep_points(self, rows: Any) -> Self:
        table, kept, n_rows = tables.renumber(self.triplets, rows, self.n_points)
        return replace(self, triplets=table, n_points=n_rows, **self._numbers_at(kept))

    def find_impossible(self, coincide: Coincide) -> Array:
        """None: a comparison that cannot hold is an answer like any other, for a soft loss to weigh."""
        del coincide
        return self.triplets[:, 0] < 0

    def _drop(self, mask: Array) -> Self:
        kept = tables.rows_left(mask, self.triplets)
        table = namespace(kept).take(self.triplets, kept, axis=0)
        return replace(self, triplets=table, **self._numbers_at(kept))

    def _numbers_at(self, kept: Array) -> dict[str, Any]:
        return {name: tables.rows_of(getattr(self, name), kept) for name in ("margin", "weight")}

    def statement_points(self) -> Array:
        return self.triplets

    def near_and_far(self) -> tuple[Array, Array, Array]:
        xp = namespace(self.triplets)
        near, far = two_pairs(tables.contiguous_columns(self.triplets))
        i, j = (xp.concat([a, b]) for a, b in zip(near, far, strict=True))
        return i, j, every_row(2 * self.size, i) < self.size

    @property
    def margin_or_one(self) -> Any:
        """The margin, and 1 where none was given."""
        return 1.0 if self.margin is None else self.margin

    def pair_weights(self) -> np.ndarray:
        return np.tile(self.weights(), 2)

    def weights(self) -> np.ndarray:
        return tables.weights_in_full(self.weight, self.size)

    def excess(self, lengths: Lengths, bounds: tuple[Any, Any] | None = None) -> np.ndarray:
        del bounds
        near, far = self._lengths(lengths)
        return near - far + tables.weights_in_full(self.margin, self.size)

    def log_ratios(self, lengths: Lengths) -> np.ndarray:
        near, far = logarithms(*self._lengths(lengths))
        return near - far

    def term_statements(self, loss: BoundedLoss) -> list[np.ndarray]:
        del loss
        return [np.arange(self.size)]

    def _lengths(self, lengths: Lengths) -> tuple[np.ndarray, np.ndarray]:
        near, far = two_pairs(tables.contiguous_columns(self.triplets))
        return lengths(*near), lengths(*far)

    def contradictions(self) -> np.ndarray:
        """The rows whose opposite is a row as well, in ascending order; their `size` counts them.

        Opposite are (i, j, k) and (i, k, j), or (i, j, k, l) and (k, l, i, j), whatever the order in a pair.
        They may be: at most one of the two can hold, and a soft loss weighs them. Runs in host memory.
        """
        near, far = self._pair_keys(to_numpy(self.triplets))
        pairs = np.sort(np.stack([near, far], axis=1), axis=1)
        question = distinct_rows(pairs).kind
        one, other = (np.isin(question, question[is_side]) for is_side in (near < far, near > far))
        return np.flatnonzero(one & other)

    def _pair_keys(self, table: Array) -> list[Array]:
        """One number for the pair that is nearer, and one for the other."""
        xp = namespace(table)
        pairs = two_pairs(tables.contiguous_columns(table))
        return [tables.pair_keys(xp.stack(list(pair), axis=1), self.n_points) for pair in pairs]

    def _keys(self, table: Array) -> list[Array]:
        """What tells comparisons apart: one number where it has no more than 63 bits, else two."""
        near, far = self._pair_keys(table)
        n_pairs = self.n_points**2
        return [near * n_pairs + far] if n_pairs**2 < 2**63 else [near, far]

    def _state(
        self, loss: BoundedLoss, points: Any, bounds: Any, random_state: Any
    ) -> list[Stated]:
        """One term. `bounds` are ignored."""
        del points, bounds, random_state
        columns = tables.contiguous_columns(self.triplets)
        return state_comparisons(loss, columns, self.margin_or_one, self.weight)


def two_pairs(columns: Sequence[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """((i, j), (i, k)), or ((i, j), (k, l)) of comparisons of four points."""
    i, j, k, *rest = columns
    return (i, j), ((k, rest[0]) if rest else (i, k))


def _widen(table: Array, width: int) -> Array:
    """(i, j, k) as (i, j, i, k), where four columns are asked for."""
    if table.shape[1] == width:
        return table
    return namespace(table).stack([table[:, c] for c in (0, 1, 0, 2)], axis=1)


def _check_given(rows: Any, what: str, n_points: Any, caller: str) -> Array:
    """A table of three columns, with at least one row."""
    table = _check_comparisons(rows, "rows", (3,), tables.check_n_points(n_points, caller))
    if not table.shape[0]:
        raise ValueError(f"`rows` is empty; pass at least one {what}.")
    return table


def _check_comparisons(x: Any, name: str, widths: tuple[int, ...], n_points: int) -> Array:
    """A table of comparisons, each of two different pairs of two different points."""
    table = tables.check_table(x, name, widths, n_points)
    tables.check_comparisons(tables.views(table), f"`{name}`")
    return table


def check_triplets(x: Any, name: str, n_points: int) -> None:
    """Triplets over so many points, at least one."""
    refuse_stored(x, f"`{name}`")
    if not isinstance(x, Triplets):
        raise TypeError(
            f"`{name}` must be Triplets(rows of (i, j, k), n_points=...); got {type(x).__name__}."
        )
    x.check_fits(n_points)
    x.check_not_empty()
