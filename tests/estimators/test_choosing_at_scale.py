"""What statements in files choose is what a sample of them chooses in memory, and goes on where that stops."""

from itertools import pairwise

import numpy as np
import pytest

from gramlearn import MetricLearner
from gramlearn.methods.choosing.candidates import prior_root
from gramlearn.methods.choosing.places import Places
from gramlearn.side_information import Pairs
from gramlearn.side_information.layout import Layout
from gramlearn.side_information.stored_pairs import StoredPairs
from gramlearn.sources.columns import ArrayColumns

N, D = 300, 4


def pairs_by_one_feature(noise: float, wrong: float = 0.0) -> tuple[np.ndarray, Pairs]:
    """Points that are alike where the first feature is, in which others vary so many times as much."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * np.r_[1.0, np.full(D - 1, noise)]
    i, j = rng.integers(0, N, (2, 4000))
    table = np.unique(np.sort(np.c_[i, j][i != j], axis=1), axis=0)
    a, b = table.T
    alike = (np.abs(X[a, 0] - X[b, 0]) < 0.5) ^ (rng.random(len(table)) < wrong)
    return X, Pairs(table[alike], table[~alike], n_points=N)


def scores(learner: MetricLearner) -> dict[tuple[str, float | None], float]:
    """The mean score of what was tried, by prior and strength."""
    table = learner.cv_results_
    names = zip(table["param_prior"], table["param_strength"], strict=True)
    return dict(zip(names, table["mean_test_score"], strict=True))


@pytest.mark.parametrize("given", [(0.01, 4.0), (1.0, 8.0)], ids=str)
def test_no_more_than_a_sample_are_judged_as_in_memory(given: tuple[float, float]) -> None:
    """Of pairs with bounds, for which the same is tried here and there, up to the strongest of these."""
    X, pairs = pairs_by_one_feature(1.0, wrong=0.2)
    bounds = {"bounds": given, "random_state": 0}
    memory = MetricLearner(**bounds).fit(X, side=pairs)
    files = MetricLearner(**bounds).fit(X, side=StoredPairs.of(pairs, 500))
    there = scores(memory)
    here = scores(files)
    assert {name: here[name] for name in there} == pytest.approx(there, abs=1e-12)
    assert files.prior_ == memory.prior_
    if given == (0.01, 4.0):
        assert files.strength_ > memory.strength_ == 100.0
    else:
        assert pytest.approx(memory.C_) == files.C_
        np.testing.assert_allclose(files.components_, memory.components_, atol=1e-4)


@pytest.mark.parametrize("noise", [3.0, 10.0])
def test_the_edge_is_gone_past_while_a_point_is_gained(noise: float) -> None:
    X, pairs = pairs_by_one_feature(noise)
    learner = MetricLearner(prior="identity", random_state=0).fit(X, side=StoredPairs.of(pairs))
    found = {strength: score for (_, strength), score in scores(learner).items() if strength}
    beyond = sorted(strength for strength in found if strength >= 100.0)
    gains = [found[b] - found[a] for a, b in pairwise(beyond)]
    assert learner.strength_ == beyond[-2] > 100.0
    assert min(gains[:-1]) >= 0.01 > gains[-1]


def test_features_in_other_units_are_standardized(monkeypatch) -> None:
    """W = (1 - q) A'MA + q t A'A, where M is learned at the price that is kept, and q of distances are A's."""
    X, pairs = pairs_by_one_feature(30.0)
    side = StoredPairs.of(pairs)
    made, beside_drawn = [], StoredPairs.beside_drawn

    def record(*given) -> StoredPairs:
        made.append(beside_drawn(*given))
        return made[-1]

    monkeypatch.setattr(StoredPairs, "beside_drawn", record)
    learner = MetricLearner(random_state=0).fit(X, side=side)
    assert learner.prior_ == "standardized"
    assert learner.statements_ == "drawn"
    A = prior_root("standardized", Places(X), np.zeros((1, D)))
    given = MetricLearner(prior=A.T @ A, loss="squared_hinge", C=learner.C_, bounds=learner.bounds_)
    learned = given.fit(X, side=made[-1]).get_mahalanobis_matrix()
    q, covariance = learner.prior_share_, np.cov(X.T)
    assert q == 0.25
    t = np.trace(covariance @ learned) / np.trace(covariance @ A.T @ A)
    mixed = (1 - q) * learned + q * t * A.T @ A
    found = learner.get_mahalanobis_matrix()
    np.testing.assert_allclose(found, mixed, atol=1e-4 * np.abs(mixed).max())


