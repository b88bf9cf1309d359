"""NPKL as a semidefinite program (Z11 (10)), in CVXPY: what SCS and Clarabel make of the same problem.

    <L, K> + C sum loss(T_ij K_ij) -> min over PSD K,      loss(t) = -t with tr K^2 <= B, or max(0, 1 - t)

With the linear loss there is no minimum without a bound on K, and the bound is the one of SimpleNPKL, so that
the problems are the same. The hinge is bounded below and stands as in (10), without a bound. (With tr K^2 <= 1
every |K_ij| is at most 1, no hinge bends, and the hinge is the linear loss up to a constant.) All pairs are one
sparse matrix, and the norm is taken over one triangle: nothing is left to loops.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import coo_array, csr_array

from gramlearn import Pairs

__all__ = ["Semidefinite", "solve_semidefinite"]

_CLOCK = {"SCS": "time_limit_secs", "CLARABEL": "time_limit"}


@final
@dataclass(frozen=True, eq=False)
class Semidefinite:
    """What a solver gave: K projected on the cone as a factor, its value, its seconds and its status."""

    factor: np.ndarray
    value: float
    seconds: float
    status: str


def solve_semidefinite(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str,
    C: float,
    B: float | None,
    solver: str,
    limit: float,
    **options: Any,
) -> Semidefinite:
    """Solve by `solver`, within `limit` seconds. Its seconds are of its process, without CVXPY's own work."""
    problem, K = _model(laplacian, pairs, loss, C, B)
    problem.get_problem_data(solver)  # compiled here, and kept: the clock below runs for the solver
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is kept
        began = time.process_time()
        problem.solve(solver=solver, **options, **{_CLOCK[solver]: limit})
        seconds = time.process_time() - began
    if K.value is None:
        raise RuntimeError(f"{solver} gave no matrix; its status is {problem.status}.")
    s, V = np.linalg.eigh((K.value + K.value.T) / 2)
    factor = (V * np.sqrt(np.clip(s, 0.0, None)))[:, s > 1e-6 * s[-1]]
    return Semidefinite(factor, float(problem.value), seconds, str(problem.status))


def _model(laplacian: Any, pairs: Pairs, loss: str, C: float, B: float | None) -> tuple[Any, Any]:
    import cvxpy as cp

    n = int(laplacian.shape[0])
    K = cp.Variable((n, n), PSD=True)
    entries = cp.vec(K, order="C")
    tables = np.asarray(pairs.similar), np.asarray(pairs.dissimilar)
    signs = np.repeat([1.0, -1.0], [len(table) for table in tables])
    i, j = np.concat(tables).T
    aligned = csr_array((signs, (np.arange(i.size), i * n + j)), shape=(i.size, n * n)) @ entries
    cost = -cp.sum(aligned) if loss == "linear" else cp.sum(cp.pos(1 - aligned))
    smooth = csr_array(coo_array(laplacian).reshape((1, n * n))) @ entries
    bounds = [] if B is None else [cp.norm(_triangle(n) @ entries) <= np.sqrt(B)]
    return cp.Problem(cp.Minimize(cp.sum(smooth) + C * cost), bounds), K


def _triangle(n: int) -> csr_array:
    """The entries on and above the diagonal, weighted so that their norm is that of the whole matrix."""
    i, j = np.triu_indices(n)
    weights = np.where(i == j, 1.0, np.sqrt(2.0))
    return csr_array((weights, (np.arange(i.size), i * n + j)), shape=(i.size, n * n))
