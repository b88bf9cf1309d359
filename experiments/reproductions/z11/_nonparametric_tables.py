"""Z11 Tables 2 and 3 as printed, and the rows that set beside them what came out here."""

from collections.abc import Sequence
from statistics import mean
from typing import Any, final

from experiments.experiment import Result
from experiments.intervals import Spread, measure_spread

SHARE = 0.7
REPEATS = 20  # of all clusterings of the paper (7.1)
LIMIT = {"SCS": 60.0, "CLARABEL": 30.0}
METHODS = {
    "k-means": "k-means",
    "ck-means": "ck-means",
    "NPKL LL": "NPKL LL",
    "NPKL HL": "NPKL HL",
    "LL": "SimpleNPKL LL",
    "SHL": "SimpleNPKL SHL",
    "LL, links kept": "LL, links kept",
    "SHL, links kept": "SHL, links kept",
}
_WORDS = {
    "chessboard": "Chessboard (stand-in)",
    "spiral": "Spiral (stand-in)",
    "heart-50": "Heart, pairs until 50 %",
}
OURS = ("LL", "SHL")
# Means and standard deviations of Table 2; seconds of Table 3: NPKL LL and HL, SimpleNPKL LL and SHL.
ACCURACIES = {
    name: [Spread(*pair, REPEATS) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    for name, numbers in {
        "chessboard": (49.8, 0.2, 50.1, 0.3, 61.1, 6.9, 56.3, 6.1, 60.2, 0.0, 58.8, 0.8),
        "glass": (69.7, 1.9, 69.2, 1.7, 74.4, 3.7, 79.1, 4.9, 73.0, 2.5, 73.5, 2.9),
        "heart": (51.5, 0.1, 52.3, 3.7, 86.0, 0.3, 86.2, 0.0, 86.8, 0.0, 89.4, 0.1),
        "iris": (84.5, 6.5, 89.4, 8.5, 96.0, 6.1, 97.4, 0.0, 97.4, 0.0, 97.4, 0.0),
        "protein": (76.2, 2.0, 80.7, 3.1, 78.2, 3.2, 86.4, 3.8, 81.8, 1.8, 75.9, 2.0),
        "sonar": (50.2, 0.1, 50.8, 0.2, 76.8, 0.3, 64.5, 6.8, 70.2, 10.0, 78.0, 0.0),
        "soybean": (82.1, 6.1, 83.8, 8.3, 90.2, 7.7, 100.0, 0.0, 95.3, 5.1, 95.4, 4.9),
        "spiral": (50.1, 0.6, 50.6, 1.3, 86.5, 0.0, 94.1, 0.0, 92.2, 0.0, 94.1, 0.0),
        "wine": (71.2, 1.2, 76.1, 2.8, 78.1, 1.7, 85.5, 5.3, 83.7, 4.8, 85.0, 2.6),
    }.items()
}
SECONDS = {
    "chessboard": (1.38, 5.23, 0.05, 0.13),
    "glass": (1.85, 32.36, 0.11, 2.95),
    "heart": (2.64, 63.84, 0.17, 13.15),
    "iris": (1.36, 1.65, 0.04, 3.45),
    "protein": (1.80, 8.16, 0.05, 1.32),
    "sonar": (1.77, 30.38, 0.11, 3.91),
    "soybean": (1.51, 3.25, 0.01, 0.16),
    "spiral": (1.78, 6.23, 0.05, 1.95),
    "wine": (2.54, 30.91, 0.09, 1.53),
}
SPEEDUPS = dict(
    zip(SECONDS, (27.6, 16.8, 15.5, 34.0, 36.0, 16.1, 151.0, 36.6, 28.2), strict=True)
)  # with the linear loss alone
TIMED = 5  # of the draws, which come first


@final
class Seconds:
    """What learning took over the draws of one set that had nothing beside them, as programs have."""

    def __init__(self, draws: list[Any]) -> None:
        self._draws = draws

    def all(self, method: str) -> list[float]:
        if method in OURS:
            return [draw["seconds"][method] for draw in self._draws[:TIMED]]
        return [found["seconds"] for found in self._found(method, "SCS")]

    def _found(self, method: str, solver: str) -> list[Any]:
        key = f"{method} {solver}"
        return [draw[key] for draw in self._draws if key in draw]

    def mean(self, method: str) -> float:
        """Of two solvers, of the faster; what a solver that ran out of time took is a bound from below."""
        other = [found["seconds"] for found in self._found(method, "CLARABEL") if found["is_done"]]
        times = [self.all(method), other]
        return min((mean(found) for found in times if found), default=float("nan"))

    def cell(self, method: str) -> str:
        if not self.all(method):
            return ""
        center, spread = measure_spread(self.all(method))
        other = self._found(method, "CLARABEL")
        words = f"; Clarabel {_late(other)}{other[0]['seconds']:.2g}" if other else ""
        give = f"{spread:.0f}" if spread >= 9.5 else f"{spread:.1g}"
        return f"{_late(self._found(method, 'SCS'))}{center:.2g} ± {give}{words}"

    @property
    def linear_up(self) -> float | None:
        return self.mean("NPKL LL") / self.mean("LL") if self.all("NPKL LL") else None

    @property
    def hinge_up(self) -> float | None:
        return self.mean("NPKL HL") / self.mean("SHL") if self.all("NPKL HL") else None


def table_of(results: Sequence[Result]) -> list[dict[str, str]]:
    """The rows of all sets, and the mean of their speed-ups."""
    rows, linear, hinge = [], [], []
    for key, draws in by_set(results).items():
        of = Seconds(draws)
        rows += _rows(key, draws, of)
        linear += [of.linear_up] if of.linear_up else []
        hinge += [of.hinge_up] if of.hinge_up else []
    ups = {
        "speed-up LL": f"{mean(linear):.0f}" if linear else "",
        "speed-up HL": f"{mean(hinge):.0f}, least {min(hinge):.0f}" if hinge else "",
    }
    return [*rows, _row("all", "mean speed-up") | ups]


def _late(answers: list[Any]) -> str:
    return "" if all(answer["is_done"] for answer in answers) else "more than "


def by_set(results: Sequence[Result]) -> dict[str, list[Any]]:
    """What the draws gave; a set with another share of components is a set of its own."""
    sets: dict[str, list[Any]] = {}
    for result in results:
        name, share = result.parameters["set"], result.parameters["share"]
        key = name if share == SHARE else f"{name}-{100 * share:.0f}"
        sets.setdefault(key, []).append(result.value)
    return sets


def _rows(key: str, draws: list[Any], of: Seconds) -> list[dict[str, str]]:
    words = _WORDS.get(key, key.capitalize())
    pairs = mean(draw["pairs"] for draw in draws)
    label = f"{words}, {draws[0]['points']} points, {pairs:.0f} pairs"
    accuracies = {
        heading: _cell([d["accuracy"][method] for d in draws if method in d["accuracy"]])
        for method, heading in METHODS.items()
    }
    raw = {method: _cell([d["raw"][method] for d in draws]) for method in ("k-means", "ck-means")}
    mutual = {METHODS[method]: _cell([d["mutual"][method] for d in draws]) for method in OURS}
    rows = [
        _row(label, "accuracy") | accuracies,
        _row("", "raw features, must-links only") | raw,
        _row("", "mutual neighbors") | mutual,
    ]
    if key in ACCURACIES:
        told = [f"{told}" for told in ACCURACIES[key]]
        rows.append(
            _row("", "accuracy in the paper")
            | dict(zip(list(METHODS.values()), told, strict=False))
        )
    if not of.all("NPKL LL"):
        return rows
    timed = ("NPKL LL", "NPKL HL", "LL", "SHL")
    ups = {"speed-up LL": of.linear_up, "speed-up HL": of.hinge_up}
    rows.append(
        _row("", "seconds")
        | {METHODS[method]: of.cell(method) for method in timed}
        | {name: f"{up:.0f}" for name, up in ups.items() if up}
        | {"LL and SDP differ by": f"{values_apart(draws):.0e}"}
    )
    told = [f"{seconds:g}" for seconds in SECONDS[key]]
    hinge = told_hinge_up(key)
    faster = {"speed-up LL": str(SPEEDUPS[key]), "speed-up HL": f"{hinge:.1f}, from its seconds"}
    rows.append(
        _row("", "seconds in the paper")
        | {METHODS[method]: text for method, text in zip(timed, told, strict=True)}
        | faster
    )
    return rows


def told_hinge_up(key: str) -> float:
    """The quotient of the paper's seconds, for which it prints no speed-up."""
    return SECONDS[key][1] / SECONDS[key][3]


def values_apart(draws: list[Any]) -> float:
    """The relative difference of the optimal values of SimpleNPKL and of the program, at most."""
    both = [(d["NPKL LL SCS"]["value"], d["value"]["LL"]) for d in draws if "NPKL LL SCS" in d]
    return max(abs(other / ours - 1) for other, ours in both)


def _row(name: str, of: str) -> dict[str, str]:
    columns = [*METHODS.values(), "speed-up LL", "speed-up HL", "LL and SDP differ by"]
    return {"set": name, "of": of, **dict.fromkeys(columns, "")}


def _cell(accuracies: list[float]) -> str:
    if not accuracies:
        return ""
    count = len(accuracies)
    few = f" ({count} draw{'s' * (count > 1)})" if count < 20 else ""
    return f"{measure_spread(accuracies):.1f}{few}"
