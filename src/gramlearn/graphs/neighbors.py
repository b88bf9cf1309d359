"""L = D - A, or I - D^(-1/2) A D^(-1/2): graphs of nearest neighbors and their Laplacians, sparse.

<L, K> = 1/2 sum_ij A_ij |f_i / sqrt(D_i) - f_j / sqrt(D_j)|^2 for K = F F' with rows f_i: small where neighbors
have similar coordinates (Z11 3.2).
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import (
    as_numbers,
    check_choice,
    check_count,
    check_extent,
    check_host_points,
    check_positive,
)

_EXACT = 50_000  # points up to which all distances are looked at


def neighbor_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    join: str = "either",
    weights: str = "binary",
    width: float | None = None,
) -> Any:
    """Join near points: a sparse symmetric matrix A with A_ij > 0 for an edge.

    Parameters
    ----------
    X : array n x d
    n_neighbors : int
        How many nearest points each point knows.
    join : {"either", "mutual"}
        Whether one of two points must be among the nearest of the other, or both.
    weights : {"binary", "heat"}
        1, or exp(-distance^2 / (2 width^2)).
    width : float, optional
        Of "heat"; by default the root of the mean squared length of the edges.

    Above 50,000 points neighbors are found by pynndescent where it is installed: nearly all of them, in a
    time that grows little faster than n.
    """
    return build_graph(X, n_neighbors, join, weights, width)[0]


def build_graph(
    X: Any, n_neighbors: int, join: str, weights: str, width: float | None
) -> tuple[Any, float]:
    """The graph, and the width that its weights have."""
    points = check_extent(check_host_points(X, "X"), power=2)
    count = check_count(n_neighbors, "n_neighbors")
    check_choice(join, "join", {"either": None, "mutual": None})
    check_choice(weights, "weights", {"binary": None, "heat": None})
    if width is not None:
        check_positive(width, "width", "neighbor_graph", any_size=True)
    if count >= len(points):
        raise ValueError(
            f"`n_neighbors={count}` is more than the {len(points) - 1} other points; pass fewer."
        )
    distances = _distances(points, count)
    # A length of zero is an edge between equal points, not none: lengths are kept as 1 + length.
    distances.data += 1.0
    joined = distances.minimum(distances.T) if join == "mutual" else distances.maximum(distances.T)
    joined.data -= 1.0
    squared = joined.data**2
    if width is None:
        width = float(np.mean(squared)) ** 0.5 if squared.size else 0.0
    joined.data = edge_weights(squared, weights, width)
    return joined, float(width)


def edge_weights(squared: np.ndarray, kind: str, width: float) -> np.ndarray:
    """1, or exp(-squared / (2 width^2))."""
    if kind == "binary" or width == 0:
        return np.ones_like(squared)
    return np.exp(-squared / (2 * width**2))


def _distances(points: np.ndarray, count: int) -> Any:
    """The distances to the nearest points, as a sparse matrix with explicit zeros for equal points."""
    from scipy.sparse import csr_array

    n = len(points)
    lengths, found = _nearest(points, count)
    starts = np.arange(n + 1) * count
    return csr_array((lengths.ravel().astype(float), found.ravel(), starts), shape=(n, n))


def _nearest(points: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.neighbors import NearestNeighbors

    if len(points) > _EXACT:
        try:
            from pynndescent import NNDescent
        except ImportError:
            pass
        else:
            found, lengths = NNDescent(points, n_neighbors=count + 1, random_state=0).neighbor_graph
            return _without_itself(lengths, found)
    return NearestNeighbors(n_neighbors=count).fit(points).kneighbors()


def _without_itself(lengths: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave each point out of its own neighbors, or the farthest where it is not among them."""
    n, count = found.shape
    is_itself = found == np.arange(n)[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True
    shape = (n, count - 1)
    return lengths[~is_itself].reshape(shape), found[~is_itself].reshape(shape)


def check_weights(graph: Any, name: str) -> Any:
    """A sparse matrix of finite positive weights; entries that are 0 are dropped."""
    from scipy.sparse import csr_array

    A = csr_array(graph, dtype=float, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    if A.nnz and (not np.isfinite(A.data).all() or A.data.min() < 0):
        raise ValueError(f"`{name}` must have finite weights of at least 0.")
    return A


def check_graph(graph: Any, name: str = "graph") -> Any:
    """Weights between the same points both ways."""
    from scipy.sparse import issparse

    graph = graph if issparse(graph) else to_numpy(as_numbers(graph, name))
    if len(graph.shape) != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(
            f"`{name}` must be square, as the weights of a graph are; got shape {tuple(graph.shape)}."
        )
    A = check_weights(graph, name)
    if abs(A - A.T).sum() > 1e-8 * abs(A).sum():
        raise ValueError(f"`{name}` is not symmetric; pass (A + A.T) / 2, or A.maximum(A.T).")
    return A


def laplacian(graph: Any, *, normalized: bool = True) -> Any:
    """D - A, or I - D^(-1/2) A D^(-1/2) with a row of zeros for a point without edges; sparse and symmetric."""
    from scipy.sparse import csr_array, diags_array

    A = check_graph(graph)
    degrees = np.asarray(A.sum(axis=1)).ravel()
    if not normalized:
        return csr_array(diags_array(degrees) - A)
    joined = degrees > 0
    root = diags_array(1 / np.sqrt(np.where(joined, degrees, 1.0)))
    return csr_array(diags_array(joined.astype(float)) - root @ A @ root)
