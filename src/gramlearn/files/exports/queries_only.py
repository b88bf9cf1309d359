"""q'M x = (M q)'x: documents stay as they are in their index, and queries alone are mapped, with M = L'L.

    inner products          q -> M q              x -> x                 (M q)'x = (L q)'(L x)
    Euclidean distances     q -> (2 M (q - c), -1)      x -> (x, |L (x - c)|^2)

So by inner products the index finds what it would find among mapped vectors: of Euclidean distances the nearest
first, since the second product is |L q|^2 - |L c|^2 - |L q - L x|^2, whose first two terms are the same for all
documents. That needs one more coordinate of each document. Any c gives this order; one in the middle of the
documents keeps the terms small, of which an index in float32 has seven digits. Cosines of mapped vectors need
|L x| of each document to divide by, which the documents as they are do not have.

Where the map was learned from points of length one, q and x are q / |q| and x / |x| everywhere.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from gramlearn.files.exports.linear_map import LinearMap
from gramlearn.files.exports.vectors import as_vectors, finite_block, of_length_one

_LOOKED_AT = 10_000  # documents, at most, that tell where they lie
_FAR = 1e3  # times the mean squared distance from the middle: rounding is a ten-thousandth of that then


@final
@dataclass(frozen=True, eq=False)
class QueriesOnly:
    """The two sides of a search by inner products that ranks as the learned map does.

    Parameters
    ----------
    map : LinearMap
        x -> L x.
    metric : "inner_product" or "euclidean"
        What ranks documents: (L q)'(L x), the largest first, or |L q - L x|, the smallest first.
    center : vector of d, optional
        c, for "euclidean" alone; zero if None. The mean of the documents, scaled to length one where the map
        scales them, is best. Both sides need the same, and documents that are added later, too.
    """

    map: LinearMap
    metric: str = "inner_product"
    center: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.metric == "cosine":
            raise ValueError(
                'metric="cosine" cannot be had with `queries_only`: it divides by the length |L x| of each '
                'mapped document, which documents as they are do not have; choose metric="inner_product", or '
                '"euclidean" with one more coordinate for each document, or map the documents as well.'
            )
        if self.metric not in ("inner_product", "euclidean"):
            raise ValueError(
                f"`metric={self.metric!r}` is not known; choose 'inner_product' or 'euclidean'."
            )
        if self.map.offset is not None:
            raise ValueError(
                "`map` adds an offset, as the map of queries does; pass the map of the learner itself, "
                "LinearMap.of(learner)."
            )
        if self.center is not None and self.metric != "euclidean":
            raise ValueError(
                '`center` is for metric="euclidean", and inner products have none; leave it out.'
            )
        if self.center is not None:
            center = np.array(self.center, dtype=np.float64)
            object.__setattr__(self, "center", center)
            if center.shape != (self.map.n_features,) or not np.isfinite(center).all():
                raise ValueError(
                    f"`center` has shape {center.shape}, and must be {self.map.n_features} finite numbers, one "
                    "for each feature; pass the mean of the documents."
                )

    @cached_property
    def map_of_queries(self) -> LinearMap:
        """q -> M q, or q -> (2 M (q - c), -1)."""
        L = self.map.matrix
        M = L.T @ L
        offset = None
        if self.metric == "euclidean":
            d = len(M)
            M = np.vstack([2 * M, np.zeros(d)])
            offset = np.concatenate([-(M @ self._center)[:d], [-1.0]])
        return LinearMap(M, self.map.normalize, self.map.feature_names, self.map.words, offset)

    @property
    def n_columns(self) -> int:
        """The coordinates of a document."""
        return self.map.n_features + (self.metric == "euclidean")

    def query_vectors(self, Q: Any) -> np.ndarray:
        """What is searched for in place of Q; float32 stays float32."""
        return self.map_of_queries.transform(Q)

    def document_vectors(self, X: Any) -> np.ndarray:
        """What the index holds in place of X: X itself, or with one more coordinate; float32 stays float32."""
        return self.of_block(
            finite_block(as_vectors(X, "X", self.map.n_features, self.map.feature_names), "X")
        )

    def of_block(self, X: np.ndarray, name: str = "X", first: int = 0) -> np.ndarray:
        """The same of floating numbers that were looked at, rows `first` onwards of `name`."""
        if self.map.normalize:
            X = of_length_one(X, name, first)
        if self.metric == "inner_product":
            return X
        mapped = (X - self._center) @ self.map.matrix.T
        squared = np.einsum("ij,ij->i", mapped, mapped).astype(X.dtype)
        return np.hstack([X, squared[:, None]])

    def loses_digits_of(self, X: np.ndarray) -> bool:
        """Whether these documents lie so far from the center that an index in float32 confuses near ones.

        Rounding is of the size of |L (x - c)|^2, of which the part that all documents share says nothing.
        """
        X = np.asarray(X[:: len(X) // _LOOKED_AT + 1], dtype=np.float64)
        X = X[np.isfinite(X).all(axis=1)]
        if self.metric != "euclidean" or self.map.normalize or len(X) < 2:
            return False
        mapped = (X - self._center) @ self.map.matrix.T
        shared = mapped.mean(axis=0)
        spread = ((mapped - shared) ** 2).sum(axis=1).mean()
        return bool(spread > 0 and shared @ shared > _FAR * spread)

    @property
    def _center(self) -> np.ndarray:
        return np.zeros(self.map.n_features) if self.center is None else self.center
