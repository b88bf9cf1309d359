"""score(X, y) or score(X, side=...): how much of what is known comes out right under what was learned, 0 to 1.

Statements are measured by learned distances, and labels by near neighbors in what `transform` gives. What
tells no metric from another, as a fold without a statement, scores 1/2, which is what guessing would: in a
search it is the same for all candidates, and the other folds decide.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import is_elsewhere, to_numpy
from gramlearn._base.distances import squared_distances
from gramlearn._base.points import rows_at
from gramlearn._base.warnings import warn
from gramlearn.estimators._learning import (
    check_labels,
    check_not_side,
    check_side,
    warn_of_unused_labels,
)
from gramlearn.evaluation.chunks import share_right_in_chunks
from gramlearn.evaluation.statements import neighbors_right, share_right
from gramlearn.side_information import SideInformation
from gramlearn.side_information.stored import StoredStatements

_GUESSED = 0.5


class ScoresInPipelines:
    """An estimator whose `score` a Pipeline finds where metadata are routed.

    A Pipeline offers sample_weight=None to the score of its last step then, and raises unless that has heard of
    it (scikit-learn issue 30937). Weights that are given are refused: statements have their own.
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": None}


class ScoresWhatIsKnown(ScoresInPipelines, ABC):
    """An estimator that says how well its distances agree with labels or statements."""

    @abstractmethod
    def _row_distances(self, X: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """The learned squared distances of pairs of rows of X."""

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """Points whose plain distances are the learned ones."""

    def _all_columns(self, X: Any) -> Any:
        """The same, where `transform` gives some columns only."""
        return self.transform(X)

    def score(
        self, X: Any, y: Any = None, *, side: SideInformation | StoredStatements | None = None
    ) -> float:
        """The share, by weight, of what is known about the rows of X that comes out right, between 0 and 1.

        Parameters
        ----------
        X : array, sparse matrix or data frame n x d
            Points, such as those of a fold that was held back.
        y : vector of n labels, optional
            Each point is judged among the others, by the five nearest in what `transform` gives: whether the
            nearest is of its class, whether most of them are, and twice the share that is, over four. Of more
            than 3000 points, 3000 are. Labels as in `fit`.
        side : Pairs, Triplets or Bounds, optional
            Statements about the rows of X, in place of y; also `StoredPairs` and `StoredTriplets`, which are
            read in chunks. Of pairs it is the area under the ROC curve: how often a similar pair is nearer than
            a dissimilar one, or than a random one where all are of one kind. Of triplets it is the share that
            holds, and of bounds the share that is kept, with one that is missed counting by the ratio of bound
            and distance. Ties count half.
        """
        check_is_fitted(self)
        check_not_side(y)
        X = _rows_of(X)
        n = int(X.shape[0])
        if side is not None:
            if y is not None:
                check_labels(y, n)
                warn_of_unused_labels("by which all is scored")
            if isinstance(side, StoredStatements):
                side.check_fits(n)
                points = _plain(self._all_columns(X))  # once, for all chunks
                return share_right_in_chunks(
                    side, lambda i, j: np.asarray(squared_distances(points, i, j))
                )
            check_side(side, n)
            if not side.size:
                return guessed(f"`side` says nothing about these {n} rows")
            return share_right(side, lambda i, j: self._row_distances(X, i, j))
        if y is None:
            raise ValueError(
                "there is nothing to score by: pass labels as `y`, or `side=Pairs(...)`, Triplets or Bounds; a "
                "search passes `side` on after sklearn.set_config(enable_metadata_routing=True) and "
                "set_score_request(side=True)."
            )
        labels, labeled = check_labels(y, n)
        classes = np.unique(labels[labeled], return_inverse=True)[1]
        if len(classes) == 0 or classes.max() == 0:
            return guessed("`y` holds no two classes")
        rows = rows_at(X, labeled) if is_elsewhere(X) else _safe_indexing(X, labeled)
        return neighbors_right(_plain(self.transform(rows)), classes)


class ScoresByTransform(ScoresWhatIsKnown):
    """The same, where what `transform` gives is all that was learned."""

    def _row_distances(self, X: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return np.asarray(squared_distances(_plain(self.transform(X)), i, j))


def guessed(why: str) -> float:
    """The score of what tells nothing, with a warning."""
    warn(f"{why}, so the score is 1/2, as of a guess; pass more, or of a search fewer folds.")
    return _GUESSED


def _rows_of(X: Any) -> Any:
    """Points whose rows can be taken, whatever holds them."""
    if issparse(X):
        return X.tocsr()
    return X if hasattr(X, "shape") else np.asarray(X)


def _plain(points: Any) -> Any:
    """What `transform` gives, also where it was asked for data frames."""
    if issparse(points):
        return points.tocsr()
    return points.to_numpy() if hasattr(points, "to_numpy") else to_numpy(points)