def test_other_units_choose_the_same() -> None:
    X, pairs = pairs_by_one_feature(3.0)
    side = StoredPairs.of(pairs)
    learner, scaled = (MetricLearner(random_state=0).fit(s * X, side=side) for s in (1.0, 100.0))
    assert scores(scaled) == pytest.approx(scores(learner), abs=1e-3)
    assert (scaled.prior_, scaled.strength_) == (learner.prior_, learner.strength_)
    assert pytest.approx(learner.C_ / 1e8) == scaled.C_


def test_the_verdict_says_of_how_many(monkeypatch) -> None:
    X, pairs = pairs_by_one_feature(3.0)
    said = "It was chosen and judged by 1,000 of the"
    assert said not in MetricLearner(random_state=0).fit(X, side=StoredPairs.of(pairs)).verdict_
    monkeypatch.setattr("gramlearn.methods.metric.at_scale.SAMPLE", 1000)
    learner = MetricLearner(random_state=0).fit(X, side=StoredPairs.of(pairs))
    assert learner.verdict_.endswith(f"{said} {pairs.size:,} statements.")
    assert learner.solution_.relative_gap <= 1e-6


def test_pairs_in_a_file_more_than_once_count_as_often() -> None:
    """As where each has a weight of one; all of them choose, though the sample holds each pair once."""
    X, pairs = pairs_by_one_feature(3.0)
    rng = np.random.default_rng(1)
    often = [rng.integers(1, 4, len(table)) for table in (pairs.similar, pairs.dissimilar)]
    once = Pairs(pairs.similar, pairs.dissimilar, n_points=N)
    i, j = np.concatenate([once.similar, once.dissimilar]).T
    alike = np.r_[np.ones(len(pairs.similar), bool), np.zeros(len(pairs.dissimilar), bool)]
    rows = rng.permutation(np.repeat(np.arange(len(i)), np.concatenate(often)))
    columns = {"i": i[rows], "j": j[rows], "alike": alike[rows], "weight": np.ones(len(rows))}
    sides = [
        StoredPairs(
            ArrayColumns(columns, 1000),
            Layout(
                {"i": "i", "j": "j"},
                {"alike": "alike"},
                {"upper": None, "lower": None, "weight": weight},
            ),
            N,
        )
        for weight in (None, "weight")
    ]
    learners = [MetricLearner(random_state=0).fit(X, side=side) for side in sides]
    assert [learner.statements_ for learner in learners] == ["drawn"] * 2
    assert "It was chosen" not in learners[0].verdict_
    assert pytest.approx(learners[0].C_) == learners[1].C_
    values = [learner.solution_.primal for learner in learners]
    assert values[1] == pytest.approx(values[0], rel=1e-5)
    given = {"bounds": learners[0].bounds_, "random_state": 0}
    stored = MetricLearner(**given).fit(X, side=sides[0])
    memory = MetricLearner(**given).fit(X, side=sides[0].read())
    assert stored.C_ / stored.strength_ == pytest.approx(memory.C_ / memory.strength_)


def test_equal_points_that_were_drawn_are_nothing_to_warn_of(recwarn) -> None:
    X, pairs = pairs_by_one_feature(3.0)
    twice = Pairs(pairs.similar, pairs.dissimilar, n_points=2 * N)
    learner = MetricLearner(random_state=0).fit(np.r_[X, X], side=StoredPairs.of(twice))
    assert learner.statements_ == "drawn"
    assert learner.solution_.relative_gap <= 1e-6
    assert not recwarn.list


def test_groups_that_no_pair_is_about_are_told_apart_by_pairs_drawn() -> None:
    """Half of the groups differ in a feature that those of the pairs have in common."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 50)
    means = rng.normal(size=(20, 8)) * 2.0
    means[:10, :4] = means[10:, 4:] = 0.0
    X = means[group] + rng.normal(size=(1000, 8)) * 2.0
    pairs = Pairs.from_labels(group[:500], 5000, random_state=0)
    side = StoredPairs.of(Pairs(pairs.similar, pairs.dissimilar, n_points=1000))
    others = Pairs.from_labels(np.where(group < 10, -1, group), 5000, random_state=0)
    drawn = MetricLearner(random_state=0).fit(X, side=side)
    assert drawn.statements_ == "drawn"
    given = MetricLearner(loss="squared_hinge", C=drawn.C_, bounds=drawn.bounds_).fit(X, side=side)
    memory = MetricLearner(random_state=0).fit(X, side=side.read())
    plain = MetricLearner(C=1e-12, bounds=drawn.bounds_).fit(X, side=side)
    scores = [learner.score(X, side=others) for learner in (drawn, memory, given, plain)]
    assert scores[0] > scores[2] + 0.02, scores
    assert scores[0] > scores[1] - 0.02, scores
