"""Answers that the others speak against, as the library's `suspects` ranks them.

Of the last ones alone, since it takes ten fits; and of those the tenth that is most suspicious, for chosen
questions are hard ones, and metrics learned from a part of the answers get many of them wrong.
"""

import warnings
from typing import final

import numpy as np

from gramlearn.app.studio.beside.metric import Fitting
from gramlearn.app.studio.beside.told import Told
from gramlearn.evaluation import suspects

_LAST = 2000  # answers that are looked at
_LEAST = 10
_SHARE, _MOST = 0.1, 50
_MORE = 1.1  # times as many answers, before they are looked at again


@final
class Suspected:
    """The numbers of suspect answers, the worst first."""

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting
        self.numbers: list[int] = []
        self._looked_at = 0

    def forget(self) -> None:
        """Answers have changed; look again."""
        self._looked_at = 0

    def is_due(self, told: Told) -> bool:
        """Whether there are enough answers that were not looked at."""
        return len(told.taught) >= max(_LEAST, _MORE * self._looked_at)

    def look(self, told: Told) -> None:
        """Rank them anew."""
        taught = told.taught
        self._looked_at, self.numbers = len(taught), []
        taught = taught[-_LAST:]
        points = np.unique(taught.items)
        side = taught.side(points)
        if side is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ranked = suspects(
                    self._fitting.learner(), self._fitting.P[points], side, random_state=0
                )
            except (
                ValueError
            ):  # such as fewer parts than folds, where all answers are about the same points
                return
        most = min(_MOST, max(1, int(_SHARE * len(taught))))
        self.numbers = taught.who_say(side, points, ranked.number)[:most]
