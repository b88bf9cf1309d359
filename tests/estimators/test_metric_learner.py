"""MetricLearner: what it learns is the optimum of the problem it names, and scikit-learn can use it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from gramlearn.losses import Hinge, KLSlack, LogDetSlack, SquaredHinge
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import (
    Bounds,
    Frobenius,
    InfeasibleError,
    LogDet,
    MetricLearner,
    Pairs,
    Problem,
    Schatten,
    Triplets,
    VonNeumann,
    solve,
)
from gramlearn.estimators._pair_methods import best_threshold
from gramlearn.methods.metric.bases import basis_of
from gramlearn.side_information import percentile_bounds

IRIS, SPECIES = load_iris(return_X_y=True)
SIDE = Pairs.from_labels(SPECIES, 200, random_state=0)
KINDS = {
    "pairs": SIDE,
    "triplets": Triplets([(0, 1, 60), (60, 61, 120), (120, 121, 3)], n_points=150, margin=20.0),
    "bounds": Bounds(
        [0, 60, 0], [1, 61, 60], upper=[0.1, 0.2, np.inf], lower=[0, 0, 9], n_points=150
    ),
}
EXACT = 1e-12


def points(n=40, d=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@parametrize_with_checks(
    [
        MetricLearner(n_pairs=50, C=1.0),
        MetricLearner(rank=1, n_pairs=50, C=1.0),
        MetricLearner("von_neumann", n_pairs=50, C=1.0),
        MetricLearner(prior="inverse_within", n_pairs=50, C=1.0),
        MetricLearner(),
        MetricLearner("von_neumann", rank=1, n_pairs=50),
    ]
)
@pytest.mark.filterwarnings(
    "ignore:.*ask points that are equal:UserWarning",
    "ignore:MetricLearner. (No learned metric is clearly better|Not judged):UserWarning",
)
def test_scikit_learn(estimator, check):
    check(estimator)


# -- what is learned ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("regularizer", "loss"),
    [
        (LogDet(), LogDetSlack),
        (VonNeumann(), KLSlack),
        (Frobenius(), SquaredHinge),
        (Schatten(3.0), SquaredHinge),
    ],
    ids=str,
)
def test_it_is_the_optimum_of_the_problem_it_names(name, regularizer, loss):
    side = KINDS[name]
    kind = Hinge if name == "triplets" else loss
    bounds = percentile_bounds(IRIS, random_state=0)
    learner = MetricLearner(regularizer, C=0.5, bounds=bounds, tol=1e-8).fit(IRIS, side=side)
    problem = Problem(regularizer, np.eye(4), side.bind(kind(0.5), IRIS, bounds))
    expected = solve(problem, tol=1e-8)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected.matrix, atol=1e-12)
    assert learner.solution_.relative_gap <= 1e-8
    L = learner.components_
    np.testing.assert_allclose(L.T @ L, expected.matrix, atol=1e-10)


def learned(regularize, regularizer, **params):
    Z = IRIS - IRIS.mean(axis=0)
    learner = MetricLearner(
        regularizer, regularize=regularize, tol=EXACT, random_state=0, **params, C=1.0
    )
    return learner.fit(Z, side=SIDE).get_mahalanobis_matrix()


@pytest.mark.parametrize("prior", ["identity", "inverse_covariance"])
def test_map_and_kernel_agree_for_logdet_alone(prior):
    """J12 Theorem 1, and what it does not say: K09's von Neumann kernel is not J12's von Neumann map."""
    one, two = (learned(which, "logdet", prior=prior) for which in ("map", "kernel"))
    np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8 * np.abs(one).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 1e-12 may be beyond rounding here
        one, two = (learned(which, "von_neumann", prior=prior) for which in ("map", "kernel"))
    assert np.abs(one - two).max() > 1e-2 * np.abs(one).max()


@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
def test_nothing_is_learned_outside_the_span_of_the_points(regularizer):
    """J12 Lemma 6 with the prior I: W = I + X' S X."""
    X, y = points(n=8, d=20), np.arange(8) % 2
    W = MetricLearner(regularizer, n_pairs=20, tol=1e-10, random_state=0, C=1.0).fit(X, y)
    outside = np.linalg.svd(X)[2][8:]
    np.testing.assert_allclose(W.get_mahalanobis_matrix() @ outside.T, outside.T, atol=1e-8)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
