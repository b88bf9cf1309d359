"""W <- cap(exp(log W - eta x x')): the von Neumann update of online PCA (Warmuth and Kuzmin, 2008; K09 6.3).

W is a density matrix over the directions to discard: PSD, trace one, eigenvalues at most 1/d. The expected
loss of a trial is d x'Wx, the squared length of x in d directions drawn by W. The projection in von Neumann
divergence keeps the eigenvectors: the largest eigenvalues become 1/d and the others are scaled to fill up the
trace.

W is kept as V' diag(exp l) V, so eigenvalues never underflow. An update decomposes diag(l) - eta zz', z = Vx.
Equal l, such as those at the cap, need no decomposition: a reflection of their eigenvectors leaves z one entry
among them. For the p that remain the secular equation gives the new l in O(p^2), and the new vectors are C V
with a Cauchy matrix C, multiplied in O(n p log p) (`cauchy`). A step costs n^2 + n p log p, at most n^2 log n.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn._base.eigen.cauchy import LEAF, compressed, times

_NONE = 1e-15  # a share of x that counts as zero, also in the secular equation
_COLUMNS = 512  # of V at a time, so that they stay in the cache

Reflections = list[tuple[slice, np.ndarray]]


@final
@dataclass(frozen=True, eq=False)
class CappedDensity:
    """W = V' diag(exp l) V with exp l <= 1/d and sum exp l = 1; l ascends, rows of V are eigenvectors."""

    vectors: np.ndarray
    logs: np.ndarray
    d: int

    @staticmethod
    def uniform(n: int, d: int) -> "CappedDensity":
        """I/n, the start."""
        return CappedDensity(np.eye(n), np.full(n, -np.log(n)), d)

    @property
    def matrix(self) -> np.ndarray:
        """W, n x n."""
        return np.asarray((self.vectors.T * np.exp(self.logs)) @ self.vectors)

    def loss(self, x: np.ndarray) -> float:
        """d x'Wx, the expected squared length of x in the discarded directions."""
        return self.d * float(np.exp(self.logs) @ (self.vectors @ x) ** 2)

    def updated(self, x: np.ndarray, eta: float, leaf: int = LEAF) -> "CappedDensity":
        """The density after x; nothing of this one is changed. C is cut down to `leaf` rows."""
        from gramlearn._base.eigen.secular import rank_one_cauchy, rotate

        reflections, z = _reflections(self.logs, self.vectors @ x)
        logs, rotations, kept, cauchy = rank_one_cauchy(self.logs, z, -eta)
        if not len(kept):
            return self
        C = compressed(cauchy, leaf)
        logs = capped(logs, self.d)
        order = np.argsort(logs, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        others = np.delete(np.arange(len(order)), kept)
        vectors = np.empty_like(self.vectors)
        for first in range(0, len(order), _COLUMNS):
            columns = slice(first, first + _COLUMNS)
            V = self.vectors[:, columns].copy()
            for block, u in reflections:
                V[block] -= np.outer(2 * u, u @ V[block])
            rotate(V, rotations)
            vectors[place[kept], columns] = times(C, V[kept])
            vectors[place[others], columns] = V[others]
        return CappedDensity(vectors, logs[order], self.d)


def _reflections(logs: np.ndarray, z: np.ndarray) -> tuple[Reflections, np.ndarray]:
    """I - 2uu' for each run of equal logs, as (run, u), and z after them: one entry of it a run."""
    reflections: Reflections = []
    size = float(np.abs(z).max())
    if size == 0.0:
        return reflections, z
    z = z / size  # squares neither overflow nor underflow
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(logs)) + 1, [len(logs)]])
    for run in np.flatnonzero(np.diff(bounds) > 1):
        first, last = bounds[run], bounds[run + 1]
        u = z[first:last].copy()
        length = float(np.linalg.norm(u))
        if length <= _NONE:
            continue
        end = -np.copysign(length, u[0])
        u[0] -= end
        u /= np.linalg.norm(u)
        reflections.append((slice(first, last), u))
        z[first], z[first + 1 : last] = end, 0.0
    return reflections, z * size


def capped(logs: np.ndarray, d: int) -> np.ndarray:
    """The logs of the nearest w, in relative entropy, with w <= 1/d and sum w = 1.

    With the m largest at the cap, the others are scaled to sum to 1 - m/d; m is the least that leaves none of
    them above the cap.
    """
    order = np.argsort(-logs, kind="stable")
    sorted_logs = logs[order]
    rest = np.logaddexp.accumulate(sorted_logs[::-1])[::-1]  # log of the sum from m on
    m = np.arange(d)
    # Differences first: logs may be large, and no log is above that of a sum it is part of.
    within = (sorted_logs[:d] - rest[:d]) + np.log1p(-m / d) <= -np.log(d) + 1e-15
    count = int(np.argmax(within)) if within.any() else d - 1
    out = (logs - rest[count]) + np.log1p(-count / d)
    out[order[:count]] = -np.log(d)
    return np.minimum(out, -np.log(d))
