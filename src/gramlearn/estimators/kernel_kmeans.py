"""minimize sum_i |g_i - m_c(i)|^2, as a clusterer of scikit-learn that takes a factor G as X."""

from typing import Any, ClassVar, Self

import numpy as np

from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._inputs import validated
from gramlearn.estimators._kmeans import ClustersWithMeans
from gramlearn.estimators._tensors import FollowsArrays
from gramlearn.methods.clustering.kernel_kmeans import kernel_kmeans


class KernelKMeans(FollowsArrays, ClustersWithMeans):
    """minimize sum_i |g_i - m_c(i)|^2 over clusters c(i), for the kernel G G' of a factor G.

    The rows of a factor are coordinates in the feature space of the kernel. So this is kernel k-means
    for that kernel, in n r c operations an iteration, and plain k-means for plain points. X is never the
    kernel matrix itself: of a matrix K, take `spectral_factor(K, "precomputed").factor`.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_init : int
        The number of starts, each seeded by k-means++; the best is kept.
    max_iter : int
        The largest number of iterations. Of each start.
    random_state : int, RandomState or None
        Seeds everything random.

    Attributes
    ----------
    labels_ : vector of n cluster numbers
    cluster_centers_ : array n_clusters x r
        The means of the clusters, in the coordinates of the factor.
    inertia_ : float
        The sum of squared distances to them.
    n_iter_ : int
        The iterations of the start that was kept.
    """

    _takes_tensors: ClassVar[bool] = True

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X, a factor n x r; y is ignored."""
        del y
        X = validated(self, X, dtype=np.float64)
        return self._cluster(kernel_kmeans, X, self.n_clusters)
