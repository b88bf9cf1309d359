"""Scores of many methods on many sets, each draw with all methods: means, deviations and paired differences.

A difference of two methods is a mean over draws, which are the same for both, and its standard error is that of
paired samples. A method that has no answer on some draw of a set has no score there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, final

import numpy as np

from experiments.experiment import Result, panels, values_by
from experiments.intervals import Spread, listed, measure_spread


@final
@dataclass(frozen=True)
class BySet:
    """What came out, by set: one draw after the other.

    `key` names the score in an answer, which is taken times `unit`; the best is the largest where the unit is
    to be `gained`, and the least where it is an error.
    """

    draws: Mapping[str, list[Mapping[str, Any]]]
    key: str
    unit: float = 1.0
    gained: bool = True

    @classmethod
    def of(
        cls, results: Sequence[Result], key: str, unit: float = 1.0, gained: bool = True
    ) -> "BySet":
        return cls(values_by("set", results), key, unit, gained)

    @property
    def sets(self) -> list[str]:
        """In the order they came."""
        return list(self.draws)

    @property
    def methods(self) -> list[str]:
        """Of all draws."""
        return list(dict.fromkeys(m for draws in self.draws.values() for d in draws for m in d))

    def scores(self, name: str, method: str) -> list[float]:
        """One for each draw; none where some draw has no answer."""
        found = [draw.get(method, {"status": "missing"}) for draw in self.draws[name]]
        if any(answer["status"] != "done" for answer in found):
            return []
        return [self.unit * answer[self.key] for answer in found]

    def lost(self, name: str, method: str) -> list[str]:
        """Why draws have no answer."""
        found = [draw[method] for draw in self.draws[name] if method in draw]
        return sorted({answer["reason"] for answer in found if answer["status"] != "done"})

    def unanswered(self, titles: Mapping[str, str]) -> list[str]:
        """A sentence for remarks, where a method has no answer on some draw of a set."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for method in self.methods:
            for name in self.sets:
                for reason in self.lost(name, method):
                    reasons.setdefault((method, reason), []).append(titles[name])
        words = [
            f"{m} on {listed(names)} ({why.rstrip('.')})" for (m, why), names in reasons.items()
        ]
        return [f"Without an answer on some draw: {'; '.join(words)}."] if words else []

    def rows(self, head: str, titles: Mapping[str, str], form: str) -> list[dict[str, str]]:
        """A table: methods by sets, the best in bold, how often that is so, and the median seconds of a fit."""
        rows, times_best = [], self.times_best()
        for method in self.methods:
            row = {head: method}
            row |= {titles[name]: self._cell(name, method, form) for name in self.sets}
            every = [draw.get(method, {}) for draws in self.draws.values() for draw in draws]
            seconds = [answer["seconds"] for answer in every if "seconds" in answer]
            row["among the best"] = str(times_best[method])
            row["seconds"] = f"{median(seconds):.2g}" if seconds else ""
            rows.append(row)
        return rows

    def _cell(self, name: str, method: str, form: str) -> str:
        """Mean and deviation, or what became of it."""
        scores = self.scores(name, method)
        if scores:
            words = format(measure_spread(scores), form)
            return f"**{words}**" if method in self.best(name) else words
        states = {draw.get(method, {}).get("status", "missing") for draw in self.draws[name]}
        return ", ".join(sorted(states - {"done"}))

    def best(self, name: str) -> list[str]:
        """The method of the best mean, and those behind it by a standard error of the difference at most."""
        sign = 1 if self.gained else -1
        means = {m: sign * mean(scores) for m in self.methods if (scores := self.scores(name, m))}
        if not means:
            return []
        first = max(means, key=lambda method: means[method])
        ahead = {m: self.above([name], first, m) for m in means}
        return [m for m, by in ahead.items() if sign * by.center <= by.error]

    def times_best(self) -> dict[str, int]:
        """On how many sets each method is among the best; the most first."""
        counts = {m: sum(m in self.best(name) for name in self.sets) for m in self.methods}
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def answered(self, names: Sequence[str], *methods: str) -> list[str]:
        """Those of the sets on which all of these methods have an answer."""
        return [n for n in names if n in self.draws and all(self.scores(n, m) for m in methods)]

    def above(self, names: Sequence[str], method: str, other: str) -> Spread:
        """What the first is above the other by: the mean over these sets, draw by draw."""
        differences = [
            [a - b for a, b in zip(self.scores(n, method), self.scores(n, other), strict=True)]
            for n in names
        ]
        return measure_spread([mean(draw) for draw in zip(*differences, strict=True)])


def gain(scores: BySet, name: str, method: str, baseline: str) -> float:
    """What the mean is better by than that of the baseline; NaN where there is none."""
    if not scores.answered([name], method, baseline):
        return float("nan")
    better = 1 if scores.gained else -1
    return better * scores.above([name], method, baseline).center


def picture(
    scores: BySet, titles: Mapping[str, str], baseline: str, shades: float, form: str, label: str
) -> Any:
    """A Matplotlib Figure; beyond `shades` the color stays the same."""
    figure, axes = panels((9, 1.4 + 0.2 * len(scores.methods)))
    gains = np.array([[gain(scores, n, m, baseline) for n in scores.sets] for m in scores.methods])
    image = axes.imshow(gains, cmap="RdBu", vmin=-shades, vmax=shades, aspect="auto")
    names = [titles[name] for name in scores.sets]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes.set_yticks(range(len(scores.methods)), scores.methods)
    for (row, column), value in np.ndenumerate(gains):
        words = f"{value:z{form}}" if np.isfinite(value) else "none"  # z: no minus before zero
        color = "white" if abs(value) > 0.7 * shades else "black"
        style = {"ha": "center", "va": "center", "fontsize": "x-small", "color": color}
        axes.text(column, row, words, **style)
    figure.colorbar(image, extend="both")
    axes.set_title(label, fontsize="medium", loc="left")
    return figure
