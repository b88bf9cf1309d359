"""Metrics and clusters of other packages, each asked in an environment of its own, with the package's defaults.

metric-learn needs a scikit-learn older than gramlearn's; pyDML, the one package with MCML that was found,
comes as sources and needs a NumPy that Python 3.12 does not have. Parameters to choose from are given, and the
chunks of RCA where there are not as many points. Of active-semi-supervised-clustering, COP-KMeans keeps all
pairs, PCK-means pays for those it breaks, and MPCK-means learns a diagonal metric besides. COP-KMeans begins at
random and may come to an end that it cannot go on from: of several starts, the nearest centers count.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from tools import environments

from experiments.isolated import Package, TooLongError, call_isolated, limit_seconds
from experiments.reproductions.shared.choosing import Candidates, Embedding, Task, judge

METRIC_LEARN = Package("metric_learn", environments.METRIC_LEARN)
PYDML = Package(
    "dml",
    ("numpy==1.23.5", "scipy==1.10.1", "scikit-learn==1.2.2", "pandas==2.0.3", "seaborn==0.12.2",
     "Cython==0.29.37", "setuptools==65.5.0", "wheel", "six"),
    sources=("pyDML==0.1.0",),
)  # fmt: skip
_CHUNKS = 100  # metric-learn's default


def learn_mmc(
    limit: float, X: np.ndarray, alike: np.ndarray, unlike: np.ndarray, diagonal: bool
) -> dict[str, Any]:
    """MMC from pairs: W, whether it converged, and whether W is the identity it began with."""
    from metric_learn import MMC

    pairs, kinds = np.concatenate([alike, unlike]), np.repeat([1, -1], [len(alike), len(unlike)])
    learner = MMC(diagonal=diagonal, preprocessor=X, random_state=0)
    with limit_seconds(limit):
        learner.fit(pairs, kinds)
    W = _finite(learner.get_mahalanobis_matrix())
    return {
        "W": W,
        # The diagonal variant does not say.
        "converged": bool(getattr(learner, "converged_", True)),
        "is_start": bool(np.allclose(W, np.eye(len(W)))),
    }


def learn_metric(limit: float, name: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """W of the metric of this name, learned from classes."""
    with limit_seconds(limit):
        return {"W": _finite(_learned(name, {}, X, y, 0))}


def judge_named(limit: float, name: str, **task: Any) -> Mapping[str, Any]:
    """The error of one of `METRICS`, with the best of its parameters."""
    return judge(METRICS[name][1], Task(**task), limit)


def judge_all(
    tasks: Sequence[Task], limit: float, may_make: bool
) -> list[dict[str, dict[str, Any]]]:
    """For each task, what came of each of `METRICS`; one that was ended is not tried on the next."""
    found: list[dict[str, dict[str, Any]]] = [{} for _ in tasks]
    for package in (METRIC_LEARN, PYDML):
        names = [name for name, (of, _) in METRICS.items() if of is package]
        calls = [{"name": name, **task._asdict()} for task in tasks for name in names]
        kinds = [call["name"] for call in calls]
        answers = iter(call_isolated(judge_named, package, calls, limit, may_make, kinds))
        for of_task in found:
            of_task |= {name: next(answers) for name in names}
    return [{name: of_task[name] for name in METRICS} for of_task in found]


def _learned(name: str, parameters: dict[str, Any], X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    if name == "MCML":
        from dml import MCML

        # Its coordinates are complex on some sets, where rounding leaves W not quite symmetric.
        return np.asarray(MCML(**parameters).fit(X, y).metric())
    return _learner(name, parameters, X, y, seed).get_mahalanobis_matrix()


def _learner(name: str, parameters: dict[str, Any], X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    import metric_learn

    sizes = np.unique(y, return_counts=True)[1]
    if name == "RCA_Supervised":
        parameters = {**parameters, "n_chunks": min(_CHUNKS, int(np.sum(sizes // 2)))}
    if name != "LFDA":
        parameters = {**parameters, "random_state": seed}
    return getattr(metric_learn, name)(**parameters).fit(X, y)


def _finite(W: np.ndarray) -> np.ndarray:
    if not np.isfinite(W).all():
        raise ValueError("its answer is not finite")
    return W


def _fit(
    name: str, parameters: dict[str, Any], X: np.ndarray, y: np.ndarray, seed: int
) -> Embedding:
    s, V = np.linalg.eigh(_symmetric(_finite(_learned(name, parameters, X, y, seed))))
    root = V * np.sqrt(np.maximum(s, 0.0))
    return lambda points: np.asarray(points @ root)


def _symmetric(W: np.ndarray) -> np.ndarray:
    return (W + W.T) / 2


def _with(name: str, parameter: str, *values: Any) -> Candidates:
    return {f"{parameter} = {value}": partial(_fit, name, {parameter: value}) for value in values}


METRICS: dict[str, tuple[Package, Candidates]] = {
    "metric-learn ITML": (METRIC_LEARN, _with("ITML_Supervised", "gamma", 0.01, 0.1)),
    "metric-learn LMNN": (METRIC_LEARN, _with("LMNN", "regularization", 0.1, 0.5)),
    "metric-learn MMC": (METRIC_LEARN, {"": partial(_fit, "MMC_Supervised", {})}),
    "metric-learn MMC, diagonal": (METRIC_LEARN, _with("MMC_Supervised", "diagonal", True)),
    "metric-learn NCA": (METRIC_LEARN, {"": partial(_fit, "NCA", {})}),
    "metric-learn RCA": (METRIC_LEARN, {"": partial(_fit, "RCA_Supervised", {})}),
    "metric-learn LFDA": (
        METRIC_LEARN,
        _with("LFDA", "embedding_type", "weighted", "orthonormalized"),
    ),
    "pyDML MCML": (PYDML, {"": partial(_fit, "MCML", {})}),
}


CLUSTERING = Package(
    "active_semi_clustering.semi_supervised.pairwise_constraints",
    ("active-semi-supervised-clustering==0.0.1", *METRIC_LEARN.requirements),
)
_STARTS = 10
CLUSTERERS = {"COP-KMeans": "COPKMeans", "PCK-means": "PCKMeans", "MPCK-means": "MPCKMeans"}


def find_clusters(
    limit: float,
    name: str,
    X: np.ndarray,
    n_clusters: int,
    alike: np.ndarray,
    unlike: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    """The number of each point's cluster, as "clusters", by one of `CLUSTERERS`."""
    from active_semi_clustering.semi_supervised import pairwise_constraints

    np.random.seed(seed)  # noqa: NPY002  # it draws from the generator that all share
    links = {"ml": list(map(tuple, alike.tolist())), "cl": list(map(tuple, unlike.tolist()))}

    def clustered() -> np.ndarray:
        learner = getattr(pairwise_constraints, CLUSTERERS[name])(n_clusters=n_clusters)
        return np.asarray(learner.fit(X, **links).labels_)

    if name == "COP-KMeans":
        return {"clusters": min(_answers(clustered, limit / 3), key=lambda c: _spread(X, c))}
    with limit_seconds(limit):
        return {"clusters": clustered()}


