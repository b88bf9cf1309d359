"""Whatever a map is exported to, read again by its own library, gives what `transform` gives."""

import json
import re
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_wine

from gramlearn import POLA, MetricLearner, OnlineMetricLearner, OnlinePCA, Pairs
from gramlearn.files.exports import TARGETS, LinearMap, export
from gramlearn.files.exports.parquet_table import write_vectors

# What SWIG, which FAISS is bound by, says from Python 3.12 on.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)

WINE, CLASSES = load_wine(return_X_y=True)
X = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0) + 0.5


def fitted(name):
    side = Pairs.from_labels(CLASSES, 200, random_state=0)
    learner = {
        "full": MetricLearner(C=1.0),
        "normalized": MetricLearner(C=1.0, normalize=True),
        "rank": MetricLearner(C=1.0, rank=3),
        "diagonal": MetricLearner(C=1.0, shape="diagonal"),
        "columns": MetricLearner(C=1.0, n_components=2),
        "normalized columns": MetricLearner(C=1.0, n_components=2, normalize=True),
        "online": OnlineMetricLearner(),
        "pola": POLA(),
    }[name]
    return learner.fit(X, side=side)


@pytest.fixture(scope="module", params=["full", "normalized", "rank", "diagonal", "columns"])
def learner(request):
    return fitted(request.param)


def write(learner, folder, to, suffix=None, **options):
    if TARGETS[to].points == "needed":
        options.setdefault("points", X)
    place = folder / f"map{TARGETS[to].suffix if suffix is None else suffix}"
    paths = export(learner, place, to, **options)
    assert all(path.exists() for path in paths)
    return place


def by_onnx(place, points):
    runtime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    session = runtime.InferenceSession(place.read_bytes(), providers=["CPUExecutionProvider"])
    return session.run(None, {"vectors": points.astype(np.float32)})[0]


def by_dense_module(place, points):
    """As sentence-transformers documents it: modules in their order, weights by name."""
    from safetensors.numpy import load_file

    config = json.loads((place / "config.json").read_text())
    weights = load_file(place / "model.safetensors")
    assert config["activation_function"] == "torch.nn.modules.linear.Identity"
    assert weights["linear.weight"].shape == (config["out_features"], config["in_features"])
    assert config["bias"] is ("linear.bias" in weights)
    assert weights["linear.weight"].dtype == np.float32
    vectors = points.astype(np.float32)
    for module in modules_of(place):
        if module == "Normalize":
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        else:
            vectors = vectors @ weights["linear.weight"].T + weights.get("linear.bias", 0)
    return vectors


def modules_of(place):
    text = (place / "README.md").read_text()
    entries = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    assert [entry["idx"] for entry in entries] == list(range(2, 2 + len(entries)))
    return [entry["type"].removeprefix("sentence_transformers.models.") for entry in entries]


def by_faiss(place, points):
    """What the index makes of raw vectors."""
    faiss = pytest.importorskip("faiss")
    index = faiss.read_index(str(place))
    vectors = points.astype(np.float32)
    for k in range(index.chain.size()):
        vectors = faiss.downcast_VectorTransform(index.chain.at(k)).apply(vectors)
    return vectors


def by_usearch(place, points):
    from usearch.index import Index

    return np.array(Index.restore(str(place)).get(np.arange(len(points), dtype=np.uint64)))


def by_parquet(place, points):
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(place)
    column = table.column("embedding")
    assert pa.types.is_fixed_size_list(column.type)
    assert column.type.value_type == pa.float32()
    assert table.column("id").to_pylist() == list(range(len(points)))
    return np.array(column.to_pylist())


def by_sql(place, points):
    rows = re.findall(r"^\((\d+), '\[(.*?)\]'\)[,;]$", place.read_text(), re.MULTILINE)
    assert [int(key) for key, _ in rows] == list(range(len(points)))
    return np.array([[float(number) for number in row.split(",")] for _, row in rows])


def by_numpy(place, points):
    with np.load(place, allow_pickle=False) as kept:
        if kept["normalize"]:
            points = points / np.linalg.norm(points, axis=1, keepdims=True)
        return points @ kept["matrix"].T + kept["offset"]


