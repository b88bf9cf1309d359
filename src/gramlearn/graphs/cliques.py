"""C with {i, j} an edge for all i, j in C: the cliques of a graph, found greedily, so that each edge is in one.

What is known of all pairs of some points, such as their distances or correlations, is known of their shape.
"""

import numpy as np

Neighbors = list[set[int]]


def list_neighbors(n: int, i: np.ndarray, j: np.ndarray) -> Neighbors:
    """For each of n points the set of those it is joined to."""
    near: Neighbors = [set() for _ in range(n)]
    for a, b in zip(i.tolist(), j.tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    return near


def find_cliques(near: Neighbors) -> list[set[int]]:
    """For each pair a clique that contains it, grown by the common neighbor of the highest degree."""
    # Sets of points as bits of an integer, those of the highest degree first.
    order = sorted(range(len(near)), key=lambda a: -len(near[a]))
    place = {a: k for k, a in enumerate(order)}
    bits = [sum(1 << place[b] for b in near[a]) for a in order]
    found: set[int] = set()
    # Pairs whose clique holds all their common neighbors.
    done: set[tuple[int, int]] = set()
    for a, others in enumerate(near):
        for b in sorted(c for c in others if c > a):
            first, second = place[a], place[b]
            if (min(first, second), max(first, second)) in done:
                continue
            clique, left = 1 << first | 1 << second, bits[first] & bits[second]
            while left:
                best = left & -left
                clique |= best
                left &= bits[best.bit_length() - 1]
            if clique not in found:
                found.add(clique)
                inside = _places(clique)
                done.update(
                    (c, d)
                    for k, c in enumerate(inside)
                    for d in inside[k + 1 :]
                    if not bits[c] & bits[d] & ~clique
                )
    cliques = [{order[k] for k in _places(clique)} for clique in found]
    return sorted(cliques, key=sorted)


def _places(bits: int) -> list[int]:
    """Where an integer has ones, the lowest first."""
    places = []
    while bits:
        lowest = bits & -bits
        places.append(lowest.bit_length() - 1)
        bits ^= lowest
    return places
