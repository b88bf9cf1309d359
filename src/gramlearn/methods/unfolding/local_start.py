"""W = sum_c (X_c X_c')^+ over cliques c of the graph: weights of pairs from which interior points start.

A clique keeps all its distances, so every feasible K has one and the same block there, the products X_c X_c' of
its centered points. Were the graph chordal, the K of largest determinant with these blocks would have as its
inverse the sum of their inverses, less those of overlaps (Grone, Johnson, Sa and Wolkowicz 1984). So W^-1 comes
near the middle of the feasible kernels. In particular it is thin where all of them are: across nearly flat
cliques. There prices must grow by many orders, and from equal weights they grow little with each step: at 1000
points of a swiss roll they need 37 steps, and from here 20.
"""

import numpy as np

from gramlearn.methods.unfolding.facial_reduction import find_cliques, list_neighbors

_THINNEST = 1e-4  # squared lengths across a clique below this are taken as this: prices need not be that large


def local_weights(points: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The weights of the pairs i, j whose Laplacian is W. Some are negative.

    Points are in units in which the mean squared distance of the pairs is 1.
    """
    from scipy.sparse import coo_array

    n = points.shape[0]
    rows, columns, entries = [], [], []
    for group in find_cliques(list_neighbors(n, i, j)):
        clique = sorted(group)
        apart = points[clique] - points[clique].mean(axis=0)
        U, s, _ = np.linalg.svd(apart, full_matrices=False)
        U = U[:, s > 1e-9 * s[0]] if s[0] > 0 else U[:, :0]
        inverse = (U / np.maximum(s[: U.shape[1]] ** 2, _THINNEST)) @ U.T
        a, b = np.meshgrid(clique, clique, indexing="ij")
        rows.append(a.ravel())
        columns.append(b.ravel())
        entries.append(inverse.ravel())
    places = np.concatenate(rows), np.concatenate(columns)
    W = coo_array((np.concatenate(entries), places), shape=(n, n)).tocsr()
    # Rows of W add up to zero, so it is the Laplacian of these weights.
    return -np.asarray(W[i, j]).ravel()
