"""OnlineMetricLearner: every step is the optimum of its problem, by the solver of the core."""

import os

import numpy as np
import pytest
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Square, SquaredHinge
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import (
    Bounds,
    LogDet,
    OnlineMetricLearner,
    Pairs,
    Problem,
    Term,
    Triplets,
    datasets,
    solve,
)

RNG = np.random.default_rng(0)
TRUE = np.diag([4.0, 1.0, 0.25])


def stream(m, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    pairs = rng.standard_normal((m, 2, 3))
    z = pairs[:, 0] - pairs[:, 1]
    y = np.einsum("ki,ij,kj->k", z, TRUE, z)
    return pairs, np.maximum(y + noise * rng.standard_normal(m), 0.0)


@parametrize_with_checks([OnlineMetricLearner()])
@pytest.mark.filterwarnings("ignore:`y` holds the whole numbers:UserWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("eta", [1e-3, 0.1, 10.0])
def test_a_step_is_the_optimum_of_its_problem(eta):
    """argmin D(W, W_t) + eta/2 (z'Wz - y)^2, with a W_t that is not the identity."""
    pairs, y = stream(6)
    learner = OnlineMetricLearner(eta).fit(pairs[:5], y[:5])
    before = learner.get_mahalanobis_matrix()
    points = pairs[5]
    term = Term(SquaredDistances([0], [1], points=points), Square(eta, equal=float(y[5])))
    expected = solve(Problem(LogDet(), before, [term]), tol=1e-10)
    learner.partial_fit(pairs[5:], y[5:])
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected.matrix, rtol=1e-5)


def test_it_stays_positive_definite_and_finds_the_metric():
    pairs, y = stream(20_000)
    learner = OnlineMetricLearner(eta=0.05).fit(pairs, y)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), TRUE, atol=1e-3)
    wild = OnlineMetricLearner(eta=1e6).fit(pairs, y[::-1].copy())
    assert np.linalg.eigvalsh(wild.get_mahalanobis_matrix())[0] > 0


def test_its_average_loss_approaches_that_of_the_best_metric():
    pairs, y = stream(20_000, noise=1.0)
    learner = OnlineMetricLearner(eta=3e-4).fit(pairs, y)
    z = pairs[:, 0] - pairs[:, 1]
    best = np.mean((np.einsum("ki,ij,kj->k", z, TRUE, z) - y) ** 2 / 2)
    regret = learner.losses_ - best
    assert regret[:200].mean() > 10 * regret[-10_000:].mean()
    assert learner.losses_[-10_000:].mean() < 1.1 * best


def test_pieces_of_a_stream_are_the_stream():
    pairs, y = stream(50)
    whole = OnlineMetricLearner().fit(pairs, y)
    pieces = OnlineMetricLearner().partial_fit(pairs[:20], y[:20])
    kept = pieces.get_mahalanobis_matrix()
    pieces.partial_fit(pairs[20:, 0] - pairs[20:, 1], y[20:])
    np.testing.assert_allclose(
        pieces.get_mahalanobis_matrix(), whole.get_mahalanobis_matrix(), rtol=1e-10
    )
    assert pieces.n_pairs_seen_ == 50
    assert not np.allclose(kept, pieces.get_mahalanobis_matrix())
    L = whole.components_
    np.testing.assert_allclose(L.T @ L, whole.get_mahalanobis_matrix(), rtol=1e-10)
    np.testing.assert_allclose(
        whole.pair_distance(pairs) ** 2,
        ((whole.transform(pairs[:, 0]) - whole.transform(pairs[:, 1])) ** 2).sum(1),
        rtol=1e-9,
    )


def test_a_fit_that_fails_changes_nothing():
    pairs, y = stream(5)
    learner = OnlineMetricLearner().fit(pairs, y)
    before = learner.get_mahalanobis_matrix()
    with pytest.raises(ValueError, match="at least 0"):
        learner.fit(pairs, -1.0 - y)
    np.testing.assert_array_equal(before, learner.get_mahalanobis_matrix())
    assert not hasattr(learner, "predict")
    learner.calibrate_threshold(pairs, [1, -1, 1, -1, 1])
    assert learner.predict(pairs).shape == (5,)


