"""The share of statements in files that come out right, in one pass over their chunks.

Of comparisons it is a sum. Of pairs it is the area under the ROC curve, from one histogram of the distances of
similar pairs and one of those of dissimilar ones: sum_b s_b (d_b / 2 + sum_(c > b) d_c), with s and d as shares
of their weight. A bin is a part in 4096 of the distance wide, and two distances in one bin count as equal, so
that the area is right up to sum_b s_b d_b / 2.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gramlearn.evaluation.statements import Lengths, comparison_scores, scores_against_random_pairs
from gramlearn.side_information.stored import StoredStatements
from gramlearn.side_information.stored_pairs import StoredPairs
from gramlearn.side_information.stored_triplets import StoredTriplets
from gramlearn.side_information.tables import weights_in_full
from gramlearn.side_information.triplets import two_pairs

_LEFT_OUT = 11  # bits of the mantissa of a number in single precision, of which 12 stay
_BINS = 1 << (31 - _LEFT_OUT)  # all exponents; numbers are not negative


def share_right_in_chunks(stored: StoredStatements, lengths: Lengths) -> float:
    """The share, by weight, of the statements that come out right."""
    return _SHARES[type(stored)](stored, lengths)


def _of_triplets(stored: StoredTriplets, lengths: Lengths) -> float:
    right = total = 0.0
    for chunk in range(stored.n_chunks):
        found = stored.statements(chunk)
        near, far = two_pairs(found.points)
        weights = weights_in_full(found.numbers["weight"], found.size)
        right += float(weights @ comparison_scores(lengths(*near), lengths(*far)))
        total += float(weights.sum())
    return right / total


def _of_pairs(stored: StoredPairs, lengths: Lengths) -> float:
    counts = np.zeros((2, _BINS))  # by weight: of dissimilar pairs, and of similar ones
    unit = 0.0
    for chunk in range(stored.n_chunks):
        found = stored.statements(chunk)
        alike = found.numbers["alike"]
        weights = weights_in_full(found.numbers["weight"], found.size)
        d = lengths(*found.points)
        # Whatever the unit of distances is, single precision has them all in its range.
        unit = unit or float(np.median(d)) or float(np.mean(d))
        bins = _bins_of(d / (unit or 1.0))
        for kind in (0, 1):
            rows = np.flatnonzero(alike == kind)
            counts[kind] += np.bincount(bins[rows], weights[rows], minlength=_BINS)
    far, near = counts
    if not (far.any() and near.any()):
        return _of_one_kind(stored, lengths, bool(near.any()))
    farther = far.sum() - np.cumsum(far) + far / 2
    return float(near @ farther / (near.sum() * far.sum()))


def _bins_of(d: np.ndarray) -> np.ndarray:
    """Numbers that grow with the distances, which are not negative."""
    with np.errstate(over="ignore"):
        return d.astype(np.float32).view(np.int32) >> _LEFT_OUT


def _of_one_kind(stored: StoredPairs, lengths: Lengths, are_similar: bool) -> float:
    right = total = 0.0
    for chunk in range(stored.n_chunks):
        found = stored.statements(chunk)
        rng = np.random.default_rng((0, chunk))
        i, j = found.points
        scores = scores_against_random_pairs(i, lengths(i, j), stored.n_points, lengths, rng)
        weights = weights_in_full(found.numbers["weight"], found.size)
        right += float(weights @ (scores if are_similar else 1 - scores))
        total += float(weights.sum())
    return right / total


_SHARES: Mapping[type[StoredStatements], Callable[..., Any]] = {
    StoredPairs: _of_pairs,
    StoredTriplets: _of_triplets,
}
