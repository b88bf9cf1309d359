"""Tensors that cannot be learned from, or measured, are refused in one sentence that says what to do.

A model learned from tensors takes such in the same library, on the same device; a fit takes all of its arrays
in one place, or in host memory.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import get_tags

from gramlearn import (
    ConstrainedKMeans,
    KernelDesigner,
    KernelLearner,
    MaximumVarianceUnfolding,
    MetricLearner,
    NonparametricKernel,
    OnlineMetricLearner,
    OnlinePCA,
    Pairs,
    SemiSupervisedEmbedding,
)
from gramlearn.kernels import ManifoldKernel

pytestmark = pytest.mark.usefixtures("tensors_stay")
N, D = 45, 5
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
X = RNG.normal(size=(N, D)) + Y[:, None] * np.linspace(1, 0, D) + 2.0
NEW = RNG.normal(size=(12, D)) + 2.0
W0 = np.diag([1.0, 2.0, 0.5, 1.0, 3.0])
PAIRS = Pairs.from_labels(Y, 60, random_state=0)
TIGHT = {"C": 1.0, "tol": 1e-10, "random_state": 0}


# -- in two places -------------------------------------------------------------------------------------


def test_a_model_of_tensors_takes_no_numpy_arrays(other):
    there = MetricLearner(**TIGHT).fit(other.array(X), Y)
    for method, given in (
        ("transform", NEW),
        ("pair_distance", (NEW, NEW)),
        ("stretched_directions", NEW),
        ("partial_fit", NEW),
    ):
        with pytest.raises(
            ValueError, match=rf"MetricLearner.{method}\(\) must use the same namespace"
        ):
            getattr(there, method)(given)
    with pytest.raises(ValueError, match=r"MetricLearner.violated\(\) must .*; got numpy on cpu"):
        there.violated(X, PAIRS)
    low_rank = MetricLearner(**TIGHT, rank=2).fit(other.array(X), Y)
    with pytest.raises(ValueError, match=r"MetricLearner.transform\(\) must .*; got a csr_array"):
        low_rank.transform(csr_array(NEW))
    there.fit(X, Y)
    assert isinstance(there.transform(NEW), np.ndarray)


def test_tensors_on_two_devices_are_refused():
    strict = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    here, there = (strict.Device(name) for name in ("CPU_DEVICE", "device1"))
    Z = strict.asarray(X, device=there)
    learner = MetricLearner(**TIGHT).fit(Z, Y)
    with pytest.raises(ValueError, match=r"device1.*got array_api_strict on .*CPU_DEVICE"):
        learner.transform(strict.asarray(X, device=here))
    with pytest.raises(ValueError, match=r"one side of `pairs` is on .* and the other on"):
        MetricLearner(**TIGHT).fit(X, Y).pair_distance((Z, strict.asarray(X, device=here)))
    rows = strict.asarray([[0, 1], [2, 3]], device=here)
    side = Pairs(rows, [], n_points=N)
    told = r"what `side` holds is on the device .*CPU_DEVICE.* and `X` on .*device1.*Move them before the call"
    for ask in (
        lambda: MetricLearner(**TIGHT).fit(Z, side=side),
        lambda: MetricLearner().fit(Z, side=side),
        lambda: KernelLearner(C=1.0).fit(Z, side=side),
        lambda: MetricLearner(**TIGHT).fit(Z, side=PAIRS).partial_fit(Z, side=side),
        lambda: learner.violated(Z, side),
    ):
        with pytest.raises(ValueError, match=told):
            ask()
    prior = strict.asarray(W0, device=here)
    with pytest.raises(ValueError, match=r"`prior` is on the device .* and `X` on"):
        MetricLearner(**TIGHT, prior=prior).fit(Z, Y)
    with pytest.raises(ValueError, match=r"`dissimilar` is on the device .* and `similar` on"):
        Pairs(rows, strict.asarray([[3, 4]], device=there), n_points=N)
    with pytest.raises(ValueError, match=r"`similar_weight` is on .* and the row numbers on"):
        Pairs(rows, n_points=N, similar_weight=strict.asarray([1.0, 2.0], device=there))
    with pytest.raises(ValueError, match=r"`X` is on the device .* and `Y` on"):
        KernelLearner(C=1.0).fit(X, Y).kernel_matrix(Z, strict.asarray(X, device=here))


def test_what_is_told_in_tensors_goes_with_points_in_tensors(other):
    side = PAIRS
    there = Pairs(other.index(side.similar), other.index(side.dissimilar), n_points=N)
    for points in (X, csr_array(X)):
        with pytest.raises(TypeError, match=r"what `side` holds is a \S+ and `X` a numpy.ndarray"):
            MetricLearner(**TIGHT, rank=2).fit(points, side=there)
    with pytest.raises(TypeError, match=r"`prior` is a \S+ and `X` a numpy.ndarray"):
        MetricLearner(**TIGHT, prior=other.array(W0)).fit(X, Y)
    with pytest.raises(TypeError, match=r"`similar_weight` is a \S+ and the row numbers a numpy"):
        Pairs([[0, 1]], n_points=N, similar_weight=other.array([2.0]))


def test_two_points_or_sides_may_be_one_here_and_one_there(other):
    here = MetricLearner(**TIGHT).fit(X, Y)
    metric, expected = here.get_metric(), here.get_metric()(NEW[0], NEW[1])
    for u, v in ((NEW[0], other.array(NEW[1])), (other.array(NEW[0]), NEW[1])):
        assert metric(u, v) == pytest.approx(expected)
    learner = KernelLearner(C=1.0, random_state=0).fit(X, Y)
    expected = learner.kernel_matrix(NEW, X)
    for A, B in ((NEW, other.array(X)), (other.array(NEW), X)):
        np.testing.assert_allclose(other.numpy(learner.kernel_matrix(A, B)), expected)
    with pytest.raises(ValueError, match=r"get_metric\(\) must use the same namespace"):
        MetricLearner(**TIGHT).fit(other.array(X), Y).get_metric()(NEW[0], NEW[1])


# -- what is no table of numbers -------------------------------------------------------------------------

WRONG = {
    "one column": (X[:, 0], "Expected 2D array.*`X` must have one row for each point.*Reshape"),
    "NaN": (np.where(np.arange(N)[:, None] == 3, np.nan, X), r"contains NaN or infinity.*row 3"),
    "no points": (X[:0], "0 sample"),
    "no features": (X[:, :0], r"0 feature"),
    "too large": (X * 1e100, "out of the range of numbers"),
}


@pytest.mark.parametrize(("points", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_of_tensors_too(other, points, words):
    with pytest.raises(ValueError, match=words):
        MetricLearner(**TIGHT).fit(other.array(points), Y[: len(points)])


def test_pairs_in_the_place_of_points_are_told_how_they_are_passed(other):
    with pytest.raises(
        ValueError, match=r"`X` has shape \(6, 2, 5\), which are pairs of points, but"
    ):
        MetricLearner(**TIGHT).fit(other.array(NEW.reshape(6, 2, D)), Y[:6])


def test_shapes_are_told_as_tuples(other):
    there = MetricLearner(**TIGHT).fit(other.array(X), Y)
    Z = other.array(NEW)
    with pytest.raises(ValueError, match=r"got shape \(12, 5\)\."):
        there.pair_distance(Z)
    with pytest.raises(ValueError, match=r"two sides of shapes \(12, 5\) and \(3, 5\); row k"):
        there.pair_distance((Z, Z[:3, :]))


def test_one_side_sparse_and_one_elsewhere_is_refused(other):
    here = MetricLearner(**TIGHT, rank=2).fit(X, Y)
    with pytest.raises(TypeError, match="one side of `pairs` is sparse and the other in"):
        here.pair_distance((csr_array(NEW), other.array(NEW)))


def test_tensors_that_are_no_table_say_what_to_pass():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    Z = torch.asarray(X)
    for learner in (MetricLearner(**TIGHT), KernelLearner(C=1.0)):
        with pytest.raises(TypeError, match=r"list of torch arrays; pass one .*torch.stack\(X\)"):
            learner.fit(list(Z), Y)
        with pytest.raises(TypeError, match=r"layout torch.sparse_coo; pass .* X.to_dense\(\)"):
            learner.fit(Z.to_sparse(), Y)
    with pytest.raises(TypeError, match=r"`X` is a tuple of torch arrays; pass one array"):
        OnlineMetricLearner().fit((Z[:10], Z[10:20]), np.ones(10))


def test_a_device_without_double_precision_is_refused():
    strict = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    try:
        device = strict.Device("no_float64")
    except ValueError:
        pytest.skip("this array_api_strict has no such device")
    Z = strict.asarray(X.astype("float32"), device=device)
    for ask in (
        lambda: MetricLearner(**TIGHT).fit(Z, Y),
        lambda: MetricLearner(**TIGHT).fit(X, Y).transform(Z),
    ):
        with pytest.raises(
            TypeError, match=r"no_float64.*, which has no double precision, in which all"
        ):
            ask()


def test_the_number_of_features_stays(other):
    there = MetricLearner(**TIGHT).fit(other.array(X), Y)
    with pytest.raises(ValueError, match="4 features, but MetricLearner is expecting 5 features"):
        there.transform(other.array(X[:, :4]))


CANNOT = [
    NonparametricKernel(),
    KernelDesigner(),
    SemiSupervisedEmbedding(),
    MetricLearner(shape="diagonal", C=1.0),
    KernelLearner("chi2", C=1.0),
    KernelLearner(ManifoldKernel(X, n_neighbors=3), C=1.0),
    OnlinePCA(2),
    MaximumVarianceUnfolding(),
    ConstrainedKMeans(2),
]


@pytest.mark.parametrize("estimator", CANNOT, ids=repr)
def test_what_works_on_numpy_arrays_alone_says_so(other, estimator):
    words = r"`X` is a .*\.(Array|Tensor), and .* works on NumPy arrays alone; pass such an array, as by X.cpu"
    with pytest.raises(TypeError, match=words):
        clone(estimator).fit(other.array(X), Y)
    assert not get_tags(estimator).array_api_support


def test_what_was_learned_by_a_kernel_of_numpy_arrays_measures_no_tensors(other):
    here = KernelLearner("chi2", **TIGHT).fit(abs(X), Y)
    Z = other.array(abs(NEW))
    words = (
        "KernelLearner with the kernel chi2 works on NumPy arrays alone; pass such an array, as by"
    )
    for ask in (here.transform, here.kernel_matrix, lambda Z: here.pair_distance((Z, Z))):
        with pytest.raises(TypeError, match=words):
            ask(Z)
