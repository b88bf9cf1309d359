"""The vote of the k nearest points, the same for metrics that are equal up to rounding."""

import numpy as np

__all__ = ["vote"]

_DIGITS = 9  # of squared distances, in units of their mean: what is beyond is rounding


def vote(points: np.ndarray, labels: np.ndarray, others: np.ndarray, k: int) -> np.ndarray:
    """The class of most of the k nearest points, the first of equals.

    Of points equally far the first in `points` are nearest. On a grid, such as balance scale, a tenth of
    the votes hang on such ties; left to rounding, they would differ between metrics that are the same.
    """
    from scipy.spatial.distance import cdist

    squared = cdist(others, points, "sqeuclidean")
    squared = np.round(squared / squared.mean(), _DIGITS)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :k]
    votes = labels[nearest][:, :, None] == np.arange(labels.max() + 1)
    return np.argmax(votes.sum(axis=1), axis=1)
