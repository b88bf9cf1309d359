"""Errors name arguments as the user typed them, and warnings point at the calling line."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from gramlearn.losses import LogDetSlack, Square
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from gramlearn import (
    POLA,
    Bounds,
    InfeasibleError,
    KernelLearner,
    MetricLearner,
    Pairs,
    SemiSupervisedEmbedding,
    Triplets,
)
from gramlearn.methods import kernel_kmeans
from gramlearn.side_information import percentile_bounds

X, Y = load_iris(return_X_y=True)
SIDE = Pairs.from_labels(Y, 60, random_state=0)
TRIPLETS = Triplets([(0, 1, 60)], n_points=150)
EASY = Triplets([(0, 1, 60), (2, 3, 70)], n_points=150, margin=1e-3)
LEARNERS = (MetricLearner, KernelLearner)


def caught(call):
    """The warnings of a call, with the files that they point at."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [(str(w.message), Path(w.filename)) for w in found]


# -- where warnings point ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: MetricLearner(max_iter=1, random_state=0, C=1.0).fit(X, Y),
        lambda: MetricLearner(max_iter=1, random_state=0, C=1.0).fit_transform(X, Y),
        lambda: make_pipeline(KernelLearner(max_iter=1, rank=9, random_state=0, C=1.0)).fit(X, Y),
        lambda: POLA(max_iter=1, random_state=0).fit(X, Y),
        lambda: SemiSupervisedEmbedding(max_iter=1, random_state=0).fit(X, Y),
    ],
)
def test_the_advice_of_a_convergence_warning_works(call):
    ((message, where),) = caught(call)
    assert where == Path(__file__)
    assert "max_iter=1" in message
    assert "raise max_iter, or raise tol" in message
    assert "start" not in message


def test_other_warnings_also_point_at_the_caller():
    twice = np.vstack([X, X[:1]])
    side = Pairs([[0, 1]], [[0, 150], [0, 60]], n_points=151)
    for learner in (MetricLearner(C=1.0), KernelLearner("linear", rank=2, C=1.0)):
        ((message, where),) = caught(lambda learner=learner: learner.fit(twice, side=side))
        assert "the dissimilar pair (0, 150)" in message
        assert where == Path(__file__)
    ((message, where),) = caught(lambda: kernel_kmeans(np.ones((9, 1)), 2, random_state=0))
    assert where == Path(__file__)
    ((message, where),) = caught(
        lambda: SemiSupervisedEmbedding(40, random_state=0, C=1e-3).fit(X, Y)
    )
    assert "n_components=40" in message
    assert where == Path(__file__)


def test_a_warning_of_solve_says_how_to_continue():
    from gramlearn import LogDet, Problem, solve

    problem = Problem(LogDet(), np.eye(4), SIDE.bind(LogDetSlack(), X, random_state=0))
    with pytest.warns(ConvergenceWarning, match="continue with start=solution") as found:
        solve(problem, max_iter=1)
    assert Path(found[0].filename) == Path(__file__)


# -- points that are equal to what is learned --------------------------------------------------------


def multiple():
    """Row 60 is twice row 0: one point to a cosine."""
    Z = X.copy()
    Z[60] = 2 * Z[0]
    return Z


def apart_in_vain():
    """Row 60 differs from row 0 in a direction that the prior does not see."""
    Z = X.copy()
    Z[60] = Z[0] + 5 * NULL
    return Z


