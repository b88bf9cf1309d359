"""A choice is judged by what transform gives, by weights and points as they are, never by what it has seen."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from tests.choices import GROWER, KEPT, WINE, N, fitted

from gramlearn import KernelLearner, MetricLearner, Pairs, Triplets
from gramlearn.estimators import _choosing


@pytest.mark.parametrize("regularizer", ["frobenius", "von_neumann"])
@pytest.mark.parametrize("known", ["labels", "pairs"])
def test_regularizers_choose_where_statements_are_fewer_than_entries_of_the_matrix(
    regularizer, known
):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.standard_normal((120, 60)) + np.outer(y, np.linspace(1, 0, 60))
    side = Pairs.from_labels(y, 200, random_state=0)
    labels = {"y": y} if known == "labels" else {"side": side}
    learner = fitted(X, regularizer=regularizer, **labels)
    assert learner.solution_.relative_gap <= 1e-6
    assert any(p["statements"] for p in learner.cv_results_["params"])


def test_a_basis_of_class_means_leaves_nothing_to_choose_by():
    """It knows the classes of all points: of random ones, too, they would seem to come out right."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 200)), rng.integers(2, size=60)
    learner = MetricLearner(basis="class_means", rank=4, random_state=0).fit(X, y)
    assert not hasattr(learner, "verdict_")
    given = MetricLearner(basis="class_means", rank=4, C=1.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(learner.transform(X), given.transform(X))


@pytest.mark.parametrize("kind", [MetricLearner, KernelLearner])
def test_points_of_few_kinds_are_no_error(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(200, 2)).astype(float)
    learner = fitted(X, rng.integers(2, size=200), kind=kind)
    assert np.isfinite(learner.transform(X)).all()


def test_few_columns_are_judged_as_transform_gives_them():
    """Of many features the metric is learned in 100 directions, and few columns have nothing beyond."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.standard_normal((400, 250))
    X[:, 0] += 3 * y
    half = np.arange(400) < 200
    learner = fitted(X[half], y[half], n_components=1)
    table = learner.cv_results_
    best = max(
        score
        for p, score in zip(table["params"], table["mean_test_score"], strict=True)
        if p["n_components"] == 1
    )
    known, asked = learner.transform(X[half]), learner.transform(X[~half])
    nearest = np.abs(asked[:, None, 0] - known[None, :, 0]).argsort(axis=1)[:, :5]
    share = np.mean(y[half][nearest] == y[~half][:, None])
    assert best == pytest.approx(share, abs=0.1)


def test_statements_of_no_weight_decide_nothing():
    hidden = WINE * np.r_[np.full(4, 3.0), np.full(9, 0.3)]
    rng = np.random.default_rng(0)
    rows = np.asarray([rng.permutation(N)[:3] for _ in range(600)])
    d = [((hidden[rows[:, 0]] - hidden[rows[:, k]]) ** 2).sum(axis=1) for k in (1, 2)]
    right = np.where((d[0] < d[1])[:, None], rows, rows[:, [0, 2, 1]])
    wrong = right[:300, [0, 2, 1]]
    both = Triplets(np.vstack([right[300:], wrong]), n_points=N, weight=np.repeat([1.0, 1e-9], 300))
    alone, with_wrong = (
        fitted(side=side).cv_results_["mean_test_score"][0]
        for side in (Triplets(right[300:], n_points=N), both)
    )
    assert with_wrong == pytest.approx(alone, abs=0.05)


def test_the_verdict_names_the_prior_that_was_given():
    raw = load_wine(return_X_y=True)[0]
    learner = fitted(raw, GROWER, prior="inverse_covariance")
    assert learner.prior_ == "inverse_covariance"
    assert "the distance of the prior given, which scores" in learner.verdict_
    kept = fitted(WINE, np.random.default_rng(1).permutation(GROWER), prior="standardized")
    assert (kept.prior_, kept.strength_) == ("standardized", None)
    np.testing.assert_allclose(np.diag(kept.get_mahalanobis_matrix()), 1.0, rtol=0.05)


def test_comparisons_of_a_hidden_metric_are_learned_from_as_they_are():
    """They tell weights of features, which comparisons of what is near with points at random do not."""
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((200, 10)), np.exp(1.5 * rng.standard_normal(10))

    def judged(count):
        rows = np.asarray([rng.permutation(200)[:3] for _ in range(count)])
        near, far = (((X[rows[:, 0]] - X[rows[:, k]]) ** 2) @ weight for k in (1, 2))
        return Triplets(np.where((near < far)[:, None], rows, rows[:, [0, 2, 1]]), n_points=200)

    learner = fitted(X, side=judged(1000))
    assert learner.statements_ == "given"
    assert learner.score(X, side=judged(2000)) > 0.93


def test_what_did_not_help_is_tried_again_with_further_statements():
    learner = fitted(side=Pairs.from_labels(GROWER, 60, random_state=1))
    assert KEPT in learner.verdict_
    learner.partial_fit(WINE, side=Pairs.from_labels(GROWER, 1500, random_state=2))
    assert learner.verdict_.startswith("The learned metric helps")


def test_other_classes_are_a_reason_to_choose_again():
    rng = np.random.default_rng(0)
    y = 5 + np.arange(400) % 4
    X = rng.standard_normal((400, 6)) + 4 * np.eye(6)[y - 5]
    learner = fitted(X[:200], np.where(y[:200] < 7, y[:200], -1))
    before = set(learner.cv_results_["param_n_components"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{KEPT}", UserWarning)
        learner.partial_fit(X, y)
    assert before == {None, 1, 2}
    assert set(learner.cv_results_["param_n_components"]) == {None, 3}


def test_an_answer_that_was_not_reached_is_not_praised(monkeypatch):
    side = Pairs.from_labels(GROWER, 600, random_state=0)
    assert fitted(side=side).verdict_.startswith("The learned metric helps")
    monkeypatch.setattr(_choosing, "_ONE_DIGIT", 0.0)
    learner = fitted(side=side)
    words = learner.verdict_
    assert words.startswith("Stopped at a relative gap of")
    assert "so this metric is not the one that was judged" in words
    more = Pairs([[0, 1]], n_points=N)
    assert learner.partial_fit(WINE, side=more).verdict_.count("Stopped") == 1
    monkeypatch.undo()
    assert "Stopped" not in learner.partial_fit(WINE, side=more).verdict_
