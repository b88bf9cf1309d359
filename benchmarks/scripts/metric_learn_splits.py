"""Learn from one half of a data set, classify the other half by its neighbors, and the other way round (J12 6).

The pairs are drawn from the half that is learned from, so many alike and unlike for each class, and the bounds
are percentiles of its squared distances. Its means and deviations standardize both halves.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from tools.neighbor_vote import vote

from benchmarks.instance import Instance, Spec

__all__ = ["Split", "errors", "instance_of", "splits"]


class Split(NamedTuple):
    """One direction of one split: what is learned from, and what looks for neighbors."""

    instance: Instance
    labels: np.ndarray
    others: np.ndarray
    others_labels: np.ndarray


def splits(
    name: str, repeats: int, per_class: int, percentiles: tuple[float, float], gamma: float
) -> Iterator[Split]:
    """Both directions of one split after the other, the same in every process."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import StandardScaler

    from gramlearn import Pairs
    from gramlearn.datasets import load
    from gramlearn.side_information import percentile_bounds

    data = load(name)
    X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    for repeat in range(repeats):
        halves = StratifiedKFold(2, shuffle=True, random_state=repeat).split(X, y)
        for direction, (train, test) in enumerate(halves):
            scale = StandardScaler().fit(X[train])
            points, others = scale.transform(X[train]), scale.transform(X[test])
            rng = np.random.default_rng([repeat, direction])
            pairs = Pairs.from_classes(y[train], per_class, random_state=rng)
            bounds = percentile_bounds(points, percentiles, random_state=rng)
            instance = instance_of(name, points, pairs, bounds, repeat, gamma)
            yield Split(instance, y[train], others, y[test])


def instance_of(
    name: str,
    points: np.ndarray,
    pairs: Any,
    bounds: tuple[float, float],
    seed: int,
    gamma: float,
) -> Instance:
    """Without pairs of equal points."""
    i, j, _ = pairs.near_and_far()
    equal = np.all(points[i] == points[j], axis=1)
    pairs = pairs.drop(equal) if equal.any() else pairs
    i, j, alike = pairs.near_and_far()
    spec = Spec(name, *points.shape, c=pairs.size, seed=seed, price=gamma)
    return Instance(spec, points, i, j, int(alike.sum()), *bounds)


def errors(tasks: list[Split], metrics: list[np.ndarray], k: int) -> list[float]:
    """Of k nearest neighbors, for each split the share of points that its two directions get wrong."""
    wrong, total = np.zeros(len(tasks) // 2), np.zeros(len(tasks) // 2)
    for number, (task, W) in enumerate(zip(tasks, metrics, strict=True)):
        s, V = np.linalg.eigh(W)
        root = V * np.sqrt(np.maximum(s, 0.0))
        answers = vote(task.instance.points @ root, task.labels, task.others @ root, k)
        wrong[number // 2] += np.count_nonzero(answers != task.others_labels)
        total[number // 2] += len(answers)
    return list((wrong / total).tolist())