NULL = np.asarray([1.0, 2.0, -1.0, 0.5]) / 2.5
BLIND = np.eye(4) - np.outer(NULL, NULL) / (NULL @ NULL)
IN_VAIN = Pairs([[0, 1], [60, 61]], [[0, 60], [1, 70], [3, 120]], n_points=150)
HOPELESS = {
    "cosine": (KernelLearner("cosine", C=1.0), multiple()),
    "cosine, rank": (KernelLearner("cosine", rank=3, C=1.0), multiple()),
    "cosine, a basis": (KernelLearner("cosine", basis=np.eye(150)[:, ::40], C=1.0), multiple()),
    "cosine, no complement": (KernelLearner("cosine", rank=3, complement=False, C=1.0), multiple()),
    "embedding": (SemiSupervisedEmbedding(kernel="cosine"), multiple()),
    "prior": (MetricLearner(prior=BLIND, C=1.0), apart_in_vain()),
    "prior, kernel": (MetricLearner(prior=BLIND, regularize="kernel", C=1.0), apart_in_vain()),
    "prior, von Neumann": (MetricLearner("von_neumann", prior=BLIND, C=1.0), apart_in_vain()),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_pairs_that_no_metric_can_separate_are_left_out(name):
    learner, points = HOPELESS[name]
    without = Pairs(IN_VAIN.similar, IN_VAIN.dissimilar[1:], n_points=150)
    learner.set_params(bounds=(0.1, 0.5), tol=1e-9)
    with pytest.warns(UserWarning, match=r"1 of 5 statements .* the dissimilar pair \(0, 60\)"):
        found = learner.fit(points, side=IN_VAIN).solution_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = learner.fit(points, side=without).solution_
    assert found.primal == pytest.approx(expected.primal, rel=1e-7)


def test_a_metric_that_may_leave_the_range_of_its_prior_separates_them():
    learner = MetricLearner("frobenius", prior=BLIND, bounds=(0.1, 0.5), C=100.0)
    learner.fit(apart_in_vain(), side=IN_VAIN)
    Z = apart_in_vain()
    assert learner.pair_distance((Z[:1], Z[60:61]))[0] ** 2 > 0.45


# -- half of the bounds ------------------------------------------------------------------------------


@pytest.mark.parametrize("regularize", ["map", "kernel"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_bound_of_None_is_estimated(learner, regularize):
    settings = {"C": 1.0, "random_state": 0, "regularize": regularize, "percentiles": (20, 80)}
    if learner is KernelLearner:
        settings["kernel"] = "linear"
    low, high = percentile_bounds(X, (20, 80))
    for given, expected in (((None, 9.0), (low, 9.0)), ((0.5, None), (0.5, high))):
        found = learner(bounds=given, **settings).fit(X, Y)
        np.testing.assert_allclose(found.bounds_, expected, rtol=1e-6)
        asked = [term.loss.bound for term in found.solution_.problem.terms]
        np.testing.assert_allclose(asked, expected, rtol=1e-6)


# -- a basis that is given ---------------------------------------------------------------------------


def test_a_basis_that_is_given_is_used_with_or_without_a_rank():
    R = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 2)))[0]
    one = MetricLearner(basis=R, random_state=0, C=1.0).fit(X, Y)
    two = MetricLearner(basis=R, rank=2, random_state=0, C=1.0).fit(X, Y)
    assert one.basis_.shape == (4, 2)
    np.testing.assert_array_equal(one.inner_, two.inner_)
    sparse = MetricLearner(basis=R, random_state=0, C=1.0).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.inner_, one.inner_, rtol=1e-5)
    J = np.eye(150)[:, ::30]
    one = KernelLearner(basis=J, random_state=0, C=1.0).fit(X, Y)
    two = KernelLearner(basis=J, rank=5, random_state=0, C=1.0).fit(X, Y)
    assert one.inner_.shape == (5, 5)
    np.testing.assert_array_equal(one.inner_, two.inner_)


