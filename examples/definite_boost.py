"""DefiniteBoost: the density matrix of largest entropy for which i is nearer to j than to k.

Wines are compared: a wine is nearer to one of the same grower than to one of another. X starts as I/n, so
what it becomes is learned from the comparisons alone.
"""

import numpy as np
from gramlearn.constraints import DistanceComparisons
from sklearn.datasets import load_wine

from gramlearn.methods import DefiniteBoost

points, grower = load_wine(return_X_y=True)
points = (points - points.mean(axis=0)) / points.std(axis=0)
rng = np.random.default_rng(0)
i = rng.choice(len(points), 60)
j = np.array([rng.choice(np.flatnonzero(grower == grower[a])) for a in i])
k = np.array([rng.choice(np.flatnonzero(grower != grower[a])) for a in i])
real = i != j
comparisons = DistanceComparisons(i[real], j[real], k[real], points=points)

solution = DefiniteBoost(comparisons, n=points.shape[1]).solve()

print(solution)
active = int(np.sum(solution.duals[0] > 0))
print(f"{comparisons.size} comparisons, {active} of them decide")
print(f"trace {np.trace(solution.matrix):.6f}")
x = np.clip(np.linalg.eigvalsh(solution.matrix), 1e-300, None)
print(f"entropy {-np.sum(x * np.log(x)):.3f}, of at most {np.log(len(x)):.3f}")
