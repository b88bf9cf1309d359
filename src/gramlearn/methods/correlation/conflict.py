"""sum over i, j in I of max(S_ij l_ij, S_ij u_ij) < 0: a few rows I whose bounds contradict each other, by S.

The rows and columns I of a positive semidefinite S are positive semidefinite, so they are a proof as well. The
rows are taken in the order of S_ii until they are one.
"""

import numpy as np

from gramlearn._base.arrays import machine_eps, to_numpy
from gramlearn.methods.correlation.entries import ROUNDINGS, Entries

_LEAST_SHARE = 1e-6  # of the largest |S_ij|: what adds less is not named


def name_conflict(entries: Entries, S: np.ndarray) -> tuple[str, ...]:
    """The bounds that contradict each other, as sentences; those that weigh most come first."""
    proof, highest = to_numpy(S), to_numpy(entries.refutation(S))
    order = np.argsort(-np.diag(proof), kind="stable")
    sums = np.diag(np.cumsum(np.cumsum(highest[np.ix_(order, order)], axis=0), axis=1))
    sizes = np.diag(np.cumsum(np.cumsum(np.abs(proof)[np.ix_(order, order)], axis=0), axis=1))
    is_proof = sums < -ROUNDINGS * entries.n * machine_eps(S) * sizes
    rows = np.sort(order[: int(np.argmax(is_proof)) + 1])
    i, j = (rows[part] for part in np.triu_indices(len(rows), 1))
    lower, upper = to_numpy(entries.lower)[i, j], to_numpy(entries.upper)[i, j]
    weight = proof[i, j]
    end = np.where(weight > 0, upper, lower)
    # What any correlation matrix keeps is no part of the conflict.
    is_asked = np.where(weight > 0, upper < entries.diagonal, lower > -entries.diagonal)
    counts = np.abs(weight) > _LEAST_SHARE * np.abs(proof).max()
    named = np.flatnonzero(is_asked & counts)
    named = named[np.argsort(-np.abs(weight[named]), kind="stable")]
    return tuple(
        f"entry ({i[k]}, {j[k]}) {_word(lower[k], upper[k], weight[k])} {end[k]:.6g}" for k in named
    )


def _word(lower: float, upper: float, weight: float) -> str:
    if lower == upper:
        return "is"
    return "is at most" if weight > 0 else "is at least"
