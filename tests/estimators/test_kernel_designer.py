"""KernelDesigner: a kernel by comparisons, from points, labels or clicks, or from matrices."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import KernelDesigner, Pairs, Triplets
from gramlearn.estimators import kernel_designer
from gramlearn.evaluation import TripletScorer
from gramlearn.kernels import GaussianKernel, LaplacianKernel, LinearKernel, PolynomialKernel

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]
RNG = np.random.default_rng(0)


@parametrize_with_checks(
    [
        KernelDesigner(sparsity=0.01, n_triplets=60, random_state=0),
        KernelDesigner(weak=True, sparsity=0.01, n_triplets=60, random_state=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


FAMILY = [GaussianKernel(0.05), LaplacianKernel(0.1), LinearKernel(), PolynomialKernel(2, 0.1)]
SIDE = Triplets.from_labels(Y, 300, random_state=0)


def least(K):
    return np.linalg.eigvalsh((K + K.T) / 2)[0] / np.abs(K).max()


def inner(A, B):
    return A @ B.T


# -- what is learned ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize(
    "kernels", [None, FAMILY, "sigmoid", inner], ids=["default", "list", "name", "function"]
)
def test_the_kernel_is_the_weighted_sum_and_psd_on_S(kernels, weak):
    model = KernelDesigner(kernels, weak=weak, sparsity=0.1, trace_price=1e-5).fit(X, side=SIDE)
    assert model.weights_.any()
    S = X[model.psd_points_]
    plain = sum(w * k(S, S) for w, k in zip(model.weights_, model.kernels_, strict=True))
    K = model.kernel_matrix(S, S)
    np.testing.assert_allclose(K, plain + model.identity_weight_ * np.eye(len(S)), atol=1e-9)
    assert least(K) >= -1e-12
    assert model.smallest_eigenvalue_ == pytest.approx(np.linalg.eigvalsh(K)[0], abs=1e-8)
    off = np.abs(K).sum(axis=1) - np.diagonal(K)
    assert (np.diagonal(K) - off).min() >= -1e-9 * K.max()
    assert model.score(X, side=SIDE) == pytest.approx(np.mean(_differences(model, X) > 0))


def _differences(model, points):
    i, j, k = np.asarray(SIDE.triplets).T
    similar = sum(
        w * f(points, points) for w, f in zip(model.weights_, model.kernels_, strict=True)
    )
    return similar[i, j] - similar[i, k]


def test_the_learned_comparisons_hold_for_new_points():
    train, test = slice(0, None, 2), slice(1, None, 2)
    for weak in (False, True):
        model = KernelDesigner(weak=weak, n_triplets=1000, random_state=0).fit(X[train], Y[train])
        assert model.score(X[test], Y[test]) > 0.85
        assert model.score(X[test], Y[test]) == TripletScorer()(model, X[test], Y[test])


def test_matrices_give_what_their_functions_give():
    matrices = [kernel(X, X) for kernel in FAMILY]
    model = KernelDesigner(FAMILY).fit(X, side=SIDE)
    for given in (matrices, np.stack(matrices, axis=-1)):
        same = KernelDesigner("precomputed").fit(given, side=SIDE)
        np.testing.assert_allclose(same.weights_, model.weights_, rtol=1e-6)
        np.testing.assert_allclose(
            same.kernel_matrix(given), model.kernel_matrix(X), rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(same.transform(given) ** 2, model.transform(X) ** 2, atol=1e-5)
    new = RNG.standard_normal((3, X.shape[1]))
    values = [kernel(new, X) for kernel in FAMILY]
    np.testing.assert_allclose(
        same.kernel_matrix(values), model.kernel_matrix(new), rtol=1e-6, atol=1e-6
    )


def test_clicks_are_comparisons():
    clicks = np.asarray(SIDE.triplets)
    repeated = Triplets.from_clicks(np.vstack([clicks, clicks[:50]]), len(X))
    model = KernelDesigner(FAMILY).fit(X, side=repeated)
    # The program has each of them as often as it was given.
    by_hand = Triplets(np.vstack([clicks, clicks[:50]]), n_points=len(X))
    assert model.solution_.value == pytest.approx(
        KernelDesigner(FAMILY).fit(X, side=by_hand).solution_.value, rel=1e-6
    )


def test_opposite_comparisons_are_counted_by_weight():
    table = np.asarray(SIDE.triplets)
    both = np.vstack([table, table[:20, [0, 2, 1]]])
    model = KernelDesigner(FAMILY).fit(X, side=Triplets(both, n_points=len(X)))
    assert model.n_contradictions_ == 40
    assert KernelDesigner(FAMILY).fit(X, side=SIDE).n_contradictions_ == 0
    # Of two opposite ones at least one margin of 1 each is missed: 2 in all.
    assert model.solution_.value >= 40


# -- weak kernels -------------------------------------------------------------------------------------------


def test_only_selected_features_are_read():
    model = KernelDesigner(weak=True, sparsity=100.0, random_state=0).fit(X, side=SIDE)
    chosen = model.selected_features_
    assert 0 < chosen.size < X.shape[1]
    used = {kernel.feature for kernel, w in zip(model.kernels_, model.weights_, strict=True) if w}
    assert used == set(chosen.tolist())
    missing = np.full_like(X, np.nan)
    missing[:, chosen] = X[:, chosen]
    np.testing.assert_array_equal(model.kernel_matrix(missing), model.kernel_matrix(X))
    np.testing.assert_array_equal(model.transform(missing), model.transform(X))
    np.testing.assert_array_equal(
        model.pair_score((missing[:5], missing[5:10])), model.pair_score((X[:5], X[5:10]))
    )
    assert model.score(missing, side=SIDE) == model.score(X, side=SIDE)
    missing[0, chosen[0]] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.kernel_matrix(missing)


def test_importances_are_shares_of_the_selected_features():
    model = KernelDesigner(weak=True, sparsity=100.0).fit(X, side=SIDE)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    np.testing.assert_array_equal(np.flatnonzero(importances), model.selected_features_)
    with pytest.raises(AttributeError, match="weak=True"):
        _ = KernelDesigner().fit(X, side=SIDE).feature_importances_


def test_the_relevant_feature_is_found_among_noise():
    rng = np.random.default_rng(1)
    points, y = rng.standard_normal((60, 8)), np.arange(60) % 2
    points[:, 3] += 6 * y
    model = KernelDesigner(weak=True, sparsity=100.0, n_triplets=500, random_state=0).fit(points, y)
    assert model.selected_features_.tolist() == [3]


def test_points_equal_in_the_selected_features_are_one_point():
    # A kernel is a function of what it reads: two such points have the same row, and K stays PSD.
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, size=(40, 3)).astype(float)
    y = (points[:, 0] > 0).astype(int)
    model = KernelDesigner(weak=True, sparsity=20.0, n_triplets=400, random_state=0).fit(points, y)
    assert model.selected_features_.size < 3
    K = model.kernel_matrix(points, points)
    assert least(K) >= -1e-12
    assert len(model.psd_points_) == len(np.unique(points[:, model.selected_features_], axis=0))


# -- S, and other points ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("psd_points", "size"),
    [("triplets", len(X)), ("all", len(X)), (20, 20), (np.arange(7), 7), ([3, 5, 3], 2)],
)
def test_S_has_the_requested_points(psd_points, size):
    model = KernelDesigner(psd_points=psd_points, random_state=0).fit(X, side=SIDE)
    assert len(model.psd_points_) == size
    S = X[model.psd_points_]
    assert least(model.kernel_matrix(S, S)) >= -1e-12
    assert f"dominant on {size} points" in repr(model.solution_)


def test_outside_S_an_indefinite_kernel_is_shifted_and_the_shift_reported():
    options = {
        "kernels": "sigmoid",
        "sparsity": 0.0,
        "trace_price": 1e-4,
        "psd_points": 4,
        "random_state": 0,
    }
    plain = KernelDesigner(**options).fit(X, side=SIDE)
    K = plain.kernel_matrix(X, X)
    assert least(K) < -1e-3
    assert plain.shift_ == 0
    mended = KernelDesigner(mend="shift", **options).fit(X, side=SIDE)
    assert mended.shift_ == pytest.approx(-np.linalg.eigvalsh(K)[0])
    assert mended.identity_weight_ == pytest.approx(plain.identity_weight_ + mended.shift_)
    assert least(mended.kernel_matrix(X, X)) >= -1e-12
    by_hand, shift = plain.mended_kernel(X)
    assert shift == pytest.approx(mended.shift_)
    np.testing.assert_allclose(by_hand, mended.kernel_matrix(X, X))
    twice = np.vstack([X, X])
    assert least(plain.mended_kernel(twice)[0]) >= -1e-12


def test_nonnegative_weights_make_the_kernel_psd_everywhere():
    options = {"kernels": FAMILY, "sparsity": 0.0, "psd_points": 4, "random_state": 0}
    free = KernelDesigner(**options).fit(X, side=SIDE)
    assert free.weights_.min() < 0
    mended = KernelDesigner(mend="nonnegative", **options).fit(X, side=SIDE)
    assert mended.weights_.min() >= 0
    assert mended.solution_.value >= free.solution_.value
    new = np.vstack([X, 3 * RNG.standard_normal((50, X.shape[1]))])
    assert least(mended.kernel_matrix(new, new)) >= -1e-12


def test_equal_points_in_S_are_one():
    twice, side = np.vstack([X, X]), Triplets(SIDE.triplets, n_points=2 * len(X))
    model = KernelDesigner(psd_points="all").fit(twice, side=side)
    assert model.psd_points_.tolist() == list(range(len(X)))
    same = KernelDesigner(psd_points="all").fit(X, side=SIDE)
    assert model.solution_.value == pytest.approx(same.solution_.value, rel=1e-6)
    assert least(model.kernel_matrix(twice, twice)) >= -1e-12


# -- coordinates, searches, paths ---------------------------------------------------------------------------


@pytest.mark.parametrize("weak", [False, True])
def test_coordinates_have_the_kernel_as_inner_products_with_points_of_S(weak):
    model = KernelDesigner(weak=weak).fit(X, side=SIDE)
    new = RNG.standard_normal((5, X.shape[1]))
    of_all, of_new = model.transform(X), model.transform(new)
    np.testing.assert_allclose(of_all @ of_all.T, model.kernel_matrix(X, X), rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(of_new @ of_all.T, model.kernel_matrix(new), rtol=1e-8, atol=1e-6)
    few = clone(model).set_params(n_components=3).fit(X, side=SIDE).transform(X)
    np.testing.assert_allclose(few**2, of_all[:, :3] ** 2, atol=1e-6)
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_the_kernel_works_in_support_vectors_and_survives_a_pickle():
    model = KernelDesigner(FAMILY).fit(X, side=SIDE)
    machine = SVC(kernel="precomputed").fit(model.kernel_matrix(X), Y)
    assert machine.score(model.kernel_matrix(X), Y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(
        again.kernel_matrix(X), model.kernel_matrix(X), rtol=1e-12, atol=1e-12
    )


def test_a_search_finds_prices_by_comparisons():
    prices = {"sparsity": [0.1, 1e9], "trace_price": [1e-5, 1e-3]}
    model = KernelDesigner(weak=True, n_triplets=200, random_state=0)
    folds = StratifiedKFold(2)
    with pytest.warns(UserWarning, match="all weights are zero"):
        search = GridSearchCV(model, prices, scoring=TripletScorer(), cv=folds).fit(X, Y)
    assert search.best_params_["sparsity"] == 0.1
    assert search.best_score_ > 0.8
    with pytest.warns(UserWarning, match="all weights are zero"):
        by_default = GridSearchCV(model, prices, cv=folds).fit(X, Y)
    assert by_default.best_score_ == search.best_score_


@pytest.mark.parametrize("weak", [False, True])
def test_a_path_has_the_designs_of_its_prices(weak):
    model = KernelDesigner(weak=weak)
    path = model.path(X, side=SIDE, sparsity=[0.1, 100.0, 10.0])
    assert not hasattr(model, "weights_")
    assert path.sparsity.tolist() == [100.0, 10.0, 0.1]
    for sparsity, design in zip(path.sparsity, path.designs, strict=True):
        alone = clone(model).set_params(sparsity=sparsity).fit(X, side=SIDE)
        assert design.value == pytest.approx(alone.solution_.value, rel=1e-5)
    features = [set(np.flatnonzero(row)) for row in path.weights]
    assert path.n_kernels.tolist() == [len(chosen) for chosen in features]
    assert path.kept[-1] == pytest.approx(
        clone(model).set_params(sparsity=0.1).fit(X, side=SIDE).score(X, side=SIDE)
    )


def test_along_a_path_the_priced_part_falls_and_the_rest_does_not():
    # Of sum eps + trace_price tr K + sparsity P the optimal P does not grow with sparsity,
    # and the rest does not fall.
    path = KernelDesigner(weak=True).path(X, side=SIDE)
    assert len(path.designs) == 25
    assert path.n_features[0] == 0
    assert path.n_features[-1] > 5
    features = np.unique(path.features)
    price = sum(np.abs(path.weights[:, path.features == f]).max(axis=1) for f in features)
    rest = np.asarray([design.value for design in path.designs]) - path.sparsity * price
    assert (np.diff(price) >= -1e-4 * price.max()).all()
    assert (np.diff(rest) <= 1e-4 * rest.max()).all()


# -- bad input ----------------------------------------------------------------------------------------------


def test_kernels_that_separate_nothing_are_reported():
    def constant(A, B):
        return np.ones((len(A), len(B)))

    with pytest.warns(UserWarning, match="all weights are zero: no kernel tells the points"):
        model = KernelDesigner(constant).fit(X, side=SIDE)
    assert not model.weights_.any()
    assert not model.kernel_matrix(X).any()
    assert model.score(X, side=SIDE) == 0
    assert not model.transform(X).any()


def not_a_number(A, B):
    return np.full((len(A), len(B)), np.nan)


def one_row(A, B):
    return np.ones(len(B))


def lopsided(A, B):
    return A[:, :1] - 2 * B[:, 0]


@pytest.mark.parametrize(
    ("options", "given", "sentence"),
    [
        ({"kernels": not_a_number}, {}, "the kernel function `not_a_number` gave NaN or infinity"),
        ({"kernels": one_row}, {}, "gave an array of shape .* it must give one number for each two"),
        ({"kernels": lopsided}, {}, "lopsided"),
        ({"kernels": PolynomialKernel(400, 1e3)}, {}, "polynomial.* gave NaN or infinity"),
        ({"kernels": "rbv"}, {}, "`kernels` contains 'rbv', which is no kernel"),
        ({"kernels": [np.eye(len(X))]}, {}, "Matrices are passed as X"),
        ({"kernels": []}, {}, "`kernels` must list base kernels"),
        ({"kernels": 3}, {}, "`kernels` must list base kernels"),
        ({"sparsity": -1.0}, {}, "`sparsity` must be a finite number of at least 0"),
        ({"trace_price": np.nan}, {}, "`trace_price` must be a finite number of at least 0"),
        ({"mend": "please"}, {}, "`mend='please'` is not known"),
        ({"mend": "nonnegative", "kernels": "sigmoid"}, {}, "sigmoid.* is not known to be"),
        ({"psd_points": "some"}, {}, "`psd_points='some'` is not known"),
        ({"psd_points": 0}, {}, "`psd_points`"),
        ({"psd_points": []}, {}, "`psd_points` is empty"),
        ({"psd_points": [len(X)]}, {}, "`psd_points` refers to row"),
        ({"n_components": 0}, {}, "`n_components`"),
        ({"kernels": "precomputed", "weak": True}, {}, "`weak=True` takes kernels of one feature each"),
        ({}, {"side": Pairs([(0, 1)], [(0, 2)], n_points=len(X))}, "`side` must be Triplets"),
        ({}, {"side": Triplets([(0, 1, 2)], n_points=5)}, "made for 5 points"),
        ({}, {"side": [(0, 1, 2)]}, "`side` must be Triplets.*got list"),
        ({}, {}, "requires y to be passed"),
        ({}, {"y": Y[:-1]}, "`y` has"),
        ({}, {"y": np.zeros(len(X))}, "one class only"),
    ],
)  # fmt: skip
def test_bad_input_raises_a_clear_error(options, given, sentence):
    if not given and sentence != "requires y to be passed":
        given = {"side": SIDE}
    with pytest.raises((ValueError, TypeError), match=sentence):
        KernelDesigner(**options).fit(X, **given)


def test_an_S_that_is_too_large_is_refused_with_advice():
    points = np.arange(10_002.0)[:, None]
    side = Triplets([(0, 1, 2)], n_points=len(points))
    with pytest.raises(ValueError, match=r"10002 points.*pass psd_points=1000.*on these only"):
        KernelDesigner(psd_points="all").fit(points, side=side)


@pytest.mark.parametrize("triplet", [(0, 0, 1), (0, 1, 1), (1, 0, 1)])
def test_a_triplet_has_three_points(triplet):
    with pytest.raises(ValueError, match="three different points"):
        Triplets([triplet], n_points=len(X))


@pytest.mark.parametrize(
    ("matrices", "sentence"),
    [
        ([np.eye(5), np.eye(6)], r"kernels of different sizes, such as \(5, 5\) and \(6, 6\)"),
        ([np.ones((5, 4))], "whose first two numbers differ"),
        ([np.eye(5), np.triu(np.ones((5, 5)))], r"`X\[:, :, 1\]` is not symmetric"),
        ([np.eye(5), np.full((5, 5), np.nan)], "contains NaN"),
        (np.ones((5, 5, 1, 1)), "pass a list of kernel matrices"),
    ],
)
def test_matrices_must_be_kernels_of_the_same_points(matrices, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelDesigner("precomputed").fit(matrices, side=Triplets([(0, 1, 2)], n_points=5))


def test_matrices_cannot_compare_two_new_points():
    K = GaussianKernel(0.05)(X, X)
    model = KernelDesigner("precomputed").fit([K], side=SIDE)
    for ask in (
        lambda: model.kernel_matrix([K], [K]),
        lambda: model.pair_score(([K], [K])),
        lambda: model.mended_kernel([K]),
    ):
        with pytest.raises(ValueError, match="nothing about two new points"):
            ask()
    with pytest.raises(ValueError, match="values of 2 kernels with 89 points; the training had 1"):
        model.kernel_matrix([K, K])


def test_non_convergence_warns_with_the_gap():
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = KernelDesigner(weak=True, trace_price=1e-2, max_iter=1).fit(X, side=SIDE)
    assert model.solution_.relative_gap > 1e-6
    assert model.smallest_eigenvalue_ >= -1e-9
    assert np.isfinite(model.kernel_matrix(X)).all()


def test_inputs_are_not_modified():
    points, labels = load_iris(return_X_y=True)
    before = points.copy()
    KernelDesigner(n_triplets=100, random_state=0).fit(points, labels)
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize(
    ("prices", "sentence"),
    [
        ({"sparsity": 1e6}, "from `sparsity=.*` on nothing else"),
        ({"trace_price": 10.0}, "lower `trace_price`"),
    ],
)
def test_where_all_weights_are_zero_the_warning_names_the_price_to_lower(prices, sentence):
    with pytest.warns(UserWarning, match=sentence):
        KernelDesigner(FAMILY, **prices).fit(X, side=SIDE)


# -- without the identity -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weak", [False, True])
def test_without_the_identity_the_kernel_is_the_similarity(weak):
    whole = KernelDesigner(weak=weak).fit(X, side=SIDE)
    model = KernelDesigner(weak=weak, identity=False).fit(X, side=SIDE)
    beta = whole.identity_weight_
    np.testing.assert_allclose(
        model.kernel_matrix(X), whole.kernel_matrix(X) - beta * np.eye(len(X)), atol=1e-9
    )
    assert model.identity_weight_ == 0
    # The certificate is of K with the identity, which is what was designed.
    assert model.smallest_eigenvalue_ == pytest.approx(whole.smallest_eigenvalue_)
    s, V = np.linalg.eigh(model.kernel_matrix(X))
    positive = (V * np.maximum(s, 0)) @ V.T
    of_all = model.transform(X)
    np.testing.assert_allclose(of_all @ of_all.T, positive, atol=1e-6)


def test_without_the_identity_nonnegative_weights_make_a_kernel_for_other_learners():
    train, test = slice(0, None, 2), slice(1, None, 2)
    model = KernelDesigner(identity=False, mend="nonnegative", random_state=0)
    model.fit(X[train], Y[train])
    assert least(model.kernel_matrix(X, X)) >= -1e-12
    machine = SVC(kernel="precomputed").fit(model.kernel_matrix(X[train]), Y[train])
    assert machine.score(model.kernel_matrix(X[test]), Y[test]) > 0.9


def test_the_default_trace_price_depends_on_points_and_comparisons():
    model = KernelDesigner(FAMILY).fit(X, side=SIDE)
    assert model.solution_.trace_price == pytest.approx(0.01 * SIDE.size / len(X) ** 2)
    few = KernelDesigner(FAMILY, psd_points=10, random_state=0).fit(X, side=SIDE)
    assert few.solution_.trace_price == pytest.approx(0.01 * SIDE.size / 100)


# -- what is the same point ---------------------------------------------------------------------------------


def test_a_point_is_recognized_in_single_precision_and_in_another_batch():
    model = KernelDesigner(FAMILY).fit(X, side=SIDE)
    single = X.astype(np.float32)
    np.testing.assert_allclose(
        model.kernel_matrix(single), model.kernel_matrix(X), rtol=1e-4, atol=1e-3
    )
    np.testing.assert_allclose(model.transform(single), model.transform(X), atol=1e-2)
    np.testing.assert_allclose(
        model.kernel_matrix(X[:1]), model.kernel_matrix(X)[:1], rtol=1e-9, atol=1e-9
    )
    matrices = [kernel(X, X) for kernel in FAMILY]
    given = KernelDesigner("precomputed").fit(matrices, side=SIDE)
    one = [kernel(X[:1], X) for kernel in FAMILY]
    np.testing.assert_allclose(
        given.kernel_matrix(one), given.kernel_matrix(matrices)[:1], rtol=1e-9, atol=1e-9
    )


def test_parts_that_cancel_are_measured_by_their_size():
    # beta = -1 takes the diagonal of a narrow kernel away, and what is left of it is rounding.
    points = np.asarray([[0.0], [0.0], [1.0], [2.0]])
    side = Triplets([(0, 1, 2)], n_points=4)
    model = KernelDesigner([GaussianKernel(50.0)], sparsity=0.1, trace_price=1e-5).fit(
        points, side=side
    )
    assert model.score(points, side=side) == 1


def test_a_kernel_that_is_not_dominant_is_a_bug_and_raises(monkeypatch):
    monkeypatch.setattr(kernel_designer, "least_dominance", lambda K: -1e-3 * np.abs(K).max())
    with pytest.raises(RuntimeError, match="not diagonally dominant"):
        KernelDesigner(FAMILY).fit(X, side=SIDE)


# -- scores and paths, once more ----------------------------------------------------------------------------


def test_precomputed_kernels_are_scored_on_the_points_they_are_of():
    matrices = [kernel(X, X) for kernel in FAMILY]
    model, same = KernelDesigner(FAMILY).fit(X, side=SIDE), KernelDesigner("precomputed")
    same.fit(matrices, side=SIDE)
    assert same.score(matrices, side=SIDE) == pytest.approx(model.score(X, side=SIDE), abs=0.01)
    assert same.score(matrices, Y) == pytest.approx(model.score(X, Y), abs=0.01)
    with pytest.raises(ValueError, match="nothing about two new points"):
        same.score([K[:5] for K in matrices], side=Triplets([(0, 1, 2)], n_points=5))


def test_weights_of_comparisons_count_in_scores_and_paths():
    side = Triplets(
        SIDE.triplets, n_points=len(X), weight=np.where(np.arange(SIDE.size) < 30, 50.0, 0.1)
    )
    model = KernelDesigner(sparsity=1.0).fit(X, side=side)
    path = model.path(X, side=side, sparsity=[1.0])
    assert path.kept[0] == pytest.approx(model.score(X, side=side))
    assert model.score(X, side=side) != pytest.approx(model.score(X, side=SIDE), abs=1e-3)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda model: model.score(X), "requires y to be passed"),
        (lambda model: model.score(X, side=Pairs([(0, 1)], [(0, 2)], n_points=len(X))), "`side` must be"),
        (lambda model: model.path(X, side=SIDE, sparsity=[]), "`sparsity` is empty"),
        (lambda model: clone(model).set_params(tol=-1.0).path(X, side=SIDE), "KernelDesigner"),
        (lambda model: model.pair_score((X[:, :3], X[:, :3])), "13 were learned from"),
        (lambda model: clone(model).set_params(kernels=[GaussianKernel]).fit(X, Y), "is the class Gaussian"),
        (lambda model: clone(model).set_params(kernels=(k for k in FAMILY)).fit(X, Y), "must list"),
        (lambda model: clone(model).set_params(kernels=None).fit(1e160 * X, Y), "X in other units"),
        (lambda model: PolynomialKernel(2, 1.0, "a"), "`coef0` must be a finite number"),
    ],
)  # fmt: skip
def test_other_mistakes_raise_a_clear_error(ask, sentence):
    model = KernelDesigner(FAMILY).fit(X, side=SIDE)
    with pytest.raises((ValueError, TypeError), match=sentence):
        ask(model)