def judged(m=600, d=5, wrong=0.0, seed=0):
    """Pairs of points of three classes, which differ in two of d directions, and whether they are alike."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=(m, 2))
    pairs = rng.standard_normal((m, 2, d))
    pairs[..., :2] += 3.0 * np.asarray([[0, 0], [1, 0], [0, 1]])[labels]
    return pairs, (labels[:, 0] == labels[:, 1]) ^ (rng.random(m) < wrong)


def matrix_of(*args, **options):
    return OnlineMetricLearner().fit(*args, **options).get_mahalanobis_matrix()


@pytest.mark.parametrize("eta", [None, 0.01])
def test_a_judged_pair_is_a_hinge_of_the_bounds_by_then(eta):
    """argmin D(W, W_t) + eta/2 dist(z'Wz, [0, upper] or [lower, inf))^2, by the solver of the core."""
    pairs, alike = judged(40)
    moved = 0
    for k in range(30, 40):
        learner = OnlineMetricLearner(eta).fit(pairs[:k], alike[:k])
        before, spent = learner.get_mahalanobis_matrix(), learner._stream.gained**2
        learner.partial_fit(pairs[k : k + 1], alike[k : k + 1])
        upper, lower = learner.bounds_
        z = pairs[k, 0] - pairs[k, 1]
        rate = 9 / ((z @ before @ z) ** 2 + spent) if eta is None else eta
        loss = SquaredHinge(rate, upper=upper) if alike[k] else SquaredHinge(rate, lower=lower)
        term = Term(SquaredDistances([0], [1], points=pairs[k]), loss)
        expected = solve(Problem(LogDet(), before, [term]), tol=1e-11).matrix
        found = learner.get_mahalanobis_matrix()
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(before).max())
        moved += not np.array_equal(found, before)
        assert (learner.losses_[-1] == 0) == np.array_equal(found, before)
    assert moved > 2


def test_judgments_may_be_booleans_or_signs_and_come_in_pieces():
    pairs, alike = judged(60)
    whole = matrix_of(pairs, alike)
    np.testing.assert_array_equal(matrix_of(pairs, np.where(alike, 1, -1)), whole)
    np.testing.assert_array_equal(matrix_of(pairs, np.where(alike, 1.0, -1.0).tolist()), whole)
    pieces = OnlineMetricLearner().fit(pairs[:20], alike[:20])
    for k in range(20, 60):  # a sign alone, which may be 1
        pieces.partial_fit(pairs[k : k + 1], [1 if alike[k] else -1])
    np.testing.assert_allclose(pieces.get_mahalanobis_matrix(), whole, rtol=1e-9)
    other = OnlineMetricLearner().fit(pairs, alike)
    assert pieces.threshold_ == pytest.approx(other.threshold_)
    assert pieces.bounds_ == pytest.approx(other.bounds_)
    np.testing.assert_allclose(pieces.losses_, other.losses_, rtol=1e-9)


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_judged_pairs_are_told_apart_better_than_before(wrong):
    pairs, alike = judged(1500, 12, wrong)
    new, truth = judged(1000, 12, seed=1)
    learner = OnlineMetricLearner().fit(pairs, alike)
    plain = OnlineMetricLearner().fit(np.zeros((1, 12)), [1.0])
    assert (
        learner.score(new, truth) > plain.calibrate_threshold(new, truth).score(new, truth) + 0.05
    )
    # The threshold of pairs seen is nearly the best for new ones.
    right = np.mean(learner.predict(new) == np.where(truth, 1, -1))
    best = np.mean(learner.calibrate_threshold(new, truth).predict(new) == np.where(truth, 1, -1))
    assert right > best - 0.02


def test_a_new_fit_forgets_the_threshold_of_the_one_before():
    pairs, alike = judged(30)
    learner = OnlineMetricLearner().fit(pairs, alike)
    assert learner.predict(pairs).shape == (30,)
    learner.fit(pairs, np.linspace(1, 2, 30))
    assert not hasattr(learner, "predict")
    assert not hasattr(learner, "threshold_")


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_judgments_know_no_units(unit):
    pairs, alike = judged(300, wrong=0.1)
    one, other = (OnlineMetricLearner().fit(c * pairs, alike) for c in (1.0, unit))
    np.testing.assert_allclose(
        other.get_mahalanobis_matrix(), one.get_mahalanobis_matrix(), atol=1e-9
    )
    assert other.threshold_ == pytest.approx(unit * one.threshold_)


