"""Questions are new, about different points, and those that a dense computation calls most worth asking."""

from math import comb

import numpy as np
import pytest
from benchmarks.scripts.questions import Judge, ask_chosen
from scipy.optimize import minimize
from scipy.special import expit, ndtr, softmax

from gramlearn import Bounds, KernelLearner, MetricLearner, NonparametricKernel, Pairs, Triplets
from gramlearn.evaluation import questions
from gramlearn.evaluation.questions.answers import ThreeAnswers, TwoAnswers
from gramlearn.evaluation.questions.kinds import KINDS
from gramlearn.evaluation.questions.posterior import SPREAD, Posterior, fit_curve
from gramlearn.side_information import StoredPairs

D = 4
N = {"pair": 30, "triplet": 13, "odd": 16}  # points about which all questions are candidates
COUNTS = {"pair": comb(30, 2), "triplet": 3 * comb(13, 3), "odd": comb(16, 3)}


def points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, D))


def answer(kind, X, rows):
    """What a person says who sees the first two features alone."""
    seen = X[:, :2]

    def d(a, b):
        return np.sum((seen[rows[:, a]] - seen[rows[:, b]]) ** 2, axis=1)

    if kind == "pair":
        alike = d(0, 1) < 2.0
        return Pairs(rows[alike], rows[~alike], n_points=len(X))
    if kind == "triplet":
        swapped = (d(0, 1) > d(0, 2))[:, None]
        return Triplets(np.where(swapped, rows[:, [0, 2, 1]], rows), n_points=len(X))
    odd = np.argmin([d(1, 2), d(0, 2), d(0, 1)], axis=0)
    order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[odd]
    return Triplets.from_odd_one_out(np.take_along_axis(rows, order, axis=1), n_points=len(X))


def some_known(kind, X, count=12, seed=1):
    every = KINDS[kind].every(len(X))
    return answer(kind, X, np.random.default_rng(seed).permutation(every)[:count])


def in_order(kind, rows):
    return {tuple(row) for row in KINDS[kind].in_order(np.asarray(rows))}


def features(statements):
    """The log-odds of statements as linear functions of (vec E, t), for w = 1: m g x (r^2 + 1)."""
    outer = np.einsum("mpa,mpb->mpab", statements.differences, statements.differences)
    rows = np.einsum("gp,mpab->mgab", statements.signs, outer)
    rows = rows.reshape(-1, outer.shape[-1] ** 2)
    return np.column_stack([rows, np.full(len(rows), statements.offset)])


def dense_covariance(asked, known, curvature, slope):
    """Of the log-odds, by the inverse of the Hessian of -log posterior over vec E and t."""
    scale = np.append(np.full(asked.differences.shape[-1] ** 2, slope), 1.0)
    A, K = features(asked) * scale, features(known) * scale
    prior = np.append(np.full(A.shape[1] - 1, SPREAD**-2), 1.0)
    return A @ np.linalg.solve(np.diag(prior) + K.T @ (curvature[:, None] * K), A.T)


def blocks(covariance, g):
    m = len(covariance) // g
    return np.stack([covariance[k * g : k * g + g, k * g : k * g + g] for k in range(m)])


@pytest.mark.parametrize("kind", KINDS)
def test_posterior_is_that_of_the_dense_hessian_and_adding_is_fitting_again(kind):
    Z, about, slope = points(12), KINDS[kind], 0.7
    known = about.read(some_known(kind, Z), Z).statements
    curvature = np.random.default_rng(2).uniform(0.01, 0.25, len(known.differences))
    asked = about.state(about.every(12)[:40], Z)
    found = Posterior(asked, known, curvature, slope)
    g = len(asked.signs)
    dense = dense_covariance(asked, known, curvature, slope)
    np.testing.assert_allclose(found.covariance, blocks(dense, g), atol=1e-10)
    for k in (3, 17, 3):
        root = np.random.default_rng(k).normal(size=(g, g))
        found.add(k, root)
        # As a measurement with precision root root', by the formula for Gaussian vectors.
        across = dense[:, k * g : k * g + g] @ root
        noisy = np.eye(g) + root.T @ dense[k * g : k * g + g, k * g : k * g + g] @ root
        dense = dense - across @ np.linalg.solve(noisy, across.T)
        np.testing.assert_allclose(found.covariance, blocks(dense, g), atol=1e-10)


