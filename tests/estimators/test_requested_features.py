"""Features that users of other metric learning libraries have asked for: one test each.

A comment gives the number of the request and what it asks for. Bug reports are in
test_failures_of_other_libraries.py and, where size is the problem, in test_large_inputs.py.
"""

import numpy as np
import pytest
from gramlearn.constraints import SimilarityComparisons
from gramlearn.losses import Hard, Hinge, LogDetSlack, SquaredHinge
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris, make_moons
from sklearn.neighbors import KNeighborsClassifier

from gramlearn import (
    Bounds,
    Frobenius,
    KernelLearner,
    LogDet,
    MetricLearner,
    Pairs,
    Problem,
    SemiSupervisedEmbedding,
    Term,
    Triplets,
    solve,
)
from gramlearn.kernels import ManifoldKernel
from gramlearn.methods import large_margin_problem
from gramlearn.side_information import percentile_bounds

IRIS, SPECIES = load_iris(return_X_y=True)
SIDE = Pairs.from_labels(SPECIES, 300, random_state=0)
BOUNDS = (0.5, 9.0)
TRUE = np.diag([25.0, 4.0, 1.0, 0.0, 0.0, 0.0])  # a metric that sees three of six features


def triplets_of(d, rng, m):
    """m rows (i, j, k) with d[i, j] < d[i, k]."""
    rows = np.stack([rng.permutation(len(d))[:3] for _ in range(m)])
    wrong = d[rows[:, 0], rows[:, 1]] > d[rows[:, 0], rows[:, 2]]
    rows[wrong] = rows[wrong][:, [0, 2, 1]]
    return rows


def share_right(d, rows):
    return np.mean(d[rows[:, 0], rows[:, 1]] < d[rows[:, 0], rows[:, 2]])


def distances_of(K):
    return np.maximum(np.diag(K)[:, None] + np.diag(K) - 2 * K, 0.0)


# -- what can be said of pairs -------------------------------------------------------------------------


# metric-learn#63, pytorch-metric-learning#509, #549, #681, #742: how are pairs passed, without labels?
def test_pairs_are_row_numbers_or_points_and_need_no_labels():
    similar, dissimilar = SIDE.similar[:40], SIDE.dissimilar[:40]
    of_rows = MetricLearner(bounds=BOUNDS, C=1.0).fit(
        IRIS, side=Pairs(similar, dissimilar, n_points=len(IRIS))
    )
    pairs = IRIS[np.vstack([similar, dissimilar])]  # m x 2 x d, points that stand for themselves
    rows = np.arange(160).reshape(-1, 2)
    side = Pairs(rows[:40], rows[40:], n_points=160)
    of_points = MetricLearner(bounds=BOUNDS, C=1.0).fit(pairs.reshape(-1, 4), side=side)
    np.testing.assert_allclose(of_rows.components_, of_points.components_, rtol=1e-5, atol=1e-6)


# ITML has one bound for all pairs of a kind.
def test_each_pair_has_its_own_bound():
    upper, lower = np.array([0.01, 0.5]), np.array([4.0, 30.0])
    side = Pairs([[0, 1], [60, 61]], [[0, 60], [60, 120]], n_points=150, upper=upper, lower=lower)
    learner = MetricLearner(loss="hard").fit(IRIS, side=side)
    i, j, _ = side.near_and_far()
    squared = learner.pair_distance((IRIS[i], IRIS[j])) ** 2
    assert np.all(squared[:2] <= upper * (1 + 1e-5))
    assert np.all(squared[2:] >= lower * (1 - 1e-5))


# ITML has no weights.
def test_a_weight_multiplies_the_loss_of_a_pair():
    weighted = Pairs(
        SIDE.similar, SIDE.dissimilar, n_points=150, similar_weight=3.0, dissimilar_weight=3.0
    )
    one = MetricLearner(bounds=BOUNDS, tol=1e-9, C=1.0).fit(IRIS, side=weighted)
    two = MetricLearner(bounds=BOUNDS, C=3.0, tol=1e-9).fit(IRIS, side=SIDE)
    np.testing.assert_allclose(one.components_, two.components_, rtol=1e-6, atol=1e-8)
    # One pair that counts for much is at its bound, where it is not without.
    heavy = np.ones(len(SIDE.similar))
    heavy[0] = 1e5
    i, j = SIDE.similar[0]
    light, leaning = (
        MetricLearner(bounds=(1e-4, 9.0), C=1.0)
        .fit(IRIS, side=Pairs(SIDE.similar, SIDE.dissimilar, n_points=150, similar_weight=weight))
        .pair_distance((IRIS[[i]], IRIS[[j]]))
        for weight in (None, heavy)
    )
    assert leaning == pytest.approx(0.01, rel=1e-3)
    assert light > 0.015


# ITML starts anew each time.
@pytest.mark.parametrize("solver", ["primal_newton", "working_set"])
def test_a_solve_goes_on_from_an_earlier_one(solver):
    def problem(gamma):
        return Problem(LogDet(), np.eye(4), SIDE.bind(LogDetSlack(gamma), IRIS, BOUNDS))

    earlier = solve(problem(1.0), solver)
    cold, warm = (solve(problem(1.1), solver, start=start) for start in (None, earlier))
    assert warm.iterations <= cold.iterations / 2
    assert warm.primal == pytest.approx(cold.primal, rel=1e-5)


