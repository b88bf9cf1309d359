"""A kernel that meets wishes: minimise D(K, K0) + sum of losses, stated part by part.

The prior K0 is a Gaussian kernel of twelve points on a line. It is changed as little as possible, in
von Neumann divergence, so that the two ends become similar, one pair gets an exact distance, and
a comparison holds if it is cheap. Each wish has its own loss; they combine freely.
"""

import numpy as np
from gramlearn.constraints import DistanceComparisons, Similarities, SquaredDistances
from gramlearn.losses import Hard, Hinge

from gramlearn import Problem, Term, VonNeumann, solve

x = np.linspace(0.0, 3.0, 12)
K0 = np.exp(-((x[:, None] - x[None, :]) ** 2))

terms = [
    Term(Similarities([0, 1], [11, 10]), Hard(lower=0.5)),
    Term(SquaredDistances([5], [6]), Hard(equal=0.25)),
    Term(DistanceComparisons([3], [5], [2]), Hinge(C=0.2, upper=0.0)),
]
solution = solve(Problem(VonNeumann(), K0, terms))
K = solution.matrix

print(solution)
print(f"similarity of the ends                {K0[0, 11]:.3f} -> {K[0, 11]:.3f}")
print(f"squared distance of points 5 and 6    {2 - 2 * K0[5, 6]:.3f} -> ", end="")
print(f"{K[5, 5] + K[6, 6] - 2 * K[5, 6]:.3f}")
print("prices of the wishes:")
for term, lam in zip(terms, solution.duals, strict=True):
    for k, price in enumerate(lam):
        print(f"  {term.constraints.describe(k):<52} {price:+.4f}")
