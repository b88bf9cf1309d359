"""The nearest correlation matrix: minimise |X - C|_F^2 / 2 over PSD X with X_ii = 1.

C need not be positive semidefinite, as when correlations were estimated pair by pair. Since

    |X - C|_F^2 / 2 = D(X, 0) - <C, X> + |C|_F^2 / 2        for Frobenius, D(X, 0) = |X|_F^2 / 2

C enters as a linear term beside a prior of zero. The matrix is the example of Higham (2002).
"""

import numpy as np

from gramlearn import (
    DenseMatrices,
    DiagonalEntries,
    Frobenius,
    Hard,
    Linear,
    Problem,
    Term,
    solve,
)

C = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
n = len(C)

terms = [
    Term(DiagonalEntries(range(n)), Hard(equal=1.0)),
    Term(DenseMatrices(C[None]), Linear(-1.0)),
]
solution = solve(Problem(Frobenius(), np.zeros((n, n)), terms), tol=1e-10)
X = solution.matrix

# The values are those of |X - C|^2 / 2 without the constant |C|^2 / 2, hence below zero.
print(solution)
print(f"eigenvalues of C {np.linalg.eigvalsh(C).round(4)}")
print(f"eigenvalues of X {np.linalg.eigvalsh(X).round(4)}")
print(f"distance |X - C| = {np.linalg.norm(X - C):.4f}")
print(X.round(4))
