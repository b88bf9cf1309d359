"""Who finds the classes from a few links: clusters of the nine sets of Z11 from 20, 50 and 200 of them.

Links are pairs drawn at random among one half of the points, must-links where both are of one class. All
points are clustered, into as many clusters as there are classes; clusters are compared with the classes over
the other half, of which no link speaks, and over all points. A method may have no answer: COP-KMeans comes to
ends that it cannot go on from.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from experiments.experiment import Part, Result
from experiments.isolated import limit_seconds, try_fit
from experiments.reproductions.shared.by_set import BySet, picture
from experiments.reproductions.shared.pairs import draw_pairs
from experiments.reproductions.shared.rivals import cluster_elsewhere

from benchmarks.leaderboard.board import Board
from benchmarks.leaderboard.sets import SETS, load_set
from benchmarks.leaderboard.standing import join_groups, list_gains, list_standing
from gramlearn import ConstrainedKMeans, MetricLearner, NonparametricKernel, Pairs
from gramlearn.evaluation import pair_accuracy

PLAIN = "k-means"
SCORES = ("ARI, no link", "ARI, all", "accuracy, no link", "accuracy, all")
_COUNTS = (20, 50, 200)
_STARTS = 10
_LIMIT = 30.0  # seconds of the processor for one method
_SHADES = (
    50.0  # points of the adjusted Rand index, beyond which the color of the picture stays the same
)
# Raised when the methods of a group change, so that those of the other need not be run again.
_VERSIONS = {"here": 5, "elsewhere": 1}


@final
@dataclass(frozen=True, eq=False)
class Linked:
    """Standardized points with links, and the classes to find."""

    X: np.ndarray
    y: np.ndarray
    side: Pairs
    is_free: np.ndarray  # the half that no link is about
    seed: int

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.y))

    def judge(self, clusters: Any) -> dict[str, float]:
        """The `SCORES`."""
        from sklearn.metrics import adjusted_rand_score

        rows = {"no link": self.is_free, "all": np.ones(len(self.y), dtype=bool)}
        return {
            f"{name}, {which}": float(score(self.y[some], np.asarray(clusters)[some]))
            for name, score in (("ARI", adjusted_rand_score), ("accuracy", pair_accuracy))
            for which, some in rows.items()
        }


def load_linked(name: str, count: int, draw: int) -> Linked:
    """A set with so many links; those of a smaller number are among those of a larger one."""
    X, y = load_set(name)
    deviation = X.std(axis=0)
    rng = np.random.default_rng(draw)
    linked = rng.permutation(len(y))[: len(y) // 2]
    every = len(linked) * (len(linked) - 1) // 2
    pairs = np.stack(draw_pairs(len(linked), every, rng), axis=1)[:count]
    table = linked[pairs]
    alike = y[table[:, 0]] == y[table[:, 1]]
    is_free = np.ones(len(y), dtype=bool)
    is_free[linked] = False
    points = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    side = Pairs(table[alike], table[~alike], n_points=len(y))
    return Linked(points, y, side, is_free, draw)


def _kmeans(task: Linked) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(task.n_clusters, n_init=_STARTS, random_state=task.seed).fit_predict(task.X)


def _constrained(task: Linked) -> Any:
    return _cluster_linked(task.X, task)


def _metric(task: Linked) -> Any:
    learner = MetricLearner(random_state=task.seed).fit(task.X, side=task.side)
    return _cluster_linked(learner.transform(task.X), task)


def _kernel(task: Linked) -> Any:
    kernel = NonparametricKernel(n_clusters=task.n_clusters, random_state=task.seed)
    return kernel.fit_predict(task.X, side=task.side)


def _cluster_linked(points: np.ndarray, task: Linked) -> Any:
    clusters = ConstrainedKMeans(task.n_clusters, random_state=task.seed)
    return clusters.fit(points, side=task.side).labels_


_HERE: Mapping[str, Callable[[Linked], Any]] = {
    PLAIN: _kmeans,
    "gramlearn ConstrainedKMeans": _constrained,
    "gramlearn MetricLearner, ConstrainedKMeans": _metric,
    "gramlearn NonparametricKernel": _kernel,
}


@final
class Clusters(Board):
    """The board: a part is one group of methods on one draw of a set, with each number of links."""

    claim: str = (
        "adjusted Rand index and accuracy of pairs, %, of clusters found from a few links. Of two gains in a "
        "cell the first is over points that no link is about, the other over all"
    )
    version: int = 1
    titles = {  # noqa: RUF012
        name: SETS[name]
        for name in (
            "chessboard", "glass", "heart_statlog", "iris", "protein", "sonar", "soybean_small",
            "double_spiral", "wine",
        )
    }  # fmt: skip
    n_draws = 10
    quick_set = "iris"

    def source_of(self, name: str) -> str | None:
        return name

    def parts(self, quick: bool) -> list[Part]:
        """Draw by draw, so that what an interrupted run has found is of all sets."""
        counts, groups = (_COUNTS[:2], ["here"]) if quick else (_COUNTS, list(_VERSIONS))
        return [
            self._part(group, name, draw, counts)
            for draw in self.draws
            for name in self.sets
            for group in groups
        ]

    def _part(self, group: str, name: str, draw: int, counts: Sequence[int]) -> Part:
        what = {"set": name, "draw": draw, "group": group, "version": _VERSIONS[group]}
        id = f"{name}-{group}-r{draw}"
        return Part.of_draws(id, (Part(f"{id}-{c}", {**what, "count": c}) for c in counts))

    def compute(self, part: Part) -> dict[str, Any]:
        asked = [draw.parameters for draw in part.draws]
        tasks = [load_linked(of["set"], of["count"], of["draw"]) for of in asked]
        if asked[0]["group"] == "here":
            return {"draws": [judge_here(task) for task in tasks]}
        return {"draws": judge_elsewhere(tasks)}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        boards = {score: scores_of(results, score) for score in SCORES}
        asked = {_name(result.parameters): result.parameters for result in results}
        rows = list_standing(
            boards, PLAIN, {name: self.titles[of["set"]] for name, of in asked.items()}
        )
        for score in ("ARI", "accuracy"):
            two = {label: boards[label] for label in SCORES if label.startswith(score)}
            each = {(self.titles[of["set"]], str(of["count"])): [n] for n, of in asked.items()}
            every = {
                ("all", str(c)): [n for n, of in asked.items() if of["count"] == c] for c in _COUNTS
            }
            families = {family: names for family, names in (every | each).items() if names}
            rows += list_gains(two, PLAIN, families, ("points", f"{score}, number of links"))
        return rows

    def figure(self, results: Sequence[Result]) -> Any:
        scores = scores_of(results, SCORES[0])
        titles = {name: name for name in scores.sets}
        label = "adjusted Rand index of points without links above that of k-means, %"
        return picture(scores, titles, PLAIN, _SHADES, ".0f", label)


def judge_here(task: Linked) -> dict[str, Any]:
    """Each of ours, and k-means."""
    return {name: try_fit(lambda n=name: _judge(n, task)) for name in _HERE}


def _judge(name: str, task: Linked) -> dict[str, Any]:
    began = time.process_time()
    with limit_seconds(_LIMIT):
        clusters = _HERE[name](task)
    return {**task.judge(clusters), "seconds": time.process_time() - began}


def judge_elsewhere(tasks: Sequence[Linked], may_make: bool = True) -> list[dict[str, Any]]:
    """The methods of another package; one that was ended is not tried on the next."""
    first = tasks[0]
    drawn = [(task.side, task.seed) for task in tasks]
    answers = cluster_elsewhere(first.X, first.n_clusters, drawn, _LIMIT, may_make)
    for task, of_task in zip(tasks, answers, strict=True):
        for answer in of_task.values():
            if answer["status"] == "done":
                answer |= task.judge(answer.pop("clusters"))
    return answers


def scores_of(results: Sequence[Result], score: str) -> BySet:
    """In percent, with the groups joined; a set is the points and the number of links."""
    return join_groups(results, score, _name, unit=100.0)


def _name(parameters: Mapping[str, Any]) -> str:
    return "{set}, {count} links".format_map(parameters)
