"""Data sets: from the folder only what has its checksum, from OpenML only what has its shape."""

import gzip
import hashlib
import json
import os
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from gramlearn import datasets
from gramlearn.datasets.table import TABLE

needs_data = pytest.mark.skipif(
    not os.environ.get(datasets.VARIABLE), reason=f"{datasets.VARIABLE} is not set"
)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**arguments: Any) -> Bunch:
        raise URLError("no network in tests")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path))
    return tmp_path


def admit(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table expect the file that lies in the folder."""
    entry = TABLE[name]
    found = hashlib.sha256((folder / entry.file).read_bytes()).hexdigest()
    monkeypatch.setitem(TABLE, name, replace(entry, sha256=found))


def answer(monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, **more: Any) -> list[dict[str, Any]]:
    """Let OpenML answer so; give the list of what it is asked."""
    asked: list[dict[str, Any]] = []
    names = [f"f{k}" for k in range(X.shape[1])]
    bunch = Bunch(data=X, target=np.array(y, dtype=object), feature_names=names, **more)

    def fetch(**arguments: Any) -> Bunch:
        asked.append(arguments)
        return bunch

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return asked


def scale_of_balance() -> tuple[np.ndarray, np.ndarray]:
    """All 5^4 combinations of weight and distance, left and right, with the heavier side."""
    X = np.indices((5, 5, 5, 5)).reshape(4, -1).T + 1.0
    left, right = X[:, 0] * X[:, 1], X[:, 2] * X[:, 3]
    return X, np.select([left > right, left < right], ["L", "R"], "B")


# -- the folder ------------------------------------------------------------------------------------


def test_a_file_is_read_with_all_it_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    parts = {"X": X, "y": y, "X_test": X + 1, "y_test": y[::-1], "terms": np.array(["a", "b"])}
    np.savez(folder / "usps.npz", **parts)
    admit("usps", folder, monkeypatch)
    read = datasets.load("usps")
    for name in ("X", "y", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(read, name), parts[name])
    assert list(read.extra) == ["terms"]
    assert read.texts is None
    assert read.name == "usps"
    assert read.source.startswith("usps.npz: ")
    with pytest.raises(FrozenInstanceError):
        read.X = None  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(read)).name == "usps"


def test_a_sparse_matrix_stays_sparse(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = sparse.csr_array(np.random.default_rng(0).integers(0, 2, (5, 4)) * 1.5)
    parts = {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr}
    about = {"format": np.array(b"csr"), "shape": np.array(counts.shape)}
    np.savez(folder / "classic3.npz", y=np.arange(5), terms=np.arange(4), **about, **parts)
    admit("classic3", folder, monkeypatch)
    read = datasets.load("classic3")
    assert isinstance(read.X, sparse.csr_array)
    np.testing.assert_array_equal(read.X.toarray(), counts.toarray())
    assert list(read.extra) == ["terms"]


def test_texts_are_split_by_subset(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # U+2028 is a line break to str.splitlines, and none to JSON.
    rows = [
        ("train", "sci.space", "up\u2028there"),
        ("test", "rec.autos", "b"),
        ("train", "x", "c"),
    ]
    messages = [{"subset": s, "group": g, "text": t} for s, g, t in rows]
    lines = "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)
    (folder / "newsgroups20.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    admit("newsgroups20", folder, monkeypatch)
    read = datasets.load("newsgroups20")
    assert read.X is None
    assert read.texts == ("up\u2028there", "c")
    assert read.texts_test == ("b",)
    assert read.y.tolist() == ["sci.space", "x"]
    assert repr(read).startswith("Dataset(newsgroups20: 2 texts and 1 to test; ")


def test_a_wrong_checksum_is_one_sentence(folder: Path) -> None:
    (folder / "wine.npz").write_bytes(b"not wine")
    with pytest.raises(
        ValueError, match=r"wine\.npz has the SHA-256 [0-9a-f]{16}.*replace it"
    ) as e:
        datasets.load("wine")
    assert hashlib.sha256(b"not wine").hexdigest()[:16] in str(e.value)
    assert "\n" not in str(e.value)


def test_a_data_folder_that_does_not_exist_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path / "slip"))
    with pytest.raises(FileNotFoundError, match="which is not a folder"):
        datasets.load("wine")


# -- scikit-learn ----------------------------------------------------------------------------------

SHIPPED = sorted(name for name in TABLE if TABLE[name].shipped)


def test_sets_of_scikit_learn_need_neither_folder_nor_network(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(monkeypatch, np.zeros((1, 1)), ["0"])
    assert {"iris", "wine", "breast_cancer_wdbc"} == set(SHIPPED)
    in_a_folder_without_files = datasets.load("iris")
    monkeypatch.delenv(datasets.VARIABLE)
    for read in (in_a_folder_without_files, datasets.load("iris")):
        X, y = load_iris(return_X_y=True)
        np.testing.assert_array_equal(read.X, X)
        np.testing.assert_array_equal(read.y, y)
        assert read.extra["target_names"].tolist() == ["setosa", "versicolor", "virginica"]
        assert read.source == "sklearn.datasets.load_iris"
    assert not asked


@needs_data
@pytest.mark.parametrize("name", SHIPPED)
def test_scikit_learn_and_the_folder_have_the_same_copy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = datasets.load(name)
    monkeypatch.delenv(datasets.VARIABLE)
    copy = datasets.load(name)
    assert (copy.X.dtype, copy.y.dtype.kind) == (file.X.dtype, file.y.dtype.kind)
    np.testing.assert_array_equal(copy.X, file.X)
    np.testing.assert_array_equal(copy.y, file.y)
    for key in {*file.extra} - {"X_uci"}:
        np.testing.assert_array_equal(copy.extra[key], file.extra[key])


# -- OpenML ----------------------------------------------------------------------------------------


def test_openml_is_asked_where_the_folder_has_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = scale_of_balance()
    asked = answer(monkeypatch, X, y)
    read = datasets.load("balance_scale")
    assert asked[0]["data_id"] == 11
    np.testing.assert_array_equal(read.X, X)
    np.testing.assert_array_equal(read.y, y)
    assert read.source == "data set 11 of OpenML"


def test_another_set_from_openml_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    X, y = scale_of_balance()
    answer(monkeypatch, X[1:], y[1:])
    expected = "has 624 x 4 numbers, but balance_scale has 625 x 4 numbers"
    with pytest.raises(ValueError, match=expected):
        datasets.load("balance_scale")
    answer(monkeypatch, X, np.where(y == "B", "L", y))
    with pytest.raises(
        ValueError, match=r"has classes of \[288, 337\] rows, but balance_scale has"
    ):
        datasets.load("balance_scale")


def test_numbers_that_openml_calls_categories_stay_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    X = np.zeros((506, 13))
    X[:3, 8] = [2, 0, 1]
    X[:3, 3] = [1, 0, 1]
    categories = {"f8": ["1", "2", "24"], "f3": ["no", "yes"], "target": ["1"]}
    answer(monkeypatch, X, np.arange(506.0), categories=categories)
    read = datasets.load("boston_housing")
    assert read.X[:3, 8].tolist() == [24.0, 1.0, 2.0]
    assert read.X[:3, 3].tolist() == [1.0, 0.0, 1.0]
    assert read.y.dtype == float


def test_the_test_part_follows_the_training_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    sizes = TABLE["usps"].sizes
    assert sizes is not None
    y = np.repeat([str(k) for k in range(10)], sizes)
    X = np.zeros((7291 + 2007, 256), dtype=np.float32)
    X[:, 0] = np.arange(len(X))
    answer(monkeypatch, X, [*y, *["7"] * 2007])
    read = datasets.load("usps")
    assert read.X.shape == (7291, 256)
    assert read.X_test[0, 0] == 7291
    assert read.y_test.tolist() == ["7"] * 2007


def test_digits_389_are_drawn_from_all_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    y = np.arange(10_992) % 10
    X = np.arange(10_992 * 16.0).reshape(-1, 16)
    answer(monkeypatch, X, y.astype(str))
    read = datasets.load("pendigits_389_317")
    assert read.X.shape == (317, 16)
    assert set(read.y) == {"3", "8", "9"}
    rows = (read.X[:, 0] / 16).astype(int)
    assert len(set(rows)) == 317
    np.testing.assert_array_equal(y[rows].astype(str), read.y)
    assert "another draw" in read.source


# -- what is missing -------------------------------------------------------------------------------


def test_without_folder_and_network_the_error_names_both_ways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    with pytest.raises(datasets.DatasetNotFoundError) as e:
        datasets.load("glass")
    assert isinstance(e.value, FileNotFoundError)
    assert "glass.npz" in str(e.value)
    assert "GRAMLEARN_DATA" in str(e.value)
    assert "data set 41 of OpenML (<urlopen error no network in tests>)." in str(e.value)


NOWHERE_ELSE = sorted(n for n in TABLE if TABLE[n].openml is None and not TABLE[n].shipped)


@pytest.mark.parametrize("name", NOWHERE_ELSE)
def test_openml_is_not_asked_for_sets_it_lacks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    asked = answer(monkeypatch, np.zeros((1, 1)), ["0"])
    with pytest.raises(datasets.DatasetNotFoundError, match="OpenML does not have it"):
        datasets.load(name)
    assert not asked


def test_an_unknown_name_suggests_similar_names() -> None:
    with pytest.raises(ValueError, match=r"near it are 'pima_diabetes'\.$"):
        datasets.load("pima_diabetis")
    with pytest.raises(ValueError, match=r"there are 'adult_a1a', .*'wine'"):
        datasets.load("quux")


# -- the real folder -------------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize("name", datasets.names())
def test_the_folder_holds_what_the_table_says(name: str) -> None:
    """What OpenML's answer is held to is true of the file as well."""
    read, entry = datasets.load(name), TABLE[name]
    rows = len(read.y)
    assert (len(read.texts) if read.X is None else read.X.shape[0]) == rows
    assert (read.y_test is None) == (read.X_test is None and read.texts_test is None)
    if entry.openml is None:
        return
    assert read.X.shape == entry.shape
    assert (0 if read.y_test is None else len(read.y_test)) == entry.n_test
    if entry.sizes:
        assert sorted(np.unique(read.y, return_counts=True)[1]) == sorted(entry.sizes)


@needs_data
def test_iris_of_uci_differs_in_two_rows() -> None:
    read = datasets.load("iris")
    assert np.flatnonzero((read.extra["X_uci"] != read.X).any(axis=1)).tolist() == [34, 37]
