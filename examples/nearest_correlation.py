"""The nearest correlation matrix: minimize |X - C|_F^2 / 2 over PSD X with X_ii = 1, then others like it.

C need not be positive semidefinite, as when correlations were estimated pair by pair. The matrix is the
example of Higham (2002).
"""

import numpy as np

from gramlearn import InfeasibleError, nearest_correlation

C = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])

X = nearest_correlation(C, regularizer="frobenius")
print(X.round(4))

solution = nearest_correlation(C, regularizer="frobenius", return_solution=True)
print(solution)
print(f"eigenvalues of C {np.linalg.eigvalsh(C).round(4)}")
print(f"eigenvalues of X {np.linalg.eigvalsh(X).round(4)}")
print(f"distance |X - C| = {np.sqrt(2 * solution.primal):.4f}, off by {solution.gap:.0e} at most")

# One factor behind all three: rank one, with a bound that proves it the best of that rank.
one = nearest_correlation(C, rank=1, regularizer="frobenius", return_solution=True)
print(f"of rank one: {one.status.name}, distance {np.sqrt(2 * one.primal):.4f}")

# The first two entries are as good as certain, the other pair was observed little, and nothing may be negative.
keep = np.zeros((3, 3), dtype=bool)
keep[0, 1] = True
counts = np.array([[9, 9, 9], [9, 9, 1], [9, 1, 9]])
D = np.array([[1.0, 0.9, 0.7], [0.9, 1.0, 0.3], [0.7, 0.3, 1.0]])
asked = nearest_correlation(D, weights=counts, fixed=keep, bounds=(0, None), return_solution=True)
print(asked.matrix.round(4))
print(f"one entry fixed, others weighted: off by {asked.gap:.0e} at most")

# A pair that was never observed together: NaN is filled in.
D[1, 2] = D[2, 1] = np.nan
print(f"the unknown entry: {nearest_correlation(D)[1, 2]:.2f}")

# What cannot be is named.
D[1, 2] = D[2, 1] = -0.5
try:
    nearest_correlation(D, fixed=np.ones((3, 3), dtype=bool))
except InfeasibleError as error:
    print(error)

# The default for a covariance, which is positive definite: near in the LogDet divergence. Its inverse changes
# on the diagonal alone.
S = np.cov(np.random.default_rng(0).standard_normal((3, 50)))
print(nearest_correlation(S).round(4))
