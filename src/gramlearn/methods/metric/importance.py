"""share_f = N_ff / tr N with N = P^(1/2) D W D P^(1/2): of which features the learned distances are made.

D are the deviations of the features and P their correlations, so that x = D P^(1/2) u with features u that are
not correlated, each as near to its x as can be (Kessy, Lewin, Strimmer 2018). The learned coordinates are then
a = N^(1/2) u, one for each feature, and

    |a - b|^2 = (x - y)' W (x - y)        mean of a_f^2 = N_ff

No share is negative, they sum to one, units make no difference, equal features share equally, and metrics that
agree on the points have the same shares. (W S)_ff, with S the covariance, adds up to the same; but of features
that nearly follow from each other, such as the radius, perimeter and area of a cell, it gives one 111 % and
others less than nothing. What goes along with a feature has a part of its share, whether W sees it or not. For
W = S^-1 the a of a difference of classes are the correlation-adjusted t-scores of Zuber and Strimmer (2009).

Where there are more than a thousand features, P is left out: N_ff = W_ff D_f^2.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import Array, namespace, to_numpy
from gramlearn._base.moving import in_host_memory
from gramlearn._base.points import column_means, rows_at
from gramlearn.methods.metric.maps import MetricMap, column_variances, symmetric_root

MOST_FEATURES = 1000  # whose correlations are looked at
_MOST_POINTS = 4000
_MOST_NUMBERS = 10**6  # of the shares of classes: 8 MB
_ROUNDING = 1e-13  # of means, in units of the deviation or of the largest number
_RANK = 1e-10  # an eigenvalue of the correlations below this share of the largest is zero


class Shares(NamedTuple):
    """What each feature has of the learned squared distances, in all and for each class."""

    of_all: np.ndarray  # d
    of_classes: np.ndarray | None  # c x d


def shares_of(found: MetricMap, X: Any, classes: Sequence[np.ndarray]) -> Shares:
    """The shares in the squared distances of points, and of each class from the others, by the rows of classes.

    Of many points 4000 are looked at, drawn evenly, in host memory. Shares are zero where there is no distance:
    of points that are all equal, or of a class whose mean is that of the others. Without classes, or with so
    many that their shares would outgrow the metric, there are none.
    """
    d, found = X.shape[1], in_host_memory(found)
    points = some_rows(X, _MOST_POINTS)
    few = 0 < len(classes) * d <= _MOST_NUMBERS
    z = _differences(X, classes) if few else np.zeros((0, d))
    if d > MOST_FEATURES:
        weight = found.diagonal
        of_all, parts = weight * column_variances(points), weight * z**2
    else:
        of_all, parts = _by_decorrelation(found, points, z)
    total = float(of_all.sum())
    # What is left of the difference of two equal means is rounding.
    parts = np.where(parts.sum(axis=1, keepdims=True) > _ROUNDING**2 * total, parts, 0.0)
    return Shares(_normalized(of_all), _normalized(parts) if few else None)


def feature_stretch(found: MetricMap, prior: Array | None) -> Array:
    """W_ff / (W0)_ff with W0 = A'A, or the identity: the squared distance of points that differ in f alone.

    A diagonal A is the vector of its diagonal.
    It is 1 where both are zero, and infinite where only the prior is.
    """
    after, xp = found.diagonal, namespace(found.diagonal)
    one = xp.ones_like(after)
    before = one if prior is None else column_squares(prior)
    blank = xp.where(after > 0, one * float("inf"), one)
    return xp.where(before > 0, after / xp.where(before > 0, before, one), blank)


def column_squares(A: Array) -> Array:
    """The squares of each column summed; of a vector its squares."""
    return A**2 if A.ndim == 1 else namespace(A).sum(A**2, axis=0)


def some_rows(X: Any, most: int) -> Any:
    """All rows, or so many of them, drawn evenly and the same at every call; in host memory."""
    n = X.shape[0]
    if n > most:
        rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        X = rows_at(X.tocsr() if issparse(X) else X, rows)
    return X if issparse(X) else to_numpy(X)


def _by_decorrelation(
    found: MetricMap, points: Any, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """N_ff, and the squares of N^(1/2) u for the rows z."""
    centered = np.asarray(points.toarray() if issparse(points) else points)
    size = np.abs(centered).max(axis=0)
    centered = centered - centered.mean(axis=0)
    deviations = np.sqrt(np.mean(centered**2, axis=0))
    varies = deviations > _ROUNDING * size
    inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varies)
    deviations = np.where(varies, deviations, 0.0)
    scaled = centered * inverse
    s, V = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    kept = s > _RANK * max(s[-1], 0.0)
    s, V = s[kept], V[:, kept]
    root = (V * np.sqrt(s)) @ V.T
    # P^(1/2) D L' without W, which squares the ratio of units.
    half = found.transform(root * deviations)
    N = half @ half.T
    if not len(z):
        return np.diag(N).copy(), z
    u = (z * inverse) @ (V / np.sqrt(s)) @ V.T
    return np.diag(N).copy(), (u @ symmetric_root(N)) ** 2


def _differences(X: Any, classes: Sequence[np.ndarray]) -> np.ndarray:
    """From the mean of the others to that of each class."""
    means = np.stack([to_numpy(column_means(rows_at(X, rows))) for rows in classes])
    counts = np.array([[len(rows)] for rows in classes], dtype=float)
    # mean_c - (sum - n_c mean_c) / (n - n_c)
    center = (counts * means).sum(axis=0) / counts.sum()
    return np.asarray((means - center) * counts.sum() / (counts.sum() - counts))


def _normalized(parts: np.ndarray) -> np.ndarray:
    """Each row as shares of its sum; zeros where that is zero."""
    total = parts.sum(axis=-1, keepdims=True)
    return np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
