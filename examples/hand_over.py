"""A learned metric and a learned kernel, handed to what you use already; before and after, on new digits.

The metric is a matrix: `transform` the points once, and everything that measures plain distances measures the
learned ones. The kernel is a function of any points: `kernel_matrix(X, Y)` is what "precomputed" asks for.
"""

from functools import partial
from importlib.util import find_spec

import numpy as np
from sklearn.cluster import HDBSCAN, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.svm import SVC

from gramlearn import KernelLearner, MetricLearner, Pairs
from gramlearn.evaluation import normalized_mutual_information, recall_at_k


def report(name: str, before: float, after: float) -> None:
    """One line."""
    print(f"{name:40}{before:.3f} -> {after:.3f}")


def agreement(clusters: np.ndarray) -> float:
    """Normalized mutual information with the digits."""
    return normalized_mutual_information(y_new, clusters)


X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(
    X, y, train_size=400, test_size=600, stratify=y, random_state=0
)
side = Pairs.from_labels(y, 2000, random_state=0)

metric = MetricLearner(C=1.0, random_state=0).fit(X, side=side)
print(metric.solution_)
L = metric.components_
X_metric, X_new_metric = X @ L.T, X_new @ L.T  # as metric.transform(X)

neighbors = KNeighborsClassifier(4)
report(
    "KNeighborsClassifier, accuracy",
    neighbors.fit(X, y).score(X_new, y_new),
    neighbors.fit(X_metric, y).score(X_new_metric, y_new),
)
groups = HDBSCAN(min_cluster_size=10, copy=True)
report(
    "HDBSCAN, mutual information",
    agreement(groups.fit_predict(X_new)),
    agreement(groups.fit_predict(X_new_metric)),
)


def recall(index_points: np.ndarray, queries: np.ndarray) -> float:
    """Of the 10 nearest in an index, the share of the same digit."""
    index = NearestNeighbors(n_neighbors=len(index_points)).fit(index_points)
    distances, rows = index.kneighbors(queries)
    return float(recall_at_k(distances, y[rows] == y_new[:, None], 10).mean())


report("NearestNeighbors, recall at 10", recall(X, X_new), recall(X_metric, X_new_metric))

if find_spec("faiss"):
    import faiss

    def found(index_points: np.ndarray, queries: np.ndarray) -> float:
        """The same, by faiss."""
        index = faiss.IndexFlatL2(index_points.shape[1])
        index.add(np.ascontiguousarray(index_points, dtype=np.float32))
        _, rows = index.search(np.ascontiguousarray(queries, dtype=np.float32), 10)
        return float(np.mean(y[rows] == y_new[:, None]))

    report("faiss.IndexFlatL2, recall at 10", found(X, X_new), found(X_metric, X_new_metric))
else:
    print("faiss is not installed: its index takes X @ L.T as well.")

if find_spec("umap"):
    from umap import UMAP

    def flat(points: np.ndarray) -> float:
        """How pure neighborhoods are on a map of two dimensions."""
        on_map = UMAP(random_state=0, n_jobs=1).fit_transform(points)
        return float(neighbors.fit(on_map[::2], y_new[::2]).score(on_map[1::2], y_new[1::2]))

    report("UMAP to two dimensions, accuracy there", flat(X_new), flat(X_new_metric))
else:
    print("umap-learn is not installed: UMAP().fit_transform(X @ L.T) draws the learned distances.")

few = Pairs.from_labels(y[:200], 500, random_state=0)
kernel = KernelLearner("rbf", {"gamma": 5e-4}, C=1.0, random_state=0).fit(X[:200], side=few)
print(kernel.solution_)
plain = partial(rbf_kernel, gamma=5e-4)
machine = SVC(kernel="precomputed")
report(
    "SVC, accuracy",
    machine.fit(plain(X, X), y).score(plain(X_new, X), y_new),
    machine.fit(kernel.kernel_matrix(X, X), y).score(kernel.kernel_matrix(X_new, X), y_new),
)
cut = SpectralClustering(10, affinity="precomputed", assign_labels="cluster_qr", random_state=0)
# An affinity is at least zero; an entry of a kernel need not be.
report(
    "SpectralClustering, mutual information",
    agreement(cut.fit_predict(plain(X_new, X_new))),
    agreement(cut.fit_predict(np.maximum(kernel.kernel_matrix(X_new, X_new), 0.0))),
)
