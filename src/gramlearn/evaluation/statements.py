"""sum_k w_k s_k / sum_k w_k: how much of what is known comes out right under squared distances, s_k in [0, 1].

    similar pair      the share, by weight, of the dissimilar pairs that are farther
    dissimilar pair   the share, by weight, of the similar pairs that are nearer
    comparison        whether it holds
    bound             1 less the violation, as a share of the distance, or of the bound if that is larger
    label             of a point among others: whether the nearest is of its class, whether most of the five
                      nearest are, and twice which share of those five, over four

Equal distances count half. The mean over pairs is the area under the ROC curve; pairs of one kind alone are
held against others that are drawn at random.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from gramlearn._base.arrays import to_numpy
from gramlearn.side_information import Bounds, Pairs, SideInformation, Triplets

Lengths = Callable[[np.ndarray, np.ndarray], np.ndarray]  # squared distances of pairs (i, j)

_NEAREST = 5  # neighbors that vote
_OTHERS = 20  # pairs drawn at random for each pair, where there are none of the other kind
_QUERIES = 3000  # labeled points that are asked for their neighbors
_DIGITS = 9  # of squared distances, in units of their median: what is beyond is rounding
_NUMBERS_AT_ONCE = 2**22


def share_right(side: SideInformation, lengths: Lengths) -> float:
    """The share, by weight, of the statements that come out right."""
    return float(np.average(statement_scores(side, lengths), weights=side.weights()))


def statement_scores(side: SideInformation, lengths: Lengths) -> np.ndarray:
    """One number for each statement."""
    return _SCORES[type(side)](side, lengths)


def comparison_scores(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """1 where the first is the less, 1/2 where both are equal."""
    return np.asarray((near < far) + (near == far) / 2)


def pair_scores(
    near: np.ndarray, far: np.ndarray, near_weights: np.ndarray, far_weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of each similar pair, and of each dissimilar one; there is one of each at least."""
    return 1 - _share_below(near, far, far_weights), _share_below(far, near, near_weights)


def scores_against_random_pairs(
    i: np.ndarray, d: np.ndarray, n_points: int, lengths: Lengths, rng: np.random.Generator
) -> np.ndarray:
    """How often each of the pairs, whose first points and distances are given, is nearer than a random one."""
    # Steps from 1 to n - 1 around the ring of points pair none with itself.
    first = np.repeat(i.astype(np.int64), _OTHERS)
    steps = rng.integers(1, n_points, size=len(first))
    others = lengths(first, (first + steps) % n_points).reshape(-1, _OTHERS)
    return np.asarray(comparison_scores(d[:, None], others).mean(axis=1))


def bound_scores(d: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """1 within the bounds; at a distance beyond them, the ratio of bound and distance, whichever is less."""
    missed = np.maximum(d - upper, 0.0) + np.maximum(lower - d, 0.0)
    larger = np.maximum(d, lower)
    relative = np.divide(missed, larger, out=np.zeros_like(d), where=missed > 0)
    return np.asarray(1 - relative)


def neighbor_scores(
    squared: np.ndarray, classes: np.ndarray, answers: np.ndarray, n_classes: int
) -> np.ndarray:
    """Of each row, a point of the class `answers`, with columns for the others; inf leaves one out."""
    known = np.isfinite(squared)
    # The median, for a few points far from all others would round the rest to zero.
    unit = float(np.median(squared[known])) or float(squared[known].mean()) or 1.0
    squared = np.round(squared / unit, _DIGITS)
    count = min(_NEAREST, int(known.sum(axis=1).min()))
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :count]
    found = classes[nearest]
    votes = (found[:, :, None] == np.arange(n_classes)).sum(axis=1)
    first = (found[:, 0] == answers).astype(float)
    most = np.argmax(votes, axis=1) == answers
    share = np.mean(found == answers[:, None], axis=1)
    return np.asarray((first + most + 2 * share) / 4)


def neighbors_right(points: Any, classes: np.ndarray) -> float:
    """The mean of the scores of labeled points, each among all the others; classes are numbered from 0.

    Of more than 3000 points, 3000 are asked, the same ones always.
    """
    return float(np.mean(label_scores(points, classes)[1]))


def label_scores(points: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows, scores): the points that `neighbors_right` asks, and the score of each."""
    n = len(classes)
    asked = np.sort(np.random.default_rng(0).permutation(n)[:_QUERIES])
    size = max(1, _NUMBERS_AT_ONCE // max(n, points.shape[1]))
    found = []
    for start in range(0, len(asked), size):
        rows = asked[start : start + size]
        here = _dense(points[rows])
        blocks = [
            cdist(here, _dense(points[k : k + size]), "sqeuclidean") for k in range(0, n, size)
        ]
        squared = np.concatenate(blocks, axis=1)
        squared[np.arange(len(rows)), rows] = np.inf
        found.append(neighbor_scores(squared, classes, classes[rows], int(classes.max()) + 1))
    return asked, np.concatenate(found)


def _dense(points: Any) -> np.ndarray:
    return np.asarray(points.toarray() if issparse(points) else points, dtype=np.float64)


def _share_below(values: np.ndarray, those: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The share, by weight, of `those` that are less than each value; equal ones count half."""
    order = np.argsort(those, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weights[order])])
    ends = (np.searchsorted(those[order], values, side=side) for side in ("left", "right"))
    return np.asarray(sum(total[end] for end in ends) / (2 * total[-1]))


def _of_pairs(side: Pairs, lengths: Lengths) -> np.ndarray:
    i, j = to_numpy(side.statement_points()).T
    d, n_similar = lengths(i, j), int(side.similar.shape[0])
    if 0 < n_similar < side.size:
        near, far = np.split(d, [n_similar])
        return np.concatenate(pair_scores(near, far, *np.split(side.weights(), [n_similar])))
    nearer = scores_against_random_pairs(i, d, side.n_points, lengths, np.random.default_rng(0))
    return nearer if n_similar else 1 - nearer


def _of_triplets(side: Triplets, lengths: Lengths) -> np.ndarray:
    i, j, _ = (to_numpy(column) for column in side.near_and_far())
    return comparison_scores(*np.split(lengths(i, j), 2))


def _of_bounds(side: Bounds, lengths: Lengths) -> np.ndarray:
    upper, lower = (to_numpy(bound) for bound in side.limits)
    return bound_scores(lengths(to_numpy(side.i), to_numpy(side.j)), upper, lower)


_SCORES: Mapping[type[SideInformation], Callable[..., np.ndarray]] = {
    Pairs: _of_pairs,
    Triplets: _of_triplets,
    Bounds: _of_bounds,
}
