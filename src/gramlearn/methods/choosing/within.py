"""w_f ~ 1 / s_f: one over the variance of each feature among points that are alike.

It is to a diagonal metric what the prior "inverse_within" (see `candidates`) is to a full one; points may be
sparse:

    s_f = (sum of squares within + variance of all) / (number of differences + 1)

so that a feature in which alike points never differ counts as one whose variance was seen once.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gramlearn.methods.choosing.places import Places
from gramlearn.methods.metric.maps import column_variances

_NUMBERS = 1 << 22  # of differences that are made at a time


class Within(NamedTuple):
    """The sums of squares of differences between alike points, coordinate by coordinate, and how many."""

    squares: np.ndarray
    n_differences: int


def within_classes(P: Any, classes: np.ndarray) -> Within:
    """Of each point and the mean of its class; those of class -1 take no part."""
    known = np.flatnonzero(classes >= 0)
    squares = np.zeros(P.shape[1])
    order = known[np.argsort(classes[known], kind="stable")]
    for rows in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        if len(rows) > 1:
            squares += (len(rows) - 1) * column_variances(P[rows])
    return Within(squares, len(known))


def within_pairs(P: Any, pairs: np.ndarray, weight: np.ndarray) -> Within:
    """Of the two points of each pair, over sqrt(2); a pair counts by its weight."""
    squares = np.zeros(P.shape[1])
    size = max(1, _NUMBERS // max(P.shape[1], 1))
    for start in range(0, len(pairs), size):
        some = slice(start, start + size)
        i, j = pairs[some].T
        D = P[i] - P[j]
        both = D.multiply(D) if issparse(D) else D**2
        squares += np.asarray(both.T @ weight[some]).reshape(-1) / 2
    return Within(squares, len(pairs))


def weights_within(places: Places, within: Within) -> np.ndarray:
    """w, scaled so that distances are as large on average as plain ones; 1 where nothing alike differs."""
    if not within.squares[places.varies].any():
        return np.ones(places.n_directions)
    variances = column_variances(places.coordinates)
    return _one_over((within.squares + variances) / (within.n_differences + 1), variances, places)


def weights_standardized(places: Places) -> np.ndarray:
    """One over the variance of each feature, scaled alike."""
    variances = column_variances(places.coordinates)
    return _one_over(variances, variances, places)


def _one_over(s: np.ndarray, variances: np.ndarray, places: Places) -> np.ndarray:
    # A feature that does not vary tells nothing of how far points lie apart.
    w = np.divide(1.0, s, out=np.zeros_like(s), where=places.varies)
    moved = float(w @ variances)
    return np.asarray(w * (variances.sum() / moved)) if moved > 0 else np.ones_like(w)
