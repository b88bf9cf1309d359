"""Constrained k-means keeps every link, never worsens, and is k-means where there is none."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import ConstrainedKMeans, ContradictionError, Pairs, Triplets
from gramlearn.evaluation import pair_accuracy
from gramlearn.methods import constrained_kmeans, kernel_kmeans
from gramlearn.methods.clustering import coloring
from gramlearn.methods.clustering.coloring import (
    NoColoringError,
    find_clique,
    find_coloring,
    improve_coloring,
)

IRIS, SPECIES = load_iris(return_X_y=True)


def hold(labels: np.ndarray, side: Pairs) -> bool:
    alike, unlike = labels[np.asarray(side.similar)], labels[np.asarray(side.dissimilar)]
    return bool(np.all(alike[:, 0] == alike[:, 1]) and np.all(unlike[:, 0] != unlike[:, 1]))


def objective(X: np.ndarray, labels: np.ndarray) -> float:
    return sum(
        float(np.sum((X[labels == c] - X[labels == c].mean(axis=0)) ** 2)) for c in set(labels)
    )


def best_of_all(X: np.ndarray, n_clusters: int, side: Pairs) -> float:
    """The least sum over all assignments that keep the links; infinite where none does."""
    everything = map(np.array, product(range(n_clusters), repeat=len(X)))
    return min(
        (objective(X, labels) for labels in everything if hold(labels, side)), default=np.inf
    )


def drawn(seed: int, n: int, n_classes: int) -> tuple[np.ndarray, Pairs]:
    """Points that know nothing of their classes, and pairs that do."""
    rng = np.random.default_rng(seed)
    classes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    return rng.normal(size=(n, 2)), Pairs.from_labels(classes, 6, random_state=seed)


# -- oracles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_all_assignments_is_found(seed: int, n_clusters: int) -> None:
    X, side = drawn(seed, 8 if n_clusters == 2 else 7, n_clusters)
    found = constrained_kmeans(X, n_clusters, side, n_init=40, random_state=0)
    assert hold(found.labels, side)
    assert found.objective == pytest.approx(objective(X, found.labels), rel=1e-12)
    assert found.objective == pytest.approx(best_of_all(X, n_clusters, side), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_without_pairs_it_is_k_means(seed: int) -> None:
    start = np.random.default_rng(seed).integers(0, 3, len(IRIS))
    found = constrained_kmeans(IRIS, 3, start=start)
    kernel = kernel_kmeans(IRIS, 3, start=start)
    np.testing.assert_array_equal(found.labels, kernel.labels)
    assert (found.objective, found.iterations) == (kernel.objective, kernel.iterations)
    centers = np.array([IRIS[start == c].mean(axis=0) for c in range(3)])
    other = KMeans(3, init=centers, n_init=1, tol=0.0).fit(IRIS)
    assert found.objective == pytest.approx(other.inertia_, rel=1e-10)


def test_pairs_that_already_hold_change_nothing() -> None:
    plain = kernel_kmeans(IRIS, 3, random_state=0)
    side = Pairs.from_labels(plain.labels, 100, random_state=0)
    found = constrained_kmeans(IRIS, 3, side, start=plain.labels)
    np.testing.assert_array_equal(found.labels, plain.labels)


def test_all_classes_known_by_links_are_found() -> None:
    rows = [np.flatnonzero(c == SPECIES) for c in range(3)]
    chains = np.concat([np.stack([r[:-1], r[1:]], axis=1) for r in rows])
    between = [(rows[0][0], rows[1][9]), (rows[1][3], rows[2][4]), (rows[0][7], rows[2][7])]
    noise = np.random.default_rng(0).normal(size=IRIS.shape)
    found = constrained_kmeans(noise, 3, Pairs(chains, between, n_points=150), random_state=0)
    assert pair_accuracy(SPECIES, found.labels) == 1.0


@pytest.mark.parametrize("n_pairs", [30, 300, 2000])
def test_all_pairs_hold_and_every_iteration_lowers_the_sum(n_pairs: int) -> None:
    side = Pairs.from_labels(SPECIES, n_pairs, random_state=1)
    rng = np.random.default_rng(0)
    start = rng.integers(0, 3, len(IRIS))
    full = constrained_kmeans(IRIS, 3, side, start=start)
    sums = []
    for iterations in range(1, full.iterations):
        with pytest.warns(ConvergenceWarning, match="constrained k-means stopped"):
            found = constrained_kmeans(IRIS, 3, side, start=start, max_iter=iterations)
        assert hold(found.labels, side)
        sums.append(found.objective)
    assert hold(full.labels, side)
    assert np.all(np.diff([*sums, full.objective]) <= 1e-12 * full.objective)
    free = pair_accuracy(SPECIES, kernel_kmeans(IRIS, 3, start=start).labels)
    assert pair_accuracy(SPECIES, full.labels) > free


def test_units_and_the_origin_do_not_matter() -> None:
    side = Pairs.from_labels(SPECIES, 60, random_state=0)
    one = constrained_kmeans(IRIS, 3, side, random_state=0)
    two = constrained_kmeans(1e-9 * IRIS + 1e-5, 3, side, random_state=0)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert two.objective == pytest.approx(1e-18 * one.objective, rel=1e-6)


# -- coloring --------------------------------------------------------------------------------------


def graph_of(edges: list[tuple[int, int]], n: int) -> csr_array:
    i, j = np.reshape(edges, (-1, 2)).astype(int).T
    return csr_array((np.ones(2 * i.size), (np.append(i, j), np.append(j, i))), shape=(n, n))


def cheapest(edges: list[tuple[int, int]], cost: np.ndarray) -> float:
    """The cost of the best coloring of all."""
    n, n_colors = cost.shape
    colorings = product(range(n_colors), repeat=n)
    kept = (c for c in colorings if all(c[i] != c[j] for i, j in edges))
    return min((float(cost[np.arange(n), list(c)].sum()) for c in kept), default=np.inf)


EDGES = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] < e[1]))


@settings(max_examples=60, deadline=None)
@given(EDGES, st.integers(2, 3), st.integers(0, 1000))
def test_a_coloring_is_found_if_and_only_if_there_is_one(
    edges: Any, n_colors: int, seed: int
) -> None:
    edges = sorted(edges)
    cost = np.random.default_rng(seed).random((7, n_colors))
    best = cheapest(edges, cost)
    if np.isinf(best):
        with pytest.raises(NoColoringError) as caught:
            find_coloring(graph_of(edges, 7), cost)
        assert caught.value.is_proven
        return
    first = find_coloring(graph_of(edges, 7), cost)
    found = improve_coloring(graph_of(edges, 7), cost, first, 1e-12)
    before, after = (cost[np.arange(7), colors].sum() for colors in (first, found))
    assert all(first[i] != first[j] and found[i] != found[j] for i, j in edges)
    assert after <= before
    # Two colors of a connected piece can only be swapped, and swaps of pieces are tried: the optimum.
    assert after == pytest.approx(best) if n_colors == 2 else after >= best - 1e-12


def test_a_long_chain_is_colored_whatever_the_limit_of_backtracking(monkeypatch: Any) -> None:
    """Steps forward are not counted: a large piece is no hard one."""
    monkeypatch.setattr(coloring, "_MOST_RETURNS", 5)
    edges = [(k, k + 1) for k in range(199)]
    colors = find_coloring(graph_of(edges, 200), np.random.default_rng(0).random((200, 2)))
    assert all(colors[i] != colors[j] for i, j in edges)


@pytest.mark.parametrize("returns", [0, 1000])
def test_a_search_that_gives_up_says_that_nothing_is_proven(monkeypatch: Any, returns: int) -> None:
    """Mycielski's graph over a pentagon has no triangle and no three colors: some must be tried."""
    monkeypatch.setattr(coloring, "_MOST_RETURNS", returns)
    edges = [(i, (i + 1) % 5) for i in range(5)]
    edges += [(5 + i, j) for i in range(5) for j in ((i + 1) % 5, (i - 1) % 5)]
    edges += [(10, 5 + i) for i in range(5)]
    with pytest.raises(NoColoringError) as caught:
        find_coloring(graph_of(edges, 11), np.random.default_rng(0).random((11, 3)))
    assert caught.value.is_proven == (returns > 0)


