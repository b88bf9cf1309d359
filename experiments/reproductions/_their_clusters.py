"""Clusters from pairs by active-semi-supervised-clustering, asked in an environment of its own.

COP-KMeans keeps all pairs, PCK-means pays for those it breaks, and MPCK-means learns a metric besides: one
diagonal metric, or with "per cluster" one for each. Parameters are the package's defaults.
"""

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
THEIRS = {
    "COP-KMeans": "COPKMeans",
    "PCK-means": "PCKMeans",
    "MPCK-means": "MPCKMeans",
    "MPCK-means, per cluster": "MPCKMeansMF",
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
    learner = getattr(pairwise_constraints, THEIRS[name])(n_clusters=n_clusters)
    with ended_after(limit):
        learner.fit(X, **links)
    return {"clusters": np.asarray(learner.labels_)}
