"""n points before and after, the statements about them, and the class of each: what a page is made of."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self, final

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import is_elsewhere, to_numpy
from gramlearn._base.distances import squared_distances
from gramlearn._base.moving import in_host_memory
from gramlearn._base.unit_length import of_unit_length
from gramlearn._base.validation import check_count, check_host_points
from gramlearn.evaluation.statements import Lengths
from gramlearn.evaluation.triplets import score_pairs
from gramlearn.side_information import Pairs, SideInformation
from gramlearn.side_information.digest import digest_statements
from gramlearn.side_information.ranking import RankedStatements
from gramlearn.side_information.sampling import check_as_many, read_labels
from gramlearn.side_information.stored import refuse_stored

_DRAWN = 4000  # pairs from labels, whose distances are shown
_ROUNDING = 1e-10  # of the largest eigenvalue of a kernel


@final
@dataclass(frozen=True, eq=False)
class Given:
    """The learner and its points, in coordinates of before and after.

    Attributes
    ----------
    learner, X : as given, in host memory
    before, after : array or sparse matrix
        Points whose squared distances are the plain and the learned ones.
    side : SideInformation or None
    pairs : SideInformation or None
        What distances are shown of: the statements, or else pairs drawn from labels.
    classes : vector of int
        The class of each point, -1 where it has none.
    names : list of str
        Of the classes; empty where there are no labels.
    seed : int
    """

    learner: Any
    X: Any
    before: Any
    after: Any
    side: SideInformation | None
    pairs: SideInformation | None
    classes: np.ndarray
    names: list[str]
    seed: int

    @classmethod
    def read(cls, learner: Any, X: Any, side: Any, y: Any, seed: Any) -> Self:
        """All of it, once it is known to fit together."""
        _check_learner(learner)
        seed = check_count(seed, "seed", 0)
        if is_elsewhere(X) or getattr(learner, "_home", None) is not None:
            learner, X = learner.to_numpy(), to_numpy(X) if is_elsewhere(X) else X
        X = X.tocsr() if issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
        after = _numbers(learner.transform(X))
        before = plain_points(learner, X)
        n = int(before.shape[0])
        if side is not None:
            refuse_stored(side, "`side`")
            if not isinstance(side, SideInformation):
                raise TypeError(
                    f"`side` must be Pairs, Triplets or Bounds; got {type(side).__name__}."
                )
            side.check_fits(n)
            side.check_not_empty()
            side = in_host_memory(side)
        classes, names, pairs = np.full(n, -1), [], side
        if y is not None:
            labels, labeled = read_labels(y)
            check_as_many(labels.size, n, "X")
            found, classes[labeled] = np.unique(labels[labeled], return_inverse=True)
            names = [str(name) for name in found]
            counts = np.bincount(classes[labeled], minlength=1)
            if side is None and len(names) > 1 and counts.max() > 1:
                pairs = Pairs.from_labels(y, _DRAWN, random_state=seed)
        return cls(learner, X, before, after, side, pairs, classes, names, seed)

    @property
    def n_points(self) -> int:
        """How many rows X has."""
        return int(self.before.shape[0])

    @property
    def lengths(self) -> tuple[Lengths, Lengths]:
        """The plain and the learned squared distances of pairs; the learned ones of all directions."""
        before = partial(squared_distances, self.before)
        # A kernel of given points has no distances but those of what `transform` gives.
        of_kernel = _is_precomputed(self.learner)
        return before, partial(squared_distances, self.after) if of_kernel else self._learned

    def _learned(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return np.asarray(score_pairs(self.learner, self.X, i, j) ** 2)

    @cached_property
    def violated(self) -> RankedStatements | None:
        """The statements that the metric breaks, where there are any and the learner can tell."""
        ask = getattr(self.learner, "violated", None)
        if self.side is None or ask is None:
            return None
        found: RankedStatements = ask(self.X, self.side)
        return found

    def was_learned_from(self, kind: str, count: int) -> str:
        """Whether so many statements or labels are those learned from: "yes", "no", or "maybe".

        Those of one kind and number may be the same in another order.
        """
        known = getattr(self.learner, "learned_from_", None)
        if known is None:
            return "maybe"
        if known["kind"] == "stream":
            return "maybe" if known["count"] == count else "no"
        if self.side is not None and known["digest"] == digest_statements(self.side):
            return "yes"
        is_like = (known["kind"], known["count"], known["n_points"]) == (kind, count, self.n_points)
        return "maybe" if is_like else "no"


def _check_learner(learner: Any) -> None:
    if isinstance(learner, type) or not all(
        hasattr(learner, name) for name in ("transform", "pair_distance", "fit")
    ):
        raise TypeError(
            "`learner` must be a fitted estimator with transform and pair_distance, such as MetricLearner; got "
            f"{learner!r:.60}."
        )
    try:
        check_is_fitted(learner)
    except NotFittedError:
        raise NotFittedError(
            f"`learner` is a {type(learner).__name__} that was not fitted; call its `fit` first."
        ) from None


def _numbers(points: Any) -> Any:
    """What `transform` gives, also where it was asked for data frames, in double precision."""
    if issparse(points):
        return points.tocsr().astype(np.float64)
    return np.asarray(points, dtype=np.float64)


def plain_points(learner: Any, X: Any) -> Any:
    """Points as they were before anything was learned: as given, or scaled to length one where it does that.

    Their squared distances are the plain ones; of a kernel matrix they have its inner products.
    """
    points: Any = X.astype(np.float64) if issparse(X) else check_host_points(X, "X")
    if getattr(learner, "normalize", False):
        return of_unit_length(
            points, "X", "leave it out, for the learner scales points to length one"
        )
    if _is_precomputed(learner):
        return _of_kernel(points)
    return points


def _is_precomputed(learner: Any) -> bool:
    kernel = getattr(learner, "kernel", None)
    return isinstance(kernel, str) and kernel == "precomputed"


def _of_kernel(K: np.ndarray) -> np.ndarray:
    """Points with the inner products K."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"`X` has shape {K.shape}, but kernel='precomputed' knows plain distances among the points learned "
            "from alone; pass their square kernel matrix."
        )
    s, V = np.linalg.eigh((K + K.T) / 2)
    kept = s > _ROUNDING * s[-1]
    return np.asarray(V[:, kept] * np.sqrt(s[kept]))
