"""|x - y|^2 = |p_x - p_y|^2 + beyond(x, y): points by coordinates p, and what these leave out of distances.

A learned map changes coordinates, p -> p F, and never what lies beyond them. A vector F is the diagonal of a
matrix: then coordinates may be sparse, and nothing dense is made of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from gramlearn._base.arrays import Array, as_real, is_numpy, namespace, to_numpy
from gramlearn._base.distances import squared_distances
from gramlearn._base.points import rows_at
from gramlearn.methods.metric.maps import scaled_columns, squares_between

_ROUNDING = 1e-9  # of a coordinate, beside its largest number
_LEAST = 1e-140  # of differences whose squares, and one over these, are numbers
_FEW = 100  # coordinates, up to which distances are not computed by products

Between = Callable[[np.ndarray, np.ndarray], Any]


@final
@dataclass(frozen=True, eq=False)
class Places:
    """Coordinates, a row a point; what lies beyond them, of pairs (i, j) and between all rows of two lists."""

    coordinates: Any
    beyond: Between | None = None
    beyond_between: Between | None = None

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.coordinates.shape[0])

    @property
    def n_directions(self) -> int:
        """How many coordinates a point has."""
        return int(self.coordinates.shape[1])

    @cached_property
    def varies(self) -> np.ndarray:
        """Which coordinates differ between points; a variance of zero would not say so, for it is rounded."""
        P = self.coordinates
        if issparse(P):
            highest, lowest = (
                ends.toarray().reshape(-1) for ends in (P.max(axis=0), P.min(axis=0))
            )
        else:
            xp = namespace(P)
            highest, lowest = (to_numpy(ends) for ends in (xp.max(P, axis=0), xp.min(P, axis=0)))
        largest = np.maximum(np.abs(highest), np.abs(lowest))
        return np.asarray(highest - lowest > np.maximum(_ROUNDING * largest, _LEAST))

    @property
    def inside(self) -> "Places":
        """The same points with nothing beyond their coordinates."""
        return Places(self.coordinates)

    @property
    def here(self) -> "Places":
        """The same points with their coordinates in host memory; what lies beyond them is found where it is."""
        P, beyond, between = self.coordinates, self.beyond, self.beyond_between
        if issparse(P) or is_numpy(P):
            return self
        return Places(
            to_numpy(P),
            None if beyond is None else lambda i, j: to_numpy(beyond(i, j)),
            None if between is None else lambda some, others: to_numpy(between(some, others)),
        )

    def moved(self, A: np.ndarray) -> "Places":
        """The same points with coordinates p A', which a prior W0 = A'A measures as plain distances."""
        return Places(times(self.coordinates, A.T), self.beyond, self.beyond_between)

    def within(self, rows: np.ndarray) -> "Places":
        """Some of the points, numbered anew."""
        beyond, between = self.beyond, self.beyond_between
        return Places(
            rows_at(self.coordinates, rows),
            None if beyond is None else lambda i, j: beyond(rows[i], rows[j]),
            None if between is None else lambda some, others: between(rows[some], rows[others]),
        )

    def squared(self, F: np.ndarray | None, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """|(p_i - p_j) F|^2 + beyond(i, j) of pairs, in host memory; without F the plain distances."""
        P = self.coordinates if F is None else times(self.coordinates, F)
        inside = squared_distances(P, i, j)
        return to_numpy(inside if self.beyond is None else inside + self.beyond(i, j))

    def squared_between(
        self, F: np.ndarray | None, rows: np.ndarray, others: np.ndarray
    ) -> np.ndarray:
        """The same between each of `rows` and each of `others`."""
        P = self.coordinates if F is None else times(self.coordinates, F)
        if issparse(P) or self.n_directions > _FEW:
            inside = np.maximum(squares_between(P, rows, others), 0.0)
        else:
            inside = cdist(P[rows], P[others], "sqeuclidean")
        return inside if self.beyond_between is None else inside + self.beyond_between(rows, others)


def times(P: Any, F: Array) -> Any:
    """P F where P is, with the diagonal of F where F is a vector."""
    F = F if issparse(P) or is_numpy(P) else as_real(F, P)
    return P @ F if F.ndim == 2 else scaled_columns(P, F)
