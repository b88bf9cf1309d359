"""Clusters from pairs by active-semi-supervised-clustering, asked in an environment of its own.

COP-KMeans keeps all pairs, PCK-means pays for those it breaks, and MPCK-means learns a diagonal metric
besides. Parameters are the package's defaults. COP-KMeans begins at random and may come to an end that it
cannot go on from: it is given several starts, of which the one with the nearest centers is taken.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.isolated import Package, TooLongError, ended_after
from experiments.reproductions.shared.their_metrics import METRIC_LEARN

__all__ = ["CLUSTERING", "THEIRS", "clusters_of"]

CLUSTERING = Package(
    "active_semi_clustering.semi_supervised.pairwise_constraints",
    ("active-semi-supervised-clustering==0.0.1", *METRIC_LEARN.requirements),
)
_STARTS = 10
THEIRS = {
    "COP-KMeans": "COPKMeans",
    "PCK-means": "PCKMeans",
    "MPCK-means": "MPCKMeans",
}


def clusters_of(
    limit: float,
    name: str,
    X: np.ndarray,
    n_clusters: int,
    alike: np.ndarray,
    unlike: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    """The number of each point's cluster, as "clusters", by one of `THEIRS`."""
    from active_semi_clustering.semi_supervised import pairwise_constraints

    np.random.seed(seed)  # noqa: NPY002  # it draws from the generator that all share
    links = {"ml": list(map(tuple, alike.tolist())), "cl": list(map(tuple, unlike.tolist()))}

    def clustered() -> np.ndarray:
        learner = getattr(pairwise_constraints, THEIRS[name])(n_clusters=n_clusters)
        return np.asarray(learner.fit(X, **links).labels_)

    if name == "COP-KMeans":
        return {"clusters": min(_answers(clustered, limit / 3), key=lambda c: _spread(X, c))}
    with ended_after(limit):
        return {"clusters": clustered()}


def _answers(clustered: Callable[[], np.ndarray], limit: float) -> list[np.ndarray]:
    """Of those starts that have one in time; where none has, what the last raised."""
    found: list[np.ndarray] = []
    lost: BaseException | None = None
    try:
        with ended_after(limit):
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
