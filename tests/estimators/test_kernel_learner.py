"""KernelLearner: a kernel learned on some points is a kernel of all points, the one J12 says it is."""

import numpy as np
import pytest
from gramlearn.losses import KLSlack, LogDetSlack, SquaredHinge
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from gramlearn import (
    Frobenius,
    KernelLearner,
    LogDet,
    MetricLearner,
    Pairs,
    Problem,
    Triplets,
    VonNeumann,
    solve,
)
from gramlearn.estimators._pair_methods import best_threshold
from gramlearn.evaluation import normalized_mutual_information
from gramlearn.kernels.matrix import KernelMatrix

IRIS, SPECIES = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((30, 5)), RNG.standard_normal((7, 5))
Y = np.arange(30) % 3
SIDE = Pairs.from_labels(Y, 60, random_state=0)
BASES = ["cholesky", "subset", "spectral", "random", "kmeans", np.eye(30)[:, :8]]


UNHELPFUL = pytest.mark.filterwarnings(
    "ignore:.*ask points that are equal:UserWarning",
    "ignore:KernelLearner. (No learned metric is clearly better|Not judged):UserWarning",
)


@parametrize_with_checks(
    [
        KernelLearner(n_pairs=50, C=1.0),
        KernelLearner(rank=2, n_pairs=50, C=1.0),
        KernelLearner(regularizer="von_neumann", n_pairs=50, C=1.0),
        KernelLearner(rank=2, complement=False, n_pairs=50),
    ]
)
@UNHELPFUL
def test_scikit_learn(estimator, check):
    check(estimator)


def name_of(check):
    return check.func.__name__


# These take half of the time of all: each chooses among a hundred points of noise. They run above, for the
# full kernel with a price and for one of a rank that chooses; what they ask is asked below of fewer points.
LONG = ["check_fit_idempotent", "check_n_features_in", "check_fit_check_is_fitted"]
OTHERS = [c for _, c in estimator_checks_generator(KernelLearner()) if name_of(c) not in LONG]


@pytest.mark.parametrize("check", OTHERS, ids=name_of)
@UNHELPFUL
def test_scikit_learn_at_its_defaults(check):
    check(KernelLearner())


@UNHELPFUL
def test_a_second_fit_at_the_defaults_gives_the_same():
    learner = KernelLearner(random_state=0)
    assert not hasattr(learner, "n_features_in_")
    with pytest.raises(NotFittedError):
        check_is_fitted(learner)
    once = learner.fit(X, Y).transform(NEW)
    check_is_fitted(learner)
    assert learner.n_features_in_ == 5
    np.testing.assert_allclose(learner.fit(X, Y).transform(NEW), once, rtol=1e-7, atol=1e-9)


# -- the theorems ------------------------------------------------------------------------------------