def test_features_in_other_units_are_those_of_another_prior():
    """x -> T x with W0 -> T^-1' W0 T^-1 gives T^-1' W T^-1: every distance is the same."""
    pairs, alike = judged(200)
    T = np.diag([1.0, 100.0, 0.01, 3.0, 1.0])
    inverse = np.linalg.inv(T)
    other = OnlineMetricLearner(prior=inverse.T @ inverse).fit(pairs @ T.T, alike)
    np.testing.assert_allclose(
        other.pair_distance(pairs @ T.T),
        OnlineMetricLearner().fit(pairs, alike).pair_distance(pairs),
        rtol=1e-8,
    )


def test_statements_about_rows_are_the_pairs_they_name():
    points = RNG.standard_normal((12, 4))
    similar, dissimilar = [[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 8], [1, 9]]
    # Two similar pairs go with one dissimilar pair.
    order = [[0, 1], [0, 8], [2, 3], [4, 5], [1, 9], [6, 7]]
    alike = [True, False, True, True, False, True]
    found = matrix_of(points, side=Pairs(similar, dissimilar, n_points=12))
    np.testing.assert_allclose(found, matrix_of(points[order], alike), rtol=1e-12)
    i, j = np.asarray(order).T
    y = np.linspace(1, 2, 6)
    targets = Bounds(i, j, upper=y, lower=y, n_points=12)
    np.testing.assert_allclose(
        matrix_of(points, side=targets), matrix_of(points[order], y), rtol=1e-12
    )
    # Bounds of one's own, as Pairs or as Bounds.
    as_pairs = Pairs(similar, dissimilar, upper=0.5, lower=[9.0, 8.0], n_points=12)
    upper = np.where(alike, 0.5, np.inf)
    as_bounds = Bounds(i, j, upper=upper, lower=[0, 9.0, 0, 0, 8.0, 0], n_points=12)
    found = OnlineMetricLearner().fit(points, side=as_pairs)
    np.testing.assert_allclose(
        found.get_mahalanobis_matrix(), matrix_of(points, side=as_bounds), rtol=1e-12
    )
    assert found.predict(points[order]).shape == (6,)


def test_a_listed_twice_pair_has_the_price_of_two():
    points = RNG.standard_normal((4, 3))
    twice = Pairs([[0, 1], [1, 0]], [[2, 3]], n_points=4)
    weighted = Pairs([[0, 1]], [[2, 3]], similar_weight=2.0, n_points=4)
    for eta in (None, 0.5):
        one, other = (OnlineMetricLearner(eta).fit(points, side=s) for s in (twice, weighted))
        np.testing.assert_array_equal(one.get_mahalanobis_matrix(), other.get_mahalanobis_matrix())


def test_nothing_given_is_changed():
    pairs, alike = judged(30)
    kept = pairs.copy(), alike.copy()
    OnlineMetricLearner().fit(pairs, alike).partial_fit(pairs, alike)
    np.testing.assert_array_equal(pairs, kept[0])
    np.testing.assert_array_equal(alike, kept[1])


@pytest.mark.skipif(
    not os.environ.get("GRAMLEARN_DATA"), reason="GRAMLEARN_DATA names no folder of data sets"
)
@pytest.mark.parametrize("name", ["ionosphere", "wine", "sonar", "breast_cancer_wdbc"])
@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_on_real_data_it_is_no_worse_than_the_best_rate_or_no_learning(name, wrong):
    data = datasets.load(name)
    X = (data.X - data.X.mean(axis=0)) / np.maximum(data.X.std(axis=0), 1e-12)
    rng = np.random.default_rng(0)
    halves = np.array_split(rng.permutation(len(X)), 2)
    sides = [
        Pairs.from_labels(data.y[rows], 1000, random_state=0).near_and_far() for rows in halves
    ]
    (Z, alike), (new, truth) = (
        (X[rows][i] - X[rows][j], alike) for rows, (i, j, alike) in zip(halves, sides, strict=True)
    )
    order = rng.permutation(len(Z))
    Z, alike = Z[order], alike[order] ^ (rng.random(len(Z)) < wrong)
    learner = OnlineMetricLearner().fit(Z, alike)
    unit = (Z**2).sum(1).mean() ** -2
    rates = [
        OnlineMetricLearner(rate * unit).fit(Z, alike) for rate in 10.0 ** np.arange(-3.0, 1.0)
    ]
    best = min(rates, key=lambda other: other.losses_.sum())
    assert learner.losses_.sum() < 1.5 * best.losses_.sum()
    points = np.zeros_like(new)
    auc = {
        "online": learner.score((new, points), truth),
        "best": best.score((new, points), truth),
        "plain": roc_auc_score(truth, -(new**2).sum(1)),
    }
    assert auc["online"] > auc["best"] - 0.03
    assert auc["online"] > auc["plain"] - 0.01


