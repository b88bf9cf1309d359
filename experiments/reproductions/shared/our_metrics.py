"""The metrics of gramlearn and two that nothing is learned for, with the values to choose from.

Each fit gives coordinates whose plain distances are those of the metric. gamma is per unit of the mean squared
distance, so that the same few values do for all regularizers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gramlearn as gl
from experiments.reproductions.shared.choosing import Candidates, Embedding

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
    learner = gl.MetricLearner(regularizer, C=gamma, tol=_TOL, random_state=seed)
    return _linear(learner.fit(X / unit, y).components_.T / unit)


def _kernel(gamma: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    learner = gl.KernelLearner("rbf", C=gamma, tol=_TOL, random_state=seed).fit(X, y)
    return lambda points: np.asarray(learner.transform(points))


def _large_margin(gamma: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    problem = gl.methods.large_margin_problem(X, y, n_impostors=10, logdet_price=gamma)
    return _linear(gl.solve(problem, tol=_TOL).factor)


def _collapsing(C: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    problem = gl.methods.collapsing_classes_problem(X / _unit(X), y, C=C, random_state=seed)
    return _linear(gl.solve(problem, tol=_TOL).factor)


def _designed(gamma1: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    # Without the identity, which puts every point at the same distance from all others and more.
    designer = gl.KernelDesigner(
        weak=True, identity=False, sparsity=gamma1, n_triplets=1000, tol=_TOL, random_state=seed
    ).fit(X, y)
    return lambda points: np.asarray(designer.transform(points))


def _online(rate: float, X: np.ndarray, y: np.ndarray, seed: int) -> Embedding:
    """One pass over as many pairs as MetricLearner has, in random order."""
    pairs = gl.Pairs.from_labels(y, 40 * len(np.unique(y)) ** 2, random_state=seed)
    tables = np.asarray(pairs.similar), np.asarray(pairs.dissimilar)
    bounds = gl.side_information.percentile_bounds(X, random_state=seed)
    targets = np.repeat(bounds, [len(table) for table in tables])
    order = np.random.default_rng(seed).permutation(len(targets))
    learner = gl.OnlineMetricLearner(eta=rate / max(bounds) ** 2)
    learner.fit(X[np.concatenate(tables)[order]], targets[order])
    return lambda points: np.asarray(learner.transform(points))


def _with(name: str, fit: Callable[..., Any], values: tuple[float, ...]) -> Candidates:
    return {f"{name} = {value:g}": partial(fit, value) for value in values}


OURS: dict[str, Candidates] = {
    "Euclidean": {"": _euclidean},
    "inverse covariance": {"": _inverse_covariance},
    "MetricLearner, LogDet": _with("gamma", partial(_metric, "logdet"), _GAMMAS),
    "MetricLearner, von Neumann": _with("gamma", partial(_metric, "von_neumann"), _GAMMAS),
    "MetricLearner, Frobenius": _with("gamma", partial(_metric, "frobenius"), _GAMMAS),
    "KernelLearner, rbf": _with("gamma", _kernel, _GAMMAS),
    "KernelDesigner, weak kernels": _with("gamma1", _designed, (1.0, 10.0)),
    "OnlineMetricLearner": _with("rate", _online, (0.1, 1.0)),
    "large_margin_problem": _with("gamma", _large_margin, (0.1, 1.0)),
    "collapsing_classes_problem": _with("C", _collapsing, (1.0, 10.0)),
}
