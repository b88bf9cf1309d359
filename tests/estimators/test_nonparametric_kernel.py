"""The kernel of given points: what it learns, where new points go, and which pairs are worth asking for."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.metrics import rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import KernelKMeans, NonparametricKernel, Pairs, Triplets
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.graphs.out_of_sample import extend_along_graph, join_new_points
from gramlearn.methods import solve_nonparametric
from gramlearn.side_information import pairs_to_ask, select_pairs
from gramlearn.side_information.active import margins, unit_rows

X, Y = make_moons(60, noise=0.05, random_state=0)
PAIRS = Pairs.from_labels(Y, 40, random_state=0)
LOSSES = ["linear", "squared_hinge", "hinge", "square"]


@parametrize_with_checks([NonparametricKernel(n_pairs=30, random_state=0)])
def test_scikit_learn(estimator, check) -> None:
    check(estimator)


# -- what is learned ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_the_kernel_is_that_of_the_problem(loss) -> None:
    model = NonparametricKernel(loss, capacity=9.0, C=0.5).fit(X, side=PAIRS)
    L = laplacian(neighbor_graph(X, 5))
    answer = solve_nonparametric(L, PAIRS, loss=loss, capacity=9.0, C=0.5)
    K = answer.factor @ answer.factor.T
    np.testing.assert_allclose(model.factor_ @ model.factor_.T, K, atol=1e-9)
    np.testing.assert_allclose(model.kernel_entries(np.arange(60)), K, atol=1e-9)
    assert model.kernel_entries(3, 7) == pytest.approx(K[3, 7])
    np.testing.assert_allclose(model.kernel_entries([3, 4], [7, 8]), K[[3, 4], [7, 8]], atol=1e-9)
    assert model.solution_.relative_gap <= 1e-6
    np.testing.assert_allclose(
        model.eigenvalues_, np.linalg.eigvalsh(K)[::-1][: model.factor_.shape[1]], atol=1e-9
    )
    np.testing.assert_allclose(
        model.factor_.T @ model.factor_, np.diag(model.eigenvalues_), atol=1e-9
    )


def test_pairs_and_neighbors_find_two_moons_where_distances_do_not() -> None:
    clusters = NonparametricKernel(n_clusters=2, random_state=0).fit_predict(X, side=PAIRS)
    assert rand_score(Y, clusters) == 1.0


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("loss", ["linear", "squared_hinge"])
def test_clusters_of_real_data_follow_the_pairs(load, loss) -> None:
    """Points without pairs are carried along by their neighbors: more agree with the classes than before."""
    points, classes = load(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    pairs = Pairs.from_labels(classes, 120, random_state=0)
    model = NonparametricKernel(loss, capacity=1.0, n_clusters=3, random_state=0)
    before = KernelKMeans(3, random_state=0).fit_predict(points)
    found = model.fit_predict(points, side=pairs)
    assert rand_score(classes, found) > max(0.9, rand_score(classes, before))


def test_a_graph_that_outweighs_the_pairs_gives_a_zero_kernel() -> None:
    model = NonparametricKernel(C=1e-3, n_neighbors=30)
    with pytest.warns(UserWarning, match="the kernel is zero"):
        model.fit(X, side=Pairs(dissimilar=[[0, 1]], n_points=60))
    assert not model.embedding_.any()


def test_new_points_go_to_the_clusters_of_their_neighbors() -> None:
    model = NonparametricKernel(n_clusters=2, random_state=0).fit(X, side=PAIRS)
    assert rand_score(Y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, truth = make_moons(100, noise=0.05, random_state=1)
    assert rand_score(truth, model.predict(new)) > 0.95
    assert not hasattr(NonparametricKernel().fit(X, side=PAIRS), "predict")


def test_a_search_over_C_by_clusters_of_held_out_points() -> None:
    search = GridSearchCV(
        NonparametricKernel(n_clusters=2, n_pairs=40, random_state=0),
        {"C": [0.5, 2.0]},
        scoring="rand_score",
    ).fit(X, Y)
    assert search.best_score_ > 0.9


def test_unlabeled_points_are_not_a_class() -> None:
    half = np.where(np.arange(60) % 2, Y, -1)
    with pytest.warns(UserWarning, match="-1 means unlabeled: 30 of 60 points"):
        found = NonparametricKernel(random_state=0).fit_predict(X, half)
    assert set(found) == {0, 1}
    assert rand_score(Y, found) > 0.9


def test_the_number_of_clusters_is_that_of_the_labels() -> None:
    found = NonparametricKernel(random_state=0).fit_predict(X, Y)
    assert rand_score(Y, found) == 1.0


def test_the_most_similar_come_first() -> None:
    model = NonparametricKernel("squared_hinge").fit(X, side=PAIRS)
    rows, values = model.similar_to(5, 8)
    K = model.factor_ @ model.factor_.T
    others = np.delete(np.arange(60), 5)
    assert rows.tolist() == others[np.argsort(-K[5, others], kind="stable")][:8].tolist()
    np.testing.assert_allclose(values, K[5, rows], atol=1e-12)
    assert np.mean(Y[rows] == Y[5]) == 1.0
    many, _ = model.similar_to([5, 9], 8)
    assert many.shape == (2, 8)
    assert many[0].tolist() == rows.tolist()
    assert model.similar_to(0, 1000)[0].shape == (59,)


@pytest.mark.parametrize("given", ["neighbors", "precomputed"])
def test_a_graph_may_be_given(given) -> None:
    graph = neighbor_graph(X, 5)
    model = NonparametricKernel(graph=given)
    fitted = model.fit(X if given == "neighbors" else graph, side=PAIRS)
    expected = solve_nonparametric(laplacian(graph), PAIRS, loss="linear").factor
    np.testing.assert_allclose(fitted.factor_ @ fitted.factor_.T, expected @ expected.T, atol=1e-9)


def test_ranks_and_components() -> None:
    model = NonparametricKernel("squared_hinge", rank=4, n_components=2)
    model.fit(X, side=PAIRS)
    assert model.factor_.shape[1] <= 4
    np.testing.assert_array_equal(model.embedding_, model.factor_[:, :2])
    assert model.transform(X).shape == (60, 2)


# -- new points --------------------------------------------------------------------------------------


def test_new_points_follow_the_nystroem_formula_on_the_kernel_of_the_graph() -> None:
    """k(x, .) k^-1 F for k = (L + eps I)^-1 over the old points and the new one."""
    graph = neighbor_graph(X, 5, weights="heat")
    F = np.random.default_rng(0).standard_normal((60, 3))
    new = X[7] + 0.03
    A, same = join_new_points(X, new[None], 5, "heat", 0.2)
    whole = np.zeros((61, 61))
    whole[:60, :60] = graph.toarray()
    whole[60, :60] = whole[:60, 60] = A.toarray()[0]
    # The degrees of the old points count the new one only towards it, as the formula has it.
    eps = 1e-7
    k = np.linalg.inv(laplacian(csr_array(whole)).toarray() + eps * np.eye(61))
    expected = k[60, :60] @ np.linalg.inv(k[:60, :60]) @ F
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    np.testing.assert_allclose(extend_along_graph(A, same, degrees, F)[0], expected, rtol=1e-5)


def test_points_that_are_known_keep_their_place() -> None:
    model = NonparametricKernel().fit(X, side=PAIRS)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    twice = NonparametricKernel().fit(
        np.vstack([X, X[:1]]), side=Pairs.from_labels(np.append(Y, Y[0]), 40, random_state=0)
    )
    mean = (twice.embedding_[0] + twice.embedding_[60]) / 2
    np.testing.assert_allclose(twice.transform(X[:1])[0], mean, atol=1e-12)


def test_new_points_land_among_their_class() -> None:
    points, classes = make_moons(300, noise=0.05, random_state=1)
    old, new = slice(0, 200), slice(200, 300)
    model = NonparametricKernel("squared_hinge", capacity=200.0).fit(
        points[old], side=Pairs.from_labels(classes[old], 100, random_state=0)
    )
    nearest = np.argmax(model.transform(points[new]) @ model.embedding_.T, axis=1)
    assert np.mean(classes[old][nearest] == classes[new]) > 0.97


def test_new_points_of_a_graph_come_as_weights() -> None:
    graph = neighbor_graph(X, 5)
    model = NonparametricKernel(graph="precomputed").fit(graph, side=PAIRS)
    weights = np.zeros((1, 60))
    weights[0, [4, 8]] = 1.0
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    expected = sum(model.embedding_[j] / np.sqrt(2 * (degrees[j] + 1)) for j in (4, 8))
    np.testing.assert_allclose(model.transform(weights)[0], expected)


# -- which pairs -------------------------------------------------------------------------------------


def test_margins_are_those_of_the_paper() -> None:
    F = np.random.default_rng(0).standard_normal((60, 3))
    T, K = np.zeros((60, 60)), F @ F.T
    for table, sign in ((PAIRS.similar, 1), (PAIRS.dissimilar, -1)):
        for i, j in np.asarray(table):
            T[i, j] = T[j, i] = sign
    counts = np.abs(T).sum(axis=1)
    expected = np.abs((T * K).sum(axis=1)) / np.maximum(counts, 1)
    found, of_each = margins(PAIRS, F)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(of_each, counts)


@pytest.mark.parametrize("count", [1, 7, 25, 40, 1000])
def test_the_pairs_of_uncertain_points_are_kept(count) -> None:
    F = np.random.default_rng(0).standard_normal((60, 3))
    kept = select_pairs(PAIRS, F, count)
    assert kept.size == min(count, PAIRS.size)
    every = {tuple(pair) for pair in np.vstack([PAIRS.similar, PAIRS.dissimilar]).tolist()}
    chosen = {tuple(pair) for pair in np.vstack([kept.similar, kept.dissimilar]).tolist()}
    assert chosen <= every
    margin, counts = margins(PAIRS, F)
    order = [i for i in np.argsort(margin, kind="stable") if counts[i]]
    # A pair that is left out belongs to no point before the last that has a pair taken.
    turn = {i: k for k, i in enumerate(order)}
    first = {pair: min(turn[end] for end in pair) for pair in every}
    assert max(first[pair] for pair in chosen) <= min(
        (first[pair] for pair in every - chosen), default=len(order)
    )


def test_open_pairs_are_asked_and_none_twice() -> None:
    model = NonparametricKernel("squared_hinge").fit(X, side=PAIRS)
    asked = model.ask(12)
    assert asked.shape == (12, 2)
    assert len(np.unique(asked)) == 24
    known = {tuple(sorted(p)) for p in np.vstack([PAIRS.similar, PAIRS.dissimilar]).tolist()}
    assert not known & {tuple(sorted(pair)) for pair in asked.tolist()}
    K = model.factor_ @ model.factor_.T
    cosine = np.abs(K) / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    openness = cosine[asked[:, 0], asked[:, 1]]
    assert (np.diff(openness) >= -1e-9).all()
    assert openness.max() < np.median(cosine)
    assert pairs_to_ask(model.factor_, 100).shape == (30, 2)


def test_asking_teaches_as_much_as_pairs_drawn_at_random_and_more_on_wine() -> None:
    points, classes = load_wine(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    scores = {True: [], False: []}
    for active in scores:
        for seed in range(4):
            rng = np.random.default_rng(seed)
            asked = pairs_to_ask(np.ones((178, 1)), 22, random_state=rng)
            for _ in range(4):
                same = classes[asked[:, 0]] == classes[asked[:, 1]]
                pairs = Pairs(asked[same], asked[~same], n_points=178)
                model = NonparametricKernel(
                    "squared_hinge", capacity=178.0, n_clusters=3, tol=1e-3, random_state=0
                )
                clusters = model.fit_predict(points, side=pairs)
                factor = model.factor_ if active else np.ones((178, 1))
                more = pairs_to_ask(factor, 22, known=pairs, random_state=rng)
                asked = np.vstack([asked, more])
            scores[active].append(rand_score(classes, clusters))
    assert np.mean(scores[True]) > np.mean(scores[False])


def test_many_points_are_sampled(monkeypatch) -> None:
    monkeypatch.setattr("gramlearn.side_information.active._ALL", 500)
    F = np.random.default_rng(0).standard_normal((400, 2))
    asked = pairs_to_ask(F, 20, random_state=0)
    assert asked.shape == (20, 2)
    assert (asked[:, 0] < asked[:, 1]).all()
    assert len(np.unique(asked)) == 40


# -- what is refused ---------------------------------------------------------------------------------


def two_pieces() -> csr_array:
    one = neighbor_graph(X[:30], 4)
    return csr_array(block_diag([one, one]))


def test_components_without_pairs_are_named() -> None:
    model = NonparametricKernel(graph="precomputed")
    with pytest.warns(UserWarning, match="30 of 60 points lie in 1 pieces .* such as row 30"):
        model.fit(two_pieces(), side=Pairs([[0, 1], [2, 3]], [[0, 4]], n_points=60))
    assert not model.factor_[30:].any()


@pytest.mark.parametrize(
    ("options", "points", "words"),
    [
        ({}, np.ones((60, 2)), "all 60 rows of `X` are equal"),
        ({"graph": "precomputed"}, np.zeros((60, 60)), "has no edges"),
        ({"graph": "cosine"}, X, "`graph='cosine'`"),
        ({"capacity": -1.0}, X, "capacity=-1.0"),
        ({"capacity_price": 0.0}, X, "capacity_price=0.0"),
        ({"capacity": 1.0, "capacity_price": 1.0}, X, "`capacity` or `capacity_price`, not both"),
        ({"p": 0.9}, X, "`p=0.9` is below 1"),
        ({"rank": 3, "n_components": 5}, X, "`n_components=5` asks for more than the rank"),
        ({"n_neighbors": 60}, X, "`n_neighbors=60`"),
        ({"loss": "log"}, X, "`loss='log'`"),
        ({"weights": "cosine"}, X, "`weights='cosine'`"),
    ],
)
def test_bad_input_raises_a_clear_error(options, points, words) -> None:
    with pytest.raises(ValueError, match=words):
        NonparametricKernel(**options).fit(points, side=PAIRS)


def test_unknown_n_clusters_triplets_and_contradictory_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="`n_clusters` is not known"):
        NonparametricKernel().fit_predict(X, side=PAIRS)
    with pytest.raises(TypeError, match="learned from Pairs alone"):
        NonparametricKernel().fit(X, side=Triplets([[0, 1, 2]], n_points=60))
    with pytest.raises(ValueError, match="is in both"):
        NonparametricKernel().fit(X, side=Pairs([[0, 1]], [[1, 0]], n_points=60))


GRAPH = neighbor_graph(X, 5)


def weighted(i: int, j: int, weight: float) -> np.ndarray:
    graph = GRAPH.toarray()
    graph[i, j] = weight
    return graph


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (weighted(0, 1, 7.0), "`X` is not symmetric"),
        (weighted(0, 0, -1.0), "`X` must have finite weights of at least 0"),
        (GRAPH.toarray()[:, :50], r"`X` must be square.* got shape \(60, 50\)"),
        (0 * GRAPH, "has no edges"),
        (np.eye(60), "has no edges"),
    ],
)
def test_an_invalid_graph_is_refused(graph, words) -> None:
    with pytest.raises(ValueError, match=words):
        NonparametricKernel(graph="precomputed").fit(graph, side=PAIRS)


def test_the_graph_is_not_modified_and_loops_count_in_degrees_only() -> None:
    given = csr_array(GRAPH + csr_array(np.eye(60)))
    before = given.toarray()
    model = NonparametricKernel(graph="precomputed").fit(given, side=PAIRS)
    np.testing.assert_array_equal(given.toarray(), before)
    degrees = before.sum(axis=1)
    L = np.eye(60) - before / np.sqrt(np.outer(degrees, degrees))
    expected = solve_nonparametric(csr_array(L), PAIRS, loss="linear").factor
    np.testing.assert_allclose(
        model.kernel_entries(np.arange(60)), expected @ expected.T, atol=1e-9
    )


def test_new_points_of_a_graph_have_no_negative_weights() -> None:
    model = NonparametricKernel(graph="precomputed").fit(GRAPH, side=PAIRS)
    with pytest.raises(ValueError, match="`X` must have finite weights of at least 0"):
        model.transform(-GRAPH.toarray()[:2])


def test_the_points_learned_from_have_their_own_places() -> None:
    """Also of a graph, and of points that are equal, where new points would have others."""
    model = NonparametricKernel(graph="precomputed")
    places = model.fit_transform(GRAPH, side=PAIRS)
    np.testing.assert_array_equal(places, model.embedding_)
    assert np.abs(model.transform(GRAPH) - places).max() > 0.01


def test_labels_beside_pairs_tell_how_many_clusters() -> None:
    found = NonparametricKernel(random_state=0).fit_predict(X, Y, side=PAIRS)
    assert len(np.unique(found)) == 2


def test_rows_of_rounding_are_rows_of_zeros() -> None:
    F = np.array([[3.0, 4.0], [0.0, 0.0], [1e-15, -1e-16]])
    np.testing.assert_allclose(unit_rows(F), [[0.6, 0.8], [0.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda model: model.kernel_entries([1, 2], [1, 2, 3]),
            r"`i` has shape \(2,\) and `j` has",
        ),
        (lambda model: model.kernel_entries(-1), "row indices start at 0"),
        (lambda model: model.similar_to([[1, 2]]), r"a vector of them; got shape \(1, 2\)"),
        (lambda model: model.similar_to(60), "there are 60 rows"),
        (lambda model: pairs_to_ask(model.factor_, 3, known=[[0, 1]]), "`known` must be Pairs"),
        (lambda model: select_pairs([[0, 1]], model.factor_, 3), "`pairs` must be Pairs"),
    ],
)
def test_bad_questions_are_named(call, words) -> None:
    model = NonparametricKernel().fit(X, side=PAIRS)
    with pytest.raises((TypeError, ValueError), match=words):
        call(model)
    assert model.similar_to([], 3)[0].shape == (0, 3)


def test_more_pairs_than_there_are_need_no_more_memory() -> None:
    F = np.random.default_rng(0).standard_normal((3000, 2))
    assert pairs_to_ask(F, 10**12, random_state=0).shape[0] <= 1500
