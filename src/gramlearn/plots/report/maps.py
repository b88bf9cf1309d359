"""The two principal directions of points before and after, and the ten nearest of each: what the maps show.

Coordinates are whole numbers of 16 bits on one scale for both axes of a map, and neighbors are places among the
points shown. The directions of the second map have the signs that agree most with the first.
"""

from base64 import b64encode
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from gramlearn.plots.report.reading import Given

MOST_SHOWN = 10_000
N_NEAREST = 10
_MOST_CLASSES = 9  # with a color of their own, the largest; a tenth is for all others
_MOST_NAMES = 2000
_NO_CLASS = 2**16 - 1
_LONGEST_NAME = 60
_STEPS = 2**16 - 1
_SPREAD = 20_000  # points that tell the directions of a map


def choose_rows(given: Given, first: np.ndarray) -> np.ndarray:
    """The rows to show, ascending: all, or of very many those named first and others at random."""
    n = given.n_points
    if n <= MOST_SHOWN:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), first)
    count = MOST_SHOWN - len(first)
    drawn = np.random.default_rng(given.seed).choice(others, count, replace=False)
    return np.sort(np.concatenate([first, drawn]).astype(np.int64))


def maps_of(given: Given, rows: np.ndarray) -> dict[str, Any]:
    """Both maps, for the script of the page."""
    before, share_before = _plane(given.before, rows, given.seed)
    after, share_after = _plane(given.after, rows, given.seed)
    signs = np.sign(np.sum((before - before.mean(axis=0)) * (after - after.mean(axis=0)), axis=0))
    after = after * np.where(signs == 0, 1.0, signs)
    near = [nearest(points[rows]) for points in (given.before, given.after)]
    of_each, names, n_colored = _ordered_classes(given.classes[rows], given.names)
    return {
        "n_points": given.n_points,
        "n_shown": len(rows),
        "rows": None if len(rows) == given.n_points else _packed(rows, np.uint32),
        "before": _packed(_quantized(before), np.uint16),
        "after": _packed(_quantized(after), np.uint16),
        "share_before": share_before,
        "share_after": share_after,
        "n_nearest": near[0].shape[1],
        "near_before": _packed(near[0], np.uint16),
        "near_after": _packed(near[1], np.uint16),
        "kept": _mean_common(*near),
        "same_class": None
        if not given.names
        else [_same(ten, given.classes[rows]) for ten in near],
        "classes": names,
        "n_classes": len(given.names),
        "n_colored": n_colored,
        "of_each": _packed(of_each, np.uint16),
        "columns_share": _columns_share(given.learner),
    }


def nearest(points: Any) -> np.ndarray:
    """The places of the ten nearest others of each point, the nearest first; fewer where there are fewer."""
    n = points.shape[0]
    count = min(N_NEAREST, n - 1)
    if count < 1:
        return np.zeros((n, 0), dtype=int)
    search = NearestNeighbors(n_neighbors=count).fit(points)
    return np.asarray(search.kneighbors(return_distance=False))


def _plane(points: Any, rows: np.ndarray, seed: int) -> tuple[np.ndarray, list[float]]:
    """Coordinates of rows along the two principal directions, and the share of the variance of each."""
    n, d = points.shape
    count = min(2, d, n - 1)
    plane = np.zeros((len(rows), 2))
    if count < 1:
        return plane, [0.0, 0.0]
    some = points
    if n > _SPREAD:
        drawn = np.random.default_rng(seed).choice(n, _SPREAD, replace=False)
        some = points[np.sort(drawn)]
    if issparse(points) and min(points.shape) > count:
        pca = PCA(count, svd_solver="arpack", random_state=seed)
    else:
        some = some.toarray() if issparse(some) else some
        pca = PCA(count, random_state=seed)
    with np.errstate(divide="ignore", invalid="ignore"):  # of points that are all equal
        pca.fit(some)
    shown = points[rows] @ pca.components_.T
    plane[:, :count] = np.asarray(shown) - pca.mean_ @ pca.components_.T
    share = np.zeros(2)
    share[:count] = np.nan_to_num(pca.explained_variance_ratio_)
    return plane, [float(part) for part in share]


def _quantized(plane: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 to 65535, with one unit for both axes, in the middle of both."""
    low, high = plane.min(axis=0), plane.max(axis=0)
    span = float((high - low).max()) or 1.0
    return np.asarray(np.rint(((plane - (low + high) / 2) / span + 0.5) * _STEPS))


def _ordered_classes(classes: np.ndarray, names: list[str]) -> tuple[np.ndarray, list[str], int]:
    """Of each point the number of its class, the names, and how many of these have a color of their own.

    Of many classes the largest have one, and come first.
    """
    sizes = np.bincount(classes[classes >= 0], minlength=len(names))
    order = np.arange(len(names))
    n_colored = len(names)
    if len(names) > _MOST_CLASSES + 1:
        n_colored = _MOST_CLASSES
        largest = np.argsort(-sizes, kind="stable")[:_MOST_CLASSES]
        order = np.concatenate([np.sort(largest), np.setdiff1d(order, largest)])
    number = np.empty(len(names) + 1, dtype=int)
    number[order] = np.minimum(np.arange(len(names)), _MOST_NAMES)
    number[-1] = _NO_CLASS  # that of class -1
    shown = [_short(names[k]) for k in order[:_MOST_NAMES]]
    shown += ["another class"] if len(names) > _MOST_NAMES else []
    return number[classes], shown, n_colored


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _mean_common(first: np.ndarray, second: np.ndarray) -> float:
    """How many of the neighbors before are among those after, on average."""
    if not first.size:
        return 0.0
    return float(np.mean([len(set(a) & set(b)) for a, b in zip(first, second, strict=True)]))


def _same(near: np.ndarray, classes: np.ndarray) -> float:
    """The share of the neighbors of labeled points that are of their class."""
    labeled = classes >= 0
    if not near.size or not labeled.any():
        return 0.0
    return float(np.mean(classes[near[labeled]] == classes[labeled, None]))


def _columns_share(learner: Any) -> float | None:
    """How much of the learned squared distances `transform` keeps, where it keeps a part."""
    share = getattr(learner, "columns_share_", None)
    return None if share is None or share > 1 - 1e-9 else float(share)


def _packed(numbers: np.ndarray, kind: Any) -> str:
    """Numbers as the bytes that a typed array reads, in base 64."""
    little = np.asarray(numbers, dtype=np.dtype(kind).newbyteorder("<"))
    return b64encode(little.tobytes()).decode()
