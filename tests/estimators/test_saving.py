"""What comes back from a model file answers to the bit as what was saved, and says what it cannot do."""

import json
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gramlearn.losses import Hinge, SquaredHinge
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from gramlearn import (
    KernelDesigner,
    KernelLearner,
    LogDet,
    MetricLearner,
    NonparametricKernel,
    OnlineMetricLearner,
    Pairs,
    Schatten,
    SemiSupervisedEmbedding,
    Status,
)
from gramlearn.estimators._saving_methods import saved_parts
from gramlearn.estimators.saving import KINDS, describe_file, load
from gramlearn.files.errors import UnwritableFileError
from gramlearn.files.model_file import read_model_file
from gramlearn.kernels import GaussianKernel, Kernel
from gramlearn.solvers import PrimalNewton
from gramlearn.sources.errors import FileError
from saved_models import CASES, NEW, SIDE, TRIPLETS, D, N, X, Y, fitted, new_points, points

every_case = pytest.mark.parametrize("name", CASES)
PAIRS = np.stack([NEW[:8], NEW[8:16]], axis=1)
JUDGED = np.array([True, False] * 4)
ATTRIBUTES = ("feature_importances_", "class_feature_importances_", "feature_stretch_")
ATTRIBUTES += ("components_", "threshold_", "bounds_", "verdict_", "C_", "strength_", "prior_")
ATTRIBUTES += ("statements_", "prior_share_", "classes_", "losses_", "n_pairs_seen_", "weights_")
ATTRIBUTES += ("identity_weight_", "selected_features_", "n_contradictions_", "shift_", "n_iter_")
ATTRIBUTES += ("smallest_eigenvalue_", "psd_points_", "factor_", "embedding_", "eigenvalues_")
ATTRIBUTES += ("labels_", "basis_", "inner_", "feature_weights_", "columns_share_", "cv_results_")
ATTRIBUTES += ("n_features_in_", "learned_from_", "kernels_", "width_")
# About the points learned from, which a file does not hold.
LEFT = {"SemiSupervisedEmbedding": {"embedding_"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gram"


def saved(model, path):
    model.save(path)
    return load(path)


def told(value):
    """What can be compared of kernels of a family."""
    is_family = isinstance(value, tuple) and isinstance(value[0], Kernel)
    return [kernel.words for kernel in value] if is_family else value


def test_every_kind_is_tried():
    assert {type(fitted(name)).__name__ for name in CASES} == set(KINDS)


@every_case
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_transform_is_the_same_to_the_bit(name, path, dtype):
    model, given = fitted(name), new_points(name).astype(dtype)
    again = saved(model, path)
    # In two shapes of products, of one row and of many.
    for some in (given, given[:1], np.asfortranarray(given)):
        expected, found = model.transform(some), again.transform(some)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert len(again.get_feature_names_out()) == expected.shape[1]


@every_case
def test_a_second_round_writes_the_same_bytes(name, path):
    model = fitted(name)
    model.save(path)
    first = path.read_bytes()
    load(path).save(path)
    assert path.read_bytes() == first


@every_case
def test_what_was_found_out_comes_back(name, path):
    model = fitted(name)
    again = saved(model, path)
    check_is_fitted(again)
    left = LEFT.get(type(model).__name__, set())
    for attribute in ATTRIBUTES:
        assert hasattr(again, attribute) == (hasattr(model, attribute) and attribute not in left)
        if hasattr(again, attribute):
            expected, found = (told(getattr(m, attribute)) for m in (model, again))
            np.testing.assert_equal(found, expected, attribute)
    if "manifold" in name or "family" in name:
        return  # the kernel in it was given by its name, and comes back as a kernel
    assert str(again.get_params()) == str(model.get_params())
    assert str(clone(again)) == str(clone(model))


@every_case
def test_the_certificate_comes_back(name, path):
    model = fitted(name)
    if not hasattr(model, "solution_"):
        pytest.skip("a stream has no certificate")
    answer, again = model.solution_, saved(model, path).solution_
    for word in ("primal", "dual", "gap", "relative_gap", "violation", "status", "seconds"):
        assert getattr(again, word) == getattr(answer, word)
    assert again.iterations == answer.iterations
    assert [r.certificate for r in again.history] == [r.certificate for r in answer.history]
    assert [r.seconds for r in again.history] == [r.seconds for r in answer.history]
    assert not hasattr(again, "problem")
    assert answer.status.name in repr(again)


@every_case
def test_pairs_are_measured_and_judged_alike(name, path):
    model = fitted(name)
    again = saved(model, path)
    for method in ("pair_distance", "pair_score", "predict", "score"):
        of_pairs = method != "predict" or isinstance(model, OnlineMetricLearner | MetricLearner)
        given = PAIRS if of_pairs or isinstance(model, KernelLearner) else new_points(name)
        if not hasattr(model, method):
            assert not hasattr(again, method)
            continue
        arguments = (given,)
        if method == "score":
            arguments = (new_points(name), np.arange(len(NEW)) % 3)
        expected = getattr(model, method)(*arguments)
        np.testing.assert_array_equal(getattr(again, method)(*arguments), expected)
    if isinstance(model, MetricLearner | OnlineMetricLearner):
        expected = model.get_mahalanobis_matrix()
        np.testing.assert_array_equal(again.get_mahalanobis_matrix(), expected)
        assert again.calibrate_threshold(PAIRS, JUDGED).threshold_ > 0


@every_case
def test_a_loaded_model_can_be_fitted_again(name, path):
    model = fitted(name)
    again = saved(model, path)
    given = X
    if name == "nonparametric of a graph":
        given = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    side = TRIPLETS if isinstance(model, KernelDesigner) else SIDE
    found, expected = (m.fit(given, side=side) for m in (again, clone(model)))
    np.testing.assert_array_equal(
        found.transform(new_points(name)), expected.transform(new_points(name))
    )


def test_what_a_kernel_says_of_any_two_points_comes_back(path):
    for name in ("kernel", "kernel of rank 6", "linear kernel", "design", "cosine"):
        model = fitted(name)
        again = saved(model, path)
        np.testing.assert_array_equal(again.kernel_matrix(NEW, X), model.kernel_matrix(NEW, X))
    assert np.isclose(fitted("kernel").kernel_matrix(NEW), model.kernel_matrix(NEW)).shape


@pytest.mark.parametrize("name", ["kernel", "linear kernel", "design"])
def test_what_is_about_the_points_learned_from_is_refused_in_a_sentence(name, path):
    again = saved(fitted(name), path)
    with pytest.raises(ValueError, match=r"which a model file .*does not hold; pass them as `Y`"):
        again.kernel_matrix(NEW)


def test_to_go_on_from_statements_needs_a_pickle(path):
    for name in ("metric", "kernel"):
        again = saved(fitted(name), path)
        with pytest.raises(ValueError, match=r"`partial_fit` goes on .* as a pickle"):
            again.partial_fit(X, side=SIDE)
        more = Pairs.from_labels(Y, 10, random_state=3)
        found = again.fit(X, side=SIDE).partial_fit(X, side=more)
        assert found.learned_from_["count"] == (SIDE + more).size
    with pytest.raises(ValueError, match="`ask` leaves out the pairs that are known"):
        saved(fitted("nonparametric"), path).ask(2)


def test_a_warm_start_from_a_file_begins_anew_and_says_so(path):
    again = saved(fitted("metric"), path).set_params(warm_start=True)
    with pytest.warns(UserWarning, match="the last answer came from a model file"):
        again.fit(X, side=SIDE)
    np.testing.assert_array_equal(again.transform(NEW), fitted("metric").transform(NEW))
    assert again.fit(X, side=SIDE).solution_.iterations <= 1


def test_a_stream_goes_on_where_it_was(path):
    more = points(seed=5)
    model = OnlineMetricLearner().fit(X, side=SIDE)
    again = saved(model, path).partial_fit(more, side=SIDE)
    model.partial_fit(more, side=SIDE)
    np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))
    assert again.learned_from_ == model.learned_from_
    assert again.n_pairs_seen_ == 2 * SIDE.size


