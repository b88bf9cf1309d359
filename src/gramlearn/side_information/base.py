"""What is known about n points: `bind` makes it terms of a problem, `take` follows a subset.

Indices number the rows of the points (or of the kernel) they were made for. They carry n_points, so
that a subset with other rows is refused and never misread.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Self, cast, final

from gramlearn._base.arrays import Array, as_index, clipped, namespace, where_true
from gramlearn._base.validation import check_points, check_share, describe_value, generator
from gramlearn.problem.losses import BoundedLoss, Loss
from gramlearn.problem.problem import Term
from gramlearn.side_information.checks import check_rows

__all__ = ["Beyond", "Coincide", "SideInformation", "complete", "renumber"]

Beyond = Callable[[Array, Array], Array]
Coincide = Callable[[Array, Array], Array]


class SideInformation(ABC):
    """Statements about n_points points, by index. Frozen; the caller's arrays are never changed."""

    n_points: Any

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Refuse numbers without a name: n_points, a bound and a weight look alike."""
        del named
        surplus = given[sum(not field.kw_only for field in fields(cast(Any, cls))) :]
        if surplus:
            raise TypeError(
                f"`{cls.__name__}(...)`: {surplus[0]!r:.40} has no name; the number of points is n_points=, "
                "and other numbers are passed by their names, too."
            )
        return super().__new__(cls)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many statements there are.

        No `len`: scikit-learn takes what has the length of X for an array, and cuts it up for each fold.
        """

    @abstractmethod
    def describe(self, k: int) -> str:
        """Name statement k in the user's words, such as "the similar pair (4, 17)"."""

    @abstractmethod
    def take(self, rows: Any) -> Self:
        """Keep the statements all of whose points lie in `rows`, renumbered for X[rows].

        Parameters
        ----------
        rows : vector of distinct row indices, in any order, or mask of n_points booleans
            The training rows of a fold, for example.
        """

    @abstractmethod
    def hopeless(self, coincide: Coincide) -> Array:
        """A mask of the statements that ask points which are equal to lie apart: no metric can do that.

        `coincide(i, j)` tells of which pairs the two points are equal, for all that a metric can see.
        """

    @abstractmethod
    def without(self, mask: Array) -> Self:
        """Leave out the statements for which the mask is true, of `size` booleans; one at least stays."""

    @abstractmethod
    def involved(self) -> Array:
        """The rows that the statements are about, each once, in ascending order."""

    @abstractmethod
    def judged(self) -> tuple[Array, Array, Array]:
        """(i, j, alike): the pairs that the statements call near or far, and which of the two."""

    @abstractmethod
    def bind(
        self,
        loss: BoundedLoss,
        points: Any = None,
        bounds: Any = None,
        *,
        random_state: Any = None,
        beyond: Beyond | None = None,
    ) -> list[Term]:
        """Make the statements terms of a problem.

        Parameters
        ----------
        loss : BoundedLoss
            A template without a bound, such as Hinge(C=10.0). Its weight multiplies the weights
            given here.
        points : array n_points x d, optional
            X is a d x d matrix and measures these points. Without it X is the n_points x n_points
            kernel.
        bounds : (upper, lower), optional
            Squared distances for the pairs that have no bound of their own.
        random_state : int, Generator or None
            Seeds the draw of pairs where bounds have to be found from `points`.
        beyond : function of (i, j), optional
            Squared distances that are there whatever X is, and add to what X measures: of points of which
            `points` are a part of the coordinates only.
        """

    @final
    def split(self, share: float = 0.25, *, random_state: Any = None) -> tuple[Self, Self]:
        """(the rest, a random share of the statements), about the same points: to learn from, and to judge by.

        Unlike `take`, it keeps all points; whether the metric holds for new ones it does not tell.
        """
        check_share(share, "share")
        count = self.size
        if count < 2:
            raise ValueError("there is one statement only; nothing to split.")
        held = min(max(round(share * count), 1), count - 1)
        place = generator(random_state).permutation(count)
        is_held = as_index(place, self.involved()) < held
        return self.without(is_held), self.without(~is_held)

    @final
    def check_fits(self, n_rows: int) -> None:
        """Refuse points that are not the ones the indices were made for, as far as numbers tell."""
        if n_rows != self.n_points:
            raise ValueError(
                f"side information was made for {self.n_points} points but received {n_rows} rows. "
                "If this is cross-validation, indices no longer match X[train]; make them anew by "
                "`from_labels(y[train])`, or `side.take(train)`."
            )

    @final
    def _check_points(self, points: Any) -> Array | None:
        """Check the points that `bind` was given against n_points."""
        if points is None:
            return None
        points = check_points(points, "points")
        self.check_fits(int(points.shape[0]))
        return points

    @final
    def _check_not_empty(self, n_kept: int, n_rows: int) -> None:
        """Refuse a subset about which nothing is known."""
        if n_kept == 0:
            raise ValueError(
                f"none of the {self.size} statements lies within the {n_rows} rows of `rows`; take "
                "more rows, or split so that linked points stay together."
            )


def complete(loss: BoundedLoss, kind: str, bound: Any, weight: Any) -> BoundedLoss:
    """The template `loss` with bound and weight; `kind` is "upper", "lower" or "equal"."""
    given: object = loss
    if not isinstance(given, BoundedLoss):
        hint = (
            "It takes none: make a Term(constraints, loss) of it."
            if isinstance(given, Loss)
            else "Pass an object: neither its name nor its class."
        )
        raise TypeError(
            "`loss` must be a loss that takes a bound, such as Hinge(C=1.0); "
            f"got {describe_value(given)}. {hint}"
        )
    if not (loss.upper is None and loss.lower is None and loss.equal is None):
        raise ValueError(
            f"`loss` already has a bound; pass `{type(loss).__name__}` without upper=, lower= and "
            "equal=, which come from the side information."
        )
    return replace(
        loss, **{kind: bound, "weight": loss.weight if weight is None else loss.weight * weight}
    )


def renumber(table: Array, rows: Any, n_points: int) -> tuple[Array, Array, int]:
    """Give (the table within `rows`, in new numbers; which of its rows; the new n_points)."""
    rows = check_rows(rows, n_points, table)
    xp = namespace(table)
    order = xp.argsort(rows)
    ordered = xp.take(rows, order)
    # The new number of every old point, by one search for 0..n-1 instead of one a table entry.
    old = as_index(xp.arange(n_points), table)
    place = clipped(xp.searchsorted(ordered, old), high=rows.shape[0] - 1)
    kept = xp.take(ordered, place) == old
    new = xp.where(kept, xp.take(order, place), xp.full_like(old, -1))
    columns = [xp.take(new, table[:, c]) for c in range(table.shape[1])]
    renumbered = xp.stack(columns, axis=1)
    inside = where_true(xp.all(renumbered >= 0, axis=1))
    return xp.take(renumbered, inside, axis=0), inside, int(rows.shape[0])
