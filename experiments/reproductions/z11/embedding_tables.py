"""Z11 Tables 8 and 9: nearest neighbors in two dimensions after KPCA, MVE and SPE; seconds of the processor."""

import time
import warnings
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any, final

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KNeighborsClassifier
from tools.embedding_baselines import solve_mve_as_sdp, solve_spe_as_sdp

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.intervals import listed, measure_spread, prose
from experiments.reproductions.shared import twelve_sets as _twelve_sets
from experiments.reproductions.shared.by_set import BySet
from experiments.reproductions.z11 import _embedding_claims as tables
from gramlearn import MinimumVolumeEmbedding, StructurePreservingEmbedding, datasets
from gramlearn.graphs import neighbor_graph

_GUIDE = {
    "KPCA": "kernel PCA of scikit-learn, linear",
    "MVE": "MinimumVolumeEmbedding",
    "SPE": "StructurePreservingEmbedding",
}
_POINTS = 100
_REPEATS = 20
_SDP_REPEATS = 1
_SDP_ROUNDS = 2  # of MVE by SDP
_SDP_STEPS = {
    "max_iters": 5000
}  # of SCS; at its own accuracy a program may take it all of ten minutes
_NEIGHBORS = 5
_OTHER_NEIGHBORS = (3, 5, 7)
_DIMENSIONS = (2, 3)
_SPLITS = 30
_VOTERS = (1, 3, 5, 7, 9, 11, 15)


@final
class EmbeddingTables(Experiment):
    """100 points of the two largest classes, raw features; all are embedded, then split 60/20/20."""

    paper = "Zhuang, Tsang, Hoi (2011), section 7.5.2, Tables 8 and 9"
    claim = (
        "MVE and SPE by SimpleNPKL classify as well as by a general SDP solver, about 10 to 30 and 50 to 90 "
        "times as fast, and MVE tends to be slightly better than the other methods."
    )
    title = "Minimum volume and structure preserving embeddings"
    setup = prose(f"""
        {_POINTS} points of the two largest classes, raw features, which come nearest to the paper's KPCA; all
        points are embedded, then split 60/20/20. The paper fixes C = 1 and takes B = m N, m in 0.1, 1, 2, 10.
        It does not say which m, how many neighbors, which kernel of KPCA, or how often it drew: {_REPEATS}
        times, as for its clusters, is assumed. Here there are {_NEIGHBORS} neighbors, two points being joined
        if one of them is among those of the other. MVE has C = 1, a price G/2 tr K² with G = 0.01 instead of
        B, and pieces of its graph are connected; it ends with a round that gains less than 0.1 %. SPE has p =
        2 and no slack, where the paper has C = 1. KPCA has the linear kernel. The programs are those of the
        authors, on {_SDP_REPEATS} draw, by {_SDP_STEPS["max_iters"]} steps of SCS for each program, and of
        MVE the first {_SDP_ROUNDS} rounds, so their accuracies say little. Seconds are of the processor, in
        one thread; the paper's are of a 32bit Windows PC with 3.4GHz CPU. Spiral is a stand-in, and
        australian is not among the data. One draw of the spiral is embedded in
        {listed(map(str, _DIMENSIONS))} dimensions, with {listed(map(str, _OTHER_NEIGHBORS))} neighbors, and
        split {_SPLITS} times.
        """)
    timed = True
    version = 3
    data = tables.SETS
    guide = f"accuracy of neighbors in maps of {_POINTS} points, two classes, %; more is better"

    def parts(self, quick: bool) -> list[Part]:
        names = ("wine",) if quick else tables.SETS
        ours = [
            Part(f"{name}-r{repeat:02}", {"data": name, "repeat": repeat, "by": "ours"})
            for repeat in range(2 if quick else _REPEATS)
            for name in names
        ]
        programs = [
            Part(f"{name}-sdp-r{repeat:02}", {"data": name, "repeat": repeat, "by": "sdp"})
            for repeat in range(0 if quick else _SDP_REPEATS)
            for name in names
        ]
        # Why the spiral fares badly: more dimensions, other numbers of neighbors.
        wider = [
            Part(f"spiral-k{k}", {"data": "double_spiral", "by": "dimensions", "neighbors": k})
            for k in (() if quick else _OTHER_NEIGHBORS)
        ]
        return ours + programs + wider

    def compute(self, part: Part) -> dict[str, Any]:
        rng = part.generator()
        X, y = _draw(part.parameters["data"], rng)
        if part.parameters["by"] == "dimensions":
            return _in_dimensions(X, y, part.parameters["neighbors"], rng)
        order = rng.permutation(len(X))
        methods = _methods(X) if part.parameters["by"] == "ours" else _programs(X)
        out: dict[str, Any] = {}
        for name, embed in methods.items():
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # SCS, of its accuracy
                points = embed()
            taken = time.process_time() - began
            out[name] = {"accuracy": _accuracy(points, y, order), "seconds": taken}
        return out

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for name, draws in tables.by_set(results).items():
            row = {"data": name}
            for column in tables.COLUMNS:
                words = f"{_mean(tables.percents(draws, column), 1)} ({tables.told(name, column).center})"
                row[f"{column}, % (paper)"] = words
            for column in tables.COLUMNS[1:]:
                words = f"{_mean(tables.seconds(draws, column), 2)} ({tables.told_seconds(name, column)})"
                row[f"{column}, s (paper)"] = words
            rows.append(row)
        return rows

    def guide_rows(self, results: Sequence[Result]) -> list[dict[str, str]]:
        return accuracies_by_set(results).rows("accuracy", _twelve_sets.SETS, ".1f")

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return tables.claims_of(tables.by_set(results), _SDP_STEPS["max_iters"])

    def figure(self, results: Sequence[Result]) -> Any:
        figure, axes = panels((9, 4))
        sets = tables.by_set(results)
        for at, column in enumerate(tables.COLUMNS):
            for k, (name, draws) in enumerate(sets.items()):
                found = tables.percents(draws, column)
                if found:
                    center, deviation = measure_spread(found)
                    axes.bar(k + 0.15 * (at - 2), center, 0.14, **_style(column))
                    if len(found) > 1:
                        style = {"color": "0.4", "elinewidth": 0.8}
                        axes.errorbar(k + 0.15 * (at - 2), center, deviation, **style)
                axes.plot(k + 0.15 * (at - 2), tables.told(name, column).center, "k_", markersize=9)
        axes.set_xticks(range(len(sets)), list(sets), rotation=20)
        axes.set_ylim(0, 105)
        axes.set_ylabel("accuracy in two dimensions, %")
        for column in tables.COLUMNS:
            words = f"{column}, one draw" if column.endswith("SDP") else column
            axes.bar(0, 0, label=words, **_style(column))
        axes.plot([], [], "k_", markersize=9, label="the paper")
        figure.legend(ncols=6, loc="outside upper center", fontsize="small")
        return figure


