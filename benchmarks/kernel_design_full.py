"""min sum_t eps_t + gamma1 sum_f s_f + gamma2 sum_i K_ii: formulations (4) and (7) of F07, written out.

    (D alpha)_t + eps_t >= 1                one row for each triplet, D_tp = K_p(i, j) - K_p(i, k)
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

__all__ = ["FullAnswer", "full_program"]


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
    least_identity: float | None = 0.0,
    solver: str = "simplex",
    crossover: bool = True,
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
    least_identity : float or None
        The lower bound of beta; None leaves the identity kernel out.
    solver : {"simplex", "ipm", "pdlp"}
        That of HiGHS: its dual simplex, its interior points, its first-order method.
    crossover : bool
        Whether an interior point is brought to a vertex.
    limit : float
        Seconds, by the clock.
    """
    A, cost, floor, lower = _written_out(
        differences, matrices, groups, gamma1, gamma2, least_identity
    )
    n_kernels = len(matrices)
    highs = highspy.Highs()
    options = {"output_flag": False, "solver": solver, "threads": 1, "time_limit": float(limit)}
    options["run_crossover"] = "on" if crossover else "off"
    options["small_matrix_value"] = 1e-12  # what is smaller is taken for zero
    for name, option in options.items():
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
    identity = 0.0 if least_identity is None else float(found[n_kernels])
    return FullAnswer(words, seconds, value, found[:n_kernels], identity)


def _written_out(
    differences: np.ndarray,
    matrices: np.ndarray,
    groups: np.ndarray,
    gamma1: float,
    gamma2: float,
    least_identity: float | None,
) -> tuple[sp.csc_array, np.ndarray, np.ndarray, np.ndarray]:
    """(A, cost, floor, lower) of cost'v -> min, A v >= lower, v >= floor, with v = (alpha, beta, s, eps, r)."""
    p, n = matrices.shape[:2]
    m, n_identity = len(differences), int(least_identity is not None)
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
    A = sp.block_array(rows, format="csc")
    cost = np.concatenate(
        [
            gamma2 * diagonal.sum(axis=0),
            np.full(n_identity, gamma2 * n),
            np.full(n_groups, gamma1),
            np.ones(m),
            np.zeros(i.size),
        ]
    )
    floor = np.zeros(cost.size)
    floor[:p] = -np.inf
    if least_identity is not None:
        floor[p] = least_identity
    lower = np.zeros(A.shape[0])
    lower[:m] = 1.0
    return A, cost, floor, lower


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
