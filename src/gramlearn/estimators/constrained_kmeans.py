"""sum_i |g_i - m_c(i)|^2 -> min with pairs that share a cluster or do not, as a clusterer of scikit-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramlearn.clustering import nearest_centers
from gramlearn.constrained_clustering import constrained_kmeans
from gramlearn.estimators._learning import check_not_side
from gramlearn.side_information import Pairs

__all__ = ["ConstrainedKMeans"]


class ConstrainedKMeans(ClusterMixin, BaseEstimator):
    """sum_i |g_i - m_c(i)|^2 -> min over clusters c(i) that keep all pairs, for points or a factor G.

    Similar pairs share a cluster, and so do those that follow from them; dissimilar pairs never do. Without
    pairs this is `KernelKMeans`.

    Parameters
    ----------
    n_clusters : int
        How many clusters.
    n_init : int
        How many starts, each seeded by k-means++; the best is kept.
    max_iter : int
        The most iterations of one start.
    random_state : int, RandomState or None
        Seeds the starts.

    Attributes
    ----------
    labels_ : vector of n cluster numbers
    cluster_centers_ : array n_clusters x r
        The means of the clusters.
    inertia_ : float
        The sum of squared distances to them.
    n_iter_ : int
        The iterations of the start that was kept.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, side: Pairs | None = None) -> Self:
        """Cluster the rows of X so that the pairs of `side` hold; y is not used."""
        check_not_side(y)
        X = validate_data(self, X, dtype=np.float64)
        found = constrained_kmeans(
            X,
            self.n_clusters,
            side,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        self.labels_ = found.labels
        self.cluster_centers_ = found.centers
        self.inertia_ = found.objective
        self.n_iter_ = found.iterations
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Give the cluster whose mean is nearest, for each row of X: for new rows, of which no pair is known.

        A row that was learned from may have another cluster in `labels_`, where its pairs ask for it.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return nearest_centers(X, self.cluster_centers_)
