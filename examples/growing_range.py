"""A prior whose range may grow: X0 + eps N, N the projector on the null space of X0.

Six points on a plane are to become six points at right angles, for which a plane has no room. LogDet never
leaves the range of its prior, so it proves that there is no answer; from a prior that was let grow there is
one.
"""

import numpy as np
from gramlearn.constraints import Similarities
from gramlearn.losses import Hard

from gramlearn import LogDet, Problem, Term, solve
from gramlearn.methods import full_rank_prior

points = np.random.default_rng(0).standard_normal((6, 2))
i, j = np.triu_indices(6, 1)
terms = [Term(Similarities(i, j), Hard(equal=0.0))]

before = solve(Problem(LogDet(), points, terms))
print(f"within the plane: {before.status.name}, {before.status.value}")

for eps in (1e-1, 1e-2, 1e-3):
    solution = solve(Problem(LogDet(), full_rank_prior(points, eps), terms))
    lengths = np.sqrt(np.diag(solution.matrix))
    print(f"eps {eps:g}: lengths from {lengths.min():.3f} to {lengths.max():.3f}")
print(solution)
