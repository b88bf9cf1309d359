"""Without C an estimator chooses by what is held back, says whether it helps, and certifies what it keeps."""

import re
import time
import warnings
from itertools import count

import numpy as np
import pytest
from gramlearn.losses import SquaredHinge
from scipy.stats import binom
from tests.choices import BOUNDS, GROWER, KEPT, NOT_JUDGED, PAIRS, TRIPLETS, WINE, N, fitted

from gramlearn import (
    Bounds,
    KernelLearner,
    LogDet,
    MetricLearner,
    Pairs,
    Problem,
    Status,
    Triplets,
    solve,
)
from gramlearn.estimators import _choosing
from gramlearn.methods.choosing import learning
from gramlearn.methods.choosing.candidates import PRIORS

SIDES = {"pairs": PAIRS, "triplets": TRIPLETS, "bounds": BOUNDS}
GAIN = re.compile(r"(-?[\d.]+) points \(standard error ([\d.]+)\)")


def choice_of(learner):
    return learner.prior_, learner.statements_, learner.strength_


def planted(n=150, d=8, seed=0):
    """Two classes that the last feature alone tells apart, by less than the others vary."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    points = 3 * rng.standard_normal((n, d))
    points[:, -1] = 2 * y + 0.4 * rng.standard_normal(n)
    return points, y


# -- units --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("name", ["labels", *SIDES])
def test_other_units_give_the_same_choice_and_the_rescaled_metric(name, scale):
    plain_side, side = SIDES.get(name), SIDES.get(name)
    if name == "bounds":
        side = Bounds(*PAIRS.similar.T, upper=6.0 * scale**2, lower=2.0 * scale**2, n_points=N)
    y = GROWER if side is None else None
    plain = fitted(WINE, y, plain_side, tol=1e-9)
    other = fitted(scale * WINE, y, side, tol=1e-9)
    assert choice_of(other) == choice_of(plain)
    assert other.verdict_ == plain.verdict_
    W, V = (model.get_mahalanobis_matrix() for model in (plain, other))
    factor = np.trace(W) / np.trace(V)
    np.testing.assert_allclose(factor * V, W, atol=1e-4 * np.abs(W).max())
    # M of distances in units of the points; a price times a loss of squared distances squared has none.
    if plain.C_ is not None:
        assert other.C_ * scale**4 == pytest.approx(plain.C_, rel=1e-9)


def test_shifted_points_give_the_same_metric():
    one, two = (fitted(X, GROWER, tol=1e-9) for X in (WINE, WINE + 50.0))
    assert choice_of(two) == choice_of(one)
    W, V = (model.get_mahalanobis_matrix() for model in (one, two))
    np.testing.assert_allclose(V, W, atol=1e-5 * np.abs(W).max())


@pytest.mark.parametrize("kind", [MetricLearner, KernelLearner])
def test_unit_vectors_are_learned_from(kind):
    X = WINE / np.linalg.norm(WINE, axis=1)[:, None]
    settings = {"kernel": "linear"} if kind is KernelLearner else {}
    learner = fitted(X, GROWER, kind=kind, **settings)
    assert learner.solution_.relative_gap <= 1e-6
    assert learner.cv_results_["mean_test_score"].max() > 0.9


def test_a_linear_kernel_chooses_as_the_metric_does():
    """It has no features that could be standardized; what it knows of distances is the same."""
    one = fitted(WINE, GROWER)
    two = fitted(WINE, GROWER, kind=KernelLearner, kernel="linear")
    names = [list(map(str, model.cv_results_["params"])) for model in (one, two)]
    assert [name for name in names[0] if "standardized" not in name] == names[1]
    assert one.cv_results_["mean_test_score"][0] == pytest.approx(
        two.cv_results_["mean_test_score"][0]
    )


# -- does it help? ------------------------------------------------------------------------------------


def test_pure_noise_is_not_learned_from():
    """The gain is zero on average, and rarely above two errors.

    Points are neighbors of each other, so that the error is up to twice as large as the one of things that have
    nothing to do with each other: a gain of two errors, by chance in 16 % of draws, is in no more of 40 than
    the bound in 999 of 1000 cases.
    """
    gains = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((45, 3)), rng.integers(2, size=45)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            learner = MetricLearner(random_state=seed).fit(X, y)
        gains.append([float(number) for number in GAIN.search(learner.verdict_).groups()])
        if KEPT in learner.verdict_:
            np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.eye(3))
    mean, error = np.asarray(gains).T
    assert np.sum(mean > 2 * error) <= binom.ppf(0.999, 40, 0.16)
    assert np.sum(mean > error) <= 20
    assert mean.mean() < 3 * mean.std(ddof=1) / 40**0.5


@pytest.mark.parametrize("kind", ["labels", "pairs", "triplets"])
def test_a_planted_direction_is_found_and_helps(kind):
    X, y = planted()
    side = {
        "labels": None,
        "pairs": Pairs.from_labels(y, 300, random_state=0),
        "triplets": Triplets.from_labels(y, 300, random_state=0),
    }[kind]
    learner = MetricLearner(random_state=0).fit(X, y if side is None else None, side=side)
    assert "The learned metric helps" in learner.verdict_
    assert np.argmax(learner.feature_stretch_) == 7
    assert learner.feature_stretch_[7] > 5 * np.max(learner.feature_stretch_[:7])


def test_statements_that_hold_already_leave_the_plain_distance():
    d = ((WINE[:, None] - WINE) ** 2).sum(axis=2)
    rows = [(i, j, k) for i, j, k in np.asarray(TRIPLETS.triplets) if d[i, j] < d[i, k]]
    with pytest.warns(UserWarning, match=f"100.0 %.*{KEPT}"):
        learner = MetricLearner().fit(WINE, side=Triplets(rows, n_points=N))
    np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.eye(13))
    assert learner.strength_ is None
    assert learner.C_ is None


def test_a_metric_chosen_is_not_worse_where_it_was_not_learned_from():
    """Wine is told apart better by what was learned from half of it."""
    train = np.arange(N) % 2 == 0
    learner = MetricLearner(random_state=0).fit(WINE[train], GROWER[train])
    right = []
    for found in (WINE, learner.transform(WINE)):
        d = ((found[~train][:, None] - found[train]) ** 2).sum(axis=2)
        right.append(np.mean(GROWER[train][d.argmin(axis=1)] == GROWER[~train]))
    assert right[1] >= right[0]
    assert right[1] > 0.95


# -- what is left of a choice -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pairs", "triplets", "bounds"])
def test_the_answer_is_that_of_the_problem_written_by_hand(name):
    learner = fitted(side=SIDES[name], prior="identity", tol=1e-8)
    assert learner.C_ is not None
    assert learner.solution_.status is Status.OPTIMAL
    assert learner.solution_.relative_gap <= 1e-8
    # What was asked: comparisons with points drawn by the same seed, or the bounds as they are.
    terms = learner.solution_.problem.terms
    assert {float(np.max(term.loss.C)) for term in terms} == {learner.C_}
    assert all(isinstance(term.loss, SquaredHinge) for term in terms)
    again = solve(Problem(LogDet(), np.eye(13), terms), tol=1e-8)
    assert again.primal == pytest.approx(learner.solution_.primal, rel=1e-6)
    M, q = again.factor @ again.factor.T, learner.prior_share_
    assert q == (0 if name == "bounds" else 0.25)
    # Of all pairs of points, a share q of the squared distances is that of plain ones, up to a scale.
    mixed = (1 - q) * M + q * np.cov(WINE.T).ravel() @ M.ravel() / WINE.var(
        axis=0, ddof=1
    ).sum() * np.eye(13)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), mixed, rtol=1e-3, atol=1e-3)


def test_bounds_at_the_price_chosen_give_the_metric_chosen():
    learner = fitted(side=BOUNDS, tol=1e-9)
    assert learner.statements_ == "given"
    priced = MetricLearner(C=learner.C_, loss="squared_hinge", tol=1e-9).fit(WINE, side=BOUNDS)
    W = learner.get_mahalanobis_matrix()
    np.testing.assert_allclose(priced.get_mahalanobis_matrix(), W, atol=1e-4 * np.abs(W).max())


@pytest.mark.parametrize("name", ["labels", *SIDES])
def test_all_that_was_tried_is_in_a_table(name):
    learner = fitted(WINE, GROWER if name == "labels" else None, SIDES.get(name))
    table = learner.cv_results_
    assert len({len(column) for column in table.values()}) == 1
    assert table["params"][0] == {
        "prior": "identity",
        "statements": None,
        "strength": None,
        "n_components": None,
        "prior_share": 0.0,
    }
    assert table["mean_gain"][0] == 0
    assert np.all((table["mean_test_score"] >= 0) & (table["mean_test_score"] <= 1))
    best = table["params"][int(np.argmax(table["mean_test_score"]))]
    if "helps" in learner.verdict_:
        assert choice_of(learner) == (best["prior"], best["statements"], best["strength"])


def test_another_fit_with_a_price_forgets_the_choice():
    learner = fitted(WINE, GROWER).set_params(C=1.0).fit(WINE, GROWER)
    choice = ("C_", "strength_", "prior_", "prior_share_", "statements_")
    for name in (*choice, "cv_results_", "verdict_"):
        assert not hasattr(learner, name)


def test_the_same_seed_chooses_the_same():
    one, two = (fitted(WINE, GROWER) for _ in range(2))
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )


# -- what was given is not chosen ---------------------------------------------------------------------


def tried(learner, name):
    return set(learner.cv_results_[f"param_{name}"][1:])


def test_a_prior_that_was_given_is_the_only_one_tried():
    assert tried(fitted(WINE, GROWER, prior="identity"), "prior") == {"identity"}
    assert tried(fitted(WINE, GROWER, prior="inverse_within"), "prior") == {"inverse_within"}
    given = fitted(WINE, GROWER, prior=np.diag(np.arange(1.0, 14.0)))
    assert tried(given, "prior") == {"identity"}  # of points as the given one sees them


def test_all_priors_are_learned_from_at_one_strength_and_the_best_of_them_at_others():
    # Of all features a prior alone is right nearly always.
    for X, priors in ((WINE[:, :4] * [1, 2, 3, 4], PRIORS), (WINE[:, :4], PRIORS[::2])):
        table = fitted(X, GROWER).cv_results_
        rows = list(zip(table["params"], table["mean_test_score"], strict=True))
        assert {p["prior"] for p, _ in rows if not p["statements"]} == set(priors)
        first = {p["prior"]: score for p, score in rows if p["strength"] == 3.0}
        assert set(first) == set(priors)
        assert {p["prior"] for p, _ in rows if p["strength"] == 30.0} == {max(first, key=first.get)}


def test_where_a_prior_alone_is_right_nearly_always_nothing_is_learned_from_it():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    units = np.array([1.0, 100.0])
    X = (rng.standard_normal((200, 2)) + 8 * np.outer(y, [1, 0])) * units
    learner = fitted(X, y)
    assert not any(p["statements"] for p in learner.cv_results_["params"])
    assert (learner.strength_, learner.C_) == (None, None)
    assert "helps" in learner.verdict_
    shuffled = fitted(X, rng.permutation(y))
    assert any(p["statements"] for p in shuffled.cv_results_["params"])


def test_points_in_units_of_their_own_are_standardized_where_that_is_better():
    """Statements about a few groups say nothing of others, and units are no matter of groups."""
    units = 10.0 ** np.arange(-6, 7)
    one, two = (fitted(WINE * u, side=TRIPLETS) for u in (units, units[::-1]))
    assert choice_of(one) == choice_of(two)
    assert one.prior_ == "standardized"
    some = np.stack([WINE[:-1], WINE[1:]], axis=1)
    d, e = one.pair_distance(some * units), two.pair_distance(some * units[::-1])
    np.testing.assert_allclose(d / d[0], e / e[0], rtol=1e-3)


def test_a_number_of_columns_that_was_given_is_kept():
    learner = fitted(WINE, GROWER, n_components=3)
    assert tried(learner, "n_components") == {3}  # and judged in so many
    assert learner.transform(WINE).shape == (N, 3)
    # One less than there are classes, and twice as many.
    assert tried(fitted(WINE, GROWER), "n_components") == {None, 2, 4}


@pytest.mark.parametrize(
    "settings", [{"loss": "hinge"}, {"loss": "slack"}, {"bounds": (4.0, 30.0)}, {"n_pairs": 60}]
)
def test_what_is_said_of_pairs_makes_pairs_be_learned_from(settings):
    learner = fitted(WINE, GROWER, **settings)
    assert tried(learner, "statements") == {"given"}
    if learner.C_ is not None:
        assert learner.bounds_ is not None
        assert settings.get("bounds") in (None, learner.bounds_)


def test_percentiles_are_of_the_pairs_that_are_judged():
    pairs = Pairs.from_labels(GROWER, 1000, random_state=0)
    learner = fitted(side=pairs, loss="hinge", percentiles=(10, 60), prior="identity")
    i, j, _ = pairs.near_and_far()
    expected = np.percentile(((WINE[i] - WINE[j]) ** 2).sum(axis=1), (10, 60))
    np.testing.assert_allclose(learner.bounds_, expected)


@pytest.mark.parametrize("regularizer", ["von_neumann", "frobenius"])
@pytest.mark.parametrize("regularize", ["map", "kernel"])
def test_a_regularizer_that_was_given_is_used(regularizer, regularize):
    learner = fitted(side=PAIRS, regularizer=regularizer, regularize=regularize, prior="identity")
    assert learner.solution_.relative_gap <= 1e-6
    assert type(learner.solution_.problem.regularizer).__name__.lower().startswith(regularizer[:3])


@pytest.mark.parametrize("kind", ["pairs drawn", "bounds", "only unlike"])
def test_statements_are_learned_from_a_given_prior_as_they_are(kind):
    i, j, alike = PAIRS.near_and_far()
    d = np.sum((WINE[i] - WINE[j]) ** 2, axis=1)
    ends = {"upper": np.where(alike, 0.7 * d, np.inf), "lower": np.where(alike, 0.0, 1.3 * d)}
    known = {
        "pairs drawn": {"y": GROWER, "n_pairs": 200},
        "bounds": {"side": Bounds(i, j, n_points=len(WINE), **ends)},
        "only unlike": {"side": Pairs(None, PAIRS.dissimilar, n_points=len(WINE))},
    }[kind]
    learner = fitted(prior="inverse_within", **known)
    learned = [p for p in learner.cv_results_["params"] if p["statements"] is not None]
    assert {(p["prior"], p["statements"]) for p in learned} == {("inverse_within", "given")}
    assert learner.solution_.relative_gap <= 1e-6


def test_inverse_within_is_a_prior_with_a_price_as_well():
    """At next to no price it is the metric; without labels it comes from alike pairs."""
    chosen = fitted(WINE, GROWER, prior="inverse_within", n_components=13)
    little = MetricLearner(prior="inverse_within", C=1e-12, random_state=0)
    if chosen.statements_ is None:
        W = chosen.get_mahalanobis_matrix()
        found = little.fit(WINE, GROWER).get_mahalanobis_matrix()
        np.testing.assert_allclose(found, W, atol=1e-6 * np.abs(W).max())
    labels, pairs = (
        little.fit(WINE, y, side=side).get_mahalanobis_matrix()
        for y, side in ((GROWER, None), (None, Pairs.from_labels(GROWER, 3000, random_state=0)))
    )
    assert np.linalg.norm(pairs - labels) < 0.3 * np.linalg.norm(labels)
    only_unlike = Pairs(dissimilar=PAIRS.dissimilar, n_points=N)
    little.set_params(bounds=(1.0, 200.0))  # which some do not keep, or there would be a warning
    plain = little.fit(WINE, side=only_unlike).get_mahalanobis_matrix()
    np.testing.assert_allclose(plain, np.eye(13), atol=1e-6)


# -- limits, callbacks and Ctrl-C ---------------------------------------------------------------------


def test_the_limits_hold_for_the_last_solve(monkeypatch):
    settings = {"side": PAIRS, "prior": "identity"}
    with pytest.warns(UserWarning, match="relative gap"):
        learner = fitted(**settings, max_iter=1)
    assert learner.n_iter_ == 1
    monkeypatch.setattr(_choosing, "_SHARE", np.inf)  # of the limit, so that the choice takes all
    with pytest.warns(UserWarning, match="relative gap"):
        learner = fitted(**settings, time_limit=1e-9)
    assert learner.solution_.status is Status.TIME_LIMIT
    assert np.isfinite(learner.transform(WINE)).all()


def fitted_with_words(learner, **settings):
    """A fit to four features, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = learner(random_state=0, **settings).fit(WINE[:, :4], GROWER)
    return found, "; ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("learner", [MetricLearner, KernelLearner])
