"""MetricLearner(shape="diagonal") without C: weights are chosen by what is held back, for sparse X as well."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV

from gramlearn import Bounds, MetricLearner, Pairs, Triplets
from gramlearn.estimators import _diagonal
from gramlearn.methods.choosing import weights

RAW, GROWER = load_wine(return_X_y=True)
WINE = (RAW - RAW.mean(axis=0)) / RAW.std(axis=0)
N, D = WINE.shape
PAIRS = Pairs.from_labels(GROWER, 100, random_state=0)
TRIPLETS = Triplets.from_labels(GROWER, 100, random_state=0)
FIRST, SECOND, ALIKE = PAIRS.near_and_far()
KEPT, NOT_JUDGED = "is kept", "Not judged"


def bounds_of(scale=1.0):
    ends = {"upper": np.where(ALIKE, 16.0, np.inf), "lower": np.where(ALIKE, 0.0, 30.0)}
    return Bounds(FIRST, SECOND, n_points=N, **{name: scale**2 * end for name, end in ends.items()})


KINDS = ["labels", "pairs", "triplets", "bounds"]


def known(kind, scale=1.0):
    side = {"pairs": PAIRS, "triplets": TRIPLETS, "bounds": bounds_of(scale)}.get(kind)
    return {"y": GROWER} if side is None else {"side": side}


def fitted(X, y=None, side=None, **settings):
    """With the one warning that is expected where nothing helps."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*({KEPT}|{NOT_JUDGED})", UserWarning)
        learner = MetricLearner(shape="diagonal", **{"random_state": 0, **settings})
        return learner.fit(X, y, side=side)


