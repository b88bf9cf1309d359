"""d_k d_k' = sum_l c_kl d_l d_l' over kept pairs l: which distances follow from others, and where to look.

d_k = N'(e_i - e_j), with N the basis that has a block for each piece of `facial_reduction`, so products of the
d_k are those of entries of P = N N'. Say sum_k w_k d_k d_k' = N'LN = 0, with L the Laplacian of w. Its block of
two different pieces is P_c L_cd P_d = 0, where L_cd has the -w_k of the pairs that join them and nothing else.
Where the matrix P_ik,il P_jk,jl of these pairs is regular, their w_k are zero; where it is not, the two pieces
are looked at as one. After that no dependence reaches from one piece to another. In each piece the matrix
G_kl = (d_k'd_l)^2 is small, and its Cholesky decomposition with pivots finds pairs that are independent.

The multipliers of the others can be moved to those: lam_l grows by c_kl lam_k, and sum_k lam_k d_k d_k' stays.
"""

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpstrf

from gramlearn.methods.unfolding.facial_reduction import Piece

_SAME = 1e-11  # the squared part of a constraint that is independent of others, below which it counts as 0


def independent_pairs(
    n: int, i: np.ndarray, j: np.ndarray, pieces: list[Piece], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the pairs that are kept, and weights of theirs with the same sum of w_k d_k d_k'."""
    weights, is_kept = weights.copy(), np.ones(i.shape[0], dtype=bool)
    for points, P in _closed_pieces(n, i, j, pieces):
        place = np.full(n, -1)
        place[points] = np.arange(len(points))
        pairs = np.flatnonzero((place[i] >= 0) & (place[j] >= 0))
        a, b = place[i[pairs]], place[j[pairs]]
        D = P[a] - P[b]
        G = (D[:, a] - D[:, b]) ** 2
        values = G @ weights[pairs]
        factor, order, rank, _ = dpstrf(
            G, lower=1, tol=_SAME * float(G.diagonal().max(initial=0.0))
        )
        order -= 1
        is_kept[pairs[order[rank:]]] = False
        weights[pairs[order[:rank]]] = cho_solve((factor[:rank, :rank], True), values[order[:rank]])
    kept = np.flatnonzero(is_kept)
    return kept, weights[kept]


def _closed_pieces(
    n: int, i: np.ndarray, j: np.ndarray, pieces: list[Piece]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Points and P of the pieces, joined where a dependence may reach from one to another."""
    from scipy.linalg import block_diag
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    free = np.setdiff1d(
        np.arange(n), np.concatenate([np.zeros(0, int), *(c.points for c in pieces)])
    )
    points = [*(c.points for c in pieces), *free[:, None]]
    blocks = [*(c.N @ c.N.T for c in pieces), *np.ones((len(free), 1, 1))]
    piece_of, place = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    for c, inside in enumerate(points):
        piece_of[inside], place[inside] = c, np.arange(len(inside))
    joined = [(0, 0)]
    for pairs in _pairs_between(piece_of[i], piece_of[j]):
        swap = piece_of[i[pairs]] > piece_of[j[pairs]]
        a, b = np.where(swap, j[pairs], i[pairs]), np.where(swap, i[pairs], j[pairs])
        c, d = int(piece_of[a[0]]), int(piece_of[b[0]])
        H = blocks[c][np.ix_(place[a], place[a])] * blocks[d][np.ix_(place[b], place[b])]
        s = np.linalg.eigvalsh(H)
        if not s[0] > _SAME * s[-1]:
            joined.append((c, d))
    c, d = np.array(joined).T
    graph = coo_array((np.ones(len(c)), (c, d)), shape=(len(points), len(points)))
    count, label = connected_components(graph, directed=False)
    together: list[list[int]] = [[] for _ in range(count)]
    for c, k in enumerate(label.tolist()):
        together[k].append(c)
    return [
        (np.concatenate([points[c] for c in some]), block_diag(*(blocks[c] for c in some)))
        for some in together
        if len(some) > 1 or some[0] < len(pieces)
    ]


def _pairs_between(first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
    """The numbers of the pairs that join the same two different pieces, where there is more than one."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    order = order[low[order] < high[order]]
    key = np.column_stack([low, high])[order]
    starts = np.flatnonzero(np.any(key[1:] != key[:-1], axis=1)) + 1
    return [pairs for pairs in np.split(order, starts) if len(pairs) > 1]