def test_a_time_limit_holds_for_the_choice_as_well(learner, monkeypatch):
    """The clock goes on by a second at each look, so that nothing depends on the machine."""
    looks = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(looks)))
    found, words = fitted_with_words(learner, time_limit=8)
    assert re.search(
        r"half of `time_limit=8` was over when \d of the candidates had been tried", words
    )
    table = found.cv_results_
    whole = fitted(WINE[:, :4], GROWER)
    assert 0 < len(table["params"]) < len(whole.cv_results_["params"])
    assert np.isfinite(found.solution_.relative_gap)


def test_a_choice_that_ends_at_once_keeps_the_plain_distance():
    found, words = fitted_with_words(MetricLearner, time_limit=1e-6)
    assert "was over when 1 of the candidates had been tried" in words
    assert "Nothing was tried beside the plain distance" in found.verdict_
    assert [p["prior"] for p in found.cv_results_["params"]] == ["identity"]
    np.testing.assert_allclose(found.transform(WINE[:, :4]), WINE[:, :4])


def test_a_callback_sees_and_stops_the_last_solve_alone():
    seen = []
    with pytest.warns(UserWarning, match="stopped by the callback"):
        learner = fitted(side=PAIRS, prior="identity", callback=lambda r: seen.append(r) or True)
    assert len(seen) == 1
    assert learner.solution_.status is Status.STOPPED


