"""maximize <A, K>, or <A, K> - (G/p) tr K^p, over PSD K of rank r, tr K^p <= B: leading eigenvectors of A.

For K of rank r with eigenvalues kappa, <A, K> <= sum_i lambda_i(A) kappa_i (von Neumann), so K has the leading
eigenvectors of A, and kappa follows from the r largest lambda+ as in Propositions 1 and 2 of Z11. For p = 1 and
B, K = B v v' with the first of them, shared evenly where several are the largest. With R = A V - V theta and
P A P <= b P for P = I - V V', the i-th eigenvalue of A is at most the i-th largest among theta and copies of b,
plus |R| (Weyl): a bound on what another K could gain.
"""

import time
from typing import Any

import numpy as np

from gramlearn._base.eigen.leading import leading_eigenvectors
from gramlearn.methods.nonparametric.capacity import CapacityAnswer, value_within
from gramlearn.problem.status import Status

_EQUAL = 1e-9  # of the largest eigenvalue: those that differ by less are the same


def leading_kernel(
    A: Any, rank: int | None, p: float, B: float | None, G: float = 1.0, tol: float = 1e-6
) -> CapacityAnswer:
    """The K of a rank that has the largest <A, K>, for a capacity B or else for its price G."""
    began = time.perf_counter()
    # For p = 1 those that tie for the largest count; more than 8 are not expected.
    count = 8 if rank is None else rank
    found = leading_eigenvectors(A, count, tol / 100)
    theta, V = np.clip(found.values, 0.0, None), found.vectors
    largest = float(abs(A).sum(axis=1).max())
    if p == 1:
        assert B is not None
        first = theta >= theta[0] - _EQUAL * abs(theta[0])
        kappa = np.where(first, B / first.sum(), 0.0) if theta[0] > 0 else 0.0 * theta
        price = float(theta[0])
    else:
        q = p / (p - 1)
        price = G if B is None else _norm(theta, q) / B ** (1 / q)
        with np.errstate(over="ignore"):
            kappa = (theta / price) ** (q - 1) if price > 0 else 0.0 * theta
            if not np.sum(kappa**p) < np.inf:
                raise ValueError(explain_overflow(p, price))
    value = -float(found.values @ kappa)
    kept = kappa > 0
    bounds = np.append(found.values, np.full(count, found.next_eigenvalue_bound))
    highest = np.clip(np.sort(bounds)[::-1][:count] + found.residual_norm, 0.0, None)
    gap = _best(highest, p, B, price) - _best(theta, p, B, price)
    capacity = float(np.sum(kappa**p))
    size = abs(value + (0.0 if p == 1 else price * capacity / p))
    factor = V[:, kept] * np.sqrt(kappa[kept])
    # Where K is zero, what a single eigenvalue of the size of A would give is the measure.
    size = max(abs(value), size) or _best(np.asarray([largest]), p, B, price)
    return CapacityAnswer(
        factor,
        capacity,
        price,
        certificate=value_within(value, max(gap, 0.0), size),
        status=Status.OPTIMAL if gap <= tol * size else Status.STALLED,
        seconds=time.perf_counter() - began,
    )


def explain_overflow(p: float, G: float) -> str:
    """What to say where (A+ / G)^(1 / (p - 1)) overflows."""
    return (
        f"the kernel of `p={p:g}` and `capacity_price={G:g}`, a power 1 / (p - 1), is too large for "
        "floating-point numbers; raise either, or pass a `capacity`."
    )


def _norm(x: np.ndarray, q: float) -> float:
    """|x|_q, without overflow for large q."""
    largest = float(x.max(initial=0.0))
    return largest * float(np.sum((x / largest) ** q)) ** (1 / q) if largest > 0 else 0.0


def _best(eigenvalues: np.ndarray, p: float, B: float | None, G: float) -> float:
    """The largest <A, K>, less (G/p) tr K^p where there is no B, for these leading eigenvalues of A."""
    if p == 1:
        assert B is not None
        return B * float(eigenvalues[0])
    q = p / (p - 1)
    if B is not None:
        return float(B ** (1 / p)) * _norm(eigenvalues, q)
    with np.errstate(over="ignore"):
        return min(G / q * float(np.sum((eigenvalues / G) ** q)), float(np.finfo(float).max))
