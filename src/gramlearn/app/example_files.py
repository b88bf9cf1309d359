"""Digits, judgments about them, links and a matrix, as files: to try the command on.

points.npy          1,797 handwritten digits, 64 pixels each, in single precision
digits.csv          the same as a table: an id, the digit as a word, and the pixels
judgments.csv       which two digits are alike, one in ten said wrongly
held_out.csv        the same about other digits, all of it right
links.csv           a few must-links and cannot-links
correlations.csv    correlations that were each measured on other days, so that no matrix has them all
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine

from gramlearn.files.matrices import Matrix, write_matrix
from gramlearn.files.rows import write_rows
from gramlearn.files.writing import replacing
from gramlearn.side_information import Pairs

_N_JUDGED, _N_HELD_OUT, _N_LINKS = 2000, 1000, 100
_WRONG = 0.1  # of the judgments
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DAYS = 60  # measured together


def write_example(folder: Path, seed: int) -> Iterator[tuple[Path, str]]:
    """Write the files, and yield each with what it is."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    n, d = X.shape
    yield _write_npy(folder / "points.npy", X), f"{n:,} handwritten digits, {d} pixels"
    rows = ([k, _WORDS[y[k]], *map(int, X[k])] for k in range(n))
    names = ["id", "digit", *(f"pixel_{j // 8}{j % 8}" for j in range(d))]
    write_rows(str(folder / "digits.csv"), names, rows)
    yield folder / "digits.csv", "the same as a table, with the digit of each as a word"
    order = rng.permutation(n)
    known, others = np.split(order, [2 * n // 3])
    for name, part, count, wrong, words in (
        ("judgments.csv", known, _N_JUDGED, _WRONG, "judged pairs of them, one in ten wrongly"),
        ("held_out.csv", others, _N_HELD_OUT, 0.0, "judged pairs of other digits, to score by"),
    ):
        pairs = _judged(y, part, count, wrong, rng)
        write_rows(str(folder / name), ("id_1", "id_2", "alike"), pairs)
        yield folder / name, f"{count:,} {words}"
    links = _judged(y, order, _N_LINKS, 0.0, rng)
    kinds = ("cannot-link", "must-link")
    said = ((i, j, kinds[alike]) for i, j, alike in links)
    write_rows(str(folder / "links.csv"), ("id_1", "id_2", "link"), said)
    yield folder / "links.csv", f"{_N_LINKS} must-links and cannot-links"
    path = folder / "correlations.csv"
    write_matrix(path, _measured_apart(rng))
    yield path, "13 features of wines, correlations that fit no set of wines"


def _write_npy(path: Path, X: np.ndarray) -> Path:
    with replacing(path) as beside, beside.open("wb") as file:
        np.save(file, X.astype(np.float32))
    return path


def _judged(
    y: np.ndarray, rows: np.ndarray, count: int, wrong: float, rng: np.random.Generator
) -> list[tuple[int, int, int]]:
    """(i, j, alike) of pairs drawn from labels, some on the wrong side."""
    pairs = Pairs.from_labels(y[rows], count, random_state=rng)
    table = rows[np.concatenate([pairs.similar, pairs.dissimilar])]
    alike = np.arange(len(table)) < len(pairs.similar)
    alike[rng.permutation(len(table))[: round(wrong * len(table))]] ^= True
    return [(int(i), int(j), int(a)) for (i, j), a in zip(table, alike, strict=True)]


def _measured_apart(rng: np.random.Generator) -> Matrix:
    wine = load_wine()
    Z = wine.data
    n, d = Z.shape
    C = np.eye(d)
    for i in range(d):
        for j in range(i):
            days = rng.permutation(n)[:_DAYS]
            C[i, j] = C[j, i] = round(float(np.corrcoef(Z[days, i], Z[days, j])[0, 1]), 2)
    return Matrix(C, list(wine.feature_names))
