"""x -> V'L x: of the points that a learned map moves, all columns, or the leading ones."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.points import row_squares
from gramlearn.estimators._inputs import FLOATS, check_components
from gramlearn.estimators._pair_methods import MahalanobisMethods
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import Maybe
from gramlearn.estimators._parts.words import Number
from gramlearn.methods.metric.maps import MetricMap


class KeepsColumns(MahalanobisMethods):
    """The metric of a linear map, and as many columns of the transformed points as were asked for."""

    n_components: Any
    columns_share_: float
    _leading: np.ndarray | None
    _saved: ClassVar[dict[str, FilePart]] = {
        "columns_share_": Number(0.0, 1.0),
        "_leading": Maybe(Array("columns", "d")),
    }

    @abstractmethod
    def _checked(self, X: Any, reset: bool, dtype: Any = np.float64) -> Any:
        """Points as they are measured, in one of these precisions."""

    def transform(self, X: Any) -> np.ndarray:
        """X L': points whose plain distances are the learned ones; float32 stays float32."""
        check_is_fitted(self)
        X = self._checked(X, reset=False, dtype=FLOATS)
        if self._leading is None:
            return self._map.transform(X)
        return np.asarray(X @ self._leading.T.astype(X.dtype, copy=False))

    def _all_columns(self, X: Any) -> np.ndarray:
        return self._map.transform(self._checked(X, reset=False, dtype=FLOATS))

    @property
    def components_(self) -> np.ndarray:
        """L with X L' the transformed points; W = L'L where it has all d rows."""
        check_is_fitted(self)
        return super().components_ if self._leading is None else self._leading.copy()

    def _check_n_components(self, X: Any) -> None:
        """No more columns than there can be."""
        if self.n_components is not None:
            n, d = X.shape
            # A sparse X is never written out, and its last direction cannot be found by products alone.
            most = min(n, d) - issparse(X)
            check_components(self.n_components, most, f"{n} points of {d} features")

    def _keep_map(self, X: Any, found: MetricMap, count: int | None) -> None:
        """The map, the columns that `transform` gives, and their share of the learned squared distances."""
        self._map = found
        self._leading = None
        self.columns_share_ = 1.0
        if count is not None:
            self._leading = leading = found.leading_components(X, int(count))
            mean = np.asarray(X.mean(axis=0)).reshape(1, -1)
            every = found.squared_lengths(X).mean() - float(found.squared_lengths(mean)[0])
            kept = row_squares(np.asarray(X @ leading.T)).mean()
            kept -= float(row_squares(mean @ leading.T)[0])
            self.columns_share_ = float(np.clip(kept / every, 0.0, 1.0)) if every > 0 else 1.0

    @property
    def _n_features_out(self) -> int:
        return self._map.n_features if self._leading is None else len(self._leading)
