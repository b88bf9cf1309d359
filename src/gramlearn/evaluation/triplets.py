"""sum_t w_t 1{s(x_i, x_j) > s(x_i, x_k)} / sum_t w_t: the share of comparisons that a similarity keeps (F07 3).

s is the `pair_score` of a fitted estimator, the larger the more alike. Two scores that are equal keep no
comparison, so that a similarity that tells nothing apart has a score of 0; one at random has 1/2.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import is_elsewhere, to_numpy
from gramlearn._base.points import rows_at
from gramlearn._base.validation import check_count
from gramlearn.side_information import Triplets
from gramlearn.side_information.triplets import check_triplets

_NUMBERS_AT_ONCE = 2**22


def comparisons_kept(estimator: Any, X: Any, triplets: Triplets) -> float:
    """The share of comparisons that `estimator.pair_score` keeps: "i is more like j than like k", strictly.

    Parameters
    ----------
    estimator : fitted estimator
        With `pair_score`, such as MetricLearner or KernelLearner; a Pipeline that ends with one, whose other
        steps transform X; or a search whose best estimator is one.
    X : array, sparse matrix or data frame n x d
        The points that the comparisons are about.
    triplets : Triplets
        Of three columns or four. A row of weight w counts w times; margins do not matter.
    """
    X = X.tocsr() if issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"`X` must have one row for each point; got shape {tuple(X.shape)}.")
    check_triplets(triplets, "triplets", int(X.shape[0]))
    judge, X = _find_scorer(estimator, X)
    i, j, _ = (to_numpy(column) for column in triplets.near_and_far())
    near, far = np.split(score_pairs(judge, X, i, j), 2)
    return share_kept(near, far, triplets)


def share_kept(near: np.ndarray, far: np.ndarray, triplets: Triplets) -> float:
    """The share of comparisons with near > far, each counted by its weight."""
    weight = (
        None if triplets.weight is None else np.broadcast_to(to_numpy(triplets.weight), near.shape)
    )
    return float(np.average(near > far, weights=weight))


@final
@dataclass(frozen=True)
class TripletScorer:
    """For `scoring=` of scikit-learn: the share of triplets, drawn from the labels, that `pair_score` keeps.

    `scorer(estimator, X, y)` draws them by `Triplets.from_labels(y, n_triplets, random_state=random_state)`
    and gives `comparisons_kept`. A seed judges all candidates of a search by the same triplets of a fold, so
    that their scores differ by what was learned alone; with None or a Generator by the draw as well.

    Folds need two classes or more: pass cv=StratifiedKFold(...), for scikit-learn stratifies by itself for
    classifiers alone, and labels are often sorted.

    Parameters
    ----------
    n_triplets : int
        1000 are the test triplets of F07 3.1: the standard error of the share is 0.016 at most.
    random_state : int, Generator or None
        Seeds the draw.
    """

    n_triplets: int = 1000
    random_state: Any = 0

    def __post_init__(self) -> None:
        check_count(self.n_triplets, "n_triplets")

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        if y is None:
            raise ValueError(
                "`TripletScorer` draws comparisons from labels, and `y` is missing; pass y, or call "
                "comparisons_kept(estimator, X, triplets)."
            )
        triplets = Triplets.from_labels(y, self.n_triplets, random_state=self.random_state)
        return comparisons_kept(estimator, X, triplets)


def _find_scorer(estimator: Any, X: Any) -> tuple[Any, Any]:
    """What has `pair_score`, and the points as it takes them."""
    from sklearn.pipeline import Pipeline

    if hasattr(estimator, "pair_score"):
        return estimator, X
    if isinstance(estimator, Pipeline):
        return _find_scorer(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)
    if hasattr(estimator, "best_estimator_"):
        return _find_scorer(estimator.best_estimator_, X)
    raise TypeError(
        f"comparisons are judged by `pair_score`, which {type(estimator).__name__} does not have; pass a "
        "fitted MetricLearner, KernelLearner or another that has it, or a Pipeline that ends with one."
    )


def score_pairs(judge: Any, X: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """pair_score of (x_i, x_j), some rows at a time, to save memory."""
    size = max(1, _NUMBERS_AT_ONCE // X.shape[1])
    found = []
    for start in range(0, i.size, size):
        some = slice(start, start + size)
        sides = tuple(_rows(X, rows[some]) for rows in (i, j))
        found.append(to_numpy(judge.pair_score(sides)))
    return np.concatenate(found)


def _rows(X: Any, rows: np.ndarray) -> Any:
    from sklearn.utils import _safe_indexing

    return rows_at(X, rows) if is_elsewhere(X) else _safe_indexing(X, rows)
