"""d(x, y) = |A (p - q)|^2, A = W^(1/2), learned from answers; a pair is alike where d is at most a threshold.

The price is one for all: a fit that chooses it holds back chosen answers, which are harder than others. Points
have mean squared length 1, so that the price and the margin mean the same whatever the units are. Comparisons
cost their squared hinge, which takes a tenth of the time of the hinge where they are thousands.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn import MetricLearner
from gramlearn.app.studio.beside.told import Told, distances

_LOSS = {"pair": "slack", "triplet": "squared_hinge", "odd": "squared_hinge"}
_SECONDS = 20.0  # of a fit: what was reached by then is used
_DRAWN = 20_000  # pairs that tell how far points are apart


@final
@dataclass(frozen=True, eq=False)
class Metric:
    """What was learned from the answers up to a number.

    Attributes
    ----------
    last : int
        The number of the last answer.
    n_from : int
        How many answers it was learned from.
    seconds : float
    A : array k x k
    threshold, plain_threshold : float or None
        Squared distances that tell the pairs learned from apart best, and the same of plain distances.
    """

    last: int
    n_from: int
    seconds: float
    A: np.ndarray
    threshold: float | None
    plain_threshold: float | None


@final
class Fitting:
    """Fits to the answers about these points.

    Parameters
    ----------
    kind : {"pair", "triplet", "odd"}
    P : array n x k
        Of mean squared length 1.
    """

    def __init__(self, kind: str, P: np.ndarray) -> None:
        self.P = P
        self._loss = _LOSS[kind]
        pairs = np.random.default_rng(0).integers(len(P), size=(_DRAWN, 2))
        apart = distances(pairs, P)
        apart = apart[apart > 0]  # equal points are as near as can be already
        self._bounds = np.percentile(apart, (5, 95)) if len(apart) else np.ones(2)

    def learner(self) -> Any:
        """An estimator that was not fitted."""
        return MetricLearner(
            C=1.0,
            loss=self._loss,
            bounds=tuple(self._bounds),
            tol=1e-3,
            time_limit=_SECONDS,
            random_state=0,
        )

    def fit(self, told: Told) -> Metric:
        """Learn from what may be learned from; the plain distance where that is nothing."""
        begun = time.perf_counter()
        taught = told.taught
        last = int(told.seq[-1]) if len(told) else 0
        points = np.unique(taught.items)
        side = taught.side(points)
        if side is None:
            return Metric(last, 0, 0.0, np.eye(self.P.shape[1]), *self._thresholds(taught, None))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a tolerance that time did not allow
            found = self.learner().fit(self.P[points], side=side)
        A = np.asarray(found.components_)
        if not np.isfinite(A).all():
            raise ArithmeticError("the metric that was learned has numbers that are not finite")
        seconds = time.perf_counter() - begun
        return Metric(last, len(taught), seconds, A, *self._thresholds(taught, A))

    def _thresholds(self, taught: Told, A: np.ndarray | None) -> tuple[float | None, float | None]:
        """For learned and plain distances alike, so that they can be compared."""
        if taught.kind != "pair":
            return None, None
        learned, plain = distances(taught.items, self.P, A)[:, 0], taught.plain[:, 0]
        alike = taught.said == 1
        return find_threshold(learned, alike), find_threshold(plain, alike)


def find_threshold(apart: np.ndarray, alike: np.ndarray) -> float:
    """The number for which "alike is at most that" is right most often, in the middle of its gap.

    Without an end to the gap it is infinite, as it is without pairs.
    """
    if not len(apart):
        return float("inf")
    order = np.argsort(apart, kind="stable")
    ends = np.concatenate([[-np.inf], apart[order], [np.inf]])
    # With the first m called alike, those that are alike and the unlike ones after them are right.
    right = np.cumsum(np.concatenate([[0], np.where(alike[order], 1, -1)]))
    m = int(np.argmax(np.where(ends[1:] > ends[:-1], right, -len(apart) - 1)))
    return float((ends[m] + ends[m + 1]) / 2)
