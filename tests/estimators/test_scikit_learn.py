"""Use with scikit-learn beyond its own checks, for every estimator.

The checks themselves (`parametrize_with_checks`) stand with the tests of each estimator.
"""

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramlearn
from gramlearn import (
    POLA,
    ColoredMVU,
    ConstrainedKMeans,
    KernelDesigner,
    KernelKMeans,
    KernelLearner,
    MaximumVarianceUnfolding,
    MetricLearner,
    MinimumVolumeEmbedding,
    NonparametricKernel,
    OnlineMetricLearner,
    OnlinePCA,
    Pairs,
    Schatten,
    SemiSupervisedEmbedding,
    StructurePreservingEmbedding,
)

IRIS, SPECIES = load_iris(return_X_y=True)
X = IRIS[::3]
Y = SPECIES[::3].astype(float)  # labels, and squared distances for OnlineMetricLearner
SIDE = Pairs.from_labels(Y, 60, random_state=0)
COLUMNS = ["length", "width", "long", "wide"]
LEARNERS = {
    "MetricLearner": MetricLearner(n_pairs=60, random_state=0, C=1.0),
    "MetricLearner, rank": MetricLearner(rank=2, n_pairs=60, random_state=0, C=1.0),
    "KernelLearner": KernelLearner(n_pairs=60, random_state=0, C=1.0),
    "KernelLearner, rank": KernelLearner(rank=2, n_pairs=60, random_state=0, C=1.0),
    "POLA": POLA(0.01, n_pairs=30, random_state=0),
    "SemiSupervisedEmbedding": SemiSupervisedEmbedding(n_pairs=60, random_state=0),
}
TRANSFORMERS = {
    **LEARNERS,
    "NonparametricKernel": NonparametricKernel(
        n_components=2, join="either", n_pairs=60, random_state=0
    ),
    "OnlineMetricLearner": OnlineMetricLearner(),
    "KernelDesigner": KernelDesigner(sparsity=0.01, n_triplets=60, random_state=0),
    "KernelDesigner, weak": KernelDesigner(weak=True, sparsity=0.01, n_triplets=60, random_state=0),
    "OnlinePCA": OnlinePCA(2),
    "ColoredMVU": ColoredMVU(n_neighbors=8),
    "MaximumVarianceUnfolding": MaximumVarianceUnfolding(connect=True),
    "MinimumVolumeEmbedding": MinimumVolumeEmbedding(connect=True, tol=1e-2),
    "StructurePreservingEmbedding": StructurePreservingEmbedding(),
}
ESTIMATORS = {
    **TRANSFORMERS,
    "KernelKMeans": KernelKMeans(3, random_state=0),
    "ConstrainedKMeans": ConstrainedKMeans(3, random_state=0),
}


def every(estimators):
    return pytest.mark.parametrize("estimator", estimators.values(), ids=list(estimators))


def columns_of(frame):
    return [str(name) for name in frame.columns]


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    """A library of data frames: pandas comes with the tests, polars is used where it is installed."""
    if request.param == "polars":
        pytest.importorskip("polars")
    library = __import__(request.param)
    return request.param, lambda table, names: library.DataFrame(
        {name: table[:, k] for k, name in enumerate(names)}
    )


def test_every_estimator_runs_the_checks_of_scikit_learn():
    public = {
        name
        for name in gramlearn.__all__
        if inspect.isclass(getattr(gramlearn, name))
        and issubclass(getattr(gramlearn, name), BaseEstimator)
    }
    assert {type(estimator).__name__ for estimator in ESTIMATORS.values()} == public
    texts = " ".join(
        path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")
    )
    checked = " ".join(re.findall(r"@parametrize_with_checks\((.*?)\)\n(?:@|def)", texts, re.S))
    for name in public:
        assert f"{name}(" in checked, f"no file has parametrize_with_checks([{name}(...)])"


# -- copies --------------------------------------------------------------------------------------------


@every(ESTIMATORS)
def test_a_clone_has_the_parameters_and_nothing_that_was_learned(estimator):
    fitted = clone(estimator).fit(X, Y)
    learned = [name for name in vars(fitted) if name.endswith("_")]
    copy = clone(fitted)
    assert learned
    assert copy.get_params() == estimator.get_params()
    assert not [name for name in learned if hasattr(copy, name)]


