"""More statements later: the answer is that of all of them at once, and takes fewer steps."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from gramlearn import Bounds, KernelLearner, MetricLearner, Pairs, SolveInterrupted, Triplets

WINE, CLASSES = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)
N = len(X)
FIRST = np.arange(120)


def pairs_about(rows, count, seed):
    """Pairs of these rows, numbered as rows of X."""
    drawn = Pairs.from_labels(CLASSES[rows], count, random_state=seed)
    return Pairs(rows[drawn.similar], rows[drawn.dissimilar], n_points=N)


ORDER = np.random.default_rng(0).permutation(N)
OLD, NEW = pairs_about(ORDER[:120], 600, 0), pairs_about(ORDER, 60, 1)
ROW, OTHER, ALIKE = OLD.near_and_far()
HALF = len(ROW) // 2
TABLE = Triplets.from_labels(CLASSES, 400, random_state=0).triplets


def bounds(rows):
    ends = np.where(ALIKE, 10.0, np.inf)[rows], np.where(ALIKE, 0.0, 30.0)[rows]
    return Bounds(ROW[rows], OTHER[rows], upper=ends[0], lower=ends[1], n_points=N)


SIDES = {
    "pairs": (OLD, NEW),
    "similar, then dissimilar": (
        Pairs(OLD.similar, n_points=N),
        Pairs(None, OLD.dissimilar, n_points=N),
    ),
    "triplets": (Triplets(TABLE[:300], n_points=N), Triplets(TABLE[300:], n_points=N)),
    "bounds": (bounds(slice(HALF)), bounds(slice(HALF, None))),
}
LEARNERS = {
    "MetricLearner": MetricLearner(C=1.0, bounds=(10.0, 30.0)),
    "MetricLearner, Frobenius": MetricLearner(C=1e-3, bounds=(10.0, 30.0), regularizer="frobenius"),
    "MetricLearner, rank": MetricLearner(C=1.0, bounds=(10.0, 30.0), rank=5),
    "MetricLearner, diagonal": MetricLearner(C=1.0, bounds=(10.0, 30.0), shape="diagonal"),
    "KernelLearner": KernelLearner("linear", C=1.0, bounds=(10.0, 30.0), rank=5),
}


def every(estimators):
    return pytest.mark.parametrize("learner", estimators.values(), ids=list(estimators))


def same_answer(one, other):
    tol = 10 * one.tol * abs(other.solution_.primal)
    assert one.solution_.primal == pytest.approx(other.solution_.primal, abs=tol)
    assert one.solution_.relative_gap <= one.tol
    np.testing.assert_allclose(
        one.pair_distance((X[:40], X[40:80])), other.pair_distance((X[:40], X[40:80])), rtol=0.05
    )


@pytest.mark.parametrize("kind", SIDES)
@every(LEARNERS)
def test_a_partial_fit_is_a_fit_to_all_statements(learner, kind):
    old, new = SIDES[kind]
    begun = clone(learner).partial_fit(X, side=old)
    same_answer(begun, clone(learner).fit(X, side=old))
    same_answer(begun.partial_fit(X, side=new), clone(learner).fit(X, side=old + new))
    assert (old.n_points, new.n_points) == (N, N)


@every(LEARNERS)
def test_ctrl_c_in_the_first_call_hands_over_the_answer_so_far(learner):
    def interrupt(record):
        if record.iteration == 1:
            raise KeyboardInterrupt

    begun, (old, new) = clone(learner).set_params(callback=interrupt), SIDES["pairs"]
    with pytest.raises(SolveInterrupted, match="is fitted with it") as stop:
        begun.partial_fit(X, side=old)
    assert begun.solution_ is stop.value.solution
    begun.set_params(callback=None).partial_fit(X, side=new)
    same_answer(begun, clone(learner).fit(X, side=old + new))


@every(LEARNERS)
def test_rows_may_be_added(learner):
    """Without whatever depends on all rows, the first rows teach the same as before."""
    first = Pairs(OLD.similar, OLD.dissimilar, n_points=N).keep_points(FIRST)
    begun = clone(learner).fit(X[FIRST], side=first).partial_fit(X, side=NEW)
    known = Pairs(first.similar, first.dissimilar, n_points=N) + NEW
    same_answer(begun, clone(learner).fit(X, side=known))


@every({name: e for name, e in LEARNERS.items() if name != "MetricLearner, diagonal"})
def test_the_last_answer_is_where_a_warm_start_begins(learner):
    cold = clone(learner).fit(X, side=OLD)
    warm = clone(learner).set_params(warm_start=True).fit(X, side=OLD)
    np.testing.assert_array_equal(warm.solution_.factor, cold.solution_.factor)
    again = pickle.loads(pickle.dumps(warm)).fit(X, side=OLD)
    same_answer(again, cold)
    assert again.solution_.iterations <= 1 < cold.solution_.iterations
    # At another price, with other statements, and of another size the optimum is that of a cold start.
    for options, side, points in (
        ({"C": 10 * learner.C}, OLD, X),
        ({}, NEW, X),
        ({}, SIDES["triplets"][0], X),
        ({}, OLD, np.delete(X, 3, axis=1)),
    ):
        cold = clone(learner).set_params(**options).fit(points, side=side)
        warm = clone(learner).set_params(warm_start=True).fit(X, side=OLD)
        warm.set_params(**options).fit(points, side=side)
        tol = 10 * cold.tol * abs(cold.solution_.primal)
        assert warm.solution_.primal == pytest.approx(cold.solution_.primal, abs=tol)


@every({name: LEARNERS[name] for name in ("MetricLearner, rank", "KernelLearner")})
def test_a_few_more_statements_take_fewer_steps(learner):
    """With the slack of LogDet, whose answer is far from singular; with hinges steps are saved seldom."""
    begun = clone(learner).fit(X, side=OLD)
    cold = clone(learner).fit(X, side=OLD + NEW)
    assert begun.partial_fit(X, side=NEW).solution_.iterations < cold.solution_.iterations


@pytest.mark.parametrize("kind", [MetricLearner, KernelLearner])
def test_what_was_chosen_stays_chosen(kind):
    noisy = np.hstack([X, 3 * np.random.default_rng(0).normal(size=(N, 5))])
    learner = kind(random_state=0) if kind is MetricLearner else kind("linear", random_state=0)
    learner.fit(noisy, side=OLD)
    before = learner.prior_, learner.statements_, learner.strength_, learner.verdict_
    assert learner.strength_ is not None
    tried, plain = learner.cv_results_, learner.pair_distance((noisy[:9], noisy[9:18]))
    learner.partial_fit(noisy, side=NEW)
    assert (learner.prior_, learner.statements_, learner.strength_, learner.verdict_) == before
    assert learner.cv_results_ is tried
    assert not np.allclose(plain, learner.pair_distance((noisy[:9], noisy[9:18])), rtol=1e-6)


def test_labels_that_become_known_later_are_passed_with_the_others():
    known = np.where(np.arange(N) % 2, CLASSES, -1)
    learner = MetricLearner(random_state=0).fit(X, known)
    strength = learner.strength_
    assert learner.partial_fit(X, CLASSES).strength_ == strength
    assert learner.score(X, CLASSES) > 0.9


def test_sparse_rows_are_known_again():
    table = sp.csr_array(X * (np.abs(X) > 0.5))
    learner = LEARNERS["MetricLearner, rank"]
    begun = clone(learner).fit(table, side=OLD).partial_fit(table.copy(), side=NEW)
    cold = clone(learner).fit(table, side=OLD + NEW)
    assert begun.solution_.primal == pytest.approx(cold.solution_.primal, rel=1e-5)
    with pytest.raises(ValueError, match="`X` does not begin with the 178 rows"):
        begun.partial_fit(2 * table, side=NEW)


def test_a_refused_partial_fit_changes_nothing():
    begun = clone(LEARNERS["MetricLearner"]).fit(X, side=OLD)
    before = begun.components_
    with pytest.raises(ValueError, match="does not begin"):
        begun.partial_fit(X[::-1], side=NEW)
    np.testing.assert_array_equal(begun.components_, before)
    begun.partial_fit(X, side=NEW)


OF_LABELS = MetricLearner(C=1.0, n_pairs=60, random_state=0).fit(X, CLASSES)
OF_PAIRS = clone(LEARNERS["MetricLearner"]).fit(X, side=OLD)
OF_TRIPLETS = MetricLearner(C=1.0).fit(X, side=Triplets(TABLE, n_points=N, margin=2.0))
REFUSED = {
    "other rows": (
        lambda: OF_PAIRS.partial_fit(X + 1, side=NEW),
        "`X` does not begin with the 178 rows that were learned from; pass these, and further ones",
    ),
    "fewer rows": (
        lambda: OF_PAIRS.partial_fit(X[:9], side=NEW.keep_points(np.arange(9))),
        "does not begin",
    ),
    "side after labels": (
        lambda: OF_LABELS.partial_fit(X, side=NEW),
        "`y` is what this MetricLearner learns from, as it was fitted to labels; pass `y`, or start anew",
    ),
    "labels after side": (
        lambda: OF_PAIRS.partial_fit(X, CLASSES),
        "`side` is what .* fitted to statements",
    ),
    "triplets after pairs": (
        lambda: OF_PAIRS.partial_fit(X, side=Triplets(TABLE, n_points=N)),
        "`side` holds Triplets, and so far there were Pairs, which do not add up; pass the same kind",
    ),
    "of other points": (
        lambda: OF_PAIRS.partial_fit(X, side=NEW.keep_points(FIRST)),
        "made for 120 points but received 178 rows",
    ),
    "no side": (
        lambda: OF_PAIRS.partial_fit(X, side=3),
        "`side` must be Pairs, Triplets or Bounds; got int",
    ),
    "no flag": (
        lambda: MetricLearner(C=1.0, warm_start=np.ones(2)).fit(X, side=OLD),
        "`warm_start` must be True or False",
    ),
}


@pytest.mark.parametrize(("call", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()
