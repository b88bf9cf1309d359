"""What is known about n points: `bind` makes it terms of a problem, `keep_points` follows a subset of them.

Indices number the rows of the points (or of the kernel) they were made for. They carry n_points, so
that a subset with other rows is refused and never misread. To scikit-learn, side information is a column with
an entry for each point: the folds of a search cut it as they cut X.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self, cast, final

import numpy as np

from gramlearn._base.arrays import Array, as_index, each_once, namespace, to_numpy
from gramlearn._base.validation import check_points, generator
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.problem import Term
from gramlearn.side_information.splitting import choose_folds, choose_held
from gramlearn.side_information.stated import Offset, Stated

_LEAST = (
    1e-12  # of the mean: what a squared distance of zero counts as where its logarithm is asked for
)
Coincide = Callable[[Array, Array], Array]
Lengths = Callable[
    [Array, Array], np.ndarray
]  # the squared distances of pairs (i, j), in host memory


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
        """How many statements there are."""

    @property
    @final
    def shape(self) -> tuple[int]:
        """(n_points,), by which scikit-learn knows what has a part for each fold.

        There is no `len`, which would say how many points there are and be read as how many statements.
        """
        return (self.n_points,)

    @final
    def __getitem__(self, rows: Any) -> Self:
        """What `keep_points(rows)` gives, in the spelling of scikit-learn: side[rows] and side[rows, ...]."""
        return self.keep_points(rows[0] if isinstance(rows, tuple) else rows)

    __iter__ = None  # statements are no sequence: indices are those of points

    @abstractmethod
    def describe(self, k: int) -> str:
        """Name statement k in the user's words, such as "the similar pair (4, 17)"."""

    @abstractmethod
    def keep_points(self, rows: Any) -> Self:
        """Keep the statements all of whose points lie in `rows`, renumbered for X[rows]; there may be none.

        Parameters
        ----------
        rows : vector of distinct row indices, in any order, or mask of n_points booleans
            The training rows of a fold, for example.
        """

    @abstractmethod
    def find_impossible(self, coincide: Coincide) -> Array:
        """A mask of the statements that ask points which are equal to lie apart: no metric can do that.

        `coincide(i, j)` tells of which pairs the two points are equal, for all that a metric can see.
        """

    @abstractmethod
    def _drop(self, mask: Array) -> Self:
        """`drop`, of a mask that is one."""

    @final
    def drop(self, mask: Array) -> Self:
        """Leave out the statements for which the mask, of `size` booleans, is true."""
        given = mask if hasattr(mask, "dtype") else np.asarray(mask)
        is_mask = tuple(given.shape) == (self.size,)
        if not (is_mask and namespace(given).isdtype(given.dtype, "bool")):
            raise ValueError(
                f"`mask` must be {self.size} booleans, one for each statement; got {mask!r:.40}. To leave out "
                "statements by their numbers, pass np.isin(np.arange(side.size), numbers)."
            )
        return self._drop(given)

    @abstractmethod
    def statement_points(self) -> Array:
        """A table with a row for each statement: the points that it is about."""

    @final
    def involved(self) -> Array:
        """The rows that the statements are about, each once, in ascending order."""
        table = self.statement_points()
        return each_once(namespace(table).reshape(table, (-1,)), self.n_points)

    @abstractmethod
    def near_and_far(self) -> tuple[Array, Array, Array]:
        """(i, j, alike): the pairs that the statements call near or far; `alike` is true for those near."""

    @abstractmethod
    def pair_weights(self) -> np.ndarray:
        """The weight of each pair of `near_and_far`, 1 where none was given; in host memory."""

    @abstractmethod
    def excess(self, lengths: Lengths, bounds: tuple[Any, Any] | None = None) -> np.ndarray:
        """By how much squared distance each statement is broken; below zero where it is kept.

        `bounds` are (upper, lower) of pairs that have none of their own.
        """

    @abstractmethod
    def log_ratios(self, lengths: Lengths) -> np.ndarray:
        """The logarithm of what shall be the less over what shall be the more; above zero where it is not.

        It has no unit and does not depend on the unit of distances. Margins do not count, and pairs without
        bounds are measured by a distance between those of the similar and of the dissimilar ones.
        """

    @abstractmethod
    def term_statements(self, loss: BoundedLoss) -> list[np.ndarray]:
        """For each term that `bind` makes with this loss, the numbers of its statements."""

    @abstractmethod
    def weights(self) -> np.ndarray:
        """The weight of each statement, 1 where none was given; in host memory."""

    @final
    def bind(
        self,
        loss: BoundedLoss,
        points: Any = None,
        bounds: Any = None,
        *,
        random_state: Any = None,
        offset: Offset | None = None,
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
        offset : function of (i, j), optional
            Squared distances that X does not change and that add to what it measures, where `points` are
            only some of the coordinates.
        """
        self.check_not_empty()
        if points is not None:
            points = check_points(points, "points")
            self.check_fits(int(points.shape[0]))
        stated = self._state(loss, points, bounds, random_state)
        fixed = offset or (lambda i, j: 0.0)
        return [each.term(points, self.n_points, fixed) for each in stated]

    @abstractmethod
    def _state(
        self, loss: BoundedLoss, points: Any, bounds: Any, random_state: Any
    ) -> list[Stated]:
        """What is asked for, by statements and points that fit each other."""

    @final
    def split(
        self, share: float = 0.25, *, by: str = "statements", random_state: Any = None
    ) -> tuple[Self, Self]:
        """(the rest, a random share of the statements), about the same X: to learn from, and to test on.

        Parameters
        ----------
        share : float
            About how many to hold back: of 1, those that come nearest to it.
        by : {"statements", "points"}
            With "statements", all that are about the same points are on one side: a judgment and its opposite,
            the two comparisons of one odd one out. With "points", those held back are about points that the
            rest does not mention, each alone or with others: they tell whether a metric holds for new points.
        random_state : int, Generator or None
            Seeds the draw.
        """
        table = self.statement_points()
        held = choose_held(to_numpy(table), share, by, generator(random_state))
        is_held = as_index(held, table) > 0
        return self.drop(is_held), self.drop(~is_held)

    @final
    def folds(self, n_folds: int, random_state: Any = None) -> np.ndarray:
        """The fold of each statement, 0 to n_folds - 1; all statements about the same points are in one."""
        return choose_folds(to_numpy(self.statement_points()), n_folds, generator(random_state))

    @final
    def check_fits(self, n_rows: int) -> None:
        """Refuse points that are not the ones the indices were made for, as far as numbers tell."""
        if n_rows != self.n_points:
            raise ValueError(
                f"side information was made for {self.n_points} points but received {n_rows} rows. "
                "If this is cross-validation, indices no longer match X[train]; make them anew by "
                "`Pairs.from_labels(y[train])`, or `side.keep_points(train)`."
            )

    @final
    def _check_same_points(self, other: "SideInformation") -> None:
        """Refuse to add statements about other points."""
        if self.n_points != other.n_points:
            raise ValueError(
                f"one is about {self.n_points} points and the other about {other.n_points}; only statements "
                "about the same points add up."
            )

    @final
    def check_not_empty(self) -> None:
        """Refuse to learn from no statements; they may be made, to add others to them."""
        if not self.size:
            raise ValueError(
                f"side information is empty; pass {type(self).__name__} with at least one statement, or, of "
                "cross-validation, fewer folds, or folds that keep linked points together."
            )


def logarithms(*lengths: np.ndarray) -> list[np.ndarray]:
    """Of squared distances, each at least 1e-12 of their mean and at most 1e12 of it."""
    every = np.concatenate(lengths)
    known = every[(every > 0) & np.isfinite(every)]
    unit = float(np.mean(known)) if known.size else 1.0
    return [np.log(np.clip(some / unit, _LEAST, 1 / _LEAST)) for some in lengths]
