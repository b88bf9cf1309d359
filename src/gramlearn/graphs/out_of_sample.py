"""f(x) from the f_j of known points: new points among old ones, by a graph or between their neighbors.

So embeddings and kernels of given points are extended to others; the published methods do not define this. A
point that is there already keeps its value exactly.

**Along a graph.** f(x) = sum_j A_xj f_j / sqrt(D_x (D_j + A_xj)). K = F F' was learned for points of a graph,
and says nothing of others. The Nystroem formula f(x) = k(x, .) k^-1 F needs a kernel of the old points and the
new one; here it is k = (L + eps I)^-1, the kernel of the graph with x in it. Elimination gives

    k(x, .) k^-1 = -(L_xx + eps)^-1 L_x.,        L_xx = 1,   L_xj = -A_xj / sqrt(D_x (D_j + A_xj))

and eps -> 0 the formula above: no linear system at all.

**Between neighbors.** f(x) = sum_j w_j f_j over the nearest points p_j, with

    w = argmin |x - sum_j w_j p_j|^2 + eps sum_j w_j^2 |x - p_j|^2,      sum_j w_j = 1

Scaling each weight by its distance, a_j = w_j |x - p_j|, turns this into

    (C + eps I) a  ~  1 / |x - p_j|,      C_jl = the cosine of the angle between x - p_j and x - p_l

which is well conditioned however the neighbors lie. As x moves to one of the points its weight goes to one, so
that f is continuous there; it may jump where the nearest points of x change.
"""

from typing import Any

import numpy as np

from gramlearn.graphs.neighbors import edge_weights

_EPS = 1e-3  # for neighbors that are nearly dependent; as in locally linear embedding
_AT_ONCE = 4_000_000  # numbers worked with at a time


def extend_along_graph(
    weights: Any, same: Any, degrees: np.ndarray, factor: np.ndarray
) -> np.ndarray:
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


def join_new_points(
    points: np.ndarray, new: np.ndarray, n_neighbors: int, weights: str, width: float
) -> tuple[Any, Any]:
    """Join each new point to the nearest of the points: m x n, sparse; and where they are equal, likewise."""
    from scipy.sparse import csr_array
    from sklearn.neighbors import NearestNeighbors

    count = min(n_neighbors, len(points))
    found = NearestNeighbors(n_neighbors=count).fit(points).kneighbors(new, return_distance=False)
    # From differences: a search may give equal points a small distance.
    squared = np.stack([np.sum((new - points[near]) ** 2, axis=1) for near in found.T], axis=1)
    starts = np.arange(len(new) + 1) * count

    def table(values: np.ndarray) -> Any:
        return csr_array((values.ravel(), found.ravel(), starts), shape=(len(new), len(points)))

    return table(edge_weights(squared, weights, width)), table((squared == 0).astype(float))


def extend_between_neighbors(
    X: np.ndarray, points: np.ndarray, values: np.ndarray, n_neighbors: int = 5
) -> np.ndarray:
    """Values at the rows of X, from those of the nearest points.

    Parameters
    ----------
    X : array m x d
    points : array n x d
    values : array n x r
        One row for each of the points.
    n_neighbors : int
        How many points a row of X is put between; all of them where there are fewer.
    """
    from sklearn.neighbors import NearestNeighbors

    # Distances are found by products, which lose digits far from the origin.
    center = points.mean(axis=0)
    moved = points - center
    count = min(int(n_neighbors), len(points))
    search: Any = NearestNeighbors(n_neighbors=count).fit(moved)
    out = np.empty((len(X), values.shape[1]))
    step = max(1, _AT_ONCE // (count * max(points.shape[1], 1)))
    for at in range(0, len(X), step):
        piece = slice(at, at + step)
        found = search.kneighbors(X[piece] - center, return_distance=False)
        weights = _weights(X[piece, None, :] - points[found])
        out[piece] = np.einsum("mk,mkr->mr", weights, values[found])
    return out


def _weights(apart: np.ndarray) -> np.ndarray:
    """w, from x - p_j: m x k of them."""
    lengths = np.linalg.norm(apart, axis=2)
    least = lengths.min(axis=1, keepdims=True)
    equal = lengths == 0
    nonzero = np.where(equal, 1.0, lengths)
    units = apart / nonzero[:, :, None]
    closeness = np.where(equal, 1.0, np.where(least > 0, least, 1.0) / nonzero)
    C = units @ units.transpose(0, 2, 1) + _EPS * np.eye(lengths.shape[1])
    w = closeness * np.linalg.solve(C, closeness[:, :, None])[:, :, 0]
    # Those that are equal share the weight, and the others have none.
    w = np.where(least > 0, w, equal)
    return np.asarray(w / w.sum(axis=1, keepdims=True))
