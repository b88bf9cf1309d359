"""W <- argmin D(W, W_t) + eta/2 (z'Wz - y)^2: a metric from a stream of pairs, one step a pair.

With LogDet the step has a closed form (Jain, Kulis, Dhillon and Grauman, 2008). The new squared distance is the
positive root s of eta p s^2 + (1 - eta y p) s - p = 0, p = z'W_t z, and

    W_(t+1) = W_t - beta W_t z z' W_t,    beta = eta (s - y) / (1 + eta (s - y) p) = (1 - s/p) / p

which is positive definite whatever eta is. It is done on a factor, W = A'A, so that rounding cannot make it
indefinite and features may differ in units by as much as numbers do: with u = A z and p = u'u,

    A_(t+1) = A_t - (1 - sqrt(s/p)) / p  u u' A_t
"""

import math
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from gramlearn._base.arrays import to_numpy
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import as_numbers, check_finite, check_positive
from gramlearn._base.warnings import warn
from gramlearn.estimators._all_or_nothing import all_or_nothing, end_early
from gramlearn.estimators._inputs import validated, validated_array
from gramlearn.estimators._pair_methods import MahalanobisMethods
from gramlearn.methods.metric.maps import FullMap
from gramlearn.methods.metric.prior import read_prior
from gramlearn.problem.status import SolveInterrupted