def with_noise(n=300, n_noise=150, seed=0):
    """Two classes that 6 features tell apart, and features that only disturb."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 6 + n_noise))
    X[:, :6] += 1.5 * y[:, None]
    return X, y


def error_of_nearest(X, y, known, asked):
    d = ((X[asked][:, None] - X[known]) ** 2).sum(axis=2)
    return np.mean(y[known][d.argmin(axis=1)] != y[asked])


# -- what is chosen -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_are_chosen_from_with_a_table_and_a_certificate(kind):
    learner = fitted(WINE, **known(kind))
    table = learner.cv_results_
    assert table["params"][0]["statements"] is None
    assert table["mean_gain"][0] == 0
    assert set(table["param_n_components"]) == {None}
    assert learner.solution_.relative_gap <= 1e-6
    assert (learner.C_ is None) == (learner.strength_ is None)
    np.testing.assert_allclose(learner.transform(WINE), WINE * np.sqrt(learner.feature_weights_))
    assert ("helps" in learner.verdict_) != (KEPT in learner.verdict_)
    assert not hasattr(learner.set_params(C=1.0).fit(WINE, **known(kind)), "verdict_")


@pytest.mark.parametrize("kind", ["labels", "pairs", "triplets"])
def test_features_that_matter_are_found_among_others_and_help_elsewhere(kind):
    X, y = with_noise()
    train = np.arange(len(y)) < 150
    side = {
        "labels": None,
        "pairs": Pairs.from_labels(y[train], 400, random_state=0),
        "triplets": Triplets.from_labels(y[train], 400, random_state=0),
    }[kind]
    learner = fitted(X[train], y[train] if side is None else None, side)
    assert "The learned metric helps" in learner.verdict_
    w = learner.feature_weights_
    assert w[:6].mean() > 5 * w[6:].mean()
    before = error_of_nearest(X, y, train, ~train)
    after = error_of_nearest(learner.transform(X), y, train, ~train)
    # Errors of 150 points have a standard error of 0.04 at most.
    assert after < before - 0.08


def test_noise_leaves_the_plain_distance_mostly():
    kept = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 4)), rng.integers(2, size=60)
        learner = fitted(X, y, random_state=seed)
        if KEPT in learner.verdict_:
            kept += 1
            np.testing.assert_array_equal(learner.feature_weights_, 1.0)
    assert kept >= 9


def test_statements_that_hold_already_leave_the_plain_distance():
    d = ((WINE[:, None] - WINE) ** 2).sum(axis=2)
    rows = [(i, j, k) for i, j, k in np.asarray(TRIPLETS.triplets) if d[i, j] < d[i, k]]
    side = Triplets(rows, n_points=N)
    with pytest.warns(UserWarning, match=f"100.0 %.*{KEPT}"):
        learner = MetricLearner(shape="diagonal").fit(WINE, side=side)
    np.testing.assert_array_equal(learner.feature_weights_, 1.0)
    assert learner.solution_.weights.shape == (D,)
    assert learner.solution_.gap == 0
    assert learner.C_ is None


def test_too_little_to_judge_is_said():
    with pytest.warns(UserWarning, match=r"Not judged.*or C"):
        learner = MetricLearner(shape="diagonal").fit(WINE, side=Pairs([[0, 1]], n_points=N))
    np.testing.assert_array_equal(learner.feature_weights_, 1.0)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("kind", KINDS)
def test_other_units_give_the_same_choice_and_the_rescaled_weights(kind, scale):
    plain = fitted(WINE, **known(kind), tol=1e-9)
    other = fitted(scale * WINE, **known(kind, scale), tol=1e-9)
    gains = [m.cv_results_["mean_gain"] for m in (plain, other)]
    np.testing.assert_allclose(gains[0], gains[1], atol=2e-3)
    choices = [(m.prior_, m.statements_, m.strength_) for m in (plain, other)]
    assert choices[0] == choices[1]
    w, v = plain.feature_weights_, other.feature_weights_
    # Distances are those of one problem in units of its prior, which is the identity in both units.
    np.testing.assert_allclose(v * (w.sum() / v.sum()), w, atol=1e-4 * w.max())
    if plain.C_ is not None:
        assert other.C_ * scale**4 == pytest.approx(plain.C_, rel=1e-6)


def test_features_in_other_units_are_weighed_by_how_much_alike_points_vary():
    """In raw units the plain distance is that of one feature; the inverse variances within make up for it."""
    raw, standard = (fitted(X, GROWER) for X in (RAW, WINE))
    assert raw.prior_ in ("standardized", "inverse_within")
    assert "helps" in raw.verdict_
    given = [fitted(X, GROWER, prior="inverse_within") for X in (RAW, WINE)]
    shares = [m.feature_importances_ for m in given]
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-4)
    assert standard.cv_results_["mean_test_score"].max() == pytest.approx(
        raw.cv_results_["mean_test_score"].max(), abs=0.05
    )


ONE_NUMBER = {
    "its last digit": 0.1 + 1e-17 * np.arange(N),
    "a few digits": 1e6 + 1e-10 * np.arange(N),
    "two sums": np.where(np.arange(N) % 2, 0.3, 0.1 + 0.2),
}


@pytest.mark.parametrize("C", [None, 1.0])
@pytest.mark.parametrize("prior", ["standardized", "inverse_within"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kind", ONE_NUMBER)
def test_a_feature_that_is_one_number_up_to_rounding_gets_no_weight(kind, form, prior, C):
    """Centered, it is rounding alone, which seems to vary; the answer is that for a feature of zeros."""
    found, expected = (
        fitted(form(np.column_stack([RAW, last])), GROWER, prior=prior, C=C).feature_weights_
        for last in (ONE_NUMBER[kind], np.zeros(N))
    )
    assert found[D] == 0
    assert np.all(found[:D] > 0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_one_feature_alone_is_one_weight():
    X, y = with_noise()
    learner = fitted(X[:, :1], y)
    assert learner.feature_weights_.shape == (1,)
    np.testing.assert_array_equal(learner.feature_importances_, [1.0])


# -- what was given -----------------------------------------------------------------------------------


def test_the_price_chosen_gives_the_weights_chosen():
    X, y = with_noise()
    side = Pairs.from_labels(y, 600, random_state=0)
    learner = fitted(X, side=side, loss="squared_hinge", bounds=(150.0, 400.0), tol=1e-9)
    assert learner.C_ is not None
    again = fitted(
        X, side=side, loss="squared_hinge", bounds=(150.0, 400.0), C=learner.C_, tol=1e-9
    )
    w = learner.feature_weights_
    np.testing.assert_allclose(again.feature_weights_, w, atol=1e-4 * w.max())


def test_a_prior_of_weights_that_was_given_is_kept_where_nothing_is_learned():
    w0 = np.linspace(1.0, 3.0, D)
    shuffled = np.random.default_rng(2).permutation(GROWER)
    learner = fitted(WINE, shuffled, prior=w0)
    assert set(learner.cv_results_["param_prior"]) == {"identity"}
    if KEPT in learner.verdict_:
        np.testing.assert_allclose(learner.feature_weights_, w0)
    w0[3] = 0.0
    assert fitted(WINE, GROWER, prior=w0).feature_weights_[3] == 0


@pytest.mark.parametrize("settings", [{"loss": "hinge"}, {"loss": "slack"}, {"n_pairs": 60}])
def test_what_is_said_of_pairs_makes_pairs_be_learned_from(settings):
    learner = fitted(WINE, GROWER, **settings)
    assert set(learner.cv_results_["param_statements"][1:]) == {"given"}


@pytest.mark.parametrize("regularizer", ["von_neumann", "frobenius"])
@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_a_regularizer_that_was_given_is_used(regularizer, kind):
    learner = fitted(WINE, **known(kind), regularizer=regularizer)
    assert learner.solution_.relative_gap <= 1e-6
    assert np.all(learner.feature_weights_ >= 0)


def test_columns_that_were_asked_for_are_features():
    learner = fitted(WINE, GROWER, n_components=3)
    assert learner.transform(WINE).shape == (N, 3)
    assert np.count_nonzero(learner.components_) == 3


# -- sparse points ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_points_have_the_same_choice_and_weights(kind):
    Z = WINE * (np.random.default_rng(0).random(WINE.shape) < 0.5)
    dense = fitted(Z, **known(kind), tol=1e-8)
    sparse = fitted(sp.csr_array(Z), **known(kind), tol=1e-8)
    assert sparse.verdict_ == dense.verdict_
    assert sparse.strength_ == dense.strength_
    w = dense.feature_weights_
    np.testing.assert_allclose(sparse.feature_weights_, w, atol=1e-4 * w.max())


def test_many_sparse_features_are_chosen_for_and_nothing_dense_is_made(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = sp.random_array((80, 5_000), density=5e-3, rng=rng, format="lil")
    X[:, :20] = rng.random((80, 20)) * y[:, None]
    X = sp.csr_array(X)

    monkeypatch.setattr(sp.csr_array, "toarray", _without(sp.csr_array.toarray, 5_000))
    learner = fitted(X, y)
    assert "helps" in learner.verdict_
    w = learner.feature_weights_
    assert w[:20].mean() > 10 * w[20:].mean()


def _without(toarray, d):
    def checked(self, *given, **rest):
        assert d not in self.shape, f"{self.shape} made dense"
        return toarray(self, *given, **rest)

    return checked


# -- going on, searching, stopping --------------------------------------------------------------------


def test_a_further_fit_keeps_the_choice():
    learner = fitted(RAW, side=Pairs.from_labels(GROWER, 600, random_state=0))
    assert "helps" in learner.verdict_
    choice = learner.prior_, learner.statements_, learner.strength_
    more = Pairs.from_labels(GROWER, 60, random_state=1)
    learner.partial_fit(RAW, side=more)
    assert (learner.prior_, learner.statements_, learner.strength_) == choice
    learner.set_params(C=1.0).partial_fit(RAW, side=Pairs([[0, 1]], n_points=N))
    assert not hasattr(learner, "verdict_")


def test_shapes_can_be_searched():
    grid = {"shape": ["full", "diagonal"], "C": [None, 1.0]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{KEPT}", UserWarning)
        search = GridSearchCV(MetricLearner(random_state=0), grid, cv=2).fit(WINE, GROWER)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_solver_is_refused_before_anything_is_learned(monkeypatch):
    monkeypatch.setattr(_diagonal, "Places", None)
    with pytest.raises(ValueError, match='leave solver="auto"'):
        fitted(WINE, GROWER, solver="working_set")


def test_ctrl_c_while_choosing_leaves_the_estimator_as_it_was(monkeypatch):
    learner = fitted(WINE, side=PAIRS)
    before = dict(vars(learner))

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "solve_weights", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(2 * WINE, side=TRIPLETS)
    assert all(vars(learner)[name] is before[name] for name in before)
    assert vars(learner).keys() == before.keys()
