"""The metrics of gramlearn and two that nothing is learned for, with the values to choose from.

Each fit gives coordinates whose plain distances are those of the metric. gamma is per unit of the mean squared
distance, so that the same few values do for all regularizers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from experiments.reproductions._choosing import Candidates, Embedding
from gramlearn import (
    KernelLearner,
    MetricLearner,
    collapsing_classes_problem,
    large_margin_problem,
    solve,
)

__all__ = ["OURS"]

_GAMMAS = (0.03, 0.3)
_TOL = 1e-3


def _unit(X: np.ndarray) -> float:
    """The root of the mean squared distance of two points."""
    return float(np.sqrt(2 * X.var(axis=0).sum()))


def _euclidean(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    return lambda points: points


def _inverse_covariance(X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    s, V = np.linalg.eigh(np.cov(X, rowvar=False))
    kept = s > 1e-10 * s[-1]
    return _linear(V[:, kept] / np.sqrt(s[kept]))


def _linear(root: np.ndarray) -> Embedding:
    return lambda points: np.asarray(points @ root)


def _metric(regularizer: str, gamma: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    unit = _unit(X)
    learner = MetricLearner(regularizer, gamma=gamma, tol=_TOL, random_state=seed)
    return _linear(learner.fit(X / unit, y).components_.T / unit)


def _kernel(gamma: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    learner = KernelLearner("rbf", gamma=gamma, tol=_TOL, random_state=seed).fit(X, y)
    return lambda points: np.asarray(learner.transform(points))


def _large_margin(gamma: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    problem = large_margin_problem(X, y, n_impostors=10, gamma=gamma)
    return _linear(solve(problem, tol=_TOL).factor)


def _collapsing(C: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    problem = collapsing_classes_problem(X / _unit(X), y, C=C, random_state=seed)
    return _linear(solve(problem, tol=_TOL).factor)


def _with(name: str, fit: Callable[..., Any], values: tuple[float, ...]) -> Candidates:
    return {f"{name} = {value:g}": partial(fit, value) for value in values}


OURS: dict[str, Candidates] = {
    "Euclidean": {"": _euclidean},
    "inverse covariance": {"": _inverse_covariance},
    "MetricLearner, LogDet": _with("gamma", partial(_metric, "logdet"), _GAMMAS),
    "MetricLearner, von Neumann": _with("gamma", partial(_metric, "von_neumann"), _GAMMAS),
    "MetricLearner, Frobenius": _with("gamma", partial(_metric, "frobenius"), _GAMMAS),
    "KernelLearner, rbf": _with("gamma", _kernel, _GAMMAS),
    "large_margin_problem": _with("gamma", _large_margin, (0.1, 1.0)),
    "collapsing_classes_problem": _with("C", _collapsing, (1.0, 10.0)),
}
