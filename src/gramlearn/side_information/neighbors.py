"""(i, j, k): j among the nearest of i of its own class, k among the nearest of the others (as LMNN takes them).

Statements about near points are those that nearest neighbors hang on: far ones are mostly in order already, and
a metric that is pulled by all pairs gives up small neighborhoods for large ones.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from gramlearn._base.distances import squared_distances
from gramlearn._base.threads import threads_that_help
from gramlearn._base.validation import check_count, check_host_points
from gramlearn.side_information.sampling import check_as_many, labeled_classes, read_labels

_ALL_AT_ONCE = 300_000  # distances: fewer are all computed, and more are searched among
_FEATURES = 100  # of more, distances are computed one by one only where there are less of them


@final
@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """Points, and their neighbors: class by class (rows, the nearest of the class, the nearest of others).

    A class of one member has none. Where there are fewer neighbors than asked for, there are all of them. Of
    equally near points any is taken.
    """

    points: Any
    of_classes: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, X: Any, y: Any, n_same: Any, n_other: Any, name: str = "X") -> "Neighborhoods":
        """Those of labeled points, in the plain distance; X may be sparse."""
        points = X.tocsr() if issparse(X) else check_host_points(X, name)
        n_same, n_other = check_count(n_same, "n_same"), check_count(n_other, "n_other")
        check_as_many(read_labels(y)[0].size, points.shape[0], name)
        classes = labeled_classes(y)
        labeled, found = np.sort(np.concatenate(classes)), []
        with threads_that_help():
            for inside in classes:
                if len(inside) > 1:
                    outside = np.setdiff1d(labeled, inside, assume_unique=True)
                    mates = _without_itself(_nearest(points[inside], points[inside], n_same + 1))
                    others = _nearest(points[inside], points[outside], n_other)
                    found.append((inside, inside[mates], outside[others]))
        return cls(points, found)

    @property
    def pairs_of_one_class(self) -> np.ndarray:
        """(i, j), each point with each of the nearest of its class."""
        return np.concatenate([_joined(i[:, None], j) for i, j, _ in self.of_classes])

    @property
    def pairs_of_two_classes(self) -> np.ndarray:
        """(i, k), each point with each of the nearest of other classes."""
        return np.concatenate([_joined(i[:, None], k) for i, _, k in self.of_classes])

    @property
    def triplets(self) -> np.ndarray:
        """(i, j, k), every one of the first with every one of the second."""
        return np.concatenate(
            [_joined(i[:, None, None], j[:, :, None], k[:, None]) for i, j, k in self.of_classes]
        )

    def mean_distance(self, pairs: np.ndarray) -> float:
        """The mean squared distance of these pairs."""
        return float(np.mean(squared_distances(self.points, *pairs.T)))


def _without_itself(near: np.ndarray) -> np.ndarray:
    """The neighbors of each row without itself, which need not come first among equal points."""
    others = near != np.arange(len(near))[:, None]
    # Where many points are equal, a row may be missing from its own list, whose last is then left out.
    others &= np.cumsum(others, axis=1) < near.shape[1]
    return near[others].reshape(len(near), near.shape[1] - 1)


def _joined(*columns: np.ndarray) -> np.ndarray:
    """All combinations that broadcasting makes of these columns, one a row."""
    return np.stack(np.broadcast_arrays(*columns), axis=-1).reshape(-1, len(columns))


def _nearest(A: Any, B: Any, count: int) -> np.ndarray:
    """The nearest rows of B for each row of A, the nearest first."""
    count = min(count, B.shape[0])
    size = A.shape[0] * B.shape[0] * max(A.shape[1], _FEATURES)
    if issparse(A) or size > _ALL_AT_ONCE * _FEATURES:
        from sklearn.neighbors import (
            NearestNeighbors,
        )  # a fifth of what importing gramlearn would cost

        return np.asarray(NearestNeighbors(n_neighbors=count).fit(B).kneighbors(A)[1])
    squared = cdist(A, B, "sqeuclidean")
    near = np.argpartition(squared, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(squared, near, axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(near, order, axis=1))