def test_neighbors_are_not_found_again_after_a_solve_that_was_stopped():
    seen = []
    with pytest.warns(UserWarning, match="stopped by the callback"):
        fitted(WINE, GROWER, prior="identity", callback=lambda r: seen.append(r) or True)
    assert len(seen) == 1


@pytest.mark.parametrize("place", [0, 3])
def test_ctrl_c_while_choosing_leaves_the_estimator_as_it_was(monkeypatch, place):
    learner = fitted(side=PAIRS)
    before = dict(vars(learner))
    calls = []

    def interrupted(*given, **rest):
        calls.append(given)
        if len(calls) > place:
            raise KeyboardInterrupt
        return solved(*given, **rest)

    solved = learning.attempt
    monkeypatch.setattr(learning, "attempt", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        learner.fit(2 * WINE, side=TRIPLETS)
    assert not hasattr(stop.value, "solution")
    assert len(calls) == place + 1
    assert vars(learner).keys() == before.keys()
    assert all(vars(learner)[name] is before[name] for name in before)


# -- input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "side"),
    [
        (None, Pairs([[0, 1]], n_points=N)),
        (None, Triplets(np.asarray(TRIPLETS.triplets)[:7], n_points=N)),
        (np.where(np.arange(N) % 40 == 0, GROWER, -1), None),
    ],
)
def test_too_few_statements_to_hold_enough_back_keep_the_plain_distance_which_is_said(y, side):
    with pytest.warns(
        UserWarning, match=r"Not judged.*20 things.*pass more labels or statements, or C"
    ):
        learner = MetricLearner(random_state=0).fit(WINE, y, side=side)
    assert (learner.strength_, learner.C_, learner.prior_) == (None, None, "identity")
    np.testing.assert_allclose(learner.transform(WINE), WINE, atol=1e-12)
    assert learner.solution_.relative_gap <= 1e-6
    assert "mean_test_score" not in learner.cv_results_


