"""d_ik - d_ij > xi for neighbors k of i and others j: which of the n^2 k comparisons of a graph K violates.

They are found from distances, a few rows at a time: the farthest neighbors of i against the nearest others.
"""

from typing import Any, final

import numpy as np

_EACH = 3  # how many neighbors of a point are compared with how many others at a time
_AT_ONCE = 4_000_000  # entries of a matrix in memory


@final
class Comparisons:
    """All (i, k, j) with k a neighbor of i and j not, of a graph; never written out."""

    def __init__(self, graph: Any) -> None:
        from scipy.sparse import csr_array

        self._graph = csr_array(graph)
        self.n = int(self._graph.shape[0])

    def count(self) -> int:
        """How many there are."""
        degrees = np.diff(self._graph.indptr)
        return int(np.sum(degrees * (self.n - 1 - degrees)))

    def find_violated(
        self, F: np.ndarray, slack: float, tolerance: float, room: int
    ) -> tuple[np.ndarray, float]:
        """The worst (i, k, j) with d_ik - d_ij > slack + tolerance, and the largest d_ik - d_ij of all."""
        squared = np.einsum("ij,ij->i", F, F)
        largest, found, sizes = -np.inf, [np.zeros((0, 3), dtype=np.intp)], [np.zeros(0)]
        step = max(1, _AT_ONCE // self.n)
        for start in range(0, self.n, step):
            rows = np.arange(start, min(start + step, self.n))
            d = squared[rows, None] + squared[None, :] - 2 * F[rows] @ F.T
            joined = self._graph[rows].toarray() > 0
            far, k = _smallest(np.where(joined, -d, np.inf))
            joined[np.arange(len(rows)), rows] = True  # a point is not compared with itself
            near, j = _smallest(np.where(joined, np.inf, d))
            excess = -far[:, :, None] - near[:, None, :]
            largest = max(largest, float(excess.max(initial=-np.inf)))
            at, a, b = np.nonzero(excess > slack + tolerance)
            found.append(np.column_stack([rows[at], k[at, a], j[at, b]]))
            sizes.append(excess[at, a, b])
        table, size = np.concatenate(found), np.concatenate(sizes)
        return table[np.argsort(-size, kind="stable")[:room]], largest


def _smallest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The few smallest of each row, and where they are."""
    count = min(_EACH, values.shape[1])
    columns = np.argpartition(values, count - 1, axis=1)[:, :count]
    return np.take_along_axis(values, columns, axis=1), columns


def drop_known(new: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The rows that are not known yet."""
    if not len(new) or not len(known):
        return new
    seen = {tuple(row) for row in known.tolist()}
    return new[[tuple(row) not in seen for row in new.tolist()]]
