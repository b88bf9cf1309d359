"""d(i, j) + margin <= d(i, k), or d(k, l): which of two squared distances is the smaller.

Comparisons are answers, often of many people: one listed twice counts twice, and opposite ones may
both be listed. A soft loss weighs them against each other.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, final

import numpy as np

from gramlearn._base.arrays import Array, as_index, namespace, to_numpy, where_true
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.problem.constraints import DistanceComparisons
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.problem import Term
from gramlearn.side_information.base import Beyond, Coincide, SideInformation, complete, renumber
from gramlearn.side_information.checks import (
    check_differ,
    check_n_points,
    check_numbers,
    check_table,
    contiguous_columns,
    first_true,
    pair_keys,
    rows_of,
)

__all__ = ["Triplets", "check_triplets"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Triplets(SideInformation):
    """d(i, j) <= d(i, k) - margin for rows (i, j, k), d(i, j) <= d(k, l) - margin for (i, j, k, l).

    A row (i, j, k) reads "i is nearer to j than to k". d is the squared distance.

    Parameters
    ----------
    triplets : m x 3 or m x 4 table of row indices
        A list, or an array of any library.
    n_points : int
        How many points the indices refer to: len(X).
    margin : number or one for each row
        In squared distances, at least 0. It sets the scale of what is learnt from a zero prior;
        with another prior choose it in proportion to the squared distances there.
    weight : positive number or one for each row, optional
        What the loss of a row is multiplied by.
    """

    triplets: Any
    _: KW_ONLY
    n_points: Any = None
    margin: Any = 1.0
    weight: Any = None

    def __post_init__(self) -> None:
        n = check_n_points(self.n_points, "Triplets")
        table = check_table(self.triplets, "triplets", (3, 4), n)
        if table.shape[0] == 0:
            raise ValueError("side information is empty; pass `triplets` with at least one row.")
        if table.shape[1] == 3:
            for columns in ((0, 1), (0, 2), (1, 2)):
                check_differ(table, "triplets", columns, "a triplet needs three different points")
        else:
            for columns in ((0, 1), (2, 3)):
                check_differ(table, "triplets", columns, "a pair needs two different points")
            _check_two_pairs(table)
        object.__setattr__(self, "n_points", n)
        object.__setattr__(self, "triplets", table)
        if self.margin is None:
            raise TypeError("`margin` must be a number of at least 0; got None.")
        for name, positive in (("margin", False), ("weight", True)):
            value = getattr(self, name)
            checked = check_numbers(value, name, table, self.describe, positive=positive)
            object.__setattr__(self, name, checked)

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

    def take(self, rows: Any) -> Self:
        table, kept, n_rows = renumber(self.triplets, rows, self.n_points)
        self._check_not_empty(int(table.shape[0]), n_rows)
        return replace(
            self,
            triplets=table,
            n_points=n_rows,
            margin=rows_of(self.margin, kept),
            weight=rows_of(self.weight, kept),
        )

    def hopeless(self, coincide: Coincide) -> Array:
        """None: a comparison that cannot be had is an answer like any other, for a soft loss to weigh."""
        del coincide
        xp = namespace(self.triplets)
        return xp.zeros(self.size, dtype=xp.bool)

    def without(self, mask: Array) -> Self:
        kept = where_true(~mask)
        return replace(
            self,
            triplets=namespace(kept).take(self.triplets, kept, axis=0),
            margin=rows_of(self.margin, kept),
            weight=rows_of(self.weight, kept),
        )

    def involved(self) -> Array:
        xp = namespace(self.triplets)
        return xp.unique_values(xp.reshape(self.triplets, (-1,)))

    def judged(self) -> tuple[Array, Array, Array]:
        xp = namespace(self.triplets)
        near, far = self._near_and_far(contiguous_columns(self.triplets))
        i, j = (xp.concat([a, b]) for a, b in zip(near, far, strict=True))
        return i, j, as_index(xp.arange(2 * self.size), i) < self.size

    def contradictions(self) -> np.ndarray:
        """The rows whose opposite is a row as well, in ascending order; their `size` counts them.

        Opposite are (i, j, k) and (i, k, j), or (i, j, k, l) and (k, l, i, j), whatever the order in a pair.
        They may be: at most one of the two can hold, and a soft loss weighs them. Runs in host memory.
        """
        near, far = (
            pair_keys(np.stack(pair, axis=1), self.n_points)
            for pair in self._near_and_far(contiguous_columns(to_numpy(self.triplets)))
        )
        pairs = np.sort(np.stack([near, far], axis=1), axis=1)
        question = distinct_rows(pairs).kind
        one, other = (np.isin(question, question[is_side]) for is_side in (near < far, near > far))
        return np.flatnonzero(one & other)

    @staticmethod
    def _near_and_far(columns: Sequence[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """((i, j), (i, k)), or ((i, j), (k, l)) of comparisons of four points."""
        i, j, k, *rest = columns
        return (i, j), ((k, rest[0]) if rest else (i, k))

    def bind(
        self,
        loss: BoundedLoss,
        points: Any = None,
        bounds: Any = None,
        *,
        random_state: Any = None,
        beyond: Beyond | None = None,
    ) -> list[Term]:
        """One term, t = d(i, j) - d(i, k) <= -margin. `bounds` say nothing about comparisons."""
        del bounds, random_state
        points = self._check_points(points)
        columns = contiguous_columns(self.triplets)
        near, far = self._near_and_far(columns)
        offset = 0.0 if beyond is None else beyond(*near) - beyond(*far)
        constraints = DistanceComparisons(
            *columns, points=points, n_points=self.n_points, offset=offset
        )
        return [Term(constraints, complete(loss, "upper", -self.margin, self.weight))]


def _check_two_pairs(table: Array) -> None:
    i, j, k, l = (table[:, c] for c in range(4))  # noqa: E741 - the letters of (i, j, k, l)
    same = ((i == k) & (j == l)) | ((i == l) & (j == k))
    if bool(namespace(table).any(same)):
        k_same = first_true(same)
        row = tuple(int(table[k_same, c]) for c in range(4))
        raise ValueError(
            f"`triplets` contains {row} (row {k_same}); it compares a pair with itself."
        )


def check_triplets(x: Any, name: str, n_points: int) -> None:
    """Triplets, over so many points."""
    if not isinstance(x, Triplets):
        raise TypeError(
            f"`{name}` must be Triplets(rows of (i, j, k), n_points=...); got {type(x).__name__}."
        )
    x.check_fits(n_points)
