"""The nine sets of Z11 Table 1, their pairs, their graph, and clusters of a learned kernel: one recipe for all.

Features are standardized; a point is joined to its 5 nearest ones and to those it is among the nearest of, or,
as in 5.1, to those of its 5 nearest which it is among the nearest of.
Pairs are drawn at random until must-links leave as many components as 70 % of the points (7.1). Rows of the
factor are scaled to length one, K_ij / sqrt(K_ii K_jj), before kernel k-means, the best of ten starts.

NPKL as a semidefinite program (Z11 (10)), in CVXPY: what SCS and Clarabel make of the same problem.

    <L, K> + C sum loss(T_ij K_ij) -> min over PSD K,      loss(t) = -t with tr K^2 <= B, or max(0, 1 - t)

With the linear loss there is no minimum without a bound on K, and the bound is the one of SimpleNPKL, so that
the problems are the same. The hinge is bounded below and stands as in (10), without a bound. (With tr K^2 <= 1
every |K_ij| is at most 1, no hinge bends, and the hinge is the linear loss up to a constant.) All pairs are one
sparse matrix, and the norm is taken over one triangle: nothing is left to loops.
"""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

import gramlearn as gl
from experiments.reproductions.shared.pairs import draw_pairs
from gramlearn.side_information.active import unit_rows

DATA: Mapping[str, str] = {
    "chessboard": "chessboard",
    "glass": "glass",
    "heart": "heart_statlog",
    "iris": "iris",
    "protein": "protein",
    "sonar": "sonar",
    "soybean": "soybean_small",
    "spiral": "double_spiral",
    "wine": "wine",
}
C = 1.0
_NEIGHBORS = 5
_STARTS = 10


@final
@dataclass(frozen=True, eq=False)
class Instance:
    """One set with the pairs of one draw."""

    raw: np.ndarray
    points: np.ndarray
    y: np.ndarray
    pairs: gl.Pairs
    laplacian: csr_array
    seed: int

    def of_kernel(self, factor: np.ndarray, *, links: bool = False) -> float:
        """The accuracy of clusters of the kernel, scaled to a diagonal of one."""
        return self.of_points(unit_rows(factor), self.pairs if links else None)

    def of_points(self, points: np.ndarray, pairs: gl.Pairs | None = None) -> float:
        """The accuracy of k-means, or of constrained k-means, in percent."""
        count = len(np.unique(self.y))
        options: dict[str, Any] = {"n_init": _STARTS, "random_state": self.seed}
        if pairs is None:
            clusters = gl.methods.kernel_kmeans(points, count, **options).labels
        else:
            clusters = gl.methods.constrained_kmeans(points, count, pairs, **options).labels
        return 100 * gl.evaluation.pair_accuracy(self.y, clusters)


def instance(
    name: str, share: float, seed: int, rng: np.random.Generator, *, join: str = "either"
) -> Instance:
    """A set, its graph, and pairs drawn until the components of must-links are this share of its points."""
    data = gl.datasets.load(DATA[name])
    raw, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    points = standardized(raw)
    graph = gl.graphs.neighbor_graph(points, _NEIGHBORS, join=join)
    return Instance(raw, points, y, draw_until(y, share, rng), gl.graphs.laplacian(graph), seed)


def standardized(X: np.ndarray) -> np.ndarray:
    """Each feature with mean zero and variance one; one that does not vary is zero."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def draw_until(y: np.ndarray, share: float, rng: np.random.Generator) -> gl.Pairs:
    """Random pairs, the fewest that leave at most share * n components of must-links."""
    n = len(y)
    i, j = draw_pairs(n, n * (n - 1) // 2, rng)  # all of them, in random order
    same = y[i] == y[j]

    def components(count: int) -> int:
        ends = i[:count][same[:count]], j[:count][same[:count]]
        graph = csr_array((np.ones(ends[0].size), ends), shape=(n, n))
        return int(connected_components(graph, directed=False)[0])

    few, enough = 0, i.size
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if components(middle) <= share * n else (middle, enough)
    table, same = np.stack([i, j], axis=1)[:enough], same[:enough]
    return gl.Pairs(table[same], table[~same], n_points=n)


_CLOCK = {"SCS": "time_limit_secs", "CLARABEL": "time_limit"}


@final
@dataclass(frozen=True, eq=False)
class Semidefinite:
    """What a solver gave: K projected on the cone as a factor, its value, its seconds and its status."""

    factor: np.ndarray
    value: float
    seconds: float
    status: str


def solve_semidefinite(
    laplacian: Any,
    pairs: gl.Pairs,
    *,
    loss: str,
    C: float,
    B: float | None,
    solver: str,
    limit: float,
    **options: Any,
) -> Semidefinite:
    """Solve by `solver`, within `limit` seconds. Its seconds are of its process, without CVXPY's own work."""
    problem, K = _model(laplacian, pairs, loss, C, B)
    problem.get_problem_data(solver)  # compiled here, and kept: the clock below runs for the solver
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is kept
        began = time.process_time()
        problem.solve(solver=solver, **options, **{_CLOCK[solver]: limit})
        seconds = time.process_time() - began
    if K.value is None:
        raise RuntimeError(f"{solver} gave no matrix; its status is {problem.status}.")
    s, V = np.linalg.eigh((K.value + K.value.T) / 2)
    factor = (V * np.sqrt(np.clip(s, 0.0, None)))[:, s > 1e-6 * s[-1]]
    return Semidefinite(factor, float(problem.value), seconds, str(problem.status))


def _model(
    laplacian: Any, pairs: gl.Pairs, loss: str, C: float, B: float | None
) -> tuple[Any, Any]:
    import cvxpy as cp

    n = int(laplacian.shape[0])
    K = cp.Variable((n, n), PSD=True)
    entries = cp.vec(K, order="C")
    tables = np.asarray(pairs.similar), np.asarray(pairs.dissimilar)
    signs = np.repeat([1.0, -1.0], [len(table) for table in tables])
    i, j = np.concat(tables).T
    aligned = csr_array((signs, (np.arange(i.size), i * n + j)), shape=(i.size, n * n)) @ entries
    cost = -cp.sum(aligned) if loss == "linear" else cp.sum(cp.pos(1 - aligned))
    smooth = csr_array(coo_array(laplacian).reshape((1, n * n))) @ entries
    bounds = [] if B is None else [cp.norm(_triangle(n) @ entries) <= np.sqrt(B)]
    return cp.Problem(cp.Minimize(cp.sum(smooth) + C * cost), bounds), K


def _triangle(n: int) -> csr_array:
    """The entries on and above the diagonal, weighted so that their norm is that of the whole matrix."""
    i, j = np.triu_indices(n)
    weights = np.where(i == j, 1.0, np.sqrt(2.0))
    return csr_array((weights, (np.arange(i.size), i * n + j)), shape=(i.size, n * n))
