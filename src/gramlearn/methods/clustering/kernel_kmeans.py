"""minimize sum_i |g_i - m_c(i)|^2 over clusters c(i) and their means m: kernel k-means on a factor.

With K = G G' the rows g_i of G are coordinates in the feature space of the kernel, so that

    |g_i - m_c|^2 = K_ii - 2/|c| sum_{j in c} K_ij + 1/|c|^2 sum_{j, l in c} K_jl

and kernel k-means is Lloyd's iteration on rows. One iteration over c clusters and rank r costs n r c,
where the kernel matrix itself would ask for n^2.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.arrays import (
    Array,
    as_index,
    as_real,
    chunks,
    clipped,
    constant,
    namespace,
    read,
    to_numpy,
)
from gramlearn._base.points import group_sizes, group_sums, row_squares, rows_at
from gramlearn._base.validation import check_count, check_indices, check_points, generator
from gramlearn._base.warnings import warn
from gramlearn.problem.status import SolveInterrupted

ROUNDING = 1e-14  # of the largest |g|^2: a squared distance below it may be zero

Assign = Callable[[Array, Array | None], Array]
"""(centers, the labels before, None at first) -> labels."""


@final
@dataclass(frozen=True, eq=False)
class Clustering:
    """sum_i |g_i - m_c(i)|^2, with m the means of their clusters.

    Attributes
    ----------
    labels : vector of n numbers in 0..n_clusters-1
    centers : array n_clusters x r
        The means m. A cluster that stays empty, as where points coincide, has an earlier mean.
    objective : float
        The sum of squared distances.
    iterations : int
        Of the start that was best.
    converged : bool
        Whether no point would move any more.
    """

    labels: Array = field(repr=False)
    centers: Array = field(repr=False)
    objective: float
    iterations: int
    converged: bool


def kernel_kmeans(
    factor: Any,
    n_clusters: int,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    start: Any = None,
    random_state: Any = None,
) -> Clustering:
    """Cluster the points of the kernel G G' by Lloyd's iteration on the rows of G.

    Points go to the nearest mean, means follow their points, until no point moves. The objective falls
    with every iteration, to a local minimum: so there are restarts, of which the best is kept. A cluster
    that loses its last point is given the one farthest from its mean.

    Parameters
    ----------
    factor : array n x r
        G, or any coordinates of points. Not the kernel matrix K: of that, take
        `spectral_factor(K, "precomputed").factor`. A symmetric array is accepted, since the root of K is a
        factor, too.
    n_clusters : int
        At most n.
    n_init : int
        How many starts, each seeded by k-means++.
    max_iter : int
        The most iterations of one start.
    start : vector of n cluster numbers, optional
        Start from this assignment instead, once.
    random_state : int, Generator or None
        Seeds the starts.
    """
    G = as_real(check_points(factor, "factor", any_unit=True))
    check_n_clusters(n_clusters, int(G.shape[0]))

    def make_assignment(G: Array) -> tuple[Array, Assign]:
        return G, lambda centers, _: fill_empty(G, nearest(G, centers), centers)

    return cluster_with_restarts(
        G, n_clusters, make_assignment, n_init, max_iter, start, random_state, "kernel k-means"
    )


def cluster_with_restarts(
    factor: Array,
    n_clusters: int,
    make_assignment: Callable[[Array], tuple[Array, Assign]],
    n_init: int,
    max_iter: int,
    start: Any,
    random_state: Any,
    name: str,
) -> Clustering:
    """The best of several starts; `make_assignment(G)` gives the rows to draw seeds from, and the rule."""
    n_clusters = int(n_clusters)
    n_init, max_iter = check_count(n_init, "n_init"), check_count(max_iter, "max_iter")
    rng = generator(random_state)
    unit = _unit(factor)
    G, xp = factor / unit, namespace(factor)
    middle = xp.mean(G, axis=0)
    G = G - middle  # fewer digits cancel in squared distances between rows near zero
    rows, assign = make_assignment(G)
    best: Clustering | None = None
    try:
        for centers in _draw_starts(rows, n_clusters, n_init, start, rng):
            best = _choose_better(best, _run_lloyd(G, centers, max_iter, assign))
    except KeyboardInterrupt as stop:
        if isinstance(stop, SolveInterrupted):
            best = _choose_better(best, stop.solution)
        if best is None:
            raise
        answer = _restore_units(best, middle, unit)
        raise SolveInterrupted(answer, "before the last start was over") from None
    assert best is not None
    n_found = int(xp.unique_values(best.labels).shape[0])
    if n_found < n_clusters:
        warn(
            f"only {n_found} of n_clusters={n_clusters} clusters have points, for no more points differ; ask "
            "for fewer clusters.",
            ConvergenceWarning,
        )
    if not best.converged:
        warn(
            f"{name} stopped after max_iter={max_iter} iterations while points still moved; raise "
            "`max_iter`.",
            ConvergenceWarning,
        )
    return _restore_units(best, middle, unit)


def _choose_better(best: Clustering | None, other: Clustering) -> Clustering:
    return other if best is None or other.objective < best.objective else best


def _restore_units(found: Clustering, middle: Array, unit: float) -> Clustering:
    """What was found about the middle, in units of the largest entry, as it is in those of the user."""
    centers, objective = (found.centers + middle) * unit, found.objective * unit * unit
    return replace(found, centers=centers, objective=objective)


def nearest_centers(factor: Array, centers: Array) -> Array:
    """The number of the center nearest to each row; of equally near ones the first."""
    unit = _unit(factor, centers)
    middle = namespace(centers).mean(centers / unit, axis=0)
    return nearest(factor / unit - middle, centers / unit - middle)


def _unit(*arrays: Array) -> float:
    """A power of two near the largest entry: in this unit squares neither overflow nor vanish."""
    largest = max(read(namespace(array).max(namespace(array).abs(array))) for array in arrays)
    return math.ldexp(0.5, math.frexp(largest)[1]) if largest > 0.0 else 1.0


def _run_lloyd(G: Array, centers: Array, max_iter: int, assign: Assign) -> Clustering:
    labels, iterations, converged = None, 0, False
    try:
        while labels is None or (iterations < max_iter and not converged):
            moved = assign(centers, labels)
            converged = labels is not None and not bool(namespace(moved).any(moved != labels))
            labels, centers, iterations = moved, _means(G, moved, centers), iterations + 1
        return _measure(G, labels, centers, iterations, converged)
    except KeyboardInterrupt:
        if labels is None:
            raise
        answer = _measure(G, labels, _means(G, labels, centers), iterations, False)
        raise SolveInterrupted(answer, "in its first start") from None


def _measure(
    G: Array, labels: Array, centers: Array, iterations: int, converged: bool
) -> Clustering:
    objective = read(namespace(G).sum(_squared_distances(G, labels, centers)))
    return Clustering(labels, centers, objective, iterations, converged)


def nearest(G: Array, centers: Array) -> Array:
    """The number of the nearest center, of rows and centers that lie around zero."""
    xp, halves = namespace(G), row_squares(centers)[:, None] / 2
    # |g - m|^2 / 2 less |g|^2 / 2, which is the same for all centers.
    parts = [
        xp.argmin(halves - centers @ G[rows, :].T, axis=0)
        for rows in chunks(G.shape[0], centers.shape[0], G)
    ]
    return xp.concat(parts)


def _means(G: Array, labels: Array, centers: Array) -> Array:
    """The mean of each cluster; an empty one keeps its center."""
    sums, xp = group_sums(G, labels, int(centers.shape[0])), namespace(G)
    counts = as_real(group_sizes(labels, int(centers.shape[0])), G)[:, None]
    return xp.where(counts > 0, sums / clipped(counts, low=1.0), centers)


def _squared_distances(G: Array, labels: Array, centers: Array) -> Array:
    parts = [
        row_squares(G[rows, :] - rows_at(centers, labels[rows]))
        for rows in chunks(G.shape[0], G.shape[1], G)
    ]
    return namespace(G).concat(parts)


def fill_empty(G: Array, labels: Array, centers: Array) -> Array:
    """Give every empty cluster the point farthest from its center, which lowers the objective.

    A point that is alone in its cluster stays, and so does one at its center up to rounding.
    """
    counts = group_sizes(labels, int(centers.shape[0]))
    if counts.all():
        return labels
    moved, empty = np.array(to_numpy(labels)), list(np.flatnonzero(counts == 0))
    squared = to_numpy(_squared_distances(G, labels, centers))
    rounding = ROUNDING * read(namespace(G).max(row_squares(G)))
    for i in np.argsort(-squared, kind="stable"):
        if not empty or squared[i] <= rounding:
            break
        if counts[moved[i]] > 1:
            counts[moved[i]] -= 1
            moved[i] = empty.pop(0)
    return as_index(moved, labels)


def _draw_starts(
    G: Array, n_clusters: int, n_init: int, start: Any, rng: np.random.Generator
) -> Iterator[Array]:
    """Centers to start from: the means of the clusters given, or seeds drawn n_init times."""
    if start is not None:
        labels = as_index(_check_start(start, int(G.shape[0]), n_clusters), G)
        centers = _means(G, labels, constant(0.0, G, (n_clusters, G.shape[1])))
        yield _means(G, fill_empty(G, labels, centers), centers)
        return
    for _ in range(n_init):
        yield _draw_seeds(G, n_clusters, rng)


def _draw_seeds(G: Array, n_clusters: int, rng: np.random.Generator) -> Array:
    """k-means++: each center a point drawn in proportion to its squared distance from those before.

    Of a few draws the one is kept that leaves the smallest sum of squared distances.
    """
    n, n_draws = int(G.shape[0]), 2 + int(math.log(n_clusters))
    norms, xp = row_squares(G), namespace(G)
    seeds = [int(rng.integers(n))]
    squared = constant(math.inf, G, n)
    drawn = np.asarray(seeds)
    while True:
        distances = rows_at(norms, drawn)[:, None] - 2 * (rows_at(G, drawn) @ G.T) + norms
        distances = xp.minimum(clipped(distances, low=0.0), squared[None, :])
        best = int(xp.argmin(xp.sum(distances, axis=1)))
        seeds[-1], squared = int(drawn[best]), distances[best, :]
        if len(seeds) == n_clusters:
            return rows_at(G, np.asarray(seeds))
        reached = xp.cumulative_sum(squared)
        targets = as_real(rng.random(n_draws) * read(reached[n - 1]), G)
        drawn = to_numpy(xp.searchsorted(reached, targets, side="right"))
        drawn = np.minimum(drawn, n - 1)  # where all points are covered there is nothing to draw
        seeds.append(-1)


def check_n_clusters(n_clusters: Any, n: int) -> None:
    """At least 1 and at most n."""
    n_clusters = check_count(n_clusters, "n_clusters")
    if n_clusters > n:
        raise ValueError(
            f"`n_clusters={n_clusters}` asks for more clusters than there are points (n_samples={n}); pass at "
            f"most {n}."
        )


def _check_start(start: Any, n: int, n_clusters: int) -> Array:
    labels = to_numpy(check_indices(start, "start"))
    if labels.size != n or labels.max() >= n_clusters:
        raise ValueError(
            f"`start` has {labels.size} entries, the largest {labels.max(initial=-1)}; pass one cluster number "
            f"in 0..{n_clusters - 1} for each of the {n} points."
        )
    return labels
