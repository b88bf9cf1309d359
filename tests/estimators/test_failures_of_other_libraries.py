"""Cases in which other metric learning libraries fail, by their users' reports: here each answer is right.

A comment gives the number of the report and what went wrong there. Feature requests are in
test_requested_features.py.
"""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_iris

from gramlearn import (
    POLA,
    Bounds,
    InfeasibleError,
    KernelLearner,
    MetricLearner,
    Pairs,
    SemiSupervisedEmbedding,
    Triplets,
    nearest_correlation,
)

IRIS, SPECIES = load_iris(return_X_y=True)
SIDE = Pairs.from_labels(SPECIES, 300, random_state=0)
TWICE = np.vstack([IRIS, IRIS[:1]])  # rows 0 and 150 are one point
METRICS = [
    MetricLearner(C=1.0),
    MetricLearner(rank=2, C=1.0),
    KernelLearner(C=1.0),
    KernelLearner(rank=5, C=1.0),
    SemiSupervisedEmbedding(),
]


# -- as it comes ---------------------------------------------------------------------------------------


# metric-learn#359, #154: with the newest scikit-learn no class can be fitted; SDML fails on iris by default.
@pytest.mark.parametrize("estimator", [*METRICS, POLA(0.1)], ids=str)
def test_iris_is_learned_with_the_defaults_and_without_a_warning(estimator):
    fitted = clone(estimator).fit(IRIS, SPECIES)
    assert fitted.solution_.relative_gap <= 1e-6


# ITML compares percentiles of plain distances with squared ones; metric-learn#78, for LMNN, is of the kind.
def test_default_bounds_are_percentiles_of_squared_distances():
    squared = pdist(10 * IRIS, "sqeuclidean")
    found = MetricLearner(random_state=0, C=1.0).fit(10 * IRIS, SPECIES).bounds_
    np.testing.assert_allclose(found, np.percentile(squared[squared > 0], (5, 95)), rtol=1e-10)
    # So unlike pairs have something to gain. With the plain percentile next to none has, in these units.
    d = np.sum(np.diff(10 * IRIS[SIDE.dissimilar], axis=1) ** 2, axis=(1, 2))
    assert np.mean(d < found[1]) > 0.5
    assert np.mean(d < np.percentile(pdist(10 * IRIS), 95)) < 0.05


def test_a_bound_on_a_squared_distance_holds_for_the_square_of_the_distance():
    side = Bounds([0, 0], [1, 60], upper=[0.04, 5.0], lower=[0.04, 4.0], n_points=150)
    learner = MetricLearner(loss="hard").fit(IRIS, side=side)
    near, far = learner.pair_distance((IRIS[[0, 0]], IRIS[[1, 60]]))
    assert near == pytest.approx(0.2, rel=1e-5)
    assert 2.0 - 1e-5 <= far <= 5**0.5 + 1e-5


# -- convergence ---------------------------------------------------------------------------------------


# ITML goes through the pairs in their order, the alike first, and what it gives depends on it.
def test_the_order_of_pairs_does_not_matter():
    rng = np.random.default_rng(1)
    similar, dissimilar = (rng.permutation(table) for table in (SIDE.similar, SIDE.dissimilar))
    turned = Pairs(similar[:, ::-1], dissimilar, n_points=150)
    one, two = (
        MetricLearner(bounds=(0.5, 9.0), tol=1e-10, C=1.0)
        .fit(IRIS, side=side)
        .get_mahalanobis_matrix()
        for side in (SIDE, turned)
    )
    np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-9)


