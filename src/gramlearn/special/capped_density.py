"""W <- cap(exp(log W - eta x x')): the von Neumann update of online PCA (Warmuth and Kuzmin, 2008; K09 6.3).

W is a density matrix over the directions to discard: PSD, trace one, eigenvalues at most 1/d. The expected
loss of a trial is d x'Wx, what is left of x in d directions drawn by W. The projection in von Neumann
divergence keeps the eigenvectors: the largest eigenvalues become 1/d and the others are scaled to fill up the
trace.

W is kept as Q diag(exp l) Q', so eigenvalues never underflow. An update decomposes diag(l) - eta zz', z = Q'x,
and equal l need no decomposition: a reflection of their eigenvectors leaves z one entry among them. Most of
the discarded directions are at the cap, so p of the n remain, often few, and a step costs n^2 + n p^2.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

__all__ = ["CappedDensity"]

_NONE = 1e-14  # a share of |x| that is as good as nothing


@final
@dataclass(frozen=True, eq=False)
class CappedDensity:
    """W = Q diag(exp l) Q' with exp l <= 1/d and sum exp l = 1; l ascends."""

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
        return np.asarray((self.vectors * np.exp(self.logs)) @ self.vectors.T)

    def loss(self, x: np.ndarray) -> float:
        """d x'Wx, the expected squared length of x in the discarded directions."""
        return self.d * float(np.exp(self.logs) @ (self.vectors.T @ x) ** 2)

    def updated(self, x: np.ndarray, eta: float) -> "CappedDensity":
        """The density after x; nothing of this one is changed."""
        z = self.vectors.T @ x
        Q, z = _deflated(self.vectors, self.logs, z)
        active = np.flatnonzero(np.abs(z) > _NONE * np.linalg.norm(z))
        if not len(active):
            return self
        logs = self.logs.copy()
        part = np.diag(logs[active]) - eta * np.outer(z[active], z[active])
        logs[active], U = np.linalg.eigh(part)
        Q[:, active] = Q[:, active] @ U
        logs = capped(logs, self.d)
        order = np.argsort(logs, kind="stable")
        return CappedDensity(Q[:, order], logs[order], self.d)


def _deflated(Q: np.ndarray, logs: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reflect the vectors of each run of equal logs, so that z has one entry of it; in a copy."""
    Q, z = Q.copy(), z.copy()
    ends = np.flatnonzero(np.diff(logs) != 0) + 1
    for first, last in zip([0, *ends], [*ends, len(logs)], strict=True):
        block = slice(first, last)
        length = float(np.linalg.norm(z[block]))
        if last - first == 1 or length == 0.0:
            continue
        u = z[block].copy()
        u[0] += np.copysign(length, u[0])
        u /= np.linalg.norm(u)
        Q[:, block] -= np.outer(2 * (Q[:, block] @ u), u)
        z[block] -= 2 * (u @ z[block]) * u
        z[first + 1 : last] = 0.0
    return Q, z


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