READ = {
    "onnx": by_onnx,
    "sentence-transformers": by_dense_module,
    "faiss": by_faiss,
    "usearch": by_usearch,
    "parquet": by_parquet,
    "pgvector": by_sql,
    "numpy": by_numpy,
}
PACKAGES = {"onnx": "onnx", "faiss": "faiss", "usearch": "usearch", "parquet": "pyarrow"}


def close(found, wanted):
    assert found.shape == wanted.shape
    return np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


@pytest.fixture(params=list(TARGETS))
def to(request):
    if request.param in PACKAGES:
        name = PACKAGES[request.param]
        pytest.importorskip(name, reason=f"{name} is not installed")
    return request.param


def test_every_target_gives_what_transform_gives(learner, to, tmp_path):
    points = {} if TARGETS[to].points == "none" else {"points": X}
    place = write(learner, tmp_path, to, **points)
    assert close(READ[to](place, X), learner.transform(X))


@pytest.mark.parametrize("name", ["normalized columns", "online", "pola"])
def test_every_learner_of_a_linear_map_has_one(name):
    learner = fitted(name)
    assert close(LinearMap.of(learner).transform(X), learner.transform(X))


@pytest.mark.usefixtures("tensors_stay")
def test_what_was_learned_from_tensors_has_the_map_of_what_was_learned_from_arrays(other):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    learner = MetricLearner(C=1.0, n_components=2, random_state=0)
    here = LinearMap.of(learner.fit(X, y))
    there = LinearMap.of(learner.fit(other.array(X), y))
    np.testing.assert_allclose(there.matrix, here.matrix, rtol=1e-8, atol=1e-8)
    assert there.words.keys() == here.words.keys()


def test_a_linear_map_is_what_transform_is_in_the_precision_of_the_points(learner):
    found = LinearMap.of(learner)
    assert close(found.transform(X), learner.transform(X))
    single = X.astype(np.float32)
    assert found.transform(single).dtype == learner.transform(single).dtype == np.float32
    assert close(found.transform(single), learner.transform(single))


def test_directions_of_a_stream_of_points_are_a_linear_map():
    learner = OnlinePCA(2).fit(X / np.linalg.norm(X, axis=1).max())
    assert close(LinearMap.of(learner).transform(X), learner.transform(X))


def test_a_map_that_was_made_by_hand_is_exported_as_well(to, tmp_path):
    found = LinearMap(np.arange(26.0).reshape(2, 13))
    place = write(found, tmp_path, to, points=None if TARGETS[to].points == "none" else X)
    assert close(READ[to](place, X), X @ found.matrix.T)


def test_a_linear_map_of_onnx_is_one_product(tmp_path):
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    model = onnx.load(write(fitted("full"), tmp_path, "onnx"))
    assert [node.op_type for node in model.graph.node] == ["MatMul"]
    assert [opset.version for opset in model.opset_import] == [17]
    onnx.checker.check_model(model, full_check=True)


def test_onnx_keeps_vectors_of_any_size_and_makes_zeros_of_zeros(tmp_path):
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    learner = fitted("normalized")
    place = write(learner, tmp_path, "onnx")
    for size in (1e-30, 1.0, 1e30):
        assert close(by_onnx(place, size * X), learner.transform(X))
    assert not by_onnx(place, np.zeros((2, 13))).any()


@pytest.mark.parametrize("metric", ["euclidean", "inner_product", "cosine"])
@pytest.mark.parametrize("ids", [None, 7 * np.arange(len(X))[::-1]])
@pytest.mark.parametrize("name", ["full", "normalized"])
def test_an_index_of_faiss_finds_what_the_learned_metric_ranks_first(name, ids, metric, tmp_path):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    learner = fitted(name)
    place = write(learner, tmp_path, "faiss", points=X, ids=ids, metric=metric)
    index = faiss.read_index(str(place))
    assert index.ntotal == len(X)
    values, found = index.search(X[:20].astype(np.float32), 5)
    mapped = learner.transform(X)
    if metric == "cosine":
        mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    rows = found if ids is None else len(X) - 1 - found // 7
    wanted = mapped[:20] @ mapped.T
    if metric == "euclidean":
        wanted = -(learner.pair_distance((np.repeat(X[:20], len(X), 0), np.tile(X, (20, 1)))) ** 2)
        wanted, values = wanted.reshape(20, -1), -values
    best = -np.sort(-wanted, axis=1)[:, :5]
    assert close(values, best)
    assert close(np.take_along_axis(wanted, rows, axis=1), best)


