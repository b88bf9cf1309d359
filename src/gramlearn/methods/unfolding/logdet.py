"""minimize D(K, K0)  with  sum_ij K_ij = 0  and  K_ii + K_jj - 2 K_ij = |x_i - x_j|^2 for neighbors (K09 6.3).

Weinberger, Sha and Saul (2004) unfold data by the kernel of largest trace under these constraints, centering
and isometry. They are linear, so a divergence can stand in place of the trace: the kernel nearest to a prior
that keeps the distances of neighbors and lets all others change.

Centering asks e'Ke = 0 of a K that is positive semidefinite, so Ke = 0, and no positive definite K satisfies
it. So centering is not a term but a range, K = V S V' with the columns of V orthogonal to e, and the prior is
restricted to that range.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_points, check_positive, check_symmetric
from gramlearn.graphs.edges import read_edges
from gramlearn.problem.constraints import SquaredDistances
from gramlearn.problem.losses import Hard, Square
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import LogDet
from gramlearn.problem.spectral import Regularizer


def unfolding_problem(
    points: Any,
    graph: Any,
    regularizer: Regularizer | None = None,
    prior: Any = None,
    eps: float = 0.1,
    C: float | None = None,
) -> Problem:
    """Give the problem of the centered kernel nearest to a prior that keeps the distances of neighbors.

    Parameters
    ----------
    points : array n x d
        The x_i; their distances are kept.
    graph : SciPy sparse matrix n x n, or array m x 2
        Of neighbors, such as `neighbor_graph` or scikit-learn's `kneighbors_graph`, whose stored entries are
        the edges, or pairs of row numbers. A pair counts once, in either order, and pairs (i, i) do not count.
    regularizer : Regularizer, optional
        The divergence (default: LogDet).
    prior : array n x n, optional
        K0, positive semidefinite. It is centered: H K0 H with H = I - ee'/n (default: the linear kernel of the
        points, plus eps times its mean diagonal times I).
    eps : float
        Of the default prior: how much directions weigh in which the points do not extend.
    C : float, optional
        The price of errors, C (t - |x_i - x_j|^2)^2 / 2 each. By default distances are kept exactly. A clique
        of more than d + 1 neighbors is rigid then, K is singular on it, and LogDet has no solution: give C.

    Returns
    -------
    Problem
        For `solve`. Its one term is the isometry; `solution.factor` holds coordinates of the points.
    """
    X = np.asarray(to_numpy(check_points(points, "points")), dtype=float)
    n = X.shape[0]
    i, j = read_edges(graph, n)
    squared = np.sum((X[i] - X[j]) ** 2, axis=1)
    owner = "unfolding_problem"
    hard = C is None
    loss = Hard(equal=squared) if hard else Square(check_positive(C, "C", owner), equal=squared)
    if prior is None:
        check_positive(eps, "eps", owner)
        centered = X - X.mean(axis=0)
        K0 = centered @ centered.T
        K0 = K0 + eps * (float(np.trace(K0)) / n or 1.0) * np.eye(n)
    else:
        given = check_symmetric(check_points(prior, "prior"), "prior")
        K0 = np.asarray(to_numpy(given), dtype=float)
        if K0.shape[0] != n:
            raise ValueError(
                f"`prior` is of size {K0.shape[0]}, but there are {n} points; the two must agree."
            )
    phi = LogDet() if regularizer is None else regularizer
    return Problem(phi, _center(K0), [Term(SquaredDistances(i, j), loss)])


def _center(K0: np.ndarray) -> Factor:
    """A factor of H K0 H, its columns orthogonal to e."""
    n = K0.shape[0]
    # The columns of a QR decomposition that begins with e.
    V = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]
    s, U = np.linalg.eigh(V.T @ K0 @ V)
    if s[0] < -1e-10 * max(s[-1], -s[0]):
        raise ValueError(
            f"`prior` is not positive semidefinite (least eigenvalue {s[0]:.3g}); clip its negative "
            "eigenvalues."
        )
    return Factor(V @ (U * np.sqrt(np.clip(s, 0.0, None))))
