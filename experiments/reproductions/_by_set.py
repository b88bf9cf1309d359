"""Scores of many methods on many sets, each draw with all methods: means, deviations and paired differences.

A difference of two methods is a mean over draws, which are the same for both, and its standard error is that of
paired samples. A method that has no answer on some draw of a set has no score there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, final

from experiments.experiment import Part, Result
from experiments.judging import Spread, listed, spread_of

__all__ = ["BySet", "parts_by_set"]


def parts_by_set(sets: Sequence[str], draws: int, quick: bool) -> list[Part]:
    """One for each set and draw, all sets before the next draw; quick: the first, without methods of others."""
    if quick:
        return [Part(f"{sets[0]}-r0", {"set": sets[0], "draw": 0, "rivals": False})]
    return [
        Part(f"{name}-r{draw}", {"set": name, "draw": draw, "rivals": True})
        for draw in range(draws)
        for name in sets
    ]


@final
@dataclass(frozen=True)
class BySet:
    """What came out, by set: one draw after the other; `key` names the score in an answer, times `unit`."""

    draws: Mapping[str, list[Mapping[str, Any]]]
    key: str
    unit: float = 1.0

    @classmethod
    def of(cls, results: Sequence[Result], key: str, unit: float = 1.0) -> "BySet":
        draws: dict[str, list[Mapping[str, Any]]] = {}
        for result in results:
            draws.setdefault(result.parameters["set"], []).append(result.value)
        return cls(draws, key, unit)

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
        """A table: methods by sets, with the median seconds of a fit."""
        rows = []
        for method in self.methods:
            row = {head: method}
            row |= {titles[name]: self._cell(name, method, form) for name in self.sets}
            every = [draw.get(method, {}) for draws in self.draws.values() for draw in draws]
            seconds = [answer["seconds"] for answer in every if answer.get("status") == "done"]
            row["seconds"] = f"{median(seconds):.2g}" if seconds else ""
            rows.append(row)
        return rows

    def _cell(self, name: str, method: str, form: str) -> str:
        """Mean and deviation, or what became of it."""
        scores = self.scores(name, method)
        if scores:
            center, deviation = spread_of(scores)
            return f"{center:{form}} ± {deviation:{form}}"
        states = {draw.get(method, {}).get("status", "missing") for draw in self.draws[name]}
        return ", ".join(sorted(states - {"done"}))

    def answered(self, names: Sequence[str], *methods: str) -> list[str]:
        """Those of the sets on which all of these methods have an answer."""
        return [n for n in names if n in self.draws and all(self.scores(n, m) for m in methods)]

    def above(self, names: Sequence[str], method: str, other: str) -> Spread:
        """What the first is above the other by, the mean over these sets, and its standard error over draws."""
        differences = [
            [
                a - b
                for a, b in zip(self.scores(name, method), self.scores(name, other), strict=True)
            ]
            for name in names
        ]
        spread = spread_of([mean(draw) for draw in zip(*differences, strict=True)])
        return Spread(spread.center, spread.deviation / len(differences[0]) ** 0.5)
