"""lower_k <= d(i_k, j_k) <= upper_k: squared distances that are known up to an interval."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, final

import numpy as np

from gramlearn._base.arrays import Array, as_index, constant, namespace, read, to_numpy, where_true
from gramlearn._base.validation import check_indices
from gramlearn.problem.constraints import SquaredDistances
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import tables
from gramlearn.side_information.base import (
    Coincide,
    Lengths,
    SideInformation,
    logarithms,
)
from gramlearn.side_information.stated import Stated, complete

INF = float("inf")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Bounds(SideInformation):
    """lower_k <= d(i_k, j_k) <= upper_k, d the squared distance.

    `+` joins the intervals of two about the same points, and no pair may be in both.

    Parameters
    ----------
    i, j : vectors of row indices
        Lists, or arrays of any library. A pair listed twice, in either order, is refused: one row has both of
        its bounds.
    upper, lower : number or one for each pair, optional
        Squared distances. upper = inf and lower = 0 mean that there is no bound on that side; where
        the two are equal the distance is a target. At least one pair needs a bound.
    n_points : int
        How many points the indices refer to: len(X).
    weight : positive number or one for each pair, optional
        What the loss of a pair is multiplied by.
    """

    i: Any
    j: Any
    _: KW_ONLY
    upper: Any = None
    lower: Any = None
    n_points: Any = None
    weight: Any = None

    def __post_init__(self) -> None:
        n = tables.check_n_points(self.n_points, "Bounds")
        i = _check_vector(self.i, "i", n)
        j = as_index(_check_vector(self.j, "j", n), i, ("`j`", "`i`"))
        if i.shape[0] != j.shape[0]:
            raise ValueError(
                f"`i` has {i.shape[0]} entries and `j` has {j.shape[0]}; pair k is (i[k], j[k])."
            )
        object.__setattr__(self, "i", i)
        object.__setattr__(self, "j", j)
        object.__setattr__(self, "n_points", n)
        table = self._table
        tables.check_differ((i, j), "`i, j`", (0, 1), tables.DIFFERENT)
        advice = "list it once, with its upper and its lower bound"
        tables.check_once(table, "`i, j`", n, advice)
        for name, positive, infinite in (
            ("upper", False, True),
            ("lower", False, False),
            ("weight", True, False),
        ):
            value = getattr(self, name)
            checked = tables.check_numbers(
                value, name, table, self.describe, positive=positive, infinite=infinite
            )
            object.__setattr__(self, name, checked)
        self._check_bounds()

    def _check_bounds(self) -> None:
        xp = namespace(self.i)
        upper, lower = self.limits
        crossed = lower > upper
        if bool(xp.any(crossed)):
            k = tables.first_true(crossed)
            raise ValueError(
                f"`lower` exceeds `upper` for {self.describe(k)}: {read(lower[k])} > "
                f"{read(upper[k])}; a squared distance lies between lower and upper."
            )
        if self.size and not bool(xp.any((upper < INF) | (lower > 0))):
            raise ValueError(
                "no pair has a bound; pass `upper` (finite), `lower` (positive) or both, as "
                "squared distances."
            )

    def __add__(self, other: Self) -> Self:
        """The intervals of both, about the same points."""
        if not isinstance(other, Bounds):
            return NotImplemented
        self._check_same_points(other)
        table = tables.join_tables(self._table, other._table)
        sizes = self.size, other.size
        (upper, lower), (others_upper, others_lower) = self.limits, other.limits
        return replace(
            self,
            i=table[:, 0],
            j=table[:, 1],
            upper=tables.join_numbers((upper, others_upper), sizes, table, "upper"),
            lower=tables.join_numbers((lower, others_lower), sizes, table, "lower"),
            weight=tables.join_weights((self.weight, other.weight), sizes, table),
        )

    @property
    def _table(self) -> Array:
        return namespace(self.i).stack([self.i, self.j], axis=1)

    @property
    def limits(self) -> tuple[Array, Array]:
        """(upper, lower) with one number for each pair, inf and 0 where there is no bound."""
        xp = namespace(self.i)
        zero = constant(0.0, xp.astype(self.i[:0], xp.float64), self.size)
        return (
            zero + (INF if self.upper is None else self.upper),
            zero + (0.0 if self.lower is None else self.lower),
        )

    @property
    def are_targets(self) -> bool:
        """Whether upper and lower are equal for all pairs."""
        upper, lower = self.limits
        return bool(namespace(upper).all(upper == lower))

    @property
    def size(self) -> int:
        return int(self.i.shape[0])

    def __repr__(self) -> str:
        return f"Bounds({self.size} pairs, n_points={self.n_points})"

    def describe(self, k: int) -> str:
        return f"the pair ({int(self.i[k])}, {int(self.j[k])})"

    def keep_points(self, rows: Any) -> Self:
        table, kept, n_rows = tables.renumber(self._table, rows, self.n_points)
        numbers = self._numbers_at(kept)
        return replace(self, i=table[:, 0], j=table[:, 1], n_points=n_rows, **numbers)

    def find_impossible(self, coincide: Coincide) -> Array:
        _, lower = self.limits
        return (lower > 0) & (as_index(coincide(self.i, self.j), self.i) > 0)

    def _drop(self, mask: Array) -> Self:
        kept = tables.rows_left(mask, self.i)
        return replace(self, **self._numbers_at(kept, "i", "j"))

    def _numbers_at(self, kept: Array, *others: str) -> dict[str, Any]:
        """The numbers of the pairs that are kept."""
        names = ("upper", "lower", "weight", *others)
        return {name: tables.rows_of(getattr(self, name), kept) for name in names}

    def statement_points(self) -> Array:
        return self._table

    def near_and_far(self) -> tuple[Array, Array, Array]:
        """Pairs with one bound only: an upper one calls them near, a lower one far."""
        xp = namespace(self.i)
        upper, _ = self.limits
        rows = where_true(self._has_one_bound)
        return xp.take(self.i, rows), xp.take(self.j, rows), xp.take(upper, rows) < INF

    def pair_weights(self) -> np.ndarray:
        return self.weights()[to_numpy(self._has_one_bound)]

    @property
    def _has_one_bound(self) -> Array:
        upper, lower = self.limits
        return (upper < INF) != (lower > 0)

    def _state(
        self, loss: BoundedLoss, points: Any, bounds: Any, random_state: Any
    ) -> list[Stated]:
        """One term each for upper bounds, lower bounds and targets (upper = lower), if there are any.

        `bounds` is ignored: every pair has its own.
        """
        del points, bounds, random_state
        xp, stated = namespace(self.i), []
        for kind, numbers, rows in self._kinds(loss):
            bound, weight = xp.take(numbers, rows), tables.rows_of(self.weight, rows)
            columns = xp.take(self.i, rows), xp.take(self.j, rows)
            completed = complete(loss, kind, bound, weight)
            stated.append(Stated(SquaredDistances, columns, completed))
        return stated

    def _kinds(self, loss: BoundedLoss) -> list[tuple[str, Array, Array]]:
        """(kind, bounds, rows) of each term."""
        upper, lower = self.limits
        # A loss without a target, such as SquaredHinge, has the same value from its two halves.
        target = (upper == lower) & _takes_target(loss)
        kinds = (
            ("upper", upper, where_true((upper < INF) & ~target)),
            ("lower", lower, where_true((lower > 0) & ~target)),
            ("equal", upper, where_true(target)),
        )
        return [kind for kind in kinds if kind[2].shape[0]]

    def weights(self) -> np.ndarray:
        return tables.weights_in_full(self.weight, self.size)

    def excess(self, lengths: Lengths, bounds: tuple[Any, Any] | None = None) -> np.ndarray:
        del bounds
        d = lengths(self.i, self.j)
        upper, lower = (to_numpy(vector) for vector in self.limits)
        return np.maximum(d - upper, lower - d)

    def log_ratios(self, lengths: Lengths) -> np.ndarray:
        d, upper, lower = logarithms(
            lengths(self.i, self.j), *(to_numpy(vector) for vector in self.limits)
        )
        return np.maximum(d - upper, lower - d)

    def term_statements(self, loss: BoundedLoss) -> list[np.ndarray]:
        return [to_numpy(rows) for _, _, rows in self._kinds(loss)]


def _takes_target(loss: BoundedLoss) -> bool:
    try:
        complete(loss, "equal", 1.0, None)
    except ValueError:
        return False
    return True


def _check_vector(x: Any, name: str, n_points: int) -> Array:
    index = check_indices(x, name)
    tables.check_range(index, name, n_points)
    return index
