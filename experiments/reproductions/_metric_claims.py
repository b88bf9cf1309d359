"""Errors of many methods on many sets, and what K09 says of five of them.

A difference of two methods is a mean over draws of the halves, which are the same for both, and its standard
error is that of paired samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, final

from experiments.experiment import Claim, Result
from experiments.judging import Spread, listed, spread_of

__all__ = ["Errors", "claims_of"]

_FIVE = ("iris", "wine", "ionosphere", "balance_scale", "soybean_small")  # Davis et al. (2007)
_LEARNED = {"MetricLearner, LogDet": "LogDet", "MetricLearner, von Neumann": "von Neumann"}
_RIVALS = {"metric-learn LMNN": "LMNN", "collapsing_classes_problem": "MCML"}
_BASELINE = "Euclidean"


@final
@dataclass(frozen=True)
class Errors:
    """What came out, by set: one draw after the other, each with all methods."""

    draws: Mapping[str, list[Mapping[str, Any]]]

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Errors":
        draws: dict[str, list[Mapping[str, Any]]] = {}
        for result in results:
            draws.setdefault(result.parameters["set"], []).append(result.value)
        return cls(draws)

    @property
    def sets(self) -> list[str]:
        """In the order they came."""
        return list(self.draws)

    @property
    def methods(self) -> list[str]:
        """Of all draws."""
        return list(dict.fromkeys(m for draws in self.draws.values() for d in draws for m in d))

    def errors(self, name: str, method: str) -> list[float]:
        """In percent, one for each draw; none where some draw has no answer."""
        found = [draw.get(method, {"status": "missing"}) for draw in self.draws[name]]
        if any(answer["status"] != "done" for answer in found):
            return []
        return [100 * answer["error"] for answer in found]

    def lost(self, name: str, method: str) -> set[str]:
        """Why draws have no answer."""
        found = [draw[method] for draw in self.draws[name] if method in draw]
        return {answer["reason"] for answer in found if answer["status"] != "done"}

    def cell(self, name: str, method: str) -> str:
        """Mean and deviation, or what became of it."""
        errors = self.errors(name, method)
        if errors:
            return "{:.1f} ± {:.1f}".format(*spread_of(errors))
        states = [draw.get(method, {}).get("status", "missing") for draw in self.draws[name]]
        return ", ".join(sorted({state for state in states if state != "done"}))

    def seconds(self, method: str) -> list[float]:
        """Of one fit, for all draws of all sets that have an answer."""
        found = [draw[method] for draws in self.draws.values() for draw in draws if method in draw]
        return [answer["seconds"] for answer in found if answer["status"] == "done"]

    def gain(self, name: str, method: str) -> float:
        """What the mean error is below that of the plain distance; NaN where there is none."""
        errors, plain = self.errors(name, method), self.errors(name, _BASELINE)
        return mean(plain) - mean(errors) if errors and plain else float("nan")

    def behind(self, names: Sequence[str], method: str, other: str) -> Spread | None:
        """What the first is worse by, over these sets, and its standard error; None where one has no answer."""
        differences = []
        for name in names:
            a, b = self.errors(name, method), self.errors(name, other)
            if not (a and b):
                return None
            differences.append([x - y for x, y in zip(a, b, strict=True)])
        spread = spread_of([mean(draw) for draw in zip(*differences, strict=True)])
        return Spread(spread.center, spread.deviation / len(differences[0]) ** 0.5)

    def best(self, name: str) -> list[str]:
        """The method of least error, and those that are not more than a standard error behind it."""
        means = {m: mean(errors) for m in self.methods if (errors := self.errors(name, m))}
        first = min(means, key=lambda method: means[method])
        behind = {m: self.behind([name], m, first) for m in means}
        return [m for m, d in behind.items() if d is not None and d.center <= d.deviation]


def claims_of(errors: Errors) -> list[Claim]:
    """That learning helps, and that it does no worse than what the paper compares with."""
    return [_outperforms(errors, method) for method in _LEARNED] + [
        _competes(errors, method, rival) for method in _LEARNED for rival in _RIVALS
    ]


def _answered(errors: Errors, *methods: str) -> list[str]:
    """Those of the five sets on which all of these methods have an answer."""
    return [name for name in _FIVE if all(errors.errors(name, method) for method in methods)]


def _outperforms(errors: Errors, method: str) -> Claim:
    names = _answered(errors, method, _BASELINE)
    behind = errors.behind(names, method, _BASELINE)
    assert behind is not None
    return Claim(
        words=f"{_LEARNED[method]} significantly outperforms the plain distance",
        paper="a figure without numbers",
        ours=f"the error is {-behind.center:.1f} ± {behind.deviation:.1f} % lower, over {len(names)} sets",
        criterion="more than two standard errors",
        agrees=-behind.center > 2 * behind.deviation,
    )


def _competes(errors: Errors, method: str, rival: str) -> Claim:
    names = _answered(errors, method, rival)
    behind = errors.behind(names, method, rival) if names else None
    words = f"{_LEARNED[method]} is competitive with {_RIVALS[rival]}"
    paper, criterion = "a figure without numbers", "not worse by more than two standard errors"
    if behind is None:
        return Claim(words, paper, f"{rival} has no answer", "", None, "there is no answer.")
    worse = listed(name for name in names if errors.gain(name, method) < errors.gain(name, rival))
    return Claim(
        words=words,
        paper=paper,
        ours=f"the error is {behind.center:+.1f} ± {behind.deviation:.1f} % above, over {len(names)} sets; "
        f"it is higher on {worse}",
        criterion=criterion,
        agrees=behind.center <= 2 * behind.deviation,
    )
