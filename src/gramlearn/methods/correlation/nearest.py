"""minimize over PSD X    D(X, C)    with X_ii = 1: the correlation matrix nearest to C (Higham, 2002; K09 6.3).

In the Frobenius norm C may be any symmetric matrix, as when correlations were estimated pair by pair, for

    |X - C|_F^2 / 2 = D(X, 0) - <C, X> + |C|_F^2 / 2

is a problem with the prior zero and a linear term. Its dual has one variable an entry of the diagonal, and
Newton on it takes one eigendecomposition a step. The answer is scaled to D^-1/2 X D^-1/2, D = diag X, so that
its diagonal is one to rounding, and the gap is that of the scaled matrix.

With weights, unknown or fixed entries, bounds or a least eigenvalue, the problem is split into the cone and
what is asked of the entries (`splitting`, `entries`). Singular fixed blocks leave a face of the cone (`faces`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gramlearn._base.arrays import Array, clipped, eye, machine_eps, namespace, read
from gramlearn._base.matrices import transpose
from gramlearn._base.validation import check_count
from gramlearn.methods.correlation.answer import NearestCorrelation
from gramlearn.methods.correlation.faces import ROUNDING, IndefiniteBlock, find_face
from gramlearn.methods.correlation.low_rank import reduce_rank
from gramlearn.methods.correlation.reading import (
    Asked,
    check_same_labels,
    is_frame,
    like_frame,
    read_entries,
    read_matrix,
)
from gramlearn.methods.correlation.splitting import Splitting
from gramlearn.problem.constraints import DenseMatrices, DiagonalEntries
from gramlearn.problem.losses import Hard, Linear
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius, LogDet, read_regularizer
from gramlearn.problem.solution import Record, Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import InfeasibleError, Status
from gramlearn.solvers.loop import Limits, iterate, warn_unless_solved
from gramlearn.solvers.solve import solve

_NAMED = 5  # so many conflicting entries are written out
_ROWS_NAMED = 10
_STALLED = (
    "came no nearer to the optimum",
    "raise tol; where `fixed` or `bounds` leave no positive definite matrix, ask for a little less",
)


def nearest_correlation(
    matrix: Any,
    rank: int | None = None,
    regularizer: str | Regularizer | None = None,
    *,
    weights: Any = None,
    fixed: Any = None,
    bounds: Any = None,
    min_eigenvalue: float | None = None,
    tol: float = 1e-8,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
    return_solution: bool = False,
) -> Any:
    """minimize D(X, C) over positive semidefinite X with X_ii = 1, where C is `matrix`.

    Parameters
    ----------
    matrix : array n x n, or data frame
        C, symmetric. For "frobenius" it may be indefinite, and NaN where an entry is unknown; for the others it
        is positive semidefinite.
    rank : int, optional
        The largest rank of X. For "logdet" and "von_neumann" X is sought within the range of the `rank`
        leading eigenvectors of C, and there may be no correlation matrix in it. For "frobenius" X may have
        any range; that problem is not convex, and X is a local optimum (L-BFGS on a factor with rows of length
        one), while the gap is against a bound that holds for every matrix of that rank.
    regularizer : {"logdet", "von_neumann", "frobenius"} or Regularizer, optional
        The divergence D. "frobenius" is the usual nearest correlation matrix, |X - C|_F^2 / 2. "logdet" keeps
        the entries of C^-1 off the diagonal. By default "logdet" where it has an answer in general: C is
        positive semidefinite, without NaN, and none of the next four is given; "frobenius" otherwise.
    weights : array n x n or n, optional
        For "frobenius": W of sum_ij W_ij (X_ij - C_ij)^2 / 2, symmetric and at least 0. An entry of weight 0
        is unknown, as is one that is NaN. A vector w stands for W_ij = w_i w_j.
    fixed : array of booleans n x n, optional
        For "frobenius": the entries of C that X keeps, up to tol. One of (i, j) and (j, i) is enough.
    bounds : (lower, upper), optional
        For "frobenius": numbers, arrays n x n or None, between which the entries of X off the diagonal are
        kept, up to tol.
    min_eigenvalue : float, optional
        For "frobenius": what no eigenvalue of X is below, between 0 and 1.
    tol : float
        The relative gap, and the violation of what must hold, at which to stop.
    max_iter : int, optional
        The largest number of iterations.
    callback, time_limit :
        As in `solve`.
    return_solution : bool
        Whether to return the answer with its certificate: `matrix`, `factor`, `primal` (D(X, C)), `gap` and
        `status`. It is a NearestCorrelation where `weights`, `fixed`, `bounds`, `min_eigenvalue` or NaN are
        given, and otherwise a Solution. For "frobenius" without these and without `rank` the distance from the
        optimum follows: |X - X*|_F^2 <= 2 gap.

    Returns
    -------
    array n x n, data frame, Solution or NearestCorrelation
        X, in the library of `matrix`; a data frame with the labels of `matrix` where that is one. Where C has
        full rank, or for "frobenius", its diagonal is exactly one; within a smaller range it is so up to tol.
        A ConvergenceWarning is given where tol was not reached.

    Raises
    ------
    InfeasibleError
        Where `fixed`, `bounds` and `min_eigenvalue` contradict each other; its message names the entries. Or
        where no correlation matrix lies within the range that "logdet" and "von_neumann" keep.
    """
    given = read_matrix(matrix)
    C, n = given.values, int(given.values.shape[0])
    rank = None if rank is None else check_count(rank, "rank")
    if rank is not None and rank >= n:
        rank = None  # every matrix has at most that rank
    options = {
        "weights": weights,
        "fixed": fixed,
        "bounds": bounds,
        "min_eigenvalue": min_eigenvalue,
    }
    asked = [f"`{name}`" for name, option in options.items() if option is not None]
    asked += ["NaN in `matrix`"] if given.has_unknown else []
    phi = _choose(C, bool(asked)) if regularizer is None else read_regularizer(regularizer)
    of_frobenius = isinstance(phi, Frobenius)
    if asked and not of_frobenius:
        raise ValueError(
            f'{asked[0]} is for regularizer="frobenius"; got {phi!r}. Leave out the one or the other.'
        )
    if asked and rank is not None:
        raise ValueError(
            f"{asked[0]} cannot be combined with `rank={rank}`; leave out the one or the other."
        )
    if rank is not None and not (of_frobenius or phi.keeps_range):
        raise ValueError(
            f"`rank` is for the regularizers LogDet, VonNeumann and Frobenius; got {phi!r}. Leave `rank` out, "
            'or use regularizer="frobenius".'
        )
    answer: Solution | NearestCorrelation
    if asked:
        for name, option in options.items():
            check_same_labels(matrix, option, name)
        limits = Limits.read(tol, max_iter, time_limit, "nearest_correlation")
        split = _split(read_entries(given, **options), limits, callback)
        answer, X = split, split.matrix
    else:
        solution = _solve(C, phi, rank, tol, max_iter, callback, time_limit)
        answer, X = solution, _round_diagonal_to_one(solution)
    if return_solution:
        return answer
    return like_frame(X, matrix) if is_frame(matrix) else X


def _choose(C: Array, is_asked: bool) -> Regularizer:
    """LogDet where C has a LogDet divergence, and nothing is asked that only Frobenius knows."""
    return (
        Frobenius()
        if is_asked or not _is_semidefinite(namespace(C).linalg.eigvalsh(C))
        else LogDet()
    )


def _is_semidefinite(s: Array) -> bool:
    """Whether these ascending eigenvalues are at least zero, up to rounding, and not all of them zero."""
    least, largest = read(s[0]), read(s[-1])
    return largest > 0 and least >= -10 * s.shape[0] * machine_eps(s) * max(largest, -least)


def _split(
    asked: Asked, limits: Limits, callback: Callable[[Record], object] | None
) -> NearestCorrelation:
    """The nearest matrix as far as its entries are asked to be near."""
    face, products = find_face(asked.entries), asked.entries.n**3
    if isinstance(face, IndefiniteBlock):
        contradicted = Splitting(*asked, contradiction=face.proof)
        answer = iterate(contradicted, limits, callback, products)
        raise InfeasibleError(_explain_conflict(answer, _describe(face, asked.shift)), answer)
    answer = iterate(Splitting(*asked, face), limits, callback, products)
    if answer.status is Status.INFEASIBLE and not answer.conflict:
        # What contradicts what is told by a proof over the whole cone.
        whole = iterate(Splitting(*asked), limits, callback, products)
        answer = whole if whole.status is Status.INFEASIBLE else answer
    if answer.status is Status.INFEASIBLE:
        raise InfeasibleError(_explain_conflict(answer), answer)
    warn_unless_solved(answer, limits, "raise tol", _STALLED)
    return answer


def _explain_conflict(answer: NearestCorrelation, why: str = "") -> str:
    """What contradicts what, and what to do."""
    named = [why] if why else []
    named += answer.conflict[:_NAMED] or ["fixed entries imply others, which contradict the rest"]
    named += ["..."] if len(answer.conflict) > _NAMED else []
    return (
        f"no correlation matrix keeps what is asked: {'; '.join(named)}. Leave some of these out of `fixed`, "
        "widen `bounds`, or lower `min_eigenvalue`."
    )


def _describe(block: IndefiniteBlock, shift: float) -> str:
    """Which rows cannot be as they are fixed."""
    rows = ", ".join(str(row) for row in block.rows[:_ROWS_NAMED])
    rows += ", ..." if len(block.rows) > _ROWS_NAMED else ""
    # Of X, which is shift I more; rounding is no eigenvalue.
    least = block.eigenvalue + shift
    least = least if abs(least) > ROUNDING else 0.0
    most = f"min_eigenvalue={shift:g}" if shift else "0"
    return f"rows {rows} are fixed with a least eigenvalue of {least:.3g}, below {most}"


def _solve(
    C: Array,
    phi: Regularizer,
    rank: int | None,
    tol: float,
    max_iter: int | None,
    callback: Callable[[Record], object] | None,
    time_limit: float | None,
) -> Solution:
    """The nearest matrix in a divergence, as a Problem."""
    n, of_frobenius = int(C.shape[0]), isinstance(phi, Frobenius)
    unit = Term(DiagonalEntries(range(n)), Hard(equal=1.0))
    if of_frobenius:
        constant = read(namespace(C).sum(C * C)) / 2
        near = Term(DenseMatrices(C[None, :, :], offset=-constant), Linear(-1.0))
        problem = Problem(phi, eye(n, C) * 0.0, [unit, near])
    else:
        problem = Problem(phi, _prior(C, rank, phi), [unit])
    solution = solve(problem, tol=tol, max_iter=max_iter, callback=callback, time_limit=time_limit)
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError(_explain_infeasible(rank, n), solution)
    if of_frobenius and rank is not None:
        return reduce_rank(solution, C, rank, tol)
    return scale_to_unit_diagonal(solution)


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
    if not _is_semidefinite(s):
        raise ValueError(
            f"`matrix` has eigenvalues from {read(s[0]):.3g} to {read(s[-1]):.3g}, but {phi!r} needs a "
            'positive semidefinite matrix other than zero; use regularizer="frobenius", which takes any, or '
            "clip its spectrum."
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
