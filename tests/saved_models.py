"""One small fit of each kind that a model file holds, in each of the forms that it can take."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from gramlearn.losses import Hinge

from gramlearn import (
    KernelDesigner,
    KernelLearner,
    MetricLearner,
    NonparametricKernel,
    OnlineMetricLearner,
    Pairs,
    SemiSupervisedEmbedding,
    Triplets,
)
from gramlearn.kernels import (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    ManifoldKernel,
    PolynomialKernel,
    SigmoidKernel,
)

N, D = 40, 5


def points(n: int = N, seed: int = 0) -> np.ndarray:
    """Three groups in three features, and two features that tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)) * [1, 1, 1, 5, 5]
    X[:, :3] += 3 * np.eye(3)[np.arange(n) % 3]
    return X


X, Y = points(), np.arange(N) % 3
NEW = points(17, seed=1)
SIDE = Pairs.from_labels(Y, 60, random_state=0)
TRIPLETS = Triplets.from_labels(Y, 60, random_state=0)


def of_graph() -> NonparametricKernel:
    weights = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(weights, 0.0)
    model = NonparametricKernel(graph="precomputed", n_clusters=3, random_state=0)
    return model.fit(weights, side=SIDE)


CASES: dict[str, Callable[[], Any]] = {
    "metric": lambda: MetricLearner(C=1.0).fit(X, side=SIDE),
    "metric that chose": lambda: MetricLearner(random_state=0).fit(X, Y),
    "metric of a prior": lambda: MetricLearner(prior=np.diag([1.0, 2, 3, 4, 5]), C=1.0).fit(X, Y),
    "metric of von Neumann": lambda: MetricLearner("von_neumann", C=1.0).fit(X, side=SIDE),
    "metric of the kernel": lambda: MetricLearner(
        "frobenius", regularize="kernel", loss="hinge", C=1.0
    ).fit(X, side=SIDE),
    "metric of triplets": lambda: MetricLearner(loss=Hinge(2.0)).fit(X, side=TRIPLETS),
    "metric of rank 3": lambda: MetricLearner(rank=3, C=1.0).fit(X, side=SIDE),
    "metric of 2 columns": lambda: MetricLearner(n_components=2, normalize=True, C=1.0).fit(X, Y),
    "metric of weights": lambda: MetricLearner(shape="diagonal", C=1.0).fit(X, Y),
    "weights, 2 columns": lambda: MetricLearner(shape="diagonal", n_components=2, C=1.0).fit(X, Y),
    "metric of words": lambda: MetricLearner(C=1.0).fit(X, np.array(["a", "ö", "c"])[Y]),
    "metric of objects": lambda: MetricLearner(C=1.0).fit(X, np.array(["a", "b", "c"], "O")[Y]),
    "kernel": lambda: KernelLearner(C=1.0).fit(X, side=SIDE),
    "kernel that chose": lambda: KernelLearner(random_state=0).fit(X, Y),
    "kernel of rank 6": lambda: KernelLearner(rank=6, C=1.0).fit(X, side=SIDE),
    "kernel of rank 6 alone": lambda: KernelLearner(rank=6, complement=False, C=1.0).fit(X, Y),
    "kernel, 2 columns": lambda: KernelLearner(n_components=2, C=1.0, normalize=True).fit(X, Y),
    "linear kernel": lambda: KernelLearner("linear", C=1.0).fit(X, side=SIDE),
    "Laplacian kernel": lambda: KernelLearner(LaplacianKernel(0.2), C=1.0).fit(X, side=SIDE),
    "cosine": lambda: KernelLearner("cosine", rank=4, basis="subset", C=1.0, random_state=0).fit(
        X, side=SIDE
    ),
    "polynomial kernel": lambda: KernelLearner(
        "poly", kernel_params={"degree": 3}, rank=5, basis="spectral", C=1.0
    ).fit(X, side=SIDE),
    "kernel along a manifold": lambda: KernelLearner(ManifoldKernel(X), rank=5, C=1.0).fit(X, Y),
    "stream": lambda: OnlineMetricLearner().fit(X, side=SIDE),
    "stream of distances": lambda: OnlineMetricLearner(eta=0.1, prior=2 * np.eye(D)).fit(
        X[:20] - X[20:], np.linspace(0.1, 2.0, 20)
    ),
    "embedding": lambda: SemiSupervisedEmbedding(2).fit(X, side=SIDE),
    "embedding of a kernel": lambda: SemiSupervisedEmbedding(2, kernel="rbf", rank=8).fit(X, Y),
    "nonparametric": lambda: NonparametricKernel(n_clusters=3, random_state=0).fit(X, side=SIDE),
    "nonparametric, heat": lambda: NonparametricKernel(
        weights="heat", n_components=2, random_state=0
    ).fit(X.astype(np.float32), side=SIDE),
    "nonparametric of a graph": of_graph,
    "design": lambda: KernelDesigner(n_components=4, random_state=0).fit(X, side=TRIPLETS),
    "design of features": lambda: KernelDesigner(weak=True, random_state=0).fit(X, Y),
    "design of a family": lambda: KernelDesigner(
        [
            GaussianKernel(0.1),
            LinearKernel(),
            PolynomialKernel(),
            "cosine",
            SigmoidKernel(0.1),
            ManifoldKernel(X[:20]),
            ManifoldKernel(X[10:35], degree=2),
        ],
        mend="shift",
    ).fit(X, side=TRIPLETS),
}


@cache
def fitted(name: str) -> Any:
    """The fitted model; it is not to be changed."""
    return CASES[name]()


def new_points(name: str) -> np.ndarray:
    """What `transform` takes."""
    if name != "nonparametric of a graph":
        return NEW
    return np.exp(-((NEW[:, None] - X) ** 2).sum(axis=2))
