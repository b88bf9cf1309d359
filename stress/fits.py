"""One fit of every estimator and of each of its solvers: faults and load are tried on these.

`size` makes the data larger: at 1 a fit takes a tenth of a second or two, at 4 about a second.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn import Pairs, estimators

__all__ = ["FITS", "Fit", "digest"]


@final
@dataclass(frozen=True)
class Fit:
    """An estimator, its data as a function of their size, and what it is good for once it is fitted."""

    make: Callable[[], Any]
    data: Callable[[float], tuple[Any, ...]]
    use: Callable[[Any, Any], Any]

    def run(self, estimator: Any, data: tuple[Any, ...]) -> Any:
        X, y, *side = data
        return estimator.fit(X, y, side=side[0]) if side else estimator.fit(X, y)

    def answers(self, estimator: Any, data: tuple[Any, ...]) -> list[np.ndarray]:
        """All arrays that a user sees of the fit."""
        found = self.use(estimator, data[0])
        return [np.asarray(array) for array in (found if isinstance(found, tuple) else (found,))]


def digest(arrays: list[np.ndarray]) -> str:
    """A hash that is equal only for equal bits."""
    content = hashlib.sha256()
    for array in arrays:
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _classes(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d))
    X[:, :3] += 1.2 * np.eye(3)[y]
    return X, y


def _roll(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    t = np.sort(1.5 * np.pi * (1 + 2 * rng.random(n)))
    X = np.column_stack([t * np.cos(t), 10 * rng.random(n), t * np.sin(t)])
    return X + 0.01 * rng.standard_normal(X.shape), (t > np.median(t)).astype(int)


def _pairs(size: float) -> tuple[Any, ...]:
    n = int(150 * size)
    X, y = _classes(n, 8)
    rng = np.random.default_rng(2)
    i, j = rng.integers(0, n, (2, n // 4))
    same = (y[i] == y[j]) & (i != j)
    apart = y[i] != y[j]
    side = Pairs(
        similar=np.column_stack([i, j])[same],
        dissimilar=np.column_stack([i, j])[apart],
        n_points=n,
    )
    return X, None, side


def _stream(size: float) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((int(2000 * size), 30))
    return Z, np.abs(rng.standard_normal(len(Z))) + 0.1


def _transformed(estimator: Any, X: Any) -> Any:
    return estimator.transform(X[:40]), estimator.solution_.factor


def _embedded(estimator: Any, X: Any) -> Any:
    return estimator.embedding_, estimator.eigenvalues_


def _clusters(estimator: Any, X: Any) -> Any:
    return estimator.labels_, estimator.cluster_centers_, estimator.predict(X[:40])


def _metric(**parameters: Any) -> Fit:
    return Fit(
        lambda: estimators.MetricLearner(random_state=0, **parameters, C=1.0),
        lambda size: _classes(int(200 * size), max(int(8 * size), 8)),
        _transformed,
    )


FITS: Mapping[str, Fit] = {
    "MetricLearner": _metric(n_pairs=20_000),
    "MetricLearner hard": _metric(loss="hard", n_pairs=12),
    "MetricLearner hinge": _metric(loss="hinge", n_pairs=80),
    "MetricLearner von Neumann": _metric(regularizer="von_neumann", n_pairs=800),
    "MetricLearner diagonal": _metric(shape="diagonal", n_pairs=800),
    "MetricLearner projections": _metric(solver="projections", loss="hinge", n_pairs=40, tol=5e-2),
    "KernelLearner": Fit(
        lambda: estimators.KernelLearner(kernel="rbf", random_state=0, n_pairs=400, C=1.0),
        lambda size: _classes(int(60 * size), 4),
        _transformed,
    ),
    "POLA": Fit(
        lambda: estimators.POLA(0.01, random_state=0),
        lambda size: _classes(int(150 * size), int(6 * size)),
        _transformed,
    ),
    "SemiSupervisedEmbedding": Fit(
        lambda: estimators.SemiSupervisedEmbedding(random_state=0, n_pairs=300),
        lambda size: _classes(int(150 * size), max(int(5 * size), 4)),
        _transformed,
    ),
    "MaximumVarianceUnfolding": Fit(
        lambda: estimators.MaximumVarianceUnfolding(n_neighbors=4, connect=True, tol=1e-2),
        lambda size: _roll(int(45 * size)),
        _embedded,
    ),
    "ColoredMVU": Fit(
        lambda: estimators.ColoredMVU(n_neighbors=4),
        lambda size: _roll(int(90 * size)),
        _embedded,
    ),
    "MinimumVolumeEmbedding": Fit(
        lambda: estimators.MinimumVolumeEmbedding(n_neighbors=4, connect=True),
        lambda size: _roll(int(20 * size)),
        _embedded,
    ),
    "StructurePreservingEmbedding": Fit(
        lambda: estimators.StructurePreservingEmbedding(n_neighbors=3, C=1.0, tol=1e-4),
        lambda size: _roll(int(40 * size)),
        _embedded,
    ),
    "NonparametricKernel": Fit(
        lambda: estimators.NonparametricKernel(
            loss="squared_hinge",
            random_state=0,
            n_clusters=2,
            n_pairs=200,
            capacity=200.0,
            tol=1e-4,
        ),
        lambda size: _roll(int(110 * size)),
        lambda estimator, X: (estimator.factor_, estimator.labels_, estimator.transform(X[:20])),
    ),
    "KernelDesigner": Fit(
        lambda: estimators.KernelDesigner(random_state=0, weak=True, n_triplets=4000),
        lambda size: _classes(int(60 * size), 6),
        lambda estimator, X: (estimator.weights_, estimator.kernel_matrix(X[:20])),
    ),
    "KernelKMeans": Fit(
        lambda: estimators.KernelKMeans(20, random_state=0),
        lambda size: (*_classes(int(500 * size), 8)[:1], None),
        _clusters,
    ),
    "ConstrainedKMeans": Fit(
        lambda: estimators.ConstrainedKMeans(8, random_state=0, n_init=2), _pairs, _clusters
    ),
    "OnlinePCA": Fit(
        lambda: estimators.OnlinePCA(3, eta=0.1),
        lambda size: (_stream(size)[0][: int(300 * size)], None),
        lambda estimator, X: (estimator.components_, estimator.density_),
    ),
    "OnlineMetricLearner": Fit(
        lambda: estimators.OnlineMetricLearner(),
        _stream,
        lambda estimator, X: (estimator.components_, estimator.losses_),
    ),
}
