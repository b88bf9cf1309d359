"""The share of comparisons kept, against loops over triplets, and as the scorer of searches."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramlearn import POLA, KernelLearner, MetricLearner, OnlineMetricLearner, Pairs, Triplets
from gramlearn.evaluation import TripletScorer, comparisons_kept
from gramlearn.evaluation import triplets as triplet_scores

IRIS, SPECIES = load_iris(return_X_y=True)
X, Y = IRIS[::3], SPECIES[::3]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
SIDE = Triplets.from_labels(Y, 200, random_state=0)


class Scores:
    """s(x, y) is a given function of two points."""

    def __init__(self, score):
        self.score = score

    def pair_score(self, pairs):
        return np.asarray([self.score(a, b) for a, b in zip(*pairs, strict=True)], dtype=float)


def negative_distance(a, b):
    return -np.linalg.norm(a - b)


def by_loops(score, points, side):
    kept = [score(points[i], points[j]) > score(points[i], points[k]) for i, j, k in side.triplets]
    return np.mean(kept)


def fitted_online():
    i, j, _ = Pairs.from_labels(Y, 60, random_state=0).near_and_far()
    pairs = np.stack([X[i], X[j]], axis=1)
    return OnlineMetricLearner().partial_fit(pairs, np.where(Y[i] == Y[j], 0.5, 4.0))


FITTED = {
    "MetricLearner": lambda: MetricLearner(random_state=0, C=1.0).fit(X, Y),
    "KernelLearner": lambda: KernelLearner(random_state=0, C=1.0).fit(X, Y),
    "POLA": lambda: POLA(random_state=0).fit(X, Y),
    "OnlineMetricLearner": fitted_online,
}


@pytest.mark.parametrize("name", FITTED)
def test_the_share_is_that_of_a_loop_over_triplets(name):
    learner = FITTED[name]()
    metric = learner.get_metric()
    expected = by_loops(lambda a, b: -metric(a, b), X, SIDE)
    assert comparisons_kept(learner, X, SIDE) == pytest.approx(expected, abs=1e-12)
    assert TripletScorer(200)(learner, X, Y) == comparisons_kept(learner, X, SIDE)
    assert 0.7 < expected < 1


def test_scores_that_are_right_wrong_equal_or_nan():
    points = np.column_stack([Y, np.zeros(len(Y))]).astype(float)
    right = Scores(negative_distance)
    assert comparisons_kept(right, points, SIDE) == 1.0
    assert comparisons_kept(Scores(lambda a, b: -negative_distance(a, b)), points, SIDE) == 0.0
    assert comparisons_kept(Scores(lambda a, b: 3.0), points, SIDE) == 0.0
    rng = np.random.default_rng(0)
    guess = comparisons_kept(Scores(lambda a, b: rng.random()), points, SIDE)
    assert abs(guess - 0.5) < 4 * 0.5 / np.sqrt(SIDE.size)


def test_comparisons_of_two_pairs_and_their_weights():
    points = np.asarray([[0.0], [1.0], [3.0], [7.0]])
    four = Triplets([(0, 1, 2, 3), (2, 3, 0, 1), (1, 2, 0, 3)], n_points=4)
    assert comparisons_kept(Scores(negative_distance), points, four) == pytest.approx(2 / 3)
    weighted = Triplets(four.triplets, n_points=4, weight=[1.0, 5.0, 2.0])
    assert comparisons_kept(Scores(negative_distance), points, weighted) == pytest.approx(3 / 8)
    alike = Triplets(four.triplets, n_points=4, weight=5.0)
    assert comparisons_kept(Scores(negative_distance), points, alike) == pytest.approx(2 / 3)


def test_points_of_every_kind_and_in_parts(monkeypatch):
    pandas = pytest.importorskip("pandas")
    learner = MetricLearner(random_state=0, C=1.0).fit(X, Y)
    expected = comparisons_kept(learner, X, SIDE)
    assert comparisons_kept(learner, X.tolist(), SIDE) == expected
    assert comparisons_kept(learner, sp.coo_array(X), SIDE) == expected
    frame = pandas.DataFrame(X, columns=list("abcd"), index=np.arange(len(X))[::-1])
    named = MetricLearner(random_state=0, C=1.0).fit(frame, Y)  # names that are lost would warn
    assert comparisons_kept(named, frame, SIDE) == expected
    monkeypatch.setattr(triplet_scores, "_NUMBERS_AT_ONCE", 36)
    assert comparisons_kept(learner, X, SIDE) == expected


def test_pipelines_and_searches_are_scored_by_their_last_step():
    pipeline = make_pipeline(StandardScaler(), MetricLearner(random_state=0, C=1.0)).fit(X, Y)
    expected = comparisons_kept(pipeline[-1], pipeline[0].transform(X), SIDE)
    assert comparisons_kept(pipeline, X, SIDE) == expected
    assert comparisons_kept(make_pipeline(pipeline[-1]), X, SIDE) == comparisons_kept(
        pipeline[-1], X, SIDE
    )
    grid = {"metriclearner__C": [0.1]}
    search = GridSearchCV(pipeline, grid, scoring=TripletScorer(100), cv=FOLDS).fit(X, Y)
    assert comparisons_kept(search, X, SIDE) == comparisons_kept(search.best_estimator_, X, SIDE)


def test_a_search_over_C_scores_all_candidates_on_the_same_triplets():
    scorer = TripletScorer(300, random_state=4)
    gammas = [1e-4, 1.0]
    search = GridSearchCV(
        MetricLearner(random_state=0, C=1.0),
        {"C": gammas},
        scoring=scorer,
        cv=FOLDS,
        error_score="raise",
    ).fit(X, Y)
    for k, (train, test) in enumerate(FOLDS.split(X, Y)):
        side = Triplets.from_labels(Y[test], 300, random_state=4)
        for candidate, gamma in enumerate(gammas):
            learner = MetricLearner(C=gamma, random_state=0).fit(X[train], Y[train])
            metric = learner.get_metric()
            expected = by_loops(lambda a, b, d=metric: -d(a, b), X[test], side)
            assert search.cv_results_[f"split{k}_test_score"][candidate] == pytest.approx(expected)
    assert search.best_params_ == {"C": 1.0}  # the other is the prior, nearly
    assert search.score(X, Y) == scorer(search.best_estimator_, X, Y)


def test_a_scorer_is_pickled_cloned_and_routed():
    scorer = TripletScorer(50, random_state=7)
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert repr(scorer) == "TripletScorer(n_triplets=50, random_state=7)"
    search = GridSearchCV(MetricLearner(C=1.0), {"C": [1.0]}, scoring=scorer)
    assert clone(search).scoring == scorer
    learner = MetricLearner(random_state=0, C=1.0)
    plain = cross_val_score(learner, X, Y, scoring=scorer, cv=FOLDS)
    several = cross_validate(learner, X, Y, scoring={"kept": scorer}, cv=FOLDS)
    assert np.array_equal(plain, several["test_kept"])
    with sklearn.config_context(enable_metadata_routing=True):
        assert np.array_equal(plain, cross_val_score(learner, X, Y, scoring=scorer, cv=FOLDS))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: comparisons_kept(KNeighborsClassifier().fit(X, Y), X, SIDE),
            TypeError,
            "judged by `pair_score`, which KNeighborsClassifier does not have; pass a fitted Metric",
        ),
        (
            lambda: comparisons_kept(FITTED["MetricLearner"](), X, SIDE.triplets),
            TypeError,
            r"`triplets` must be Triplets\(rows of \(i, j, k\), n_points=...\); got ndarray",
        ),
        (
            lambda: comparisons_kept(FITTED["MetricLearner"](), X[:20], SIDE),
            ValueError,
            "made for 50 points but received 20 rows",
        ),
        (
            lambda: TripletScorer()(FITTED["MetricLearner"](), X),
            ValueError,
            "draws comparisons from labels, and `y` is missing; pass y",
        ),
        (
            lambda: TripletScorer()(FITTED["MetricLearner"](), X, np.zeros(len(X), dtype=int)),
            ValueError,
            "`y` has one class only, 0",
        ),
        (lambda: TripletScorer(0), ValueError, "`n_triplets` must be a whole number of at least 1"),
    ],
)
def test_bad_input_raises_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
