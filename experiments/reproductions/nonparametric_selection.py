"""Z11 Figure 2: clusters of Adult a1a from some of the pairs, those of uncertain points or any.

20 mutual neighbors, C = 1, B = n, components of must-links as many as 60 % of the points, as in the paper.
Points are uncertain under the kernel before learning: inner products of features, centered and of length one.
The squared hinge, over the 100 smoothest functions on the graph. The seconds include the choice of pairs.
"""

import time
from collections.abc import Sequence
from statistics import mean
from typing import Any, final

import numpy as np

from experiments.experiment import Experiment, Part, Result
from experiments.reproductions._nonparametric import Instance
from experiments.reproductions._nonparametric_tables import spread_of
from experiments.reproductions.nonparametric_adult import adult
from gramlearn import Pairs, select_pairs, solve_nonparametric

__all__ = ["EXPERIMENT"]

_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_WAYS = {"active": "of uncertain points", "random": "at random"}


@final
class NonparametricSelection(Experiment):
    paper: str = "Zhuang, Tsang, Hoi (2011), section 7.4, Figure 2"
    claim: str = (
        "pairs of uncertain points give better clusters than as many random ones; half of the pairs are about "
        "as good as all of them; fewer pairs take less time."
    )
    version: int = 2
    data: tuple[str, ...] = ("adult_a1a",)

    def parts(self, quick: bool) -> list[Part]:
        return [Part(f"r{repeat:02}", {"repeat": repeat}) for repeat in range(1 if quick else 20)]

    def compute(self, part: Part) -> dict[str, Any]:
        case = adult("a1a", 20, 0.6, part)
        rng = np.random.default_rng(part.seed)
        answer: dict[str, Any] = {"pairs": case.pairs.size}
        for way in _WAYS:
            answer[way] = [_learned(case, way, share, rng) for share in _SHARES]
        return answer

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for k, share in enumerate(_SHARES):
            count = share * mean(result.value["pairs"] for result in results)
            row = {"pairs": f"{count:.0f}, {share:.0%}"}
            for way, words in _WAYS.items():
                center, spread = spread_of([r.value[way][k]["accuracy"] for r in results])
                row[f"{words}, %"] = f"{center:.1f} ± {spread:.1f}"
            gains = [
                r.value["active"][k]["accuracy"] - r.value["random"][k]["accuracy"] for r in results
            ]
            center, spread = spread_of(gains)
            row["difference, with its standard error"] = (
                f"{center:+.1f} ± {spread / len(gains) ** 0.5:.1f}"
            )
            for way, words in _WAYS.items():
                row[f"{words}, s"] = f"{mean(r.value[way][k]['seconds'] for r in results):.2f}"
            row["the paper"] = "3.9K constraints: 60.8±2.9, 81.6 s" if share == 1 else ""
            rows.append(row)
        return rows

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for shift, (way, words) in zip((-0.4, 0.4), _WAYS.items(), strict=True):
            at = 100 * np.asarray(_SHARES) + shift
            spreads = [
                spread_of([r.value[way][k]["accuracy"] for r in results])
                for k in range(len(_SHARES))
            ]
            left.errorbar(at, *zip(*spreads, strict=True), marker="o", capsize=3, label=words)
            seconds = [
                mean(r.value[way][k]["seconds"] for r in results) for k in range(len(_SHARES))
            ]
            right.plot(at, seconds, marker="o", label=words)
        left.set(xlabel="pairs, %", ylabel="pairs of points clustered right, %", title="Adult a1a")
        right.set(xlabel="pairs, %", ylabel="seconds", ylim=(0, None), title="Choice and learning")
        for axes in (left, right):
            axes.grid(alpha=0.3)
            axes.legend(fontsize="small")
        return figure


def _learned(case: Instance, way: str, share: float, rng: np.random.Generator) -> dict[str, float]:
    began = time.process_time()
    count = max(1, round(share * case.pairs.size))
    chosen = _uncertain(case, count) if way == "active" else _random(case.pairs, count, rng)
    answer = solve_nonparametric(
        case.laplacian, chosen, loss="squared_hinge", B=float(len(case.y)), rank=100, tol=1e-4
    )
    seconds = time.process_time() - began
    return {"seconds": seconds, "accuracy": case.of_kernel(answer.factor)}


def _uncertain(case: Instance, count: int) -> Pairs:
    centered = case.points - case.points.mean(axis=0)
    return select_pairs(case.pairs, centered / np.linalg.norm(centered, axis=1)[:, None], count)


def _random(pairs: Pairs, count: int, rng: np.random.Generator) -> Pairs:
    left_out = np.ones(pairs.size, dtype=bool)
    left_out[rng.permutation(pairs.size)[:count]] = False
    return pairs.without(left_out)


EXPERIMENT = NonparametricSelection()
