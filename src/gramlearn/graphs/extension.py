"""f(x) = sum_j A_xj f_j / sqrt(D_x (D_j + A_xj)): a new point beside those that a graph joins.

K = F F' was learned for points of a graph, and says nothing of others. The Nystroem formula f(x) = k(x, .)
k^-1 F needs a kernel of the old points and the new one; here it is k = (L + eps I)^-1, the kernel of the graph
with x in it. Elimination gives

    k(x, .) k^-1 = -(L_xx + eps)^-1 L_x.,        L_xx = 1,   L_xj = -A_xj / sqrt(D_x (D_j + A_xj))

and eps -> 0 the formula above: no linear system at all. It is an extension of ours. A point that is equal to
old ones has their mean instead, as interpolation wants it.
"""

from typing import Any

import numpy as np

__all__ = ["extended"]


def extended(weights: Any, same: Any, degrees: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """The rows of new points, from those of old ones.

    Parameters
    ----------
    weights : sparse matrix m x n
        A_xj, of new points to old ones.
    same : sparse matrix m x n
        1 where they are equal.
    degrees : vector
        D_j of the graph of old points.
    factor : array n x r
    """
    joined = weights.tocsr(copy=True)
    of_new = np.asarray(joined.sum(axis=1)).ravel()
    both = np.repeat(of_new, np.diff(joined.indptr)) * (degrees[joined.indices] + joined.data)
    joined.data = np.divide(
        joined.data, np.sqrt(both), out=np.zeros_like(joined.data), where=both > 0
    )
    rows = np.asarray(joined @ factor)
    twins = np.asarray(same.sum(axis=1)).ravel()
    known = twins > 0
    rows[known] = (same @ factor)[known] / twins[known, None]
    return rows
