"""d(x, y) <= threshold: what a learned metric says about pairs, in methods named as in metric-learn."""

import math
from abc import abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import (
    Array,
    as_real,
    brought,
    copied,
    namespace,
    read,
    to_numpy,
    together,
)
from gramlearn._base.validation import as_numbers, check_finite, check_flag
from gramlearn.estimators._inputs import (
    FLOATS,
    KeepsPrecision,
    are_pairs,
    of_unit_length,
    two_sides,
    validated,
)
from gramlearn.estimators._parts.answers import INPUT
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.learned import METRIC_MAP
from gramlearn.estimators._parts.nested import IfThere, Maybe, Together
from gramlearn.estimators._parts.words import Flag, Number
from gramlearn.estimators._scoring import ScoresWhatIsKnown
from gramlearn.estimators._tensors import FollowsArrays, check_same_place
from gramlearn.evaluation.statements import pair_scores
from gramlearn.evaluation.triplets import score_pairs
from gramlearn.methods.metric.diagonal.fitting import LearnedWeights
from gramlearn.methods.metric.fitting import Learned, Statements
from gramlearn.methods.metric.maps import MetricMap
from gramlearn.side_information import SideInformation
from gramlearn.side_information.stored import StoredStatements


class _JudgesPairs:
    """A method that an estimator has once it judges pairs: after a fit to pairs, or calibrate_threshold.

    One fitted to labels transforms points, as others do: scikit-learn would have it `predict` a label for each
    row. Unlike with `available_if`, the AttributeError says what to do.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self._method
        check_is_fitted(estimator)
        if not getattr(estimator, "_judges_pairs", False):
            known, advice = "what calls no pair near or far", ""
            if hasattr(estimator, "threshold_"):
                known, advice = "labels", ", or fit with side=Pairs.from_labels(y)"
            raise AttributeError(
                f"`{self._method.__name__}` judges pairs of points, and this {type(estimator).__name__} was "
                f"fitted to {known}; call calibrate_threshold(pairs, y) first{advice}."
            )
        return MethodType(self._method, estimator)


class PairMethods(FollowsArrays, ScoresWhatIsKnown, KeepsPrecision):
    """Distances of pairs of points, and the threshold below which a pair counts as alike."""

    normalize: Any = False  # where it is no parameter
    threshold_: float
    n_features_in_: int
    _judges_pairs: bool
    _saved: ClassVar[dict[str, FilePart]] = {
        **INPUT,
        "threshold_": IfThere(Number()),
        "bounds_": Maybe(Together(Maybe(Number()), Maybe(Number()))),
        "_judges_pairs": Flag(),
    }

    def _as_measured(self, X: Any, name: str = "X") -> Any:
        """Points as their distances are learned and measured: of unit length, where that is asked for."""
        return of_unit_length(X, name) if check_flag(self.normalize, "normalize") else X

    def _keep_answer(
        self, learned: Learned | LearnedWeights, asked: Statements, judges_pairs: bool
    ) -> None:
        """The certificate, the bounds, and the threshold that tells the pairs learned from apart best."""
        self.solution_, self.bounds_ = learned.solution, asked.bounds
        self.n_iter_ = max(1, learned.solution.iterations)
        self._judges_pairs = judges_pairs and learned.alike.size > 0
        self.__dict__.pop("threshold_", None)  # of an earlier fit
        if learned.alike.size:
            lengths = learned.lengths
            alike, weights = brought(learned.alike, lengths), as_real(learned.weights, lengths)
            self.threshold_ = best_threshold(lengths, alike, weights)

    @abstractmethod
    def _squared_distances(self, first: Any, second: Any) -> Array:
        """The learned squared distance of row k of the one with row k of the other."""

    def pair_distance(self, pairs: Any) -> Array:
        """The learned distance, not squared, of each pair.

        Parameters
        ----------
        pairs : array m x 2 x d, or (A, B) or [A, B] of two arrays m x d
            The points of the pairs. A and B may be data frames, or sparse, one of them or both; or tensors.
        """
        check_is_fitted(self)
        first, second = (self._as_measured(side, "pairs") for side in two_sides(self, pairs))
        squared = self._squared_distances(first, second)
        return namespace(squared).sqrt(squared)

    def pair_score(self, pairs: Any) -> Array:
        """Minus the distance: the larger, the more alike."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """A function (u, v, squared=False) of two points: for scikit-learn's `metric=` and the like.

        The points are vectors, or rows of a sparse matrix.
        """
        check_is_fitted(self)

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            rows = [_one_row(x, name, self.n_features_in_) for x, name in ((u, "u"), (v, "v"))]
            for row in rows:
                check_same_place(self, row, "get_metric")
            first, second = map(
                self._as_measured, together(rows[0], rows[1], ("`u`", "`v`")), ("u", "v")
            )
            length = float(self._squared_distances(first, second)[0])
            return length if squared else length**0.5

        return metric

    @_JudgesPairs
    def predict(self, pairs: Any) -> Array:
        """1 for pairs that are alike, nearer than `threshold_`, and -1 for the others."""
        are_near = self.pair_distance(pairs) <= self.threshold_
        xp = namespace(are_near)
        return 2 * xp.astype(are_near, xp.int64) - 1

    def score(
        self, X: Any, y: Any = None, *, side: SideInformation | StoredStatements | None = None
    ) -> float:
        """How much of what is known comes out right, between 0 and 1.

        Parameters
        ----------
        X : array m x 2 x d, or (A, B) or [A, B] of two arrays m x d; or n x d
            Pairs as `pair_distance` takes them, or points.
        y : vector of m, or of n labels, optional
            Of pairs 1 (alike) and -1 (unlike), or booleans: the score is the area under the ROC curve of
            `pair_score`. Of points their classes: each point is judged among the others, by the five nearest in
            what `transform` gives: whether the nearest is of its class, whether most of them are, and twice the
            share that is, over four. Of more than 3000 points, 3000 are.
        side : Pairs, Triplets or Bounds, optional
            Statements about the rows of X, in place of y, by their weights; also `StoredPairs` and
            `StoredTriplets`, which are read in chunks. Of Pairs it is the area under the ROC curve: how often a
            similar pair is nearer than a dissimilar one, or than a random one where all are of one kind. Of
            Triplets it is the share that holds, and of Bounds the share that is kept, where one that is missed
            counts by the ratio of bound and distance. Ties count half.
        """
        if not are_pairs(X):
            return super().score(X, y, side=side)
        check_is_fitted(self)
        if side is not None:
            raise TypeError(
                "`X` holds pairs of points, and `side` is about rows of points; pass the points as X, or the "
                "pairs with y of 1 and -1."
            )
        if y is None:
            raise ValueError(
                "`y` is missing; pass 1 for each pair that is alike and -1 for each that is not."
            )
        scores = to_numpy(self.pair_score(X))
        alike = _alike(y, len(scores))
        if alike.all() or not alike.any():
            raise ValueError(
                f"`y` calls all {alike.size} pairs {'alike' if alike.any() else 'unlike'}; the area under the "
                "ROC curve needs pairs of both kinds; in cross-validation pass cv=StratifiedKFold()."
            )
        kinds = -scores[alike], -scores[~alike]
        of_alike, _ = pair_scores(*kinds, *(np.ones(len(kind)) for kind in kinds))
        return float(of_alike.mean())

    def _row_distances(self, X: Any, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return score_pairs(self, X, i, j) ** 2

    def calibrate_threshold(self, pairs: Any, y: Any) -> Self:
        """Set `threshold_` to what tells these pairs apart best, for y as `score` takes it."""
        distances = self.pair_distance(pairs)
        alike = brought(_alike(y, int(distances.shape[0])), distances)
        self.threshold_ = best_threshold(distances, alike)
        self._judges_pairs = True
        return self


class MahalanobisMethods(PairMethods, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The same for the metric of a linear map, `_map`, and the transformer that goes with it.

    scikit-learn's `set_output` finds `transform` only in a class that is a TransformerMixin itself.
    """

    _map: MetricMap
    _saved: ClassVar[dict[str, FilePart]] = {"_map": METRIC_MAP}

    @property
    def components_(self) -> Array:
        """L with W = L'L, and X L' the transformed points."""
        check_is_fitted(self)
        return copied(self._map.components)

    def get_mahalanobis_matrix(self) -> Array:
        """W with d(x, y) = (x - y)' W (x - y), d x d."""
        check_is_fitted(self)
        return copied(self._map.matrix)

    def transform(self, X: Any) -> Array:
        """X L': points whose plain distances are the learned ones; float32 stays float32."""
        check_is_fitted(self)
        X = validated(self, X, dtype=FLOATS, reset=False)
        return self._map_beside(X).transform(X)

    def _map_beside(self, points: Any) -> MetricMap:
        return cast(MetricMap, self._beside(self._map, points))

    def _squared_distances(self, first: Any, second: Any) -> Array:
        return self._map_beside(first).squared_lengths(first - second)

    @property
    def _n_features_out(self) -> int:
        return self._map.n_features


