"""x_1, ..., x_n -> n x d coordinates: estimators whose answer is an embedding of the points they were given.

New points are put between their nearest neighbors among these, see `barycentric`.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramlearn._validation import check_count
from gramlearn._warnings import warn
from gramlearn.barycentric import barycentric
from gramlearn.estimators._precision import FLOATS, KeepsPrecision

__all__ = ["EmbedsPoints", "check_components", "coordinates"]


class EmbedsPoints(
    KeepsPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """`fit` leaves `embedding_`, and in `_points` the rows it is of, or None where there are none."""

    embedding_: np.ndarray
    n_neighbors: int
    _points: np.ndarray | None
    _dtype: Any

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X; y is not looked at."""

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The embedding of the points learned from."""
        learned = self.fit(X, y)
        return np.asarray(learned.embedding_, dtype=learned._dtype)

    def transform(self, X: Any) -> np.ndarray:
        """The embedding of new points: between their nearest neighbors among those learned from."""
        check_is_fitted(self)
        if self._points is None:
            raise ValueError(
                "a graph alone says nothing of new points, so `transform` has no answer; the embedding of the "
                "graph's own points is `embedding_`, and `fit_transform` gives it."
            )
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        points = X.astype(np.float64, copy=False)
        found = barycentric(points, self._points, self.embedding_, self.n_neighbors)
        return np.asarray(found, dtype=X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def check_components(n_components: Any, n: int) -> int:
    """As many as centered coordinates of n points can have, at most."""
    count = check_count(n_components, "n_components")
    if count > n - 1:
        raise ValueError(
            f"`n_components={count}` is more than the {n - 1} dimensions that {n} points can have; pass fewer."
        )
    return count


def coordinates(factor: np.ndarray, count: int, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """The first columns of V diag(s), with F F' = V diag(s^2) V', and their s^2.

    The largest entry of a column is positive. Where F has a lower rank, the others are zero.
    """
    U, s, _ = np.linalg.svd(factor, full_matrices=False)
    rank = int(np.sum(s > 1e-8 * s.max(initial=0.0)))
    if rank < count:
        warn(
            f"`n_components={count}` dimensions were asked of {owner}, but the kernel learned has rank {rank}; "
            "the others are zero. Fewer neighbors leave it more freedom."
        )
    V, values = np.zeros((len(factor), count)), np.zeros(count)
    kept = min(rank, count)
    V[:, :kept], values[:kept] = U[:, :kept] * s[:kept], s[:kept] ** 2
    largest = V[np.argmax(np.abs(V), axis=0), np.arange(count)]
    return V * np.where(largest < 0, -1.0, 1.0), values
