"""transform(X), pair_distance(pairs), score(X, y) of arrays of Dask: such arrays, made when asked for."""

import math
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.workers.lazy import is_lazy, number_of_all, rows_by_rows
from gramlearn.estimators._diagonal import LearnsWeights
from gramlearn.estimators._inputs import FLOATS


class AnswersLazily(LearnsWeights):
    """An estimator of a metric that answers about arrays of Dask block by block, where the blocks are."""

    def transform(self, X: Any) -> Any:
        """X L': points whose plain distances are the learned ones; float32 stays float32.

        Of an array of Dask it is one, block by block.
        """
        if not is_lazy(X):
            return super().transform(X)
        check_is_fitted(self)
        self._checked(np.ones((1, *X.shape[1:])), reset=False)  # the number of features
        dtype = X.dtype if X.dtype in FLOATS else FLOATS[0]
        return rows_by_rows(
            self._for_travel().transform, X, columns=self._n_features_out, dtype=dtype
        )

    def pair_distance(self, pairs: Any) -> Any:
        """The learned distance, not squared, of each pair.

        Parameters
        ----------
        pairs : array m x 2 x d, or (A, B) or [A, B] of two arrays m x d
            The points of the pairs. A and B may be data frames, or sparse, one of them or both. Of arrays of
            Dask the distances are one, block by block.
        """
        sides = _lazy_sides(pairs)
        if not sides:
            return super().pair_distance(pairs)
        check_is_fitted(self)
        measure = partial(_pair_distance, self._for_travel())
        return rows_by_rows(measure, *sides, columns=None, dtype=float)

    def score(self, X: Any, y: Any = None, *, side: Any = None) -> Any:
        """See `PairMethods.score`; of arrays of Dask it is one number that is computed when it is asked for."""
        sides = _lazy_sides(X)
        if not sides:
            return super().score(X, y, side=side)
        check_is_fitted(self)
        if is_lazy(y):
            sides = (*sides, y.reshape((y.shape[0],) + (1,) * (sides[0].ndim - 1)))
        rate = partial(_score, self._for_travel(), y, side, len(sides) - is_lazy(y))
        return number_of_all(rate, *sides)

    def _for_travel(self) -> Self:
        """What measures and transforms, without what a fit keeps besides."""
        other = copy(self)
        for name in ("solution_", "_seen", "cv_results_"):
            other.__dict__.pop(name, None)
        other.callback = None
        return other


def _lazy_sides(X: Any) -> tuple[Any, ...]:
    """The one array of Dask that this is, or the two; none where it is neither."""
    if is_lazy(X):
        return (X,)
    sides = tuple(X) if isinstance(X, tuple | list) and len(X) == 2 else ()
    lazy = [is_lazy(side) for side in sides]
    if any(lazy) and not all(lazy):
        raise TypeError(
            "`pairs` has one side that is an array of Dask and one that is not; pass two of a kind."
        )
    lengths = [side.shape[0] for side in sides if any(lazy) and not math.isnan(side.shape[0])]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"`pairs` has sides of {lengths[0]:,} and {lengths[1]:,} rows; each row of one makes a pair with "
            "the same row of the other."
        )
    return sides if any(lazy) else ()


def _pair_distance(learner: AnswersLazily, *sides: np.ndarray) -> np.ndarray:
    return np.asarray(learner.pair_distance(sides if len(sides) == 2 else sides[0]))


def _score(learner: AnswersLazily, y: Any, side: Any, n_sides: int, *arrays: np.ndarray) -> float:
    labels = arrays[n_sides].reshape(-1) if len(arrays) > n_sides else y
    return float(learner.score(arrays[:2] if n_sides == 2 else arrays[0], labels, side=side))