def test_with_few_points_only_their_span_is_used(name, regularizer):
    """With the identity written out, all 300 features are: the same metric, at a price."""
    wide = np.hstack([IRIS, points(n=150, d=296)])
    params = {"bounds": (100.0, 900.0), "tol": 1e-9}
    side = KINDS[name] if name != "pairs" else Pairs(SIDE.similar[:20], n_points=150)
    few = MetricLearner(regularizer, **params, C=1.0).fit(wide, side=side)
    full = MetricLearner(regularizer, prior=np.eye(300), **params, C=1.0).fit(wide, side=side)
    assert few.solution_.factor.shape[0] <= side.involved().size < 300
    assert few.solution_.primal == pytest.approx(full.solution_.primal, rel=1e-8)
    for learned in ("get_mahalanobis_matrix", "transform"):
        given = () if learned == "get_mahalanobis_matrix" else (wide,)
        one, two = (getattr(learner, learned)(*given) for learner in (few, full))
        np.testing.assert_allclose(one, two, atol=1e-5 * np.abs(two).max())


# -- low rank ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("basis", ["svd", "subset", "means", np.eye(4)[:, ::-1]], ids=str)
def test_with_a_complete_basis_it_is_the_full_metric(basis):
    full = MetricLearner(tol=EXACT, random_state=0, C=1.0).fit(IRIS, side=SIDE)
    same = MetricLearner(rank=4, basis=basis, tol=EXACT, random_state=0, C=1.0)
    same.set_params(bounds=full.bounds_).fit(IRIS, side=SIDE)
    np.testing.assert_allclose(
        same.get_mahalanobis_matrix(), full.get_mahalanobis_matrix(), rtol=1e-7, atol=1e-8
    )


def test_low_rank_is_the_optimum_among_metrics_of_its_form():
    """No W = I + R (F - I) R' near the learned one is better, by the definition of J12 (8)."""
    X, y = points(d=8), np.arange(40) % 3
    side = Pairs.from_labels(y, 60, random_state=0)
    bounds = percentile_bounds(X, random_state=0)
    learner = MetricLearner(rank=3, bounds=bounds, tol=1e-10, C=1.0).fit(X, side=side)

    def value(F):
        W = np.eye(8) + learner.basis_ @ (F - np.eye(3)) @ learner.basis_.T
        loss = 0.0
        for term in side.bind(LogDetSlack(1.0), X, bounds):
            z = X[term.constraints.i] - X[term.constraints.j]
            loss += np.sum(term.loss.value(np.einsum("ki,ij,kj->k", z, W, z)))
        return np.trace(W) - np.linalg.slogdet(W)[1] - 8 + loss

    best = value(learner.inner_)
    assert best == pytest.approx(learner.solution_.primal, rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = rng.standard_normal((3, 3))
        assert value(learner.inner_ + 1e-3 * (step + step.T)) > best


def test_sparse_text_of_many_features_stays_sparse():
    """100,000 features: a d x d matrix would take 80 GB."""
    X = sp.random(300, 100_000, density=1e-4, format="csr", random_state=0)
    X = X + sp.csr_matrix((np.ones(300), (np.arange(300), np.arange(300) % 3)), X.shape)
    y = np.arange(300) % 3
    learner = MetricLearner(rank=10, random_state=0, C=1.0).fit(X, y)
    i, j = np.arange(0, 20), np.arange(20, 40)
    got = learner.pair_distance((X[i], X[j]))
    z = (X[i] - X[j]).toarray()
    inside = z @ learner.basis_
    expected = (
        (z * z).sum(1) - (inside * inside).sum(1) + ((inside @ learner.inner_) * inside).sum(1)
    )
    np.testing.assert_allclose(got, np.sqrt(expected), rtol=1e-9)


@pytest.mark.parametrize("basis", ["svd", "means", "class_means", "subset"])
def test_sparse_and_dense_points_give_one_metric(basis):
    X, y = np.where(np.abs(points()) > 1, points(), 0.0), np.arange(40) % 2
    learner = MetricLearner(rank=3, basis=basis, n_pairs=40, tol=1e-10, random_state=0, C=1.0)
    one = learner.fit(X, y).get_mahalanobis_matrix()
    two = learner.fit(sp.csr_matrix(X), y).get_mahalanobis_matrix()
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("basis", ["svd", "means", "class_means", "subset"])
def test_bases_are_orthonormal_and_span_what_they_say(basis, kind):
    X, classes = points(), [np.arange(first, 40, 3) for first in range(3)]
    for rank in (1, 2, 4):  # fewer and more than the classes
        R = basis_of(basis, kind(X), classes, rank, np.random.default_rng(0))
        assert R.shape == (6, rank)
        np.testing.assert_allclose(R.T @ R, np.eye(rank), atol=1e-12)
    if basis == "svd":
        leading = np.linalg.svd(X)[2][:4].T
        np.testing.assert_allclose(np.abs(np.linalg.svd(R.T @ leading)[1]), 1.0, atol=1e-10)


@pytest.mark.parametrize("turned", [False, True], ids=["tall", "wide"])
@pytest.mark.parametrize("least", [2e-3, 1e-9], ids=["by squares", "by itself"])
def test_leading_singular_vectors_are_exact_however_ill_conditioned_the_points(least, turned):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((size, 8)))[0] for size in (60, 12))
    U, V = (V, U) if turned else (U, V)
    s = np.logspace(0, np.log10(least), 8)
    X = (U * s) @ V.T
    for rank in (3, 8):
        R = basis_of("svd", X, None, rank, np.random.default_rng(0))
        # A direction is known as well as rounding of X, or of X'X, lets it be.
        power = 2 if s[rank - 1] > 1e-3 else 1
        off = V[:, :rank] - R @ (R.T @ V[:, :rank])
        assert np.all(np.linalg.norm(off, axis=0) <= 1e-14 / s[:rank] ** power)


