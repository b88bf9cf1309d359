"""recall at k = (relevant among the k nearest) / min(k, relevant), and average precision: how good a search is.

    average precision = mean over the relevant of (relevant at most that far) / (points at most that far)

Both are of one query each, so that before and after can be compared query by query; the mean of the second is
the mean average precision. Equal distances have no order: the first counts them by the mean over all orders,
the second takes them together, as scikit-learn does.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import as_numbers, check_count


def recall_at_k(distances: Any, relevant: Any, k: int = 10) -> np.ndarray:
    """The share of what is relevant among the k nearest points, for each query.

    The share is of min(k, relevant), so that 1 can be reached where more than k points are relevant; there it
    is the precision at k.

    Parameters
    ----------
    distances : array q x n
        Of each query from each point, squared or not, or minus a similarity. +inf leaves a point out for
        that query, such as the query itself.
    relevant : array q x n of booleans
        Which points the query should find.
    k : int
    """
    d, found = _check_queries(distances, relevant)
    k = min(check_count(k, "k"), d.shape[1])
    farthest = np.partition(d, k - 1, axis=1)[:, k - 1, None]
    nearer, tied = d < farthest, d == farthest
    # Of the tied ones as many as there are places left, at random.
    places = (k - nearer.sum(axis=1)) / tied.sum(axis=1)
    count = (found & nearer).sum(axis=1) + places * (found & tied).sum(axis=1)
    return np.asarray(count / np.minimum(k, found.sum(axis=1)))


def average_precision(distances: Any, relevant: Any) -> np.ndarray:
    """The mean, over the relevant points, of the precision of a search that ends with that point.

    Parameters
    ----------
    distances, relevant :
        As for `recall_at_k`.

    Returns
    -------
    array of q
        One for each query. Their mean is the mean average precision.
    """
    d, found = _check_queries(distances, relevant)
    order = np.argsort(d, axis=1)
    d, found = (np.take_along_axis(x, order, axis=1) for x in (d, found))
    n = d.shape[1]
    is_last = np.column_stack([d[:, 1:] > d[:, :-1], np.ones(len(d), dtype=bool)])
    # The place of the last point at the same distance as this one.
    last = np.minimum.accumulate(np.where(is_last, np.arange(n), n)[:, ::-1], axis=1)[:, ::-1]
    precision = np.take_along_axis(np.cumsum(found, axis=1), last, axis=1) / (last + 1)
    return np.asarray(np.sum(precision * found, axis=1) / found.sum(axis=1))


def _check_queries(distances: Any, relevant: Any) -> tuple[np.ndarray, np.ndarray]:
    """(distances, what is relevant and not left out)."""
    d = np.asarray(to_numpy(as_numbers(distances, "distances")), dtype=np.float64)
    found = to_numpy(as_numbers(relevant, "relevant"))
    if d.ndim != 2 or 0 in d.shape:
        raise ValueError(
            "`distances` must have one row for each query and one column for each point; got shape "
            f"{d.shape}."
        )
    if found.shape != d.shape:
        raise ValueError(
            f"`relevant` has shape {found.shape}, but `distances` has {d.shape}; pass one truth value for "
            "each distance."
        )
    if found.dtype != bool:
        raise TypeError(
            f"`relevant` must hold booleans; got dtype {found.dtype}. Compare first, such as "
            "labels[queries][:, None] == labels."
        )
    if np.isnan(d).any() or (d == -np.inf).any():
        row = int(np.argmax((np.isnan(d) | (d == -np.inf)).any(axis=1)))
        raise ValueError(
            f"`distances` contains NaN or -inf (first in row {row}); pass +inf for points to leave out."
        )
    found = found & (d < np.inf)
    if not found.any(axis=1).all():
        row = int(np.argmin(found.any(axis=1)))
        raise ValueError(
            f"nothing is `relevant` to query {row}, so it has no score; leave such queries out."
        )
    return d, found
