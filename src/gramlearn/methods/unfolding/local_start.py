"""W = sum_c (X_c X_c')^+ over cliques c of the graph: weights of pairs from which interior points start.

A clique keeps all its distances, so every feasible K has one and the same block there, the products X_c X_c' of
its centered points. Were the graph chordal, the K of largest determinant with these blocks would have as its
inverse the sum of their inverses, less those of overlaps (Grone, Johnson, Sa and Wolkowicz 1984). So W^-1 comes
near the middle of the feasible kernels. In particular it is thin where all of them are: across nearly flat
cliques. There prices must grow by many orders, and from equal weights they grow little with each step: at 1000
points of a swiss roll they need more than 39 steps, and from here 18.
"""

import numpy as np

from gramlearn.graphs.cliques import find_cliques, list_neighbors

_THINNEST = 1e-4  # squared lengths across a clique below this are taken as this: prices need not be that large


def local_weights(points: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The weights of the pairs i, j whose Laplacian is W. Some are negative.

    Points are in units in which the mean squared distance of the pairs is 1.
    """
    from scipy.sparse import coo_array

    n = points.shape[0]
    rows, columns, entries = [], [], []
    cliques = [sorted(clique) for clique in find_cliques(list_neighbors(n, i, j))]
    for size in {len(clique) for clique in cliques}:
        # All of one size at once.
        members = np.array([clique for clique in cliques if len(clique) == size])
        apart = points[members] - points[members].mean(axis=1, keepdims=True)
        U, s, _ = np.linalg.svd(apart, full_matrices=False)
        is_span = (s > 1e-9 * s[:, :1]) & (s > 0)
        U = U * np.sqrt(is_span / np.maximum(s**2, _THINNEST))[:, None, :]
        rows.append(np.repeat(members, size, axis=1).ravel())
        columns.append(np.tile(members, size).ravel())
        entries.append((U @ U.transpose(0, 2, 1)).ravel())
    places = np.concatenate(rows), np.concatenate(columns)
    W = coo_array((np.concatenate(entries), places), shape=(n, n)).tocsr()
    # Rows of W add up to zero, so it is the Laplacian of these weights.
    return -np.asarray(W[i, j]).ravel()