def test_statements_that_are_violated_are_told_without_prices(path):
    again, model = saved(fitted("metric"), path), fitted("metric")
    expected, found = (m.violated(X, SIDE) for m in (model, again))
    assert len(found) == len(expected)
    np.testing.assert_array_equal(found.mask, expected.mask)
    assert again.suspects(X, SIDE, random_state=0).n_statements == SIDE.size


# -- what is in a file ---------------------------------------------------------------------------------


@every_case
def test_no_point_is_kept_that_is_not_needed_and_the_header_says_how_many(name, path):
    model = fitted(name)
    model.save(path)
    told, content = describe_file(path), path.read_bytes()
    _, arrays = read_model_file(path)
    given = X.astype(np.float32).astype(float) if "heat" in name else X
    given = model._as_measured(given) if model.get_params().get("normalize") else given
    rows = {row.tobytes() for row in given}
    found = {
        row.tobytes()
        for array in arrays.values()
        if array.dtype == np.float64 and array.ndim == 2
        for row in array
    }
    n_kept = len(rows & found)
    assert told["points_kept"]["count"] == n_kept
    assert (n_kept == 0) == (told["points_kept"]["why"] == "")
    if n_kept == 0:
        assert not any(row in content for row in rows)


def test_how_many_points_which_kind_needs(path):
    counts = {}
    for name in CASES:
        fitted(name).save(path)
        counts[name] = describe_file(path)["points_kept"]["count"]
    metrics = [name for name in CASES if isinstance(fitted(name), MetricLearner)]
    assert not any(counts[name] for name in metrics)
    assert counts["linear kernel"] == counts["stream"] == counts["nonparametric of a graph"] == 0
    assert counts["kernel of rank 6 alone"] == 6
    assert counts["embedding of a kernel"] == 8
    assert counts["kernel of rank 6"] == counts["nonparametric"] == N


