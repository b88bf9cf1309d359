"""The nine sets of F07 Table 1, their splits and comparisons, and the share of these that a similarity keeps.

0.85 of the points, drawn at random, are to learn from. Their means and deviations standardize all features.
Rows (i, j, k) with y_i = y_j != y_k are drawn from the labels (3.1), no row twice: 1500 of the points to learn
from, 1000 of the others, or all there are where that is fewer. i, either of the two with equal chance, is to be
more similar to j than to k; the paper may ask the same of j as well. Parameters are chosen by two halves of the
points to learn from, with 750 comparisons in each: what is learned from one is judged on the other, both ways.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from experiments.reproductions.shared.twelve_sets import points_and_classes
from gramlearn import Triplets

__all__ = [
    "SETS",
    "Judged",
    "Similarity",
    "Split",
    "kept",
    "ranked_by_halves",
    "split_of",
]

# In the order of Table 1: the name of the set, and of its data.
SETS = {
    "boston": "boston_housing",
    "ionosphere": "ionosphere",
    "iris": "iris",
    "wine": "wine",
    "balance": "balance_scale",
    "breast cancer": "breast_cancer_wdbc",
    "soybean": "soybean_small",
    "protein": "protein",
    "pima": "pima_diabetes",
}
_TEST = 0.15
_TRAINING_TRIPLETS, _TEST_TRIPLETS = 1500, 1000
_ROUNDING = 1e-9  # beside the larger of two values: what is nearer than that is equal

Similarity = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The similarity of row t of one array of points to row t of another."""


@final
@dataclass(frozen=True, eq=False)
class Judged:
    """Points, and comparisons of them."""

    points: np.ndarray
    triplets: Triplets

    def share_kept(self, similarity: Similarity) -> float:
        """The share of comparisons that a similarity keeps."""
        i, j, k = self.corners()
        return kept(similarity(i, j), similarity(i, k))

    def corners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points i, j and k of all comparisons."""
        i, j, k = np.asarray(self.triplets.triplets).T
        return self.points[i], self.points[j], self.points[k]


@final
@dataclass(frozen=True, eq=False)
class Split:
    """What is learned from, what judges it, and the two halves of the former."""

    training: Judged
    test: Judged
    halves: tuple[Judged, Judged]


def split_of(name: str, rng: np.random.Generator, raw: bool = False) -> Split:
    """One split of a set; `raw` leaves the features as they are."""
    X, y = points_and_classes(SETS[name])
    order = rng.permutation(len(y))
    test, training = np.split(order, [round(_TEST * len(y))])
    Z = X if raw else _standardized(X, training)

    def judged(rows: np.ndarray, count: int) -> Judged:
        return Judged(Z[rows], Triplets.from_labels(y[rows], count, random_state=rng))

    halves = np.array_split(training, 2)  # their order is random
    return Split(
        judged(training, _TRAINING_TRIPLETS),
        judged(test, _TEST_TRIPLETS),
        (judged(halves[0], _TRAINING_TRIPLETS // 2), judged(halves[1], _TRAINING_TRIPLETS // 2)),
    )


def kept(near: np.ndarray, far: np.ndarray) -> float:
    """The share of comparisons with near > far; where both are equal but for rounding, it is not kept."""
    return float(np.mean(near - far > _ROUNDING * np.maximum(np.abs(near), np.abs(far))))


def ranked_by_halves(split: Split, shares: Callable[[Judged, Judged], np.ndarray]) -> list[int]:
    """The numbers of candidates, from the one that keeps most, both ways together; of equals the first.

    `shares(learned, judge)` is the share that each candidate, learned from the one, keeps on the other.
    """
    first, second = split.halves
    found = shares(first, second) + shares(second, first)
    return [int(number) for number in np.argsort(-found, kind="stable")]


def _standardized(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """With mean zero and variance one on these rows; what does not vary there has mean zero alone."""
    deviation = X[rows].std(axis=0)
    return (X - X[rows].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
