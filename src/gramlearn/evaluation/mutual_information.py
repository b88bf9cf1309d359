"""I(C; K) / ((H(C) + H(K)) / 2): how far clusters C and classes K agree, whatever their names."""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import check_finite

__all__ = ["contingency", "normalized_mutual_information"]


def normalized_mutual_information(labels: Any, clusters: Any) -> float:
    """I(C; K) / ((H(C) + H(K)) / 2) of clusters C and classes K (K09 section 7.1): 1 where they agree, 0
    where one says nothing of the other.

    I(C; K) = H(C) - H(C | K). Where both C and K put all points together, the quotient is 0 / 0; the two
    agree, and it is 1. Where one does, it is 0.

    Parameters
    ----------
    labels, clusters : vectors of n labels
        Numbers or strings; which name a group has does not matter.
    """
    H_K, H_C, H_both = map(_entropy, contingency(labels, clusters))
    if H_C + H_K == 0.0:
        return 1.0
    information = H_C + H_K - H_both  # H(C | K) = H(C, K) - H(K)
    return float(np.clip(2 * information / (H_C + H_K), 0.0, 1.0))


def contingency(labels: Any, clusters: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many points each class, each cluster, and each class in each cluster has; the last without zeros."""
    classes, found = _check_groups(labels, "labels"), _check_groups(clusters, "clusters")
    if classes.size != found.size:
        raise ValueError(
            f"`labels` has {classes.size} entries and `clusters` has {found.size}; pass one of each "
            "for every point."
        )
    both = np.unique(classes * (found.max() + 1) + found, return_counts=True)[1]
    return np.bincount(classes), np.bincount(found), both


def _entropy(counts: np.ndarray) -> float:
    """H = -sum p log p, in nats; exactly zero for one group."""
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())


def _check_groups(x: Any, name: str) -> np.ndarray:
    """Number the groups of a vector of labels 0, 1, ..."""
    x = check_unmasked(x, name)
    try:
        labels = to_numpy(x)
    except ValueError:
        raise ValueError(
            f"`{name}` must hold one label for each point; got a nested list."
        ) from None
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(
            f"`{name}` must be a vector of at least one label, one for each point; got shape {labels.shape}."
        )
    if labels.dtype.kind == "f":
        check_finite(labels, name)
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise TypeError(
            f"`{name}` mixes labels that cannot be compared; pass labels of one type."
        ) from None
