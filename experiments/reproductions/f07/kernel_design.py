"""F07 Figures 1, 2 and 3: comparisons of nine sets kept by single kernels, by mixes of them and by metrics."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, final

import numpy as np

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.isolated import call_isolated
from experiments.reproductions.f07 import _comparisons as comparisons
from experiments.reproductions.f07 import _tables as tables
from experiments.reproductions.f07._claims import LIMIT, SETUP, claims_of, remarks_of
from experiments.reproductions.shared import twelve_sets as _twelve_sets
from experiments.reproductions.shared.by_set import BySet
from experiments.reproductions.shared.rivals import METRIC_LEARN, learn_mmc
from gramlearn import MetricLearner

_GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # of MetricLearner
# In the guide; a Gaussian kernel, however wide, orders points as their distance does.
_GUIDE = {
    "Gauss, mu = 1": "Euclidean, or any Gaussian kernel",
    "polynomial, degree 2": "polynomial kernel, degree 2",
    "linear": "linear kernel",
    tables.FULL: "KernelDesigner, mix of full kernels",
    tables.WEAK: "KernelDesigner, mix of weak kernels",
    tables.LEARNER: "MetricLearner, hinge",
    tables.XING["full"]: "metric-learn MMC",
    tables.XING["diagonal"]: "metric-learn MMC, diagonal",
}
_TOL = 1e-3  # of the metrics that are compared; the chosen one is solved to 1e-6


@final
class KernelDesigns(Experiment):
    paper: str = "Fung, Rosales, Rao (2007), section 3.2, Figures 1, 2 and 3"
    claim: str = (
        "a mix of weak kernels keeps more comparisons than any single kernel on all nine sets, uses fewer "
        "features than there are on all but balance scale, and clearly outperforms the metric of Xing et al. "
        "(2002) on all but balance scale; a mix of full kernels is behind a single one on some; the linear "
        "kernel is almost identical to the polynomial one."
    )
    title: str = "Kernels from comparisons, on nine sets"
    setup: str = SETUP
    version: int = 3
    data: tuple[str, ...] = tuple(comparisons.SETS.values())
    guide: str = "comparisons of new points kept, %; more is better"

    def parts(self, quick: bool) -> list[Part]:
        names, splits = (("iris", "balance"), 1) if quick else (tuple(comparisons.SETS), 10)
        # A quick run makes no environment for metric-learn, and gives it little time.
        given = {"limit": 5.0 if quick else LIMIT, "may_make": not quick}
        kinds = [("", given), ("-raw", {"raw": True})]
        return [_part(name, kind, splits, more) for name in names for kind, more in kinds]

    def compute(self, part: Part) -> dict[str, Any]:
        given = part.draws[0].parameters
        raw = given.get("raw", False)
        splits = [
            comparisons.draw_split(given["set"], draw.generator(), raw) for draw in part.draws
        ]
        if raw:
            return {"draws": [{"kept": _by_single_kernels(split)} for split in splits]}
        theirs = _xing(splits, given["limit"], given["may_make"])
        return {"draws": [_shares(*found) for found in zip(splits, theirs, strict=True)]}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        return tables.make_tables(results)

    def guide_rows(self, results: Sequence[Result]) -> list[dict[str, str]]:
        return shares_by_set(results).rows("kept", _twelve_sets.SETS, ".1f")

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return claims_of(results)

    def remarks(self, results: Sequence[Result]) -> list[str]:
        return remarks_of(results)

    def figure(self, results: Sequence[Result]) -> Any:
        sets = tables.group_by_set(results)
        figure, (single, features, metrics) = panels((10, 9.5), 3, 1)
        for axes, methods in (
            (single, (*comparisons.SINGLE, tables.FULL, tables.WEAK)),
            (metrics, (*tables.XING.values(), tables.LEARNER, tables.WEAK)),
        ):
            shares = {
                method: [
                    [100 * share for share in tables.list_shares(of, method)]
                    for of in sets.values()
                ]
                for method in methods
            }
            colors = [f"C{tables.METHODS.index(method)}" for method in methods]
            tables.draw_bars(axes, list(sets), shares, colors)
            axes.set(ylabel="test comparisons kept, %", ylim=(0, 101))
        counts = {
            "features of the set": [[of[0]["features"]] for of in sets.values()],
            "used, |alpha| > 0.01": [tables.list_weak(of, "used") for of in sets.values()],
            "with any weight": [tables.list_weak(of, "selected") for of in sets.values()],
        }
        tables.draw_bars(
            features, list(sets), counts, ["0.7", f"C{tables.METHODS.index(tables.WEAK)}", "0.4"]
        )
        features.set_ylabel("features")
        single.set_title("Figure 1: single kernels and mixes")
        features.set_title("Figure 2: features of the mix of weak kernels")
        metrics.set_title("Figure 3: metrics, and the mix of weak kernels")
        for axes in (single, features, metrics) if sets else ():
            axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return figure


def _part(name: str, kind: str, splits: int, given: dict[str, Any]) -> Part:
    id = name.replace(" ", "-") + kind
    draws = (Part(f"{id}-s{k:02}", {"set": name, "split": k, **given}) for k in range(splits))
    return Part.of_draws(id, draws)


def shares_by_set(results: Sequence[Result]) -> BySet:
    """Of standardized features, by the names of the guide."""
    answers = []
    for name, splits in tables.group_by_set(results).items():
        for split in splits:
            lost = {tables.XING[v]: answer for v, answer in split["xing"].items()}
            done = {m: {"status": "done", "kept": share} for m, share in split["kept"].items()}
            answer = {words: (lost | done)[method] for method, words in _GUIDE.items()}
            answers.append(Result({"set": comparisons.SETS[name]}, answer))
    return BySet.of(answers, "kept", unit=100.0)


def _by_single_kernels(split: comparisons.Split) -> dict[str, float]:
    return {
        name: split.test.share_kept(kernel.paired) for name, kernel in comparisons.SINGLE.items()
    }


def _shares(split: comparisons.Split, xing: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What each method keeps of one split, and how it came to it."""
    mixes = {
        name: comparisons.learn_mix(split, weak)
        for name, weak in ((tables.FULL, False), (tables.WEAK, True))
    }
    kept = _by_single_kernels(split) | {name: mix.share_kept for name, mix in mixes.items()}
    for variant, answer in xing.items():
        if (W := answer.pop("W", None)) is not None:
            kept[tables.XING[variant]] = split.test.share_kept(partial(_nearness, W))
    gamma, kept[tables.LEARNER] = _metric(split)
    return {
        "kept": kept,
        "mixes": {name: mix._asdict() for name, mix in mixes.items()},
        "xing": xing,
        "gamma": gamma,
        "features": split.test.points.shape[1],
        "test_triplets": split.test.triplets.size,
    }


