"""How good a learned kernel is, given the true classes."""

import numpy as np

__all__ = ["clustering_nmi"]

_STARTS = 10


def clustering_nmi(factor: np.ndarray, labels: np.ndarray, seed: int) -> float:
    """NMI = I(C; K) / ((H(C) + H(K)) / 2) of the classes K and of the clusters C.

    The clusters are those of kernel k-means with the kernel factor @ factor.T, which is k-means on the
    rows of the factor: the best of ten starts.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score

    n_clusters = len(np.unique(labels))
    kmeans = KMeans(n_clusters, n_init=_STARTS, random_state=seed)
    clusters = kmeans.fit_predict(factor)
    return float(normalized_mutual_info_score(labels, clusters, average_method="arithmetic"))
