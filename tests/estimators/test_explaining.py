"""What MetricLearner says it has learned: features by name, and statements with their excess and price."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from gramlearn import Bounds, MetricLearner, Pairs, Triplets

X, Y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
N, D = X.shape
SIDES = {
    "pairs": Pairs.from_labels(Y, 120, random_state=0),
    "weighted pairs": Pairs(
        [[0, 1], [2, 3]], [[0, 170]], n_points=N, similar_weight=[1.0, 5.0], upper=1.0, lower=50.0
    ),
    "triplets": Triplets.from_labels(Y, 120, random_state=0),
    "bounds": Bounds(
        [0, 1, 2, 3], [100, 101, 102, 4], upper=[5, np.inf, 9, 1], lower=[4, 90, 9, 0], n_points=N
    ),
}
every_side = pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)


def excess(learner, side):
    """Written a second time, from the metric."""
    W = learner.get_mahalanobis_matrix()

    def d(i, j):
        return np.einsum("ka,ab,kb->k", X[i] - X[j], W, X[i] - X[j])

    if isinstance(side, Triplets):
        i, j, k = side.triplets.T
        return d(i, j) - d(i, k) + side.margin_or_one
    if isinstance(side, Bounds):
        between = d(side.i, side.j)
        return np.maximum(between - side.upper, side.lower - between)
    upper, lower = learner.bounds_ or (side.upper, side.lower)
    return np.concatenate([d(*side.similar.T) - upper, lower - d(*side.dissimilar.T)])


def planted(seed=0, n=300, d=6):
    """Two classes that feature 4 tells apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    points = rng.normal(size=(n, d))
    points[:, 4] += 4 * y
    return points, y


@every_side
def test_violated_statements_are_those_that_the_metric_breaks(side):
    learner = MetricLearner(random_state=0, C=1.0).fit(X, side=side)
    expected = excess(learner, side)
    found = learner.violated(X, side, tol=0.0)
    np.testing.assert_array_equal(np.sort(found.number), np.flatnonzero(expected > 0))
    np.testing.assert_allclose(found.size, expected[found.number], rtol=1e-7, atol=1e-7)
    assert np.all(np.diff(found.size) <= 0)
    assert found.words == tuple(side.describe(int(k)) for k in found.number)
    np.testing.assert_array_equal(found.weight, side.weights()[found.number])
    assert found.n_statements == side.size


@every_side
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_prices_are_those_of_the_statements(side, loss):
    """The price of a hinge is C w where it is broken, that of its square C w times twice the excess or once."""
    learner = MetricLearner(loss=loss, C=0.01, tol=1e-8, random_state=0).fit(X, side=side)
    found = learner.violated(X, side, tol=1e-3)
    assert len(found)
    factor = found.price / (0.01 * found.weight)
    if loss == "squared_hinge":
        factor = factor / found.size
    np.testing.assert_allclose(factor, factor[0], rtol=1e-3)


def test_other_statements_than_those_learned_from_have_no_price():
    learner = MetricLearner(random_state=0, C=1.0).fit(X, side=SIDES["pairs"])
    assert learner.violated(X, SIDES["pairs"]).price is not None
    assert learner.violated(X, Pairs.from_labels(Y, 120, random_state=1)).price is None
    assert learner.violated(X, SIDES["triplets"]).price is None


def test_hard_bounds_that_hold_are_not_violated():
    side = Pairs([[0, 1]], [[0, 170]], n_points=N, upper=1.0, lower=50.0)
    learner = MetricLearner(loss="hard", random_state=0).fit(X, side=side)
    assert len(learner.violated(X, side, tol=1e-4)) == 0


@pytest.mark.parametrize(("kind", "C"), [("triplets", 1.0), ("pairs", None)])
def test_pairs_without_bounds_are_held_to_the_threshold_where_comparisons_were_learned_from(
    kind, C
):
    learner = MetricLearner(random_state=0, C=C).fit(X, side=SIDES[kind])
    assert learner.bounds_ is None
    pairs = SIDES["pairs"]
    found = learner.violated(X, pairs, tol=0.0)
    i, j, alike = pairs.near_and_far()
    is_wrong = (
        learner.pair_distance(np.stack([X[i], X[j]], axis=1)) <= learner.threshold_
    ) != alike
    assert 0 < is_wrong.sum() < len(is_wrong)
    np.testing.assert_array_equal(np.sort(found.number), np.flatnonzero(is_wrong))


def test_pairs_without_any_bound_have_no_excess():
    with pytest.raises(
        ValueError, match=r"`side` has similar pairs without a bound, and no `upper`"
    ):
        SIDES["pairs"].excess(lambda i, j: np.ones(len(i)), None)


