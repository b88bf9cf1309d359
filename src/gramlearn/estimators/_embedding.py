"""K = R R' over given points: the leading columns of R embed them, and new points by their neighbors."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramlearn._validation import check_count
from gramlearn._warnings import warn
from gramlearn.barycentric import barycentric
from gramlearn.estimators._points import validated
from gramlearn.estimators._precision import FLOATS, KeepsPrecision
from gramlearn.graphs import neighbor_graph

__all__ = ["PointEmbedding"]


class PointEmbedding(
    KeepsPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """What estimators have in common that learn a kernel over the points they are given, and no map.

    They have the parameters n_components and n_neighbors.
    """

    n_components: int
    n_neighbors: int

    def transform(self, X: Any) -> np.ndarray:
        """Embed points among those learned from: an extension of ours, by weights that sum to one.

        A point that was learned from keeps its place, and others are put between their nearest neighbors as
        they lie between them in X (`gramlearn.barycentric`).
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        embedded = barycentric(
            X.astype(np.float64, copy=False), self._points, self.embedding_, self.n_neighbors
        )
        return embedded.astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _read(self, X: Any) -> np.ndarray:
        """The points, at least two, that are not all equal; kept for `transform`."""
        check_count(self.n_components, "n_components")
        X = np.asarray(validated(self, X, dtype=np.float64, ensure_min_samples=2))
        if not np.any(X[0] != X):
            raise ValueError(
                "all rows of `X` are equal, so there is nothing to embed; pass points that differ."
            )
        self._points = X
        return X

    def _graph(self, X: np.ndarray) -> Any:
        """Neighbors, of one or of both of two points; all others where there are fewer."""
        count = check_count(self.n_neighbors, "n_neighbors")
        return neighbor_graph(X, min(count, len(X) - 1), join="either")

    def _keep(self, R: np.ndarray, least: float, advice: str) -> None:
        """The leading columns of R, which are orthogonal; `least` is the share of variance that counts."""
        asked = int(self.n_components)
        self.eigenvalues_ = np.sum(R**2, axis=0)
        rank = max(1, int(np.sum(self.eigenvalues_ > least * self.eigenvalues_.sum())))
        if asked > rank:
            warn(
                f"n_components={asked} dimensions were asked for, but the kernel has rank {rank}, and so has "
                f"the embedding; {advice}."
            )
        self.embedding_ = R[:, : min(asked, rank)].copy()
