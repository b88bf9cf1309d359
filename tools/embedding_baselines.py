"""MVE and SPE as semidefinite programs, by CVXPY: as their authors have them, and as Z11 has them.

Minimum volume embedding (Shaw and Jebara 2007): <K0, K> -> max with the distances of neighbors as they are,
again and again with the K0 of the last K. Structure preserving embedding (Shaw and Jebara 2009): <W, K> - C
xi -> max with tr K <= 1 and all comparisons; the same with tr K^2 <= 1 is the program of Z11 6.3.
"""

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Embedded", "Rounds", "solve_mve_as_sdp", "solve_mve_round", "solve_spe_as_sdp"]


class Rounds(NamedTuple):
    """What the rounds came to: the last K, the objective of the last program, and how many there were."""

    K: np.ndarray
    value: float
    rounds: int


class Embedded(NamedTuple):
    """K, the objective, and the slack."""

    K: np.ndarray
    value: float
    slack: float


def solve_mve_round(
    distances: Any,
    K0: np.ndarray,
    solver: str,
    C: float | None = None,
    G: float | None = None,
    **options: Any,
) -> tuple[np.ndarray, float]:
    """One program: distances hard where there is no C, and otherwise squared errors at C, tr K^2 at G/2."""
    import cvxpy as cp

    n, i, j, squared = distances
    K = cp.Variable((n, n), PSD=True)
    flat = cp.vec(K, order="C")
    found = flat[i * n + i] + flat[j * n + j] - 2 * flat[i * n + j]
    aligned = cp.trace(K0 @ K)
    if C is None or G is None:
        problem = cp.Problem(cp.Minimize(-aligned), [found == squared, cp.sum(K) == 0])
    else:
        # Of `flat`: of K itself CVXPY 1.5.2 to 1.9.0 take another quadratic form.
        losses = C / 2 * cp.sum_squares(found - squared) + G / 2 * cp.sum_squares(flat)
        problem = cp.Problem(cp.Minimize(losses - aligned))
    value = problem.solve(solver=solver, **options)
    return np.asarray(K.value), float(value)


def solve_mve_as_sdp(
    distances: Any,
    V: np.ndarray,
    solver: str,
    tol: float,
    max_rounds: int,
    C: float | None = None,
    G: float | None = None,
    **options: Any,
) -> Rounds:
    """Rounds until one gains less than tol, as ours: V are the eigenvectors that the first one favors."""
    n, d = V.shape
    last, rounds = np.inf, 0
    while rounds < max_rounds:
        K, value = solve_mve_round(distances, 2 * V @ V.T - np.eye(n), solver, C, G, **options)
        rounds += 1
        s, U = np.linalg.eigh(K)
        K0, V = 2 * V @ V.T - np.eye(n), U[:, -d:]
        objective = value + float(np.sum(K0 * K)) - float(2 * s[-d:].sum() - s.sum())
        if last - objective <= tol * abs(objective):
            break
        last = objective
    return Rounds(K, objective, rounds)


def solve_spe_as_sdp(
    graph: np.ndarray, solver: str, C: float | None = None, is_trace: bool = False, **options: Any
) -> Embedded:
    """All comparisons, written out; no slack without C. The capacity is tr K <= 1 or tr K^2 <= 1."""
    import cvxpy as cp
    from scipy.sparse import csr_array

    n = len(graph)
    H = np.eye(n) - 1 / n
    other = ~graph & ~np.eye(n, dtype=bool)
    i, k, j = np.nonzero(graph[:, :, None] & other[:, None, :])
    K = cp.Variable((n, n), PSD=True)
    every, one = np.arange(len(i)), np.ones(len(i))
    # d_ik - d_ij = K_kk - 2 K_ik - K_jj + 2 K_ij
    places = np.concatenate([k * n + k, i * n + k, j * n + j, i * n + j])
    signs = np.concatenate([one, -2 * one, -one, 2 * one])
    rows = csr_array((signs, (np.tile(every, 4), places)), shape=(len(i), n * n))
    xi = cp.Variable(nonneg=True)
    slack = 0.0 if C is None else xi
    capacity = cp.trace(K) if is_trace else cp.norm(K, "fro")
    problem = cp.Problem(
        cp.Minimize(-cp.trace((H @ graph @ H) @ K) + (C or 0.0) * xi),
        [rows @ cp.vec(K, order="C") <= slack, capacity <= 1],
    )
    value = problem.solve(solver=solver, **options)
    return Embedded(np.asarray(K.value), float(value), 0.0 if C is None else float(xi.value))
