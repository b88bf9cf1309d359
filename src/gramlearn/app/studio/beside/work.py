"""What the process beside does, a step at a time, and what it tells after each.

First of all, whenever answers have come or gone: a fit to all of them, and the next questions. Then, while
nothing new comes: suspect answers, and the fits to the first answers that the curve of scores lacks. So a
restart shows the same curve as if there had been none.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np

from gramlearn.app.studio.asked import WIDTH
from gramlearn.app.studio.beside.learned import Learned, Map
from gramlearn.app.studio.beside.map import Maps
from gramlearn.app.studio.beside.metric import Fitting, Metric
from gramlearn.app.studio.beside.scores import Judged
from gramlearn.app.studio.beside.suspected import Suspected
from gramlearn.app.studio.beside.told import Told
from gramlearn.app.studio.beside.words import advice_of, verdict_of
from gramlearn.evaluation.questions import questions

_LEAST_QUEUE, _MOST_QUEUE = 20, 200
_SIZES = [
    round(4 * 2 ** (k / 2)) for k in range(40)
]  # of what the metrics of the curve learned from

Message = tuple[str, Any]


class Work:
    """Steps over the answers of one kind about points P, of which `rows` may be asked about."""

    def __init__(self, kind: str, P: np.ndarray, rows: np.ndarray) -> None:
        self._kind = kind
        self._P, self._rows = P, rows
        self._told = Told.of(kind, [], P)
        self._fitting = Fitting(kind, P)
        self._maps = Maps(P, rows)
        self._suspected = Suspected(self._fitting)
        self._metric: Metric | None = None
        self._map: Map | None = None
        self._curve: dict[int, Metric] = {}
        self._is_news, self._n_come = True, 0

    def take(self, come: Told, gone: np.ndarray) -> None:
        """Answers that have come, and the numbers of those that stand no more."""
        self._told = self._told.changed(come, gone)
        self._n_come += len(come)
        self._is_news = True
        if len(gone):
            self._curve = {k: one for k, one in self._curve.items() if one.last < gone.min()}
            self._suspected.forget()

    def step(self) -> Iterator[Message] | None:
        """The next thing to do, which tells what it finds; None where all is done."""
        if self._is_news:
            self._is_news = False
            return self._learn()
        if self._metric is None or not self._metric.n_from:
            return None
        if self._suspected.is_due(self._told):
            return self._suspect()
        missing = self._missing()
        return None if missing is None else self._fill(missing)

    def _learn(self) -> Iterator[Message]:
        """A fit to all answers, and what to ask next."""
        if len(self._told):
            self._metric = self._fitting.fit(self._told)
            self._map = self._maps.draw(self._told, self._metric.A)
            self._curve.setdefault(_size_below(self._metric.n_from), self._metric)
            yield self._learned()
        yield "queue", self._choose()

    def _suspect(self) -> Iterator[Message]:
        self._suspected.look(self._told)
        yield self._learned()

    def _fill(self, size: int) -> Iterator[Message]:
        """The metric that so many answers teach."""
        end = np.flatnonzero(self._told.teaches)[size - 1] + 1
        self._curve[size] = self._fitting.fit(self._told[:end])
        yield self._learned()

    def _missing(self) -> int | None:
        """The least size of the curve that has no metric."""
        n = len(self._told.taught)
        return next((size for size in _SIZES if size <= n and size not in self._curve), None)

    def _learned(self) -> Message:
        assert self._metric is not None
        assert self._map is not None
        judged = Judged(self._told, self._P)
        return "learned", Learned(
            verdict_of(self._told, self._metric, judged),
            advice_of(judged.gain(self._curve.values(), self._metric)),
            judged.curve(self._curve.values(), self._metric),
            self._metric.n_from,
            self._metric.seconds,
            self._map,
            self._suspected.numbers,
        )

    def _choose(self) -> np.ndarray:
        """As many questions as were answered since the last time, twice, so that they do not run out."""
        width, rows, told = WIDTH[self._kind], self._rows, self._told
        if len(rows) < width:
            return np.empty((0, width), dtype=np.int64)
        n = int(np.clip(2 * self._n_come, _LEAST_QUEUE, _MOST_QUEUE))
        self._n_come = 0
        told = told[np.isin(told.items, rows).all(axis=1)]
        P = self._P if len(rows) == len(self._P) else self._P[rows]
        Z = P if self._metric is None else P @ self._metric.A.T
        taught = told.taught
        found = questions(
            None,
            Z,
            taught.side(rows),
            self._kind,
            n,
            len(self._told),
            asked=np.searchsorted(rows, told.items) if len(told) else None,
        )
        return rows[found]


def _size_below(n: int) -> int:
    """The size of the curve that a metric learned from n answers stands for."""
    return _SIZES[max(bisect_right(_SIZES, n) - 1, 0)]