def test_a_description_is_read_from_the_header_alone(path):
    model = fitted("metric that chose")
    model.save(path)
    told = describe_file(path)
    assert told["kind"] == "MetricLearner"
    assert told["verdict"] == model.verdict_
    assert told["learned_from"] == model.learned_from_
    assert told["solution"]["status"] == "OPTIMAL"
    assert told["solution"]["primal"] == model.solution_.primal
    assert told["arrays"]["map.components"] == {"dtype": "float64", "shape": [D, D]}
    assert told["bytes"] == path.stat().st_size
    json.dumps(told)
    # With numbers that are none, the header is as good as it was.
    header = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    path.write_bytes(path.read_bytes()[:header] + b"\xff" * (told["bytes"] - header))
    assert describe_file(path) == told
    with pytest.raises(FileError, match="holds NaN or infinity"):
        load(path)


def test_what_was_learned_from_is_counted_and_hashed():
    side = fitted("metric").learned_from_
    assert side["kind"] == "Pairs"
    assert side["count"] == SIDE.size
    assert side["n_points"] == N
    assert side["words"] == repr(SIDE)
    labels = fitted("kernel that chose").learned_from_
    assert (labels["kind"], labels["count"]) == ("labels", N)
    again = MetricLearner(C=2.0).fit(X, side=SIDE)
    assert again.learned_from_ == side  # whatever was made of it
    other = Pairs.from_labels(Y, 20, random_state=4)
    assert again.fit(X, side=other).learned_from_["digest"] != side["digest"]
    gone_on = MetricLearner(C=1.0).fit(X, side=SIDE).partial_fit(X, side=other)
    assert gone_on.learned_from_["count"] == (SIDE + other).size


def test_names_of_features_come_back(path):
    frame = pd.DataFrame(X, columns=["länge", "b", "c", '"d"\n', "</script>"])
    model = MetricLearner(C=1.0).fit(frame, side=SIDE)
    again = saved(model, path)
    assert list(again.feature_names_in_) == list(frame.columns)
    told = ["länge", "b", "c", r'"d"\n', "</script>"]  # as a terminal may show them
    assert describe_file(path)["feature_names_in"] == told
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame[frame.columns[::-1]])


def test_a_long_history_is_thinned_to_its_ends_and_1000_records(path):
    model = MetricLearner(C=1.0).fit(X, side=SIDE)
    long = model.solution_.history[:1] * 5000 + model.solution_.history[-1:]
    vars(model.solution_)["history"] = long
    again = saved(model, path).solution_
    assert len(again.history) == 1000
    assert again.iterations == model.solution_.iterations


def test_an_answer_without_a_gap_is_kept(path):
    def stop(record):
        return True

    with pytest.warns(UserWarning, match="stopped by the callback"):
        model = MetricLearner(C=1.0, callback=stop, tol=1e-12).fit(X, side=SIDE)
    again = saved(model, path)
    assert again.solution_.status is Status.STOPPED
    assert again.solution_.gap == model.solution_.gap
    assert again.callback is None
    assert describe_file(path)["not_kept"] == {"callback": "the function `stop`"}


