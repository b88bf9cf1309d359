"""W <- argmin D(W, W_t) + eta/2 (z'Wz - y)^2: a metric from a stream of pairs, one step a pair.

With LogDet the step has a closed form (Jain, Kulis, Dhillon and Grauman, 2008). The new squared distance is the
positive root s of eta p s^2 + (1 - eta y p) s - p = 0, p = z'W_t z, and

    W_(t+1) = W_t - beta W_t z z' W_t,    beta = eta (s - y) / (1 + eta (s - y) p) = (1 - s/p) / p

which is positive definite whatever eta is, but for rounding, in two passes over W.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from gramlearn._validation import check_positive
from gramlearn.estimators._learning import prior_of
from gramlearn.estimators._pair_methods import MahalanobisMethods
from gramlearn.maps import FullMap

__all__ = ["OnlineMetricLearner", "new_squared_distance"]


class OnlineMetricLearner(MahalanobisMethods, BaseEstimator):
    """A Mahalanobis metric from a stream of pairs with target distances, d^2 operations a pair.

    Parameters
    ----------
    eta : float
        How far a pair moves the metric, in units of one over squared distances: with eta y^2 of about one, y
        a usual target, a step goes about half of the way.
    prior : "identity" or array d x d
        W at the start, positive definite.

    Attributes
    ----------
    losses_ : vector
        (z'Wz - y)^2 / 2 of each pair, under the metric before it was learned from.
    n_pairs_seen_ : int
    components_ : array d x d
        L, the symmetric root of W.
    """

    losses_: np.ndarray
    _W: np.ndarray

    def __init__(self, eta: float = 0.1, prior: Any = "identity") -> None:
        self.eta = eta
        self.prior = prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from pairs in their order, from the start; see `partial_fit`."""
        return self._learn(X, y, first=True)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from further pairs.

        Parameters
        ----------
        X : array m x 2 x d, or m x d
            Pairs of points, or their differences.
        y : vector of m
            Their squared distances, as they should be; at least 0.
        """
        return self._learn(X, y, first=not hasattr(self, "_W"))

    def _learn(self, X: Any, y: Any, first: bool) -> Self:
        eta = check_positive(self.eta, "eta", "OnlineMetricLearner")
        Z, y = self._differences(X, y, first)
        W = self._start(Z.shape[1]) if first else self._W.copy()
        losses = np.empty(len(Z))
        for k, (z, target) in enumerate(zip(Z, y, strict=True)):
            Wz = W @ z
            p = float(z @ Wz)
            losses[k] = (p - target) ** 2 / 2
            if p > 0:
                s = new_squared_distance(p, float(target), eta)
                W -= np.outer((1 - s / p) / p * Wz, Wz)
        if not np.isfinite(W).all():
            raise ValueError(
                "the squared distances of `X`, or `eta`, are too large for double precision; rescale `X`."
            )
        self._W = (W + W.T) / 2
        self._map = FullMap(self._W)
        self.losses_ = losses if first else np.concatenate([self.losses_, losses])
        return self

    @property
    def n_pairs_seen_(self) -> int:
        """How many pairs were learned from."""
        return len(self.losses_)

    def _differences(self, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(X, list | tuple):
            X = np.asarray(X)
        if getattr(X, "ndim", 2) == 3:
            pairs = check_array(X, dtype=np.float64, allow_nd=True, input_name="X")
            if pairs.shape[1] != 2:
                raise ValueError(
                    f"`X` has the shape {pairs.shape}; pairs have the shape (m, 2, d), differences (m, d)."
                )
            X = pairs[:, 0] - pairs[:, 1]
        Z, y = validate_data(
            self, X, y, dtype=np.float64, reset=reset, y_numeric=True, multi_output=False
        )
        y = np.asarray(y, dtype=np.float64)
        if y.min() < 0:
            raise ValueError(
                f"`y` contains {y.min():.6g}; it holds squared distances, which are at least 0."
            )
        return Z, y

    def _start(self, d: int) -> np.ndarray:
        prior = np.eye(d) if isinstance(self.prior, str) else prior_of(self.prior, np.empty((0, d)))
        if isinstance(self.prior, str) and self.prior != "identity":
            raise ValueError(
                f'`prior={self.prior!r}` is not known; pass "identity" or a matrix: a stream has no covariance '
                "before it has begun."
            )
        assert prior is not None  # only "identity" is not written out
        return prior.copy()


def new_squared_distance(p: float, y: float, eta: float) -> float:
    """The s > 0 with 1/s - 1/p = eta (s - y): the squared distance after the step, between p and y."""
    b = eta * y * p - 1
    root = (b * b + 4 * eta * p * p) ** 0.5
    # The sum that cancels nothing.
    return (b + root) / (2 * eta * p) if b > 0 else 2 * p / (root - b)
