"""minimize sum_i |g_i - m_c(i)|^2 with pairs that share a cluster or do not, as a clusterer of scikit-learn."""

from typing import Any, Self

import numpy as np

from gramlearn._base.validation import check_extent
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._inputs import validated
from gramlearn.estimators._kmeans import ClustersWithMeans
from gramlearn.estimators._learning import check_not_side
from gramlearn.methods.clustering.constrained import constrained_kmeans
from gramlearn.side_information import Pairs


class ConstrainedKMeans(ClustersWithMeans):
    """minimize sum_i |g_i - m_c(i)|^2 over clusters c(i) that keep all pairs, for points or a factor G.

    Similar pairs share a cluster, and so do those that follow from them; dissimilar pairs never do. Without
    pairs this is `KernelKMeans`. New rows, of which no pair is known, go to the nearest mean; a row that was
    learned from may have another cluster in `labels_`, where its pairs ask for it.

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
        The means of the clusters.
    inertia_ : float
        The sum of squared distances to them.
    n_iter_ : int
        The iterations of the start that was kept.
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: Pairs | None = None) -> Self:
        """Cluster the rows of X so that the pairs of `side` hold; y is ignored."""
        check_not_side(y)
        X = check_extent(validated(self, X, dtype=np.float64), power=2)
        return self._cluster(constrained_kmeans, X, self.n_clusters, side)