def test_arrays_and_objects_are_cloned_as_parameters():
    learner = MetricLearner(
        Schatten(1.5), prior=np.diag([1.0, 2.0, 3.0, 4.0]), bounds=(0.5, 9.0), C=1.0
    )
    one, two = (model.fit(X, side=SIDE).components_ for model in (learner, clone(learner)))
    np.testing.assert_array_equal(one, two)


@every(ESTIMATORS)
def test_a_pickle_answers_as_the_original(estimator):
    original = clone(estimator).fit(X, Y)
    copy = pickle.loads(pickle.dumps(original))
    method = "transform" if hasattr(original, "transform") else "predict"
    np.testing.assert_array_equal(getattr(copy, method)(IRIS), getattr(original, method)(IRIS))


@pytest.mark.parametrize("model", [MetricLearner(C=1.0), KernelLearner(C=1.0), POLA()], ids=str)
def test_a_pickle_judges_pairs_as_the_original(model):
    original = clone(model).fit(X, side=SIDE)
    copy = pickle.loads(pickle.dumps(original))
    pairs = (IRIS[:70], IRIS[70:140])
    np.testing.assert_array_equal(copy.predict(pairs), original.predict(pairs))


# -- names ---------------------------------------------------------------------------------------------


@every(TRANSFORMERS)
def test_columns_that_come_out_have_names(estimator):
    fitted = clone(estimator).fit(X, Y)
    names = list(fitted.get_feature_names_out())
    prefix = type(estimator).__name__.lower()
    assert names == [f"{prefix}{k}" for k in range(fitted.transform(X).shape[1])]


@every(TRANSFORMERS)
def test_frames_come_out_where_they_are_asked_for(estimator, frames):
    kind, frame = frames
    given = frame(X, COLUMNS)
    model = clone(estimator).set_output(transform=kind).fit(given, Y)
    out = model.transform(given)
    assert type(out) is type(given)
    assert columns_of(out) == list(model.get_feature_names_out())
    plain = model.set_output(transform="default").transform(given)
    np.testing.assert_array_equal(out.to_numpy(), plain)


def test_the_index_of_a_frame_is_kept():
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame(X, columns=COLUMNS, index=[f"flower {k}" for k in range(len(X))])
    learner = MetricLearner(n_pairs=60, random_state=0, C=1.0).set_output(transform="pandas")
    assert list(learner.fit_transform(given, Y).index) == list(given.index)


@every(ESTIMATORS)
def test_names_that_went_in_are_kept_and_others_refused(estimator, frames):
    _, frame = frames
    fitted = clone(estimator).fit(frame(X, COLUMNS), Y)
    assert list(fitted.feature_names_in_) == COLUMNS
    other = frame(X, COLUMNS[::-1])
    with pytest.raises(ValueError, match=r"feature names should match|must be in the same order"):
        (fitted.transform if hasattr(fitted, "transform") else fitted.predict)(other)