# metric-learn#179: two fits to the same data differ.
@pytest.mark.parametrize("estimator", METRICS, ids=str)
def test_the_same_seed_gives_the_same_numbers(estimator):
    one, two = (
        clone(estimator).set_params(random_state=3).fit(IRIS, SPECIES).transform(IRIS)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


# With gamma = inf ITML runs on and on where constraints contradict each other, without a diagnosis.
def test_hard_bounds_that_contradict_each_other_are_named():
    side = Pairs([[0, 60], [60, 120], [3, 4]], [[0, 120]], n_points=150)
    with pytest.raises(InfeasibleError) as caught:
        MetricLearner(loss="hard", bounds=(0.1, 9.0)).fit(IRIS, side=side)
    named = str(caught.value)
    for pair in ("0 and 60 at most 0.1", "60 and 120 at most 0.1", "0 and 120 at least 9"):
        assert pair in named
    assert "3 and 4" not in named


# -- equal points --------------------------------------------------------------------------------------


# metric-learn#177: equal points that are called unlike make NaN, and then an error about symmetry.
@pytest.mark.parametrize("estimator", METRICS, ids=str)
def test_equal_points_called_dissimilar_are_left_out_with_a_warning(estimator):
    side = Pairs(SIDE.similar, [*SIDE.dissimilar, (0, 150)], n_points=151)
    with pytest.warns(UserWarning, match=r"equal.*such as the dissimilar pair \(0, 150\)"):
        fitted = clone(estimator).set_params(random_state=0).fit(TWICE, side=side)
    assert np.isfinite(fitted.transform(TWICE)).all()
    assert fitted.solution_.relative_gap <= 1e-6


# The same for alike ones is a division by zero.
@pytest.mark.parametrize("estimator", METRICS, ids=str)
def test_equal_points_called_similar_change_nothing(estimator):
    params = {"bounds": (0.1, 1.5), "random_state": 0}
    more = Pairs([*SIDE.similar, (0, 150)], SIDE.dissimilar, n_points=151)
    less = Pairs(SIDE.similar, SIDE.dissimilar, n_points=151)
    one, two = (clone(estimator).set_params(**params).fit(TWICE, side=s) for s in (more, less))
    assert one.solution_.primal == pytest.approx(two.solution_.primal, rel=1e-5)
    T = one.transform(TWICE)
    np.testing.assert_allclose(T[0], T[150], atol=1e-6)


# metric-learn#176: comparisons are undefined on duplicates.
@pytest.mark.parametrize("row", [(0, 150, 60), (0, 60, 150)], ids=["near", "far"])
@pytest.mark.parametrize("estimator", METRICS, ids=str)
def test_comparisons_with_equal_points_are_accepted(estimator, row):
    side = Triplets([row, (0, 1, 100), (60, 61, 120)], n_points=151, margin=20.0)
    fitted = clone(estimator).set_params(random_state=0).fit(TWICE, side=side)
    assert np.isfinite(fitted.transform(TWICE)).all()
    assert fitted.solution_.relative_gap <= 1e-6


# -- numbers -------------------------------------------------------------------------------------------


# ITML writes 1e-9 into the bounds that it is given.
def test_inputs_are_not_modified():
    bounds, upper = np.array([0.0, 9.0]), np.full(len(SIDE.similar), 0.5)
    given = [array.copy() for array in (bounds, upper, SIDE.similar)]
    MetricLearner(loss="hinge", bounds=bounds, random_state=0, C=1.0).fit(IRIS, SPECIES)
    side = Pairs(SIDE.similar, SIDE.dissimilar, n_points=150, upper=upper, lower=9.0)
    MetricLearner(C=1.0).fit(IRIS, side=side)
    for before, after in zip(given, (bounds, upper, SIDE.similar), strict=True):
        np.testing.assert_array_equal(before, after)


# metric-learn#43, #190, #306: "not positive definite", or eigenvalues that do not converge.
def test_collinear_features_in_very_different_units_keep_the_metric_definite():
    X = np.hstack([IRIS, IRIS[:, :1] + IRIS[:, 1:2], np.ones((150, 1))]) * np.logspace(-6, 6, 6)
    learner = MetricLearner(random_state=0, C=1.0).fit(X, SPECIES)
    assert np.linalg.eigvalsh(learner.get_mahalanobis_matrix())[0] > 0
    assert learner.solution_.relative_gap <= 1e-6


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_logdet_does_not_depend_on_the_unit_of_the_features(unit):
    one, two = (
        MetricLearner(tol=1e-10, random_state=0, C=1.0).fit(X, SPECIES).get_mahalanobis_matrix()
        for X in (IRIS, unit * IRIS)
    )
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-8)


