"""share = (1 / m) sum_q right_q over m random questions: 1 or 0, whether distances foretell the answer.

Where several judges answered a question, right_q is the mean over them: two of them tell no more about the
distances than one. Nothing is learned from these questions. Every metric is judged by all of them that there
are by now, so that two metrics differ by what was learned alone; the plain distance is judged by the same.
Pairs are told apart by a threshold, of both distances from the answers that were learned from.
"""

from collections.abc import Iterable
from typing import NamedTuple, final

import numpy as np

from gramlearn.app.studio.beside.learned import Score
from gramlearn.app.studio.beside.metric import Metric
from gramlearn.app.studio.beside.told import Told, distances

LEAST_JUDGING = 5  # random questions before there is a score
_LEAST_TO_STOP = 30  # before it is said that more answers do not help
_HALF = 0.6  # of the answers, at most
_WORTH = 0.02  # more of the random questions foretold, for twice the answers


@final
class Gain(NamedTuple):
    """What `many` answers foretell more than `few` did, as a share, and its standard error."""

    few: int
    many: int
    share: float
    error: float


@final
class Judged:
    """Metrics, judged by the answers to random questions as they stand."""

    def __init__(self, told: Told, P: np.ndarray) -> None:
        self._told, self._P = told, P
        self._judging = told.judging
        self._n_answers = np.bincount(self._judging.question)  # of each question
        self._right: dict[int, np.ndarray] = {}

    @property
    def n_judging(self) -> int:
        """How many questions judge."""
        return len(self._n_answers)

    @property
    def share_alike(self) -> float:
        """Of the judging pairs."""
        return float(np.mean(self._by_question(self._judging.said == 1)))

    def score(self, metric: Metric) -> Score:
        """How well a metric foretells them."""
        right = self._learned(metric)
        plain = self._plain(metric)
        return Score(
            self._n_until(metric),
            len(right),
            float(right.mean()),
            float(plain.mean()),
            error_of_share(right),
        )

    def curve(self, metrics: Iterable[Metric], newest: Metric) -> list[Score]:
        """Scores over the number of answers, growing; that of the newest metric is the last."""
        if self.n_judging < LEAST_JUDGING:
            return []
        last = self.score(newest)
        found = {
            score.n: score
            for score in (self.score(one) for one in metrics if one.n_from)
            if score.n < last.n
        }
        return [*(found[n] for n in sorted(found)), last]

    def gain(self, metrics: Iterable[Metric], newest: Metric) -> Gain | None:
        """That of the newest metric over the one that knew about half as many answers; None without one."""
        many = self._n_until(newest)
        older = [one for one in metrics if 1 / 3 <= one.n_from / max(newest.n_from, 1) <= _HALF]
        if not older or self.n_judging < _LEAST_TO_STOP:
            return None
        half = max(older, key=lambda metric: metric.n_from)
        difference = self._learned(newest) - self._learned(half)
        return Gain(self._n_until(half), many, float(difference.mean()), _error_of_mean(difference))

    def advantage(self, metric: Metric) -> tuple[float, float]:
        """By how much the share of a metric is above that of the plain distance, and the standard error."""
        difference = self._learned(metric) - self._plain(metric)
        return float(difference.mean()), _error_of_mean(difference)

    def _learned(self, metric: Metric) -> np.ndarray:
        if id(metric) not in self._right:
            apart = distances(self._judging.items, self._P, metric.A)
            foretold = self._judging.foretold(apart, metric.threshold)
            self._right[id(metric)] = self._by_question(foretold)
        return self._right[id(metric)]

    def _plain(self, metric: Metric) -> np.ndarray:
        return self._by_question(
            self._judging.foretold(self._judging.plain, metric.plain_threshold)
        )

    def _by_question(self, right: np.ndarray) -> np.ndarray:
        """The share of each question's answers."""
        return np.bincount(self._judging.question, weights=right) / self._n_answers

    def _n_until(self, metric: Metric) -> int:
        return int(np.searchsorted(self._told.seq, metric.last, side="right"))


def has_stopped(gain: Gain) -> bool:
    """Whether twice the answers foretold too little more: the gain and its error together are not worth it.

    A loss is no surer a sign than no gain: what is not known well enough, the error says.
    """
    return max(gain.share, 0.0) + gain.error <= _WORTH


def error_of_share(right: np.ndarray) -> float:
    """sqrt(p (1 - p) / m), with one right and one wrong answer added, so that of few it is never zero.

    Of shares between 0 and 1, it is at least their standard error.
    """
    p = (right.sum() + 1) / (len(right) + 2)
    return float(np.sqrt(p * (1 - p) / len(right)))


def _error_of_mean(difference: np.ndarray) -> float:
    """The standard error of the mean of numbers from -1 to 1, with one that differs added."""
    m = len(difference)
    return float(np.sqrt((np.sum(difference**2) + 1 - m * difference.mean() ** 2) / m**2))