def test_an_index_of_faiss_takes_raw_vectors_later(tmp_path):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    learner = fitted("normalized columns")
    index = faiss.read_index(str(write(learner, tmp_path, "faiss")))
    index.add(X.astype(np.float32))
    assert close(index.index.reconstruct_n(0, len(X)), learner.transform(X))


@pytest.mark.parametrize("metric", ["euclidean", "inner_product", "cosine"])
def test_an_index_of_usearch_ranks_by_the_metric(metric, tmp_path):
    usearch = pytest.importorskip("usearch.index", reason="usearch is not installed")
    learner = fitted("full")
    keys = 3 * np.arange(len(X)) + 2**40
    place = write(learner, tmp_path, "usearch", ids=keys, metric=metric)
    mapped = learner.transform(X).astype(np.float32)
    index = usearch.Index.restore(str(place))
    found = index.search(mapped[0], 10, exact=True)
    products = mapped @ mapped[0]
    lengths = np.linalg.norm(mapped, axis=1)
    wanted = {
        "euclidean": ((mapped - mapped[0]) ** 2).sum(axis=1),
        "inner_product": 1 - products,
        "cosine": 1 - products / (lengths * lengths[0]),
    }[metric]
    assert np.allclose(found.distances, np.sort(wanted)[:10], atol=1e-5 * np.abs(wanted).max())


def test_texts_that_are_whole_numbers_are_the_ids_of_an_index(tmp_path):
    faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    usearch = pytest.importorskip("usearch.index", reason="usearch is not installed")
    learner = fitted("full")
    ids = [str(5 * k) for k in range(len(X))]
    mapped = learner.transform(X).astype(np.float32)
    index = faiss.read_index(str(write(learner, tmp_path, "faiss", points=X, ids=ids)))
    assert index.search(X[7:8].astype(np.float32), 1)[1] == 35
    other = usearch.Index.restore(str(write(learner, tmp_path, "usearch", ids=ids)))
    assert close(np.array(other.get(np.array([35], dtype=np.uint64))), mapped[7:8])


@pytest.mark.parametrize("to", ["parquet", "pgvector"])
def test_ids_that_are_texts_come_back(to, tmp_path):
    ids = [f"wine {k}" for k in range(len(X))]
    if to == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
        place = write(fitted("full"), tmp_path, to, ids=ids)
        assert parquet.read_table(place).column("id").to_pylist() == ids
    else:
        text = write(fitted("full"), tmp_path, to, points=X, ids=np.array(ids)).read_text()
        assert re.findall(r"^\('(.*?)', ", text, re.MULTILINE) == ids
        assert '"id" text PRIMARY KEY' in text


