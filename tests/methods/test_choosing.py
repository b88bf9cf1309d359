"""What is held back is judged by what was learned without it: scores, gains, candidates and parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from gramlearn.losses import Hinge, LogDetSlack, Square, SquaredHinge
from scipy.linalg import subspace_angles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from gramlearn import Bounds, Pairs, Triplets
from gramlearn.methods.choosing.candidates import (
    PLAIN,
    Candidate,
    Family,
    keep_leading,
    mix_with_prior,
    price_at_strength_one,
    prior_root,
)
from gramlearn.methods.choosing.choose import (
    Choice,
    Gain,
    Judged,
    _join_folds,
    _leave_out_last,
    _reserves,
    measure_gain,
)
from gramlearn.methods.choosing.families import families_as_given, families_of, families_of_labels
from gramlearn.methods.choosing.judges import group_of, judge_of, others_than
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import (
    OfLabels,
    OfStatements,
    differences_from_means,
    differences_of_alike,
    unit_of,
)
from gramlearn.methods.choosing.within import (
    weights_standardized,
    weights_within,
    within_classes,
    within_pairs,
)

N, D = 60, 4


def random_points(n=N, d=D, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def random_pairs(count=80, seed=0):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(N, 1)
    drawn = np.stack([i, j], axis=1)[rng.permutation(len(i))[:count]]
    return Pairs(drawn[: count // 2], drawn[count // 2 :], n_points=N)


def random_triplets(count=80, seed=0):
    rng = np.random.default_rng(seed)
    return Triplets([rng.permutation(N)[:3] for _ in range(count)], n_points=N)


def random_bounds(count=40, seed=0):
    rng = np.random.default_rng(seed)
    table = random_pairs(count, seed).statement_points()
    upper = rng.uniform(1.0, 9.0, count)
    return Bounds(*table.T, upper=upper, lower=upper / 3, n_points=N)


X = random_points()
F = np.random.default_rng(1).standard_normal((D, 3))
PLACES = Places(X)
NONE = np.zeros((2, 12))  # in reserve, of candidates


def judged_alone(scores, group):
    """Things of weight one, in these groups, each about a point of its own."""
    n = scores.shape[1]
    return Judged(scores, np.ones(n), np.asarray(group), np.arange(n)[:, None])


SIDES = {"pairs": random_pairs(), "triplets": random_triplets(), "bounds": random_bounds()}
every_side = pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)


def squared(i, j, W=F @ F.T):
    return float((X[i] - X[j]) @ W @ (X[i] - X[j]))


def below(one, other):
    return 1.0 if one < other else 0.5 if one == other else 0.0


# -- judges -------------------------------------------------------------------------------------------


def test_a_comparison_scores_whether_it_holds():
    side = random_triplets(30)
    judge = judge_of(PLACES, side, np.arange(30), np.random.default_rng(0))
    expected = [below(squared(i, j), squared(i, k)) for i, j, k in side.triplets]
    np.testing.assert_array_equal(judge.score(F), expected)
    assert 0 < np.mean(expected) < 1


def test_a_bound_scores_one_less_the_share_by_which_it_is_missed():
    side = random_bounds(30)
    found = judge_of(PLACES, side, np.arange(30), np.random.default_rng(0)).score(F)
    for score, i, j, upper, lower in zip(
        found, side.i, side.j, side.upper, side.lower, strict=True
    ):
        d = squared(i, j)
        # The relative miss (d - u) / d of a distance above its bound, and (l - d) / l of one below.
        expected = upper / d if d > upper else d / lower if d < lower else 1.0
        assert score == pytest.approx(expected, rel=1e-9)
    assert np.unique(found).size > 2


def test_pairs_score_by_pairs_of_their_group_and_similar_ones_by_points_as_well():
    side = random_pairs(60)
    items = np.random.default_rng(5).permutation(60)
    judge = judge_of(PLACES, side, items, np.random.default_rng(0))
    found = judge.score(F)
    near, far = ([squared(i, j) for i, j in table] for table in (side.similar, side.dissimilar))
    group_of_near, group_of_far = np.split(group_of(items), [30])
    of_others = [
        np.mean([below(near[k], squared(i, other)) for other in judge._others[k]])
        for k, (i, _) in enumerate(side.similar)
    ]
    for group in range(5):
        a, b = np.flatnonzero(group_of_near == group), np.flatnonzero(group_of_far == group)
        in_order = np.array([[below(near[k], far[m]) for m in b] for k in a])
        of_near, of_far = found[a], found[30 + b]
        others = np.mean([of_others[k] for k in a])
        assert of_near.mean() == pytest.approx((others + in_order.mean()) / 2)
        assert of_far.mean() == pytest.approx(in_order.mean())
        # What a pair adds: half of the weight of similar pairs and all of that of others is on the order.
        weight = len(a) / 2 + len(b)
        for k, row, score in zip(a, in_order, of_near, strict=True):
            above = of_others[k] / 2 + weight / len(a) * row.mean()
            mean = others / 2 + weight / len(a) * in_order.mean()
            assert score - of_near.mean() == pytest.approx(above - mean)
        for column, score in zip(in_order.T, of_far, strict=True):
            deviation = weight / len(b) * (column.mean() - in_order.mean())
            assert score - of_far.mean() == pytest.approx(deviation)


@pytest.mark.parametrize(("n_similar", "n_dissimilar"), [(30, 30), (20, 80), (80, 20)])
def test_the_standard_error_of_pairs_is_that_of_other_draws_of_them(n_similar, n_dissimilar):
    found = []
    for seed in range(150):
        n_pairs = n_similar + n_dissimilar
        table = random_pairs(n_pairs, seed).statement_points()
        side = Pairs(table[:n_similar], table[n_similar:], n_points=N)
        judge = judge_of(PLACES, side, 5 * np.arange(n_pairs), np.random.default_rng(seed))
        scores = judge.score(F) - judge.score(None)
        judged = Judged(scores[None], judge.weights, judge.items, np.arange(n_pairs)[:, None])
        found.append((scores.mean(), judged.error(scores)))
    mean, error = np.transpose(found)
    assert np.mean(error) == pytest.approx(np.std(mean), rel=0.2)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_others_are_drawn_evenly_among_all_points_but_those_of_the_pair(n):
    pairs = np.array([(i, j) for i in range(n) for j in range(n) if i != j])
    others = others_than(pairs, n, 600, np.random.default_rng(0))
    for pair, drawn in zip(pairs, others, strict=True):
        expected = np.setdiff1d(np.arange(n), pair) if n > 2 else pair[1:]
        found, counts = np.unique(drawn, return_counts=True)
        np.testing.assert_array_equal(found, expected)
        assert counts.min() >= 600 / len(expected) - 5 * np.sqrt(600 / len(expected))


@pytest.mark.parametrize("kind", ["similar", "dissimilar"])
def test_pairs_of_one_kind_are_judged_by_points_or_not_at_all(kind):
    side = Pairs(**{kind: random_pairs(40).similar}, n_points=N)
    found = judge_of(PLACES, side, np.arange(20), np.random.default_rng(0)).score(F)
    assert np.all(found == 0.5) == (kind == "dissimilar")
    assert np.all((found >= 0) & (found <= 1))


def test_a_point_scores_by_its_nearest_neighbors():
    rng = np.random.default_rng(2)
    classes = rng.integers(3, size=N)
    task = OfLabels(PLACES, classes, families_of_labels(3, D))
    for part, judge in task.folds(np.random.default_rng(0)):
        held = np.setdiff1d(np.arange(N), part)
        found = judge.score(F)
        for row, score in zip(np.sort(held), found, strict=True):
            order = part[np.argsort([squared(row, k) for k in part])][:5]
            votes = np.bincount(classes[order], minlength=3)
            right = classes[order] == classes[row]
            most = float(np.argmax(votes) == classes[row])
            expected = (float(right[0]) + most + 2 * right.mean()) / 4
            assert score == pytest.approx(expected)


@every_side
def test_scores_do_not_depend_on_units(side):
    size = side.size
    found = [
        judge_of(Places(scale * X), held, np.arange(size), np.random.default_rng(0)).score(F)
        for scale, held in ((1.0, side), (1e3, rescaled(side, 1e6)), (1e-3, rescaled(side, 1e-6)))
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9)


def rescaled(side, factor):
    if not isinstance(side, Bounds):
        return side
    return Bounds(side.i, side.j, upper=factor * side.upper, lower=factor * side.lower, n_points=N)


# -- parts --------------------------------------------------------------------------------------------


def test_no_point_held_back_is_learned_from():
    classes = np.random.default_rng(0).integers(3, size=N)
    classes[:5] = -1
    task = OfLabels(PLACES, classes, families_of_labels(3, D))
    folds = task.folds(np.random.default_rng(1))
    held = [np.setdiff1d(np.arange(5, N), fold.part) for fold in folds]
    for fold, rest in zip(folds, held, strict=True):
        assert np.all(classes[fold.part] >= 0)
        assert len(fold.judge.items) == len(rest)
        statements = task.statements("neighbors", fold.part, X[fold.part], np.random.default_rng(0))
        assert statements.n_points == len(fold.part)
    # Each of them is held back once.
    everyone, times = np.unique(np.concatenate(held), return_counts=True)
    np.testing.assert_array_equal(everyone, np.arange(5, N))
    assert np.unique(times).tolist() == [1]
    # The same point is the same thing wherever it is held back, and different ones are different.
    assert np.unique(np.concatenate([fold.judge.items for fold in folds])).size == N - 5


@every_side
def test_statements_held_back_are_about_points_or_sets_that_the_rest_does_not_mention(side):
    task = OfStatements(PLACES, side, families_of(side))
    table = np.asarray(side.statement_points())
    folds = task.folds(np.random.default_rng(0))
    assert len(folds) == 3
    for fold in folds:
        rest = np.asarray(fold.part.statement_points())
        assert len(rest) + len(fold.judge.items) == len(table)
        held = [row for row in table.tolist() if row not in rest.tolist()]
        assert len(held) == len(fold.judge.items)
        known = set(rest.reshape(-1).tolist())
        assert all(set(row) - known for row in held)


def test_judgments_that_repeat_and_both_comparisons_of_an_odd_one_out_are_one_thing():
    rng = np.random.default_rng(0)
    rows = np.asarray([rng.permutation(12)[:3] for _ in range(200)])  # few points: by statements
    side = Triplets.from_odd_one_out(rows, 12)
    task = OfStatements(Places(X[:12]), side, families_of(side))
    for fold in task.folds(rng):
        rest = {frozenset(row) for row in fold.part.triplets.tolist()}
        kept = {tuple(row) for row in fold.part.triplets.tolist()}
        held = [row for row in side.triplets.tolist() if tuple(row) not in kept]
        assert not rest & {frozenset(row) for row in held}
        assert np.unique(fold.judge.items).size == len({frozenset(row) for row in held})


def test_too_little_is_not_held_back():
    few = Triplets(random_triplets(7).triplets, n_points=N)
    assert OfStatements(PLACES, few, families_of(few)).folds(np.random.default_rng(0)) == []
    # Held back with the one similar pair, the rest would have nothing to compare with others.
    table = random_pairs(20).statement_points()
    one = Pairs(table[:1], table[1:], n_points=N)
    folds = [
        OfStatements(PLACES, one, families_of(one)).folds(np.random.default_rng(k))
        for k in range(9)
    ]
    assert [] in folds
    assert all(len(fold.part.similar) for found in folds for fold in found)
    for classes in ([0, 0, 1, 1], [0] * 9, list(range(9))):
        labels = np.full(N, -1)
        labels[: len(classes)] = classes
        task = OfLabels(PLACES, labels, families_of_labels(max(classes) + 1, D))
        assert task.folds(np.random.default_rng(0)) == []


# -- gains --------------------------------------------------------------------------------------------


def test_what_a_choice_gains_is_measured_by_groups_that_did_not_choose():
    rng = np.random.default_rng(0)
    scores, group = rng.random((4, 23)), rng.integers(5, size=23)
    above = []
    for k in range(23):
        chosen_by = [m for m in range(23) if group[m] != group[k]]
        best = max(range(4), key=lambda c: np.mean([scores[c, m] for m in chosen_by]))
        above.append(scores[best, k] - scores[0, k])
    found = measure_gain(judged_alone(scores, group), NONE[:, :4])
    assert found.mean == pytest.approx(np.mean(above))
    assert found.error == pytest.approx(np.std(above, ddof=1) / 23**0.5)


@pytest.mark.parametrize(("margin", "gain"), [(0.05, 0.5), (0.3, 0.8)])
def test_few_columns_are_taken_where_they_are_better_by_a_standard_error(margin, gain):
    scores = np.zeros((3, 50))
    scores[1] = 0.5
    scores[2] = 0.5 + margin + np.tile([-1.0, 1.0], 25)  # with a standard error of 1 / 7
    group, reserve = np.arange(50) // 2 % 5, np.array([[0.0, 0.0, 1.0], np.zeros(3)])
    assert measure_gain(judged_alone(scores, group), reserve).mean == pytest.approx(gain)


@pytest.mark.parametrize(("margin", "gain"), [(0.009, 0.5), (0.011, 0.511)])
def test_pairs_as_they_are_take_a_point_to_stand_without_those_drawn(margin, gain):
    """However small the standard error is."""
    tried = [PLAIN, Candidate("identity", "drawn", 1.0), Candidate("identity", "given", 1.0)]
    scores = np.outer([0.0, 0.5, 0.5 + margin], np.ones(50))
    judged = judged_alone(scores, np.arange(50) % 5)
    assert measure_gain(judged, _reserves(tried)).mean == pytest.approx(gain)


@pytest.mark.parametrize("lead", [0.0, 0.4])
def test_what_was_left_out_is_never_chosen_however_it_scores(lead):
    scores = np.outer([0.0, 0.5, 0.5 + lead], np.ones(50))
    reserve = np.zeros((2, 3))
    _leave_out_last(reserve)
    assert measure_gain(judged_alone(scores, np.arange(50) % 5), reserve).mean == pytest.approx(0.5)


def test_the_standard_error_is_that_of_points_where_things_share_them():
    """Scores of all pairs of n points that are sums of what is drawn for each point."""
    n = 30
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    means, errors, alone = [], [], []
    for seed in range(300):
        scores = np.random.default_rng(seed).standard_normal(n)[pairs].sum(axis=1)
        judged = Judged(scores[None], np.ones(len(pairs)), np.arange(len(pairs)), pairs)
        means.append(judged.mean(scores))
        errors.append(judged.error(scores))
        alone.append(np.std(scores, ddof=1) / len(pairs) ** 0.5)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)
    assert np.mean(alone) < 0.3 * np.std(means)


def test_things_said_more_than_once_count_by_their_weights():
    table = np.asarray([[0, 1, 2], [0, 2, 1]])
    rows = np.concatenate([table, random_triplets(38).triplets])
    weight = np.ones(40)
    weight[1] = 0.25
    side = Triplets(rows, n_points=N, weight=weight)
    judge = judge_of(PLACES, side, np.r_[0, 0, np.arange(1, 39)], np.random.default_rng(0))
    found = _join_folds([judge, judge], [[judge.score(None)], [judge.score(None)]])
    assert found.weights[0] == pytest.approx(1.25)
    first = float(squared(0, 1) < squared(0, 2))
    assert found.scores[0, 0] == pytest.approx((first + 0.25 * (1 - first)) / 1.25)
    np.testing.assert_allclose(found.weights[1:], 1.0)


def test_of_equal_candidates_nothing_is_gained():
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(400):
        scores = rng.standard_normal((12, 40))
        gains.append(measure_gain(judged_alone(scores, np.arange(40) % 5), NONE).mean)
    # No candidate is better; the best of twelve on the same things would seem to gain 0.26.
    error = np.std(gains, ddof=1) / 20
    assert abs(np.mean(gains)) < 4 * error
    assert error < 0.02


def test_a_gain_is_clear_above_its_error():
    assert Gain(0.21, 0.1, 20).is_clear
    assert not Gain(0.19, 0.1, 20).is_clear
    assert not Gain(0.1, 0.2, 20).is_clear
    assert not Gain(0.0, 0.0, 20).is_clear
    assert not Gain(0.02, 0.0, 20).is_clear  # less than one thing of twenty


def test_results_are_a_table_with_a_row_for_each_candidate():
    candidates = [PLAIN, Candidate("identity", "given", 1.0), Candidate("inverse_within")]
    scores = np.asarray([[0.0, 1.0, 0.5], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5]])
    gain = Gain(0.5, 0.3, 3)
    judged = judged_alone(scores, np.arange(3))
    table = Choice(candidates[1], candidates, judged, gain, "things").results
    table["params"][0]["prior"] = "changed"
    assert PLAIN.prior == "identity"
    assert table["param_strength"] == [None, 1.0, None]
    assert table["rank_test_score"].tolist() == [2, 1, 3]
    np.testing.assert_allclose(table["mean_gain"], [0.0, 0.5, 0.0])
    assert all(len(column) == 3 for column in table.values())


# -- candidates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "families",
    [
        families_of_labels(3, D),
        families_as_given(),
        *(families_of(side) for side in SIDES.values()),
    ],
)
def test_the_plain_distance_comes_first_and_no_candidate_twice(families):
    candidates = [candidate for family in families for candidate in family]
    assert candidates[0] == PLAIN
    assert families[0].is_plain
    assert len(set(candidates)) == len(candidates)
    for family in families:
        assert list(family.strengths) == sorted(family.strengths)
        assert (family.statements is None) == (not family.strengths)


def test_a_family_has_a_candidate_for_each_strength():
    found = list(Family("inverse_within", "others", (1.0, 10.0), 2, 0.5))
    assert found == [Candidate("inverse_within", "others", s, 2, 0.5) for s in (1.0, 10.0)]


# -- a share of the prior -----------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2, D])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_the_squared_distances_is_that_of_the_prior_on_average(share, columns):
    places = Places(random_points())
    learned = np.random.default_rng(1).standard_normal((D, columns)) * 10.0
    F = mix_with_prior(learned, places, share)
    i, j = np.triu_indices(N, 1)
    before, after, plain = (places.squared(G, i, j) for G in (learned, F, np.eye(D)))
    scale = before.mean() / plain.mean()
    np.testing.assert_allclose(after, (1 - share) * before + share * scale * plain, rtol=1e-10)
    assert after.mean() == pytest.approx(before.mean())
    # No direction is shrunk below that share of what distances have on average.
    assert np.linalg.eigvalsh(F @ F.T)[0] >= (share - 1e-10) * scale


def test_weights_are_mixed_as_the_diagonal_matrix_is():
    X, f = random_points(), np.random.default_rng(1).uniform(0, 3, D)
    w = mix_with_prior(f, Places(sp.csr_array(X)), 0.25) ** 2
    F = mix_with_prior(np.diag(f), Places(X), 0.25)
    np.testing.assert_allclose(F @ F.T, np.diag(w), atol=1e-12)


def test_what_is_no_comparison_of_two_kinds_of_points_is_not_mixed():
    """Bounds and comparisons as they are say how far points shall lie apart, whatever the prior says."""
    for side in SIDES.values():
        for family in families_of(side):
            assert family.prior_share == (0.25 if family.statements == "others" else 0.0)
    assert all(f.prior_share == 0.0 for f in (*families_of_labels(3, D), *families_as_given()))


def test_points_that_are_all_equal_have_nothing_to_mix():
    F = np.diag([1.0, 2.0])
    np.testing.assert_array_equal(mix_with_prior(F, Places(np.ones((5, 2))), 0.25), F)


@pytest.mark.parametrize("loss", [Hinge(1.0), SquaredHinge(1.0), LogDetSlack(1.0), Square(1.0)])
def test_a_strength_is_a_price_without_units(loss):
    """C loss(s t, s b) is the same for all units s: C at strength 1 falls as the loss grows."""
    for factor in (1e-6, 1e6):
        costs = []
        for s in (1.0, factor):
            side = "equal" if loss.needs_target else "upper"
            asked = type(loss)(price_at_strength_one(loss, D, 7.0, s), **{side: 2 * s})
            costs.append(float(asked.value(np.asarray([5 * s]))[0]))
        assert costs[1] == pytest.approx(costs[0], rel=1e-9)
    assert price_at_strength_one(loss, D, 14.0, 1.0) == pytest.approx(
        price_at_strength_one(loss, D, 7.0, 1.0) / 2
    )


def test_the_unit_is_the_mean_squared_distance_of_what_is_called_far():
    side = SIDES["pairs"]
    expected = np.mean([squared(i, j, np.eye(D)) for i, j in side.dissimilar])
    assert unit_of(side, PLACES) == pytest.approx(expected)
    alike = Pairs(side.similar, n_points=N)
    expected = np.mean([squared(i, j, np.eye(D)) for i, j in side.similar])
    assert unit_of(alike, PLACES) == pytest.approx(expected)
    equal = Pairs([[0, 1]], n_points=N)
    assert unit_of(equal, Places(np.zeros((N, D)))) == 1.0


# -- the prior of what is alike -----------------------------------------------------------------------


def gaussian_classes(n=20_000, d=5, n_classes=3):
    rng = np.random.default_rng(3)
    y = np.arange(n) % n_classes
    mix = rng.standard_normal((d, d)) + 2 * np.eye(d)
    return (2 * rng.standard_normal((n_classes, d))[y] + rng.standard_normal((n, d))) @ mix, y


def normalized(W):
    return W / np.trace(W)


def test_of_many_points_the_inverse_within_is_the_metric_of_discriminant_analysis():
    """The covariance is seen n times and its diagonal d times: they differ by d / n."""
    points, y = gaussian_classes()
    lda = LinearDiscriminantAnalysis(solver="eigen", store_covariance=True).fit(points, y)
    A = prior_root("inverse_within", Places(points), differences_from_means(points, y))
    expected = normalized(np.linalg.inv(lda.covariance_))
    difference = np.linalg.norm(normalized(A.T @ A) - expected) / np.linalg.norm(expected)
    assert difference < 100 * points.shape[1] / len(points)
    # Distances are as large on average as plain ones.
    centered = points - points.mean(axis=0)
    assert np.sum((centered @ A.T) ** 2) == pytest.approx(np.sum(centered**2))


def test_few_columns_of_it_span_the_directions_of_discriminant_analysis():
    points, y = gaussian_classes()
    places = Places(points)
    A = prior_root("inverse_within", places, differences_from_means(points, y))
    columns = keep_leading(A.T, places, 2)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(points, y)
    assert columns.shape == (5, 2)
    assert np.max(subspace_angles(columns, lda.scalings_[:, :2])) < 0.01
    assert keep_leading(A.T, places, None).shape == (5, 5)


def test_alike_pairs_tell_the_same_covariance_as_labels():
    points, y = gaussian_classes()
    side = Pairs.from_labels(y, 20_000, random_state=0)
    one = prior_root("inverse_within", Places(points), differences_from_means(points, y))
    two = prior_root("inverse_within", Places(points), differences_of_alike(points, side))
    expected = normalized(one.T @ one)
    difference = np.linalg.norm(normalized(two.T @ two) - expected) / np.linalg.norm(expected)
    # 10,000 differences tell a variance up to a few times sqrt(2 / 10,000).
    assert 0 < difference < 0.1


@pytest.mark.parametrize("n_same", [2, 30])
def test_the_prior_follows_units_and_shifts(n_same):
    y = np.arange(N) // n_same
    units = np.asarray([1e-6, 1.0, 1e3, 1e6])
    found = []
    for points in (X, X * units, X + 100.0):
        A = prior_root("inverse_within", Places(points), differences_from_means(points, y))
        found.append(A.T @ A)
    # Another unit of a feature is another unit of its weight, up to the common scale.
    np.testing.assert_allclose(
        normalized(found[1] * np.outer(units, units)), normalized(found[0]), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6, atol=1e-9)


def test_features_that_do_not_vary_have_no_weight_and_nothing_is_infinite():
    points = np.column_stack([X, np.full(N, 3.0)])
    points[:, 1] = np.arange(N) % 2  # the same within classes
    A = prior_root(
        "inverse_within", Places(points), differences_from_means(points, np.arange(N) % 2)
    )
    W = A.T @ A
    assert np.all(np.isfinite(W))
    assert W[4, 4] == 0
    assert W[1, 1] > W[0, 0] * np.var(X[:, 0]) / np.var(points[:, 1])


ONE_NUMBER = {
    "its last digit": 0.1 + 1e-17 * np.arange(N),
    "a few digits": 1e6 + 1e-10 * np.arange(N),
    "two sums": np.where(np.arange(N) % 2, 0.3, 0.1 + 0.2),
    "zero": np.zeros(N),
    "no squares": 1e-170 * X[:, 0],
}


@pytest.mark.parametrize("kind", ONE_NUMBER)
def test_a_feature_that_is_one_number_up_to_rounding_has_no_weight(kind):
    """0.1 + 0.2 is not 0.3: the variance of such a feature is not zero."""
    points = np.column_stack([X, ONE_NUMBER[kind]])
    for name in ("standardized", "inverse_within"):
        A = prior_root(name, Places(points), differences_from_means(points, np.arange(N) % 3))
        assert not (A.T @ A)[4].any()
        assert (A.T @ A)[0, 0] > 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("kind", ONE_NUMBER)
def test_weights_of_features_agree_on_what_is_one_number_up_to_rounding(form, kind):
    classes, pairs = np.arange(N) % 3, np.argwhere(np.eye(N, k=3))
    points = form(np.column_stack([X, ONE_NUMBER[kind]]))
    places = Places(points)
    np.testing.assert_array_equal(places.varies, [True] * D + [False])
    for w in (
        weights_standardized(places),
        weights_within(places, within_classes(points, classes)),
        weights_within(places, within_pairs(points, pairs, np.ones(len(pairs)))),
    ):
        assert w[D] == 0
        np.testing.assert_allclose(w[:D] @ X.var(axis=0), X.var(axis=0).sum())
    # Alike points that differ by rounding alone tell nothing.
    alike = np.column_stack([classes.astype(float), ONE_NUMBER[kind]])
    w = weights_within(Places(form(alike)), within_pairs(form(alike), pairs, np.ones(len(pairs))))
    np.testing.assert_array_equal(w, 1.0)
    A = prior_root("inverse_within", Places(alike), differences_from_means(alike, classes))
    np.testing.assert_array_equal(A, np.eye(2))


def test_small_differences_of_small_numbers_and_of_few_points_are_no_rounding():
    points = np.column_stack([1e-12 * X, 1e6 + X, np.eye(N)[:, 0]])
    for form in (np.asarray, sp.csr_matrix):
        assert Places(form(points)).varies.all()


def test_standardized_points_have_a_variance_of_one_in_each_feature_up_to_a_common_scale():
    units = np.asarray([1e-3, 1.0, 5.0, 1e3])
    A = prior_root("standardized", Places(X * units), np.zeros((0, D)))
    variances = np.var((X * units) @ A.T, axis=0)
    np.testing.assert_allclose(variances, variances[0])
    assert np.sum(variances) == pytest.approx(np.sum(np.var(X * units, axis=0)))


def test_without_anything_alike_the_prior_is_the_identity():
    for differences in (np.zeros((0, D)), np.zeros((9, D))):
        np.testing.assert_array_equal(prior_root("inverse_within", PLACES, differences), np.eye(D))