@pytest.mark.parametrize("model", [MetricLearner(C=1.0), KernelLearner(C=1.0), POLA()], ids=str)
def test_pairs_of_frames_are_held_to_the_names_as_points_are(model, frames):
    _, frame = frames
    one, two = (frame(Z, COLUMNS) for Z in (X[:20], X[20:40]))
    turned = frame(X[20:40][:, ::-1], COLUMNS[::-1])
    fitted = clone(model).fit(frame(X, COLUMNS), side=SIDE)
    plain = clone(model).fit(X, side=SIDE).pair_distance((X[:20], X[20:40]))
    np.testing.assert_allclose(fitted.pair_distance((one, two)), plain, rtol=1e-9)
    np.testing.assert_allclose(fitted.pair_distance([one, two]), plain, rtol=1e-9)
    y = np.where(np.arange(20) % 2, 1, -1)
    for ask in (fitted.pair_distance, fitted.pair_score, fitted.predict):
        for pairs in ((one, turned), (turned, two)):
            with pytest.raises(ValueError, match="must be in the same order"):
                ask(pairs)
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.score((one, turned), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.pair_distance((X[:20], two))


def test_labels_may_be_a_column_of_a_frame():
    pandas = pytest.importorskip("pandas")
    named = pandas.Series(
        np.asarray(["setosa", "versicolor", "virginica"])[SPECIES[::3]], index=range(9, 59)
    )
    learner = MetricLearner(n_pairs=60, random_state=0, C=1.0)
    one = learner.fit(pandas.DataFrame(X, columns=COLUMNS), named).components_
    np.testing.assert_array_equal(one, learner.fit(X, Y).components_)


# -- pipelines and searches ----------------------------------------------------------------------------


@every({name: e for name, e in TRANSFORMERS.items() if name != "OnlineMetricLearner"})
def test_it_is_a_step_of_a_pipeline(estimator):
    pipeline = make_pipeline(StandardScaler(), clone(estimator), KNeighborsClassifier(3))
    scores = cross_val_score(pipeline, X, Y, cv=3, error_score="raise")
    assert scores.mean() > 0.8


@every({name: e for name, e in LEARNERS.items() if name != "POLA"})
def test_a_search_over_C_and_rank_with_labels(estimator):
    grid = {"learner__C": [0.1, 1.0], "learner__rank": [None, 2]}
    steps = [("learner", clone(estimator)), ("neighbors", KNeighborsClassifier(3))]
    search = GridSearchCV(sklearn.pipeline.Pipeline(steps), grid, cv=3, error_score="raise")
    search.fit(X, Y)
    assert len(np.unique(search.cv_results_["mean_test_score"])) > 1
    assert search.best_score_ > 0.9


@every(LEARNERS)
def test_side_information_is_routed_and_cut_for_each_fold(estimator):
    with sklearn.config_context(enable_metadata_routing=True):
        learner = clone(estimator).set_fit_request(side=True)
        pipeline = make_pipeline(StandardScaler(), learner, KNeighborsClassifier(3))
        routed = pipeline.fit(X, Y, side=SIDE)[1]
        direct = clone(estimator).fit(StandardScaler().fit_transform(X), side=SIDE)
        assert routed.solution_.primal == pytest.approx(direct.solution_.primal, rel=1e-5)
        scores = cross_val_score(pipeline, X, Y, params={"side": SIDE}, cv=3, error_score="raise")
        assert scores.mean() > 0.8
    # By hand.
    train = np.arange(50) % 3 > 0
    pipeline = make_pipeline(clone(estimator), KNeighborsClassifier(3))
    step = pipeline.steps[0][0]
    pipeline.fit(X[train], Y[train], **{f"{step}__side": SIDE.keep_points(train)})
    assert pipeline.score(X[~train], Y[~train]) > 0.8


@every(LEARNERS)
def test_labels_beside_side_information_are_not_used_which_is_said(estimator):
    alone = clone(estimator).fit(X, side=SIDE)
    with pytest.warns(UserWarning, match="`y` is not used beside `side`"):
        both = clone(estimator).fit(X, Y[::-1], side=SIDE)
    assert both.solution_.primal == alone.solution_.primal
    with pytest.raises(ValueError, match="`y` has 3 labels, but `X` has 50 rows"):
        clone(estimator).fit(X, Y[:3], side=SIDE)


def test_labels_beside_side_information_are_used_for_class_means_and_the_number_of_clusters():
    MetricLearner(rank=2, basis="class_means", C=1.0).fit(X, Y, side=SIDE)
    clusters = NonparametricKernel().fit_predict(X, Y, side=SIDE)
    assert len(np.unique(clusters)) == len(np.unique(Y))
    with pytest.raises(ValueError, match="`y` has 3 labels, but `X` has 50 rows"):
        NonparametricKernel().fit_predict(X, Y[:3], side=SIDE)


def test_as_many_statements_as_rows_are_cut_by_rows_and_not_by_statements():
    side = Pairs.from_labels(Y, len(X), random_state=0)
    assert side.size == len(X)
    train = np.arange(0, len(X), 2)
    cut = sklearn.utils.validation._check_method_params(X, {"side": side}, train)["side"]
    np.testing.assert_array_equal(
        cut.statement_points(), side.keep_points(train).statement_points()
    )
    assert 0 < cut.size < len(train)


# -- what X may be -------------------------------------------------------------------------------------


@every(ESTIMATORS)
def test_sparse_points_are_taken_where_the_tags_say_so_and_refused_elsewhere(estimator):
    sparse = sp.csr_array(X)
    takes = sklearn.utils.get_tags(estimator).input_tags.sparse
    assert takes == (isinstance(estimator, MetricLearner) and estimator.rank is not None)
    if takes:
        one, two = (clone(estimator).fit(Z, Y).transform(Z) for Z in (X, sparse))
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-8)
    else:
        with pytest.raises(TypeError, match=r"[Ss]parse.*toarray"):
            clone(estimator).fit(sparse, Y)


