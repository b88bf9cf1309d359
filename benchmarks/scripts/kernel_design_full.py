"""minimize sum_t w_t eps_t + gamma1 sum_f s_f + gamma2 sum_i K_ii: formulations (4), (7) of F07, written out.

    (D alpha)_t + eps_t >= margin_t         one row for each triplet, D_tp = K_p(i, j) - K_p(i, k)
    -r_ij <= K_ij <= r_ij                   two for each pair i < j of S
    K_ii - sum_j r_ij >= 0                  one for each point of S
    -s_f <= alpha_p <= s_f                  two for each kernel p of group f
    eps, s, r >= 0

with K = sum_p alpha_p K_p + beta I, the identity kernel, of which D, r and s see nothing. There are
n (n - 1) / 2 variables r and twice as many rows of p + 1 numbers each. F07 has both r_ij and r_ji, of which
the smaller does for both; one alone makes the program half as large, and a fair opponent.
"""

import time
from typing import NamedTuple

import highspy
import numpy as np
import scipy.sparse as sp

__all__ = ["SOLVERS", "FullAnswer", "full_program"]

SOLVERS: dict[str, dict[str, str | int]] = {
    "simplex": {"solver": "simplex"},
    "primal simplex": {"solver": "simplex", "simplex_strategy": 4},
    "interior points": {"solver": "ipm", "run_crossover": "off"},
}


class FullAnswer(NamedTuple):
    """What HiGHS found; value, weights and identity are None where it found no optimum."""

    status: str
    seconds: float  # of the processor, of the solver alone
    value: float | None
    weights: np.ndarray | None
    identity: float | None


def full_program(
    differences: np.ndarray,
    matrices: np.ndarray,
    groups: np.ndarray,
    gamma1: float,
    gamma2: float,
    *,
    margin: float | np.ndarray = 1.0,
    weight: float | np.ndarray = 1.0,
    has_identity: bool = True,
    nonnegative: bool = False,
    solver: str = "simplex",
    limit: float = np.inf,
) -> FullAnswer:
    """Solve it all at once.

    Parameters
    ----------
    differences : array m x p
        K_p(i, j) - K_p(i, k) of triplet t and kernel p.
    matrices : array p x n x n
        The kernels among the points of S, symmetric.
    groups : array of p numbers 0, 1, ...
        Which s_f bounds a kernel: arange(p) is (4), the feature of each kernel (7).
    margin, weight : number, or one for each triplet
        F07 has 1 for both.
    has_identity : bool
        Whether the identity kernel is in the family.
    nonnegative : bool
        Whether all weights, also of the identity kernel, must be at least 0.
    solver : {"simplex", "primal simplex", "interior points"}
        That of HiGHS. "simplex" is the dual one, its own choice; an interior point is not brought to a vertex.
    limit : float
        Seconds, by the clock.
    """
    A, trace = _written_out(differences, matrices, groups, has_identity)
    m, p = differences.shape
    n_groups, n_weights = int(groups.max()) + 1, len(trace)
    cost = np.zeros(A.shape[1])
    cost[:n_weights] = gamma2 * trace
    cost[n_weights : n_weights + n_groups] = gamma1
    cost[n_weights + n_groups : n_weights + n_groups + m] = weight
    floor = np.zeros(A.shape[1])
    floor[:n_weights] = 0.0 if nonnegative else -np.inf
    lower = np.zeros(A.shape[0])
    lower[:m] = margin
    highs = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "time_limit": float(limit)}
    options["small_matrix_value"] = 1e-12  # what is smaller is taken for zero
    for name, option in (options | SOLVERS[solver]).items():
        highs.setOptionValue(name, option)
    highs.passModel(_model(A, cost, floor, lower))
    began = time.process_time()
    highs.run()
    seconds = time.process_time() - began
    status = highs.getModelStatus()
    words = highs.modelStatusToString(status)
    if status != highspy.HighsModelStatus.kOptimal:
        return FullAnswer(words, seconds, None, None, None)
    found = np.asarray(highs.getSolution().col_value)
    value = float(highs.getInfo().objective_function_value)
    identity = float(found[p]) if has_identity else 0.0
    return FullAnswer(words, seconds, value, found[:p], identity)


def _written_out(
    differences: np.ndarray, matrices: np.ndarray, groups: np.ndarray, has_identity: bool
) -> tuple[sp.csc_array, np.ndarray]:
    """(A of A v >= lower with v = (alpha, beta, s, eps, r), the trace of each kernel)."""
    p, n = matrices.shape[:2]
    m, n_identity = len(differences), int(has_identity)
    n_groups = int(groups.max()) + 1
    i, j = np.triu_indices(n, 1)
    among = sp.csr_array(matrices[:, i, j].T)
    diagonal = np.diagonal(matrices, axis1=1, axis2=2).T
    places = np.arange(i.size)
    touches = sp.csr_array(
        (np.ones(2 * i.size), (np.concatenate([i, j]), np.concatenate([places, places]))),
        shape=(n, i.size),
    )
    of_group = sp.csr_array((np.ones(p), (np.arange(p), groups)), shape=(p, n_groups))
    ones = np.ones((n, n_identity))
    none = sp.csr_array((m, n_identity))
    eps, r, alpha = sp.eye_array(m), sp.eye_array(i.size), sp.eye_array(p)
    rows = [
        [sp.csr_array(differences), none, None, eps, None],
        [-among, None, None, None, r],
        [among, None, None, None, r],
        [sp.csr_array(diagonal), sp.csr_array(ones), None, None, -touches],
        [-alpha, None, of_group, None, None],
        [alpha, None, of_group, None, None],
    ]
    trace = np.concatenate([diagonal.sum(axis=0), np.full(n_identity, float(n))])
    return sp.block_array(rows, format="csc"), trace


def _model(
    A: sp.csc_array, cost: np.ndarray, floor: np.ndarray, lower: np.ndarray
) -> highspy.HighsLp:
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = A.shape
    model.col_cost_ = cost
    model.col_lower_, model.col_upper_ = floor, np.full(cost.size, np.inf)
    model.row_lower_, model.row_upper_ = lower, np.full(lower.size, np.inf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = A.indptr
    model.a_matrix_.index_ = A.indices
    model.a_matrix_.value_ = A.data
    return model
