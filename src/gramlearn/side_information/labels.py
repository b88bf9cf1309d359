"""Pairs and triplets drawn from labels: points of one class are alike, those of different classes are not."""

from numbers import Integral
from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import check_count, generator
from gramlearn.side_information.indexing import (
    Blocks,
    Boxes,
    Rectangles,
    Runs,
    Triangles,
    distinct_numbers,
)
from gramlearn.side_information.pairs import Pairs
from gramlearn.side_information.triplets import Triplets

__all__ = ["classes_of", "from_labels", "read_labels", "triplets_from_labels"]

_UNLABELED = -1
_MOST_BY_DEFAULT = 10_000_000
_TRIPLETS_OF_F07 = 1500
_MOST_NUMBERS = 2.0**62


def from_labels(y: Any, n_pairs: int | None = None, *, random_state: Any = None) -> Pairs:
    """n_pairs / 2 pairs with y_i = y_j and n_pairs / 2 with y_i != y_j, every pair equally likely.

    No pair is drawn twice. Where a half asks for more pairs than there are, it is all of them, and
    the draw has fewer than n_pairs. An odd n_pairs gives the odd one to the unlike half.

    Parameters
    ----------
    y : vector of n labels
        Numbers, strings or booleans, in any array library; the indices are drawn in host memory.
        The integer -1, NaN, None and pandas' NA mean unlabeled, and such points are in no pair; -1.0 and "-1"
        are labels as any other. A class with one member is in unlike pairs only.
    n_pairs : int, optional
        40 c^2 for c classes (K09 7.2), but ten million at most, where it is not given.
    random_state : int, Generator or None
        Seeds the draw.
    """
    n_points, labeled, runs = _classes_in_runs(y)
    alike = Triangles(runs.start, runs.size)
    # Each class with all that stand after it: every unlike pair once.
    unlike = Rectangles(runs.start, runs.size, runs.end, labeled.size - runs.end)
    if n_pairs is None:
        n_pairs = min(40 * runs.size.size**2, _MOST_BY_DEFAULT)
    n_pairs = check_count(n_pairs, "n_pairs", least=2)
    rng = generator(random_state)
    similar, dissimilar = (
        labeled[runs.points(_draw(blocks, size, rng))]
        for blocks, size in ((alike, n_pairs // 2), (unlike, n_pairs - n_pairs // 2))
    )
    return Pairs(similar, dissimilar, n_points=n_points)


def triplets_from_labels(
    y: Any, n_triplets: int | None = None, *, random_state: Any = None
) -> Triplets:
    """n_triplets rows (i, j, k) with y_i = y_j != y_k, every such row equally likely (F07 3.1).

    No row is drawn twice. Where fewer exist than are asked for, it is all of them, in random order. The work
    is that of the rows drawn, however many there are.

    Parameters
    ----------
    y : vector of n labels
        As for `from_labels`. Unlabeled points are in no row. A class with one member is only ever k, and a
        class is in the more rows the larger it is.
    n_triplets : int, optional
        Where it is not given, 1500, which F07 learns from with up to six classes, or 40 c^2 for c classes
        where that is more: for each pair of classes as many as `from_labels` draws; ten million at most.
    random_state : int, Generator or None
        Seeds the draw.
    """
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
    drawn = runs.points(_draw(boxes, n_triplets, generator(random_state)))
    return Triplets(labeled[drawn], n_points=n_points)


def _classes_in_runs(y: Any) -> tuple[int, np.ndarray, Runs]:
    """(the number of points, those that have a label, these by class), where some are alike and some not."""
    labels, labeled = read_labels(y)
    classes, groups = np.unique(labels[labeled], return_inverse=True)
    _check_classes(classes, groups, n_unlabeled=labels.size - labeled.size)
    return labels.size, labeled, Runs.of(groups)


def _draw(blocks: Blocks, size: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    numbers = distinct_numbers(rng, blocks.total, min(size, blocks.total))
    return blocks.places(numbers)


def read_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """(labels, the rows that have one): see `from_labels` for what a label is."""
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
    """Neither None nor -1, and equal to itself: NaN is not, and a missing value of pandas does not know."""
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
