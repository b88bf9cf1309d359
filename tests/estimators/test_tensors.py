"""What is learned from tensors is what is learned from NumPy arrays, and lies where the points are.

The oracle is the same fit to NumPy arrays. array-api-strict computes with NumPy too, but mixes with it nowhere:
on its second device no NumPy array gets in, or out, but by a function that is meant to move it.
"""

import pickle

import numpy as np
import pytest
import sklearn
import sklearn.utils.estimator_checks as checks
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import gramlearn

try:
    from sklearn.utils._array_api import NamespaceAndDevice
except ImportError:  # of an earlier scikit-learn, which has no check of mixed inputs
    NamespaceAndDevice = None

from gramlearn import (
    POLA,
    Bounds,
    KernelKMeans,
    LogDet,
    MetricLearner,
    OnlineMetricLearner,
    Pairs,
    Triplets,
)
from gramlearn.evaluation import comparisons_kept
from gramlearn.side_information import StoredPairs

pytestmark = pytest.mark.usefixtures("tensors_stay")
N, D = 45, 5
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
X = RNG.normal(size=(N, D)) @ RNG.normal(size=(D, D)) + Y[:, None] * np.linspace(1, 0, D) + 2.0
NEW = RNG.normal(size=(12, D)) + 2.0
WIDE = RNG.normal(size=(20, 60)) + 1.0
W0 = np.diag([1.0, 2.0, 0.5, 1.0, 3.0])
SIDES = {
    "pairs": Pairs.from_labels(Y, 60, random_state=0),
    "relative": Pairs.from_labels(Y, 60, random_state=0).with_relative_bounds(X),
    "triplets": Triplets.from_labels(Y, 60, random_state=0),
    "bounds": Bounds(
        [0, 1, 2], [3, 5, 7], upper=[1.0, 2.0, 9.0], lower=[0.0, 0.5, 8.0], n_points=N
    ),
}
TIGHT = {"C": 1.0, "tol": 1e-10, "random_state": 0}
METRICS = {
    "labels": (MetricLearner(**TIGHT), None),
    "pairs": (MetricLearner(**TIGHT), "pairs"),
    "triplets": (MetricLearner(**TIGHT), "triplets"),
    "bounds": (MetricLearner(**TIGHT, loss="squared_hinge"), "bounds"),
    "slacks of bounds": (MetricLearner(**TIGHT), "bounds"),
    "slacks of relative bounds": (MetricLearner(**TIGHT), "relative"),
    "hinge": (MetricLearner(**TIGHT, loss="hinge"), "pairs"),
    "von Neumann": (MetricLearner("von_neumann", **TIGHT), "pairs"),
    "Frobenius": (MetricLearner("frobenius", **TIGHT), "pairs"),
    "prior": (MetricLearner(**TIGHT, prior=W0), "pairs"),
    "prior kept by its range": (MetricLearner("von_neumann", **TIGHT, prior=W0), "pairs"),
    "standardized": (MetricLearner(**TIGHT, prior="standardized"), "pairs"),
    "inverse_within": (MetricLearner(**TIGHT, prior="inverse_within"), None),
    "inverse_within of pairs": (MetricLearner(**TIGHT, prior="inverse_within"), "pairs"),
    "inverse_covariance": (MetricLearner(**TIGHT, prior="inverse_covariance"), "pairs"),
    "kernel": (MetricLearner("von_neumann", **TIGHT, regularize="kernel"), "pairs"),
    "rank": (MetricLearner(**TIGHT, rank=3), "pairs"),
    "class means": (MetricLearner(**TIGHT, rank=2, basis="class_means"), None),
    "basis": (MetricLearner(**TIGHT, basis=np.eye(D)[:, :2]), "pairs"),
    "columns": (MetricLearner(**TIGHT, n_components=2), "pairs"),
    "unit length": (MetricLearner(**TIGHT, normalize=True), "pairs"),
}
CATALOGUE = pytest.mark.parametrize(("model", "side"), METRICS.values(), ids=METRICS)
FEW = ("labels", "prior", "kernel", "rank", "columns", "unit length")
SOME = pytest.mark.parametrize(("model", "side"), [METRICS[name] for name in FEW], ids=FEW)


