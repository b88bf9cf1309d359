"""z'W0 z = sum_m before_m (w_m'z)^2,  z'Wz = sum_m after_m (w_m'z)^2: where a metric differs from its prior.

stretch_m = after_m / before_m is by what squared distances along w_m were multiplied. The w_m are the
eigenvectors of both matrices at once, so that the units of the features make no difference. Only W + W0 is
inverted, within its range: each of the two may be singular.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import Array
from gramlearn._base.moving import in_host_memory
from gramlearn.methods.metric.importance import some_rows
from gramlearn.methods.metric.maps import MetricMap, column_variances

_MOST_POINTS = 4000
_ROUNDING = 1e-10  # a share of W + W0 below which a direction is of one of the two alone
_NAMED = 4  # features that a direction is described by


@final
@dataclass(frozen=True, eq=False, repr=False)
class StretchedDirections:
    """Directions in which a metric differs from its prior, from the one stretched most to the one shrunk most.

    Attributes
    ----------
    stretch : vector
        By what squared distances along the direction were multiplied, in falling order.
    share : vector
        How much of the mean learned squared distance lies in the direction.
    loadings : array, a row a direction, a column a feature
        w_m in units of the deviation of each feature, of length one; the largest entry is positive.
    names : tuple of str
        Of the features.
    """

    stretch: np.ndarray
    share: np.ndarray
    loadings: np.ndarray
    names: tuple[str, ...]

    def describe(self, m: int) -> str:
        """Direction m in words: its stretch, its share, and the features it is made of."""
        order = np.argsort(-np.abs(self.loadings[m]), kind="stable")[:_NAMED]
        sizes = " ".join(f"{self.loadings[m, f]:+.2f} {self.names[f]}" for f in order)
        return f"x {self.stretch[m]:.3g}, {self.share[m]:.0%} of the squared distances: {sizes}"

    def __len__(self) -> int:
        return len(self.stretch)

    def __repr__(self) -> str:
        lines = [f"StretchedDirections({len(self)}, the most stretched first)"]
        return "\n  ".join([*lines, *(self.describe(m) for m in range(len(self)))])


def stretched_directions(
    found: MetricMap, prior: Array | None, X: Any, count: int, names: tuple[str, ...]
) -> StretchedDirections:
    """The `count` directions stretched most, and as many shrunk most.

    All is computed in host memory. W0 = A'A is given by A; it is the identity where that is None. Deviations
    and shares are those of the rows of X, of which 4000 at most are looked at.
    """
    found, prior = in_host_memory((found, prior))
    R, F = found.learned_in()
    A = np.eye(len(F)) if prior is None else (np.diag(prior) if prior.ndim == 1 else prior)
    after, before, w = _of_both(F, A.T @ A)
    stretch = np.divide(after, before, out=np.full(len(w), np.inf), where=before > 0)
    order = np.argsort(-stretch, kind="stable")
    chosen = order if 2 * count >= len(order) else np.concatenate([order[:count], order[-count:]])
    functionals = w[chosen] @ R.T
    points = some_rows(X, _MOST_POINTS)
    along = after[chosen] * np.var(np.asarray(points @ functionals.T), axis=0)
    total = _mean_square(found, points)
    loadings = functionals * np.sqrt(column_variances(points))
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    loadings = np.divide(loadings, lengths, out=np.zeros_like(loadings), where=lengths > 0)
    largest = np.take_along_axis(loadings, np.abs(loadings).argmax(axis=1)[:, None], axis=1)
    return StretchedDirections(
        stretch[chosen],
        along / total if total > 0 else np.zeros(len(chosen)),
        loadings * np.where(largest < 0, -1.0, 1.0),
        names,
    )


def _of_both(W: np.ndarray, W0: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(after, before, w) with W = sum after_m w_m w_m', W0 = sum before_m w_m w_m' and after + before = 1."""
    scale = np.sqrt(np.diag(W) + np.diag(W0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    scaled, both = (inverse[:, None] * M * inverse for M in (W, W + W0))
    s, V = np.linalg.eigh(both)
    kept = s > len(s) * np.finfo(float).eps * max(s[-1], 0.0)
    root, whitening = V[:, kept] * np.sqrt(s[kept]), V[:, kept] / np.sqrt(s[kept])
    after, Q = np.linalg.eigh(whitening.T @ scaled @ whitening)
    after = np.where(after < _ROUNDING, 0.0, np.where(after > 1 - _ROUNDING, 1.0, after))
    return after, 1 - after, (root @ Q).T * scale


def _mean_square(found: MetricMap, points: Any) -> float:
    """The mean of (x - mean)' W (x - mean)."""
    mean = np.asarray(points.mean(axis=0)).reshape(1, -1)
    if issparse(points):  # a sparse matrix less its mean is not sparse
        lengths = found.squared_lengths(points).mean() - found.squared_lengths(mean)[0]
        return max(float(lengths), 0.0)
    return float(found.squared_lengths(points - mean).mean())
