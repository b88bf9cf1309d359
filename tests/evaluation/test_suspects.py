"""Planted wrong judgments come first, and nothing is judged by a metric that has seen it."""

import numpy as np
import pytest
from benchmarks.scripts.suspects import plant
from sklearn.base import BaseEstimator

from gramlearn import POLA, Bounds, KernelLearner, MetricLearner, Pairs, Triplets
from gramlearn.evaluation import suspects

N, D = 120, 8
LEARNER = MetricLearner(tol=1e-2, random_state=0, C=1.0)


@pytest.fixture(scope="module")
def labeled():
    """Three classes that two of eight features tell apart, the others twice as loud."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], N // 3)
    X = 2.0 * rng.normal(size=(N, D))
    X[:, :2] = rng.normal(size=(N, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y]
    return X, y


def sides(y, seed=0):
    pairs = Pairs.from_labels(y, 300, random_state=seed)
    i, j, alike = pairs.near_and_far()
    limits = {"upper": np.where(alike, 20.0, np.inf), "lower": np.where(alike, 0.0, 20.0)}
    return {
        "pairs": pairs,
        "triplets": Triplets.from_labels(y, 300, random_state=seed),
        "bounds": Bounds(i, j, n_points=len(y), **limits),
    }


def plant_any(side, share, seed):
    if not isinstance(side, Bounds):
        return plant(side, share, seed)
    wrong = np.zeros(side.size, dtype=bool)
    wrong[np.random.default_rng(seed).permutation(side.size)[: round(share * side.size)]] = True
    upper, lower = side.upper.copy(), side.lower.copy()
    upper[wrong], lower[wrong] = (
        np.where(np.isinf(side.upper), 20.0, np.inf)[wrong],
        np.where(side.lower > 0, 0.0, 20.0)[wrong],
    )
    return Bounds(side.i, side.j, upper=upper, lower=lower, n_points=side.n_points), wrong


class Recorder(BaseEstimator):
    """Plain distances by an estimator that notes what each fit was given."""

    fits: list = []  # noqa: RUF012 - shared with clones

    def fit(self, X, y=None, *, side=None):
        Recorder.fits.append(side)
        self.rows_ = np.asarray(X)
        return self

    def pair_distance(self, pairs):
        Recorder.fits.append("asked")
        first, second = pairs
        return np.linalg.norm(first - second, axis=1)

    def pair_score(self, pairs):
        return -self.pair_distance(pairs)


@pytest.mark.parametrize("kind", ["pairs", "triplets", "bounds"])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_planted_wrong_judgments_come_first(labeled, kind, share):
    """Of so many first as are wrong, chance finds the share of the wrong ones; this finds most of them."""
    X, y = labeled
    side, wrong = plant_any(sides(y)[kind], share, 1)
    ranked = suspects(LEARNER, X, side, random_state=0)
    first = ranked.number[: wrong.sum()]
    assert np.mean(wrong[first]) > 0.45
    assert np.all(np.diff(ranked.size) <= 0)


def test_what_one_fit_swallows_is_found(labeled):
    """With more freedom than statements a fit keeps all triplets, wrong ones too, so that it accuses none."""
    X, y = labeled
    wide = np.column_stack([X, np.random.default_rng(2).normal(size=(N, 60))])
    side, wrong = plant(Triplets.from_labels(y, 150, random_state=0), 0.1, 1)
    learner = MetricLearner(C=100.0, tol=1e-2, random_state=0)
    assert len(learner.fit(wide, side=side).violated(wide, side, tol=1e-2)) == 0
    ranked = suspects(LEARNER, wide, side, random_state=0)
    assert np.mean(wrong[ranked.number[:15]]) > 0.3  # three times chance


def test_no_metric_has_seen_what_it_judges_nor_its_repeat_nor_its_opposite(labeled):
    X, y = labeled
    rows = np.asarray(Triplets.from_labels(y, 60, random_state=0).triplets)
    side = Triplets(np.concatenate([rows, rows[::3][:, [0, 2, 1]]]), n_points=N)
    fold = side.folds(4, 0)
    Recorder.fits = []
    suspects(Recorder(), X, side, n_folds=4, random_state=0)
    fits = [given for given in Recorder.fits if isinstance(given, Triplets)]
    assert len(fits) == 8
    every = np.sort(np.asarray(side.triplets), axis=1)
    for number, given in enumerate(fits):
        seen = {tuple(row) for row in np.sort(np.asarray(given.triplets), axis=1)}
        held = every[fold == number % 4]
        assert len(held)
        assert not seen & {tuple(row) for row in held}


def test_folds_are_of_one_size_and_keep_the_same_points_together():
    rows = np.array([[0, 1, 2], [0, 2, 1], [2, 1, 0], [3, 4, 5], [6, 7, 8], [8, 7, 6], [1, 2, 3]])
    fold = Triplets(rows, n_points=9).folds(2, 0)
    assert len(set(fold[:3])) == len(set(fold[4:6])) == 1
    labels = np.repeat(np.arange(4), 25)
    counts = np.bincount(Pairs.from_labels(labels, 200, random_state=0).folds(5, 0))
    np.testing.assert_array_equal(counts, 40)


def test_units_make_no_difference(labeled):
    X, y = labeled
    side, _ = plant(Pairs.from_labels(y, 200, random_state=0), 0.1, 1)
    ranked = suspects(LEARNER, X, side, random_state=0)
    scaled = suspects(LEARNER, 1000.0 * X, side, random_state=0)
    np.testing.assert_allclose(np.sort(scaled.size), np.sort(ranked.size), rtol=1e-2, atol=1e-3)
    assert len(set(scaled.number[:20]) & set(ranked.number[:20])) >= 18


def test_where_the_learned_metric_judges_worse_plain_distance_does(labeled):
    """A learner that turns distances around is overruled: the order is that of plain distances."""
    X, y = labeled

    class Liar(Recorder):
        def pair_distance(self, pairs):
            first, second = pairs
            return 1 / (1 + np.linalg.norm(first - second, axis=1))

    side, _ = plant(Triplets.from_labels(y, 200, random_state=0), 0.1, 1)
    i, j, k = np.asarray(side.triplets).T
    plain = np.log(np.sum((X[i] - X[j]) ** 2, axis=1) / np.sum((X[i] - X[k]) ** 2, axis=1))
    ranked = suspects(Liar(), X, side, random_state=0)
    np.testing.assert_array_equal(ranked.number, np.argsort(-plain)[: np.sum(plain > 0)])


@pytest.mark.parametrize(
    "learner", [POLA(C=0.1, tol=1e-2), KernelLearner(tol=1e-2, C=1.0)], ids=str
)
def test_other_learners_of_pairs_do_as_well(labeled, learner):
    X, y = labeled
    side, wrong = plant(Pairs.from_labels(y, 200, random_state=0), 0.1, 1)
    ranked = suspects(learner, X / 10, side, n_folds=3, random_state=0)
    assert np.mean(wrong[ranked.number[:20]]) > 0.3


def test_nothing_given_is_changed(labeled):
    X, y = labeled
    X = X.copy()
    side = Pairs.from_labels(y, 100, random_state=0)
    before = X.copy(), side.similar.copy()
    learner = MetricLearner(tol=1e-2, random_state=0, C=1.0)
    suspects(learner, X, side, n_folds=2, random_state=0)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(side.similar, before[1])
    assert not hasattr(learner, "solution_")


def test_ranked_statements_are_cut_listed_and_left_out(labeled):
    X, y = labeled
    side, _ = plant(Pairs.from_labels(y, 200, random_state=0), 0.1, 1)
    ranked = suspects(LEARNER, X, side, random_state=0)
    first = ranked[:3]
    assert len(first) == 3
    assert first.words == tuple(side.describe(int(k)) for k in first.number)
    assert side.drop(first.mask).size == side.size - 3
    assert first.words[0] in repr(ranked)
    assert f"and {len(ranked) - 10} more" in repr(ranked)
    with pytest.raises(TypeError, match=r"are cut by slices, such as \[:20\]; got \[0\]"):
        ranked[0]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"learner": MetricLearner}, TypeError, "`learner` must be an estimator with fit"),
        ({"learner": 3}, TypeError, "`learner` must be .* got 3"),
        ({"side": [[0, 1]]}, TypeError, "`side` must be Pairs, Triplets or Bounds; got list"),
        ({"side": Pairs(n_points=N)}, ValueError, "side information is empty"),
        ({"X": np.ones(N)}, ValueError, r"`X` must have one row .* got shape \(120,\)"),
        ({"X": np.ones((3, 2))}, ValueError, "made for 120 points but received 3 rows"),
        ({"n_folds": 1}, ValueError, "`n_folds` must be a whole number of at least 2; got 1"),
        ({"n_folds": 500}, ValueError, "`n_folds=500` needs as many .* there are 50: pass fewer"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(labeled, change, error, words):
    X, y = labeled
    side = Pairs.from_labels(y, 50, random_state=0)
    with pytest.raises(error, match=words):
        suspects(**{"learner": LEARNER, "X": X, "side": side, **change})
