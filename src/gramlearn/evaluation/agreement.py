"""I(C; K) / ((H(C) + H(K)) / 2), or the share of pairs: how far clusters C and classes K agree."""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import check_finite


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
    H_K, H_C, H_both = map(_entropy, _contingency(labels, clusters))
    if H_C + H_K == 0.0:
        return 1.0
    information = H_C + H_K - H_both  # H(C | K) = H(C, K) - H(K)
    return float(np.clip(2 * information / (H_C + H_K), 0.0, 1.0))


def pair_accuracy(labels: Any, clusters: Any) -> float:
    """The share of pairs i < j that clusters and classes both put together or both keep apart (Z11 7.2).

    It is the Rand index. With n_ck points of class k in cluster c, and P(m) = m (m - 1) / 2,

        1 - (sum_c P(n_c) + sum_k P(n_k) - 2 sum_ck P(n_ck)) / P(n)

    which takes n operations and no pairs. One point has no pairs, and gives 1. Clusters at random do not give
    0: with two classes of equal size they give 1/2, and with many small classes nearly 1. Labels are as in
    `normalized_mutual_information`.
    """
    of_classes, of_clusters, of_both = _contingency(labels, clusters)
    n = int(of_classes.sum())
    if n == 1:
        return 1.0
    differ = _pairs(of_classes) + _pairs(of_clusters) - 2 * _pairs(of_both)
    return 1.0 - differ / (n * (n - 1) // 2)


def _contingency(labels: Any, clusters: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def _pairs(counts: np.ndarray) -> int:
    return int(np.sum(counts * (counts - 1) // 2))


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
