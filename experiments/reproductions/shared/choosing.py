"""One method on one split: its parameter by points held out of those learned from, then the error.

    parameter = argmin over a few of the error of k nearest neighbors, on one half, learned from the other

The same for all methods, whichever package they come from; it needs NumPy, SciPy and scikit-learn alone, for a
method may live in an environment of its own. Whatever a fit raises is its result, and so is a fit that takes
too long: of such a method no further one is tried. A value that fails on the half comes
after the others.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, final

import numpy as np
from tools.neighbor_vote import vote

from experiments.isolated import limit_seconds, try_fit

Embedding = Callable[[np.ndarray], np.ndarray]
# A fit by the words for its parameter: (points, classes, seed) -> coordinates of any points.
Candidates = Mapping[str, Callable[[np.ndarray, np.ndarray, int], Embedding]]


@final
class Task(NamedTuple):
    """Points to learn from and points to classify, and how many neighbors vote."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    k: int
    seed: int


def judge_or_explain(candidates: Candidates, task: Task, limit: float) -> dict[str, Any]:
    """What `judge` gives, or why there is nothing."""
    return try_fit(lambda: judge(candidates, task, limit))


def judge(candidates: Candidates, task: Task, limit: float) -> dict[str, Any]:
    """The error on the points to classify, the parameter, and the seconds of one fit."""
    choice = _choose(candidates, task, limit)
    began = time.process_time()
    embedding = _fitted(candidates[choice], task.X, task.y, task.seed, limit)
    seconds = time.process_time() - began
    return {"choice": choice, "error": _error(embedding, task), "seconds": seconds}


def _choose(candidates: Candidates, task: Task, limit: float) -> str:
    """The first of those with the least error on one half, learned from the other."""
    if len(candidates) == 1:
        return next(iter(candidates))
    learn, rest = split_by_class(task.y, task.seed)
    inner = task._replace(
        X=task.X[learn], y=task.y[learn], X_test=task.X[rest], y_test=task.y[rest]
    )
    errors = {}
    for words, fit in candidates.items():
        try:
            errors[words] = _error(_fitted(fit, inner.X, inner.y, task.seed, limit), inner)
        except Exception:  # on so few points; on all of them it may do better
            errors[words] = float("inf")
    return min(errors, key=lambda words: errors[words])


def split_by_class(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of the points, each with half of every class; the first has the odd ones."""
    shuffled = np.random.default_rng(seed).permutation(len(y))
    ordered = shuffled[np.argsort(y[shuffled], kind="stable")]  # class by class, shuffled in each
    place = np.arange(len(y)) - np.searchsorted(y[ordered], y[ordered])
    return ordered[place % 2 == 0], ordered[place % 2 == 1]


def _fitted(fit: Any, X: np.ndarray, y: np.ndarray, seed: int, limit: float) -> Embedding:
    with limit_seconds(limit):
        embedding: Embedding = fit(X, y, seed)
    return embedding


def _error(embedding: Embedding, task: Task) -> float:
    points, others = embedding(task.X), embedding(task.X_test)
    if not (np.isfinite(points).all() and np.isfinite(others).all()):
        raise ValueError("the learned coordinates are not finite")
    return float(np.mean(vote(points, task.y, others, task.k) != task.y_test))
