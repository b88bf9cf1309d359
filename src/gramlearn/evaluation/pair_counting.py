"""sum_{i<j} 1{1{c_i = c_j} = 1{k_i = k_j}} / (n (n - 1) / 2): the pairs on which clusters and classes agree."""

from typing import Any

import numpy as np

from gramlearn.evaluation.mutual_information import contingency

__all__ = ["pair_accuracy"]


def pair_accuracy(labels: Any, clusters: Any) -> float:
    """The share of pairs i < j that clusters and classes both put together or both keep apart (Z11 7.2).

    It is the Rand index. With n_ck points of class k in cluster c, and P(m) = m (m - 1) / 2,

        1 - (sum_c P(n_c) + sum_k P(n_k) - 2 sum_ck P(n_ck)) / P(n)

    which takes n operations and no pairs. One point has no pairs, and gives 1. Clusters at random do not give
    0: with two classes of equal size they give 1/2, and with many small classes nearly 1.

    Parameters
    ----------
    labels, clusters : vectors of n labels
        Numbers or strings; which name a group has does not matter.
    """
    of_classes, of_clusters, of_both = contingency(labels, clusters)
    n = int(of_classes.sum())
    if n == 1:
        return 1.0
    differ = _pairs(of_classes) + _pairs(of_clusters) - 2 * _pairs(of_both)
    return 1.0 - differ / (n * (n - 1) // 2)


def _pairs(counts: np.ndarray) -> int:
    return int(np.sum(counts * (counts - 1) // 2))
