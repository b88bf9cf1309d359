"""c(x) = argmin_c |x - m_c|^2: what clusterers that end with means m have in common."""

from abc import ABC
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import placed_like
from gramlearn.estimators._all_or_nothing import run_search
from gramlearn.estimators._inputs import validated
from gramlearn.methods.clustering.kernel_kmeans import Clustering, nearest_centers


class ClustersWithMeans(ClusterMixin, BaseEstimator, ABC):
    """Parameters of the starts, the fitted attributes, and clusters of new rows."""

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

    def _cluster(self, method: Callable[..., Clustering], *args: Any) -> Self:
        starts = {name: getattr(self, name) for name in ("n_init", "max_iter", "random_state")}
        found = run_search(self, method, *args, **starts)
        self.labels_, self.cluster_centers_ = found.labels, found.centers
        self.inertia_, self.n_iter_ = found.objective, found.iterations
        return self

    def predict(self, X: Any) -> Any:
        """Give the cluster whose mean is nearest, for each row of X: new rows of the factor."""
        check_is_fitted(self)
        X = validated(self, X, dtype=np.float64, reset=False, method="predict")
        return nearest_centers(X, placed_like(self.cluster_centers_, X))