# ITML(prior="covariance") raises LinAlgError where features depend on each other.
def test_with_the_inverse_covariance_a_feature_listed_twice_counts_once():
    params = {"prior": "inverse_covariance", "tol": 1e-9}
    wide = np.hstack([IRIS, IRIS[:, :1], np.ones((150, 1))])
    i, j, _ = SIDE.near_and_far()
    one, two = (
        MetricLearner(**params, C=1.0).fit(X, side=SIDE).pair_distance((X[i], X[j]))
        for X in (IRIS, wide)
    )
    np.testing.assert_allclose(one, two, rtol=1e-4)


# pyDML#5: points are mapped into the complex plane, by roots of eigenvalues just below zero.
@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
def test_few_points_with_many_features_give_a_real_metric(regularizer):
    X = np.random.default_rng(0).standard_normal((12, 40))
    X = np.hstack([X, X])
    learner = MetricLearner(regularizer, C=100.0, random_state=0).fit(X, np.arange(12) % 2)
    for array in (learner.components_, learner.transform(X), learner.get_mahalanobis_matrix()):
        assert array.dtype == np.float64
        assert np.isfinite(array).all()


# metric-learn#57: the metric and the transformer disagree.
@pytest.mark.parametrize(
    "estimator",
    [MetricLearner(C=1.0), MetricLearner(rank=2, C=1.0), KernelLearner(C=1.0), POLA(0.1)],
    ids=str,
)
def test_the_metric_is_the_euclidean_distance_of_transformed_points(estimator):
    fitted = clone(estimator).fit(IRIS, side=SIDE)
    T = fitted.transform(IRIS)
    expected = np.linalg.norm(T[:75] - T[75:], axis=1)
    np.testing.assert_allclose(fitted.pair_distance((IRIS[:75], IRIS[75:])), expected, rtol=1e-5)
    metric = fitted.get_metric()
    assert metric(IRIS[0], IRIS[75]) ** 2 == pytest.approx(metric(IRIS[0], IRIS[75], squared=True))
    np.testing.assert_array_equal(
        fitted.predict((IRIS[:75], IRIS[75:])), np.where(expected <= fitted.threshold_, 1, -1)
    )


# metric-learn#286: on 512-d embeddings of faces, pairs are predicted worse than by guessing.
def test_pairs_of_unseen_people_are_told_apart_by_the_threshold():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(60), 6)
    X = (rng.standard_normal((60, 40)) @ rng.standard_normal((40, 512)))[people] / 12
    X += rng.standard_normal(X.shape)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    seen, unseen = people < 40, people >= 40
    learner = MetricLearner(random_state=0, C=1.0).fit(
        X[seen], side=Pairs.from_labels(people[seen], 1000)
    )
    i, j, alike = Pairs.from_labels(people[unseen], 400, random_state=0).near_and_far()
    signs = np.where(alike, 1, -1)
    assert np.mean(learner.predict((X[unseen][i], X[unseen][j])) == signs) > 0.8


# statsmodels#9795: a zero on the diagonal gives NaN in silence.
def test_a_correlation_matrix_with_a_variance_of_zero_has_a_nearest_one():
    C = np.corrcoef(np.random.default_rng(0).standard_normal((4, 30)))
    C[2], C[:, 2] = 0.0, 0.0
    expected = C.copy()
    expected[2, 2] = 1.0
    np.testing.assert_allclose(nearest_correlation(C, regularizer="frobenius"), expected, atol=1e-7)
    with pytest.raises(InfeasibleError, match="within the range of `matrix`"):
        nearest_correlation(C)
