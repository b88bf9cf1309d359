"""Digits of MNIST as K09 7.2 has them: deskewed, 100 principal components, the nearest neighbor.

    deskewed(row i, column j) = image(row i, column j + a (i - mean row)),   a = cov(row, column) / var(row)

with the ink as weights, linear between columns. The covariance of row and column is zero then. Where the ink is
centered as well, rows are interpolated too, and that smooths the images.
"""

from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn import datasets

__all__ = ["PREPARATIONS", "Digits", "deskewed", "nearest", "prepared", "wrong"]

PREPARATIONS = {
    "raw": "as they are",
    "deskewed": "deskewed",
    "centered": "deskewed, and the ink centered between pixels",
}
_SIDE = 28
_COMPONENTS = 100
_BLOCK = 1000


@final
class Digits(NamedTuple):
    """Points of mean squared distance 1, and their classes."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@cache
def prepared(preparation: str, n_train: int, n_test: int) -> Digits:
    """The first so many digits, on the principal components of those to learn from."""
    given = datasets.load("mnist")
    X, X_test = (
        _pixels(images, preparation) for images in (given.X[:n_train], given.X_test[:n_test])
    )
    mean = X.mean(axis=0)
    X -= mean
    X_test -= mean
    leading = np.linalg.eigh((X.T @ X).astype(np.float64))[1][:, -_COMPONENTS:].astype(X.dtype)
    X, X_test = X @ leading, X_test @ leading
    scale = np.sqrt(2 * X.var(axis=0).sum())  # the mean squared distance, unless it is divided out
    return Digits(X / scale, given.y[:n_train], X_test / scale, given.y_test[:n_test])


def _pixels(images: np.ndarray, preparation: str) -> np.ndarray:
    images = images.astype(np.float32)
    if preparation == "raw":
        return images
    centered = preparation == "centered"
    blocks = range(0, len(images), _BLOCK)
    return np.concatenate([deskewed(images[k : k + _BLOCK], centered) for k in blocks])


def deskewed(images: np.ndarray, centered: bool = False) -> np.ndarray:
    """Images, one a row, with the slant of their ink taken out."""
    ink = images.reshape(-1, _SIDE, _SIDE)
    at = np.arange(_SIDE, dtype=images.dtype)
    by_row, by_column, total = ink.sum(axis=2), ink.sum(axis=1), ink.sum(axis=(1, 2))
    row, column = by_row @ at / total, by_column @ at / total
    off_row, off_column = at - row[:, None], at - column[:, None]
    variance = (by_row * off_row**2).sum(axis=1)
    covariance = ((ink @ off_column[:, :, None])[:, :, 0] * off_row).sum(axis=1)
    slant = (covariance / variance)[:, None]
    if centered:
        middle = (_SIDE - 1) / 2
        rows = at + row[:, None] - middle
        shift = slant * (at - middle) + column[:, None] - middle
    else:
        rows, shift = np.broadcast_to(at, off_row.shape), slant * off_row
    return _interpolated(ink, rows, at + shift[:, :, None]).reshape(images.shape)


def _interpolated(ink: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Pixels at these rows (n x 28) and columns (n x 28 x 28); beyond the image there is no ink."""
    padded = np.pad(ink, ((0, 0), (1, 1), (1, 1)))
    below, left = np.floor(rows).astype(np.intp), np.floor(columns).astype(np.intp)
    number, value = np.arange(len(ink))[:, None, None], np.zeros_like(ink)
    for up in (0, 1) if np.any(rows != below) else (0,):
        weight = (1 - np.abs(rows - below - up))[:, :, None]
        r = np.clip(below + up + 1, 0, _SIDE + 1)[:, :, None]
        for right in (0, 1):
            c = np.clip(left + right + 1, 0, _SIDE + 1)
            value += weight * (1 - np.abs(columns - left - right)) * padded[number, r, c]
    return value


def nearest(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The row of `points` nearest to each of `others`: argmin |p|^2 / 2 - <p, o>, a block at a time."""
    half = (points**2).sum(axis=1) / 2
    blocks = range(0, len(others), _BLOCK // 2)
    return np.concatenate(
        [np.argmin(half - others[k : k + _BLOCK // 2] @ points.T, axis=1) for k in blocks]
    )


def wrong(points: Any, labels: np.ndarray, others: Any, truth: np.ndarray) -> np.ndarray:
    """Which of the others the nearest point takes for another digit."""
    return np.asarray(labels[nearest(points, others)] != truth)