@pytest.mark.parametrize("kind", ["pair", "triplet"])
def test_adding_a_question_is_knowing_its_answer(kind):
    Z, about, slope = points(12), KINDS[kind], 0.7
    rows = about.every(12)[:40]
    known = about.state(about.every(12)[50:60], Z)
    curvature = np.full(10, 0.2)
    found = Posterior(about.state(rows, Z), known, curvature, slope)
    found.add(5, np.array([[0.4]]))
    both = about.state(np.concatenate([about.every(12)[50:60], rows[5:6]]), Z)
    again = Posterior(about.state(rows, Z), both, np.append(curvature, 0.16), slope)
    np.testing.assert_allclose(found.covariance, again.covariance, atol=1e-10)


def bits(p):
    return -np.sum(p * np.log2(np.maximum(p, 1e-300)), axis=-1)


def test_information_of_two_answers_is_that_of_the_probit_and_near_that_of_the_logistic_curve():
    rng = np.random.default_rng(0)
    mean, variance = 3 * rng.normal(size=(200, 1)), rng.gamma(1.0, 4.0, size=(200, 1, 1))
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    f, weights = mean + np.sqrt(variance[:, :, 0]) * nodes, weights / weights.sum()
    found = TwoAnswers().information(mean, variance)
    # exp(-x^2 / (pi log 2)) for the entropy of the probit is off by less than 0.005 bits (Houlsby and others).
    for p, error in ((ndtr(np.sqrt(np.pi / 8) * f), 0.005), (expit(f), 0.04)):
        both = np.stack([p, 1 - p], axis=-1)
        exact = bits(np.einsum("msk,s->mk", both, weights)) - bits(both) @ weights
        assert np.abs(found - exact).max() < error
    assert exact.max() > 0.5


