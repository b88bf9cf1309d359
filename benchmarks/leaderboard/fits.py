"""Fits at their defaults: (points, classes, seed) -> coordinates of any points, by gramlearn and by others.

Those of metric-learn run in environments of their own, for which this file needs NumPy and scikit-learn alone
beside it. RCA gets as many chunks as there are points for, where its default asks for more.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from experiments.isolated import limit_seconds

Embedding = Callable[[np.ndarray], np.ndarray]
_CHUNKS = 100  # metric-learn's default
_PAIRS = 40  # times the squared number of classes: what labels were drawn as by default before

METRIC_LEARN = {
    "metric-learn LMNN": "LMNN",
    "metric-learn ITML": "ITML_Supervised",
    "metric-learn NCA": "NCA",
    "metric-learn LFDA": "LFDA",
    "metric-learn RCA": "RCA_Supervised",
}
METRIC_LEARN_SDML = {"metric-learn SDML": "SDML_Supervised"}


def _as_it_is(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    del X, y, seed
    return lambda points: points


def _nca(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    learner = NeighborhoodComponentsAnalysis(random_state=seed).fit(X, y)
    return lambda points: np.asarray(learner.transform(points))


def _lda(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    del seed
    learner = LinearDiscriminantAnalysis().fit(X, y)
    return lambda points: np.asarray(learner.transform(points))


def _ours(X: np.ndarray, y: np.ndarray, seed: int, **given: Any) -> Embedding:
    from gramlearn import MetricLearner

    learner = MetricLearner(random_state=seed, **given).fit(X, y)
    return lambda points: np.asarray(learner.transform(points))


def _from_random_pairs(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    return _ours(X, y, seed, n_pairs=_PAIRS * len(np.unique(y)) ** 2)


def _of_all_columns(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    return _ours(X, y, seed, n_components=min(X.shape))


PLAIN = "standardized"
RAW = "as it is"
OURS = "gramlearn"
HERE: Mapping[str, Callable[[np.ndarray, np.ndarray, int], Embedding]] = {
    RAW: _as_it_is,
    PLAIN: _as_it_is,
    "scikit-learn NCA": _nca,
    "scikit-learn LDA": _lda,
}
DEFAULT: Mapping[str, Callable[[np.ndarray, np.ndarray, int], Embedding]] = {OURS: _ours}
# gramlearn's default, with one part of it switched off.
SWITCHED_OFF: Mapping[str, Callable[[np.ndarray, np.ndarray, int], Embedding]] = {
    "without any choice (C=1)": partial(_ours, C=1.0),
    "without near statements": _from_random_pairs,
    "without priors": partial(_ours, prior="identity"),
    "without fewer columns": _of_all_columns,
}


def learn_elsewhere(
    limit: float, name: str, X: np.ndarray, y: np.ndarray, seed: int
) -> dict[str, Any]:
    """L with coordinates X L', of a class of metric-learn, and the seconds it took."""
    import metric_learn

    options: dict[str, Any] = {} if name == "LFDA" else {"random_state": seed}
    if name == "RCA_Supervised":
        sizes = np.unique(y, return_counts=True)[1]
        options["n_chunks"] = min(_CHUNKS, int(np.sum(sizes // 2)))
    learner = getattr(metric_learn, name)(**options)
    began = time.process_time()
    with limit_seconds(limit):
        learner.fit(X, y)
    return answer_of(np.asarray(learner.components_), began)


def answer_of(L: np.ndarray, began: float) -> dict[str, Any]:
    """L, and the seconds of the processor since then."""
    if not np.isfinite(L).all():
        raise ValueError("its answer is not finite")
    return {"L": L, "seconds": time.process_time() - began}
