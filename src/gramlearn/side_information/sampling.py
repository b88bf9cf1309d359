"""Tables of pairs and triplets, drawn from labels or from similarities; no row is drawn twice.

Points of one class are alike, those of different classes are not. Of similarities, the
largest and the smallest become pairs. What is drawn is a table of row numbers in host memory.
"""

from numbers import Integral
from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import (
    as_numbers,
    check_count,
    check_finite,
    check_symmetric,
    generator,
)
from gramlearn._base.warnings import warn
from gramlearn.side_information.indexing import (
    Blocks,
    Boxes,
    Rectangles,
    Runs,
    Triangles,
    distinct_numbers,
)
from gramlearn.side_information.percentiles import check_percentiles

Drawn = tuple[np.ndarray, np.ndarray, int]  # pairs alike, pairs unlike, the number of points

_UNLABELED = -1
_MOST_BY_DEFAULT = 10_000_000
_TRIPLETS_OF_F07 = 1500
_MOST_NUMBERS = 2.0**62


def draw_pairs(y: Any, n_pairs: int | None, random_state: Any) -> Drawn:
    """(alike, unlike, n): half of n_pairs each, as `Pairs.from_labels` says."""
    n_points, labeled, runs = _classes_in_runs(y)
    alike = Triangles(runs.start, runs.size)
    # Each class with all that stand after it: every unlike pair once.
    unlike = Rectangles(runs.start, runs.size, runs.end, labeled.size - runs.end)
    if n_pairs is None:
        n_pairs = min(40 * runs.size.size**2, _MOST_BY_DEFAULT)
    n_pairs = check_count(n_pairs, "n_pairs", least=2)
    rng = generator(random_state)
    return (
        labeled[runs.points(_draw(alike, n_pairs // 2, rng))],
        labeled[runs.points(_draw(unlike, n_pairs - n_pairs // 2, rng))],
        n_points,
    )


def draw_pairs_of_each_class(y: Any, per_class: int, random_state: Any) -> Drawn:
    """(alike, unlike, n): so many pairs within each class, and as many with one point in it (J12 6)."""
    per_class = check_count(per_class, "per_class")
    n_points, labeled, runs = _classes_in_runs(y)
    rng = generator(random_state)
    alike, unlike = [], []
    for start, size in zip(runs.start, runs.size, strict=True):
        inside = labeled[runs.order[start : start + size]]
        outside = np.setdiff1d(labeled, inside)
        i, j = _draw(Triangles(np.asarray([0]), np.asarray([size])), per_class, rng)
        alike.append(np.stack([inside[i], inside[j]], axis=1))
        total = inside.size * outside.size
        i, j = np.divmod(distinct_numbers(rng, total, min(per_class, total)), outside.size)
        unlike.append(np.sort(np.stack([inside[i], outside[j]], axis=1), axis=1))
    return np.concatenate(alike), distinct_rows(np.concatenate(unlike)).rows, n_points


def draw_triplets(y: Any, n_triplets: int | None, random_state: Any) -> tuple[np.ndarray, int]:
    """(rows (i, j, k) with y_i = y_j != y_k, n), as `Triplets.from_labels` says."""
    n_points, labeled, runs = _classes_in_runs(y)
    if n_triplets is None:
        n_triplets = min(max(_TRIPLETS_OF_F07, 40 * runs.size.size**2), _MOST_BY_DEFAULT)
    n_triplets = check_count(n_triplets, "n_triplets")
    of_classes = runs.size.astype(np.float64)
    if float(np.sum(of_classes**2 * (labeled.size - of_classes))) > _MOST_NUMBERS:
        raise ValueError(
            f"`y` has {labeled.size} labeled points, whose triplets are too many to number; keep the labels of "
            "two million of them, and set the others to -1."
        )
    boxes = Boxes(runs.start, runs.size, labeled.size)
    return labeled[runs.points(_draw(boxes, n_triplets, generator(random_state)))], n_points


def find_extreme_pairs(
    S: Any, n_pairs: int | None, percentiles: tuple[float, float], random_state: Any
) -> Drawn:
    """(alike, unlike, n): pairs above the upper percentile of S_ij, and pairs below the lower one."""
    S = np.array(to_numpy(as_numbers(S, "S")), dtype=np.float64)
    if S.ndim == 2:
        np.fill_diagonal(S, 0.0)  # it may be infinite, and says nothing about pairs
    check_symmetric(check_finite(S, "S"), "S")
    percentiles = check_percentiles(percentiles)
    i, j = np.triu_indices(len(S), 1)
    if not i.size:
        raise ValueError("`S` has one row; pairs need at least two points.")
    low, high = np.percentile(S[i, j], percentiles)
    if not low < high:
        raise ValueError(
            f"`S` has the same similarity, {low:.6g}, at both of `percentiles={percentiles}`: no pair is more "
            "alike than another; choose other percentiles."
        )
    rng = generator(random_state)

    def draw(rows: np.ndarray) -> np.ndarray:
        size = rows.size if n_pairs is None else check_count(n_pairs, "n_pairs", least=2) // 2
        chosen = rows[np.sort(distinct_numbers(rng, rows.size, min(size, rows.size)))]
        return np.stack([i[chosen], j[chosen]], axis=1)

    similar, dissimilar = np.flatnonzero(S[i, j] >= high), np.flatnonzero(S[i, j] <= low)
    return draw(similar), draw(dissimilar), len(S)


def _classes_in_runs(y: Any) -> tuple[int, np.ndarray, Runs]:
    """(the number of points, those with a label, these by class); raises unless some are alike and some not."""
    labels, labeled = read_labels(y)
    classes, groups = np.unique(labels[labeled], return_inverse=True)
    n_unlabeled = labels.size - labeled.size
    _check_classes(classes, groups, n_unlabeled)
    if n_unlabeled and labels.dtype.kind == "i" and np.array_equal(classes, (0, 1)):
        warn(
            f"`y` holds -1, 0 and 1, and -1 means unlabeled: {n_unlabeled} of {labels.size} points take no "
            "part. If -1 is a class, pass y.astype(str); if not, None or NaN instead of -1 says so without "
            "this warning."
        )
    return labels.size, labeled, Runs.of(groups)


def check_as_many(n_labels: int, n_rows: int, name: str) -> None:
    """One label for each row."""
    if n_labels != n_rows:
        raise ValueError(
            f"`y` has {n_labels} labels, but `{name}` has {n_rows} rows; pass one for each."
        )


def labeled_classes(y: Any) -> list[np.ndarray]:
    """The rows of each class, of which there are two or more, with labels as in `Pairs.from_labels`."""
    _, labeled, runs = _classes_in_runs(y)
    ends = zip(runs.start, runs.end, strict=True)
    return [labeled[np.sort(runs.order[start:end])] for start, end in ends]


def _draw(blocks: Blocks, size: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    numbers = distinct_numbers(rng, blocks.total, min(size, blocks.total))
    return blocks.places(numbers)


def read_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """(labels, the rows that have one): see `Pairs.from_labels` for what a label is."""
    y = check_unmasked(y, "y")
    try:
        labels = to_numpy(y)
    except ValueError:
        raise ValueError("`y` must hold one label for each point; got a nested list.") from None
    if labels.ndim != 1:
        raise ValueError(
            f"`y` must be one-dimensional, one label for each point; got shape {labels.shape}."
        )
    if labels.size == 0:
        raise ValueError("`y` is empty; pass one label for each point.")
    if labels.dtype.kind == "f" and getattr(getattr(y, "dtype", None), "kind", "f") in "iu":
        labels = np.asarray(y, dtype=object)  # nullable integers, which would become floats
    known = np.ones(labels.size, dtype=bool)
    if labels.dtype.kind in "iu":
        known = labels != _UNLABELED
    elif labels.dtype.kind == "f":
        known = ~np.isnan(labels)
    elif labels.dtype.kind == "O":
        known = np.asarray([_is_label(label) for label in labels])
        kinds = {type(label).__name__ for label in labels[known]}
        if len(kinds) > 1:
            raise TypeError(
                f"`y` mixes labels of the types {', '.join(sorted(kinds))}; pass labels of one "
                "type."
            )
        labels = np.where(known, labels, labels[known][:1] if known.any() else 0)
    return labels, np.flatnonzero(known)


def _is_label(label: Any) -> bool:
    """Neither None nor -1, and equal to itself, which NaN and missing values of pandas are not."""
    is_itself = label == label
    if label is None or not isinstance(is_itself, bool | np.bool_):
        return False
    return bool(is_itself) and not (isinstance(label, Integral) and label == _UNLABELED)


def _check_classes(classes: np.ndarray, groups: np.ndarray, n_unlabeled: int) -> None:
    if classes.size == 0:
        raise ValueError(
            "every point of `y` is unlabeled (-1, NaN or None); at least two classes are needed."
        )
    if classes.size == 1:
        besides = (
            f" besides -1, NaN or None, which mean unlabeled ({n_unlabeled} points); if -1 is a class "
            "of yours, pass y.astype(str)"
            if n_unlabeled
            else "; at least two are needed"
        )
        raise ValueError(f"`y` has one class only, {classes[0]!s}{besides}.")
    if classes.size == groups.size:
        raise ValueError(
            f"no class in `y` has two members ({classes.size} labels, all different), so no two "
            "points are alike. If y is a measurement, cut it into classes first."
        )


def classes_of(y: Any) -> list[np.ndarray] | None:
    """The rows of each class; points without a label are in none."""
    if y is None:
        return None
    labels, labeled = read_labels(y)
    return [labeled[labels[labeled] == label] for label in np.unique(labels[labeled])]