# -- sparse pairs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner",
    [
        MetricLearner(random_state=0, C=1.0),
        MetricLearner(rank=2, random_state=0, C=1.0),
        KernelLearner(random_state=0, C=1.0),
        KernelLearner(rank=9, random_state=0, C=1.0),
        POLA(n_pairs=60, random_state=0),
    ],
    ids=str,
)
def test_pairs_may_be_sparse(learner, monkeypatch):
    monkeypatch.setattr("gramlearn.estimators.kernel_learner._ROWS", 7)
    learner.fit(X, Y)
    A, B = X[:20], X[60:80]
    expected = learner.pair_distance((A, B))
    for kind in (sp.csr_array, sp.csr_matrix, sp.coo_array):
        for pairs in ((kind(A), kind(B)), (kind(A), B), (A, kind(B)), [kind(A), kind(B)]):
            np.testing.assert_allclose(learner.pair_distance(pairs), expected, rtol=1e-9)
            np.testing.assert_allclose(learner.pair_score(pairs), -expected, rtol=1e-9)
        metric, row = learner.get_metric(), kind(A[:1])
        assert metric(row, B[0]) == pytest.approx(expected[0], rel=1e-9)
        assert metric(row, kind(B[:1])) == pytest.approx(expected[0], rel=1e-9)


# -- sentences ---------------------------------------------------------------------------------------

REFUSED = [
    (lambda: MetricLearner(C=-1).fit(X, Y), r"`MetricLearner\(C=-1\)`"),
    (lambda: KernelLearner(loss="hinge", C="a").fit(X, Y), r"`KernelLearner\(C='a'\)`"),
    (lambda: MetricLearner(loss="square", C=1.0).fit(X, Y), 'only Bounds .* loss="squared_hinge"'),
    (lambda: MetricLearner(loss=Square()).fit(X, Y), 'only Bounds .* loss="squared_hinge"'),
    (lambda: MetricLearner(loss="square", C=1.0).fit(X, side=TRIPLETS), "got Triplets"),
    (
        lambda: KernelLearner(loss="square", C=1.0).fit(
            X, side=Bounds([0, 1], [2, 3], upper=[1.0, 2.0], lower=[1.0, 1.0], n_points=150)
        ),
        "only Bounds with equal upper and lower",
    ),
    (lambda: MetricLearner(bounds=(0, 2), C=1.0).fit(X, Y), 'must be positive.*loss="hinge"'),
    (lambda: MetricLearner(loss=LogDetSlack()).fit(X, side=TRIPLETS), 'loss="hinge"'),
    (lambda: MetricLearner(bounds=(None, 1e-9), C=1.0).fit(X, Y), "leaves one to the percentiles"),
    (lambda: MetricLearner(bounds=(1.0, -1.0), C=1.0).fit(X, Y), "lower must be at least 0"),
    (
        lambda: MetricLearner(C=1.0).fit(np.ones((150, 2)), side=TAME),
        "rows of `X` that were looked at",
    ),
    (lambda: percentile_bounds(np.ones((9, 2))), "rows of `points` that were looked at"),
    (
        lambda: MetricLearner(rank=1, basis=np.eye(4), C=1.0).fit(X, Y),
        "`basis` has 4 columns, and `rank=1`",
    ),
    (
        lambda: KernelLearner("linear", basis=BALANCED, C=1.0).fit(X - X.mean(0), Y),
        "`basis` spans no direction: the kernel linear\\(\\) is zero",
    ),
    (
        lambda: MetricLearner(loss="hard", bounds=(1e-3, 100.0), random_state=0).fit(X, Y),
        'In conflict.* Use loss="slack" or "hinge"',
    ),
    (
        lambda: MetricLearner(loss="hard", bounds=(0.1, 1.0)).fit(
            np.vstack([X, X[:1]]), side=Pairs(dissimilar=[[0, 150]], n_points=151)
        ),
        'Out of reach.*use loss="hinge" or "squared_hinge"',
    ),
    (lambda: SemiSupervisedEmbedding(0, max_iter=0).fit(X, Y), "`n_components` must be a whole"),
    (
        lambda: POLA().fit(X, side=Bounds([0], [1], upper=2.0, lower=1.0, n_points=150)),
        "all 1 pairs of `side` have an upper and a lower bound",
    ),
    (lambda: Pairs([[0, 1]], [[0, 2]], 150), r"`Pairs\(...\)`: 150 has no name.*n_points="),
    (lambda: Triplets([[0, 1, 2]], 150), r"`Triplets\(...\)`: 150 has no name.*n_points="),
    (lambda: Bounds([0], [1], 2.0, n_points=3), r"`Bounds\(...\)`: 2.0 has no name"),
    (lambda: MetricLearner(C=1.0).fit(X, Y).get_metric()(X[0, :2], X[1]), "`u` has 2 features"),
    *(
        (
            lambda kind=kind, given=given: kind().fit(given, [1, -1, 1, -1, 1]),
            r"`X` has shape \(5, 2, 4\), .* X = pairs.reshape\(-1, 4\), .* rows 2k and 2k \+ 1 are pair k",
        )
        for kind in (MetricLearner, KernelLearner, POLA, SemiSupervisedEmbedding)
        for given in (X[:10].reshape(5, 2, 4), X[:10].reshape(5, 2, 4).tolist())
    ),
    (
        lambda: MetricLearner(C=1.0).fit(np.zeros((5, 3, 4)), Y[:5]),
        r"`X` must be two-dimensional.*shape \(5, 3, 4\)",
    ),
    (
        lambda: MetricLearner(C=1.0).fit([[1.0, 2.0], [3.0]], Y[:2]),
        "row 0 has 2 entries and row 1 has 1",
    ),
    *(
        (lambda kind=kind: kind(percentiles=(0.05, 0.95)).fit(X, Y), r"below 1 percent.*\(5, 95\)")
        for kind in (MetricLearner, KernelLearner)
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, Y).get_metric()(X[0], X[:1]),
        r"`v` must be one point, a vector of 4 numbers; got shape \(1, 4\)",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, Y).get_metric()(X[0], X[0].reshape(2, 2)),
        r"`v` must be one point, .* got shape \(2, 2\)",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, Y).get_metric()([1, 2, np.nan, 4], X[0]),
        "`u` contains NaN or infinity",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, side=TAME).score((X[:3], X[3:6]), [1, 1, 1]),
        "`y` calls all 3 pairs alike; .* both kinds",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, side=TAME).score((X[:3], X[3:6]), [False] * 3),
        "`y` calls all 3 pairs unlike; .* both kinds",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, side=TAME).score((X[:3], X[3:6]), [True, False]),
        "`y` has 2 entries, but there are 3 pairs",
    ),
    (
        lambda: MetricLearner(C=1.0).fit(X, side=TAME).score((X[:3], X[3:6]), [1, 0, 1]),
        r"`y` must hold 1 .* or booleans; got \[0, 1\]",
    ),
]
TAME = Pairs([[0, 1]], n_points=150)
BALANCED = np.ones((150, 1))


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError, InfeasibleError), match=sentence) as found:
        call()
    assert not any(name in str(found.value) for name in ("LogDetSlack", "Hinge(", "Square("))


