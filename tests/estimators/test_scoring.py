"""`score`, and searches that cut side information as they cut X, for all that learn from statements."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from gramlearn import (
    POLA,
    Bounds,
    KernelDesigner,
    KernelLearner,
    MetricLearner,
    NonparametricKernel,
    OnlineMetricLearner,
    Pairs,
    SemiSupervisedEmbedding,
    Triplets,
)
from gramlearn.evaluation import comparisons_kept
from gramlearn.evaluation.statements import neighbors_right, share_right

IRIS, SPECIES = load_iris(return_X_y=True)
X, Y = IRIS[::2], SPECIES[::2]
PAIRS = Pairs.from_labels(Y, 300, random_state=0)
TRIPLETS = Triplets.from_labels(Y, 300, random_state=0)
_I, _J, _ALIKE = PAIRS.near_and_far()
BOUNDS = Bounds(
    _I, _J, upper=np.where(_ALIKE, 1.0, np.inf), lower=np.where(_ALIKE, 0.0, 2.0), n_points=len(X)
)
SIDES = {"pairs": PAIRS, "triplets": TRIPLETS, "bounds": BOUNDS}
FOLDS = KFold(3, shuffle=True, random_state=0)
OF_PAIRS = {
    "MetricLearner": MetricLearner(C=1.0),
    "MetricLearner, rank": MetricLearner(rank=2, C=1.0),
    "MetricLearner, diagonal": MetricLearner(shape="diagonal", C=1.0),
    "KernelLearner": KernelLearner(C=1.0),
    "KernelLearner, rank": KernelLearner(rank=5, C=1.0),
    "POLA": POLA(0.01),
    "OnlineMetricLearner": OnlineMetricLearner(),
}
LEARNERS = {
    **OF_PAIRS,
    "SemiSupervisedEmbedding": SemiSupervisedEmbedding(),
    "NonparametricKernel": NonparametricKernel(n_components=2, join="either"),
}


def every(estimators):
    return pytest.mark.parametrize("learner", estimators.values(), ids=list(estimators))


def routed(learner):
    return clone(learner).set_fit_request(side=True).set_score_request(side=True)


# -- score ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES.values(), ids=list(SIDES))
@every(OF_PAIRS)
def test_a_score_is_the_share_of_statements_that_are_right_under_learned_distances(learner, side):
    fitted = clone(learner).fit(X, side=PAIRS)

    def lengths(i, j):
        return fitted.pair_distance((X[i], X[j])) ** 2

    assert fitted.score(X, side=side) == pytest.approx(share_right(side, lengths), abs=1e-12)
    assert 0.6 < fitted.score(X, side=side) <= 1


@pytest.mark.parametrize("side", SIDES.values(), ids=list(SIDES))
@every({name: e for name, e in LEARNERS.items() if name not in OF_PAIRS})
def test_an_embedding_is_scored_by_its_distances(learner, side):
    fitted = clone(learner).fit(X, side=PAIRS)
    points = fitted.transform(X)
    expected = share_right(side, lambda i, j: np.sum((points[i] - points[j]) ** 2, axis=1))
    assert fitted.score(X, side=side) == pytest.approx(expected, abs=1e-12)


@every(OF_PAIRS)
def test_the_score_of_pairs_by_points_and_by_rows_is_one_area(learner):
    fitted = clone(learner).fit(X, side=PAIRS)
    sides = (X[_I], X[_J])
    area = roc_auc_score(_ALIKE, fitted.pair_score(sides))
    assert fitted.score(X, side=PAIRS) == pytest.approx(area, abs=1e-12)
    for pairs in (sides, list(sides), np.stack(sides, axis=1), np.stack(sides, axis=1).tolist()):
        assert fitted.score(pairs, np.where(_ALIKE, 1, -1)) == pytest.approx(area, abs=1e-12)


@every(LEARNERS)
def test_labels_are_scored_by_near_neighbors_in_what_transform_gives(learner):
    fitted = clone(learner).fit(X, side=PAIRS)
    expected = neighbors_right(fitted.transform(X), Y)
    names = np.asarray(["a", "b", "c"])[Y]
    assert fitted.score(X, Y) == fitted.score(X.tolist(), names) == expected > 0.8
    # Points without a label take no part.
    some = np.arange(len(X)) % 3 > 0
    partly = np.where(some, Y.astype(float), np.nan)
    assert fitted.score(X, partly) == pytest.approx(fitted.score(X[some], Y[some]), abs=1e-12)


def test_a_score_of_labels_follows_the_columns_of_transform():
    scores = {
        k: MetricLearner(C=1.0, n_components=k).fit(X, side=PAIRS).score(X, Y) for k in (1, 4)
    }
    assert scores[1] != scores[4]


@every({"learner": MetricLearner(rank=2, C=1.0), "diagonal": OF_PAIRS["MetricLearner, diagonal"]})
def test_sparse_points_and_frames_score_as_dense_ones(learner):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    dense = clone(learner).fit(X, side=PAIRS)
    sparse = clone(learner).fit(sp.csr_array(X), side=PAIRS)
    framed = clone(learner).set_output(transform="pandas").fit(frame, side=PAIRS)
    for options in ({"side": PAIRS}, {"y": Y}):
        score = dense.score(X, **options)
        assert sparse.score(sp.csr_array(X), **options) == pytest.approx(score, abs=0.01)
        assert framed.score(frame, **options) == pytest.approx(score, abs=1e-9)


@every({**LEARNERS, "KernelDesigner": KernelDesigner(sparsity=0.01)})
def test_what_tells_nothing_scores_as_a_guess_and_says_so(learner):
    side = TRIPLETS if isinstance(learner, KernelDesigner) else PAIRS
    fitted = clone(learner).fit(X, side=side)
    with pytest.warns(
        UserWarning, match="`side` says nothing about these 2 rows, so the score is 1/2"
    ):
        assert fitted.score(X[:2], side=Triplets([], n_points=2)) == 0.5
    if not isinstance(learner, KernelDesigner):
        with pytest.warns(UserWarning, match="`y` holds no two classes, so the score is 1/2"):
            assert fitted.score(X[:5], np.ones(5)) == 0.5


def test_a_designed_kernel_is_scored_by_the_comparisons_it_keeps():
    fitted = KernelDesigner(sparsity=0.01).fit(X, side=TRIPLETS)
    assert fitted.score(X, side=TRIPLETS) == comparisons_kept(fitted, X, TRIPLETS)


FITTED = MetricLearner(C=1.0).fit(X, side=PAIRS)
REFUSED = {
    "nothing to score by": (
        lambda: FITTED.score(X),
        "nothing to score by: pass labels as `y`, or `side=P",
    ),
    "side as y": (lambda: FITTED.score(X, PAIRS), "Pairs is side information; pass it as `side=`"),
    "no side": (
        lambda: FITTED.score(X, side=[[0, 1]]),
        "`side` must be Pairs, Triplets or Bounds; got list",
    ),
    "other points": (
        lambda: FITTED.score(X[:9], side=PAIRS),
        "made for 75 points but received 9 rows",
    ),
    "few labels": (lambda: FITTED.score(X, Y[:3]), "`y` has 3 labels, but `X` has 75 rows"),
    "few labels beside side": (
        lambda: FITTED.score(X, Y[:3], side=PAIRS),
        "`y` has 3 labels, but `X` has 75 rows",
    ),
    "side of pairs": (
        lambda: FITTED.score((X, X), side=PAIRS),
        "`X` holds pairs of points, and `side` is about rows of points; pass the points as X",
    ),
    "pairs alone": (
        lambda: FITTED.score((X, X)),
        "`y` is missing; pass 1 for each pair that is alike",
    ),
    "pairs of one kind": (
        lambda: FITTED.score((X[:3], X[3:6]), [1, 1, 1]),
        r"`y` calls all 3 pairs alike; .* both kinds; in cross-validation pass cv=StratifiedKFold\(\)",
    ),
}


@pytest.mark.parametrize(("call", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()


def test_labels_beside_side_information_are_not_used_which_is_said():
    with pytest.warns(UserWarning, match="`y` is not used beside `side`, by which all is scored"):
        assert FITTED.score(X, Y, side=PAIRS) == FITTED.score(X, side=PAIRS)


# -- searches ------------------------------------------------------------------------------------------


@every({name: e for name, e in LEARNERS.items() if name != "NonparametricKernel"})
def test_folds_take_the_side_information_of_their_rows(learner):
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            routed(learner), X, params={"side": PAIRS}, cv=FOLDS, error_score="raise"
        )
    expected = [
        clone(learner)
        .fit(X[train], side=PAIRS.keep_points(train))
        .score(X[test], side=PAIRS.keep_points(test))
        for train, test in FOLDS.split(X)
    ]
    np.testing.assert_allclose(scores, expected, atol=1e-9)
    assert np.ptp(scores) > 0


@pytest.mark.parametrize("side", SIDES.values(), ids=list(SIDES))
def test_a_search_chooses_by_statements_that_are_held_back(side):
    grid = {"C": [1e-6, 1.0]}
    with sklearn.config_context(enable_metadata_routing=True):
        learner = routed(MetricLearner(loss="hinge"))
        search = GridSearchCV(learner, grid, cv=FOLDS, error_score="raise").fit(X, side=side)
        assert search.best_score_ == search.cv_results_["mean_test_score"].max()
        assert len(set(search.cv_results_["mean_test_score"])) == 2
        fitted = MetricLearner(loss="hinge", **search.best_params_).fit(X, side=side)
        assert search.score(X, side=side) == pytest.approx(fitted.score(X, side=side), abs=1e-9)


def test_a_pipeline_passes_side_information_on():
    learner = MetricLearner(C=1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), routed(learner))
        scaled = StandardScaler().fit_transform(X)
        score = pipeline.fit(X, side=PAIRS).score(X, side=PAIRS)
        assert score == pytest.approx(
            clone(learner).fit(scaled, side=PAIRS).score(scaled, side=PAIRS)
        )
        if parse_version(sklearn.__version__) < parse_version("1.7"):
            return  # their scorers pass nothing on to a Pipeline
        options = {"params": {"side": PAIRS}, "cv": FOLDS, "error_score": "raise"}
        found = cross_validate(pipeline, X, return_train_score=True, **options)
        assert found["train_score"].min() > 0.8
        grid = {"metriclearner__C": [0.1, 1.0]}
        search = GridSearchCV(pipeline, grid, cv=FOLDS, error_score="raise").fit(X, side=PAIRS)
        assert search.best_score_ > 0.8


def test_pairs_of_points_are_cross_validated_with_their_judgments():
    pairs, y = np.stack([X[_I], X[_J]], axis=1), np.where(_ALIKE, 1, -1)
    scores = cross_val_score(
        OnlineMetricLearner(), pairs, y, cv=StratifiedKFold(3), error_score="raise"
    )
    assert scores.min() > 0.8


def test_a_split_of_points_splits_what_is_known_of_them():
    first, second, of_first, of_second = train_test_split(X, PAIRS, random_state=0)
    rows = [np.flatnonzero((row == X).all(axis=1))[0] for row in first]
    assert (of_first.n_points, of_second.n_points) == (len(first), len(second))
    i, j, _ = of_first.near_and_far()
    assert of_first.size > 0
    pairs = {frozenset(pair) for pair in PAIRS.statement_points().tolist()}
    assert {frozenset((rows[a], rows[b])) for a, b in zip(i, j, strict=True)} <= pairs


def test_a_fold_without_statements_leaves_the_choice_to_the_others():
    """All that is known is of the first rows, and the last fold has none of them."""
    side = PAIRS.keep_points(np.arange(50))
    side = Pairs(side.similar, side.dissimilar, n_points=len(X))
    options = {"params": {"side": side}, "cv": KFold(3), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=True):
        learner = routed(MetricLearner(C=1.0))
        with pytest.warns(UserWarning, match="says nothing about these 25 rows"):
            scores = cross_val_score(learner, X, **options)
        assert scores[2] == 0.5
        nothing = Pairs(n_points=len(X))
        with pytest.raises(ValueError, match=r"is empty; .* of cross-validation, fewer folds"):
            cross_val_score(learner, X, **{**options, "params": {"side": nothing}})


def test_without_routing_a_search_says_what_to_do():
    with pytest.raises(ValueError, match=r"sklearn.set_config\(enable_metadata_routing=True\)"):
        cross_val_score(MetricLearner(C=1.0), X, params={"side": PAIRS}, error_score="raise")
