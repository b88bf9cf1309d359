"""What is asked of the pairs of a stream: read from y, or from statements.

A y says by itself what it is: booleans judge pairs, and so do numbers of 1 and -1, as no squared distance is
-1. All other numbers are squared distances. What may be either is refused, or warned of.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import is_elsewhere, namespace, to_numpy
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import as_numbers, check_finite
from gramlearn._base.warnings import warn
from gramlearn.methods.metric.online import Asked
from gramlearn.side_information import Bounds, Pairs


def check_not_row_numbers(X: Any) -> None:
    """Pairs are given by their points; a table of row numbers would pass for differences of two features."""
    if issparse(X) or getattr(X, "shape", (0,))[1:] != (2,):
        return
    if is_elsewhere(X) and not namespace(X).isdtype(X.dtype, "integral"):
        return
    table = to_numpy(X) if is_elsewhere(X) else np.asarray(X)
    if table.dtype.kind in ("i", "u") and table.size and table.min() >= 0:
        raise TypeError(
            "`X` holds two columns of whole numbers, as row numbers of pairs are; pass the points themselves, "
            "points[pairs] of shape (m, 2, d). Differences of points with two features are passed as floats."
        )


class Told(NamedTuple):
    """What y asks, and whether it judges pairs, rather than giving distances."""

    asked: Asked
    is_judged: bool


def read_told(y: Any, n_pairs: int, judged: bool | None) -> Told:
    """Judgments or squared distances, one a pair; numbers that are all 1 are of the kind that came before."""
    if y is None:
        raise ValueError(
            "nothing is known about the pairs: this estimator requires y to be passed, but the target y is "
            "None; pass whether each pair is alike, the squared distance it should have, or `side=`."
        )
    try:
        given = to_numpy(check_unmasked(y, "y"))
    except ValueError:
        given = as_numbers(y, "y")  # which says why it is no array
    if given.dtype.kind in ("U", "S"):
        raise TypeError(
            f"`y` holds labels ({given.dtype}); pass whether each pair is alike, labels[i] == labels[j], or "
            "the squared distance that each pair should have."
        )
    is_boolean = given.dtype.kind == "b"
    numbers = given if is_boolean else to_numpy(as_numbers(y, "y"))
    if numbers.ndim != 1:
        raise ValueError(
            "`y` must be one-dimensional, one judgment or squared distance for each pair; got shape "
            f"{numbers.shape}."
        )
    if len(numbers) != n_pairs:
        raise ValueError(
            f"`y` has {len(numbers)} entries, but `X` has {n_pairs} pairs; pass one for each."
        )
    is_judgment = is_boolean or _are_signs(numbers, judged)
    if judged is not None and judged != is_judgment:
        kinds = ("squared distances", "judgments, alike or not")
        raise ValueError(
            f"`y` holds {kinds[is_judgment]}, and earlier pairs of this stream had {kinds[judged]}; pass the "
            "same kind, as booleans where they are judgments, or start anew with `fit`."
        )
    if is_judgment:
        return Told(Asked.of_judgments(np.asarray(numbers > 0)), True)
    _warn_of_labels(given)
    targets = np.asarray(check_finite(np.asarray(numbers, dtype=np.float64), "y"))
    if targets.min() < 0:
        raise ValueError(
            f"`y` contains {targets.min():.6g}; it holds squared distances, which are at least 0, or 1 for "
            "pairs that are alike and -1 for those that are not."
        )
    return Told(Asked.of_targets(targets), False)


def _are_signs(y: np.ndarray, judged: bool | None) -> bool:
    """Whether numbers say alike and unlike; no distance is -1."""
    return bool(np.isin(y, (-1, 1)).all() and (judged or (y < 0).any()))


def _warn_of_labels(y: np.ndarray) -> None:
    """Whole numbers from 0 or 1 up, often repeated, may be labels."""
    if y.dtype.kind not in ("i", "u") or not y.size:
        return
    values = np.unique(y)
    is_code = values[0] in (0, 1) and values[-1] - values[0] == values.size - 1
    if is_code and 1 < values.size <= y.size // 2:
        warn(
            f"`y` holds the whole numbers {values[0]} to {values[-1]}, as labels do, and they are taken for "
            "squared distances; pass booleans where they say alike, or y.astype(float) if distances they are."
        )


def asked_by_pairs(side: Pairs) -> Asked:
    """The similar pairs, then the dissimilar ones, with the bounds they have."""
    _, _, alike = (to_numpy(v) for v in side.near_and_far())
    upper, lower = np.full(alike.size, np.nan), np.full(alike.size, np.nan)
    for bounds, kind, given in ((upper, alike, side.upper), (lower, ~alike, side.lower)):
        if given is not None:
            bounds[kind] = given if isinstance(given, float) else to_numpy(given)
    return Asked.of_judgments(alike, upper, lower, side.pair_weights())


def in_step(side: Pairs) -> np.ndarray:
    """The order of the two lists read side by side, each in its own order and at its own even pace."""
    n, m = (int(table.shape[0]) for table in (side.similar, side.dissimilar))
    times = [(np.arange(count) + 0.5) / max(count, 1) for count in (n, m)]
    return np.argsort(np.concatenate(times), kind="stable")


def asked_by_bounds(side: Bounds) -> Asked:
    """The intervals, in their order."""
    every = np.ones(side.size)
    ends = [
        every
        * (default if given is None else to_numpy(given) if hasattr(given, "shape") else given)
        for given, default in ((side.lower, 0.0), (side.upper, np.inf), (side.weight, 1.0))
    ]
    return Asked(*ends)