@pytest.mark.parametrize("regularize", ["map", "kernel"])
@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
def test_with_the_linear_kernel_it_is_the_metric(regularizer, regularize):
    """J12 Theorems 1 and 4: k(x, y) = x' W y, for new points, too."""
    params = {"bounds": (1.0, 20.0), "tol": 1e-9, "regularize": regularize}
    learner = KernelLearner("linear", regularizer=regularizer, **params, C=1.0).fit(X, side=SIDE)
    W = MetricLearner(regularizer, **params, C=1.0).fit(X, side=SIDE).get_mahalanobis_matrix()
    np.testing.assert_allclose(
        learner.kernel_matrix(NEW, NEW), NEW @ W @ NEW.T, rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(learner.kernel_matrix(NEW), NEW @ W @ X.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("regularizer", "loss"),
    [(LogDet(), LogDetSlack), (VonNeumann(), KLSlack), (Frobenius(), SquaredHinge)],
    ids=str,
)
def test_it_is_the_optimum_over_kernel_matrices(regularizer, loss):
    K0 = rbf_kernel(X, gamma=0.1)
    learner = KernelLearner(
        "rbf", {"gamma": 0.1}, regularizer=regularizer, bounds=(0.1, 1.5), C=0.3, tol=1e-9
    ).fit(X, side=SIDE)
    terms = SIDE.bind(loss(0.3), bounds=(0.1, 1.5))
    expected = solve(Problem(regularizer, K0, terms), tol=1e-9)
    assert learner.solution_.primal == pytest.approx(expected.primal, rel=1e-8)
    np.testing.assert_allclose(learner.kernel_matrix(X), expected.matrix, atol=1e-4)


def test_map_and_kernel_agree_for_logdet_alone():
    def learned(regularizer, regularize):
        learner = KernelLearner(regularizer=regularizer, regularize=regularize, tol=1e-10, C=1.0)
        return learner.set_params(bounds=(0.1, 1.5)).fit(X, side=SIDE).kernel_matrix(NEW, NEW)

    one, two = (learned("logdet", which) for which in ("map", "kernel"))
    np.testing.assert_allclose(one, two, atol=1e-8)
    one, two = (learned("von_neumann", which) for which in ("map", "kernel"))
    assert np.abs(one - two).max() > 1e-3


@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann"])
@pytest.mark.parametrize("basis", ["cholesky", "subset", "random", np.eye(30)], ids=str)
def test_with_a_complete_basis_it_is_the_full_kernel(basis, regularizer):
    params = {"regularizer": regularizer, "regularize": "map", "bounds": (0.1, 1.5), "tol": 1e-10}
    full = KernelLearner(**params, C=1.0).fit(X, side=SIDE)
    same = KernelLearner(rank=30, basis=basis, random_state=0, **params, C=1.0).fit(X, side=SIDE)
    np.testing.assert_allclose(
        same.kernel_matrix(NEW, NEW), full.kernel_matrix(NEW, NEW), atol=1e-5
    )


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_a_reduced_kernel_is_the_optimum_of_its_form(basis):
    """J12 (19) with LogDet: alpha K0 + K0 J L J' K0, and no L near the learned one is better."""
    K0 = rbf_kernel(X, gamma=0.2)
    learner = KernelLearner(
        "rbf", {"gamma": 0.2}, rank=8, basis=basis, tol=1e-10, random_state=0, C=1.0
    )
    learner.set_params(bounds=(0.1, 1.5)).fit(X, side=SIDE)
    P = learner.coordinates_.factor
    k = P.shape[1]
    terms = SIDE.bind(LogDetSlack(1.0), bounds=(0.1, 1.5))

    def value(F):
        K = K0 + P @ (F - np.eye(k)) @ P.T
        divergence = np.trace(F) - np.linalg.slogdet(F)[1] - k
        d = np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K
        return divergence + sum(
            np.sum(t.loss.value(d[t.constraints.i, t.constraints.j])) for t in terms
        )

    best = value(learner.inner_)
    assert best == pytest.approx(learner.solution_.primal, rel=1e-8)
    rng = np.random.default_rng(1)
    for _ in range(10):
        step = rng.standard_normal((k, k))
        assert value(learner.inner_ + 1e-3 * (step + step.T)) > best
    np.testing.assert_allclose(
        learner.kernel_matrix(X), K0 + P @ (learner.inner_ - np.eye(k)) @ P.T, atol=1e-10
    )


def test_without_a_prior_only_the_span_of_the_points_is_left():
    """alpha = 0, as in POLA: W = X' S X."""
    few, side = X[:4], Pairs.from_labels(Y[:4], 6, random_state=0)
    learner = KernelLearner(
        "linear", alpha=0.0, regularizer="frobenius", regularize="map", bounds=(1.0, 9.0), C=1.0
    ).fit(few, side=side)
    outside = np.linalg.svd(few)[2][4:]
    np.testing.assert_allclose(learner.kernel_matrix(outside, NEW), 0.0, atol=1e-10)
    assert np.linalg.norm(learner.kernel_matrix(few)) > 0.1


# -- what one can do with it -------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"rank": 6}, {"rank": 6, "complement": False}], ids=str)
def test_coordinates_and_distances_are_those_of_the_kernel(params):
    learner = KernelLearner(random_state=0, **params, C=1.0).fit(X, side=SIDE)
    T, K = learner.transform(X), learner.kernel_matrix(X, X)
    np.testing.assert_allclose(T @ T.T, K, atol=1e-7)
    np.testing.assert_allclose(learner.kernel_matrix(X), K, atol=1e-9)
    np.testing.assert_allclose(
        learner.transform(NEW) @ T.T, learner.kernel_matrix(NEW, X), atol=1e-6
    )
    both = np.vstack([X, NEW])
    assert np.linalg.eigvalsh(learner.kernel_matrix(both, both))[0] > -1e-8
    A, B = NEW[:3], NEW[3:6]
    k = learner.kernel_matrix
    expected = np.diag(k(A, A)) + np.diag(k(B, B)) - 2 * np.diag(k(A, B))
    np.testing.assert_allclose(learner.pair_distance((A, B)) ** 2, expected, atol=1e-9)
    assert learner.get_metric()(A[0], B[0], squared=True) == pytest.approx(expected[0])


@pytest.mark.parametrize("params", [{}, {"rank": 6, "basis": "subset"}], ids=str)
def test_a_precomputed_kernel_is_the_kernel(params):
    K0 = rbf_kernel(X, gamma=0.2)
    settings = {"bounds": (0.1, 1.5), "random_state": 0, **params}
    named = KernelLearner("rbf", {"gamma": 0.2}, **settings, C=1.0).fit(X, side=SIDE)
    given = KernelLearner("precomputed", **settings, C=1.0).fit(K0, side=SIDE)
    rows = rbf_kernel(NEW, X, gamma=0.2)
    np.testing.assert_allclose(given.kernel_matrix(rows), named.kernel_matrix(NEW), atol=1e-6)
    with pytest.raises(ValueError, match="says nothing about two new points"):
        KernelLearner("precomputed", **settings, C=1.0).fit(K0, side=SIDE).kernel_matrix(rows, rows)


def test_clusters_neighbors_and_support_vectors_use_the_kernel():
    learner = KernelLearner(rank=30, n_pairs=400, random_state=0, C=1.0)
    train, test = np.arange(150) % 2 == 0, np.arange(150) % 2 == 1
    pipeline = make_pipeline(learner, KNeighborsClassifier(4)).fit(IRIS[train], SPECIES[train])
    assert pipeline.score(IRIS[test], SPECIES[test]) > 0.9
    fitted = pipeline[0]
    svc = SVC(kernel="precomputed").fit(fitted.kernel_matrix(IRIS[train]), SPECIES[train])
    assert svc.score(fitted.kernel_matrix(IRIS[test], IRIS[train]), SPECIES[test]) > 0.9
    clusters = KMeans(3, n_init=3, random_state=0)
    before = clusters.fit(IRIS[test]).labels_
    after = clusters.fit(fitted.transform(IRIS[test])).labels_
    assert normalized_mutual_information(SPECIES[test], after) > normalized_mutual_information(
        SPECIES[test], before
    )
    grid = {"kernellearner__rank": [5, 20], "kernellearner__C": [0.1, 1.0]}
    GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(IRIS, SPECIES)


def test_many_points_need_no_array_of_size_n_squared(monkeypatch):
    from gramlearn.kernels.matrix import KernelMatrix

    monkeypatch.setattr(KernelMatrix, "matrix", None)
    points = np.random.default_rng(1).standard_normal((3000, 3))
    labels = (points[:, 0] > 0).astype(int)
    learner = KernelLearner(rank=20, complement=False, random_state=0, C=1.0).fit(points, labels)
    assert learner.transform(points).shape == (3000, 20)


def test_duplicates_do_not_make_bounds_of_rounding_size():
    twice = np.repeat(np.random.default_rng(0).standard_normal((6, 3)), 8, axis=0)
    labels = np.repeat([0, 1] * 3, 8)
    plain = MetricLearner(random_state=0, C=1.0).fit(twice, labels).bounds_
    for params in ({}, {"rank": 4}):
        found = KernelLearner("linear", random_state=0, **params, C=1.0).fit(twice, labels).bounds_
        np.testing.assert_allclose(found, plain, rtol=1e-6)


def test_bounds_are_those_of_the_prior():
    one, four = (
        KernelLearner(alpha=a, random_state=0, C=1.0).fit(X, Y).bounds_ for a in (1.0, 4.0)
    )
    np.testing.assert_allclose(4 * np.asarray(one), four, rtol=1e-12)


@pytest.mark.parametrize("rank", [None, 6])
def test_the_threshold_belongs_to_the_distances(rank):
    learner = KernelLearner(rank=rank, alpha=2.0, random_state=0, C=1.0).fit(X, side=SIDE)
    i, j, alike = SIDE.near_and_far()
    expected = best_threshold(learner.pair_distance((X[i], X[j])), alike)
    assert learner.threshold_ == pytest.approx(expected, rel=1e-6)


def test_triplets():
    rows = [(0, 3, 1), (1, 4, 2), (2, 5, 0)]
    learner = KernelLearner(regularizer="frobenius", C=10.0, bounds=None)
    learner.fit(X, side=Triplets(rows, n_points=30, margin=0.1))
    near = learner.pair_distance((X[[i for i, _, _ in rows]], X[[j for _, j, _ in rows]]))
    far = learner.pair_distance((X[[i for i, _, _ in rows]], X[[k for _, _, k in rows]]))
    assert np.all(near**2 + 0.1 <= far**2 + 1e-6)


def lopsided(A, B):
    return A @ B.T + A[:, :1]


def indefinite(A, B):
    return -(A @ B.T)


REFUSED = [
    (lambda: KernelLearner(lopsided, C=1.0).fit(X, Y), "not symmetric"),
    (lambda: KernelLearner(indefinite, C=1.0).fit(X, Y), "not positive semidefinite|negative"),
    (lambda: KernelLearner("precomputed", C=1.0).fit(X, Y), "`X` must be a square matrix"),
    (lambda: KernelLearner("gauss", C=1.0).fit(X, Y), "`kernel='gauss'` is not known"),
    (lambda: KernelLearner(kernel_params={"c": 1}, C=1.0).fit(X, Y), "got c"),
    (lambda: KernelLearner(rank=31, C=1.0).fit(X, Y), "`rank=31` is more than the 30 points"),
    (lambda: KernelLearner(rank=3, basis="svd", C=1.0).fit(X, Y), "`basis='svd'` is not known"),
    (lambda: KernelLearner(rank=4, basis=np.eye(4), C=1.0).fit(X, Y), "`basis` has 4 rows"),
    (lambda: KernelLearner(rank=3, basis=np.zeros((30, 2)), C=1.0).fit(X, Y), "spans no direction"),
    (lambda: KernelLearner(alpha=0.0, C=1.0).fit(X, Y), "alpha must be positive"),
    (
        lambda: KernelLearner(alpha=0.0, regularizer="frobenius", C=1.0).fit(X, Y),
        "`alpha=0` leaves no kernel",
    ),
    (lambda: KernelLearner(regularize="K", C=1.0).fit(X, Y), "`regularize='K'` is not known"),
    (
        lambda: KernelLearner(regularizer="von_neumann", rank=3, C=1.0).fit(X, Y),
        "with a rank and its complement is for LogDet alone",
    ),
    (lambda: KernelLearner(C=1.0).fit(X, side=Pairs.from_labels(Y[:9])), "made for 9 points"),
    (lambda: KernelLearner(C=1.0).fit(X, Y).kernel_matrix(NEW[:, :2]), "2 features"),
    (
        lambda: KernelLearner("precomputed", C=1.0).fit(X @ X.T, Y).transform(np.eye(9)),
        "9 features",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()


@pytest.mark.parametrize(
    "params", [{}, *({"rank": 4, "basis": basis} for basis in BASES[:5])], ids=str
)
def test_a_function_that_is_not_symmetric_is_called_that(params):
    """And not indefinite, with advice that only a matrix could follow."""
    sentence = (
        "^the kernel function `lopsided` is not symmetric: k.x, y. and k.y, x. differ by up to .*; choose "
        "another function, or the mean of k.A, B. and k.B, A..T.$"
    )
    with pytest.raises(ValueError, match=sentence):
        KernelLearner(lopsided, random_state=0, **params, C=1.0).fit(X, Y)


# -- the linear kernel, whose coordinates are the features -------------------------------------------------


def dot(A, B):
    return A @ B.T


@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
def test_features_and_their_linear_kernel_give_the_same(regularizer):
    params = {"regularizer": regularizer, "tol": 1e-10, "max_iter": 500}
    of_features, of_matrix = (
        KernelLearner(kernel, **params, C=1.0).fit(X, side=SIDE) for kernel in ("linear", dot)
    )
    assert of_features.coordinates_.weights.shape == (5, 5)  # and 30 x 5 of the function
    expected = of_matrix.kernel_matrix(NEW, X)
    size = np.abs(expected).max()
    np.testing.assert_allclose(of_features.kernel_matrix(NEW, X), expected, atol=1e-8 * size)
    moved = of_features.transform(NEW)
    np.testing.assert_allclose(
        moved @ moved.T, of_matrix.kernel_matrix(NEW, NEW), rtol=0, atol=1e-8 * size
    )
    assert of_features.solution_.primal == pytest.approx(of_matrix.solution_.primal, rel=1e-8)


def test_the_linear_kernel_of_many_points_is_never_formed(monkeypatch):
    many = np.random.default_rng(1).standard_normal((8000, 50))
    monkeypatch.setattr(KernelMatrix, "matrix", lambda self: pytest.fail("n x n"))
    learner = KernelLearner("linear", random_state=0, C=1.0).fit(many, np.arange(8000) % 3)
    assert learner.transform(many).shape == (8000, 50)
