"""minimize -<H Y H, K> + (C/2) sum over neighbors (t_ij - d_ij)^2 over PSD K with tr K^2 <= B (Z11 6.1).

t_ij = K_ii + K_jj - 2 K_ij, and Y is a kernel over labels: colored maximum variance unfolding (Song et al.
2008) pulls points apart along what is said about them. H = I - ee'/n centers, and with H Y H = L L' the first
term is -sum_c l_c' K l_c. The matrix of the dual, A = L L' - sum_ij alpha_ij T_ij, is a sparse matrix and one
of the rank of Y; K is its positive part, and centered since A e = 0.

With a rank d, K = V E V' for the d eigenvectors V of the graph's Laplacian with the least eigenvalues, but e:
the approximation that Song et al. solve (Z11 5.4).
"""

from typing import Any

import numpy as np

from gramlearn._base.eigen.leading import leading_eigenvectors
from gramlearn._base.validation import check_count, check_positive
from gramlearn.methods.nonparametric.capacity import CapacityAnswer, solve_with_capacity
from gramlearn.problem.constraints import DiagonalEntries, SquaredDistances
from gramlearn.problem.losses import Linear, Square
from gramlearn.problem.prior import Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius

_SMOOTH = 1e-6  # how accurate the basis is: K is the best over whatever it spans


def colored_unfolding(
    squared: np.ndarray,
    pairs: np.ndarray,
    labels: np.ndarray,
    *,
    C: float = 1.0,
    basis: np.ndarray | None = None,
    owner: str = "colored_unfolding",
    **options: Any,
) -> CapacityAnswer:
    """Find the kernel that depends most on the labels and nearly keeps distances of neighbors.

    Parameters
    ----------
    squared : vector of m
        d_ij, of the pairs.
    pairs : array m x 2
    labels : array n x c
        L0 of a kernel over labels Y = L0 L0'; it is centered.
    C : float
        The price of errors of distances.
    basis : array n x d, optional
        V, orthonormal: K = V E V' is sought.
    owner, **options :
        As in `solve_with_capacity`: the capacity or its price, the tolerance and the limits.
    """
    check_positive(C, "C", owner)
    n = labels.shape[0]
    L = _center(labels)
    i, j = pairs.T
    rows, size = (L.T, n) if basis is None else (L.T @ basis, basis.shape[1])

    def problem_at(G: float) -> Problem:
        color = DiagonalEntries(np.arange(rows.shape[0]), points=rows)
        kept = SquaredDistances(i, j, points=basis)
        terms = [Term(color, Linear(-1.0 / G)), Term(kept, Square(C / G, equal=squared))]
        return Problem(Frobenius(), Zeros(size), terms)

    solver = "quasi_newton" if basis is None else "auto"
    return solve_with_capacity(problem_at, 2.0, solver=solver, basis=basis, owner=owner, **options)


def _center(labels: np.ndarray) -> np.ndarray:
    """L with L L' = H Y H, and no more columns than its rank."""
    U, s, _ = np.linalg.svd(labels - labels.mean(axis=0), full_matrices=False)
    kept = s > 1e-10 * s[0] if s.size else np.zeros(0, dtype=bool)
    return np.asarray(U[:, kept] * s[kept])


def smooth_basis(laplacian: Any, rank: int) -> np.ndarray:
    """The eigenvectors of the least eigenvalues of a Laplacian, orthogonal to e."""
    n = int(laplacian.shape[0])
    if check_count(rank, "rank") >= n:
        raise ValueError(f"`rank={rank}` is not below the {n} points; pass a smaller one, or None.")
    # e is among those of the eigenvalue zero, or a combination of them.
    smooth = leading_eigenvectors((-laplacian).tocsr(), rank + 1, _SMOOTH).vectors
    U, _, _ = np.linalg.svd(smooth - smooth.mean(axis=0), full_matrices=False)
    return np.asarray(U[:, :rank])
