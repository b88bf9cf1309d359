"""Clusters from pairs by active-semi-supervised-clustering, in an environment and a process of their own.

    python -m experiments.reproductions._their_clusters FOLDER NAME LIMIT

COP-KMeans keeps all pairs, PCK-means pays for those it breaks, and MPCK-means learns a metric besides: one
diagonal metric, or with "per cluster" one for each. Parameters are the package's defaults. What it raises
is its result, and so is a fit that takes too long.
"""

import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants import metric_learn_itml

from experiments.limits import ended_after
from experiments.reproductions._elsewhere import answer, ask

__all__ = ["THEIRS", "cluster_all"]

THEIRS = {
    "COP-KMeans": "COPKMeans",
    "PCK-means": "PCKMeans",
    "MPCK-means": "MPCKMeans",
    "MPCK-means, per cluster": "MPCKMeansMF",
}
_REQUIREMENTS = (
    "active-semi-supervised-clustering==0.0.1",
    *metric_learn_itml.CONTESTANT.requirements,
)


def cluster_all(
    X: np.ndarray,
    n_clusters: int,
    alike: np.ndarray,
    unlike: np.ndarray,
    seed: int,
    limit: float,
    may_make: bool,
) -> dict[str, dict[str, Any]]:
    """What came of each method; where it is done, the number of each point's cluster as "clusters"."""
    given = {"X": X, "n_clusters": n_clusters, "alike": alike, "unlike": unlike, "seed": seed}
    return ask(THEIRS, given, _REQUIREMENTS, __name__, limit, may_make)


def _clusters(name: str, limit: float, given: Mapping[str, np.ndarray]) -> dict[str, Any]:
    from active_semi_clustering.semi_supervised import pairwise_constraints

    np.random.seed(int(given["seed"]))  # noqa: NPY002  # it draws from the generator that all share
    alike, unlike = (list(map(tuple, given[kind].tolist())) for kind in ("alike", "unlike"))
    learner = getattr(pairwise_constraints, name)(n_clusters=int(given["n_clusters"]))
    began = time.process_time()
    try:
        with warnings.catch_warnings(), ended_after(limit):
            warnings.simplefilter("ignore")
            learner.fit(given["X"], ml=alike, cl=unlike)
    except KeyboardInterrupt:
        return {"status": "ended", "reason": f"a fit took more than {limit:g} s"}
    except Exception as reason:  # whatever it raises is its result
        return {"status": "failed", "reason": f"{type(reason).__name__}: {reason}".rstrip(": ")}
    clusters = np.asarray(learner.labels_).tolist()
    return {"status": "done", "clusters": clusters, "seconds": time.process_time() - began}


if __name__ == "__main__":
    _limit = float(sys.argv[3])
    answer(
        Path(sys.argv[1]), {name: partial(_clusters, kind, _limit) for name, kind in THEIRS.items()}
    )
