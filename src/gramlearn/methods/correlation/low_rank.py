"""minimize |F F' - C|_F^2 / 2 over F n x r with rows of length one, and a bound for every matrix of rank r.

The rows are f_i = v_i / |v_i|, so v is free, and L-BFGS finds a local optimum from the leading eigenvectors of
the full-rank one. For any lam, the Lagrangian over matrices of rank at most r has the closed minimum

    |C|_F^2 / 2 - sum_{q <= r} max(y_q, 0)^2 / 2 - sum_i lam_i,      y_1 >= y_2 >= ... of Y = C - diag lam

which bounds them all from below. The prices of the local optimum, lam_i = ((C - F F') F)_i f_i, often close the
gap: then it is the global one.
"""

import time
from dataclasses import replace

import numpy as np

from gramlearn._base.arrays import Array, as_real, to_numpy
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.dual import LEAST_SHARE
from gramlearn.problem.solution import Solution
from gramlearn.problem.status import Status

_STEPS = 5000


def reduce_rank(solution: Solution, C: Array, rank: int, tol: float) -> Solution:
    """Go on from the full-rank optimum to one of rank `rank`, with a bound of its own."""
    began = time.perf_counter()
    host = to_numpy(C)
    price = to_numpy(solution.duals[0])
    F = _descend(host, _leading_factor(host - np.diag(price), rank))
    local = np.sum(((host - F @ F.T) @ F) * F, axis=1)
    bound, lam = max(
        ((_bound(host, v, rank), v) for v in (price, local)), key=lambda found: found[0]
    )
    primal = float(np.sum((F @ F.T - host) ** 2)) / 2
    size = float(np.sum(host**2)) / 2
    noise = 16 * float(np.finfo(float).eps) * (size + float(np.sum(np.abs(lam))))
    gap = max(primal - bound, 0.0) + noise
    certificate = Certificate(primal, bound, gap, 0.0, least=LEAST_SHARE * size)
    status = Status.OPTIMAL if certificate.is_within(tol) else Status.LOCAL
    return replace(
        solution,
        factor=as_real(F, C),
        duals=(as_real(lam, C), *solution.duals[1:]),
        certificate=certificate,
        status=status,
        seconds=solution.seconds + time.perf_counter() - began,
    )


def _leading_factor(Y: np.ndarray, rank: int) -> np.ndarray:
    """The factor of the leading part of Y, its rows of length one."""
    y, U = np.linalg.eigh(Y)
    F = U[:, -rank:] * np.sqrt(np.clip(y[-rank:], 0.0, None))
    lengths = np.linalg.norm(F, axis=1, keepdims=True)
    # A row of zeros may point anywhere.
    return np.where(lengths > 0, F / np.where(lengths > 0, lengths, 1.0), np.eye(1, rank))


def _descend(C: np.ndarray, start: np.ndarray) -> np.ndarray:
    """A local optimum from `start`."""
    from scipy.optimize import minimize

    def value_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
        V = flat.reshape(start.shape)
        lengths = np.linalg.norm(V, axis=1, keepdims=True)
        F = V / lengths
        residual = F @ F.T - C
        slope = 2 * residual @ F
        # Along f_i nothing changes: a row is of length one whatever v_i is.
        slope = (slope - np.sum(slope * F, axis=1, keepdims=True) * F) / lengths
        return float(np.sum(residual**2)) / 2, slope.ravel()

    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 20}
    found = minimize(value_and_slope, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    V = found.x.reshape(start.shape)
    return np.asarray(V / np.linalg.norm(V, axis=1, keepdims=True))


def _bound(C: np.ndarray, lam: np.ndarray, rank: int) -> float:
    """What |X - C|^2 / 2 is at least, for every correlation matrix X of rank at most `rank`."""
    y = np.clip(np.linalg.eigvalsh(C - np.diag(lam))[-rank:], 0.0, None)
    return float(np.sum(C**2)) / 2 - float(y @ y) / 2 - float(np.sum(lam))