@pytest.mark.parametrize(
    "options",
    [
        {"loss": Hinge(3.0)},
        {"loss": SquaredHinge(0.5), "regularizer": LogDet()},
        {"regularizer": Schatten(1.5), "loss": "hinge", "C": 1.0},
        {"solver": PrimalNewton(first=100), "C": 1.0},
        {"bounds": (1.0, 20.0), "percentiles": [10, 90], "C": 1.0},
        {"basis": np.eye(D)[:, :2], "C": 1.0},
        {"prior": np.eye(D).tolist(), "C": 1.0},
        {"random_state": np.int64(3), "normalize": np.bool_(True), "C": 1},
    ],
    ids=lambda options: ",".join(options),
)
def test_parameters_come_back(options, path):
    model = MetricLearner(**options).fit(X, side=SIDE)
    again = saved(model, path)
    for name, value in model.get_params().items():
        found = getattr(again, name)
        assert type(found) is type(value) or isinstance(value, np.generic)
        if isinstance(value, Hinge | SquaredHinge):
            found, value = vars(found), vars(value)
        np.testing.assert_equal(found, value)
    np.testing.assert_array_equal(again.fit(X, side=SIDE).transform(NEW), model.transform(NEW))


def test_a_parameter_that_is_a_program_is_left_out_with_a_warning(path):
    class MyHinge(Hinge):
        pass

    model = MetricLearner(MyHinge).set_params(regularizer="logdet", loss=MyHinge(1.0))
    model.fit(X, side=SIDE)
    with pytest.warns(UserWarning, match=r"does not hold `loss` \(an object of class MyHinge\)"):
        model.save(path)
    again = load(path)
    assert again.loss is None
    np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))


# -- what cannot be saved ------------------------------------------------------------------------------


class _OfMine(Kernel):
    words = "of mine"
    is_psd = True

    def __call__(self, A, B):
        return A @ B.T


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KernelLearner(lambda A, B: A @ B.T, C=1.0), "function `<lambda>`, is a program"),
        (KernelLearner(_OfMine(), C=1.0), "its kernel, of mine, is a program"),
        (KernelLearner("precomputed", C=1.0), 'its kernel is "precomputed"'),
        (SemiSupervisedEmbedding(2, kernel=_OfMine(), rank=4), "its kernel, of mine"),
        (SemiSupervisedEmbedding(2, kernel="precomputed", rank=4), 'its kernel is "precomputed"'),
        (KernelDesigner([_OfMine(), "linear"]), "its kernel, of mine, is a program"),
        (KernelDesigner("precomputed"), 'its kernel is "precomputed"'),
    ],
    ids=[
        "function",
        "kernel",
        "matrix",
        "embedding",
        "embedding of a matrix",
        "one of two",
        "matrices",
    ],
)
def test_a_kernel_that_is_a_program_or_a_matrix_is_refused(model, words, path):
    path.write_text("old")
    precomputed = "precomputed" in (
        model.get_params().get("kernel"),
        model.get_params().get("kernels"),
    )
    given = GaussianKernel(0.1)(X, X) if precomputed else X
    model.fit(given, side=TRIPLETS)
    with pytest.raises(ValueError, match=words) as refused:
        model.save(path)
    assert "pickle the estimator" in str(refused.value)
    assert path.read_text() == "old"


def test_what_is_not_fitted_is_not_saved(path):
    for kind in KINDS.values():
        with pytest.raises(NotFittedError):
            kind().save(path)
    assert not path.exists()


def test_a_class_of_yours_is_refused(path):
    class Mine(MetricLearner):
        pass

    with pytest.raises(ValueError, match="Mine is a class of yours"):
        Mine(C=1.0).fit(X, side=SIDE).save(path)


def test_a_folder_that_is_not_there_is_said_in_a_sentence(tmp_path):
    with pytest.raises(UnwritableFileError, match="its folder does not exist"):
        fitted("metric").save(tmp_path / "no" / "model.gram")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_attributes_have_names_of_their_own_in_a_file(kind):
    names = [name.strip("_") for name in saved_parts(kind)]
    assert len(set(names)) == len(names)


# -- pickles -------------------------------------------------------------------------------------------


@every_case
def test_a_pickle_transforms_to_the_bit(name):
    model = fitted(name)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.transform(new_points(name)), model.transform(new_points(name))
    )


