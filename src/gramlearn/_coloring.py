"""sum_a cost[a, c(a)] -> min over colors c with c(a) != c(b) on every edge of a graph.

Whether there is any such coloring is NP-hard to say for three colors or more. `first_coloring` searches: the
node with the fewest colors left comes next, the cheapest color first, and it turns back where none is left.
`improved` goes down from a coloring by Kempe's chains: in the part of the graph that has colors c and d, each
connected piece may have the two swapped, and all pieces whose swap lowers the cost are swapped at once. With
two colors that is the optimum; with more it is a local one.
"""

from itertools import combinations
from typing import Any, final

import numpy as np
from scipy.sparse.csgraph import connected_components

__all__ = ["NoColoringError", "clique", "first_coloring", "improved"]

_MOST_STEPS = 100_000  # of the search in one connected piece


@final
class NoColoringError(ValueError):
    """`nodes` cannot be colored, or in `_MOST_STEPS` were not, where `is_proven` is False."""

    def __init__(self, nodes: np.ndarray, is_proven: bool) -> None:
        super().__init__(f"no coloring of {len(nodes)} nodes")
        self.nodes = nodes
        self.is_proven = is_proven


def improved(graph: Any, cost: np.ndarray, colors: np.ndarray, rounding: float) -> np.ndarray:
    """Swap the colors of pieces until no swap saves more than `rounding`."""
    colors = colors.copy()
    edges = graph.tocoo()
    nodes = np.arange(len(colors))
    is_lower = True
    while is_lower:
        is_lower = False
        for c, d in combinations(range(cost.shape[1]), 2):
            mine = (colors == c) | (colors == d)
            kept = mine[edges.row] & mine[edges.col]
            within = type(edges)(
                (edges.data[kept], (edges.row[kept], edges.col[kept])), shape=edges.shape
            )
            piece = connected_components(within, directed=False)[1]
            other = np.where(mine, c + d - colors, colors)
            saved = np.bincount(piece, cost[nodes, colors] - cost[nodes, other])
            swapped = saved[piece] > rounding
            if swapped.any():
                colors, is_lower = np.where(swapped, other, colors), True
    return colors


def first_coloring(graph: Any, cost: np.ndarray) -> np.ndarray:
    """A coloring, cheap where it can choose; NoColoringError where there is none."""
    colors = np.full(len(cost), -1)
    piece = connected_components(graph, directed=False)[1]
    order = np.argsort(piece, kind="stable")
    for nodes in np.split(order, np.flatnonzero(np.diff(piece[order])) + 1):
        colors[nodes] = _color_piece(graph[nodes][:, nodes], cost[nodes], nodes)
    return colors


def _color_piece(graph: Any, cost: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    n, n_colors = cost.shape
    neighbors = np.split(graph.indices, graph.indptr[1:-1])
    taken = np.zeros((n, n_colors), dtype=np.int64)  # how many neighbors have this color
    colors = np.full(n, -1)
    by_cost = np.argsort(cost, axis=1, kind="stable")
    # Of nodes with as few colors left, the one that loses most without its best.
    loss = cost[np.arange(n), by_cost[:, min(1, n_colors - 1)]] - cost[np.arange(n), by_cost[:, 0]]
    loss = loss / (2 * loss.max()) if loss.max() > 0 else loss
    path: list[tuple[int, list[int]]] = []
    for _ in range(_MOST_STEPS):
        if len(path) == n:
            return colors
        urgency = np.where(colors < 0, np.count_nonzero(taken, axis=1) + loss, -1.0)
        node = int(np.argmax(urgency))
        path.append((node, _choices(taken[node], by_cost[node], colors)))
        while path and not path[-1][1]:  # nothing left to try: the choice before was wrong
            path.pop()
            if path:
                _paint(path[-1][0], -1, colors, taken, neighbors)
        if not path:
            raise NoColoringError(nodes, is_proven=True)
        node, choices = path[-1]
        _paint(node, choices.pop(0), colors, taken, neighbors)
    raise NoColoringError(nodes, is_proven=False)


def _choices(taken: np.ndarray, by_cost: np.ndarray, colors: np.ndarray) -> list[int]:
    """The colors no neighbor has, cheapest first; of those nobody has yet only one, for they are alike."""
    used = set(colors.tolist())
    free = [int(c) for c in by_cost if not taken[c]]
    fresh = [c for c in free if c not in used]
    return [c for c in free if c in used or c == fresh[0]]


def _paint(
    node: int, color: int, colors: np.ndarray, taken: np.ndarray, neighbors: list[np.ndarray]
) -> None:
    """Give a node a color, or with -1 take it back."""
    if colors[node] >= 0:
        taken[neighbors[node], colors[node]] -= 1
    if color >= 0:
        taken[neighbors[node], color] += 1
    colors[node] = color


def clique(graph: Any, size: int) -> list[int]:
    """Nodes that are all joined to each other, at least `size` of them; empty where none were found.

    From each node on, the neighbor that is joined to most of those left: quick, and may miss one.
    """
    joined = [
        set(indices.tolist()) - {node}
        for node, indices in enumerate(np.split(graph.indices, graph.indptr[1:-1]))
    ]
    for node, left in enumerate(joined):
        found, left = [node], set(left)
        while left:
            best = max(left, key=lambda other: len(joined[other] & left))
            found.append(best)
            left &= joined[best]
        if len(found) >= size:
            return sorted(found[:size])
    return []
