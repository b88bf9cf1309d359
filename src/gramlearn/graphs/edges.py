"""(i, j) with |x_i - x_j|^2: the edges of a graph, each once, and whether they hold all points together."""

from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.validation import as_row_numbers, check_host_points, check_indices


class Edges(NamedTuple):
    """Pairs (i, j) of points, once each, with their squared distances in units of the mean of these."""

    i: np.ndarray
    j: np.ndarray
    squared: np.ndarray
    unit: float


def measure_edges(X: np.ndarray, graph: Any) -> Edges:
    """Measure the edges of a graph."""
    i, j = read_edges(graph, len(X))
    squared = np.sum((X[i] - X[j]) ** 2, axis=1)
    # 1 where all neighbors are equal points.
    unit = float(squared.mean()) or 1.0
    return Edges(i, j, squared / unit, unit)


def read_edges(graph: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(i, j), i < j, each edge once, of a sparse matrix n x n or of an array m x 2 of row numbers."""
    from scipy.sparse import issparse

    if issparse(graph):
        if graph.shape != (n, n):
            raise ValueError(
                f"`graph` has shape {graph.shape}, but there are {n} points; a sparse matrix must be n x n."
            )
        given = np.column_stack(graph.tocoo().coords)
    else:
        given = np.asarray(to_numpy(as_row_numbers(graph, "graph")))
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError(
                f"`graph` must be a sparse matrix or an array m x 2 of row numbers; got shape {given.shape}."
            )
    columns = [check_indices(given[:, k], "graph", n) for k in (0, 1)]
    low, high = np.minimum(*columns), np.maximum(*columns)
    pairs = distinct_rows(np.column_stack([low, high])[low < high]).rows
    if not len(pairs):
        raise ValueError("`graph` has no pair of different points; at least one is needed.")
    return pairs[:, 0], pairs[:, 1]


def connect_pieces(graph: Any, X: Any) -> Any:
    """Join the pieces of a graph over the rows of X by edges of the shortest tree over all points.

    These have a weight of 1. A graph in one piece is given back as it is.
    """
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
    from sklearn.metrics import pairwise_distances

    count, piece = connected_components(graph, directed=False)
    if count == 1:
        return graph
    points = check_host_points(X, "X")
    # Added to all lengths, 1 changes no tree, and equal points are joined, too: zeros would be no edges.
    lengths = 1.0 + pairwise_distances(points - points.mean(axis=0))
    tree = coo_array(minimum_spanning_tree(lengths))
    between = piece[tree.row] != piece[tree.col]
    i, j = tree.row[between], tree.col[between]
    ones = np.ones(2 * len(i))
    bridges = csr_array((ones, (np.r_[i, j], np.r_[j, i])), shape=graph.shape)
    return csr_array(csr_array(graph) + bridges)


def check_connected(n: int, i: np.ndarray, j: np.ndarray, name: str, otherwise: str) -> None:
    """Refuse a graph in pieces: nothing keeps them from flying apart. `otherwise` says what else to do."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(i.shape[0]), (i, j)), shape=(n, n))
    count, labels = connected_components(graph, directed=False)
    if count > 1:
        least = int(np.bincount(labels).min())
        raise ValueError(
            f"the graph of `{name}` is in {count} pieces, the smallest of {least} point(s), which nothing "
            f"keeps from flying apart; take more neighbors, {otherwise}."
        )
