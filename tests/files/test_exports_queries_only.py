"""Documents that stay as they are are ranked as the learned map ranks them, once queries are mapped."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from gramlearn import MetricLearner, Pairs
from gramlearn.files.exports import LinearMap, QueriesOnly, export

pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)

METRICS = ("inner_product", "euclidean")


def random_points():
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 8)) @ rng.standard_normal((8, 8)), rng.integers(0, 4, 300)


def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400] + 0.0, y[:400]


@pytest.fixture(scope="module", params=[random_points, wine, digits], ids=lambda f: f.__name__)
def data(request):
    return request.param()


@pytest.fixture(scope="module", params=["plain", "normalize", "columns"])
def fitted(request, data):
    X, y = data
    options = {
        "plain": {},
        "normalize": {"normalize": True},
        "columns": {"n_components": 3},
    }[request.param]
    side = Pairs.from_labels(y, 300, random_state=0)
    return MetricLearner(C=1.0, **options).fit(X, side=side), X


def learned_ranks(learner, X, queries, metric):
    """By what is learned, and how large that is: the larger, the better the document."""
    mapped = learner.transform(X)
    if metric == "inner_product":
        return mapped[:queries] @ mapped.T
    return -((mapped[:queries, None] - mapped) ** 2).sum(axis=2)


@pytest.mark.parametrize("metric", METRICS)
def test_rankings_are_those_of_the_learned_map(fitted, metric):
    learner, X = fitted
    two_sides = QueriesOnly(LinearMap.of(learner), metric)
    queries, documents = two_sides.query_vectors(X[:50]), two_sides.document_vectors(X)
    assert queries.shape[1] == documents.shape[1] == two_sides.n_columns
    products = queries @ documents.T
    wanted = learned_ranks(learner, X, 50, metric)
    assert np.array_equal(np.argsort(-products, kind="stable"), np.argsort(-wanted, kind="stable"))


def test_products_are_distances_up_to_what_is_the_same_for_all_documents(fitted):
    """And so by `pair_distance`, where all columns are kept."""
    learner, X = fitted
    two_sides = QueriesOnly(LinearMap.of(learner), "euclidean")
    products = two_sides.query_vectors(X[:1]) @ two_sides.document_vectors(X).T
    distances = ((learner.transform(X) - learner.transform(X[:1])) ** 2).sum(axis=1)
    if learner.n_components is None:
        assert np.allclose(distances, learner.pair_distance((np.tile(X[0], (len(X), 1)), X)) ** 2)
    assert np.ptp(products[0] + distances) <= 1e-9 * np.abs(products).max()


def far_points():
    rng = np.random.default_rng(0)
    return rng.standard_normal((2000, 16)) + 300, LinearMap(rng.standard_normal((16, 16)))


def test_any_center_ranks_alike(fitted):
    learner, X = fitted
    found = LinearMap.of(learner)
    c = np.random.default_rng(0).standard_normal(X.shape[1])
    for queries, documents in (
        (two_sides.query_vectors(X[:50]), two_sides.document_vectors(X))
        for two_sides in (QueriesOnly(found, "euclidean"), QueriesOnly(found, "euclidean", c))
    ):
        wanted = learned_ranks(learner, X, 50, "euclidean")
        order = np.argsort(-(queries @ documents.T), kind="stable")
        assert np.array_equal(order, np.argsort(-wanted, kind="stable"))


def test_documents_far_from_zero_are_ranked_around_their_mean_in_float32(tmp_path):
    X, found = far_points()
    mapped = found.transform(X)
    exact = ((mapped[:100, None] - mapped) ** 2).sum(axis=2)
    nearest = np.argsort(exact, axis=1)[:, :10]

    def agree(center):
        two_sides = QueriesOnly(found, "euclidean", center)
        queries = two_sides.query_vectors(X[:100].astype(np.float32))
        documents = two_sides.document_vectors(X).astype(np.float32)
        best = np.argsort(-(queries @ documents.T), axis=1)[:, :10]
        return np.mean([len(np.intersect1d(*both)) for both in zip(best, nearest, strict=True)])

    assert agree(None) < 9.9
    assert agree(X.mean(axis=0)) > 9.99


def test_documents_far_from_the_center_are_warned_of(tmp_path):
    X, found = far_points()
    options = {"queries_only": True, "metric": "euclidean", "points": X}
    with pytest.warns(UserWarning, match=r"pass center=points.mean\(axis=0\), to the export of"):
        export(found, tmp_path / "a.sql", "pgvector", **options)
    c = X.mean(axis=0)
    export(found, tmp_path / "b.sql", "pgvector", center=c, **options)
    rows = re.findall(r"^\(\d+, '\[(.*?)\]'\)[,;]$", (tmp_path / "b.sql").read_text(), re.M)
    held = np.array([[float(number) for number in row.split(",")] for row in rows])
    two_sides = QueriesOnly(found, "euclidean", c)
    np.testing.assert_allclose(held, two_sides.document_vectors(X), rtol=1e-6)
    options.pop("points")
    with np.load(export(found, tmp_path / "q.npz", "numpy", center=c, **options)[0]) as kept:
        queries = X[:9] @ kept["matrix"].T + kept["offset"]
    np.testing.assert_allclose(queries, two_sides.query_vectors(X[:9]), rtol=1e-9, atol=1e-9)


def test_a_center_is_one_of_points_and_of_distances(tmp_path):
    found = LinearMap(np.eye(2))
    for center in ([1.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match=r"`center` .* must be 2 finite numbers"):
            QueriesOnly(found, "euclidean", center)
    with pytest.raises(ValueError, match='`center` is for metric="euclidean"'):
        QueriesOnly(found, "inner_product", [1.0, 2.0])
    with pytest.raises(ValueError, match="`center` is for `queries_only=True`"):
        export(found, tmp_path / "a.npz", "numpy", center=[1.0, 2.0])


@pytest.mark.parametrize("metric", METRICS)
def test_documents_stay_as_they_are_but_for_a_coordinate(fitted, metric):
    learner, X = fitted
    documents = QueriesOnly(LinearMap.of(learner), metric).document_vectors(X)
    as_they_are = X / np.linalg.norm(X, axis=1, keepdims=True) if learner.normalize else X
    d = X.shape[1]
    assert documents.shape[1] == d + (metric == "euclidean")
    assert np.allclose(documents[:, :d], as_they_are, rtol=1e-15)
    if not learner.normalize:
        assert np.array_equal(documents[:, :d], X)


def test_an_index_of_cosines_ranks_by_inner_products_of_points_of_length_one():
    X, y = wine()
    learner = MetricLearner(C=1.0, normalize=True).fit(X, y)
    queries = QueriesOnly(LinearMap.of(learner)).query_vectors(X)
    cosines = queries @ X.T / np.linalg.norm(X, axis=1)  # |q| is the same for all documents
    wanted = learned_ranks(learner, X, len(X), "inner_product")
    assert np.array_equal(np.argsort(-cosines, axis=1), np.argsort(-wanted, axis=1))


@pytest.mark.parametrize("metric", METRICS)
def test_float32_stays_float32_and_ranks_alike_up_to_rounding(fitted, metric):
    learner, X = fitted
    two_sides = QueriesOnly(LinearMap.of(learner), metric)
    single = X.astype(np.float32)
    queries, documents = two_sides.query_vectors(single), two_sides.document_vectors(single)
    assert queries.dtype == documents.dtype == np.float32
    exact = two_sides.query_vectors(X) @ two_sides.document_vectors(X).T
    assert np.abs(queries @ documents.T - exact).max() <= 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize("metric", METRICS)
def test_an_index_of_faiss_maps_queries_and_keeps_documents(fitted, metric, tmp_path):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    learner, X = fitted
    place = tmp_path / "documents.faiss"
    export(
        learner, place, "faiss", queries_only=True, metric=metric, points=X, ids=np.arange(len(X))
    )
    index = faiss.read_index(str(place))
    _, found = index.search(X[:30].astype(np.float32), 5)
    wanted = learned_ranks(learner, X, 30, metric)
    best = -np.sort(-wanted, axis=1)[:, :5]
    # Documents of float32 that are as good as one another come in any order.
    scale = np.abs(wanted).max()
    assert np.abs(np.take_along_axis(wanted, found, axis=1) - best).max() <= 1e-5 * scale


@pytest.mark.parametrize("metric", METRICS)
def test_the_map_of_queries_is_exported(fitted, metric, tmp_path):
    learner, X = fitted
    wanted = QueriesOnly(LinearMap.of(learner), metric).query_vectors(X)
    options = {"queries_only": True, "metric": metric}
    with np.load(export(learner, tmp_path / "map.npz", "numpy", **options)[0]) as kept:
        scaled = X / np.linalg.norm(X, axis=1, keepdims=True) if kept["normalize"] else X
        assert np.allclose(scaled @ kept["matrix"].T + kept["offset"], wanted)
    folder = tmp_path / "map_Dense"
    export(learner, folder, "sentence-transformers", **options)
    config = json.loads((folder / "config.json").read_text())
    assert config["bias"] is (metric == "euclidean")
    assert config["out_features"] == wanted.shape[1]
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    (place,) = export(learner, tmp_path / "map.onnx", "onnx", **options)
    session = runtime.InferenceSession(place.read_bytes(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"vectors": X.astype(np.float32)})
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


@pytest.mark.parametrize("metric", METRICS)
def test_tables_hold_documents_and_search_by_inner_products(fitted, metric, tmp_path):
    learner, X = fitted
    wanted = QueriesOnly(LinearMap.of(learner), metric).document_vectors(X)
    (place,) = export(
        learner, tmp_path / "a.sql", "pgvector", queries_only=True, metric=metric, points=X
    )
    text = place.read_text()
    rows = re.findall(r"^\(\d+, '\[(.*?)\]'\)[,;]$", text, re.MULTILINE)
    held = np.array([[float(number) for number in row.split(",")] for row in rows])
    assert np.abs(held - wanted).max() <= 1e-6 * np.abs(wanted).max()
    assert "vector_ip_ops" in text
    assert "<#>" in text


def test_cosines_are_refused_with_the_reason(tmp_path):
    with pytest.raises(
        ValueError, match=r"\|L x\| of each mapped document, which documents as they are"
    ):
        export(
            LinearMap(np.eye(2)), tmp_path / "a.onnx", "onnx", queries_only=True, metric="cosine"
        )


def test_the_map_of_queries_is_not_mapped_again():
    two_sides = QueriesOnly(LinearMap(np.eye(2)), "euclidean")
    with pytest.raises(ValueError, match="pass the map of the learner itself"):
        QueriesOnly(two_sides.map_of_queries, "euclidean")
    with pytest.raises(ValueError, match="metric='dot'` is not known"):
        QueriesOnly(LinearMap(np.eye(2)), "dot")
