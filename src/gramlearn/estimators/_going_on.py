"""fit(X, side) then partial_fit(X, more) is fit(X, side + more), begun at the last answer.

What was chosen at first, the prior, the strength and the kind of statements, stays as it was.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple, Self, cast

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import is_elsewhere, to_numpy
from gramlearn._base.checksum import checksum
from gramlearn._base.moving import beside, check_beside
from gramlearn._base.points import rows_at
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._choosing import ChoosesByHeldBack
from gramlearn.estimators._learned_from import is_from_file, learned_from
from gramlearn.estimators._learning import check_labels, check_side
from gramlearn.side_information import SideInformation

_LOOKED_AT = 1000  # rows of tensors


class _Seen(NamedTuple):
    """What was learned from so far: statements, or None for labels, about these first rows."""

    side: SideInformation | None
    n_rows: int
    checksum: bytes


class GoesOn(ChoosesByHeldBack, ABC):
    """An estimator that learns from further statements where it left off."""

    _seen: _Seen
    learned_from_: dict[str, Any]
    _home: Any

    @abstractmethod
    def _checked_points(self, X: Any, reset: bool) -> Any:
        """X as it is measured."""

    @abstractmethod
    def _learn_from(self, X: Any, y: Any, side: SideInformation | None) -> Self:
        """Learn from points as they are measured."""

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, Triplets or Bounds over the rows of X.

        Labels of -1 (integer), NaN or None mean unknown, and such points take no part.
        """
        X = self._checked_points(X, reset=True)
        if isinstance(side, SideInformation):
            check_beside(side, X, "side")
        self._forget_choice()
        self._adds = False
        self._learn_from(X, y, side)
        self._keep_seen(X, y, side)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from further statements and those seen so far, from the last answer on; at first it is `fit`.

        The answer is that of `fit` to all of them, at the price, prior and kind of statements that were chosen
        as soon as enough was known; `fit` chooses anew.

        Parameters
        ----------
        X : array, sparse matrix or data frame n x d
            The rows of the calls before, in their order, and any further ones after them.
        y : vector of n labels, optional
            After a fit to labels: those of all rows, known by now.
        side : Pairs, Triplets or Bounds, optional
            After a fit to `side`: further statements of the same kind, about rows of this X.
        """
        if is_from_file(self):
            raise ValueError(
                "`partial_fit` goes on from the statements so far, which a model file does not hold; call "
                "`fit` with all of them, or keep the estimator as a pickle."
            )
        if not hasattr(self, "_seen"):
            return self.fit(X, y, side=side)
        X = self._checked_points(X, reset=False)
        side = self._with_seen(X, y, side)
        if not self._chooses:
            self._forget_choice()
        self._adds = True
        self._learn_from(X, y if side is None else None, side)
        self._keep_seen(X, y, side)
        return self

    def _keep_seen(self, X: Any, y: Any, side: SideInformation | None) -> None:
        """What was learned from: to go on from, and in numbers."""
        self._seen = _Seen(side, int(X.shape[0]), _checksum(X))
        self.learned_from_ = learned_from(side, y, int(X.shape[0]))

    def _with_seen(self, X: Any, y: Any, side: Any) -> SideInformation | None:
        """What is known by now, about these rows; None where that is labels."""
        seen, n = self._seen, int(X.shape[0])
        if is_elsewhere(X) and self._home is None:
            raise ValueError(
                "`X` holds tensors, and the rows that were learned from were NumPy arrays; pass "
                "X.cpu().numpy(), or start anew with `fit`."
            )
        if n < seen.n_rows or _checksum(X[: seen.n_rows, :]) != seen.checksum:
            raise ValueError(
                f"`X` does not begin with the {seen.n_rows} rows that were learned from; pass these, and "
                "further ones after them, or start anew with `fit`."
            )
        if (side is None) != (seen.side is None):
            kind, wanted = ("labels", "y") if seen.side is None else ("statements", "side")
            raise ValueError(
                f"`{wanted}` is what this {type(self).__name__} learns from, as it was fitted to {kind}; pass "
                f"`{wanted}`, or start anew with `fit`."
            )
        if seen.side is None:
            return None
        if y is not None:
            check_labels(y, n)
        check_side(side, n)
        check_beside(side, X, "side")
        if type(side) is not type(seen.side):
            raise TypeError(
                f"`side` holds {type(side).__name__}, and so far there were {type(seen.side).__name__}, which "
                "do not add up; pass the same kind, or start anew with `fit`."
            )
        known = replace(cast(Any, seen.side), n_points=n)
        # The first statements may have been in host memory, and the others where X is.
        return cast(SideInformation, beside(known, X) + beside(side, X))


def _checksum(X: Any) -> bytes:
    """The same for the same rows; of tensors, of a thousand of them, which need not be moved."""
    if is_elsewhere(X):
        step = max(1, X.shape[0] // _LOOKED_AT)
        X = to_numpy(rows_at(X, np.arange(0, X.shape[0], step)))
    parts = (X.data, X.indices, X.indptr) if issparse(X) else (X,)
    return b"".join(map(checksum, parts))