def test_whole_numbers_that_may_be_labels_are_asked_about():
    pairs, _ = stream(6)
    with pytest.warns(UserWarning, match="whole numbers 0 to 1, as labels do"):
        OnlineMetricLearner().fit(pairs, [0, 1, 1, 0, 1, 0])
    OnlineMetricLearner().fit(pairs, [0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    OnlineMetricLearner().fit(pairs, [4, 1, 9, 16, 4, 1])
    OnlineMetricLearner().fit(np.asarray([[1, 2], [3, -1]]), [1.0, 4.0])


REFUSED = [
    (
        lambda p, y: OnlineMetricLearner().fit(np.asarray([[0, 1], [2, 3]]), [1.0, 4.0]),
        "as row numbers of pairs are; pass the points themselves",
    ),
    (lambda p, y: OnlineMetricLearner().fit(p, ["a"] * 5), "`y` holds labels"),
    (lambda p, y: OnlineMetricLearner().fit(p, [1, -1, 1, -1, 0]), "at least 0, or 1 for pairs"),
    (
        lambda p, y: OnlineMetricLearner().fit(p, y).partial_fit(p, y > 1),
        "`y` holds judgments, alike or not, and earlier pairs of this stream had squared distances",
    ),
    (
        lambda p, y: OnlineMetricLearner().fit(p, np.ones(5)).partial_fit(p, [1, -1, 1, 1, 1]),
        "`y` holds judgments, .* as booleans where they are judgments",
    ),
    (
        lambda p, y: OnlineMetricLearner().fit(p, y > 1).partial_fit(p, y),
        "`y` holds squared distances, and earlier pairs of this stream had judgments",
    ),
    (
        lambda p, y: OnlineMetricLearner().fit(p, [True] * 4),
        "`y` has 4 entries, but `X` has 5 pairs",
    ),
    (
        lambda p, y: OnlineMetricLearner().fit(p[:, 0], side=Triplets([[0, 1, 2]], n_points=5)),
        "`side` holds Triplets, which ask no pair for a distance",
    ),
    (
        lambda p, y: OnlineMetricLearner().fit(p[:, 0], side=Pairs([[0, 1]], n_points=4)),
        "made for 4 points but received 5 rows",
    ),
    (lambda p, y: OnlineMetricLearner().fit(p, side=Pairs([[0, 1]], n_points=5)), "has shape"),
    (lambda p, y: OnlineMetricLearner().fit(p[:, 0], side=[[0, 1]]), "`side` must be Pairs"),
    (
        lambda p, y: OnlineMetricLearner(eta=1.0).fit(np.full((3, 2), 1e160), np.full(3, 1e100)),
        "too large for double precision",
    ),
    (
        lambda p, y: OnlineMetricLearner().fit(1e100 * p, y > 1),
        "too large for double precision",
    ),
    (lambda p, y: OnlineMetricLearner(eta=0.0).fit(p, y), "eta must be positive"),
    (lambda p, y: OnlineMetricLearner().fit(p, -1.0 - y), "at least 0"),
    (lambda p, y: OnlineMetricLearner().fit(p[:, :1], y), r"pairs have the shape \(m, 2, d\)"),
    (lambda p, y: OnlineMetricLearner(prior="inverse_covariance").fit(p, y), "has no covariance"),
    (lambda p, y: OnlineMetricLearner(prior=-np.eye(3)).fit(p, y), "not positive semidefinite"),
    (lambda p, y: OnlineMetricLearner(prior=np.eye(2)).fit(p, y), "but X has 3 features"),
    (lambda p, y: OnlineMetricLearner().fit(p, y).partial_fit(p[..., :2], y), "2 features"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[s for _, s in REFUSED])
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call(*stream(5))


@pytest.mark.parametrize("prior", [np.zeros((3, 3)), np.diag([1.0, 2.0, 0.0]), np.ones((3, 3))])
def test_a_prior_that_is_not_positive_definite_is_refused(prior):
    sentence = "`prior` is (not positive definite|zero)"
    with pytest.raises(ValueError, match=sentence):
        OnlineMetricLearner(prior=prior).fit(*stream(5))