@every(TRANSFORMERS)
def test_float32_stays_float32_and_gives_the_same_answer(estimator):
    single = X.astype(np.float32)
    fitted = clone(estimator).fit(single, Y)
    out = fitted.transform(single)
    exact = fitted.transform(single.astype(np.float64))
    assert (out.dtype, exact.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(out, exact, atol=1e-5 * np.abs(exact).max())
    same = clone(estimator).fit(single.astype(np.float64), Y)
    np.testing.assert_allclose(exact, same.transform(single.astype(np.float64)), rtol=1e-12)


@every(LEARNERS)
def test_one_sample_and_two_without_a_pair_are_refused(estimator):
    for rows, labels, sentence in (
        (X[:1], [0], "`y` has one class only"),
        (X[:2], [0, 0], "`y` has one class only"),
        (X[:2], [0, 1], "no class in `y` has two members"),
    ):
        with pytest.raises(ValueError, match=sentence):
            clone(estimator).fit(rows, labels)


# POLA, which learns a threshold, needs a pair of either kind.
@every({name: learner for name, learner in LEARNERS.items() if name != "POLA"})
def test_two_samples_and_one_statement_are_enough(estimator):
    two = IRIS[[0, 60]]
    plain = np.linalg.norm(two[0] - two[1])
    model = clone(estimator)
    if "bounds" in model.get_params():
        # In the feature space of the default kernel no squared distance is above 2.
        model.set_params(bounds=(0.1, 1.9 if isinstance(model, KernelLearner) else 2 * plain**2))
    out = model.fit(two, side=Pairs(dissimilar=[[0, 1]], n_points=2)).transform(two)
    assert np.isfinite(out).all()
    assert np.linalg.norm(out[0] - out[1]) > 0
    assert model.solution_.relative_gap <= 1e-6


@every({"OnlineMetricLearner": OnlineMetricLearner(), "OnlinePCA": OnlinePCA(2)})
def test_a_stream_may_be_of_one_row(estimator):
    whole = clone(estimator).fit(X, Y)
    rows = clone(estimator)
    for k in range(len(X)):
        rows.partial_fit(X[k : k + 1], Y[k : k + 1])
    np.testing.assert_allclose(rows.transform(X), whole.transform(X), atol=1e-8)


@every(LEARNERS)
def test_a_class_of_one_member_is_dissimilar_to_the_others(estimator):
    y = Y.copy()
    y[0] = 7
    side = Pairs.from_labels(y, 200, random_state=0)
    assert 0 in side.dissimilar
    assert 0 not in side.similar
    fitted = clone(estimator).set_params(n_pairs=200).fit(X, y)
    assert np.isfinite(fitted.transform(X)).all()
    one, two = fitted.solution_.primal, clone(estimator).fit(X, side=side).solution_.primal
    assert one == pytest.approx(two, rel=1e-4)


@every(LEARNERS)
def test_non_convergence_warns_with_the_gap(estimator):
    with pytest.warns(ConvergenceWarning) as caught:
        fitted = clone(estimator).set_params(max_iter=1).fit(X, Y)
    assert fitted.solution_.relative_gap > 1e-6
    assert f"relative gap {fitted.solution_.relative_gap:.1e}" in str(caught[0].message)
    assert fitted.n_iter_ == 1


def test_clusters_that_have_not_converged_warn():
    with pytest.warns(ConvergenceWarning, match="raise `max_iter`"):
        KernelKMeans(3, n_init=1, max_iter=1, random_state=0).fit(X)