@pytest.mark.parametrize("unit", [1e-170, 1e-120, 1e160])
def test_leading_singular_vectors_in_any_unit(unit):
    X = points() * [9.0, 7.0, 5.0, 3.0, 1.0, 0.1]
    R, S = (basis_of("svd", u * X, None, 3, np.random.default_rng(0)) for u in (1.0, unit))
    np.testing.assert_allclose(R @ R.T, S @ S.T, atol=1e-10)


# -- pairs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"rank": 2}], ids=str)
def test_all_ways_to_compute_a_distance_agree(params):
    learner = MetricLearner(random_state=0, **params, C=1.0).fit(IRIS, side=SIDE)
    first, second = IRIS[:50], IRIS[50:100]
    W, T = learner.get_mahalanobis_matrix(), learner.transform(IRIS)
    expected = np.sqrt(np.einsum("ki,ij,kj->k", first - second, W, first - second))
    pairs = np.stack([first, second], axis=1)
    np.testing.assert_allclose(learner.pair_distance(pairs), expected, rtol=1e-9)
    np.testing.assert_allclose(learner.pair_distance((first, second)), expected, rtol=1e-9)
    np.testing.assert_allclose(learner.pair_score(pairs), -expected, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(T[:50] - T[50:100], axis=1), expected, rtol=1e-9)
    metric = learner.get_metric()
    assert metric(first[0], second[0]) == pytest.approx(expected[0])
    assert metric(first[0], second[0], squared=True) == pytest.approx(expected[0] ** 2)
    neighbors = KNeighborsClassifier(3, metric=metric).fit(IRIS[::5], SPECIES[::5])
    plain = KNeighborsClassifier(3).fit(T[::5], SPECIES[::5])
    np.testing.assert_array_equal(neighbors.predict(IRIS[::7]), plain.predict(T[::7]))


def test_a_list_of_two_arrays_is_two_sides_and_one_array_is_pairs():
    learner = MetricLearner(random_state=0, C=1.0).fit(IRIS, side=SIDE)
    W = learner.get_mahalanobis_matrix()

    def expected(first, second):
        z = first - second
        return np.sqrt(np.einsum("ij,jk,ik->i", z, W, z))

    A, B = IRIS[[0, 50]], IRIS[[100, 149]]
    for pairs in ((A, B), [A, B], np.stack([A, B], axis=1)):
        np.testing.assert_allclose(learner.pair_distance(pairs), expected(A, B), rtol=1e-9)
    for pairs in (np.stack([A, B]), [A.tolist(), B.tolist()]):
        within = expected(np.stack([A[0], B[0]]), np.stack([A[1], B[1]]))
        np.testing.assert_allclose(learner.pair_distance(pairs), within, rtol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=12))
def test_the_threshold_has_the_fewest_errors(judged):
    distances = np.asarray([d for d, _ in judged], dtype=float)
    alike = np.asarray([a for _, a in judged])

    def right(threshold):
        return np.sum((distances <= threshold) == alike)

    best = max(right(t) for t in np.arange(-0.5, 7.0, 0.5))
    assert right(best_threshold(distances, alike)) == best


