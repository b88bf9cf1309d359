"""K = F F' over given points: the leading columns of V diag(s), with F = V diag(s) U', embed them.

What estimators share that learn a kernel over given points, and no map: reading points, cutting the kernel to
its leading dimensions, and placing new points between their neighbors.

Where edges alone hold points together, a graph in pieces is refused, or its pieces are joined by the shortest
edges between them, connect=True. Where labels or comparisons hold them as well, it need not be connected.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.threads import one_thread
from gramlearn._base.validation import check_extent, check_flag
from gramlearn._base.warnings import warn
from gramlearn.estimators._all_or_nothing import run_search
from gramlearn.estimators._inputs import FLOATS, KeepsPrecision, check_components, validated
from gramlearn.graphs.edges import Edges, check_connected, connect_pieces, measure_edges
from gramlearn.graphs.neighbors import neighbor_graph
from gramlearn.graphs.out_of_sample import extend_between_neighbors
from gramlearn.problem.solution import Record
from gramlearn.solvers.progress import progress_bar

_FEW = 600


class PointEmbedding(
    KeepsPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """`fit` leaves `embedding_`, and in `_points` the rows it is of, or None where a graph alone was given."""

    n_components: int
    n_neighbors: int
    max_iter: int | None
    time_limit: float | None
    callback: Callable[[Record], object] | None
    verbose: int
    solution_: Any
    embedding_: np.ndarray
    eigenvalues_: np.ndarray
    _points: np.ndarray | None
    _dtype: Any

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X; y is ignored."""

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The embedding of the points learned from."""
        learned = self.fit(X, y)
        return np.asarray(learned.embedding_, dtype=learned._dtype)

    def transform(self, X: Any) -> np.ndarray:
        """Embed points among those learned from: an extension of ours, by weights that sum to one.

        A point that was learned from keeps its place, and others are put between their nearest neighbors as
        they lie between them in X (`graphs.out_of_sample`). Where others become the nearest, places may jump.
        """
        check_is_fitted(self)
        if self._points is None:
            raise ValueError(
                "a graph alone says nothing of new points, so `transform` has no answer; the embedding of the "
                "graph's own points is `embedding_`, and `fit_transform` gives it."
            )
        X = validated(self, X, dtype=FLOATS, reset=False)
        points = X.astype(np.float64, copy=False)
        found = extend_between_neighbors(points, self._points, self.embedding_, self.n_neighbors)
        return np.asarray(found, dtype=X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _solve(
        self, n: int, gap: float, method: Callable[..., Any], *args: Any, **options: Any
    ) -> Any:
        """What the method finds of n points within the limits of this estimator; the bar ends at this gap."""
        verbose = check_flag(self.verbose, "verbose")
        with (
            # Of few points, several threads would wait for each other.
            one_thread(when=n <= _FEW),
            progress_bar("embedding", gap, verbose, self.callback) as callback,
        ):
            answer = run_search(
                self,
                method,
                *args,
                max_iter=self.max_iter,
                callback=callback,
                time_limit=self.time_limit,
                owner=type(self).__name__,
                **options,
            )
        self.solution_, self.n_iter_ = answer, max(1, answer.iterations)
        return answer

    def _read(self, X: Any) -> np.ndarray:
        """The points, at least two, that are not all equal; kept for `transform`."""
        X = validated(self, X, dtype=FLOATS, ensure_min_samples=2)
        self._dtype, self._points = X.dtype, X.astype(np.float64)
        check_components(self.n_components, len(X) - 1, f"{len(X)} points")
        if (X[:1] == X).all():
            raise ValueError(
                "all rows of `X` are equal, so there is nothing to embed; pass points that differ."
            )
        check_extent(self._points, power=2)
        return self._points

    def _connected_edges(self, X: np.ndarray, connect: bool, join: str = "either") -> Edges:
        """The edges of neighbors, which are to hold all points together."""
        graph = neighbor_graph(X, self.n_neighbors, join=join)
        joined = check_flag(connect, "connect")
        edges = measure_edges(X, connect_pieces(graph, X) if joined else graph)
        name = f"n_neighbors={self.n_neighbors}"
        check_connected(len(X), edges.i, edges.j, name, "or pass connect=True")
        return edges

    def _keep_embedding(self, factor: np.ndarray, accuracy: float) -> None:
        """Keep the leading coordinates, and all eigenvalues of K = F F', in descending order.

        The largest entry of a column is positive. An eigenvalue below `accuracy`, as a share of the trace,
        counts as none: K is not known better than that.
        """
        count = int(self.n_components)
        R, self.eigenvalues_ = _principal(factor)
        rank = int(np.sum(self.eigenvalues_ > min(accuracy, 1.0) * self.eigenvalues_.sum()))
        if rank < count:
            warn(
                f"n_components={count} dimensions were asked of {type(self).__name__}, but the kernel learned "
                f"has rank {rank}; the others are zero. Ask for fewer, or take fewer neighbors."
            )
        kept = min(rank, count)
        R = R[:, :kept]
        largest = R[np.argmax(np.abs(R), axis=0), np.arange(kept)]
        self.embedding_ = np.zeros((len(factor), count))
        self.embedding_[:, :kept] = R * np.where(largest < 0, -1.0, 1.0)


def _principal(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R with R R' = F F' and orthogonal columns, the longest first, and their squared lengths.

    A positive part, in eigenvectors, has such columns already, of which there may be nearly n: too many for an
    SVD that is not needed.
    """
    gram = F.T @ F
    squared = np.diag(gram)
    if np.abs(gram - np.diag(squared)).max(initial=0.0) > 1e-10 * squared.max(initial=0.0):
        U, s, _ = np.linalg.svd(F, full_matrices=False)
        return U * s, s**2
    order = np.argsort(-squared, kind="stable")
    return F[:, order], squared[order]
