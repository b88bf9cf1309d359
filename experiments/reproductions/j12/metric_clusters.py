"""J12 Table 1: errors of k-means under a metric learned from 50 pairs, beside no pairs and a rival.

The metric is learned from pairs of one half of the points, all of them are clustered under it, and the error is
that of the other half: the share outside the classes that their clusters are matched with, one to one.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any, final

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.intervals import compare_pairwise, measure_spread, prose
from experiments.isolated import call_isolated
from experiments.reproductions.j12._two_fold import GAMMAS, PERCENTILES
from experiments.reproductions.shared.pairs import draw_pairs
from experiments.reproductions.shared.rivals import CLUSTERING, find_clusters
from gramlearn import MetricLearner, Pairs, datasets

_SETS = {"ionosphere": "Ionosphere", "pendigits_389_317": "Digits-389"}
_PAPER = {  # unsupervised, LogDet Linear, HMRF-KMeans
    "ionosphere": {"plain": 0.314, "logdet": 0.113, "rival": 0.256},
    "pendigits_389_317": {"plain": 0.226, "logdet": 0.175, "rival": 0.286},
}
_WORDS = {
    "plain": "unsupervised",
    "logdet": "LogDet Linear",
    "fixed": "LogDet Linear, gamma = 1",
    "rival": "MPCK-means (paper: HMRF-KMeans)",
}
_RIVAL = "MPCK-means"
_PAIRS = 50
_FIXED = 1.0
_REPEATS = 5
_STARTS = 10
_LIMIT = 60.0


@final
class MetricClusters(Experiment):
    paper: str = "Jain, Kulis, Davis, Dhillon (2012), section 6.1, Table 1"
    claim: str = "with 50 constraints, k-means under the learned metric errs less, and less than HMRF-KMeans."
    title: str = "Clusters from fifty constraints"
    setup: str = prose(f"""
        {_PAIRS} random pairs of one half are constrained, by class, to the 1st and the 99th percentile of
        squared distances; all points are clustered by k-means, the best of {_STARTS} starts, and errors are
        counted in the other half, after the best matching of clusters with classes. gamma is cross-validated
        within the half that pairs are drawn from: pairs of one quarter, errors in the other. So the classes
        of that half choose gamma, while MPCK-means has the {_PAIRS} pairs alone; for comparison, gamma is
        {_FIXED:g} as well. The paper's sample of Digits-389 cannot be had; another draw of 317 is used. No
        package of HMRF-KMeans was found; MPCK-means, of the same authors, by
        active-semi-supervised-clustering with its defaults and {_LIMIT:g} s for a fit, has its place.
        Features are as they come; all but MPCK-means also with standardized ones. {_REPEATS} splits, both
        ways; mean and standard deviation over splits.
        """)
    version: int = 2
    data: tuple[str, ...] = tuple(_SETS)

    def parts(self, quick: bool) -> list[Part]:
        if quick:
            return [
                Part(
                    "ionosphere-r0",
                    {"set": "ionosphere", "repeat": 0, "scaled": False, "rival": False},
                )
            ]
        return [
            Part(
                f"{name}{'-scaled' * scaled}-r{repeat}",
                {"set": name, "repeat": repeat, "scaled": scaled, "rival": not scaled},
            )
            for scaled in (False, True)
            for name in _SETS
            for repeat in range(_REPEATS)
        ]

    def compute(self, part: Part) -> dict[str, Any]:
        data = datasets.load(part.parameters["set"])
        X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
        if part.parameters["scaled"]:
            X = StandardScaler().fit_transform(X)
        rng = part.generator()
        folds = StratifiedKFold(2, shuffle=True, random_state=part.seed)
        errors: dict[str, list[float]] = {"plain": [], "logdet": [], "fixed": []}
        gammas, calls, tests = [], [], []
        for train, test in folds.split(X, y):
            pairs = _pairs(y, train, rng)
            gamma = self._gamma(X[train], y[train], folds, rng)
            gammas.append(gamma)
            errors["plain"].append(matched_error(_clusters(X, y), y, test))
            for way, value in (("logdet", gamma), ("fixed", _FIXED)):
                errors[way].append(matched_error(_learned(X, y, pairs, value), y, test))
            links = {"alike": np.asarray(pairs.similar), "unlike": np.asarray(pairs.dissimilar)}
            calls.append(
                {"name": _RIVAL, "X": X, "n_clusters": int(y.max()) + 1, **links, "seed": 0}
            )
            tests.append(test)
        reason = ""
        if part.parameters["rival"]:
            answers = call_isolated(find_clusters, CLUSTERING, calls, _LIMIT, may_make=True)
            reason = next((a["reason"] for a in answers if a["status"] != "done"), "")
            if not reason:
                errors["rival"] = [
                    matched_error(a["clusters"], y, test)
                    for a, test in zip(answers, tests, strict=True)
                ]
        means = {name: float(np.mean(found)) for name, found in errors.items()}
        return {"errors": means, "gammas": gammas, "reason": reason, "shape": list(X.shape)}

    def _gamma(
        self, X: np.ndarray, y: np.ndarray, folds: StratifiedKFold, rng: np.random.Generator
    ) -> float:
        errors = np.zeros(len(GAMMAS))
        for inner, outer in folds.split(X, y):
            pairs = _pairs(y, inner, rng)
            errors += [matched_error(_learned(X, y, pairs, gamma), y, outer) for gamma in GAMMAS]
        return GAMMAS[int(np.argmin(errors))]

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for (name, scaled), found in _errors(results).items():
            n, d = next(r.value["shape"] for r in results if r.parameters["set"] == name)
            row = {"set": _SETS[name] + ", standardized" * scaled, "n": str(n), "d": str(d)}
            for method, words in _WORDS.items():
                draws = found.get(method)
                told = _PAPER[name].get(method)
                ours = format(measure_spread(draws), ".3f") if draws else "none"
                row[words] = ours if scaled or told is None else f"{ours} (paper {told:.3f})"
            rows.append(row)
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        found = _errors(results)
        return [
            claim
            for (name, scaled), draws in found.items()
            if not scaled
            for claim in _claims(name, draws, found.get((name, True), {}), results)
        ]

    def figure(self, results: Sequence[Result]) -> Any:
        found = {name: of for (name, scaled), of in _errors(results).items() if not scaled}
        figure, axes = panels((6, 4))
        for k, (method, words) in enumerate(_WORDS.items()):
            shift = (k - (len(_WORDS) - 1) / 2) * 0.2
            places = [n + shift for n, name in enumerate(found) if method in found[name]]
            spreads = [
                measure_spread(found[name][method]) for name in found if method in found[name]
            ]
            heights, deviations = [s.center for s in spreads], [s.deviation for s in spreads]
            axes.bar(places, heights, 0.18, yerr=deviations, color=f"C{k}", label=words)
            told = [
                (n + shift, _PAPER[name][method])
                for n, name in enumerate(found)
                if method in _PAPER[name]
            ]
            axes.plot([at for at, _ in told], [height for _, height in told], "k_", ms=14)
        axes.plot([], [], "k_", ms=14, label="the paper")
        axes.set_xticks(range(len(found)), [_SETS[name] for name in found])
        axes.set(ylabel="clustering error", title=f"Clusters from {_PAIRS} constraints")
        axes.legend(fontsize="small")
        return figure


def matched_error(clusters: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> float:
    """The share of `rows` that lie outside the class matched with their cluster; numbers from 0."""
    size = 1 + max(int(clusters.max()), int(labels.max()))
    table = np.zeros((size, size))
    np.add.at(table, (clusters[rows], labels[rows]), 1)
    matched = linear_sum_assignment(-table)
    return float(1 - table[matched].sum() / len(rows))


def _pairs(y: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> Pairs:
    i, j = draw_pairs(len(rows), _PAIRS, rng)
    table = np.stack([rows[i], rows[j]], axis=1)
    alike = y[table[:, 0]] == y[table[:, 1]]
    return Pairs(table[alike], table[~alike], n_points=len(y))


def _clusters(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    count = int(y.max()) + 1
    return np.asarray(KMeans(count, n_init=_STARTS, random_state=0).fit_predict(X))


def _learned(X: np.ndarray, y: np.ndarray, pairs: Pairs, gamma: float) -> np.ndarray:
    learner = MetricLearner(C=gamma, percentiles=PERCENTILES, random_state=0)
    return _clusters(learner.fit(X, side=pairs).transform(X), y)


def _errors(results: Sequence[Result]) -> dict[tuple[str, bool], dict[str, list[float]]]:
    """By set, and whether it was standardized: the errors of each method that has one on every split."""
    found: dict[tuple[str, bool], dict[str, list[float]]] = {}
    for key in dict.fromkeys((r.parameters["set"], r.parameters["scaled"]) for r in results):
        draws = [
            r.value["errors"]
            for r in results
            if (r.parameters["set"], r.parameters["scaled"]) == key
        ]
        found[key] = {
            method: [draw[method] for draw in draws]
            for method in _WORDS
            if all(method in draw for draw in draws)
        }
    return found


def _claims(
    name: str,
    found: dict[str, list[float]],
    scaled: dict[str, list[float]],
    results: Sequence[Result],
) -> list[Claim]:
    words, told = _SETS[name], _PAPER[name]
    of_set = [r for r in results if r.parameters["set"] == name and not r.parameters["scaled"]]
    given = [g for r in of_set for g in r.value["gammas"]]
    chosen = f"The gamma chosen is {min(given):g} to {max(given):g}."
    tried = {way: f"{mean(scaled[way]):.3f}" if way in scaled else "none" for way in found}
    return [
        _near(
            f"{words}: error of k-means without constraints",
            told["plain"],
            found["plain"],
            f"With standardized features it is {tried['plain']}; of k-means the best of {_STARTS} starts is "
            "taken. The paper says nothing of either, and Digits-389 is another draw.",
        ),
        _near(
            f"{words}: error with {_PAIRS} constraints, LogDet Linear",
            told["logdet"],
            found["logdet"],
            f"{chosen} With gamma = {_FIXED:g} it is {measure_spread(found['fixed']):.3f}, and with "
            f"standardized features {tried['logdet']}. The paper does not say how gamma is validated where "
            "classes are not given.",
        ),
        _less(
            f"{words}: constraints lessen the error",
            f"from {told['plain']:.3f} to {told['logdet']:.3f}",
            found["logdet"],
            found["plain"],
            chosen,
        ),
        _rival(name, found, chosen, {r.value["reason"] for r in of_set} - {""}),
    ]


def _near(words: str, told: float, draws: Sequence[float], reason: str) -> Claim:
    away = measure_spread([error - told for error in draws])
    return Claim(
        words=words,
        paper=f"{told:.3f}",
        ours=format(measure_spread(draws), ".3f"),
        criterion="the paper's is within the 95 % interval of the splits",
        agrees=not (away.is_above_zero or away.is_below_zero),
        reason=reason,
    )


def _less(
    words: str,
    paper: str,
    ours: Sequence[float],
    others: Sequence[float],
    reason: str,
    stand_in: str = "",
) -> Claim:
    below = compare_pairwise(others, ours)
    return Claim(
        words=words,
        paper=paper,
        ours=f"{mean(ours):.3f} against {mean(others):.3f}, by {below.interval:.3f} less",
        criterion="the 95 % interval of the difference, split by split, is above zero",
        agrees=below.is_above_zero,
        reason=reason,
        stand_in=stand_in,
    )


def _rival(name: str, found: dict[str, list[float]], chosen: str, reasons: set[str]) -> Claim:
    words = f"{_SETS[name]}: LogDet Linear errs less than HMRF-KMeans"
    paper = f"{_PAPER[name]['logdet']:.3f} against {_PAPER[name]['rival']:.3f}"
    if "rival" not in found:
        return Claim(words, paper, "none", "", None, "; ".join(sorted(reasons)))
    fixed = f"{chosen} With gamma = {_FIXED:g} it is {measure_spread(found['fixed']):.3f}."
    stand_in = "MPCK-means instead of HMRF-KMeans"
    return _less(words, paper, found["logdet"], found["rival"], fixed, stand_in)


EXPERIMENT = MetricClusters()
