"""How dear should a violated statement be? One path over twelve prices, judged by pairs that were held back.

Each solve begins from the answers before it, and each answer has its own certificate. The plain distance
stands beside them: a metric that does not beat it is not worth having.
"""

import numpy as np
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import SquaredHinge
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from gramlearn import LogDet, Problem, Term, solve_path

digits, labels = load_digits(return_X_y=True)
points = PCA(n_components=20).fit_transform(digits)
points /= np.sqrt(np.mean(np.sum(points**2, axis=1)))

rng = np.random.default_rng(0)
shuffled = rng.permutation(len(points))
known, held_back = shuffled[:300], shuffled[300:]


def draw_pairs(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of different rows, and whether their labels agree; about half of them do."""
    i, j = rng.choice(rows, (2, 10 * count))
    i, j = i[i != j], j[i != j]
    alike = labels[i] == labels[j]
    chosen = np.concatenate(
        [np.flatnonzero(alike)[: count // 2], np.flatnonzero(~alike)[: count // 2]]
    )
    return i[chosen], j[chosen], alike[chosen]


i, j, alike = draw_pairs(known, 3000)
near, far = np.percentile(np.sum((points[i] - points[j]) ** 2, axis=1), [5, 95])
terms = [
    Term(SquaredDistances(i[alike], j[alike], points=points), SquaredHinge(1.0, upper=near)),
    Term(SquaredDistances(i[~alike], j[~alike], points=points), SquaredHinge(1.0, lower=far)),
]
problem = Problem(LogDet(), np.eye(20), terms)

i, j, alike = draw_pairs(held_back, 5000)
differences = points[i] - points[j]


def tell_apart(matrix: np.ndarray) -> float:
    """Of a pair that is alike and one that is not, how often the first is nearer."""
    return float(roc_auc_score(~alike, np.sum((differences @ matrix) * differences, axis=1)))


prices = np.geomspace(1e-4, 10.0, 12)
best_score = 0.0
print(f"plain distance              {tell_apart(np.eye(20)):.4f}")
for price, solution in zip(prices, solve_path(problem, prices), strict=True):
    score = tell_apart(solution.matrix)
    print(f"price {price:8.2g}  {solution.iterations:3d} steps   {score:.4f}")
    if score > best_score:
        best_score, best_price, best = score, price, solution
print(f"best at price {best_price:.2g}: {best}")
