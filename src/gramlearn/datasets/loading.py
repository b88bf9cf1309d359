"""load(name): (X, y) of a published data set, from a folder of yours, scikit-learn or OpenML.

The folder is the one that the environment variable GRAMLEARN_DATA names; a file in it is read only
if its SHA-256 is the one in the table. Without the file, the copy that scikit-learn brings along is taken;
where there is none, OpenML is asked, through scikit-learn and its cache.
"""

import difflib
import gzip
import hashlib
import io
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any, final

import numpy as np

from gramlearn.datasets.table import TABLE, Entry

VARIABLE = "GRAMLEARN_DATA"


class DatasetNotFoundError(FileNotFoundError):
    """A data set is neither in the folder nor anywhere else; the message says what to do."""


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Points X, one a row, with their labels y.

    Attributes
    ----------
    name : str
    source : str
        Where these very numbers come from, in a sentence.
    X : array n x d, sparse array n x d, or None
        The points; None where the set consists of texts.
    y : array of n
        The labels, or the numbers to predict.
    X_test, y_test : the same of the test part, where the set comes with one
    texts, texts_test : tuple of str, where the set consists of texts
    extra : mapping
        What else the place holds, such as `feature_names`.
    """

    name: str
    source: str
    X: Any
    y: np.ndarray
    X_test: Any = None
    y_test: np.ndarray | None = None
    texts: tuple[str, ...] | None = None
    texts_test: tuple[str, ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        shape = f"{len(self.y)} texts" if self.X is None else "{} x {}".format(*self.X.shape)
        test = "" if self.y_test is None else f" and {len(self.y_test)} to test"
        return f"Dataset({self.name}: {shape}{test}; {self.source})"


def names() -> list[str]:
    """The names that `load` knows."""
    return sorted(TABLE)


def load(name: str) -> Dataset:
    """(X, y) of the data set called `name`; `names()` lists them.

    From OpenML, labels and the order of rows are OpenML's; shape and class sizes are checked.

    Raises
    ------
    DatasetNotFoundError
        Where the set is in no place; a FileNotFoundError.
    ValueError
        For an unknown name, and for a file or an answer that is not the data set.
    """
    entry = TABLE.get(str(name))
    if entry is None:
        near = difflib.get_close_matches(str(name), TABLE, n=3, cutoff=0.5)
        words = "near it are" if near else "there are"
        known = ", ".join(repr(known) for known in near or names())
        raise ValueError(f"`load({name!r})`: there is no data set of this name; {words} {known}.")
    path = _path(entry)
    if path is not None:
        return _read(name, entry, path)
    if entry.shipped:
        return _load_shipped(name, entry)
    if entry.openml is None:
        raise DatasetNotFoundError(_say_where_to_get(name, entry))
    return _fetch(name, entry)


def _path(entry: Entry) -> Path | None:
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        # An error, since otherwise a typo in the name would lead to a download.
        raise DatasetNotFoundError(
            f"{VARIABLE} is {folder!r}, which is not a folder; let it name one, or unset it."
        )
    path = Path(folder) / entry.file
    if path.is_dir():
        raise DatasetNotFoundError(
            f"{path} is a folder, where the file of the data set belongs; put {entry.file} in its place, or "
            "remove it."
        )
    return path if path.exists() else None


def _read(name: str, entry: Entry, path: Path) -> Dataset:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"{path} cannot be read ({error.strerror}); fix its permissions, or remove it from the folder."
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != entry.sha256:
        raise ValueError(
            f"{path} has the SHA-256 {found[:16]}..., but {name} has {entry.sha256[:16]}...: the file is "
            "damaged or another one; replace it, or remove it from the folder."
        )
    source = f"{entry.file}: {entry.origin}"
    if entry.file.endswith(".jsonl.gz"):
        return _read_texts(name, source, content)
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    if "indptr" in arrays:
        arrays = _restore_sparse(arrays, content)
    parts = {key: arrays.pop(key) for key in ("X", "y", "X_test", "y_test") if key in arrays}
    return Dataset(name, source, extra=arrays, **parts)


def _restore_sparse(arrays: dict[str, Any], content: bytes) -> dict[str, Any]:
    """Put the sparse matrix in the place of the arrays it is made of."""
    from scipy import sparse

    parts = {"format", "shape", "data", "indices", "indptr"}
    rest = {key: array for key, array in arrays.items() if key not in parts}
    return {**rest, "X": sparse.csr_array(sparse.load_npz(io.BytesIO(content)))}


def _read_texts(name: str, source: str, content: bytes) -> Dataset:
    messages = [json.loads(line) for line in gzip.decompress(content).splitlines()]
    parts: dict[str, Any] = {}
    for subset, ending in (("train", ""), ("test", "_test")):
        chosen = [message for message in messages if message["subset"] == subset]
        parts["texts" + ending] = tuple(message["text"] for message in chosen)
        parts["y" + ending] = np.array([message["group"] for message in chosen])
    return Dataset(name, source, X=None, **parts)


def _load_shipped(name: str, entry: Entry) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, entry.shipped)()
    extra = {key: np.asarray(bunch[key]) for key in ("feature_names", "target_names")}
    source = f"sklearn.datasets.{entry.shipped}"
    return Dataset(name, source, bunch.data, bunch.target, extra=extra)


def _fetch(name: str, entry: Entry) -> Dataset:
    from sklearn import datasets

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred")  # it is raised below
            # This parser needs no pandas.
            bunch = datasets.fetch_openml(
                data_id=entry.openml, as_frame=False, parser="liac-arff", n_retries=1
            )
    except (OSError, HTTPException, ValueError) as error:
        raise DatasetNotFoundError(_say_where_to_get(name, entry, error)) from error
    X, y = _decode(bunch), np.asarray(bunch.target)
    y = y.astype(float) if entry.sizes is None else y.astype(str)
    if entry.drawn:
        X, y = entry.drawn(X, y)
    n = entry.shape[0]
    _check(name, entry, X, y)
    test: dict[str, Any] = {"X_test": X[n:], "y_test": y[n:]} if entry.n_test else {}
    words = f", {entry.drawn_words}" if entry.drawn else ""
    return Dataset(name, f"data set {entry.openml} of OpenML{words}", X[:n], y[:n], **test)


def _decode(bunch: Any) -> np.ndarray:
    """X, with the numbers themselves where OpenML calls a column of numbers categorical."""
    X = np.array(bunch.data, dtype=float)
    for feature, values in (bunch.get("categories") or {}).items():
        try:
            numbers = np.array(values, dtype=float)
        except ValueError:
            continue  # words: their codes stay
        if feature in bunch.feature_names:
            column = bunch.feature_names.index(feature)
            X[:, column] = numbers[X[:, column].astype(int)]
    return X


def _check(name: str, entry: Entry, X: np.ndarray, y: np.ndarray) -> None:
    n, d = entry.shape
    if X.shape != (n + entry.n_test, d):
        raise ValueError(_say_it_differs(name, entry, f"{X.shape[0]} x {X.shape[1]} numbers"))
    sizes = sorted(np.unique(y[:n], return_counts=True)[1].tolist())
    if entry.sizes and sizes != sorted(entry.sizes):
        raise ValueError(_say_it_differs(name, entry, f"classes of {sizes} rows"))


def _say_it_differs(name: str, entry: Entry, found: str) -> str:
    expected = f"{entry.shape[0] + entry.n_test} x {entry.shape[1]} numbers"
    if entry.sizes:
        expected += f" and classes of {sorted(entry.sizes)} rows"
    if entry.n_test:
        expected += f" in its first {entry.shape[0]}"
    return (
        f"data set {entry.openml} of OpenML has {found}, but {name} has {expected}; it is another set, so "
        f"put {entry.file} into a folder that {VARIABLE} names."
    )


def _say_where_to_get(name: str, entry: Entry, error: Exception | None = None) -> str:
    """Say in one sentence where a data set can be had."""
    first = (
        f"the data set {name} is not here: put {entry.file} ({entry.origin}) into a folder and let "
    )
    first += f"the environment variable {VARIABLE} name it, "
    if error is None:
        return first + f"which is the only way, for OpenML does not have it{entry.otherwise}."
    return (
        first + f"or load it once with a network, from data set {entry.openml} of OpenML ({error})."
    )
