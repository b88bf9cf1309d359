"""share_f, stretch_f, excess_k: what a metric has learned, in features, and in the statements it does not keep.

A fitted estimator keeps a few numbers for each feature, the root of its prior, and a checksum of what it
learned from. What is said of points or statements is asked with them at hand, for the estimator does not keep
them.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import to_numpy
from gramlearn._base.checksum import checksum
from gramlearn._base.moving import check_beside
from gramlearn._base.validation import check_count, check_number
from gramlearn.estimators._learning import side_of
from gramlearn.estimators._parts.arrays import Array, Either, Labels
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import IfThere, Maybe, Struct
from gramlearn.estimators._tensors import FollowsArrays
from gramlearn.evaluation.suspects import suspects
from gramlearn.methods.metric.directions import StretchedDirections, stretched_directions
from gramlearn.methods.metric.fitting import Statements
from gramlearn.methods.metric.importance import Shares, feature_stretch, shares_of
from gramlearn.methods.metric.maps import MetricMap
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import SideInformation
from gramlearn.side_information.ranking import RankedStatements
from gramlearn.side_information.sampling import read_labels


class _Explanation(NamedTuple):
    """What is left of a fit to explain it by."""

    shares: Shares
    prior: Any  # A of W0 = A'A, or its diagonal; None for the identity
    checksum: bytes = b""  # of the statements; a file has neither that nor the loss
    loss: BoundedLoss | None = None


_SHARES = Struct(
    Shares,
    {
        "of_all": Array("d", least=0.0),
        "of_classes": Maybe(Array("classes", "d", least=0.0)),
    },
)
_PRIOR = Maybe(Either(Array("d"), Array("rows of the prior", "d")))


class ExplainsMetric(FollowsArrays, ABC):
    """What a metric has learned: its features and directions, and the statements it does not keep."""

    _map: MetricMap
    _explanation: _Explanation
    bounds_: Any
    threshold_: float
    solution_: Any
    _saved: ClassVar[dict[str, FilePart]] = {
        "classes_": IfThere(Labels("labels")),
        "_explanation": Struct(_Explanation, {"shares": _SHARES, "prior": _PRIOR}),
    }

    def _keep_explanation(self, X: Any, y: Any, asked: Statements, prior: Any) -> None:
        """Keep what explains the metric, `_map`, learned from these points, labels and statements."""
        groups: list[np.ndarray] = []
        classes = None
        if y is not None:
            labels, labeled = read_labels(y)
            classes, group, counts = np.unique(
                labels[labeled], return_inverse=True, return_counts=True
            )
            by_class = labeled[np.argsort(group, kind="stable")]
            groups = np.split(by_class, np.cumsum(counts)[:-1])
        shares = shares_of(self._map, X, groups)
        self._explanation = _Explanation(shares, prior, _checksum(asked.side), asked.loss)
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if classes is not None:
            self.classes_ = classes

    @property
    def feature_importances_(self) -> Any:
        """The share of each feature in the learned squared distances of the training points; they sum to one.

        A feature that goes along with others shares with them. Units make no difference to the shares.
        """
        check_is_fitted(self)
        return self._at_home(self._explanation.shares.of_all.copy())

    @property
    def class_feature_importances_(self) -> Any:
        """The same for the squared distance of the mean of each class from that of the others, c x d.

        Classes are in the order of their sorted labels.
        """
        check_is_fitted(self)
        found = self._explanation.shares.of_classes
        if found is None:
            raise AttributeError(
                f"this {type(self).__name__} was fitted to no labels, or to so many classes that what tells "
                "each from the others would be more than a million numbers; pass fit(X, y) fewer classes."
            )
        return self._at_home(found.copy())

    @property
    def feature_stretch_(self) -> Any:
        """By what the squared distance of points that differ in one feature alone was multiplied, d numbers.

        Below one where the feature was shrunk, in comparison with the prior.
        """
        check_is_fitted(self)
        return feature_stretch(self._map, self._explanation.prior)

    def stretched_directions(self, X: Any, n_directions: int = 3) -> StretchedDirections:
        """The directions that the metric stretches most beside its prior, and as many that it shrinks most.

        Parameters
        ----------
        X : array, sparse matrix or data frame n x d
            Points whose spread is meant, such as those learned from.
        n_directions : int
            How many of each kind.
        """
        check_is_fitted(self)
        count = check_count(n_directions, "n_directions")
        X = self._points(X, "stretched_directions")
        names = getattr(self, "feature_names_in_", range(X.shape[1]))
        words = tuple(name if isinstance(name, str) else f"feature {name}" for name in names)
        return stretched_directions(self._map, self._explanation.prior, X, count, words)

    def violated(self, X: Any, side: SideInformation, *, tol: float = 1e-6) -> RankedStatements:
        """The statements that the metric breaks, the one with the largest excess of squared distance first.

        Pairs without bounds of their own are held to `bounds_`; where comparisons were learned from and there
        are none, to the `threshold_` that tells alike pairs from others. Statements that the metric was learned
        from have their prices, too.

        Parameters
        ----------
        X : array, sparse matrix or data frame n x d
            The points that the statements are about.
        side : Pairs, Triplets or Bounds
            Those learned from, or others.
        tol : float
            The excess that counts as none, in units of the mean squared distance of the first two points of a
            statement.
        """
        check_is_fitted(self)
        X = self._points(X, "violated")
        known = side_of(side, None, X.shape[0], None, np.random.default_rng(0))
        check_beside(known, X, "side")
        share = check_number(tol, "tol")

        def lengths(i: Any, j: Any) -> np.ndarray:
            return to_numpy(found.squared_distances(X, i, j))

        found = self._beside(self._map, X)
        points = to_numpy(known.statement_points())
        unit = float(np.mean(lengths(points[:, 0], points[:, 1])))
        bounds = self.bounds_
        if bounds is None:
            bounds = self.threshold_**2, self.threshold_**2
        excess = known.excess(lengths, bounds)
        meaning = "excess of squared distance"
        return RankedStatements.of(known, excess, share * unit, meaning, self._prices(known))

    def suspects(
        self, X: Any, side: SideInformation, *, n_folds: int = 5, random_state: Any = None
    ) -> RankedStatements:
        """The statements that are probably wrong; see `gramlearn.evaluation.suspects`. It needs no fit."""
        return suspects(self, X, side, n_folds=n_folds, random_state=random_state)

    @abstractmethod
    def _points(self, X: Any, method: str) -> Any:
        """New points as they are measured, given to this method."""

    def _prices(self, side: SideInformation) -> np.ndarray | None:
        """|lam| of each statement, where these are what was learned from."""
        loss = self._explanation.loss
        if loss is None or _checksum(side) != self._explanation.checksum:
            return None
        prices = np.zeros(side.size)
        terms = side.term_statements(loss)
        for rows, duals in zip(terms, self.solution_.duals, strict=True):
            prices[rows] += np.abs(to_numpy(duals))
        return prices


def _checksum(side: SideInformation) -> bytes:
    """The same for the same statements in the same order."""
    numbers = to_numpy(side.statement_points()), side.weights()
    return b"".join([repr(side).encode(), *map(checksum, numbers)])
