"""x -> V'L x: of the points that a learned map moves, all columns, or the leading ones."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import Array as AnyArray
from gramlearn._base.arrays import copied, namespace, read
from gramlearn._base.points import column_means, row_squares
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
    _leading: AnyArray | None
    _saved: ClassVar[dict[str, FilePart]] = {
        "columns_share_": Number(0.0, 1.0),
        "_leading": Maybe(Array("columns", "d")),
    }

    @abstractmethod
    def _checked(
        self, X: Any, reset: bool, dtype: Any = np.float64, method: str = "transform"
    ) -> Any:
        """Points as they are measured, in one of these precisions."""

    def transform(self, X: Any) -> AnyArray:
        """X L': points whose plain distances are the learned ones; float32 stays float32."""
        check_is_fitted(self)
        X = self._checked(X, reset=False, dtype=FLOATS)
        if self._leading is None:
            return self._map_beside(X).transform(X)
        leading = self._beside(self._leading, X)
        return X @ namespace(leading).astype(leading, X.dtype, copy=False).T

    def _all_columns(self, X: Any) -> AnyArray:
        X = self._checked(X, reset=False, dtype=FLOATS)
        return self._map_beside(X).transform(X)

    @property
    def components_(self) -> AnyArray:
        """L with X L' the transformed points; W = L'L where it has all d rows."""
        check_is_fitted(self)
        return super().components_ if self._leading is None else copied(self._leading)

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
            mean = column_means(X)[None, :]
            xp = namespace(mean)
            every = read(xp.mean(found.squared_lengths(X)) - found.squared_lengths(mean)[0])
            kept = read(xp.mean(row_squares(X @ leading.T)) - row_squares(mean @ leading.T)[0])
            self.columns_share_ = min(max(kept / every, 0.0), 1.0) if every > 0 else 1.0

    @property
    def _n_features_out(self) -> int:
        return self._map.n_features if self._leading is None else int(self._leading.shape[0])
