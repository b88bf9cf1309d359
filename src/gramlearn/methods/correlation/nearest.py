"""minimize over PSD X    D(X, C)    with X_ii = 1: the correlation matrix nearest to C (Higham, 2002; K09 6.3).

In the Frobenius norm C may be any symmetric matrix, as when correlations were estimated pair by pair, for

    |X - C|_F^2 / 2 = D(X, 0) - <C, X> + |C|_F^2 / 2

is a problem with the prior zero and a linear term. Its dual has one variable an entry of the diagonal, and
Newton on it takes one eigendecomposition a step. The answer is scaled to D^-1/2 X D^-1/2, D = diag X, so that
its diagonal is one to rounding, and the gap is that of the scaled matrix.
"""

from dataclasses import replace
from typing import Any

from gramlearn._base.arrays import Array, as_real, clipped, eye, namespace, read, transpose
from gramlearn._base.validation import check_count, check_points, check_symmetric
from gramlearn.methods.correlation.low_rank import reduce_rank
from gramlearn.problem.constraints import DenseMatrices, DiagonalEntries
from gramlearn.problem.losses import Hard, Linear
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius, read_regularizer
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import InfeasibleError, Status
from gramlearn.solvers.solve import solve


def nearest_correlation(
    matrix: Any,
    rank: int | None = None,
    regularizer: str | Regularizer = "logdet",
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    return_solution: bool = False,
) -> Any:
    """minimize D(X, C) over positive semidefinite X with X_ii = 1, where C is `matrix`.

    Parameters
    ----------
    matrix : array n x n
        C, symmetric. For "frobenius" it may be indefinite, for the others it is positive semidefinite.
    rank : int, optional
        The largest rank of X. For "logdet" and "von_neumann" X is sought within the range of the `rank`
        leading eigenvectors of C, and there may be no correlation matrix in it. For "frobenius" X may have
        any range; that problem is not convex, and X is a local optimum (L-BFGS on a factor with rows of length
        one), while the gap is against a bound that holds for every matrix of that rank.
    regularizer : {"logdet", "von_neumann", "frobenius"} or Regularizer
        The divergence D. "frobenius" is the usual nearest correlation matrix, |X - C|_F^2 / 2. "logdet" keeps
        the entries of C^-1 off the diagonal.
    tol : float
        The relative gap, and the violation of the diagonal before it is scaled, at which to stop.
    max_iter : int, optional
        The largest number of iterations.
    return_solution : bool
        Whether to return the Solution, with `matrix`, `factor`, `primal` (D(X, C)), `gap` and `status`. For
        "frobenius" the distance from the optimum follows: |X - X*|_F^2 <= 2 gap, without `rank`.

    Returns
    -------
    array n x n or Solution
        X, in the library of `matrix`. Where C has full rank, or for "frobenius", its diagonal is exactly one;
        within a smaller range it is so up to tol. A ConvergenceWarning is given where tol was not reached.

    Raises
    ------
    InfeasibleError
        Where no correlation matrix lies within the range that "logdet" and "von_neumann" keep.
    """
    C = check_symmetric(as_real(check_points(matrix, "matrix")), "matrix")
    phi = read_regularizer(regularizer)
    n = int(C.shape[0])
    rank = None if rank is None else check_count(rank, "rank")
    if rank is not None and rank >= n:
        rank = None  # every matrix has at most that rank
    of_frobenius = isinstance(phi, Frobenius)
    if rank is not None and not (of_frobenius or phi.keeps_range):
        raise ValueError(
            f"`rank` is for the regularizers LogDet, VonNeumann and Frobenius; got {phi!r}. Leave `rank` out, "
            'or use regularizer="frobenius".'
        )
    unit = Term(DiagonalEntries(range(n)), Hard(equal=1.0))
    if of_frobenius:
        constant = read(namespace(C).sum(C * C)) / 2
        near = Term(DenseMatrices(C[None, :, :], offset=-constant), Linear(-1.0))
        problem = Problem(phi, eye(n, C) * 0.0, [unit, near])
    else:
        problem = Problem(phi, _prior(C, rank, phi), [unit])
    solution = solve(problem, tol=tol, max_iter=max_iter)
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError(_explain_infeasible(rank, n), solution)
    if of_frobenius and rank is not None:
        solution = reduce_rank(solution, C, int(rank), tol)
    else:
        solution = scale_to_unit_diagonal(solution)
    return solution if return_solution else _round_diagonal_to_one(solution)


def scale_to_unit_diagonal(solution: Solution) -> Solution:
    """Scale X to D^-1/2 X D^-1/2, D = diag X, with a new gap; X stays where that would leave its range."""
    problem, F = solution.problem, solution.factor
    xp = namespace(F)
    lengths = xp.linalg.vector_norm(F, axis=1)
    smaller = problem.space.spectrum.shape[0] < problem.space.dimension
    if smaller or not read(xp.min(lengths)) > 0:
        return solution
    F = F / lengths[:, None]
    G = F if problem.space.basis is None else transpose(problem.space.basis) @ F
    S = G @ transpose(G)
    known = solution.certificate
    primal = problem.divergence(S) + problem.linear_value(S)
    # What the gap had in it for rounding is kept.
    gap = abs(primal - known.dual) + known.gap
    return replace(
        solution, factor=F, certificate=known._replace(primal=primal, gap=gap, violation=0.0)
    )


def _prior(C: Array, rank: int | None, phi: Regularizer) -> Any:
    """C itself, or a factor of its leading part; refused where it is indefinite."""
    xp = namespace(C)
    s, V = xp.linalg.eigh(C)
    n, largest, least = int(C.shape[0]), read(s[-1]), read(s[0])
    if least < -10 * n * float(xp.finfo(s.dtype).eps) * max(largest, -least) or largest <= 0:
        raise ValueError(
            f"`matrix` has eigenvalues from {least:.3g} to {largest:.3g}, but {phi!r} needs a positive "
            'semidefinite matrix other than zero; use regularizer="frobenius", which takes any, or clip '
            "its spectrum."
        )
    if rank is None:
        return C
    return Factor(V[:, -rank:] * xp.sqrt(clipped(s[-rank:], low=0.0)))


def _explain_infeasible(rank: int | None, n: int) -> str:
    where = "`matrix`" if rank is None else f"the {rank} leading eigenvectors of `matrix`"
    advice = "add a little to its diagonal" if rank is None else f"raise `rank` (up to {n})"
    return (
        f"no correlation matrix lies within the range of {where}, which this regularizer keeps; {advice}, or "
        'use regularizer="frobenius", which may leave it.'
    )


def _round_diagonal_to_one(solution: Solution) -> Array:
    """X, with a diagonal of exactly one where it was scaled to one up to rounding."""
    X = solution.matrix
    identity = eye(int(X.shape[0]), X)
    return X * (1 - identity) + identity if solution.violation == 0 else X