def test_information_of_three_answers_is_that_of_a_finer_quadrature_in_any_order():
    rng = np.random.default_rng(0)
    mean, root = rng.normal(size=(30, 3)), rng.normal(size=(30, 3, 3))
    covariance = root @ np.swapaxes(root, 1, 2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    grid = np.stack(np.meshgrid(nodes, nodes, nodes), axis=-1).reshape(-1, 3)
    each = np.einsum("i,j,k->ijk", weights, weights, weights).ravel() / weights.sum() ** 3
    p = softmax(mean[:, None, :] + grid @ np.swapaxes(root, 1, 2), axis=2)
    exact = bits(np.einsum("s,msk->mk", each, p)) - bits(p) @ each
    found = ThreeAnswers().information(mean, covariance)
    assert np.abs(found - exact).max() < 0.02 < 0.5 < exact.max()
    for order in ([1, 2, 0], [1, 0, 2]):
        turned = ThreeAnswers().information(mean[:, order], covariance[:, order][:, :, order])
        np.testing.assert_allclose(turned, found, atol=1e-10)


@pytest.mark.parametrize("answers", [TwoAnswers(), ThreeAnswers()], ids=["two", "three"])
def test_a_known_metric_leaves_nothing_to_learn_and_curvature_is_the_second_derivative(answers):
    mean = np.array([[0.3, -0.4, 1.1]]) if isinstance(answers, ThreeAnswers) else np.array([[0.8]])
    g = mean.shape[1]
    assert abs(answers.information(mean, np.zeros((1, g, g)))[0]) < 0.005
    root = answers.curvature_root(mean[0], np.zeros((g, g)))
    p = softmax(mean[0]) if g == 3 else expit(mean[0])
    expected = np.diag(p) - np.outer(p, p)
    np.testing.assert_allclose(root @ root.T, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_curve_is_the_optimum_of_the_regularized_likelihood(kind):
    Z, about = points(12), KINDS[kind]
    known = about.read(some_known(kind, Z), Z)
    weights = np.random.default_rng(0).uniform(1.0, 3.0, len(known.is_true))
    unit = np.median(np.sum(known.statements.differences**2, axis=-1))
    sizes, sign = known.statements.sizes[:, 0] / unit, np.where(known.is_true, 1.0, -1.0)

    def loss(x):
        odds = sign * (about.offset * x[0] + abs(x[1]) * sizes)
        return weights @ np.logaddexp(0, -odds) + 0.05 * np.sum(
            (np.abs(x) - 1) ** 2 * [x[0] > 0, 1]
        )

    threshold, slope = fit_curve(known.statements, known.is_true, weights)
    found = np.array([threshold if about.offset else 1.0, slope * unit])
    best = minimize(
        loss, found + 0.1, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}
    )
    assert loss(found) <= best.fun + 1e-8
    assert slope > 0


def test_nearer_is_never_less_alike():
    """Where the learned distance is upside down, the curve is nearly flat, and falls."""
    X = np.arange(8.0)[:, None]
    known = Pairs([[0, 7], [1, 7], [0, 6]], [[0, 1], [3, 4], [6, 7]], n_points=8)
    answered = KINDS["pair"].read(known, X)
    _, slope = fit_curve(answered.statements, answered.is_true, answered.weights)
    assert 0 < slope < 1e-2


@pytest.mark.parametrize("kind", KINDS)
def test_each_tells_most_given_answers_to_those_before(kind):
    X = points(N[kind])
    known = some_known(kind, X)
    found = questions(None, X, known, kind=kind, n=3, random_state=0)
    about, Z = KINDS[kind], X - X.mean(axis=0)
    Z = Z / np.sqrt(np.mean(np.sum(Z**2, axis=1)))
    answered = about.read(known, Z)
    t, w = fit_curve(answered.statements, answered.is_true, answered.weights)
    rows = about.every(len(X))
    rows = rows[[tuple(row) not in in_order(kind, answered.rows) for row in rows]]
    asked = about.state(rows, Z)
    g, mean = len(asked.signs), t + w * asked.sizes
    p = expit(t + w * answered.statements.sizes[:, 0])
    dense = dense_covariance(asked, answered.statements, p * (1 - p), w)
    is_free = np.ones(len(rows), dtype=bool)
    for row in found:
        worth = about.answers.information(mean, blocks(dense, g))
        k = int(np.argmax(np.where(is_free, worth, -np.inf)))
        assert tuple(rows[k]) == tuple(row)
        here = slice(k * g, k * g + g)
        root = about.answers.curvature_root(mean[k], dense[here, here])
        across = dense[:, here] @ root
        noisy = np.eye(root.shape[1]) + root.T @ dense[here, here] @ root
        dense = dense - across @ np.linalg.solve(noisy, across.T)
        is_free &= ~np.isin(rows, row).any(axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_turned_moved_rescaled_and_renumbered_points_get_the_same_questions(kind):
    n = N[kind]
    X, rng = points(n), np.random.default_rng(3)
    known = some_known(kind, X)
    found = questions(None, X, known, kind=kind, n=6, random_state=0)
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    for factor in (1e-3, 1e3):
        same = questions(None, factor * X @ turn + factor, known, kind=kind, n=6, random_state=0)
        np.testing.assert_array_equal(same, found)
    number = rng.permutation(n)  # the new one of each point
    moved = np.empty_like(X)
    moved[number] = X
    about = KINDS[kind].read(known, X)
    if kind == "pair":
        similar, dissimilar = (number[np.asarray(t)] for t in (known.similar, known.dissimilar))
        renumbered = Pairs(similar, dissimilar, n_points=n)
    else:
        renumbered = Triplets(number[np.asarray(known.triplets)], n_points=n)
    again = questions(None, moved, renumbered, kind=kind, n=6, random_state=0)
    np.testing.assert_array_equal(again, KINDS[kind].in_order(number[found]))
    assert not in_order(kind, about.rows) & in_order(kind, found)


@pytest.mark.parametrize("kind", KINDS)
def test_all_are_asked_once_and_then_none_is_left(kind):
    n = 9
    X, done = points(n), np.empty((0, KINDS[kind].width), dtype=int)
    known = None
    while len(rows := questions(None, X, known, kind=kind, n=25, random_state=0)):
        assert len(rows) <= 25
        done = np.concatenate([done, rows])
        known = answer(kind, X, done)
    assert len(done) == len(in_order(kind, done)) == KINDS[kind].count(n)
    assert rows.shape == (0, KINDS[kind].width)
    others = done[:, ::-1] if kind != "triplet" else done[:, [0, 2, 1]]
    assert not len(questions(None, X, None, kind=kind, asked=others))
    (left,) = questions(None, X, None, kind=kind, asked=others[1:])
    assert tuple(left) == tuple(done[0])


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_there_is(kind):
    every = KINDS[kind].every(N[kind])
    assert len(in_order(kind, every)) == len(every) == KINDS[kind].count(N[kind]) == COUNTS[kind]


def test_a_comparison_of_four_columns_is_a_question_where_two_distances_share_a_point():
    known = Triplets([[0, 1, 0, 2], [3, 1, 2, 3], [0, 1, 2, 3]], n_points=4)
    rows = KINDS["triplet"].read(known, points(4)).rows
    assert in_order("triplet", rows) == {(0, 1, 2), (3, 1, 2)}


@pytest.mark.parametrize("n_known", [0, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_no_point_comes_twice_where_there_are_enough(kind, n_known):
    X = points(400)
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(400), (n_known, 1)), axis=1)
    known = answer(kind, X, rows[:, : KINDS[kind].width]) if n_known else None
    found = questions(None, X, known, kind=kind, n=40, random_state=0)
    assert found.shape == (40, KINDS[kind].width)
    assert len(np.unique(found)) == found.size
    np.testing.assert_array_equal(found, questions(None, X, known, kind=kind, n=40, random_state=0))
    assert (found != questions(None, X, known, kind=kind, n=40, random_state=1)).any()


@pytest.mark.parametrize(
    "known", [None, Pairs([[0, 1], [2, 3]], n_points=300)], ids=["none", "alike"]
)
def test_without_answers_of_both_kinds_half_are_near_and_half_far(known):
    X = points(300)
    rows = questions(None, X, known, n=40, random_state=0)
    d = np.linalg.norm(X[:, None] - X[None], axis=2)
    rank = np.argsort(np.argsort(d, axis=1), axis=1)[rows[:, 0], rows[:, 1]]
    is_near = (
        np.minimum(rank, np.argsort(np.argsort(d, axis=0), axis=0)[rows[:, 0], rows[:, 1]]) <= 30
    )
    assert is_near[::2].all()
    assert 0 <= np.mean(is_near[1::2]) < 0.4  # by chance


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_is_asked_about(kind):
    X = points(60)
    known = some_known(kind, X, 60)
    models = [
        (MetricLearner(C=1.0, random_state=0).fit(X, side=known), X),
        (MetricLearner(C=1.0, shape="diagonal", random_state=0).fit(X, side=known), X),
        (KernelLearner(kernel="rbf", C=1.0, random_state=0).fit(X, side=known), X),
    ]
    if kind == "pair":
        kernel = NonparametricKernel().fit(X, side=known)
        models += [(kernel, None), (kernel, X)]
    for model, given in models:
        rows = questions(model, given, known, kind=kind, n=5, random_state=0)
        assert rows.shape == (5, KINDS[kind].width)
        assert not in_order(kind, rows) & in_order(kind, KINDS[kind].read(known, X).rows)


def test_weights_count_as_repeated_answers():
    X = points(N["pair"])
    known = some_known("pair", X)
    weighted = Pairs(
        known.similar, known.dissimilar, n_points=len(X), similar_weight=3, dissimilar_weight=3
    )
    thrice = (
        np.concatenate([np.asarray(known.similar)] * 3),
        np.concatenate([np.asarray(known.dissimilar)] * 3),
    )
    np.testing.assert_array_equal(
        questions(None, X, weighted, n=8, random_state=0),
        questions(None, X, Pairs(*thrice, n_points=len(X)), n=8, random_state=0),
    )


def test_equal_points_have_no_best_question_but_some():
    known = Pairs([[0, 1]], [[2, 3]], n_points=6)
    assert questions(None, np.ones((6, 2)), known, n=3).shape == (3, 2)


X5 = points(5)
SENTENCES = {
    "few": (
        lambda: questions(None, X5[:2], kind="odd"),
        ValueError,
        "has too few rows, 2: kind='odd' asks about 3",
    ),
    "kind": (
        lambda: questions(None, X5, kind="pairs"),
        ValueError,
        "choose one of 'pair', 'triplet', 'odd'",
    ),
    "n": (lambda: questions(None, X5, n=0), ValueError, "`n` must be a whole number of at least 1"),
    "other": (
        lambda: questions(None, X5, Triplets([[0, 1, 2]], n_points=5)),
        TypeError,
        "`known` is Triplets, but what is known for kind='pair' is Pairs",
    ),
    "bounds": (
        lambda: questions(None, X5, Bounds([0], [1], upper=1.0, n_points=5), kind="odd"),
        TypeError,
        "`known` is Bounds, but what is known for kind='odd' is Triplets",
    ),
    "points": (lambda: questions(None, X5, Pairs([[0, 1]], n_points=6)), ValueError, "6"),
    "stored": (
        lambda: questions(None, X5, StoredPairs.of(Pairs([[0, 1]], n_points=5))),
        TypeError,
        "`known` is StoredPairs",
    ),
    "factor": (
        lambda: questions(MetricLearner(), None),
        ValueError,
        "`X` is None, and MetricLearner has no `factor_`",
    ),
    "asked": (lambda: questions(None, X5, asked=[[0, 5]]), ValueError, "`asked` refers to row 5"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_what_cannot_be_asked_is_said(name):
    ask, error, words = SENTENCES[name]
    with pytest.raises(error, match=words.replace("(", r"\(")):
        ask()


@pytest.mark.parametrize("kind", KINDS)
def test_the_judge_of_the_benchmark_is_right_unless_it_shall_not_be(kind):
    X, y = points(60), np.arange(60) % 3
    judge = Judge.of(kind, X, y, 0.0, 0)
    judge.hidden = np.eye(D, 2)
    rows = judge.draw(400, np.empty((0, judge.width), dtype=int))
    assert len(in_order(kind, rows)) == 400
    said = judge.answer(rows)
    if kind == "pair":
        np.testing.assert_array_equal(said == 1, y[rows[:, 0]] == y[rows[:, 1]])
    else:
        ours, theirs = (
            np.asarray(side.triplets) for side in (answer(kind, X, rows), judge.side(rows, said))
        )
        assert {tuple(row) for row in ours} == {tuple(row) for row in theirs}
    judge.wrong = 0.5
    assert 0.4 < np.mean(judge.answer(rows) != said) < 0.6


def test_chosen_questions_teach_what_people_look_at():
    """Of six features two matter, and the others are three times as loud."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = 3.0 * rng.normal(size=(150, 6))
    X[:, :2] = rng.normal(size=(150, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    judge = Judge.of("pair", X[:100], y[:100], 0.0, 0)
    score = judge.scored_by(X[100:], y[100:])
    models = ask_chosen(judge, 1.0)
    learned = [score(next(models)) for _ in range(6)][-1]
    assert learned > score(None) + 0.2
