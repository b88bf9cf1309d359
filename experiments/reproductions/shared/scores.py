"""How good a learned kernel is, given the true classes."""

import numpy as np

from gramlearn.evaluation import normalized_mutual_information
from gramlearn.methods import kernel_kmeans

_STARTS = 10
_NEIGHBORS = 5


def clustering_nmi(factor: np.ndarray, labels: np.ndarray, seed: int) -> float:
    """NMI = I(C; K) / ((H(C) + H(K)) / 2) of the classes K and of the clusters C.

    The clusters are those of kernel k-means with the kernel factor @ factor.T: the best of ten starts.
    """
    clusters = kernel_kmeans(
        factor, len(np.unique(labels)), n_init=_STARTS, random_state=seed
    ).labels
    return normalized_mutual_information(labels, clusters)


def neighbor_accuracy(factor: np.ndarray, y: np.ndarray) -> float:
    """Of five nearest neighbors, two folds, over ten ways to fold."""
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=10, random_state=0)
    return float(np.mean(cross_val_score(KNeighborsClassifier(_NEIGHBORS), factor, y, cv=folds)))