def test_a_clique_is_found_among_other_edges() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 5), (2, 5), (2, 6), (3, 6), (5, 6), (4, 0)]
    assert find_clique(graph_of(edges, 7), 4) == [2, 3, 5, 6]
    assert find_clique(graph_of(edges, 7), 5) == []


# -- the estimator ---------------------------------------------------------------------------------


@parametrize_with_checks([ConstrainedKMeans(n_clusters=2, n_init=2)])
def test_the_estimator_keeps_the_rules_of_scikit_learn(estimator: Any, check: Callable) -> None:
    check(estimator)


def test_the_estimator_gives_what_the_function_gives() -> None:
    side = Pairs.from_labels(SPECIES, 60, random_state=0)
    model = ConstrainedKMeans(3, random_state=3)
    found = constrained_kmeans(IRIS, 3, side, random_state=3)
    np.testing.assert_array_equal(model.fit_predict(IRIS, side=side), found.labels)
    np.testing.assert_array_equal(model.cluster_centers_, found.centers)
    assert (model.inertia_, model.n_iter_) == (found.objective, found.iterations)
    squared = np.sum((IRIS[:, None] - model.cluster_centers_) ** 2, axis=2)
    np.testing.assert_array_equal(model.predict(IRIS), np.argmin(squared, axis=1))