def test_pairs_are_predicted_after_a_fit_to_pairs():
    learner = MetricLearner(random_state=0, C=1.0).fit(IRIS, side=SIDE)
    i, j, alike = SIDE.near_and_far()
    y = np.where(alike, 1, -1)
    pairs = (IRIS[i], IRIS[j])
    plain = np.linalg.norm(IRIS[i] - IRIS[j], axis=1)
    before = np.mean((plain <= best_threshold(plain, alike)) == alike)
    assert np.mean(learner.predict(pairs) == y) > before
    assert learner.score(pairs, y) > 0.97
    threshold = learner.threshold_
    learner.threshold_ = 0.0
    assert learner.calibrate_threshold(pairs, y).threshold_ == pytest.approx(threshold)
    labeled = MetricLearner(random_state=0, C=1.0).fit(IRIS, SPECIES)
    assert labeled.threshold_ > 0
    assert not hasattr(labeled, "predict")


# -- scikit-learn ------------------------------------------------------------------------------------


def test_grid_search_over_C_and_rank_with_labels():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(
        MetricLearner(n_pairs=100, random_state=0, C=1.0), KNeighborsClassifier(3)
    )
    grid = {"metriclearner__C": [0.1, 1.0], "metriclearner__rank": [None, 5]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    raw = GridSearchCV(KNeighborsClassifier(3), {"p": [2]}, cv=3).fit(X, y)
    assert search.best_score_ > raw.best_score_ + 0.1


def test_side_information_is_routed_and_cut_and_a_mismatch_is_refused():
    with sklearn.config_context(enable_metadata_routing=True):
        learner = MetricLearner(random_state=0, C=1.0).set_fit_request(side=True)
        pipeline = make_pipeline(learner, KNeighborsClassifier(3))
        assert pipeline.fit(IRIS, SPECIES, side=SIDE).score(IRIS, SPECIES) > 0.9
        search = GridSearchCV(pipeline, {"metriclearner__C": [1.0]}, error_score="raise")
        assert search.fit(IRIS, SPECIES, side=SIDE).best_score_ > 0.9
        with pytest.raises(
            ValueError, match=r"made for 150 points but received 80 rows.*keep_points"
        ):
            search.fit(IRIS[:100], SPECIES[:100], side=SIDE)


def test_data_frames_keep_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    learner = (
        MetricLearner(random_state=0, C=1.0).set_output(transform="pandas").fit(frame, SPECIES)
    )
    assert list(learner.feature_names_in_) == ["a", "b", "c", "d"]
    assert list(learner.transform(frame).columns) == list(learner.get_feature_names_out())


# -- labels and duplicates ---------------------------------------------------------------------------


@pytest.mark.parametrize("unknown", [-1, np.nan, None], ids=str)
def test_unlabeled_points_are_left_out(unknown):
    y = SPECIES.astype(float if unknown is np.nan else object if unknown is None else int)
    y[::2] = unknown
    known = np.arange(150) % 2 == 1
    params = {"bounds": (1.0, 9.0), "random_state": 0}
    whole, part = (
        MetricLearner(**params, C=1.0).fit(X, labels)
        for X, labels in ((IRIS, y), (IRIS[known], SPECIES[known]))
    )
    np.testing.assert_allclose(whole.components_, part.components_, rtol=1e-6)


def test_equal_points_called_dissimilar_are_left_out():
    X = np.vstack([IRIS, IRIS[:1]])
    table = np.vstack([SIDE.dissimilar, [[0, 150]]])
    side = Pairs(SIDE.similar, table, n_points=151)
    params = {"bounds": (0.5, 9.0), "random_state": 0}
    with pytest.warns(UserWarning, match=r"1 of 201 statements.*dissimilar pair \(0, 150\)"):
        whole = MetricLearner(**params, C=1.0).fit(X, side=side)
    part = MetricLearner(**params, C=1.0).fit(IRIS, side=SIDE)
    np.testing.assert_allclose(whole.components_, part.components_, rtol=1e-6)
    with pytest.raises(InfeasibleError, match=r"points 0 and 150"):
        MetricLearner(loss="hard", **params).fit(X, side=Pairs([[1, 2]], [[0, 150]], n_points=151))


def test_a_prior_of_deficient_rank_is_accepted():
    X = np.hstack([IRIS, IRIS[:, :1], np.ones((150, 1))])
    learner = MetricLearner(prior="inverse_covariance", random_state=0, C=1.0).fit(X, SPECIES)
    assert np.all(np.isfinite(learner.components_))
    assert learner.solution_.relative_gap <= 1e-6


def test_a_class_of_one_member_and_two_points():
    y = SPECIES.copy()
    y[0] = 7
    assert MetricLearner(random_state=0, C=1.0).fit(IRIS, y).threshold_ > 0
    with pytest.raises(ValueError, match="no class in `y` has two members"):
        MetricLearner(C=1.0).fit(IRIS[:2], [0, 1])
    two = MetricLearner(bounds=(0.01, 1.0), C=1.0).fit(IRIS[:2], side=Pairs([[0, 1]], n_points=2))
    assert two.pair_distance((IRIS[:1], IRIS[1:2]))[0] < np.linalg.norm(IRIS[0] - IRIS[1])


def test_bounds_are_percentiles_under_the_prior():
    """J12 6 asks for the 1st and 99th, under W0."""
    W0 = np.diag([1.0, 4.0, 9.0, 16.0])
    learner = MetricLearner(prior=W0, percentiles=(1, 99), random_state=0, C=1.0).fit(IRIS, SPECIES)
    i, j = np.triu_indices(150, 1)
    d = np.einsum("ki,ij,kj->k", IRIS[i] - IRIS[j], W0, IRIS[i] - IRIS[j])
    np.testing.assert_allclose(learner.bounds_, np.percentile(d[d > 0], (1, 99)), rtol=1e-12)


def test_non_convergence_warns_with_the_gap():
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        MetricLearner(max_iter=1, random_state=0, C=1.0).fit(IRIS, SPECIES)


def test_inputs_are_not_modified():
    X, y, bounds = IRIS.copy(), SPECIES.copy(), [0.0, 9.0]
    X.setflags(write=False)
    MetricLearner(loss="hinge", bounds=bounds, random_state=0, C=1.0).fit(X, y)
    assert bounds == [0.0, 9.0]
    np.testing.assert_array_equal(X, IRIS)


def test_a_second_fit_leaves_nothing_of_the_first():
    learner = MetricLearner(rank=2, random_state=0, C=1.0).fit(IRIS, side=SIDE)
    target = Bounds([0, 50, 99], [1, 60, 98], upper=2.0, lower=1.0, n_points=150)
    learner.set_params(rank=None).fit(IRIS, side=target)
    for name in ("threshold_", "basis_", "inner_", "predict"):
        assert not hasattr(learner, name)
    learner.calibrate_threshold((IRIS[:2], IRIS[2:4]), [1, -1])
    assert hasattr(learner, "predict")
    W = learner.get_mahalanobis_matrix()
    W[:] = 0
    learner.components_[:] = 0
    assert learner.get_mahalanobis_matrix().any()


def test_hinges_converge_in_raw_units():
    """Interior points stall there, and the solver for every problem goes on."""
    X, y = load_wine(return_X_y=True)
    learner = MetricLearner("von_neumann", loss="hinge", random_state=0, C=1.0).fit(X, y)
    assert learner.solution_.relative_gap <= 1e-6


NOT_SYMMETRIC = np.triu(np.ones((4, 4)))
REFUSED = [
    (lambda: MetricLearner(C=1.0).fit(IRIS), "requires y to be passed"),
    (lambda: MetricLearner(C=1.0).fit(IRIS, SPECIES[:9]), "`y` has 9 labels, but `X` has 150 rows"),
    (
        lambda: MetricLearner(C=1.0).fit(IRIS, side=[(0, 1)]),
        "`side` must be Pairs, Triplets or Bounds",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(IRIS[:9], side=SIDE),
        "made for 150 points but received 9 rows",
    ),
    (
        lambda: MetricLearner("logdt", C=1.0).fit(IRIS, SPECIES),
        "`regularizer='logdt'` is not known",
    ),
    (lambda: MetricLearner(loss="l2", C=1.0).fit(IRIS, SPECIES), "`loss='l2'` is not known"),
    (lambda: MetricLearner(C=0.0).fit(IRIS, SPECIES), "C must be positive"),
    (lambda: MetricLearner(prior="cov", C=1.0).fit(IRIS, SPECIES), "`prior='cov'` is not known"),
    (lambda: MetricLearner(prior=np.eye(3), C=1.0).fit(IRIS, SPECIES), "but X has 4 features"),
    (
        lambda: MetricLearner(prior=NOT_SYMMETRIC, C=1.0).fit(IRIS, SPECIES),
        "`prior` is not symmetric",
    ),
    (
        lambda: MetricLearner(prior=-np.eye(4), C=1.0).fit(IRIS, SPECIES),
        "not positive semidefinite",
    ),
    (
        lambda: MetricLearner(prior=np.eye(4), rank=2, C=1.0).fit(IRIS, SPECIES),
        'must be "identity"',
    ),
    (
        lambda: MetricLearner(rank=5, C=1.0).fit(IRIS, SPECIES),
        "`rank=5` is more than the 4 features",
    ),
    (lambda: MetricLearner(rank=0, C=1.0).fit(IRIS, SPECIES), "`rank` must be a whole number"),
    (
        lambda: MetricLearner(rank=2, basis="pca", C=1.0).fit(IRIS, SPECIES),
        "`basis='pca'` is not known",
    ),
    (
        lambda: MetricLearner(rank=3, basis=np.eye(3), C=1.0).fit(IRIS, SPECIES),
        "`basis` has 3 rows",
    ),
    (
        lambda: MetricLearner(rank=2, basis=np.zeros((4, 2)), C=1.0).fit(IRIS, SPECIES),
        "spans no direction",
    ),
    (
        lambda: MetricLearner(rank=2, basis="class_means", C=1.0).fit(IRIS, side=SIDE),
        "needs the class of each point",
    ),
    (
        lambda: MetricLearner(regularize="W", C=1.0).fit(IRIS, SPECIES),
        "`regularize='W'` is not known",
    ),
    (
        lambda: MetricLearner("von_neumann", rank=2, regularize="kernel", C=1.0).fit(IRIS, SPECIES),
        "is for LogDet alone",
    ),
    (lambda: MetricLearner(bounds=(9, 1), C=1.0).fit(IRIS, SPECIES), "upper must not exceed lower"),
    (lambda: MetricLearner(C=1.0).fit(sp.csr_matrix(IRIS), SPECIES), "`X` is sparse.*pass `rank=`"),
    (lambda: FITTED.transform(IRIS[:, :3]), "3 features"),
    (lambda: FITTED.pair_distance(IRIS), r"`pairs` must have the shape \(m, 2, 4\)"),
    (
        lambda: FITTED.pair_distance((IRIS, IRIS[:9])),
        r"two sides of shapes \(150, 4\) and \(9, 4\)",
    ),
    (lambda: FITTED.pair_distance((IRIS[:, :2], IRIS[:, :2])), "points of 2 features"),
    (lambda: FITTED.pair_distance(sp.csr_matrix(IRIS)), "pass the two sides"),
    (lambda: FITTED.calibrate_threshold((IRIS[:2], IRIS[2:4]), [1]), "there are 2 pairs"),
    (
        lambda: MetricLearner(prior="inverse_covariance", rank=2, C=1.0).fit(
            sp.csr_matrix(IRIS), SPECIES
        ),
        'must be "identity"',
    ),
    (lambda: MetricLearner(C=1.0).fit(IRIS, SIDE), "pass it as `side=`"),
    (lambda: MetricLearner(C=1.0).fit(IRIS, [0, 1], side=SIDE), "`y` has 2 labels"),
    (lambda: FITTED.score((IRIS[:2], IRIS[2:4]), [0, 1]), "`y` must hold 1 for each pair"),
    (lambda: Pairs([[0, 1]], [[1, 0]], n_points=2), "in both `similar` and `dissimilar`"),
]
FITTED = MetricLearner(random_state=0, C=1.0).fit(IRIS, side=SIDE)


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()


def test_few_points_of_many_features_leave_a_basis_where_the_matrix_is_too_large():
    X = np.random.default_rng(0).standard_normal((6, 20_001))
    learner = MetricLearner(C=1.0).fit(X, side=Pairs([[0, 1]], [[2, 3]], n_points=6))
    with pytest.raises(ValueError, match="`basis_` and `inner_` hold all of it"):
        _ = learner.components_
    R, F = learner.basis_, learner.inner_
    z = X[0] - X[2]
    inside = R.T @ z
    expected = z @ z + inside @ (F - np.eye(len(F))) @ inside
    assert learner.pair_distance((X[:1], X[2:3]))[0] ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("turned", [False, True])
def test_a_feature_in_small_units_is_not_ignored(kind, turned):
    X = np.random.default_rng(0).standard_normal((40, 4)) * [1.0, 1.0, 1.0, 1e-6]
    if turned:  # more features than points
        X = np.hstack([X[:4], np.zeros((4, 3))])
    R = basis_of("svd", kind(X), None, 4, np.random.default_rng(0))
    np.testing.assert_allclose(R @ R.T, np.diag(X.any(axis=0).astype(float)), atol=1e-8)
