"""Unfolding with a divergence: the centered kernel nearest to a linear one that keeps neighbors' distances.

Points on a spiral. Neighbors along it keep their distances exactly; all others are free, and the prior, the
linear kernel plus eps I, lets the spiral leave its plane.
"""

import numpy as np

from gramlearn import solve
from gramlearn.methods import unfolding_problem

angle = np.linspace(0.5, 9.0, 30)
points = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
neighbors = np.column_stack([np.arange(29), np.arange(1, 30)])

print("   eps   largest error of a neighbor's distance   share of the variance in the plane")
for eps in (0.01, 0.1, 1.0):
    solution = solve(unfolding_problem(points, neighbors, eps=eps))
    F = solution.factor
    kept = np.linalg.norm(F[1:] - F[:-1], axis=1) / np.linalg.norm(points[1:] - points[:-1], axis=1)
    share = np.linalg.svd(F, compute_uv=False) ** 2
    print(f"{eps:6g}   {np.abs(kept - 1).max():38.1e}   {share[:2].sum() / share.sum():34.0%}")
print(solution)
