"""W <- argmin D(W, W_t) + eta/2 dist(z'Wz, [lower, upper])^2: a metric from a stream of pairs, one step a pair.

A pair that is alike has the interval [0, near], one that is not [far, inf), and a target y is [y, y]. The step,
and a rate eta that needs no choosing, are in `methods.metric.online`. Near and far are the 5th and 95th
percentile of the squared distances under the prior, of the pairs so far: what MetricLearner asks, of a stream.
In other units of X they are other numbers, and W is the same.
"""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from gramlearn._base.arrays import (
    as_real,
    constant,
    eye,
    is_elsewhere,
    is_finite,
    namespace,
    to_numpy,
)
from gramlearn._base.points import row_squares, rows_at
from gramlearn._base.validation import as_numbers, check_positive, generator
from gramlearn.estimators._all_or_nothing import all_or_nothing, end_early
from gramlearn.estimators._inputs import validated, validated_array
from gramlearn.estimators._learned_from import told
from gramlearn.estimators._learning import side_of
from gramlearn.estimators._pair_methods import MahalanobisMethods, best_threshold
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import Maybe, Struct
from gramlearn.estimators._parts.words import Flag, Number, Whole
from gramlearn.estimators._saving_methods import SavesModel
from gramlearn.estimators._streamed_pairs import (
    Told,
    asked_by_bounds,
    asked_by_pairs,
    check_not_row_numbers,
    in_step,
    read_told,
)
from gramlearn.methods.metric.maps import FullMap
from gramlearn.methods.metric.online import Asked, OnlineMetric, Spread
from gramlearn.methods.metric.prior import read_prior
from gramlearn.problem.status import SolveInterrupted
from gramlearn.side_information import Bounds, Pairs, SideInformation
from gramlearn.side_information.digest import as_bytes, digest

_RECENT = 1000  # judged pairs that the threshold is for


_SPREAD = Struct(Spread, {"count": Whole(), "mean": Number(), "scatter": Number(0.0)})
_STREAM = Struct(
    OnlineMetric,
    {
        "factor": Array("r", "d"),
        "spread": _SPREAD,
        "size": Number(0.0),
        "gained": Number(0.0),
    },
)


