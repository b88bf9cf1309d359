"""size_k = log(what shall be the less / what shall be the more), by metrics that were learned without k.

A learner that has seen a wrong statement bends its metric until the statement holds, and then calls it right.
So the statements are cut into folds, all about the same points in one, and each is measured by a metric learned
from the other folds: a pair against the distance halfway between similar and dissimilar ones, a comparison by
the ratio of its distances. The second round leaves out the tenth of the statements that look worst after the
first, so that its metrics are learned from fewer wrong ones; the mean of both rounds is what ranks.

With few statements in many dimensions a learned metric may judge unseen ones worse than plain distance does.
The judge is whichever of the two more of the statements agree with.
"""

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import as_index, is_elsewhere, to_numpy
from gramlearn._base.distances import squared_distances
from gramlearn._base.validation import generator
from gramlearn.evaluation.triplets import score_pairs
from gramlearn.side_information import SideInformation
from gramlearn.side_information.ranking import RankedStatements
from gramlearn.side_information.stored import refuse_stored

_LEFT_OUT = 0.1  # of the statements, in the second round: more than are wrong do no harm


def suspects(
    learner: Any, X: Any, side: SideInformation, *, n_folds: int = 5, random_state: Any = None
) -> RankedStatements:
    """Rank the statements that are probably wrong, the most suspicious first.

    Listed are all that the rest speaks against: look at them in their order, and stop where they begin to look
    right. `side.drop(suspects(...)[:20].mask)` leaves out the first twenty.

    Parameters
    ----------
    learner : estimator
        With `fit(X, side=...)` and `pair_distance`, such as MetricLearner(C=0.1). It is cloned 2 n_folds times,
        and stays as it is.
    X : array, sparse matrix or data frame n x d
        The points that the statements are about.
    side : Pairs, Triplets or Bounds
        At least `n_folds` statements about different points.
    n_folds : int
        How many parts are held back in turn. No metric that measures a statement was learned from it, from a
        repeat of it or from its opposite.
    random_state : int, Generator or None
        Seeds the folds.
    """
    _check_learner(learner)
    refuse_stored(side, "`side`")
    if not isinstance(side, SideInformation):
        raise TypeError(f"`side` must be Pairs, Triplets or Bounds; got {type(side).__name__}.")
    X = X.tocsr() if issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"`X` must have one row for each point; got shape {tuple(X.shape)}.")
    side.check_fits(int(X.shape[0]))
    side.check_not_empty()
    rng = generator(random_state)
    fold = side.folds(n_folds, rng)
    nothing = np.zeros(side.size, dtype=bool)
    first = _held_out(learner, X, side, fold, nothing)
    worst = np.argsort(-first, kind="stable")[: int(_LEFT_OUT * side.size)]
    left_out = nothing.copy()
    left_out[worst] = True
    learned = (first + _held_out(learner, X, side, fold, left_out)) / 2
    plain = side.log_ratios(partial(_plain, X))
    judge = plain if np.sum(plain < 0) > np.sum(learned < 0) else learned
    return RankedStatements.of(side, judge, 0.0, "log of the ratio by which it is off, unseen")


def _held_out(
    learner: Any, X: Any, side: SideInformation, fold: np.ndarray, left_out: np.ndarray
) -> np.ndarray:
    """How far each statement is off, measured without its fold and without what is left out."""
    from sklearn.base import clone

    table = side.statement_points()

    found = np.zeros(side.size)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        with warnings.catch_warnings():
            # What a fit to a part says of itself is not about the user's.
            warnings.filterwarnings("ignore", ".*: (No learned metric|Not judged)", UserWarning)
            fitted = clone(learner).fit(X, side=side.drop(as_index(held | left_out, table) > 0))
        found[held] = side.log_ratios(partial(_learned, fitted, X))[held]
    return found


def _learned(fitted: Any, X: Any, i: Any, j: Any) -> np.ndarray:
    return np.asarray(score_pairs(fitted, X, to_numpy(i), to_numpy(j)) ** 2)


def _plain(X: Any, i: Any, j: Any) -> np.ndarray:
    points = X if issparse(X) or is_elsewhere(X) else np.asarray(X, dtype=np.float64)
    return to_numpy(squared_distances(points, to_numpy(i), to_numpy(j)))


def _check_learner(learner: Any) -> None:
    if isinstance(learner, type) or not all(
        hasattr(learner, name) for name in ("fit", "pair_distance", "get_params")
    ):
        raise TypeError(
            "`learner` must be an estimator with fit(X, side=...) and pair_distance, such as MetricLearner(); "
            f"got {learner!r:.60}."
        )
