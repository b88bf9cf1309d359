"""P = (X - mean) R / length: points by their leading principal directions, of mean squared length 1.

A hundred directions at most, so that learning takes seconds whatever the number of features is. X is sent to
the process once, in blocks of rows, and is not kept: what needs all features, the plain distances of judged
items, is computed where X is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

MOST_DIRECTIONS = 100
SAMPLE = 5000  # points that tell the directions
_NUMBERS = 2**20  # in a block


@final
@dataclass(frozen=True, eq=False)
class Directions:
    """See the module.

    Attributes
    ----------
    mean : vector of d
    R : array d x k, k <= 100
        Orthonormal columns, those of the largest variance first.
    length : float
    share : float
        Of the squared distances of the sample, what these directions keep.
    """

    mean: np.ndarray
    R: np.ndarray
    length: float
    share: float

    @classmethod
    def of(cls, sample: np.ndarray) -> Self:
        """Those of a sample of points."""
        mean = sample.mean(axis=0, dtype=np.float64)
        apart = sample - mean
        n, d = apart.shape
        if n < d:  # the same directions from the smaller product
            size, left = np.linalg.eigh(apart @ apart.T)
            order = np.argsort(-size)[: min(MOST_DIRECTIONS, max(n - 1, 1))]
            kept = order[size[order] > 1e-12 * max(size.max(), 0.0)]
            R = (apart.T @ left[:, kept]) / np.sqrt(size[kept])
        else:
            size, right = np.linalg.eigh(apart.T @ apart)
            kept = np.argsort(-size)[:MOST_DIRECTIONS]
            R = right[:, kept]
        if not R.shape[1]:  # all points are equal
            R = np.eye(d, 1)
        P = apart @ R
        whole, part = float(np.vecdot(apart, apart).mean()), float(np.vecdot(P, P).mean())
        length = float(np.sqrt(part)) or 1.0
        return cls(mean, R, length, part / whole if whole > 0 else 1.0)

    def place(self, block: np.ndarray) -> np.ndarray:
        """P of some points."""
        return np.asarray((block - self.mean) @ self.R / self.length)


def sample_of(X: Any) -> np.ndarray:
    """Points that tell the directions, as numbers of double precision."""
    n = len(X)
    some = X
    if n > SAMPLE:
        some = X[np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))]
    return np.asarray(some, dtype=np.float64)


def blocks_of(X: Any) -> Iterator[np.ndarray]:
    """All points, some at a time."""
    step = max(1, _NUMBERS // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        yield np.ascontiguousarray(X[start : start + step])