def fitted(model, points, labels, side):
    model = clone(model)
    return model.fit(points, labels) if side is None else model.fit(points, side=SIDES[side])


def same(other, there, here, rtol=1e-8, atol=1e-8):
    """An array of that library, on its device, with these numbers."""
    np.testing.assert_allclose(other.numpy(there), here, rtol=rtol, atol=atol)


@pytest.fixture
def dispatch(monkeypatch):
    """scikit-learn wants SciPy to know array libraries too, which nothing here needs."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


# -- metrics -------------------------------------------------------------------------------------------


@CATALOGUE
def test_a_metric_is_that_of_numpy_arrays_and_lies_where_the_points_are(other, model, side):
    here = fitted(model, X, Y, side)
    there = fitted(model, other.array(X), other.index(Y), side)
    Z, new = other.array(NEW), NEW
    same(other, there.components_, here.components_)
    same(other, there.get_mahalanobis_matrix(), here.get_mahalanobis_matrix())
    same(other, there.transform(Z), here.transform(new))
    two = (Z[:6, :], Z[6:, :])
    same(other, there.pair_distance(two), here.pair_distance((new[:6], new[6:])))
    same(other, there.pair_score(two), here.pair_score((new[:6], new[6:])))
    same(other, there.feature_importances_, here.feature_importances_)
    same(other, there.feature_stretch_, here.feature_stretch_)
    for name in ("basis_", "inner_"):
        assert hasattr(there, name) == hasattr(here, name)
    if hasattr(here, "basis_"):
        one, two = other.numpy(there.basis_), here.basis_
        np.testing.assert_allclose(one @ one.T, two @ two.T, atol=1e-8)
    assert there.get_metric()(Z[0, :], Z[1, :]) == pytest.approx(
        here.get_metric()(new[0], new[1]), rel=1e-8
    )
    for name in ("threshold_", "columns_share_", "n_features_in_"):
        assert getattr(there, name) == pytest.approx(getattr(here, name), rel=1e-8)
    assert there.learned_from_ == here.learned_from_
    assert there.solution_.primal == pytest.approx(here.solution_.primal, rel=1e-8)
    assert there.score(other.array(X), other.index(Y)) == here.score(X, Y)
    for known in SIDES.values():
        assert there.score(other.array(X), side=known) == pytest.approx(here.score(X, side=known))


def test_pairs_are_judged_where_they_are(other):
    here = MetricLearner(**TIGHT).fit(X, side=SIDES["pairs"])
    there = MetricLearner(**TIGHT).fit(other.array(X), side=SIDES["pairs"])
    pairs = NEW.reshape(6, 2, D)
    found = other.numpy(there.predict(other.array(pairs)))
    np.testing.assert_array_equal(found, here.predict(pairs))
    y = np.array([1, -1, 1, 1, -1, -1])
    assert there.score(other.array(pairs), other.index(y)) == here.score(pairs, y)
    one, two = there.calibrate_threshold(other.array(pairs), y), here.calibrate_threshold(pairs, y)
    assert one.threshold_ == pytest.approx(two.threshold_, rel=1e-8)
    known = SIDES["pairs"]
    broken = there.violated(other.array(X), known), here.violated(X, known)
    np.testing.assert_array_equal(broken[0].number, broken[1].number)
    np.testing.assert_allclose(broken[0].size, broken[1].size, atol=1e-8)


def test_statements_may_be_tensors(other):
    side = SIDES["pairs"]
    moved = Pairs(other.index(side.similar), other.index(side.dissimilar), n_points=N)
    here = MetricLearner(**TIGHT).fit(X, side=side)
    there = MetricLearner(**TIGHT).fit(other.array(X), side=moved)
    same(other, there.components_, here.components_)


def test_parameters_may_be_tensors(other):
    here = MetricLearner(**TIGHT, prior=W0).fit(X, Y)
    there = MetricLearner(**TIGHT, prior=other.array(W0)).fit(other.array(X), Y)
    same(other, there.components_, here.components_)
    assert isinstance(there.to_numpy().prior, np.ndarray)


def test_of_many_features_the_span_of_the_points_is_enough(other):
    side = Pairs([[0, 1]], [[2, 3]], n_points=20)
    here = MetricLearner(**TIGHT).fit(WIDE, side=side)
    there = MetricLearner(**TIGHT).fit(other.array(WIDE), side=side)
    assert there.basis_.shape == here.basis_.shape == (60, 3)
    same(other, there.transform(other.array(WIDE)), here.transform(WIDE))


@SOME
def test_single_precision_stays_on_the_way_out(other, model, side):
    X32 = X.astype(np.float32)
    here = fitted(model, X32, Y, side)
    there = fitted(model, other.array(X32, "float32"), Y, side)
    found = there.transform(other.array(X32, "float32"))
    assert "float32" in str(found.dtype)
    assert "float64" in str(there.components_.dtype)
    same(other, there.components_, here.components_)
    same(other, found, here.transform(X32), rtol=1e-5, atol=1e-5)


def test_whole_numbers_are_numbers(other):
    points = np.round(10 * X)
    here = MetricLearner(**TIGHT).fit(points, Y)
    there = MetricLearner(**TIGHT).fit(other.array(points, "int64"), Y)
    same(other, there.components_, here.components_)
    assert "float64" in str(there.transform(other.array(points, "int64")).dtype)
    with pytest.warns(UserWarning, match="points that are equal"):
        there.fit(other.array(np.mean(X, axis=0) < X, "bool"), Y)


def test_tensors_that_require_gradients_are_detached():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    Z = torch.asarray(X).requires_grad_()
    learner = MetricLearner(**TIGHT).fit(Z, Y)
    for found in (learner.components_, learner.transform(Z), learner.pair_distance((Z, Z))):
        assert not found.requires_grad
    assert Z.requires_grad


def test_a_warm_start_goes_on(other):
    there = MetricLearner(**TIGHT, warm_start=True).fit(other.array(X), side=SIDES["pairs"])
    first = there.components_
    there.fit(other.array(X), side=SIDES["pairs"])
    same(other, there.components_, other.numpy(first), rtol=1e-5, atol=1e-5)
    assert there.n_iter_ == 1


def test_further_statements_add_up(other):
    first, more = SIDES["pairs"].split(0.5, random_state=0)
    here = MetricLearner(**TIGHT).partial_fit(X, side=first).partial_fit(X, side=more)
    Z = other.array(X)
    there = MetricLearner(**TIGHT).partial_fit(Z, side=first).partial_fit(Z, side=more)
    same(other, there.components_, here.components_, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="does not begin with"):
        there.partial_fit(other.array(X + 1), side=more)
    with pytest.raises(
        ValueError, match="`X` holds tensors, and the rows that were learned from were"
    ):
        here.partial_fit(Z, side=more)


def test_a_warm_start_goes_on_elsewhere(other):
    learner = MetricLearner(**TIGHT, warm_start=True).fit(X, side=SIDES["pairs"])
    here = learner.components_
    for points in (other.array(X), X):
        learner.fit(points, side=SIDES["pairs"])
        assert learner.n_iter_ == 1
    np.testing.assert_allclose(learner.components_, here, rtol=1e-5, atol=1e-5)


def test_what_explains_a_metric_is_in_host_memory(other):
    here = MetricLearner(**TIGHT, prior=W0).fit(X, side=SIDES["pairs"])
    there = MetricLearner(**TIGHT, prior=W0).fit(other.array(X), side=SIDES["pairs"])
    one, two = there.stretched_directions(other.array(X)), here.stretched_directions(X)
    np.testing.assert_allclose(one.stretch, two.stretch, rtol=1e-8)
    np.testing.assert_allclose(one.share, two.share, rtol=1e-8)
    side = SIDES["pairs"]
    one = there.suspects(other.array(X), side, random_state=0)
    two = here.suspects(X, side, random_state=0)
    np.testing.assert_array_equal(one.number, two.number)
    kept = comparisons_kept(there, other.array(X), SIDES["triplets"])
    assert kept == comparisons_kept(here, X, SIDES["triplets"])


# -- without a price -----------------------------------------------------------------------------------

MANY = np.arange(120) % 3
CLOUD = np.random.default_rng(3).normal(size=(120, 8)) * np.linspace(5, 0.5, 8)
CLOUD[:, 4:] += np.eye(3)[MANY] @ np.random.default_rng(4).normal(size=(3, 4))
FAR = np.random.default_rng(5).normal(size=(130, 120)) @ np.diag(np.linspace(3, 0.1, 120))
CHOICES = {
    "labels": (MetricLearner(), CLOUD, None),
    "pairs": (MetricLearner(), CLOUD, Pairs.from_labels(MANY, 200, random_state=0)),
    "triplets": (MetricLearner(), CLOUD, Triplets.from_labels(MANY, 200, random_state=0)),
    "bounds": (
        MetricLearner(),
        CLOUD,
        Pairs.from_labels(MANY, 200, random_state=0).with_relative_bounds(CLOUD),
    ),
    "rank": (MetricLearner(rank=4), CLOUD, None),
    "prior": (MetricLearner(prior=np.diag(np.arange(1.0, 9.0))), CLOUD, None),
    "kernel": (MetricLearner("von_neumann", regularize="kernel"), CLOUD, None),
    "many features": (MetricLearner(), FAR, Pairs.from_labels(MANY, 100, random_state=0)),
}


@pytest.mark.filterwarnings("ignore:MetricLearner:UserWarning")  # where nothing helps
@pytest.mark.parametrize(("model", "points", "side"), CHOICES.values(), ids=CHOICES)
def test_what_is_chosen_is_the_same(other, model, points, side):
    y = np.resize(MANY, len(points))
    if side is not None and side.n_points != len(points):
        side = Pairs(side.similar, side.dissimilar, n_points=len(points))
    known = {"y": y} if side is None else {"side": side}
    here = clone(model).set_params(random_state=0, tol=1e-9).fit(points, **known)
    there = clone(model).set_params(random_state=0, tol=1e-9).fit(other.array(points), **known)
    assert there.verdict_ == here.verdict_
    for name in ("prior_", "statements_", "strength_", "prior_share_"):
        assert getattr(there, name) == getattr(here, name)
    assert (there.C_ is None) == (here.C_ is None)
    if here.C_ is not None:
        assert pytest.approx(here.C_, rel=1e-8) == there.C_
    np.testing.assert_allclose(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=1e-8
    )
    Z = other.array(points)
    same(other, there.transform(Z), here.transform(points), rtol=1e-5, atol=1e-5)
    assert there.score(Z, y) == pytest.approx(here.score(points, y), abs=1e-8)
    assert isinstance(there.to_numpy().transform(points), np.ndarray)


# -- from one place to another -------------------------------------------------------------------------


@SOME
def test_to_numpy_gives_an_equal_estimator_of_numpy_arrays(other, model, side):
    there = fitted(model, other.array(X), Y, side)
    back = there.to_numpy()
    assert type(back) is type(there)
    np.testing.assert_allclose(
        back.components_, other.numpy(there.components_), rtol=1e-12, atol=1e-12
    )
    assert isinstance(back.transform(NEW), np.ndarray)
    np.testing.assert_allclose(
        back.transform(NEW), other.numpy(there.transform(other.array(NEW))), rtol=1e-12
    )
    assert isinstance(back.solution_.factor, np.ndarray)
    assert back.solution_.relative_gap == there.solution_.relative_gap
    assert back.get_params().keys() == there.get_params().keys()
    np.testing.assert_array_equal(back.to_numpy().components_, back.components_)
    other.numpy(there.components_)  # is where it was


@SOME
def test_a_saved_model_is_that_of_numpy_arrays(other, model, side, tmp_path):
    there = fitted(model, other.array(X), Y, side)
    there.save(tmp_path / "model")
    loaded = gramlearn.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(NEW), there.to_numpy().transform(NEW))
    other.numpy(there.components_)


def test_a_pickle_is_where_the_original_was(other):
    there = MetricLearner(**TIGHT).fit(other.array(X), Y)
    if other.name == "array_api_strict":
        there = there.to_numpy()  # whose arrays cannot be pickled
    back = pickle.loads(pickle.dumps(there))
    assert type(back.components_) is type(there.components_)


def test_a_model_of_numpy_arrays_measures_tensors_where_they_are(other):
    here = MetricLearner(**TIGHT, n_components=2).fit(X, side=SIDES["pairs"])
    Z = other.array(NEW)
    same(other, here.transform(Z), here.transform(NEW))
    two = (Z[:6, :], Z[6:, :])
    same(other, here.pair_distance(two), here.pair_distance((NEW[:6], NEW[6:])))
    assert here.score(other.array(X), Y) == here.score(X, Y)
    assert isinstance(here.components_, np.ndarray)


@pytest.mark.parametrize(
    "model", [MetricLearner(**TIGHT, n_components=2), MetricLearner()], ids=repr
)
def test_statements_in_chunks_are_learned_from_by_tensors(model):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    labels = np.resize(Y, 300)
    points = np.random.default_rng(0).normal(size=(300, D)) + labels[:, None]
    stored = StoredPairs.of(Pairs.from_labels(labels, 2000, random_state=0), 500)
    model = clone(model).set_params(random_state=0)
    here, there = (clone(model).fit(Z, side=stored) for Z in (points, torch.asarray(points)))
    for name in ("components_", "feature_stretch_", "feature_importances_"):
        assert isinstance(getattr(there, name), torch.Tensor)
        found = getattr(there, name).cpu()
        np.testing.assert_allclose(found, getattr(here, name), rtol=1e-5, atol=1e-6)
    found = there.transform(torch.asarray(points)).cpu()
    np.testing.assert_allclose(found, here.transform(points), rtol=1e-5, atol=1e-6)
    assert isinstance(there.to_numpy().components_, np.ndarray)


# -- streams, and thresholds that are learned -----------------------------------------------------------


@pytest.mark.parametrize("prior", ["identity", W0], ids=["identity", "matrix"])
@pytest.mark.parametrize("eta", [None, 0.1])
def test_a_stream_is_followed_where_it_is(other, prior, eta, tmp_path):
    here, there = (OnlineMetricLearner(eta, prior) for _ in range(2))
    pairs, alike = X[:40].reshape(20, 2, D), Y[:40].reshape(20, 2)
    alike = alike[:, 0] == alike[:, 1]
    alike[::3] = True
    for some in (slice(0, 12), slice(12, 20)):
        here.partial_fit(pairs[some], alike[some])
        there.partial_fit(other.array(pairs[some]), other.array(alike[some], "bool"))
    same(other, there.components_, here.components_)
    same(other, there.losses_, here.losses_)
    assert there.n_pairs_seen_ == 20
    assert there.learned_from_ == here.learned_from_
    assert there.bounds_ == pytest.approx(here.bounds_, rel=1e-8)
    assert there.threshold_ == pytest.approx(here.threshold_, rel=1e-8)
    found = other.numpy(there.predict(other.array(pairs)))
    np.testing.assert_array_equal(found, here.predict(pairs))
    same(other, there.transform(other.array(NEW)), here.transform(NEW))
    there.save(tmp_path / "stream")
    loaded = gramlearn.load(tmp_path / "stream")
    np.testing.assert_allclose(loaded.transform(NEW), here.transform(NEW), rtol=1e-8)
    with pytest.raises(ValueError, match=r"partial_fit\(\) must use the same namespace"):
        there.partial_fit(pairs, alike)
    with pytest.raises(
        ValueError, match="`X` holds tensors, and the pairs so far were NumPy arrays"
    ):
        here.partial_fit(other.array(pairs), alike)


@pytest.mark.parametrize("kind", ["pairs", "bounds"])
def test_a_stream_of_statements_is_followed_where_the_points_are(other, kind):
    here = OnlineMetricLearner().fit(X, side=SIDES[kind])
    there = OnlineMetricLearner().fit(other.array(X), side=SIDES[kind])
    same(other, there.components_, here.components_)
    back = there.to_numpy()
    np.testing.assert_allclose(back.components_, here.components_, rtol=1e-8)
    assert isinstance(back.losses_, np.ndarray)


@pytest.mark.parametrize("points", [X / 5, WIDE / 5], ids=["points", "more features than points"])
def test_a_threshold_is_learned_where_the_points_are(other, points):
    side = Pairs.from_labels(np.resize(Y, len(points)), 40, random_state=0)
    here = POLA(tol=1e-10).fit(points, side=side)
    there = POLA(tol=1e-10).fit(other.array(points), side=side)
    same(other, there.components_, here.components_, rtol=1e-6, atol=1e-6)
    assert there.threshold_ == pytest.approx(here.threshold_, rel=1e-6)
    pairs = points[:10].reshape(5, 2, -1)
    found = other.numpy(there.predict(other.array(pairs)))
    np.testing.assert_array_equal(found, here.predict(pairs))
    assert isinstance(there.to_numpy().components_, np.ndarray)


# -- clusters ------------------------------------------------------------------------------------------


def test_clusters_are_found_where_the_points_are(other):
    here = KernelKMeans(3, random_state=0).fit(X)
    there = KernelKMeans(3, random_state=0).fit(other.array(X))
    np.testing.assert_array_equal(other.numpy(there.labels_), here.labels_)
    same(other, there.cluster_centers_, here.cluster_centers_)
    assert there.inertia_ == pytest.approx(here.inertia_)
    found = other.numpy(there.predict(other.array(NEW)))
    np.testing.assert_array_equal(found, here.predict(NEW))
    np.testing.assert_array_equal(other.numpy(here.predict(other.array(NEW))), found)
    np.testing.assert_array_equal(there.to_numpy().predict(NEW), found)
    with pytest.raises(ValueError, match=r"KernelKMeans.predict\(\) must use the same namespace"):
        there.predict(NEW)


def test_no_labels_of_all_points_are_moved_to_find_clusters(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    moved, to_host = [], torch.Tensor.cpu

    def recorded(tensor):
        moved.append(tensor.numel())
        return to_host(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", recorded)
    KernelKMeans(3, random_state=0).fit(torch.asarray(X))
    assert max(moved) < N


# -- with scikit-learn ---------------------------------------------------------------------------------

FOLLOWING = [
    MetricLearner(),
    MetricLearner(C=1.0),
    MetricLearner(C=1.0, rank=2),
    MetricLearner(LogDet(), C=1.0, n_components=2),
    POLA(n_pairs=50),
    KernelKMeans(2),
]


@pytest.mark.filterwarnings("ignore:MetricLearner:UserWarning")  # where nothing helps
@pytest.mark.parametrize("model", FOLLOWING, ids=repr)
def test_the_checks_of_scikit_learn(other, model, dispatch):
    name, of_model = other.name, clone(model)
    if "random_state" in of_model.get_params():
        of_model.set_params(random_state=0)
    assert get_tags(model).array_api_support
    for dtype in ("float64", "float32"):
        checks.check_array_api_input(
            type(model).__name__, of_model, name, device_name=other.device, dtype_name=dtype
        )
    if hasattr(checks, "check_array_api_same_namespace"):
        checks.check_array_api_same_namespace(
            type(model).__name__, of_model, name, device_name=other.device
        )


@pytest.mark.parametrize("model", FOLLOWING[1:], ids=repr)
def test_labels_may_be_of_another_library(other, model, dispatch):
    if not hasattr(checks, "check_array_api_mixed_inputs"):
        pytest.skip("this scikit-learn has no check of mixed inputs")
    here = NamespaceAndDevice(other.name, other.device)
    name = type(model).__name__
    checks.check_array_api_mixed_inputs(name, model, here, NamespaceAndDevice("numpy", None))


def test_folds_and_pipelines_take_tensors(dispatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    Z, y = torch.asarray(X), torch.asarray(Y)
    steps = make_pipeline(StandardScaler(), MetricLearner(**TIGHT))
    here, there = (clone(steps).fit(points, Y) for points in (X, Z))
    found = there.transform(Z)
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.cpu(), here.transform(X), rtol=1e-8, atol=1e-8)
    folds = KFold(3)
    scores = cross_val_score(MetricLearner(**TIGHT), Z, y, cv=folds)
    np.testing.assert_allclose(scores, cross_val_score(MetricLearner(**TIGHT), X, Y, cv=folds))


def test_a_setting_of_scikit_learn_makes_no_difference(other, dispatch):
    with sklearn.config_context(array_api_dispatch=False):
        without = MetricLearner(**TIGHT).fit(other.array(X), Y)
    there = MetricLearner(**TIGHT).fit(other.array(X), Y)
    same(other, there.transform(other.array(X)), other.numpy(without.transform(other.array(X))))