def test_what_was_too_little_to_judge_is_judged_with_what_comes_later():
    many = Pairs.from_labels(GROWER, 600, random_state=0)
    held = np.arange(many.size) >= 20
    learner = fitted(side=many.drop(held))
    assert NOT_JUDGED in learner.verdict_
    learner.partial_fit(WINE, side=many.drop(~held))
    assert learner.verdict_.startswith("The learned metric helps")
    strength = learner.strength_
    learner.partial_fit(WINE, side=Pairs([[0, 1]], n_points=N))
    assert learner.strength_ == strength


@pytest.mark.parametrize("kind", ["similar", "dissimilar"])
def test_links_of_one_kind_are_learned_from(kind):
    side = Pairs(**{kind: getattr(PAIRS, kind)}, n_points=N)
    learner = fitted(side=side)
    assert np.isfinite(learner.transform(WINE)).all()
    assert tried(learner, "statements") == {"others" if kind == "similar" else "given"}


def test_equal_points_may_be_called_alike_and_are_left_out_where_they_are_called_unlike():
    twice = np.vstack([WINE, WINE[:30]])
    table = np.stack([np.arange(30), N + np.arange(30)], axis=1)
    alike = Pairs(table, PAIRS.dissimilar, n_points=len(twice))
    assert np.isfinite(fitted(twice, side=alike).transform(twice)).all()
    unlike = Pairs(PAIRS.similar, np.vstack([PAIRS.dissimilar, table]), n_points=len(twice))
    with pytest.warns(UserWarning, match="30 of .* ask points that are equal"):
        fitted(twice, side=unlike)