def _xing(
    splits: Sequence[comparisons.Split], limit: float, may_make: bool
) -> list[dict[str, dict[str, Any]]]:
    """Of each comparison (i, j, k), the pair (i, j) is alike and (i, k) is not, as F07 has it.

    A variant that is ended on one split is tried on the next: on some sets it comes to an end on some.
    """
    calls = []
    for split in splits:
        table, X = np.asarray(split.training.triplets.triplets), split.training.points
        pairs = {"X": X, "alike": table[:, [0, 1]], "unlike": table[:, [0, 2]]}
        calls += [{**pairs, "diagonal": variant == "diagonal"} for variant in tables.XING]
    answers = iter(call_isolated(learn_mmc, METRIC_LEARN, calls, limit, may_make))
    return [{variant: next(answers) for variant in tables.XING} for _ in splits]


def _metric(split: comparisons.Split) -> tuple[float, float]:
    """(the gamma of MetricLearner that the halves choose, the share of test comparisons kept)."""
    gamma = _GAMMAS[comparisons.rank_by_halves(split, _shares_of_gammas)[0]]
    learner = MetricLearner(loss="hinge", C=gamma)
    learner.fit(split.training.points, side=split.training.triplets)
    return gamma, split.test.share_kept(lambda A, B: learner.pair_score((A, B)))


def _shares_of_gammas(learned: comparisons.Judged, judge: comparisons.Judged) -> np.ndarray:
    shares = []
    for gamma in _GAMMAS:
        learner = MetricLearner(loss="hinge", C=gamma, tol=_TOL)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "all .* statements hold under the prior")
            learner.fit(learned.points, side=learned.triplets)
        shares.append(judge.share_kept(lambda A, B, of=learner: of.pair_score((A, B))))
    return np.asarray(shares)


def _nearness(W: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Minus the squared distance."""
    return -np.einsum("ij,jk,ik->i", A - B, W, A - B)


EXPERIMENT = KernelDesigns()
