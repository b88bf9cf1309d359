"""K_ij = <f_i, f_j>: what a kernel of given points, with a factor F, says of them, and leaves open."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.validation import check_count, check_indices
from gramlearn.estimators._whole import so_far
from gramlearn.methods.clustering.kernel_kmeans import kernel_kmeans, nearest_centers
from gramlearn.side_information import Pairs
from gramlearn.side_information.active import pairs_to_ask, unit_rows

__all__ = ["GivenPoints"]


class GivenPoints:
    """Entries and rows of K, the points most similar to one, and the pairs to ask about."""

    factor_: np.ndarray
    n_clusters: int | None
    random_state: Any
    _known: Pairs

    def kernel_entries(self, i: Any, j: Any = None) -> Any:
        """K_ij of the points learned from; i and j numbers or arrays of the same shape. Without j, rows i."""
        left = self._rows(i, "i")
        if j is None:
            return left @ self.factor_.T
        right = self._rows(j, "j")
        if np.ndim(i) and np.ndim(j) and np.shape(i) != np.shape(j):
            raise ValueError(
                f"`i` has shape {np.shape(i)} and `j` has shape {np.shape(j)}; pass one j for each i, or one "
                "for all."
            )
        entries = np.sum(left * right, axis=-1)
        return float(entries) if entries.ndim == 0 else entries

    def _rows(self, points: Any, name: str) -> np.ndarray:
        check_is_fitted(self)
        numbers = check_indices(np.ravel(points), name, len(self.factor_))
        return np.asarray(self.factor_[np.reshape(numbers, np.shape(points))])

    def similar_to(self, i: Any, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The k points most similar to point i, the most similar first: their row numbers, and K_ij.

        An array of m points i gives arrays m x k.
        """
        if np.ndim(i) > 1:
            raise ValueError(
                f"`i` must be a row number or a vector of them; got shape {np.shape(i)}."
            )
        points = np.atleast_1d(np.asarray(i, dtype=None if np.size(i) else int))
        rows = self.kernel_entries(points)
        count = min(check_count(k, "k"), rows.shape[1] - 1)
        rows[np.arange(len(rows)), points] = -np.inf
        order = np.argsort(-rows, axis=1, kind="stable")[:, :count]
        values = np.take_along_axis(rows, order, axis=1)
        return (order, values) if np.ndim(i) else (order[0], values[0])

    def _cluster(self, count: int) -> Self:
        """Clusters of the kernel K_ij / sqrt(K_ii K_jj)."""
        rows = unit_rows(self.factor_)
        found = so_far(self, kernel_kmeans, rows, count, random_state=self.random_state)
        self.labels_, self._centers = found.labels, found.centers
        return self

    @available_if(lambda self: self.n_clusters is not None)
    def predict(self, X: Any) -> np.ndarray:
        """The clusters of new points, as `transform` places them; there is one where `n_clusters` is given."""
        return nearest_centers(unit_rows(self._placed(X)[0]), self._centers)

    @abstractmethod
    def _placed(self, X: Any) -> tuple[np.ndarray, Any]:
        """The rows of new points beside those of `factor_`, and the type that X has."""

    def ask(self, n: int = 10) -> np.ndarray:
        """The n pairs of points to ask a person about next, m x 2: those the kernel leaves most open.

        Each point is in one of them at most, and pairs that are known do not come again. Add the answers to the
        pairs, and fit again.
        """
        check_is_fitted(self)
        return pairs_to_ask(self.factor_, n, known=self._known, random_state=self.random_state)