REFUSED = [
    (lambda: MetricLearner().fit(WINE, np.zeros(N, int)), "`y` has one class only"),
    (lambda: MetricLearner().fit(WINE, np.arange(N)), "no class in `y` has two members"),
    (lambda: MetricLearner().fit(WINE), "nothing is known about the points"),
    (lambda: MetricLearner(prior="foo").fit(WINE, GROWER), "`prior='foo'` .* 'inverse_within'"),
    (lambda: MetricLearner(C="a").fit(WINE, GROWER), "C must be a positive number; got str"),
    (lambda: MetricLearner(C=-1.0).fit(WINE, GROWER), "C must be positive"),
    (lambda: MetricLearner(loss="foo").fit(WINE, GROWER), "`loss='foo'` is not known"),
    (lambda: MetricLearner(tol=-1).fit(WINE, GROWER), "tol must be positive"),
    (lambda: MetricLearner(time_limit=0).fit(WINE, GROWER), "time_limit"),
    (lambda: MetricLearner(percentiles=(0.1, 0.5)).fit(WINE, GROWER), "below 1 percent"),
    (lambda: MetricLearner(n_components=14).fit(WINE, GROWER), "more than the 13 dimensions"),
    (lambda: KernelLearner(n_components=N + 1).fit(WINE, GROWER), f"`n_components={N + 1}`"),
    (lambda: MetricLearner(bounds=(30.0, 2.0)).fit(WINE, GROWER), "upper must not exceed lower"),
    (
        lambda: MetricLearner().fit(np.ones((N, 2)), GROWER),
        "every point is equal to its nearest of other classes",
    ),
    (
        lambda: MetricLearner().fit(
            np.vstack([WINE[:1]] * 30), side=Pairs(dissimilar=[[0, k] for k in range(1, 30)], n_points=30)
        ),
        "all statements ask points that are equal to lie apart",
    ),
    (lambda: Pairs([[0, 1]], n_points=3, similar_weight=-1.0), "`similar_weight` must be positive"),
    (lambda: Triplets([[0, 1, 2]], n_points=3, weight=0.0), "`weight` must be positive"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_bad_input_is_refused_in_one_sentence(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()