@pytest.mark.parametrize("kind", [MetricLearner, KernelLearner, POLA])
def test_predicting_pairs_without_a_threshold_says_what_to_do(kind):
    pairs, y = (X[:40], X[60:100]), np.arange(40) % 2 == 0
    learner = kind(C=1.0, n_pairs=60, random_state=0)
    with pytest.raises(NotFittedError, match=f"{kind.__name__} instance is not fitted yet"):
        _ = learner.predict
    with pytest.raises(NotFittedError, match=f"{kind.__name__} instance is not fitted yet"):
        learner.score(pairs, y)
    assert kind.predict.__doc__
    learner.fit(X, Y)
    with pytest.raises(
        AttributeError, match=r"`predict` judges.*fitted to labels; call cal.*side="
    ):
        _ = learner.predict
    assert 0 < learner.score(pairs, y) < 1  # which needs no threshold
    # The two ways that the sentence names.
    assert set(learner.calibrate_threshold(pairs, y).predict(pairs)) <= {1, -1}
    assert set(learner.fit(X, side=Pairs.from_labels(Y, 60)).predict(pairs)) <= {1, -1}


def test_targets_do_not_call_pairs_near_or_far():
    side = Bounds([0], [1], upper=2.0, lower=1.0, n_points=150)
    with pytest.raises(AttributeError, match=r"no pair near or far; call calibrate_threshold\("):
        MetricLearner(C=1.0).fit(X, side=side).predict((X[:2], X[2:4]))