class OnlineMetricLearner(MahalanobisMethods, BaseEstimator):
    """A Mahalanobis metric from a stream of pairs with target distances, d^2 operations a pair.

    Parameters
    ----------
    eta : float
        The learning rate: how far each row of X moves what was learned. In units of one over squared distances:
        with eta y^2 of about one, y a usual target, a step goes about half of the way.
    prior : "identity" or array d x d
        The metric W0 before anything is learned. Positive definite.

    Attributes
    ----------
    losses_ : vector
        (z'Wz - y)^2 / 2 of each pair, under the metric before it was learned from.
    n_pairs_seen_ : int
    components_ : array d x d
        L, the symmetric root of W.
    """

    _requires_y = True
    losses_: np.ndarray
    _A: np.ndarray

    def __init__(self, eta: float = 0.1, prior: Any = "identity") -> None:
        self.eta = eta
        self.prior = prior

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from pairs in their order, from the start; see `partial_fit`."""
        return self._learn(X, y, first=True)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from further pairs.

        Parameters
        ----------
        X : array m x 2 x d, or m x d
            Pairs of points, or their differences.
        y : vector of m
            Their squared distances, as they should be; at least 0.
        """
        return self._learn(X, y, first=not hasattr(self, "_A"))

    def _learn(self, X: Any, y: Any, first: bool) -> Self:
        eta = check_positive(self.eta, "eta", "OnlineMetricLearner")
        Z, y = self._differences(X, y, first)
        A = self._start(Z.shape[1]) if first else self._A
        losses = np.empty(len(Z))
        # One tuple, so that Ctrl-C finds both together.
        seen = (0, A)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                for k, (z, target) in enumerate(zip(Z, y, strict=True)):
                    u = A @ z
                    p = float(u @ u)
                    losses[k] = (p - target) ** 2 / 2
                    if p > 0:
                        s = new_squared_distance(p, float(target), eta)
                        A = A - np.outer((1 - (s / p) ** 0.5) / p * u, u @ A)
                    seen = (k + 1, A)
        except KeyboardInterrupt:
            if not seen[0]:
                raise
            where = f"after {seen[0]} of {len(Z)} pairs"
            end_early(self, SolveInterrupted(FullMap(seen[1]), where))
        count, A = seen
        losses = losses[:count]
        if not (np.isfinite(A).all() and np.isfinite(losses).all()):
            raise ValueError(
                "the squared distances of `X`, or `eta`, are too large for double precision; rescale `X`."
            )
        self._A = A
        self._map = FullMap(A)
        self.losses_ = losses if first else np.concatenate([self.losses_, losses])
        return self

    @property
    def n_pairs_seen_(self) -> int:
        """How many pairs were learned from."""
        return len(self.losses_)

    def _differences(self, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(X, list | tuple):
            X = as_numbers(X, "X")
        _check_not_row_numbers(X)
        if getattr(X, "ndim", 2) == 3:
            pairs = validated_array(X, "X", dtype=np.float64, allow_nd=True)
            if pairs.shape[1] != 2:
                raise ValueError(
                    f"`X` has the shape {pairs.shape}; pairs have the shape (m, 2, d), differences (m, d)."
                )
            X = pairs[:, 0] - pairs[:, 1]
        Z = validated(self, X, dtype=np.float64, reset=reset)
        y = _targets(y)
        if len(y) != len(Z):
            raise ValueError(
                f"`y` has {len(y)} entries, but `X` has {len(Z)} pairs; pass one squared distance for each."
            )
        if y.min() < 0:
            raise ValueError(
                f"`y` contains {y.min():.6g}; it holds squared distances, which are at least 0. Where 1 and -1 "
                "say alike and unlike, pass targets, such as np.where(y > 0, near, far)."
            )
        return Z, y

    def _start(self, d: int) -> np.ndarray:
        if isinstance(self.prior, str) and self.prior != "identity":
            raise ValueError(
                f'`prior={self.prior!r}` is not known; pass "identity" or a matrix: a stream has no covariance '
                "before it has begun."
            )
        prior = read_prior(self.prior, np.empty((0, d)))
        A = np.eye(d) if prior is None else prior.root
        if len(A) < d:
            raise ValueError(
                f"`prior` is not positive definite (its rank is {len(A)} of {d}), and no step changes a "
                "direction that it measures by zero; add a small multiple of the identity."
            )
        return A


def _check_not_row_numbers(X: Any) -> None:
    """Pairs are given by their points; a table of row numbers would pass for differences of two features."""
    if issparse(X) or getattr(X, "shape", (0,))[1:] != (2,):
        return
    table = np.asarray(X)
    if table.dtype.kind in ("i", "u") and table.size and table.min() >= 0:
        raise TypeError(
            "`X` holds two columns of whole numbers, as row numbers of pairs are; pass the points themselves, "
            "points[pairs] of shape (m, 2, d). Differences of points with two features are passed as floats."
        )


def _targets(y: Any) -> np.ndarray:
    """One finite number a pair; what can only be labels is refused."""
    if y is None:
        raise ValueError(
            "nothing is known about the pairs: this estimator requires y to be passed, but the target y is "
            "None; pass the squared distance that each pair should have."
        )
    try:
        given = to_numpy(check_unmasked(y, "y"))
    except ValueError:
        given = as_numbers(y, "y")  # which says why it is no array
    if given.dtype.kind in ("b", "U", "S"):
        raise TypeError(
            f"`y` holds labels ({given.dtype}); pass the squared distance that each pair should have, such as "
            "np.where(alike, near, far)."
        )
    numbers = as_numbers(y, "y")
    if numbers.ndim != 1:
        raise ValueError(
            f"`y` must be one-dimensional, one squared distance for each pair; got shape {numbers.shape}."
        )
    _warn_of_labels(given)
    return np.asarray(check_finite(np.asarray(numbers, dtype=np.float64), "y"))


def _warn_of_labels(y: np.ndarray) -> None:
    """Whole numbers from 0 or 1 up, often repeated, may be labels."""
    if y.dtype.kind not in ("i", "u") or not y.size:
        return
    values = np.unique(y)
    is_code = values[0] in (0, 1) and values[-1] - values[0] == values.size - 1
    if is_code and 1 < values.size <= y.size // 2:
        warn(
            f"`y` holds the whole numbers {values[0]} to {values[-1]}, as labels do, and they are taken for "
            "squared distances; pass np.where(alike, near, far), or y.astype(float) if distances they are."
        )


def new_squared_distance(p: float, y: float, eta: float) -> float:
    """The s > 0 with 1/s - 1/p = eta (s - y): the squared distance after the step, between p and y."""
    b = eta * y * p - 1
    root = math.hypot(b, 2 * eta**0.5 * p)
    # The sum that cancels nothing.
    return (b + root) / (2 * eta * p) if b > 0 else 2 * p / (root - b)