# metric-learn#233, #205: labels of some points, constraints on others, and points of which nothing is known.
def test_labels_pairs_and_comparisons_are_combined_in_one_fit():
    y = np.where(np.arange(150) % 3 == 0, SPECIES, -1)
    labeled = Pairs.from_labels(y, 100, random_state=0)
    asked = Triplets([(1, 2, 52), (52, 53, 101), (101, 103, 1)], n_points=150)
    measured = Bounds([4], [55], upper=4.0, lower=4.0, n_points=150)
    terms = [
        *labeled.bind(LogDetSlack(1.0), IRIS, percentile_bounds(IRIS, random_state=0)),
        *asked.bind(Hinge(10.0), IRIS),
        *measured.bind(Hard(), IRIS),
    ]
    solution = solve(Problem(LogDet(), np.eye(4), terms))
    d = squareform(pdist(IRIS @ solution.factor, "sqeuclidean"))
    assert share_right(d, np.asarray(asked.triplets)) == 1.0
    assert d[4, 55] == pytest.approx(4.0, rel=1e-5)
    known = y >= 0
    neighbors = KNeighborsClassifier(3).fit((IRIS @ solution.factor)[known], y[known])
    assert neighbors.score((IRIS @ solution.factor)[~known], SPECIES[~known]) > 0.9


# metric-learn#205: most points have no label, and should say something nevertheless.
@pytest.mark.filterwarnings("ignore:`y` holds -1, 0 and 1")
def test_unlabeled_points_improve_the_kernel():
    X, y = make_moons(200, noise=0.06, random_state=1)
    few = np.full(200, -1)
    for label in (0, 1):
        few[np.random.default_rng(label).choice(np.flatnonzero(y == label), 4, False)] = label

    def accuracy(kernel):
        T = KernelLearner(kernel, n_pairs=20, random_state=0, C=1.0).fit(X, few).transform(X)
        known = few >= 0
        return KNeighborsClassifier(1).fit(T[known], few[known]).score(T[~known], y[~known])

    assert accuracy(ManifoldKernel(X, "rbf", {"gamma": 5.0}, strength=10.0)) > accuracy("rbf")


# umap#995: all that is known is which points shall not be near.
def test_dissimilar_pairs_alone_make_a_metric_and_an_embedding():
    side = Pairs(dissimilar=SIDE.dissimilar, n_points=150)
    for model in (MetricLearner(random_state=0, C=1.0), SemiSupervisedEmbedding(tau=0.01)):
        T = model.fit(IRIS, side=side).transform(IRIS)
        d, plain = (squareform(pdist(Z)) for Z in (T, IRIS))
        same = SPECIES[:, None] == SPECIES
        # Classes are apart by more of what is within them.
        assert d[~same].mean() / d[same].mean() > plain[~same].mean() / plain[same].mean()


# -- comparisons ---------------------------------------------------------------------------------------


# metric-learn#13: relative comparisons, as of Schultz and Joachims.
def test_comparisons_find_the_features_that_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 6))
    d = squareform(pdist(X @ np.sqrt(TRUE), "sqeuclidean"))
    rows, held_out = np.split(triplets_of(d, rng, 1000), [600])
    side = Triplets(rows, n_points=100)
    learner = MetricLearner("frobenius", prior=np.zeros((6, 6)), loss="hinge", C=10.0)
    learned = squareform(pdist(learner.fit(X, side=side).transform(X)))
    assert share_right(learned, held_out) > 0.97 > share_right(squareform(pdist(X)), held_out)


# metric-learn#210, #352: LMNN, with triplets of one's own.
def test_lmnn_takes_triplets_of_the_user():
    pull, push = large_margin_problem(IRIS, SPECIES).terms
    named = push.constraints
    own = Triplets(np.stack([named.i, named.j, named.k], axis=1), n_points=150, margin=1.0)
    terms = [pull, *own.bind(Hinge(push.loss.C), named.points)]
    one = solve(large_margin_problem(IRIS, SPECIES), tol=1e-8)
    two = solve(Problem(LogDet(), np.eye(4), terms), tol=1e-8)
    np.testing.assert_allclose(one.matrix, two.matrix, rtol=1e-6, atol=1e-8)


# cblearn#28: from triplets to distances, of things that have no features.
def test_triplets_alone_give_distances():
    rng = np.random.default_rng(0)
    d = squareform(pdist(rng.standard_normal((40, 2)), "sqeuclidean"))
    rows, held_out = np.split(triplets_of(d, rng, 3000), [2000])
    terms = Triplets(rows, n_points=40).bind(SquaredHinge(1.0))
    solution = solve(Problem(Frobenius(), np.zeros((40, 40)), terms))
    learned = distances_of(solution.matrix)
    assert share_right(learned, held_out) > 0.85
    assert np.corrcoef(learned[np.triu_indices(40, 1)], d[np.triu_indices(40, 1)])[0, 1] > 0.8


# metric-learn#329, #330: a bilinear similarity x'Wy from comparisons (OASIS).
def test_a_bilinear_similarity_is_learned_and_stays_a_kernel():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    rows, held_out = np.split(triplets_of(-X @ TRUE @ X.T, rng, 1500), [800])
    term = Term(SimilarityComparisons(*rows.T, points=X), Hinge(1.0, lower=1.0))
    W = solve(Problem(Frobenius(), np.zeros((6, 6)), [term])).matrix
    assert share_right(-X @ W @ X.T, held_out) > 0.95 > share_right(-X @ X.T, held_out)
    assert np.linalg.eigvalsh(W)[0] > -1e-10