def best_threshold(distances: Array, alike: Array, weights: Array | None = None) -> float:
    """The distance for which "alike is at most that" is right most often: the middle of the best gap.

    A pair of weight w counts w times. Of several the smallest. Where all are alike it is the largest distance,
    where all are unlike the largest number below the least.
    """
    xp, n = namespace(distances), distances.shape[0]
    order = xp.argsort(distances, stable=True)
    ordered = xp.take(distances, order)
    is_near = xp.take(alike, order)
    weight = xp.ones_like(ordered) if weights is None else xp.take(weights, order)
    near, far = (xp.where(kind, weight, xp.zeros_like(weight)) for kind in (is_near, ~is_near))
    # With the first m called alike, those are right, and the unlike ones after them.
    right_near = xp.cumulative_sum(near, include_initial=True)
    right = right_near + xp.flip(xp.cumulative_sum(xp.flip(far), include_initial=True))
    # Equal distances cannot be told apart.
    true = xp.ones_like(is_near[:1])
    possible = xp.concat([true, ordered[1:] > ordered[:-1], true])
    m = int(xp.argmax(xp.where(possible, right, -xp.ones_like(right))))
    if m == 0:
        return math.nextafter(read(ordered[0]), -math.inf)
    if m == n:
        return read(ordered[n - 1])
    middle = (read(ordered[m - 1]) + read(ordered[m])) / 2
    return min(middle, math.nextafter(read(ordered[m]), -math.inf))


def _alike(y: Any, n_pairs: int) -> np.ndarray:
    signs = to_numpy(as_numbers(y, "y"))
    if signs.ndim != 1 or not (signs.dtype.kind == "b" or np.isin(signs, (-1, 1)).all()):
        raise ValueError(
            "`y` must hold 1 for each pair that is alike and -1 for each that is not, or booleans; got "
            f"{np.unique(signs)[:5].tolist()}."
        )
    if len(signs) != n_pairs:
        raise ValueError(
            f"`y` has {len(signs)} entries, but there are {n_pairs} pairs; pass one for each."
        )
    return np.asarray(signs > 0)


def _one_row(x: Any, name: str, n_features: int) -> Array:
    row = as_real(as_numbers(x.toarray() if issparse(x) else x, name))
    # A row of a sparse matrix is a matrix of one row.
    if row.shape != (n_features,) and not (issparse(x) and row.shape == (1, n_features)):
        raise ValueError(
            f"`{name}` has {row.shape[0]} features, but {n_features} were learned from."
            if row.ndim == 1
            else f"`{name}` must be one point, a vector of {n_features} numbers; got shape "
            f"{tuple(row.shape)}."
        )
    return namespace(row).reshape(check_finite(row, name), (1, -1))
