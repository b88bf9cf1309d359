"""Clusters from pairs by active-semi-supervised-clustering, asked in an environment of its own.

COP-KMeans keeps all pairs, PCK-means pays for those it breaks, and MPCK-means learns a diagonal metric
besides. Parameters are the package's defaults. COP-KMeans begins at random and may come to an end that it
cannot go on from: it is given several starts, of which the one with the nearest centers is taken.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.elsewhere import Package
from experiments.limits import ended_after
from experiments.reproductions._their_metrics import METRIC_LEARN

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

    with ended_after(limit):
        if name != "COP-KMeans":
            return {"clusters": clustered()}
        return {"clusters": min(_answers(clustered), key=lambda clusters: _spread(X, clusters))}


def _answers(clustered: Callable[[], np.ndarray]) -> list[np.ndarray]:
    """Of those starts that have one; where none has, what the last raised."""
    found = []
    for start in range(_STARTS):
        try:
            found.append(clustered())
        except Exception:
            if start == _STARTS - 1 and not found:
                raise
    return found


def _spread(X: np.ndarray, clusters: np.ndarray) -> float:
    """The sum of squared distances to the centers."""
    rows = [X[clusters == k] for k in np.unique(clusters)]
    return float(sum(np.sum((points - points.mean(axis=0)) ** 2) for points in rows))
