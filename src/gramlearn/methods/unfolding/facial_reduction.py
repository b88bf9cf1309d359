"""K v = 0 for v on a rigid body with sum_i v_i = 0 and sum_i v_i x_i = 0: what kept distances fix of a kernel.

A clique of the graph keeps all its distances, so it keeps its shape: r_i = Q x_i + c with Q'Q = I on the span
of its points. An affine relation of the x_i is then one of the r_i, |sum_i v_i r_i|^2 = v'Kv = 0. Where two
bodies share points whose affine span is that of one of them, they move as one, and all distances in their union
are kept as well: they join the graph, which may have larger cliques then. Every feasible kernel is K = V S V'
with the columns of V orthogonal to all such v, and to e. Without this, as soon as one body has more points than
dimensions allow, no feasible kernel is positive definite, multipliers run off to infinity, and interior points
have no interior to go through.
"""

import numpy as np

_RANK = 1e-9  # singular values below this share of the largest are zero

Group = list[int]
Neighbors = list[set[int]]


def common_range(
    points: np.ndarray, i: np.ndarray, j: np.ndarray, *, rigid: bool = True
) -> np.ndarray:
    """V, n x p and orthonormal, with K = V S V' for every centered K that keeps the distances of the pairs.

    With rigid=False distances may shrink, and only points at distance zero are fixed to each other.
    """
    n = points.shape[0]
    relations = [np.ones((1, n))]
    equal = np.all(points[i] == points[j], axis=1)
    groups = _find_bodies(points, i, j) if rigid else np.column_stack([i, j])[equal].tolist()
    for group in groups:
        U, rank = _affine_span(points[group])
        # Orthonormal v with sum_i v_i = 0 and sum_i v_i x_i = 0, one a row.
        lifted = np.zeros((len(group) - rank, n))
        lifted[:, group] = U[:, rank:].T
        relations.append(lifted)
    _, s, rows = np.linalg.svd(np.vstack(relations), full_matrices=False)
    rank = int(np.sum(s > _RANK * s[0]))
    Q, _ = np.linalg.qr(rows[:rank].T, mode="complete")
    return np.asarray(Q[:, rank:])


def _affine_span(points: np.ndarray) -> tuple[np.ndarray, int]:
    """U whose first columns span those of [points, 1], and how many they are: the dimension, and one."""
    apart = points - points.mean(axis=0)
    # Beside a column of ones of the same size as the rest.
    both = np.column_stack([apart / (float(np.abs(apart).max()) or 1.0), np.ones(len(points))])
    U, s, _ = np.linalg.svd(both, full_matrices=True)
    return U, int(np.sum(s > _RANK * s[0]))


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


def list_neighbors(n: int, i: np.ndarray, j: np.ndarray) -> Neighbors:
    """For each of n points the set of those it is joined to."""
    near: Neighbors = [set() for _ in range(n)]
    for a, b in zip(i.tolist(), j.tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    return near


def find_cliques(near: Neighbors) -> list[set[int]]:
    """For each pair a clique that contains it, grown by the common neighbor of the highest degree."""
    degrees = [len(others) for others in near]
    found: set[frozenset[int]] = set()
    # Pairs whose clique holds all their common neighbors.
    done: set[tuple[int, int]] = set()
    for a, others in enumerate(near):
        for b in sorted(c for c in others if c > a):
            if (a, b) in done:
                continue
            clique, left = {a, b}, near[a] & near[b]
            while left:
                best = max(sorted(left), key=degrees.__getitem__)
                clique.add(best)
                left = left & near[best]
            if frozenset(clique) not in found:
                found.add(frozenset(clique))
                done.update(
                    (c, d) for c in clique for d in clique if c < d and near[c] & near[d] <= clique
                )
    return [set(clique) for clique in sorted(found, key=sorted)]


def _merge_bodies(points: np.ndarray, bodies: list[set[int]]) -> list[set[int]]:
    """Join bodies that share points which span one of them."""
    alive = dict(enumerate(bodies))
    ranks = {k: _affine_span(points[sorted(body)])[1] for k, body in alive.items()}
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
            if len(shared) >= rank and _affine_span(points[shared])[1] >= rank:
                for a in alive[other]:
                    holders[a].discard(other)
                    holders[a].add(k)
                alive[k] |= alive.pop(other)
                ranks[k] = max(ranks[k], ranks.pop(other))
                waiting.append(k)
                break
    return list(alive.values())
