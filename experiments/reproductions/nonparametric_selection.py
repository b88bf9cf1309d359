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

from experiments.experiment import Claim, Experiment, Part, Result
from experiments.judging import REACHES, Spread, prose, span, spread_of
from experiments.reproductions._nonparametric import Instance
from experiments.reproductions._nonparametric_tables import REPEATS
from experiments.reproductions.nonparametric_adult import adult
from gramlearn import Pairs, select_pairs, solve_nonparametric

__all__ = ["EXPERIMENT"]

_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_ALL, _TOLD = len(_SHARES) - 1, Spread(60.8, 2.9, REPEATS)
_PAPER = f"3.9K constraints: {_TOLD.center}±{_TOLD.deviation}, 81.6 s"
_WAYS = {"active": "of uncertain points", "random": "at random"}


@final
class NonparametricSelection(Experiment):
    paper: str = "Zhuang, Tsang, Hoi (2011), section 7.4, Figure 2"
    claim: str = (
        "pairs of uncertain points give better clusters than as many random ones; half of the pairs are about "
        "as good as all of them; fewer pairs take less time."
    )
    title: str = "Choosing pairs of uncertain points"
    setup: str = prose("""
        Adult a1a, 20 mutual neighbors, random pairs until must-links leave as many components as 60 % of the
        points, C = 1, B = n; the squared hinge over the 100 smoothest functions on the graph. Points are
        uncertain under the kernel before learning, inner products of centered features of length one. Seconds
        are of the processor.
        """)
    timed: bool = True
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
                center, spread = _spread(results, way, k)
                row[f"{words}, %"] = f"{center:.1f} ± {spread:.1f}"
            center, error = _gain(results, k)
            row["difference, with its standard error"] = f"{center:+.1f} ± {error:.1f}"
            for way, words in _WAYS.items():
                row[f"{words}, s"] = f"{_seconds(results, way, k):.2f}"
            row["the paper"] = _PAPER if share == 1 else ""
            rows.append(row)
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return _claims(results)

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for shift, (way, words) in zip((-0.4, 0.4), _WAYS.items(), strict=True):
            at = 100 * np.asarray(_SHARES) + shift
            spreads = [_spread(results, way, k) for k in range(len(_SHARES))]
            left.errorbar(at, *zip(*spreads, strict=True), marker="o", capsize=3, label=words)
            seconds = [_seconds(results, way, k) for k in range(len(_SHARES))]
            right.plot(at, seconds, marker="o", label=words)
        left.set(xlabel="pairs, %", ylabel="pairs of points clustered right, %", title="Adult a1a")
        right.set(xlabel="pairs, %", ylabel="seconds", ylim=(0, None), title="Choice and learning")
        for axes in (left, right):
            axes.grid(alpha=0.3)
            axes.legend(fontsize="small")
        return figure


def _spread(results: Sequence[Result], way: str, k: int) -> Spread:
    return spread_of([result.value[way][k]["accuracy"] for result in results])


def _seconds(results: Sequence[Result], way: str, k: int) -> float:
    return mean(result.value[way][k]["seconds"] for result in results)


def _gain(results: Sequence[Result], k: int) -> tuple[float, float]:
    """By how much pairs of uncertain points are ahead, with the standard error of that."""
    gains = [r.value["active"][k]["accuracy"] - r.value["random"][k]["accuracy"] for r in results]
    center, spread = spread_of(gains)
    return center, spread / len(gains) ** 0.5


def _claims(results: Sequence[Result]) -> list[Claim]:
    gains = [_gain(results, k) for k in range(_ALL)]
    ahead = sum(gain > 0 for gain, _ in gains)
    clear = sum(gain > 2 * error for gain, error in gains)
    k = _SHARES.index(0.5)
    half, every = _spread(results, "active", k), _spread(results, "active", _ALL)
    seconds = {way: [_seconds(results, way, k) for k in range(len(_SHARES))] for way in _WAYS}
    share = seconds["active"][k] / seconds["active"][_ALL]
    longer = sum(seconds["active"]) / sum(seconds["random"])
    return [
        Claim(
            words="pairs of uncertain points usually give better clusters than as many random ones",
            paper="a figure without numbers",
            ours=f"they are ahead at {ahead} of {_ALL} shares, by {span([g for g, _ in gains], '+.1f')}; "
            f"{clear} of the differences are more than twice their standard error",
            criterion="they are ahead at more than half of the shares",
            agrees=ahead > _ALL / 2,
        ),
        Claim(
            words="about half of the pairs, chosen so, are comparable to all of them",
            paper="comparable or even better",
            ours=f"{half.center:.1f} ± {half.deviation:.1f} and {every.center:.1f} ± {every.deviation:.1f}",
            criterion=REACHES,
            agrees=half.reaches(every),
        ),
        Claim(
            words="fewer pairs take less time",
            paper="a figure without numbers",
            ours=f"half of the pairs take {share:.2f} of the time of all",
            criterion="half of them take less than three quarters",
            agrees=share < 0.75,
            reason="What takes the time is the graph, whose functions are found whatever the number of pairs.",
        ),
        Claim(
            words="choosing pairs costs more time than drawing them",
            paper="a figure without numbers",
            ours=f"{longer:.2f} times as long, over all shares",
            criterion="it does, over all shares",
            agrees=longer > 1,
        ),
        Claim(
            words="accuracy with all pairs",
            paper=f"{_TOLD.center} ± {_TOLD.deviation}",
            ours=f"{every.center:.1f} ± {every.deviation:.1f}",
            criterion=REACHES,
            agrees=every.reaches(_TOLD),
        ),
    ]


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
