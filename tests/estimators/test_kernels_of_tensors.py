"""Kernels learned from tensors are those learned from NumPy arrays, and lie where the points are."""

import pickle

import numpy as np
import pytest
import sklearn
import sklearn.utils.estimator_checks as checks
from sklearn.base import clone

import gramlearn
from gramlearn import KernelLearner, Pairs, Triplets

N, D = 45, 5
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
X = RNG.normal(size=(N, D)) + 2 * np.eye(3, D)[Y] + 2.0
NEW = RNG.normal(size=(12, D)) + 2.0
PAIRS = Pairs.from_labels(Y, 60, random_state=0)
TIGHT = {"C": 1.0, "tol": 1e-10, "random_state": 0}
LEARNERS = {
    "rbf": KernelLearner(**TIGHT),
    "linear": KernelLearner("linear", **TIGHT),
    "polynomial": KernelLearner("polynomial", {"degree": 2}, **TIGHT),
    "laplacian": KernelLearner("laplacian", **TIGHT),
    "function": KernelLearner(lambda A, B: A @ B.T + 1.0, **TIGHT),
    "cholesky": KernelLearner(rank=6, **TIGHT),
    "subset": KernelLearner(rank=6, basis="subset", **TIGHT),
    "spectral": KernelLearner(rank=6, basis="spectral", **TIGHT),
    "random": KernelLearner(rank=6, basis="random", **TIGHT),
    "clusters": KernelLearner(rank=6, basis="kmeans", **TIGHT),
    "basis": KernelLearner(basis=np.eye(N)[:, :5], **TIGHT),
    "without the rest": KernelLearner(rank=6, complement=False, **TIGHT),
    "von Neumann": KernelLearner(regularizer="von_neumann", **TIGHT),
    "map": KernelLearner(regularizer="frobenius", regularize="map", **TIGHT),
    "columns": KernelLearner(n_components=2, **TIGHT),
    "columns of few": KernelLearner(rank=6, n_components=2, **TIGHT),
    "unit length": KernelLearner(normalize=True, **TIGHT),
    "chosen": KernelLearner(tol=1e-9, random_state=0),
    "chosen in few": KernelLearner(rank=6, tol=1e-9, random_state=0),
}
CATALOGUE = pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
FEW = ("rbf", "linear", "cholesky", "without the rest", "columns")
SOME = pytest.mark.parametrize("model", [LEARNERS[name] for name in FEW], ids=FEW)
pytestmark = [
    pytest.mark.usefixtures("tensors_stay"),
    pytest.mark.filterwarnings("ignore:KernelLearner:UserWarning"),  # where nothing helps
]


def same(other, there, here, atol=1e-7):
    """An array of that library, on its device, with these numbers."""
    np.testing.assert_allclose(other.numpy(there), here, rtol=1e-7, atol=atol)


@CATALOGUE
def test_a_kernel_is_that_of_numpy_arrays_and_lies_where_the_points_are(other, model):
    check_same(other, model, {"y": Y})


@SOME
@pytest.mark.parametrize("side", [PAIRS, Triplets.from_labels(Y, 60, random_state=0)], ids=repr)
def test_the_same_of_statements(other, model, side):
    check_same(other, model, {"side": side})


def check_same(other, model, known):
    here, there = (clone(model).fit(points, **known) for points in (X, other.array(X)))
    Z = other.array(NEW)
    atol = 1e-7 if model.C else 1e-4
    same(other, there.kernel_matrix(Z), here.kernel_matrix(NEW), atol)
    same(other, there.kernel_matrix(Z[:4, :], Z), here.kernel_matrix(NEW[:4], NEW), atol)
    two = (Z[:6, :], Z[6:, :])
    same(other, there.pair_distance(two), here.pair_distance((NEW[:6], NEW[6:])), atol)
    K, G = other.numpy(there.transform(Z)), here.transform(NEW)
    np.testing.assert_allclose(K @ K.T, G @ G.T, atol=10 * atol)
    assert there.threshold_ == pytest.approx(here.threshold_, rel=1e-6)
    other.numpy(there.inner_)
    other.numpy(there.coordinates_.factor)
    assert there.score(other.array(X), Y) == pytest.approx(here.score(X, Y), abs=1e-8)
    assert there.score(other.array(X), side=PAIRS) == pytest.approx(here.score(X, side=PAIRS))


def test_a_precomputed_kernel_may_be_a_tensor(other):
    K, new = X @ X.T, NEW @ X.T
    here = KernelLearner("precomputed", **TIGHT).fit(K, Y)
    there = KernelLearner("precomputed", **TIGHT).fit(other.array(K), Y)
    same(other, there.kernel_matrix(other.array(new)), here.kernel_matrix(new))
    found, expected = other.numpy(there.transform(other.array(new))), here.transform(new)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)


@SOME
def test_single_precision_stays_on_the_way_out(other, model):
    there = clone(model).fit(other.array(X, "float32"), Y)
    assert "float32" in str(there.transform(other.array(NEW, "float32")).dtype)
    here = clone(model).fit(X.astype(np.float32), Y)
    same(other, there.kernel_matrix(other.array(NEW)), here.kernel_matrix(NEW), 1e-6)


@SOME
def test_to_numpy_gives_an_equal_estimator_of_numpy_arrays(other, model, tmp_path):
    there = clone(model).fit(other.array(X), side=PAIRS)
    back = there.to_numpy()
    found = other.numpy(there.transform(other.array(NEW)))
    np.testing.assert_allclose(back.transform(NEW), found, rtol=1e-10, atol=1e-10)
    assert isinstance(back.inner_, np.ndarray)
    there.save(tmp_path / "model")
    loaded = gramlearn.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.transform(NEW), found, rtol=1e-10, atol=1e-10)
    same(other, loaded.transform(other.array(NEW)), found)
    with pytest.raises(
        ValueError, match=r"KernelLearner.transform\(\) must use the same namespace"
    ):
        there.transform(NEW)


def test_a_kernel_of_a_class_that_pickle_cannot_find_comes_along(other):
    class Shifted:
        def __call__(self, A, B):
            return A @ B.T + 1.0

    there = KernelLearner(Shifted(), **TIGHT).fit(other.array(X), Y)
    found = there.to_numpy().kernel_matrix(NEW)
    np.testing.assert_allclose(found, other.numpy(there.kernel_matrix(other.array(NEW))))


def test_a_pickle_holds_no_points_that_are_not_needed():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    points = torch.asarray(RNG.normal(size=(4000, D)))
    learner = KernelLearner("linear", **TIGHT).fit(points, np.resize(Y, 4000))
    found = pickle.dumps(learner)
    assert len(found) < 8 * 4000
    back = pickle.loads(found)
    found, expected = (model.transform(points[:5]).cpu() for model in (back, learner))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("model", [KernelLearner(C=1.0), KernelLearner(C=1.0, rank=5)], ids=repr)
def test_the_checks_of_scikit_learn(other, model, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # which nothing here needs
    model = clone(model).set_params(random_state=0)
    with sklearn.config_context(array_api_dispatch=True):
        for dtype in ("float64", "float32"):
            checks.check_array_api_input(
                "KernelLearner", model, other.name, device_name=other.device, dtype_name=dtype
            )
        if hasattr(checks, "check_array_api_same_namespace"):
            checks.check_array_api_same_namespace(
                "KernelLearner", model, other.name, device_name=other.device
            )
