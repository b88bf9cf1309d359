"""Z11 Table 7: clusters of Adult a1a to a5a, up to 6414 points, and the seconds that learning takes.

As in the paper 50 mutual neighbors, C = 1, B = n, and random pairs until must-links leave components as many as
70 % of the points. The paper has five times as many constraints, more than the transitive closure of such pairs
would give; here the pairs themselves are used. K has rank 20 at most: with the linear loss the best of that
rank, with the squared hinge the best over the 20 smoothest functions on the graph (Z11 5.4).
"""

import time
from collections.abc import Sequence
from statistics import mean
from typing import Any, final

import numpy as np

from experiments.experiment import Experiment, Part, Result
from experiments.reproductions._nonparametric import Instance, draw_until
from experiments.reproductions._nonparametric_tables import SHARE, spread_of
from gramlearn import datasets, laplacian, neighbor_graph, solve_nonparametric

__all__ = ["EXPERIMENT", "adult"]

_SETS = ("a1a", "a2a", "a3a", "a4a", "a5a")
_RANK = 20
_LOSSES = {"LL": "linear", "SHL": "squared_hinge"}
_TOL = 1e-4
# Constraints; accuracies of k-means, ck-means, LL and SHL with their deviations; seconds of LL and SHL.
_PAPER = {
    "a1a": ("4,104", "56.4±3.5", "59.0±2.3", "61.4±1.7", "60.7±2.7", 8.5, 322.9),
    "a2a": ("5,443", "57.3±3.6", "60.2±0.1", "61.1±1.3", "61.4±1.2", 15.3, 637.2),
    "a3a": ("7,773", "57.8±3.5", "59.2±3.0", "61.1±1.7", "61.5±2.0", 28.8, 1160.8),
    "a4a": ("12,465", "58.8±1.6", "59.3±3.9", "61.6±1.3", "61.4±1.5", 66.3, 2341.3),
    "a5a": ("16,161", "57.7±3.1", "59.8±2.2", "60.8±3.1", "61.9±1.7", 79.6, 3692.1),
}


def adult(name: str, n_neighbors: int, share: float, part: Part) -> Instance:
    """A part of Adult as it is, 123 features of zeros and ones, with its graph and the pairs of one draw."""
    data = datasets.load(f"adult_{name}")
    X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    graph = laplacian(neighbor_graph(X, n_neighbors))
    return Instance(X, X, y, draw_until(y, share, part.generator()), graph, part.seed)


@final
class NonparametricAdult(Experiment):
    paper: str = "Zhuang, Tsang, Hoi (2011), section 7.3, Table 7"
    claim: str = (
        "both losses give better clusters than k-means and constrained k-means; the squared hinge takes 38 to "
        "46 times as long as the linear loss."
    )
    version: int = 3
    data: tuple[str, ...] = tuple(f"adult_{name}" for name in _SETS)

    def parts(self, quick: bool) -> list[Part]:
        names, repeats = (_SETS[:1], 1) if quick else (_SETS, 20)
        return [
            Part(f"{name}-r{repeat:02}", {"set": name, "repeat": repeat})
            for name in names
            for repeat in range(repeats)
        ]

    def compute(self, part: Part) -> dict[str, Any]:
        case = adult(part.parameters["set"], 50, SHARE, part)
        n = len(case.y)
        answer: dict[str, Any] = {"points": n, "pairs": case.pairs.size}
        answer["accuracy"] = {
            "k-means": case.of_points(case.points),
            "ck-means": case.of_points(case.points, case.pairs),
        }
        answer["seconds"] = {}
        for words, loss in _LOSSES.items():
            began = time.process_time()
            found = solve_nonparametric(
                case.laplacian, case.pairs, loss=loss, B=float(n), rank=_RANK, tol=_TOL
            )
            answer["seconds"][words] = time.process_time() - began
            answer["accuracy"][words] = case.of_kernel(found.factor)
            answer[f"relative gap {words}"] = float(found.relative_gap)
        return answer

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for name, draws in _by_set(results).items():
            told = _PAPER[name]
            row = {
                "set": f"{name}, {draws[0]['points']} points",
                "pairs": f"{mean(draw['pairs'] for draw in draws):.0f} ({told[0]})",
            }
            for k, method in enumerate(("k-means", "ck-means", "LL", "SHL")):
                center, spread = spread_of([draw["accuracy"][method] for draw in draws])
                row[f"{method}, %"] = f"{center:.1f}±{spread:.1f} ({told[1 + k]})"
            seconds = {words: _seconds(draws, words) for words in _LOSSES}
            for k, words in enumerate(_LOSSES):
                row[f"{words}, s"] = f"{seconds[words]:.2f} ({told[5 + k]})"
            row["SHL / LL"] = (
                f"{seconds['SHL'] / seconds['LL']:.1f} ({float(told[6]) / float(told[5]):.0f})"
            )
            rows.append(row)
        rows.append(self._growth(results, list(rows[0])))
        return rows

    def _growth(self, results: Sequence[Result], columns: list[str]) -> dict[str, str]:
        """The exponents of n, fitted to the seconds of all sets."""
        sets = _by_set(results)
        row = dict.fromkeys(columns, "") | {"set": "grows as"}
        if len(sets) < 2:
            return row | {"set": "grows as (one set tells nothing)"}
        sizes = np.log([draws[0]["points"] for draws in sets.values()])
        for k, words in enumerate(_LOSSES):
            ours = np.polyfit(sizes, np.log([_seconds(draws, words) for draws in sets.values()]), 1)
            told = np.polyfit(sizes, np.log([float(_PAPER[name][5 + k]) for name in sets]), 1)
            row[f"{words}, s"] = f"n^{ours[0]:.2f} (n^{told[0]:.2f})"
        return row

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4.5), layout="constrained")
        left, right = figure.subplots(1, 2)
        sets = _by_set(results)
        sizes = [draws[0]["points"] for draws in sets.values()]
        for k, method in enumerate(("k-means", "ck-means", "LL", "SHL")):
            spreads = [spread_of([d["accuracy"][method] for d in draws]) for draws in sets.values()]
            left.errorbar(
                sizes,
                *zip(*spreads, strict=True),
                marker="o",
                capsize=3,
                color=f"C{k}",
                label=method,
            )
        for k, words in enumerate(_LOSSES):
            style = {"color": f"C{2 + k}", "marker": "o"}
            right.plot(sizes, [_seconds(d, words) for d in sets.values()], label=words, **style)
            told = [float(_PAPER[name][5 + k]) for name in sets]
            right.plot(sizes, told, ls=":", label=f"{words}, the paper", **style)
        left.set(xlabel="points", ylabel="pairs of points clustered right, %", title="Adult")
        right.set(xlabel="points", ylabel="seconds", xscale="log", yscale="log", title="Learning")
        for axes in (left, right):
            axes.grid(alpha=0.3)
            # Below the panel: curves are everywhere in it.
            axes.legend(fontsize="small", ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
        return figure


def _by_set(results: Sequence[Result]) -> dict[str, list[Any]]:
    sets: dict[str, list[Any]] = {}
    for result in results:
        sets.setdefault(result.parameters["set"], []).append(result.value)
    return sets


def _seconds(draws: list[Any], words: str) -> float:
    return mean(draw["seconds"][words] for draw in draws)


EXPERIMENT = NonparametricAdult()
