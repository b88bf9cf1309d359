"""minimize sum_a cost[a, c(a)] over colors c with c(a) != c(b) on every edge of a graph.

Whether there is any such coloring is NP-hard to say for three colors or more. `first_coloring` searches: the
node with the fewest colors left comes next, the cheapest color first, and it turns back where none is left.
`improved` goes down from a coloring by Kempe's chains: in the part of the graph that has colors c and d, each
connected piece may have the two swapped, and all pieces whose swap lowers the cost are swapped at once. With
two colors that is the optimum; with more it is a local one.
"""

from heapq import heappop, heappush
from itertools import combinations
from typing import Any, final

import numpy as np
from scipy.sparse.csgraph import connected_components

_MOST_RETURNS = 100_000  # of the search in one connected piece


@final
class NoColoringError(ValueError):
    """`nodes` cannot be colored, or in `_MOST_RETURNS` were not, where `is_proven` is False."""

    def __init__(self, nodes: np.ndarray, is_proven: bool) -> None:
        super().__init__(f"no coloring of {len(nodes)} nodes")
        self.nodes = nodes
        self.is_proven = is_proven


def improve_coloring(
    graph: Any, cost: np.ndarray, colors: np.ndarray, rounding: float
) -> np.ndarray:
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


def find_coloring(graph: Any, cost: np.ndarray) -> np.ndarray:
    """A coloring, cheap where it can choose; NoColoringError where there is none."""
    colors = np.full(len(cost), -1)
    piece = connected_components(graph, directed=False)[1]
    order = np.argsort(piece, kind="stable")
    for nodes in np.split(order, np.flatnonzero(np.diff(piece[order])) + 1):
        colors[nodes] = _color_piece(graph[nodes][:, nodes], cost[nodes], nodes)
    return colors


def _color_piece(graph: Any, cost: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    search = _Search(graph, cost)
    path: list[tuple[int, list[int]]] = []
    returns = 0
    while len(path) < len(cost):
        node = search.most_urgent()
        path.append((node, search.choices(node)))
        while path and not path[-1][1]:  # no color left to try: the choice before was wrong
            search.wait(path.pop()[0])
            if path:
                search.paint(path[-1][0], -1)
            returns += 1
        if not path or returns > _MOST_RETURNS:
            raise NoColoringError(nodes, is_proven=not path)
        node, choices = path[-1]
        search.paint(node, choices.pop(0))
    return search.colors


@final
class _Search:
    """The colors given so far, and a queue of nodes by how few they have left."""

    def __init__(self, graph: Any, cost: np.ndarray) -> None:
        n, n_colors = cost.shape
        self.colors = np.full(n, -1)
        self._neighbors = np.split(graph.indices, graph.indptr[1:-1])
        self._taken = np.zeros((n, n_colors), dtype=np.int64)  # how many neighbors have this color
        self._used = np.zeros(n_colors, dtype=np.int64)
        self._by_cost = np.argsort(cost, axis=1, kind="stable")
        # Of nodes with as few colors left, the one that loses most without its best.
        best, second = np.sort(cost, axis=1)[:, [0, min(1, n_colors - 1)]].T
        loss = second - best
        self._loss = loss / (2 * loss.max()) if loss.max() > 0 else loss
        self._queue: list[tuple[float, int]] = []
        for node in range(n):
            self.wait(node)

    def wait(self, node: int) -> None:
        """Queue a node; entries that no longer say how urgent it is stay, and are passed over."""
        heappush(self._queue, (self._ease(node), node))

    def _ease(self, node: int) -> float:
        return -float(np.count_nonzero(self._taken[node]) + self._loss[node])

    def most_urgent(self) -> int:
        while True:
            ease, node = heappop(self._queue)
            if self.colors[node] < 0 and ease == self._ease(node):
                return node

    def choices(self, node: int) -> list[int]:
        """The colors no neighbor has, cheapest first; of unused colors only one, since they are alike."""
        free = [int(c) for c in self._by_cost[node] if not self._taken[node, c]]
        fresh = [c for c in free if not self._used[c]]
        return [c for c in free if self._used[c] or c == fresh[0]]

    def paint(self, node: int, color: int) -> None:
        """Give a node a color, or with -1 take it back."""
        for given, change in ((int(self.colors[node]), -1), (color, 1)):
            if given >= 0:
                self._taken[self._neighbors[node], given] += change
                self._used[given] += change
        self.colors[node] = color
        for other in [node, *self._neighbors[node].tolist()]:
            if self.colors[other] < 0:
                self.wait(other)


def find_clique(graph: Any, size: int) -> list[int]:
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
