"""A metric from comparisons: d(i, j) + margin <= d(i, k), read "i is nearer to j than to k".

Wines are compared in threes, where i and j come from one grower and k from another. The metric is
learned from comparisons among half of the wines, and asked about comparisons among the others.
"""

import numpy as np
from gramlearn.losses import Hinge
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from gramlearn import LogDet, Problem, Triplets, solve


def compare(labels: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n triplets (i, j, k) with labels_i = labels_j and labels_i != labels_k."""
    drawn = rng.integers(len(labels), size=(20 * n, 3))
    i, j, k = drawn.T
    return drawn[(i != j) & (labels[i] == labels[j]) & (labels[i] != labels[k])][:n]


def share_right(points: np.ndarray, triplets: np.ndarray) -> float:
    """The share of triplets in which i is nearer to j than to k."""
    near, far = (points[triplets[:, 0]] - points[triplets[:, c]] for c in (1, 2))
    return float(np.mean(np.vecdot(near, near) < np.vecdot(far, far)))


rng = np.random.default_rng(0)
points, labels = load_wine(return_X_y=True)
train, test, train_labels, test_labels = train_test_split(
    points, labels, test_size=0.5, stratify=labels, random_state=0
)
scale = train.std(axis=0)
train, test = train / scale, test / scale

side = Triplets(compare(train_labels, 2000, rng), n_points=len(train), margin=10.0)
terms = side.bind(Hinge(C=0.01), points=train)
solution = solve(Problem(LogDet(), np.eye(train.shape[1]), terms))
asked = compare(test_labels, 2000, rng)

print(side)
print(solution)
print(f"answered right, standardized features  {share_right(test, asked):.1%}")
print(f"answered right, learned metric         {share_right(test @ solution.factor, asked):.1%}")