def accuracies_by_set(results: Sequence[Result]) -> BySet:
    """Of our draws on sets that others have, too, by the names of the guide."""
    answers = [
        Result(
            {"set": result.parameters["data"]},
            {words: {"status": "done", **result.value[name]} for name, words in _GUIDE.items()},
        )
        for result in results
        if result.parameters["by"] == "ours" and result.parameters["data"] in _twelve_sets.SETS
    ]
    return BySet.of(answers, "accuracy", unit=100.0)


def _style(column: str) -> dict[str, Any]:
    """A color for each method; what was cut short on one draw is hatched."""
    color = f"C{('KPCA', 'MVE', 'SPE').index(column.removesuffix(' by SDP'))}"
    if column.endswith("SDP"):
        return {"facecolor": "white", "edgecolor": color, "hatch": "////", "linewidth": 0.8}
    return {"color": color}


def _mean(found: list[float], digits: int) -> str:
    if not found:
        return "-"
    center, deviation = measure_spread(found)
    spread = f" ± {deviation:.{digits}f}" if len(found) > 1 else ""
    return f"{center:.{digits}f}{spread}"


def _draw(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """100 points of the two largest classes."""
    data = datasets.load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    classes, sizes = np.unique(y, return_counts=True)
    two = classes[np.argsort(-sizes, kind="stable")[:2]]
    rows = rng.permutation(np.flatnonzero(np.isin(y, two)))[:_POINTS]
    return X[rows], y[rows]


def _methods(X: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    return {
        "KPCA": lambda: KernelPCA(2).fit_transform(X),
        "MVE": lambda: _volume().fit_transform(X),
        "SPE": lambda: StructurePreservingEmbedding(n_neighbors=_NEIGHBORS).fit_transform(X),
    }


def _volume(n_neighbors: int = _NEIGHBORS, dimensions: int = 2) -> MinimumVolumeEmbedding:
    return MinimumVolumeEmbedding(dimensions, n_neighbors=n_neighbors, connect=True)


def _in_dimensions(
    X: np.ndarray, y: np.ndarray, n_neighbors: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Accuracies in two and three dimensions, over many splits; the share of edges between classes."""
    orders = [rng.permutation(len(X)) for _ in range(_SPLITS)]
    graph = neighbor_graph(X, n_neighbors, join="either").tocoo()
    out: dict[str, Any] = {"between": float(np.mean(y[graph.row] != y[graph.col]))}
    for dimensions in _DIMENSIONS:
        for name, model in (
            ("MVE", _volume(n_neighbors, dimensions)),
            ("SPE", StructurePreservingEmbedding(dimensions, n_neighbors=n_neighbors)),
        ):
            points = model.fit_transform(X)
            found = [_accuracy(points, y, order) for order in orders]
            out[f"{name} in {dimensions}"] = mean(found)
    return {**out, "neighbors": n_neighbors}


def _programs(X: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    def volume() -> np.ndarray:
        distances, _ = _volume()._distances(X)
        V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, :2]
        return _leading(solve_mve_as_sdp(distances, V, "SCS", 1e-3, _SDP_ROUNDS, **_SDP_STEPS).K)

    def structure() -> np.ndarray:
        graph = StructurePreservingEmbedding(n_neighbors=_NEIGHBORS)._neighbors(X).toarray() > 0
        return _leading(solve_spe_as_sdp(graph, "SCS", is_trace=True, **_SDP_STEPS).K)

    return {"MVE by SDP": volume, "SPE by SDP": structure}


def _leading(K: np.ndarray) -> np.ndarray:
    s, V = np.linalg.eigh(K)
    return V[:, -2:] * np.sqrt(np.clip(s[-2:], 0.0, None))


def _accuracy(points: np.ndarray, y: np.ndarray, order: np.ndarray) -> float:
    """Of nearest neighbors on the last fifth, with as many of them as do best on the fourth."""
    train, check, test = np.split(order, [len(order) * 3 // 5, len(order) * 4 // 5])
    fits = [KNeighborsClassifier(k).fit(points[train], y[train]) for k in _VOTERS]
    best = max(fits, key=lambda fit: fit.score(points[check], y[check]))
    return float(best.score(points[test], y[test]))


EXPERIMENT = EmbeddingTables()
