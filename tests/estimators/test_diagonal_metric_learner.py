"""MetricLearner(shape="diagonal"): weights that scikit-learn, sparse points and other units agree on."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.scripts import diagonal_metric
from sklearn.datasets import load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import Bounds, InfeasibleError, MetricLearner, Pairs, Triplets
from gramlearn.methods.metric.maps import DiagonalMap, FullMap

X, Y = load_wine(return_X_y=True)
D = X.shape[1]
TRIPLETS = Triplets.from_labels(Y, 200, random_state=0)


def diagonal(regularizer="logdet", **parameters):
    given = {"prior": "inverse_covariance", "random_state": 0, "C": 1.0, **parameters}
    return MetricLearner(regularizer, shape="diagonal", **given)


@parametrize_with_checks([MetricLearner(shape="diagonal", n_pairs=50, C=1.0)])
@pytest.mark.filterwarnings("ignore:.*ask points that are equal:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


def test_the_map_measures_with_the_weights():
    learner = diagonal().fit(X, Y)
    w = learner.feature_weights_
    assert learner.solution_.relative_gap <= 1e-6
    squared = (X[:9] - X[9:18]) ** 2 @ w
    np.testing.assert_allclose(learner.pair_distance((X[:9], X[9:18])) ** 2, squared)
    np.testing.assert_allclose(learner.transform(X), X * np.sqrt(w))
    np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.diag(w))
    np.testing.assert_array_equal(learner.components_, np.diag(np.sqrt(w)))
    np.testing.assert_array_equal(learner.solution_.weights, w)
    assert learner.get_metric()(X[0], X[9], squared=True) == pytest.approx(squared[0])
    # The threshold and the bounds are those of the same distances.
    assert learner.bounds_[0] < learner.bounds_[1]
    assert learner.threshold_ > 0


def test_a_diagonal_map_is_a_full_one():
    w = np.array([4.0, 0.0, 9.0])
    points = np.random.default_rng(0).normal(size=(6, 3))
    i, j = np.array([0, 1]), np.array([2, 5])
    one, other = DiagonalMap(w), FullMap(np.diag([2.0, 0.0, 3.0]))
    np.testing.assert_allclose(one.matrix, other.matrix)
    np.testing.assert_allclose(one.components, other.components, atol=1e-12)
    np.testing.assert_allclose(one.transform(points), other.transform(points), atol=1e-12)
    np.testing.assert_allclose(one.squared_lengths(points), other.squared_lengths(points))
    np.testing.assert_allclose(
        one.squared_distances(points, i, j), other.squared_distances(points, i, j)
    )
    assert one.transform(points.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="feature_weights_"):
        _ = DiagonalMap(np.ones(100_000)).matrix


@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
@pytest.mark.parametrize("kind", ["labels", "triplets"])
def test_sparse_points_have_the_same_weights(regularizer, kind):
    """Half of the entries are zero; nothing dense is made of them, and their images are sparse."""
    Z = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    known = {"y": Y} if kind == "labels" else {"side": TRIPLETS}
    dense = diagonal(regularizer, tol=1e-9).fit(Z, **known)
    for form in (sp.csr_matrix, sp.csr_array, sp.csc_matrix):
        sparse = diagonal(regularizer, tol=1e-9).fit(form(Z), **known)
        np.testing.assert_allclose(sparse.solution_.primal, dense.solution_.primal, rtol=1e-7)
        images = sparse.transform(form(Z))
        assert sp.issparse(images)
        np.testing.assert_allclose(images.toarray(), sparse.transform(Z), rtol=1e-12)
    assert sparse.transform(sp.csr_matrix(Z).astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        sparse.pair_distance((sp.csr_matrix(Z[:4]), sp.csr_matrix(Z[4:8]))),
        sparse.pair_distance((Z[:4], Z[4:8])),
    )


def test_many_sparse_features_take_no_square_of_their_number():
    rng = np.random.default_rng(0)
    counts = sp.random_array((80, 50_000), density=1e-3, rng=rng, format="csr")
    y = np.arange(80) % 2
    learner = diagonal(prior=None, n_components=2, n_pairs=60).fit(counts, y)
    assert learner.feature_weights_.shape == (50_000,)
    assert learner.transform(counts).shape == (80, 2)
    silent = np.asarray(abs(counts).sum(axis=0)).reshape(-1) == 0
    np.testing.assert_allclose(learner.feature_weights_[silent], 1.0, rtol=1e-4)


@pytest.mark.parametrize("units", [1e-5, 1e5])
def test_with_inverse_variances_units_make_no_difference(units):
    scale = np.ones(D)
    scale[3] = units
    one, other = (diagonal(tol=1e-9).fit(Z, Y) for Z in (X, X * scale))
    np.testing.assert_allclose(other.feature_weights_ * scale**2, one.feature_weights_, rtol=1e-4)
    assert other.solution_.primal == pytest.approx(one.solution_.primal, rel=1e-8)


def test_a_small_price_gives_the_inverse_variances():
    found = diagonal(C=1e-9).fit(X, Y)
    np.testing.assert_allclose(found.feature_weights_, 1 / X.var(axis=0, ddof=1), rtol=1e-4)


def test_a_feature_that_does_not_vary_gets_no_weight():
    Z = X.copy()
    Z[:, 2] = 0.1
    for form in (np.asarray, sp.csr_matrix):
        learner = diagonal().fit(form(Z), Y)
        assert learner.feature_weights_[2] == 0
        assert np.all(np.delete(learner.feature_weights_, 2) > 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_small_price_gives_standardized_features(form):
    """They are those of the inverse variances, scaled so that distances are as large on average as before."""
    found = diagonal(C=1e-9, prior="standardized").fit(form(X), Y)
    variances = X.var(axis=0, ddof=1)
    np.testing.assert_allclose(found.feature_weights_, variances.mean() / variances, rtol=1e-4)


def test_priors_may_be_vectors_or_diagonal_matrices():
    w0 = 1 / X.var(axis=0, ddof=1)
    given = w0.copy(), np.diag(w0)
    first, second = (diagonal(prior=prior).fit(X, Y).feature_weights_ for prior in given)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(given[0], w0)
    np.testing.assert_allclose(first, diagonal().fit(X, Y).feature_weights_, rtol=1e-4)


def test_the_columns_kept_are_those_that_vary_most():
    learner = diagonal(n_components=3).fit(X, Y)
    images = X * np.sqrt(learner.feature_weights_)
    kept = np.argsort(-images.var(axis=0), kind="stable")[:3]
    np.testing.assert_allclose(learner.transform(X), images[:, kept])
    assert learner.components_.shape == (3, D)
    assert len(learner.get_feature_names_out()) == 3
    everything = diagonal().fit(X, Y)
    pairs = (X[:5], X[5:10])
    np.testing.assert_allclose(learner.pair_distance(pairs), everything.pair_distance(pairs))


def test_a_fit_of_another_shape_leaves_nothing_behind():
    learner = diagonal().fit(X, Y)
    learner.set_params(shape="full").fit(X, Y)
    assert not hasattr(learner, "feature_weights_")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"shape": "round"}, "`shape='round'` is not known; choose one of 'full', 'diagonal'"),
        ({"rank": 2}, "has no `rank` and no `basis`"),
        ({"basis": "means"}, "has no `rank` and no `basis`"),
        ({"basis": np.eye(D)}, "has no `rank` and no `basis`"),
        ({"regularize": "kernel", "regularizer": "frobenius"}, 'use regularize="map"'),
        ({"solver": "working_set"}, 'leave solver="auto"'),
        ({"prior": np.ones(3)}, r"`prior` has shape \(3,\), but X has 13 features"),
        ({"prior": np.ones((D, D))}, "`prior` has entries off its diagonal"),
        ({"prior": -np.ones(D)}, r"`prior` has a negative weight \(-1, of feature 0\)"),
        ({"prior": np.zeros(D)}, "`prior` is zero"),
        ({"prior": np.full(D, np.nan)}, "`prior` contains NaN"),
        ({"prior": "covariance"}, "`prior='covariance'` is not known"),
    ],
)
def test_bad_input_is_refused(parameters, words):
    learner = MetricLearner(shape="diagonal", random_state=0).set_params(**parameters)
    with pytest.raises(ValueError, match=words):
        learner.fit(X, Y)
    assert not hasattr(learner, "feature_weights_")


def test_no_variance_is_refused():
    side = Pairs(similar=[[0, 1]], n_points=4)
    with pytest.raises(ValueError, match="`X` does not vary"):
        diagonal().fit(np.ones((4, 2)), side=side)


def test_bounds_that_contradict_each_other_are_named():
    points = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 2.5]])
    side = Bounds([0, 0], [2, 1], upper=[1.0, np.inf], lower=[0.0, 2.0], n_points=3)
    learner = MetricLearner(shape="diagonal", loss="hard")
    with pytest.raises(
        InfeasibleError, match=r"no weights of the features .* points 0 and 2 at most 1"
    ):
        learner.fit(points, side=side)


def test_nothing_to_learn_is_said():
    side = Pairs(similar=[[0, 1]], n_points=len(X))
    with pytest.warns(UserWarning, match="hold under the prior already"):
        learner = MetricLearner(shape="diagonal", C=1.0, bounds=(1e9, 2e9)).fit(X, side=side)
    np.testing.assert_array_equal(learner.feature_weights_, 1.0)


def test_the_benchmark_runs(monkeypatch, capsys):
    monkeypatch.setattr(diagonal_metric, "_SIZES", ((5, 60),))
    monkeypatch.setattr("sys.argv", ["diagonal_metric", "--quick"])
    diagonal_metric.main()
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[:3] for row in rows[2:]] == [
        ["| 5", "60", "slack"],
        ["| 5", "60", "hinge"],
    ]
