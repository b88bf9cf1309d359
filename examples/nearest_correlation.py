"""The nearest correlation matrix: minimise |X - C|_F^2 / 2 over PSD X with X_ii = 1, then others like it.

C need not be positive semidefinite, as when correlations were estimated pair by pair. The matrix is the
example of Higham (2002).
"""

import numpy as np

from gramlearn import nearest_correlation

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

# The default: near in the LogDet divergence, for a C that is positive definite. Its inverse changes on the
# diagonal alone.
S = np.cov(np.random.default_rng(0).standard_normal((3, 50)))
print(nearest_correlation(S).round(4))
