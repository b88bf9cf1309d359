"""Unusual or wrong points, row numbers, labels and parameters: the right answer, or an error in one sentence.

First everything that can be wrong with a table of numbers, for every estimator; then single calls that once
ended in an error of another package, in an arithmetic error, or in a wrong answer.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from gramlearn.constraints import SparseMatrices, SquaredDistances, Trace
from gramlearn.losses import Hard, Hinge

import gramlearn
from gramlearn import (
    POLA,
    Bounds,
    ColoredMVU,
    ConstrainedKMeans,
    KernelDesigner,
    KernelKMeans,
    KernelLearner,
    LogDet,
    MaximumVarianceUnfolding,
    MetricLearner,
    MinimumVolumeEmbedding,
    NonparametricKernel,
    OnlineMetricLearner,
    OnlinePCA,
    Pairs,
    Problem,
    Schatten,
    SemiSupervisedEmbedding,
    StructurePreservingEmbedding,
    Term,
    Triplets,
    Zeros,
    balanced_cut,
    nearest_correlation,
    solve,
)
from gramlearn.datasets import VARIABLE, DatasetNotFoundError, load
from gramlearn.evaluation import normalized_mutual_information
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.kernels import GaussianKernel, PolynomialKernel, incomplete_cholesky, spectral_factor
from gramlearn.methods import unfold
from gramlearn.side_information import percentile_bounds

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 8)
X = RNG.standard_normal((24, 3)) + 3.0 * np.eye(3)[Y]
SIDE = Pairs.from_labels(Y, 30, random_state=0)

# Each with what it learns from beside X.
ESTIMATORS = {
    "MetricLearner": lambda X: MetricLearner(random_state=0, C=1.0).fit(X, Y),
    "MetricLearner(rank, C=1.0)": lambda X: MetricLearner(rank=2, random_state=0, C=1.0).fit(X, Y),
    "KernelLearner": lambda X: KernelLearner(random_state=0, C=1.0).fit(X, Y),
    "POLA": lambda X: POLA(random_state=0).fit(X, Y),
    "SemiSupervisedEmbedding": lambda X: SemiSupervisedEmbedding(random_state=0).fit(X, Y),
    "KernelDesigner": lambda X: KernelDesigner(random_state=0).fit(X, Y),
    "NonparametricKernel": lambda X: NonparametricKernel(random_state=0).fit(X, Y),
    "KernelKMeans": lambda X: KernelKMeans(3, random_state=0).fit(X),
    "ConstrainedKMeans": lambda X: ConstrainedKMeans(3, random_state=0).fit(X, side=SIDE),
    "MaximumVarianceUnfolding": lambda X: MaximumVarianceUnfolding(connect=True).fit(X),
    "MinimumVolumeEmbedding": lambda X: MinimumVolumeEmbedding(connect=True, tol=0.1).fit(X),
    "StructurePreservingEmbedding": lambda X: StructurePreservingEmbedding().fit(X),
    "ColoredMVU": lambda X: ColoredMVU().fit(X, Y),
    "OnlinePCA": lambda X: OnlinePCA(1).fit(X),
    "OnlineMetricLearner": lambda X: OnlineMetricLearner().fit(X, np.ones(24)),
}


def test_every_estimator_is_in_the_table():
    known = {name.split("(")[0] for name in ESTIMATORS}
    assert known == set(gramlearn.estimators.__all__)


def with_entry(value, dtype=float):
    odd = X.astype(dtype)
    odd[3, 1] = value
    return odd


MASK = np.arange(24 * 3).reshape(24, 3) == 7
ODD = {
    "words": (with_entry("cat", object), r"`X` holds 'cat' at row 3, column 1; .* encode it"),
    "strings": (np.full((24, 3), "cat"), r"`X` holds 'cat' at row 0, column 0"),
    "a dict inside": (with_entry({}, object), r"`X` holds \{\} at row 3, column 1"),
    "ragged": ([*X[:23].tolist(), [1.0]], r"row 0 has 3 entries and row 23 has 1 entries"),
    "masked": (np.ma.array(X, mask=MASK), r"masked array with 1 masked entries \(first at row 2, column 1"),
    "NaN": (with_entry(np.nan), r"`X` contains NaN or infinity \(first at row 3\)"),
    "infinity": (with_entry(-np.inf), r"`X` contains NaN or infinity \(first at row 3\)"),
    "None inside": (with_entry(None, object), r"`X` contains NaN or infinity \(first at row 3\)"),
    "None": (None, r"`X` must be a table of numbers.*got None"),
    "a string": ("abc", r"`X` must be a table of numbers.*got a str|`X` holds 'abc'"),
    "a dict": ({"a": 1}, r"`X` must be a table of numbers.*got a dict"),
    "a generator": ((row for row in X), r"`X` must be a table of numbers.*got a generator"),
    "dates": (np.zeros((24, 3), "datetime64[s]"), r"`X` holds dates or times"),
    "records": (np.zeros(24, [("a", float)]), r"`X` holds records"),
    "complex": (X + 1j, r"Complex data not supported: `X` has dtype complex128.*X\.real"),
    "one dimension": (X[:, 0], r"`X` must be two-dimensional.*got shape \(24,\).*Reshape your data"),
    "no dimension": (3.0, r"`X` must be two-dimensional.*got shape \(\)"),
    "four dimensions": (X[None, None], r"`X` must be two-dimensional|`X` has the shape|dim 4"),
    "too large": (X * 1e160, r"out of the range of numbers; pass X in other units|divide X by|too large"),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_invalid_points_raise_a_clear_error(name, odd):
    if (name, odd) == ("KernelKMeans", "too large"):
        pytest.skip("k-means works in units of the largest entry, and takes any")
    given, sentence = ODD[odd]
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        ESTIMATORS[name](given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["MetricLearner", "KernelLearner"])
def test_invalid_new_points_raise_a_clear_error(name):
    fitted = ESTIMATORS[name](X)
    for odd in ("words", "ragged", "masked", "NaN"):
        given, sentence = ODD[odd]
        with pytest.raises((ValueError, TypeError), match=sentence):
            fitted.transform(given)
        with pytest.raises((ValueError, TypeError), match=sentence.replace("X", "pairs")):
            fitted.pair_distance((given, given))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_masked_array_without_masked_entries_is_an_array(name):
    ESTIMATORS[name](np.ma.array(X, mask=np.zeros_like(MASK)))


def test_an_error_names_the_column_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "kind": ["u"] * 24})
    with pytest.raises(ValueError, match=r"`X\['kind'\]` holds 'u' at row 0"):
        MetricLearner(C=1.0).fit(frame, Y)
    with pytest.raises(TypeError, match=r"`X\['day'\]` holds dates"):
        MetricLearner(C=1.0).fit(frame.assign(kind=1.0, day=pandas.Timestamp("2020-01-01")), Y)


# -- units -------------------------------------------------------------------------------------------


SCALES = [1e-60, 1e-30, 1e30, 1e60]


@pytest.mark.parametrize("scale", SCALES)
def test_the_metric_is_the_same_in_any_units(scale):
    """Bounds are percentiles and slack is relative: LogDet from the identity has no unit of its own."""
    plain = MetricLearner(random_state=0, tol=1e-8, C=1.0).fit(X, Y)
    other = MetricLearner(random_state=0, tol=1e-8, C=1.0).fit(scale * X, Y)
    np.testing.assert_allclose(
        other.get_mahalanobis_matrix(), plain.get_mahalanobis_matrix(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("scale", [1e-75, 1e75, 1e100, 1e154, 1e300])
@pytest.mark.parametrize("name", ["MetricLearner", "POLA"])
def test_points_whose_fourth_powers_overflow_raise_a_clear_error(name, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"`X` has entries of up to .* pass X in other units"):
            ESTIMATORS[name](scale * X)


@pytest.mark.parametrize("far", [1e4, 1e8, 1e11])
def test_a_gaussian_kernel_does_not_depend_on_the_origin(far):
    grid = np.round(X * 64) / 64  # so that adding loses nothing
    near = spectral_factor(grid, "rbf", gamma=0.5)
    moved = spectral_factor(grid + far, "rbf", gamma=0.5)
    expected = near.factor @ near.factor.T
    np.testing.assert_allclose(moved.factor @ moved.factor.T, expected, atol=1e-9)


def test_a_gaussian_kernel_of_distant_clusters_is_accurate():
    """Two clusters whose mean is near to none of their points."""
    grid = np.round(X * 64) / 64
    grid[12:] += 2.0**30
    K = incomplete_cholesky(grid, "rbf", tol=0.0, gamma=0.5).factor
    squared = np.sum((grid[:, None] - grid[None]) ** 2, axis=-1)
    np.testing.assert_allclose(K @ K.T, np.exp(-0.5 * squared), atol=1e-9)


# -- calls that broke --------------------------------------------------------------------------------


TABLE = np.array([[2**63 + 5, 1]], dtype=np.uint64)
MASKED_PAIRS = np.ma.array([[0, 1], [2, 3]], mask=[[True, False], [False, False]])
REFUSED = [
    (lambda: Pairs([[0, 1]], n_points=2**63), r"`n_points=9223372036854775808` is more than can be"),
    (lambda: Pairs(TABLE, n_points=9), r"`similar` refers to row 9223372036854775813, but n_points is 9"),
    (lambda: Bounds(TABLE[:, 0], [1], upper=1.0, n_points=9), r"`i` refers to row 9223372036854775813"),
    (lambda: SquaredDistances(TABLE[:, 0], [1]), r"`i` refers to row 9223372036854775813, which is more"),
    (lambda: Pairs(MASKED_PAIRS, n_points=9), r"`similar` is a masked array"),
    (lambda: Triplets(sp.eye(3), n_points=9), r"`triplets` is sparse"),
    (lambda: Pairs([[0, 1]], n_points=9, upper={}), r"`upper` must be one number, or one for each"),
    (lambda: Pairs.from_labels(np.ma.array(Y, mask=Y > 1)), r"`y` is a masked array"),
    (lambda: SIDE.split("a"), r"`share` must be a number between 0 and 1; got 'a'"),
    (lambda: SIDE.keep_points([[0, 1], [2]]), r"`rows` must hold whole numbers"),
    (lambda: SIDE.with_relative_bounds(X, {}), r"`eps` must be a number between 0 and 1"),
    (lambda: Pairs.from_similarities(sp.eye(4)), r"`S` is sparse; pass a dense array"),
    (lambda: percentile_bounds(X * 1e160), r"`points` has entries of up to .* other units"),
    (lambda: SIDE.bind(Hinge(), X * 1e160), r"`points` has entries of up to .* other units"),
    (lambda: Problem(LogDet(), np.eye(2) * 1e200), r"`prior` has entries of up to .* other units"),
    (lambda: Problem(LogDet(), np.eye(2), np.array(1.0)), r"`terms` must be a list of Term"),
    (lambda: Problem(LogDet(), np.ma.array(np.eye(2), mask=np.eye(2) > 0)), r"`prior` is a masked"),
    (lambda: SIDE.bind(Hinge(weight="a"), X)[0].loss.prepare(3, X), r"`weight` must hold numbers; got a str"),
    (lambda: SparseMatrices(sp.eye(3)), r"`matrices` must be a list of SciPy sparse matrices"),
    (lambda: solve(Problem(LogDet(), np.eye(2)), start=3), r"`start` must be a Solution"),
    (lambda: solve(Problem(LogDet(), np.eye(2)), callback=3), r"`callback` must be a function"),
    (lambda: Schatten(1e10), r"p must lie between"),
    (lambda: Hinge(1e300), r"`Hinge\(C=1e\+300\)`: C must lie between 1e-100 and 1e\+100"),
    (lambda: laplacian([1, 2]), r"`graph` must be square"),
    (lambda: neighbor_graph(X * 1e160), r"`X` has entries of up to .* other units"),
    (lambda: balanced_cut(np.full((4, 4), "a")), r"`graph` holds 'a' at row 0, column 0"),
    (lambda: balanced_cut(1 - np.eye(4), random_state="a"), r"`random_state` must be None"),
    (lambda: nearest_correlation("abc"), r"`matrix` must hold numbers; got a str"),
    (lambda: unfold(X, [[0, 1], [2]]), r"`graph` must hold whole numbers"),
    (lambda: normalized_mutual_information(Y, [[1], [1, 2]]), r"must hold one label for each point"),
    (lambda: KernelLearner(kernel_params="a", C=1.0).fit(X, Y), r"`kernel_params` must be a dict"),
    (lambda: KernelLearner(alpha=1e300, C=1.0).fit(X, Y), r"alpha must lie between"),
    (lambda: KernelLearner(complement=X, C=1.0).fit(X, Y), r"`complement` must be True or False"),
    (lambda: MetricLearner(verbose=X, C=1.0).fit(X, Y), r"`verbose` must be True or False"),
    (lambda: POLA(C=1e300).fit(X, Y), r"`POLA\(C=1e\+300\)`: C must lie between"),
    (lambda: OnlinePCA(eta=1e300).fit(X), r"`OnlinePCA\(eta=1e\+300\)`: eta must lie between"),
    (lambda: MinimumVolumeEmbedding(capacity=1e-300, connect=True).fit(X), r"capacity must lie between 1e-100"),
    (
        lambda: StructurePreservingEmbedding(capacity_price=1e-300).fit(X),
        r"capacity_price must lie between 1e-100",
    ),
    (
        lambda: StructurePreservingEmbedding(capacity_price=1e-90, p=1.01).fit(X),
        r"is too large for floating-point",
    ),
    (lambda: StructurePreservingEmbedding(p=1e10).fit(X), r"StructurePreservingEmbedding\(p=1.*: p must"),
    (lambda: ColoredMVU(C=1e300).fit(X, Y), r"`ColoredMVU\(C=1e\+300\)`: C must lie between"),
    (lambda: ColoredMVU().fit(X, np.where(Y, Y, np.inf)), r"`y` contains NaN or infinity"),
    (lambda: NonparametricKernel(p=1e30).fit(X, Y), r"p must lie between"),
    (lambda: ColoredMVU().fit(X, [[1], [1, 2]] * 12), r"`y` holds lists of different lengths"),
    (lambda: OnlineMetricLearner().fit(X, [[1], [1, 2]] * 12), r"`y` has rows of different lengths"),
    (lambda: OnlineMetricLearner().fit(X, None), r"requires y to be passed.*y is None"),
    (lambda: OnlineMetricLearner().fit(X, np.ones(3)), r"`y` has 3 entries, but `X` has 24 pairs"),
    (lambda: MetricLearner(prior=[["a"] * 3] * 3, C=1.0).fit(X, Y), r"`prior` holds 'a' at row 0, column 0"),
    (lambda: MetricLearner(prior=10**400, C=1.0).fit(X, Y), r"`prior` holds a whole number beyond the range"),
    (lambda: MetricLearner().fit(with_entry(10**400, object), Y), r"`X` holds .* at row 3, column 1 beyond"),
    (lambda: MetricLearner(bounds=(10**400, 1)).fit(X, Y), r"`bounds=.*: upper must be .* finite; got inf"),
    (lambda: MetricLearner(percentiles=(5, 10**400), C=1.0).fit(X, Y), r"`percentiles` must be two numbers"),
    (lambda: Pairs([[0, 1]], n_points=9, upper=10**400), r"`upper` holds a whole number beyond the range"),
    (lambda: Problem(LogDet(), np.eye(2), [Term(Trace(), Hard(upper=10**400))]), r"`upper` holds a whole"),
    (lambda: Problem(LogDet(), np.eye(2), [Term(Trace(offset=10**400), Hard(upper=1))]), r"`offset` holds"),
    (lambda: ColoredMVU(label_kernel="linear").fit(X, [10**400] * 24), r"`y` holds a whole number"),
    (lambda: KernelDesigner(sparsity=10**400).fit(X, Y), r"`sparsity` must be a finite number"),
    (lambda: incomplete_cholesky(X, "rbf", tol=10**400), r"`tol` must be a number in \[0, 1\)"),
    (lambda: PolynomialKernel(2, 1.0, 10**400), r"`coef0` must be a finite number"),
    (lambda: KernelLearner("poly", kernel_params={"coef0": "a"}, C=1.0).fit(X, Y), r"`coef0` must be a finite"),
    (lambda: KernelLearner(object, C=1.0).fit(X, Y), r"`kernel` is the class object; pass an object of it"),
    (lambda: KernelLearner(lambda A, B: "a", C=1.0).fit(X, Y), r"gave 'a'; it must give numbers"),
    (lambda: KernelLearner(lambda A, B: [[1], [1, 2]], C=1.0).fit(X, Y), r"it must give numbers"),
    (lambda: KernelLearner(lambda x, y: float(x @ y)).fit(X, Y), r"failed on arrays of 1 and 1 points.*matmul"),
    (lambda: KernelDesigner(kernels=[object]).fit(X, Y), r"`kernels` is the class object"),
    (lambda: solve(Problem(LogDet(), np.eye(2)), callback=object), r"`callback` is the class object"),
    (lambda: GaussianKernel(1.0)([[1, 2], [3]], X), r"`A` has rows of different lengths"),
    (lambda: GaussianKernel(1.0)(X, "a"), r"`B` must hold numbers; got a str"),
    (lambda: GaussianKernel(1.0)(X[0], X), r"`A` must be two-dimensional.*got shape \(3,\)"),
    (lambda: GaussianKernel(1.0)(X[:, :2], X), r"`A` has 2 columns and `B` has 3"),
    (lambda: KernelKMeans(2).fit(X * np.inf), r"`X` contains NaN or infinity"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_arguments_raise_a_clear_error(call, sentence):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError), match=sentence) as caught:
            call()
    assert "\n" not in str(caught.value)


def test_a_huge_tolerance_keeps_no_dimension_and_does_not_overflow():
    with pytest.warns(UserWarning, match="the kernel learned has rank 0"):
        found = MaximumVarianceUnfolding(tol=1e300, connect=True).fit(X * 1e100)
    assert not found.embedding_.any()


def test_more_dimensions_than_points_are_cut_to_the_points():
    one, two = (
        NonparametricKernel("linear", rank=rank, random_state=0).fit(X, Y) for rank in (24, 10**9)
    )
    np.testing.assert_allclose(np.abs(one.factor_), np.abs(two.factor_), atol=1e-8)


def test_whole_numbers_come_in_any_type():
    assert Zeros(np.float32(3.0)).n == 3
    found = nearest_correlation(np.eye(4), np.float32(2.0), "frobenius")
    assert np.linalg.matrix_rank(found) == 2


def test_a_folder_in_the_place_of_a_data_file(tmp_path, monkeypatch):
    from gramlearn.datasets.table import TABLE as SETS

    name, entry = next(iter(SETS.items()))
    (tmp_path / entry.file).mkdir(parents=True)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(DatasetNotFoundError, match="is a folder, where the file"):
        load(name)


def test_small_integers_of_numpy_are_whole_numbers() -> None:
    """np.int8(4) * 1000 overflows, and 4 * 1000 does not."""
    small = MaximumVarianceUnfolding(n_components=np.int8(2), n_neighbors=np.int8(4)).fit(X)
    usual = MaximumVarianceUnfolding(n_components=2, n_neighbors=4).fit(X)
    assert np.array_equal(small.transform(X[:3]), usual.transform(X[:3]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: MetricLearner(C=10**400).fit(X, np.arange(24) % 2),
        lambda: MetricLearner(rank=10**400, C=1.0).fit(X, np.arange(24) % 2),
    ],
    ids=["price", "count"],
)
def test_numbers_with_too_many_digits_raise_a_clear_error(call) -> None:
    with pytest.raises(ValueError, match=r"must be positive and finite|more than can be counted"):
        call()