def test_a_pickle_of_a_metric_has_none_of_its_points():
    many, d = points(20_000), D
    labels = np.arange(len(many)) % 3
    side = Pairs.from_labels(labels, 300, random_state=0)
    for options in ({}, {"rank": 3}, {"shape": "diagonal"}, {"n_components": 2}):
        model = MetricLearner(C=1.0, **options).fit(many, side=side)
        size = len(pickle.dumps(model))
        assert size < 60_000 < many.nbytes, (
            options
        )  # 300 statements with their prices, maps of d x d
        involved = np.asarray(side.involved())[:50]
        assert not any(many[row].tobytes() in pickle.dumps(model) for row in involved)
    assert d == many.shape[1]


UNNEEDED = {
    "linear kernel": lambda: KernelLearner("linear", C=1.0),
    "kernel of few": lambda: KernelLearner("rbf", rank=6, complement=False, C=1.0),
    "embedding": lambda: SemiSupervisedEmbedding(2),
}


@pytest.mark.parametrize("name", UNNEEDED)
def test_a_pickle_has_no_points_that_new_ones_are_not_compared_with(name):
    many = points(1000)
    labels = np.arange(len(many)) % 3
    model = UNNEEDED[name]()
    model.fit(many, side=Pairs.from_labels(labels, 60, random_state=0))
    content = pickle.dumps(model)
    # The embedding of the points is an answer, and stays.
    embedding = getattr(model, "embedding_", np.zeros(0))
    assert len(content) - embedding.nbytes < 30_000 < many.nbytes
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))
    if hasattr(model, "pair_score"):
        np.testing.assert_array_equal(again.pair_score(PAIRS), model.pair_score(PAIRS))
    if hasattr(model, "kernel_matrix"):
        np.testing.assert_array_equal(
            again.kernel_matrix(NEW, many), model.kernel_matrix(NEW, many)
        )
        with pytest.raises(ValueError, match="a pickle does not hold; pass them as `Y`"):
            again.kernel_matrix(NEW)
        assert model.kernel_matrix(NEW).shape == (len(NEW), len(many))  # it was not changed


@pytest.mark.parametrize("name", ["kernel", "kernel of rank 6"])
def test_a_pickle_has_the_points_that_new_ones_are_compared_with(name):
    again = pickle.loads(pickle.dumps(fitted(name)))
    if again._map.needs_points:
        np.testing.assert_array_equal(again.kernel_matrix(NEW), fitted(name).kernel_matrix(NEW))


def test_a_precomputed_kernel_is_pickled_as_it_is():
    K = X @ X.T
    model = KernelLearner("precomputed", C=1.0).fit(K, side=SIDE)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.kernel_matrix(K), model.kernel_matrix(K))


def test_parameters_whose_keys_have_dots_are_told_apart(path):
    given = {"a.b": np.array([1, 2]), "a": {"b": np.array([3, 4])}, "a\\": {"b": np.array([5])}}
    long = {"k" * 50 + end: np.array([k]) for k, end in enumerate("xy")}
    model = MetricLearner(C=1.0).fit(X, side=SIDE).set_params(prior=given | long)
    found = saved(model, path).prior
    assert str(found) == str(given | long)


CONTROL = "\x1b[31m\r\n\u202e"


def test_what_a_terminal_obeys_is_refused_in_texts_of_the_library_and_escaped_where_told(path):
    model = MetricLearner(random_state=0).fit(X, Y)
    model.verdict_ = CONTROL
    model.save(path)
    assert describe_file(path)["verdict"] == r"\x1b[31m\r\n\u202e"
    with pytest.raises(FileError, match=r"`verdict` is .* should be text of printable signs") as no:
        load(path)
    assert str(no.value).isprintable()


def test_names_of_features_and_labels_are_the_users_and_come_back(path):
    names = [CONTROL, *"bcde"]
    labels = np.array([CONTROL, "b", "c"])[Y]
    model = MetricLearner(C=1.0).fit(pd.DataFrame(X, columns=names), labels)
    again = saved(model, path)
    assert list(again.feature_names_in_) == names
    assert json.dumps(describe_file(path), ensure_ascii=False).isprintable()