def test_blocks_of_rows_make_one_table(monkeypatch, tmp_path):
    """Of vectors on disk, which are never all in memory."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    monkeypatch.setattr("gramlearn.files.exports.vectors._BLOCK", 13 * 50)
    np.save(tmp_path / "vectors.npy", X.astype(np.float32))
    learner = fitted("full")
    place = write(learner, tmp_path, "parquet", points=tmp_path / "vectors.npy")
    assert parquet.ParquetFile(place).num_row_groups == 4
    assert close(by_parquet(place, X), learner.transform(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ids", [None, [f"row {k}" for k in range(len(X))]])
def test_vectors_that_come_in_blocks_are_written_in_their_precision(dtype, ids, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    vectors = X.astype(dtype)
    parts = [(ids and ids[part], vectors[part]) for part in (slice(100), slice(100, None))]
    write_vectors(tmp_path / "a.parquet", parts, 13)
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column("id").to_pylist() == (list(range(len(X))) if ids is None else ids)
    assert np.array_equal(np.array(table.column("embedding").to_pylist()), vectors)
    assert table.schema.field("embedding").type.value_type.bit_width == 8 * vectors.itemsize


def test_one_long_id_costs_its_own_length_alone(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    ids = [f"row {k}" for k in range(3000)]
    ids[7] = "x" * 1_000_000
    vectors = np.zeros((3000, 2), dtype=np.float32)
    tracemalloc.start()
    try:
        write_vectors(tmp_path / "a.parquet", [(ids, vectors)], 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert parquet.read_table(tmp_path / "a.parquet").column("id").to_pylist() == ids


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        ([3, np.int64(5)], [3, 5]),
        (np.array([3, 5], dtype=object), [3, 5]),
        (np.array([3, 5], dtype=np.uint8), [3, 5]),
        (["a", 5], ["a", "5"]),
        (np.array(["a", "bc"]), ["a", "bc"]),
        (("a", "b"), ["a", "b"]),
    ],
)
def test_ids_are_whole_numbers_or_texts(ids, kept, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    write_vectors(tmp_path / "a.parquet", [(ids, np.zeros((2, 2)))], 2)
    assert parquet.read_table(tmp_path / "a.parquet").column("id").to_pylist() == kept


def test_a_map_that_is_mixed_with_the_prior_says_so(tmp_path):
    learner = MetricLearner(C=1.0).fit(X, CLASSES)
    assert "mixture" not in LinearMap.of(learner).words
    learner.prior_share_ = 0.25
    assert "mixed with a quarter of the prior" in LinearMap.of(learner).words["mixture"]


def test_a_table_on_disk_says_what_is_known_of_the_map(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    learner = MetricLearner(random_state=0, time_limit=60).fit(X, CLASSES)
    words = LinearMap.of(learner).words
    assert words["verdict"] == learner.verdict_
    assert words["certificate"] == repr(learner.solution_)
    place = write(learner, tmp_path, "parquet", column="mapped")
    kept = parquet.read_schema(place)
    assert json.loads(kept.metadata[b"gramlearn"]) == words
    assert kept.names == ["id", "mapped"]
    with np.load(write(learner, tmp_path, "numpy")) as file:
        assert json.loads(str(file["words"])) == words
    text = write(learner, tmp_path, "pgvector").read_text()
    assert f"-- verdict: {learner.verdict_}\n" in text
    readme = (write(learner, tmp_path, "sentence-transformers") / "README.md").read_text()
    assert learner.verdict_ in readme
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    model = onnx.load(write(learner, tmp_path, "onnx"))
    assert {prop.key: prop.value for prop in model.metadata_props} == words


def test_names_of_features_go_along_and_are_checked(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=[f"f{k}" for k in range(13)])
    learner = MetricLearner(C=1.0).fit(frame, CLASSES)
    found = LinearMap.of(learner)
    assert found.feature_names == tuple(frame.columns)
    assert close(found.transform(frame), learner.transform(frame))
    with pytest.raises(ValueError, match="'f1' as column 0, where the map was learned from 'f0'"):
        found.transform(frame[[*frame.columns[1:], "f0"]])
    with np.load(write(learner, tmp_path, "numpy")) as file:
        assert tuple(file["feature_names"]) == found.feature_names


def test_a_matrix_alone_is_a_npy_file_in_double_precision(tmp_path):
    learner = fitted("full")
    place = write(learner, tmp_path, "numpy", suffix=".npy")
    assert np.array_equal(np.load(place), learner.components_)


@pytest.mark.filterwarnings(
    "ignore"
)  # of torch and transformers, and of the older name of `models`
@pytest.mark.parametrize("name", ["full", "normalized columns"])
def test_a_dense_module_is_appended_by_sentence_transformers(name, tmp_path):
    reason = "sentence-transformers is not installed"
    pytest.importorskip("sentence_transformers", reason=reason)
    torch = pytest.importorskip("torch", reason=reason)
    from sentence_transformers import models

    learner = fitted(name)
    place = write(learner, tmp_path, "sentence-transformers")
    features = {"sentence_embedding": torch.tensor(X, dtype=torch.float32)}
    for module in modules_of(place):
        step = models.Dense.load(str(place)) if module == "Dense" else models.Normalize()
        features = step(features)
    assert close(features["sentence_embedding"].detach().numpy(), learner.transform(X))


def test_a_folder_that_was_written_before_is_written_again(tmp_path):
    first, second = fitted("full"), fitted("columns")
    write(first, tmp_path, "sentence-transformers")
    place = write(second, tmp_path, "sentence-transformers")
    assert close(by_dense_module(place, X), second.transform(X))
    assert sorted(path.name for path in place.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
