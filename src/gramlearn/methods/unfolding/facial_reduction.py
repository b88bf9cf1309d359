"""K v = 0 for v on a rigid body with sum_i v_i = 0 and sum_i v_i x_i = 0: what kept distances fix of a kernel.

A clique of the graph keeps all its distances, so it keeps its shape: r_i = Q x_i + c with Q'Q = I on the span
of its points. An affine relation of the x_i is then one of the r_i, |sum_i v_i r_i|^2 = v'Kv = 0. Where two
bodies share points whose affine span is that of one of them, they move as one, and all distances in their union
are kept as well: they join the graph, which may have larger cliques then. Every feasible kernel is K = V S V'
with the columns of V orthogonal to all such v, and to e. Without this, as soon as one body has more points than
dimensions allow, no feasible kernel is positive definite, multipliers run off to infinity, and interior points
have no interior to go through.

Bodies that share points make a piece. Relations of different pieces have no point in common, so each piece has
an orthonormal basis of its own, and that of all points is a block of each, and 1 for a point in no piece.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn.graphs.cliques import find_cliques, list_neighbors

_RANK = 1e-9  # singular values below this share of the largest are zero

Group = list[int]
Relations = tuple[Group, np.ndarray]  # some points, and columns v of them with K v = 0


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """Points with relations among them, and an orthonormal N that spans what the relations leave."""

    points: np.ndarray
    N: np.ndarray


def find_pieces(points: np.ndarray, i: np.ndarray, j: np.ndarray, *, rigid: bool) -> list[Piece]:
    """The pieces where distances of the pairs fix relations.

    With rigid=False distances may shrink, and only points at distance zero are fixed to each other.
    """
    n = points.shape[0]
    equal = np.all(points[i] == points[j], axis=1)
    groups = _find_bodies(points, i, j) if rigid else np.column_stack([i, j])[equal].tolist()
    spans = _affine_spans(points, groups)
    fixed = [(group, U[:, rank:]) for group, (U, rank) in zip(groups, spans, strict=True)]
    fixed = [(group, v) for group, v in fixed if v.shape[1]]
    return [_piece(members, n) for members in _join_by_points(fixed, n)]


def _join_by_points(fixed: list[Relations], n: int) -> list[list[Relations]]:
    """Those with points in common, directly or by way of others, together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    holders = np.repeat(np.arange(len(fixed)), [len(group) for group, _ in fixed])
    members = np.array([a for group, _ in fixed for a in group], dtype=np.intp)
    shape = (n + len(fixed), n + len(fixed))
    joined = coo_array((np.ones(len(members)), (n + holders, members)), shape=shape)
    _, labels = connected_components(joined, directed=False)
    together: dict[int, list[Relations]] = {}
    for k, label in enumerate(labels[n:].tolist()):
        together.setdefault(label, []).append(fixed[k])
    return list(together.values())


def _piece(members: list[Relations], n: int) -> Piece:
    inside = np.unique(np.concatenate([group for group, _ in members]))
    place = np.zeros(n, dtype=np.intp)
    place[inside] = np.arange(len(inside))
    # Orthonormal v with sum_i v_i = 0 and sum_i v_i x_i = 0 of each body, one a column.
    relations = np.zeros((len(inside), sum(v.shape[1] for _, v in members)))
    at = 0
    for group, v in members:
        relations[place[group], at : at + v.shape[1]] = v
        at += v.shape[1]
    U, s, _ = np.linalg.svd(relations, full_matrices=True)
    return Piece(inside, U[:, int(np.sum(s > _RANK * s[0])) :])


def common_range(n: int, pieces: list[Piece]) -> np.ndarray:
    """V, n x p and orthonormal, with K = V S V' for every centered K that obeys the relations of the pieces."""
    free = np.ones(n, dtype=bool)
    for piece in pieces:
        free[piece.points] = False
    V = np.zeros((n, int(free.sum()) + sum(piece.N.shape[1] for piece in pieces)))
    at = int(free.sum())
    V[free, :at] = np.eye(at)
    for piece in pieces:
        V[piece.points, at : at + piece.N.shape[1]] = piece.N
        at += piece.N.shape[1]
    # A reflection that turns the last column into e / sqrt(n), which is left out.
    u = V.sum(axis=0) / np.sqrt(n)
    u[-1] += np.copysign(1.0, u[-1])
    V -= np.outer(V @ u, 2.0 / (u @ u) * u)
    return np.ascontiguousarray(V[:, :-1])


def _affine_spans(points: np.ndarray, groups: list[Group]) -> list[tuple[np.ndarray, int]]:
    """For each group U whose first columns span [points, 1], and how many they are: the dimension, and one."""
    spans: dict[int, tuple[np.ndarray, int]] = {}
    sizes = np.array([len(group) for group in groups])
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        inside = points[np.array([groups[k] for k in same])]
        apart = inside - inside.mean(axis=1, keepdims=True)
        largest = np.abs(apart).max(axis=(1, 2), keepdims=True)
        # Beside a column of ones of the same size as the rest.
        both = np.concatenate(
            [apart / np.where(largest > 0, largest, 1), np.ones_like(apart[:, :, :1])], 2
        )
        U, s, _ = np.linalg.svd(both, full_matrices=True)
        ranks = np.sum(s > _RANK * s[:, :1], axis=1)
        spans.update(zip(same.tolist(), zip(U, ranks.tolist(), strict=True), strict=True))
    return [spans[k] for k in range(len(groups))]


def _find_bodies(points: np.ndarray, i: np.ndarray, j: np.ndarray) -> list[Group]:
    """Groups of points that move as one: cliques, merged until they fix no further distance."""
    near = list_neighbors(len(points), i, j)
    while True:
        bodies = _merge_bodies(points, find_cliques(near))
        missing = [(a, body - near[a] - {a}) for body in bodies for a in body]
        if not any(more for _, more in missing):
            return [sorted(body) for body in bodies]
        for a, more in missing:
            near[a] |= more


def _merge_bodies(points: np.ndarray, bodies: list[set[int]]) -> list[set[int]]:
    """Join bodies that share points which span one of them."""
    alive = dict(enumerate(bodies))
    spans = _affine_spans(points, [sorted(body) for body in bodies])
    ranks = {k: rank for k, (_, rank) in enumerate(spans)}
    holders: list[set[int]] = [set() for _ in range(len(points))]
    for k, body in alive.items():
        for a in body:
            holders[a].add(k)
    waiting = list(alive)
    while waiting:
        k = waiting.pop()
        if k not in alive:
            continue
        for other in sorted(set().union(*(holders[a] for a in alive[k])) - {k}):
            shared = sorted(alive[k] & alive[other])
            rank = min(ranks[k], ranks[other])
            if len(shared) >= rank and _affine_spans(points, [shared])[0][1] >= rank:
                for a in alive[other]:
                    holders[a].discard(other)
                    holders[a].add(k)
                alive[k] |= alive.pop(other)
                ranks[k] = max(ranks[k], ranks.pop(other))
                waiting.append(k)
                break
    return list(alive.values())
