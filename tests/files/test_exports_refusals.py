"""What cannot be exported is refused in one sentence, and what stood there before is still there."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from gramlearn import KernelKMeans, KernelLearner, MetricLearner, OnlineMetricLearner, Pairs
from gramlearn.files.errors import UnwritableFileError
from gramlearn.files.exports import TARGETS, LinearMap, export
from gramlearn.sources.errors import FileError

pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)

X = np.random.default_rng(0).standard_normal((40, 3))
Y = (X[:, 0] > 0).astype(int)
MAP = LinearMap(np.arange(6.0).reshape(2, 3) + 1)
PACKAGES = {"onnx": "onnx", "faiss": "faiss", "usearch": "usearch", "parquet": "pyarrow"}


def refused(error, words, path, to, **options):
    """With the words, in one sentence, and nothing is written."""
    if to in PACKAGES:
        pytest.importorskip(PACKAGES[to], reason=f"{PACKAGES[to]} is not installed")
    before = sorted(path.parent.iterdir())
    with pytest.raises(error, match=words) as caught:
        export(options.pop("learner", MAP), path, to, **options)
    # An OSError ends without a stop, as Python's own do.
    assert str(caught.value).endswith(".") or isinstance(caught.value, OSError)
    assert "\n" not in str(caught.value)
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (KernelLearner("rbf", C=1.0), "a KernelLearner is not a linear map"),
        (KernelKMeans(2), "a KernelKMeans is not a linear map"),
    ],
)
def test_what_is_not_linear_is_refused_and_says_what_to_do(learner, words, tmp_path):
    side = {"side": Pairs.from_labels(Y, 50, random_state=0)}
    learner = learner.fit(X, **(side if isinstance(learner, KernelLearner) else {}))
    with pytest.raises(TypeError, match=f"{words}.*`gramlearn transform`"):
        export(learner, tmp_path / "a.onnx", "onnx")


def test_a_map_that_does_more_than_multiply_is_no_linear_map(tmp_path):
    from sklearn.decomposition import PCA

    with pytest.raises(TypeError, match=r"`transform` is not X @ components_\.T"):
        export(PCA(2).fit(X + 1), tmp_path / "a.npz", "numpy")


def test_what_is_not_fitted_or_too_large_says_so(tmp_path):
    with pytest.raises(ValueError, match="This MetricLearner instance is not fitted yet"):
        export(MetricLearner(), tmp_path / "a.npz", "numpy")
    with pytest.raises(ValueError, match="This OnlineMetricLearner instance is not fitted yet"):
        LinearMap.of(OnlineMetricLearner())
    with pytest.raises(TypeError, match="a str is not a linear map"):
        LinearMap.of("model.gram")
    wide = np.zeros((4, 20_001))
    wide[:, 0] = range(4)
    learner = MetricLearner(C=1.0, shape="diagonal").fit(wide, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"cannot be exported: .*Or fit with n_components="):
        LinearMap.of(learner)


@pytest.mark.parametrize(
    ("to", "options", "words"),
    [
        ("onxx", {}, r"`to='onxx'` is not known; choose one of 'onnx'"),
        ("numpy", {"metric": "l2"}, "`metric='l2'` is not known; choose one of 'euclidean'"),
        ("onnx", {"points": X}, "holds the map, and no points; leave `points` out"),
        ("parquet", {}, "`points` is missing; pass the vectors to map"),
        ("usearch", {}, "`points` is missing"),
        ("faiss", {"ids": [1]}, "`ids` are given without `points`"),
        ("faiss", {"points": X[:, :2]}, "`points` has 2 columns, but the map takes vectors of 3"),
        ("parquet", {"points": X[0]}, r"must be a table .* got shape \(3,\)"),
        ("parquet", {"points": X[:0]}, r"got shape \(0, 3\)"),
        ("parquet", {"points": X, "ids": [1, 2]}, "`ids` has 2 entries, but `points` has 40 rows"),
        ("parquet", {"points": X[:2], "ids": [1, "1"]}, "got int and str: convert them"),
        ("parquet", {"points": X[:2], "ids": [1.0, 2.0]}, "got float: convert them"),
        ("parquet", {"points": X[:2], "ids": [True, False]}, "got bool: convert them"),
        ("parquet", {"points": X[:2], "ids": [None, "a"]}, "got NoneType and str"),
        ("parquet", {"points": X[:2], "ids": "ab"}, "`ids` must be a list"),
        ("parquet", {"points": X[:2], "ids": np.zeros((2, 1))}, "`ids` must be a list"),
        ("parquet", {"points": X[:2], "ids": [2**63, 1]}, "beyond 64 bits; pass them as texts"),
        ("parquet", {"points": X[:3], "ids": ["b", "a", "b"]}, r"has 'b' twice \(rows 0 and 2\)"),
        ("parquet", {"points": X, "column": "id"}, "is the column of ids"),
        ("pgvector", {"points": X, "column": "id"}, "is the column of ids"),
        ("pgvector", {"table": ""}, "`table` has the name '', which PostgreSQL cannot keep"),
        ("pgvector", {"table": "a..b"}, "choose one of 1 to 63 bytes"),
        ("pgvector", {"column": "ä" * 32}, "`column` has the name .* 1 to 63 bytes"),
        ("pgvector", {"column": "a\0"}, "`column` has the name"),
        ("pgvector", {"column": "\ud800"}, "which is no Unicode"),
        ("pgvector", {"points": X[:1], "ids": ["a\0"]}, "keeps no zero byte"),
        ("pgvector", {"points": X[:1], "ids": ["\ud800"]}, "which is no Unicode"),
        ("faiss", {"points": X[:1], "ids": ["a"]}, "an index of FAISS holds whole numbers"),
        ("usearch", {"points": X[:1], "ids": ["a"]}, "`ids` are texts, and an index of usearch"),
        ("usearch", {"points": X[:1], "ids": ["-7"]}, "`ids` are less than 0"),
        ("faiss", {"points": X[:2], "ids": ["7", "07"]}, "`ids` are texts"),
        ("faiss", {"points": X[:1], "ids": ["9" * 19]}, "`ids` are texts"),
        ("usearch", {"points": X[:1], "ids": [-1]}, "`ids` are less than 0, some of them"),
        ("parquet", {"points": 1e38 * X}, "mapped to numbers that float32 cannot hold"),
        ("pgvector", {"points": 1e6 * X, "halfvec": True}, "has entries beyond 65504"),
    ],
)
def test_bad_options_are_refused(to, options, words, tmp_path):
    error = TypeError if "convert" in words or "NoneType" in words else ValueError
    refused(error, words, tmp_path / "a", to, **options)


@pytest.mark.parametrize(
    "to", [name for name, target in TARGETS.items() if target.points != "none"]
)
def test_points_that_are_not_finite_are_refused_by_their_row(to, tmp_path, monkeypatch):
    monkeypatch.setattr("gramlearn.files.exports.vectors._BLOCK", 3 * 7)
    points = X.copy()
    points[25, 1] = np.nan
    words = r"`points` contains NaN or infinity \(first at row 25\)"
    refused(ValueError, words, tmp_path / "a", to, points=points)


def test_rows_of_zeros_have_no_direction(tmp_path):
    scaled = LinearMap(np.eye(3), normalize=True)
    points = X.copy()
    points[4] = 0
    words = r"`points` has a row of zeros \(row 4\)"
    refused(ValueError, words, tmp_path / "a", "parquet", points=points, learner=scaled)
    with pytest.raises(ValueError, match="`X` has a row of zeros"):
        scaled.transform(points)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"matrix": np.ones(3)}, r"`matrix` must be a table .* got shape \(3,\)"),
        ({"matrix": [[1.0, np.inf]]}, "`matrix` contains NaN or infinity"),
        ({"matrix": np.eye(2), "feature_names": ["a"]}, "`feature_names` has 1 names"),
        ({"matrix": np.eye(2), "offset": [1.0]}, r"`offset` has shape \(1,\)"),
    ],
)
def test_a_map_of_wrong_parts_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        LinearMap(**options)


@pytest.mark.parametrize("size", [1e-50, 1e50])
def test_a_matrix_beyond_float32_is_refused_but_by_numpy(size, tmp_path):
    steep = LinearMap(np.array([[1.0, size, 1.0]]))
    words = r"column 1 of L has entries of up to 1\.0e.50, which float32"
    for to in ("onnx", "sentence-transformers", "faiss"):
        refused(ValueError, words, tmp_path / "a", to, learner=steep)
    (place,) = export(steep, tmp_path / "a.npy", "numpy")
    assert np.array_equal(np.load(place), steep.matrix)


def test_columns_that_an_index_of_pgvector_cannot_hold_are_named(tmp_path):
    wide = {2000: None, 2001: "halfvec=True", 4001: "n_components="}
    for m, advice in wide.items():
        found = LinearMap(np.ones((m, 3)))
        if advice is None:
            export(found, tmp_path / "a.sql", "pgvector")
            continue
        words = f"{m} columns, .* takes up to 2,000, or 4,000 .*{advice}"
        refused(ValueError, words, tmp_path / "b.sql", "pgvector", learner=found)
    export(LinearMap(np.ones((4000, 3))), tmp_path / "a.sql", "pgvector", halfvec=True)
    assert "halfvec(4000) NOT NULL" in (tmp_path / "a.sql").read_text()
    many = LinearMap(np.ones((2, 2001)))
    words = "so map the documents as well, to fewer columns"
    refused(ValueError, words, tmp_path / "b.sql", "pgvector", learner=many, queries_only=True)


def test_texts_that_would_end_a_statement_are_quoted(tmp_path):
    found = LinearMap(np.eye(3), words={"verdict": "helps\nDROP TABLE items;\u2028\r\0"})
    ids = ["it's", "a\\'; DROP TABLE items; --", "two\nlines"]
    names = {"table": 'my.ta"ble\nDROP', "column": 'a"b'}
    export(found, tmp_path / "a.sql", "pgvector", points=X[:3], ids=ids, **names)
    text = (tmp_path / "a.sql").read_text()
    lines = text.split("\n")
    assert lines[0].startswith("-- verdict: helps DROP TABLE items;")
    assert 'CREATE TABLE "my"."ta""ble\nDROP" ("id" text PRIMARY KEY, "a""b" vector(3)' in text
    assert "('it''s', '[" in text
    assert "(E'a\\\\''; DROP TABLE items; --', '[" in text
    assert "('two\nlines', '[" in text
    assert lines[-2].startswith('-- SELECT "id" FROM "my"."ta""ble DROP" ORDER BY "a""b" <-> ')


def test_the_matrix_alone_is_not_written_where_more_belongs_to_it(tmp_path):
    refused(FileError, "must end in .npy", tmp_path / "a.txt", "numpy")
    scaled = LinearMap(np.eye(3), normalize=True)
    words = "scales vectors to length one first; write a .npz file"
    refused(FileError, words, tmp_path / "a.npy", "numpy", learner=scaled)
    options = {"queries_only": True, "metric": "euclidean"}
    refused(FileError, "adds an offset; write a .npz", tmp_path / "a.npy", "numpy", **options)


@pytest.mark.parametrize("to", list(TARGETS))
def test_a_place_that_cannot_be_written_is_named(to, tmp_path):
    points = None if TARGETS[to].points == "none" else X
    name = f"a{TARGETS[to].suffix}"
    words = r"could not be written: its folder does not exist"
    if to in PACKAGES:
        pytest.importorskip(PACKAGES[to], reason=f"{PACKAGES[to]} is not installed")
    with pytest.raises(UnwritableFileError, match=words):
        export(MAP, tmp_path / "missing" / name, to, points=points)
    if to == "sentence-transformers":
        (tmp_path / "a").write_text("a file")
        words = "a file stands where a folder goes"
    else:
        (tmp_path / name).mkdir()
        words = "a folder stands there"
    refused(UnwritableFileError, words, tmp_path / name, to, points=points)


def test_the_folder_of_a_model_is_not_written_over(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("the model's")
    (model / "modules.json").write_text("[]")
    words = r"model holds other files, such as modules\.json; choose a folder of its own"
    refused(FileError, words, model, "sentence-transformers")
    assert (model / "config.json").read_text() == "the model's"


def test_the_file_of_points_is_not_written_over(tmp_path):
    source = tmp_path / "a.npy"
    np.save(source, X)
    for points in (source, str(source), np.load(source, mmap_mode="r")):
        with pytest.raises(FileError, match="is the file of `points`, which stays as it is"):
            export(MAP, source, "pgvector", points=points)
    assert np.array_equal(np.load(source), X)


def test_points_are_read_from_a_npy_file_alone(tmp_path):
    options = {"learner": MAP, "to": "pgvector", "path": tmp_path / "a.sql"}
    np.save(tmp_path / "objects.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("not numbers")
    (tmp_path / "table.csv").write_text("1,2,3")
    for name, words in {
        "missing.npy": "does not exist; check its name",
        "objects.npy": "is not a .npy file of numbers",
        "text.npy": "is not a .npy file of numbers",
        "table.csv": "read it, and pass the vectors as an array",
    }.items():
        with pytest.raises(FileError, match=words):
            export(points=tmp_path / name, **options)


@pytest.mark.parametrize(
    ("to", "module", "words"),
    [
        ("onnx", "onnx", r"needs onnx.*gramlearn\[onnx\]"),
        ("parquet", "pyarrow", r"needs pyarrow.*gramlearn\[files\]"),
        ("faiss", "faiss", "needs faiss-cpu, which is not installed; run `pip install faiss-cpu`"),
        ("usearch", "usearch", "needs usearch, .* run `pip install usearch`"),
    ],
)
def test_a_package_that_is_missing_is_named(to, module, words, tmp_path, monkeypatch):
    for loaded in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    points = None if TARGETS[to].points == "none" else X
    with pytest.raises(ImportError, match=words):
        export(MAP, tmp_path / "a", to, points=points)


FULL_DISK = """
import os, resource, signal, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from gramlearn.files.exports import TARGETS, LinearMap, export
from gramlearn.files.errors import UnwritableFileError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
points, found = np.ones((500, 40)), LinearMap(np.ones((40, 40)))
for to in sys.argv[2:]:
    place = os.path.join(sys.argv[1], "a" + TARGETS[to].suffix)
    given = None if TARGETS[to].points == "none" else points
    export(found, place, to, points=given)
    held = os.path.join(place, "model.safetensors") if os.path.isdir(place) else place
    with open(held, "rb") as file: before = file.read()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        export(LinearMap(2 * found.matrix), place, to, points=given)
        print(to, "was written")
    except UnwritableFileError as error:
        print(to, "refused", "could not be written" in str(error))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    with open(held, "rb") as file: print(to, "kept", file.read() == before)
print(sorted(os.listdir(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path):
    targets = [to for to in TARGETS if to not in PACKAGES or find_spec(PACKAGES[to])]
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path), *targets]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    for to in targets:
        assert f"{to} refused True" in said.stdout
        assert f"{to} kept True" in said.stdout
    assert len(list(tmp_path.iterdir())) == len(targets)