def cluster_elsewhere(
    X: np.ndarray,
    n_clusters: int,
    drawn: Sequence[tuple[Any, int]],
    limit: float,
    may_make: bool = True,
) -> list[dict[str, dict[str, Any]]]:
    """Of each draw, pairs and a seed, what came of each of `CLUSTERERS`; who was ended is not tried again."""
    calls = []
    for pairs, seed in drawn:
        links = {"alike": np.asarray(pairs.similar), "unlike": np.asarray(pairs.dissimilar)}
        call = {"X": X, "n_clusters": n_clusters, **links, "seed": seed}
        calls += [{"name": name, **call} for name in CLUSTERERS]
    kinds = [call["name"] for call in calls]
    answers = iter(call_isolated(find_clusters, CLUSTERING, calls, limit, may_make, kinds))
    return [{name: next(answers) for name in CLUSTERERS} for _ in drawn]


def _answers(clustered: Callable[[], np.ndarray], limit: float) -> list[np.ndarray]:
    """Of those starts that have one in time; where none has, what the last raised."""
    found: list[np.ndarray] = []
    lost: BaseException | None = None
    try:
        with limit_seconds(limit):
            for _ in range(_STARTS):
                try:
                    found.append(clustered())
                except Exception as error:  # from some starts it cannot go on
                    lost = error
    except TooLongError as error:
        lost = error
    if not found and lost:
        raise lost
    return found


def _spread(X: np.ndarray, clusters: np.ndarray) -> float:
    """The sum of squared distances to the centers."""
    rows = [X[clusters == k] for k in np.unique(clusters)]
    return float(sum(np.sum((points - points.mean(axis=0)) ** 2) for points in rows))