@pytest.mark.parametrize("prior", ["identity", "inverse_covariance"])
def test_the_planted_feature_is_the_most_important_and_the_most_stretched(prior):
    points, y = planted()
    learner = MetricLearner(prior=prior, random_state=0, C=1.0).fit(points, y)
    assert np.argmax(learner.feature_importances_) == 4
    assert np.argmax(learner.feature_stretch_) == 4
    np.testing.assert_array_equal(np.argmax(learner.class_feature_importances_, axis=1), [4, 4])
    assert learner.feature_importances_.sum() == pytest.approx(1)
    first = learner.stretched_directions(points, 1)
    assert np.argmax(first.loadings[0]) == 4
    assert first.stretch[0] > 1 > first.stretch[1]
    assert "feature 4" in first.describe(0)


def test_units_of_the_features_make_no_difference_to_what_is_learned_from_the_inverse_covariance():
    points, y = planted()
    units = 10.0 ** np.arange(-3, 3)
    plain, scaled = (
        MetricLearner(prior="inverse_covariance", tol=1e-9, random_state=0, C=1.0).fit(Z, y)
        for Z in (points, points * units)
    )
    for name in ("feature_importances_", "class_feature_importances_", "feature_stretch_"):
        np.testing.assert_allclose(getattr(plain, name), getattr(scaled, name), rtol=1e-4)


def test_classes_are_in_the_order_of_their_labels():
    names = np.array(["b", "c", "a"])[Y]
    by_name = MetricLearner(random_state=0, C=1.0).fit(X, names)
    by_number = MetricLearner(random_state=0, C=1.0).fit(X, np.array([1, 2, 0])[Y])
    np.testing.assert_array_equal(by_name.classes_, ["a", "b", "c"])
    np.testing.assert_allclose(
        by_name.class_feature_importances_, by_number.class_feature_importances_
    )


def test_a_fit_to_statements_knows_no_classes():
    learner = MetricLearner(random_state=0, C=1.0).fit(X, Y).fit(X, side=SIDES["pairs"])
    assert not hasattr(learner, "classes_")
    with pytest.raises(AttributeError, match=r"was fitted to no labels, .* pass fit\(X, y\)"):
        _ = learner.class_feature_importances_


@pytest.mark.parametrize("name", ["feature_importances_", "feature_stretch_"])
def test_nothing_is_known_before_a_fit(name):
    with pytest.raises(NotFittedError):
        getattr(MetricLearner(C=1.0), name)
    with pytest.raises(NotFittedError):
        MetricLearner(C=1.0).violated(X, SIDES["pairs"])


def test_the_names_of_a_data_frame_are_used():
    frame = pytest.importorskip("pandas").DataFrame(X, columns=[f"name {f}" for f in range(D)])
    learner = MetricLearner(random_state=0, C=1.0).fit(frame, Y)
    assert learner.stretched_directions(frame).names[3] == "name 3"
    assert len(learner.stretched_directions(frame)) == 6


def test_features_are_selected_by_their_importance():
    points, y = planted()
    kept = SelectFromModel(MetricLearner(random_state=0, C=1.0), max_features=1).fit(points, y)
    np.testing.assert_array_equal(kept.get_support(indices=True), [4])


def test_a_sparse_fit_of_low_rank_explains_itself():
    dense = np.where(np.abs(X) > 1, X, 0.0)
    one, other = (
        MetricLearner(rank=4, random_state=0, C=1.0).fit(Z, Y) for Z in (dense, csr_array(dense))
    )
    np.testing.assert_allclose(one.feature_importances_, other.feature_importances_, atol=1e-6)
    found = one.stretched_directions(dense), other.stretched_directions(csr_array(dense))
    np.testing.assert_allclose(found[0].stretch, found[1].stretch, rtol=1e-5)
    np.testing.assert_allclose(found[0].share, found[1].share, rtol=1e-4, atol=1e-9)
    side = SIDES["pairs"]
    pair = one.violated(dense, side), other.violated(csr_array(dense), side)
    np.testing.assert_array_equal(np.sort(pair[0].number), np.sort(pair[1].number))


def test_an_explained_learner_survives_pickling():
    learner = MetricLearner(random_state=0, C=1.0).fit(X, Y)
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.feature_importances_, learner.feature_importances_)


def test_suspects_is_a_method_too_and_needs_no_fit():
    side = SIDES["pairs"]
    found = MetricLearner(tol=1e-2, random_state=0, C=1.0).suspects(
        X, side, n_folds=2, random_state=0
    )
    assert found.n_statements == side.size


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m.violated(X, None), ValueError, "`side="),
        (lambda m: m.violated(X[1:], SIDES["pairs"]), ValueError, "but received 177 rows"),
        (lambda m: m.violated(X, SIDES["pairs"], tol="a"), ValueError, "`tol` must be a finite"),
        (lambda m: m.stretched_directions(X, 0), ValueError, "`n_directions` must be a whole"),
        (lambda m: m.stretched_directions(X[:, 1:]), ValueError, "12 features"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(MetricLearner(random_state=0, C=1.0).fit(X, Y))