def test_a_pickle_says_that_it_lacks_the_problem():
    again = pickle.loads(pickle.dumps(fitted("metric")))
    with pytest.raises(AttributeError, match="which leaves out `problem` and the points in it"):
        _ = again.solution_.problem
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = again.solution_.nothing
    np.testing.assert_array_equal(again.solution_.matrix, fitted("metric").solution_.matrix)
    more = Pairs.from_labels(Y, 20, random_state=1)
    expected = MetricLearner(C=1.0).fit(X, side=SIDE).partial_fit(X, side=more)
    np.testing.assert_array_equal(
        again.partial_fit(X, side=more).transform(NEW), expected.transform(NEW)
    )


def test_a_loaded_model_can_be_pickled_and_works_in_a_pipeline(path):
    again = saved(fitted("metric"), path)
    once_more = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(once_more.transform(NEW), again.transform(NEW))
    pipeline = make_pipeline(saved(fitted("metric that chose"), path), KNeighborsClassifier(3))
    assert pipeline.fit(X, Y).score(X, Y) > 0.7


# -- other libraries, other languages ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["metric", "metric of rank 3", "kernel of rank 6", "stream"])
def test_tensors_are_transformed_alike(name, path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model = fitted(name)
    again = saved(model, path)
    for dtype in (torch.float64, torch.float32):
        given = torch.as_tensor(NEW, dtype=dtype)
        expected = np.asarray(model.transform(given))
        np.testing.assert_array_equal(np.asarray(again.transform(given)), expected)
        np.testing.assert_allclose(expected, model.transform(NEW), rtol=1e-4, atol=1e-4)


def test_the_package_safetensors_reads_the_arrays(path):
    from safetensors import safe_open

    fitted("metric").save(path)
    with safe_open(path, "numpy") as file:
        model = json.loads(file.metadata()["gramlearn"])
        L = file.get_tensor(model["fitted"]["map"]["components"]["array"])
    np.testing.assert_array_equal(L, fitted("metric").components_)


PAGE = (Path(__file__).parents[2] / "docs" / "model-files.md").read_text(encoding="utf-8")


def test_the_readers_of_the_page_are_short():
    for language, words in (("python", "def read_model"), ("javascript", "function readModel")):
        blocks = [block.split("```")[0] for block in PAGE.split(f"```{language}\n")[1:]]
        (block,) = [block for block in blocks if words in block]
        reader = (
            block.split("\n\n\n")[0].split("\nmodel, arrays =")[0].split("\nfunction transform")[0]
        )
        assert len([line for line in reader.splitlines() if line.strip()]) <= 20


def test_the_reader_in_javascript_transforms_alike(path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    model = fitted("metric")
    model.save(path)
    (block,) = (block.split("```")[0] for block in PAGE.split("```javascript\n")[1:])
    asked = json.dumps([str(path), NEW.tolist()])
    program = f"{block}\nconst [path, rows] = {asked};\nconst read = readModel(path);\n"
    program += "console.log(JSON.stringify(rows.map((row) => transform(read, row))));\n"
    said = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(json.loads(said.stdout), model.transform(NEW), rtol=1e-12)


def test_the_methods_table_of_the_page_is_how_every_map_is_read(path):
    for name in CASES:
        if not isinstance(fitted(name), MetricLearner):
            continue
        fitted(name).save(path)
        model, arrays = read_model_file(path)
        found = model["fitted"]["map"]
        part = {key: arrays[v["array"]] for key, v in found.items() if key != "kind"}
        Z = NEW / np.linalg.norm(NEW, axis=1, keepdims=True)
        Z = Z if model["parameters"]["normalize"] else NEW
        if model["fitted"]["leading"] is not None:
            moved = Z @ arrays[model["fitted"]["leading"]["array"]].T
        elif found["kind"] == "full":
            moved = Z @ part["components"].T
        elif found["kind"] == "low_rank":
            R, root = part["basis"], part["root"]
            moved = Z + Z @ R @ (root - np.eye(len(root))) @ R.T
        else:
            moved = Z * np.sqrt(part["weights"])
        np.testing.assert_allclose(moved, fitted(name).transform(NEW), rtol=1e-10, atol=1e-10)


def test_nonparametric_neighbors_work_after_loading(path):
    model = fitted("nonparametric")
    again = saved(model, path)
    assert isinstance(again, NonparametricKernel)
    np.testing.assert_array_equal(again.similar_to(3, 5)[0], model.similar_to(3, 5)[0])
    np.testing.assert_array_equal(again.kernel_entries(1), model.kernel_entries(1))