# -- what is refused -------------------------------------------------------------------------------

POINTS = np.arange(10.0).reshape(5, 2)
SQUARE = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
PENTAGON = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a clique": (
        lambda: constrained_kmeans(POINTS, 3, Pairs([], SQUARE, n_points=5)),
        "`side` asks the points 0, 1, 2, 3 all to be in different clusters, which `n_clusters=3` are too few",
    ),
    "a cycle of odd length": (
        lambda: constrained_kmeans(POINTS, 2, Pairs([], PENTAGON, n_points=5)),
        "no `n_clusters=2` clusters can be such that all dissimilar pairs of `side` hold among 5 linked",
    ),
    "a contradiction": (
        lambda: constrained_kmeans(POINTS, 2, Pairs([(0, 1), (1, 2)], [(0, 2)], n_points=5)),
        r"dissimilar \(0, 2\) contradicts the must-links 0 - 1 - 2",
    ),
    "one cluster": (
        lambda: constrained_kmeans(POINTS, 1, Pairs([], [(3, 4)], n_points=5)),
        "the points 3, 4 all to be in different clusters, which `n_clusters=1`",
    ),
    "fewer groups": (
        lambda: constrained_kmeans(POINTS, 4, Pairs([(0, 1), (1, 2)], [], n_points=5)),
        "`n_clusters=4` asks for more clusters than the 3 groups",
    ),
    "other points": (
        lambda: constrained_kmeans(POINTS, 2, Pairs([(0, 1)], [], n_points=4)),
        "4",
    ),
    "other links": (
        lambda: constrained_kmeans(POINTS, 2, Triplets([(0, 1, 2)], n_points=5)),
        "`side` must be Pairs, for clusters know no other links; got Triplets",
    ),
    "in the place of labels": (
        lambda: ConstrainedKMeans(2).fit(POINTS, Pairs([(0, 1)], [], n_points=5)),
        "Pairs is side information; pass it as `side=`, not as `y`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_raises_a_clear_error(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_contradiction_names_the_pair() -> None:
    side = Pairs([(0, 1), (1, 2)], [(0, 2)], n_points=5)
    with pytest.raises(ContradictionError) as caught:
        ConstrainedKMeans(2).fit(POINTS, side=side)
    assert caught.value.contradictions == [((0, 2), (0, 1, 2))]
