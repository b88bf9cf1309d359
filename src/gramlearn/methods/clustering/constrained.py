"""minimize sum_i |g_i - m_c(i)|^2 subject to c(i) = c(j) for must-links and c(i) != c(j) for cannot-links.

Points that must-links join, directly or through others, are one group and move together:

    sum_i |g_i - m_c(i)|^2 = sum_a n_a |g_a - m_c(a)|^2 + const,      g_a the mean of the n_a points of group a

Cannot-links make a graph of the groups, and assignment to clusters is a coloring of it. As in Lloyd's iteration
groups go to near means, by swaps that keep every link and lower the sum, and means follow. So all links
hold at all times, where greedy assignment (COP-k-means) may find no cluster for a point.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_host_points
from gramlearn.methods.clustering.coloring import (
    NoColoringError,
    find_clique,
    find_coloring,
    improve_coloring,
)
from gramlearn.methods.clustering.kernel_kmeans import (
    ROUNDING,
    Assign,
    Clustering,
    check_n_clusters,
    cluster_with_restarts,
    fill_empty,
    nearest,
)
from gramlearn.side_information import Pairs
from gramlearn.side_information.closure import joined_components
from gramlearn.side_information.stored import refuse_stored


def constrained_kmeans(
    factor: Any,
    n_clusters: int,
    side: Pairs | None = None,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    start: Any = None,
    random_state: Any = None,
) -> Clustering:
    """Cluster points so that similar pairs share a cluster and dissimilar ones do not.

    Without pairs this is `kernel_kmeans`. The sum falls with every iteration, to a local minimum: so there are
    restarts.

    Parameters
    ----------
    factor : array n x r
        Coordinates of the points, or a factor of their kernel.
    n_clusters : int
        At most as many as there are groups.
    side : Pairs, optional
        Over the rows of `factor`. Bounds and weights of pairs are not used: every link is kept.
    n_init, max_iter, start, random_state :
        As in `kernel_kmeans`; a `start` need not keep the links.

    Raises
    ------
    ContradictionError
        Where similar pairs join the two points of a dissimilar one; it names the pairs.
    ValueError
        Where the dissimilar pairs ask for more clusters than there are.
    """
    G = check_host_points(factor, "factor")
    check_n_clusters(n_clusters, len(G))
    refuse_stored(side, "`side`")
    if side is not None and not isinstance(side, Pairs):
        raise TypeError(
            f"`side` must be Pairs, for clusters know no other links; got {type(side).__name__}."
        )
    groups = np.arange(len(G)) if side is None else _find_groups(side, len(G))
    links = _link_groups(side, groups)
    if n_clusters > links.shape[0]:
        raise ValueError(
            f"`n_clusters={n_clusters}` asks for more clusters than the {links.shape[0]} groups that similar "
            f"pairs make of the {len(G)} points; pass at most {links.shape[0]}."
        )

    make_assignment = partial(_make_assignment, groups=groups, links=links)
    return cluster_with_restarts(
        G, n_clusters, make_assignment, n_init, max_iter, start, random_state, "constrained k-means"
    )


def _find_groups(side: Pairs, n: int) -> np.ndarray:
    """The number of each point's group."""
    side.check_fits(n)
    return joined_components(to_numpy(side.similar), to_numpy(side.dissimilar), n)


def _link_groups(side: Pairs | None, groups: np.ndarray) -> csr_array:
    """The graph of groups that cannot-links make."""
    shape = (int(groups.max()) + 1,) * 2
    if side is None:
        return csr_array(shape)
    i, j = groups[to_numpy(side.dissimilar)].T
    links = csr_array((np.ones(i.size), (i, j)), shape=shape)
    return csr_array(links + links.T)


def _make_assignment(
    G: np.ndarray, groups: np.ndarray, links: csr_array
) -> tuple[np.ndarray, Assign]:
    """Each point at the mean of its group, which is where seeds are drawn, and the rule of assignment."""
    first = np.unique(groups, return_index=True)[1]  # a point of each group
    sizes = np.bincount(groups).astype(float)
    members = csr_array((np.ones(len(G)), (groups, np.arange(len(G)))), shape=(len(sizes), len(G)))
    means = (members @ G) / sizes[:, None]
    linked = np.flatnonzero(np.diff(links.indptr))
    graph = links[linked][:, linked]
    rounding = ROUNDING * float((sizes * np.vecdot(means, means)).max())

    def assign(centers: np.ndarray, before: np.ndarray | None) -> np.ndarray:
        labels = nearest(means, centers)
        if linked.size:
            # n_a |g_a - m|^2 less n_a |g_a|^2, which is the same for all centers.
            squared = np.vecdot(centers, centers) - 2 * (means[linked] @ centers.T)
            cost = sizes[linked, None] * squared
            points = first[linked]
            colors = _color_groups(graph, cost, points) if before is None else before[points]
            labels[linked] = improve_coloring(graph, cost, colors, rounding)
        return fill_empty(means, labels, centers)[groups]

    return means[groups], assign


def _color_groups(graph: csr_array, cost: np.ndarray, points: np.ndarray) -> np.ndarray:
    """A first assignment; `points` has a point of each node, for the sentence where there is none."""
    n_clusters = cost.shape[1]
    try:
        return find_coloring(graph, cost)
    except NoColoringError as error:
        nodes, is_proven = error.nodes, error.is_proven
    differ = find_clique(graph[nodes][:, nodes], n_clusters + 1)
    if differ:
        named = ", ".join(str(points[nodes[node]]) for node in differ)
        raise ValueError(
            f"`side` asks the points {named} all to be in different clusters, which `n_clusters={n_clusters}` "
            "are too few for; raise `n_clusters`, or remove a dissimilar pair of them."
        )
    named = ", ".join(str(point) for point in np.sort(points[nodes])[:10])
    words = "can be" if is_proven else "were found to be"
    raise ValueError(
        f"no `n_clusters={n_clusters}` clusters {words} such that all dissimilar pairs of `side` hold among "
        f"{len(nodes)} linked points or groups, such as those of {named}; raise `n_clusters`, or remove "
        "dissimilar pairs."
    )