def test_pairs_are_scored_by_booleans_or_by_signs():
    side = Pairs.from_labels(Y, 60, random_state=0)
    i, j, alike = side.near_and_far()
    learner = MetricLearner(C=1.0).fit(X, side=side)
    pairs = (X[i], X[j])
    assert learner.score(pairs, alike) == learner.score(pairs, np.where(alike, 1, -1)) > 0.9
    threshold = learner.threshold_
    assert learner.calibrate_threshold(pairs, alike).threshold_ == pytest.approx(threshold)


def test_pola_says_which_pairs_it_cannot_use():
    side = Bounds([0, 2, 4], [1, 3, 5], upper=[1, np.inf, 2], lower=[0, 3, 1], n_points=150)
    with pytest.warns(UserWarning, match="1 of 3 pairs of `side` have an upper and a lower bound"):
        POLA().fit(X, side=side)


# -- what leaves nothing to learn ----------------------------------------------------------------------


def pairs(similar, dissimilar):
    return Pairs(similar, dissimilar, n_points=150)


SAID = [
    (
        lambda: MetricLearner(prior="inverse_covariance", C=1.0).fit(np.ones((150, 4)), side=SIDE),
        "`X` does not vary, so it has no inverse covariance",
    ),
    (
        lambda: MetricLearner(prior=np.zeros((4, 4)), C=1.0).fit(X, side=SIDE),
        "`prior` is zero, and a metric",
    ),
    (
        lambda: MetricLearner("frobenius", prior=np.zeros((4, 4)), C=1.0).fit(X, side=SIDE),
        "`prior` is zero, and bounds are percentiles",
    ),
    (lambda: POLA().fit(X, side=pairs([(0, 1)], None)), "`side` calls all pairs alike"),
    (lambda: POLA().fit(X, side=pairs(None, [(0, 60)])), "`side` calls all pairs unlike"),
    (lambda: POLA().fit(X, side=TRIPLETS), "`side` holds Triplets"),
    (lambda: MetricLearner(basis="foo", C=1.0).fit(X, Y), "`basis='foo'` is not known"),
    (lambda: KernelLearner(basis="foo", C=1.0).fit(X, Y), "`basis='foo'` is not known"),
    (lambda: SemiSupervisedEmbedding(basis="foo").fit(X, Y), "`basis='foo'` is not known"),
    (
        lambda: MetricLearner(rank=2, basis="class_means", C=1.0).fit(
            X, np.full(150, -1), side=SIDE
        ),
        "all labels in `y` mean unknown",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), SAID, ids=[sentence for _, sentence in SAID])
def test_input_that_leaves_nothing_to_learn_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_zero_prior_is_for_regularizers_that_leave_its_range():
    learner = MetricLearner("frobenius", prior=np.zeros((4, 4)), bounds=(0.1, 9.0), C=1.0)
    assert learner.fit(X, side=SIDE).get_mahalanobis_matrix().any()


@pytest.mark.parametrize(
    ("learner", "side", "advice"),
    [
        (MetricLearner(C=1.0), EASY, "raise the margin"),
        (MetricLearner(bounds=(2.0, 4.0), C=1.0), pairs([(0, 1)], [(0, 60)]), "tighten the bounds"),
        (KernelLearner(bounds=(0.5, 0.6), C=1.0), pairs([(0, 1)], [(0, 60)]), "tighten the bounds"),
    ],
    ids=str,
)  # fmt: skip
def test_statements_that_already_hold_give_one_warning(learner, side, advice):
    found = caught(lambda: learner.fit(X, side=side))
    assert [message for message, _ in found] == [
        f"all 2 statements hold under the prior already, so the metric is the prior; {advice}"
        f"{' of the triplets' if isinstance(side, Triplets) else ''}."
    ]
    assert found[0][1] == Path(__file__)
    assert learner.solution_.primal == 0