class OnlineMetricLearner(SavesModel, MahalanobisMethods, BaseEstimator):
    """A Mahalanobis metric from a stream of pairs, judged or with target distances, d^2 operations a pair.

    Parameters
    ----------
    eta : float, optional
        The learning rate: how far each row of X moves what was learned. In units of one over squared distances:
        with eta y^2 of about one, y a usual target, a step goes about half of the way. If None, it comes from
        the stream, and is smaller the more the pairs disagree; for a stream that drifts choose a number.
    prior : "identity" or array d x d
        The metric W0 before anything is learned. Positive definite.

    Attributes
    ----------
    losses_ : vector
        Half the squared difference of each pair's squared distance from what was asked of it, under the metric
        before it was learned from; times its weight, where `side` has weights.
    n_pairs_seen_ : int
    bounds_ : (upper, lower)
        The squared distances that alike and unlike pairs without bounds of their own are asked for by now:
        about the 5th and 95th percentile, under the prior, of the pairs so far.
    learned_from_ : dict
        Kind, number and digest of what was learned from, as in `MetricLearner`.
    threshold_ : float
        The distance, not squared, that tells alike pairs from others best, of the last 1000 that were judged,
        each measured before it was learned from. Where none was judged, `calibrate_threshold` sets it.
    components_ : array d x d
        L, the symmetric root of W.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> i, j = np.random.default_rng(0).integers(len(X), size=(2, 1000))
    >>> pairs, alike = np.stack([X[i], X[j]], axis=1), y[i] == y[j]
    >>> learner = OnlineMetricLearner().partial_fit(pairs[:500], alike[:500])
    >>> bool(learner.score(pairs[500:], alike[500:]) > 0.9)
    True
    """

    _requires_y = True
    _kind: ClassVar[str] = "OnlineMetricLearner"
    _saved: ClassVar[dict[str, FilePart]] = {
        "losses_": Array("seen", least=0.0),
        "_stream": _STREAM,
        "_root": Maybe(Array("rows of the prior", "d")),
        "_recent": Array("recent?", "2"),
        "_is_judged": Maybe(Flag()),
    }
    _takes_tensors: ClassVar[bool] = True
    learned_from_: dict[str, Any]
    losses_: Any
    bounds_: tuple[float, float]
    _stream: OnlineMetric
    _root: Any
    _recent: Any
    _is_judged: bool | None

    def __init__(self, eta: float | None = None, prior: Any = "identity") -> None:
        self.eta = eta
        self.prior = prior

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from pairs in their order, from the start; see `partial_fit`."""
        return self._learn(X, y, side, first=True)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from further pairs.

        Parameters
        ----------
        X : array m x 2 x d, or m x d
            Pairs of points, or their differences; with `side`, the points themselves, n x d.
        y : vector of m
            Whether each pair is alike, as booleans, or 1 for yes and -1 for no; or their squared distances, as
            they should be, at least 0. A stream has one of the two. Numbers that are all 1 are squared
            distances, but in a stream that began with judgments.
        side : Pairs or Bounds, optional
            Statements about rows of X in place of y. Those of Bounds are learned from in their order, the two
            lists of Pairs in step with each other. Pairs without bounds are asked for `bounds_`.
        """
        return self._learn(X, y, side, first=not hasattr(self, "_stream"))

    def _learn(self, X: Any, y: Any, side: Any, first: bool) -> Self:
        eta = None if self.eta is None else check_positive(self.eta, "eta", "OnlineMetricLearner")
        judged = None if first else self._is_judged
        if side is None:
            Z, (asked, judged) = self._differences(X, y, judged, first)
        else:
            Z, asked = self._statements(X, y, side, first)
        if first:
            root, stream = self._start(Z)
            lost, recent = constant(0.0, Z, 0), constant(0.0, Z, (0, 2))
        else:
            root, stream, lost, recent = self._root, self._stream, self.losses_, self._recent
        n_pairs = int(Z.shape[0])
        measured = np.empty((n_pairs, 2))
        # One tuple, so that Ctrl-C finds both together.
        seen = (0, stream)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                under_prior = to_numpy(row_squares(Z if root is None else Z @ root.T))
                for k in range(n_pairs):
                    step = seen[1].updated(Z[k, :], float(under_prior[k]), asked, k, eta)
                    measured[k] = step[1:]
                    seen = (k + 1, step[0])
        except KeyboardInterrupt:
            if not seen[0]:
                raise
            where = f"after {seen[0]} of {n_pairs} pairs"
            end_early(self, SolveInterrupted(FullMap(seen[1].factor), where))
        count, stream = seen
        lengths, losses = measured[:count].T
        if not (is_finite(stream.factor) and is_finite(losses)):
            raise ValueError(
                "the squared distances of `X`, or `eta`, are too large for double precision; rescale `X`."
            )
        self._stream, self._root, self._is_judged = stream, root, judged
        self._keep_learned_from(first, to_numpy(Z)[:count], asked, int(lost.shape[0]) + count)
        self._map, self.bounds_ = FullMap(stream.factor), stream.spread.bounds
        xp = namespace(Z)
        self.losses_ = xp.concat([lost, as_real(losses, Z)])
        kinds = asked.kinds[:count]
        told = np.stack([np.sqrt(lengths), kinds], axis=1)[kinds != 0]
        recent = xp.concat([recent, as_real(told, Z)])
        self._recent = recent[max(0, recent.shape[0] - _RECENT) :, :]
        self._keep_threshold(first, len(told) > 0)
        return self

    def _keep_threshold(self, first: bool, is_told: bool) -> None:
        """Where pairs were judged, it is that of the last ones; of an earlier fit nothing is kept."""
        if first:
            self._judges_pairs = False
            self.__dict__.pop("threshold_", None)
        if is_told:
            self.threshold_ = best_threshold(self._recent[:, 0], self._recent[:, 1] > 0)
            self._judges_pairs = True

    def _keep_learned_from(self, first: bool, Z: np.ndarray, asked: Asked, count: int) -> None:
        """The digest of a stream is that of the pairs before, and of these."""
        before = "" if first else self.learned_from_["digest"]
        arrays = (Z, *(bound[: len(Z)] for bound in (asked.lower, asked.upper, asked.weights)))
        both = digest("stream", [before.encode(), *map(as_bytes, arrays)])
        self.learned_from_ = told("stream", count, None, both, f"{count} pairs of a stream")

    @property
    def n_pairs_seen_(self) -> int:
        """How many pairs were learned from."""
        return int(self.losses_.shape[0])

    def _differences(self, X: Any, y: Any, judged: bool | None, reset: bool) -> tuple[Any, Told]:
        if isinstance(X, list | tuple):
            X = as_numbers(X, "X")
        check_not_row_numbers(X)
        if getattr(X, "ndim", 2) == 3:
            pairs = validated_array(X, "X", dtype=np.float64, allow_nd=True)
            if pairs.shape[1] != 2:
                raise ValueError(
                    f"`X` has the shape {tuple(pairs.shape)}; pairs have the shape (m, 2, d), differences "
                    "(m, d)."
                )
            X = pairs[:, 0, :] - pairs[:, 1, :]
        Z = self._further(X, reset)
        return Z, read_told(y, int(Z.shape[0]), judged)

    def _further(self, X: Any, reset: bool) -> Any:
        """Points or differences; those of a stream are all in one place."""
        Z = validated(self, X, dtype=np.float64, reset=reset, method="partial_fit")
        if is_elsewhere(Z) and self._home is None:
            raise ValueError(
                "`X` holds tensors, and the pairs so far were NumPy arrays; pass X.cpu().numpy(), or start "
                "anew with `fit`."
            )
        return Z

    def _statements(self, X: Any, y: Any, side: Any, reset: bool) -> tuple[Any, Asked]:
        points = self._further(X, reset)
        known = side_of(side, y, int(points.shape[0]), None, generator(None))
        if not isinstance(known, Pairs | Bounds):
            raise TypeError(
                f"`side` holds {type(known).__name__}, which ask no pair for a distance; pass Pairs or Bounds, "
                "or learn from triplets with MetricLearner."
            )
        i, j = to_numpy(known.statement_points()).T
        asked = asked_by_pairs(known) if isinstance(known, Pairs) else asked_by_bounds(known)
        order = in_step(known) if isinstance(known, Pairs) else np.arange(len(i))
        return rows_at(points, i[order]) - rows_at(points, j[order]), asked.taken(order)

    def _start(self, Z: Any) -> tuple[Any, OnlineMetric]:
        """The root of the prior, None where it is the identity, and a stream of no pairs."""
        d = int(Z.shape[1])
        if isinstance(self.prior, str) and self.prior != "identity":
            raise ValueError(
                f'`prior={self.prior!r}` is not known; pass "identity" or a matrix: a stream has no covariance '
                "before it has begun."
            )
        prior = read_prior(self.prior, constant(0.0, Z, (0, d)))
        if prior is None:
            return None, OnlineMetric(eye(d, Z))
        rank = int(prior.root.shape[0])
        if rank < d:
            raise ValueError(
                f"`prior` is not positive definite (its rank is {rank} of {d}), and no step changes "
                "a direction that it measures by zero; add a small multiple of the identity."
            )
        return prior.root, OnlineMetric(prior.root)
