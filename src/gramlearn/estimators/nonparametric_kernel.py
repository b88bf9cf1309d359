"""<L, K> + C sum_ij loss(T_ij K_ij) -> min, tr K^p <= B: a kernel of the points at hand alone (Z11).

Nothing is said of the form of K: it is any positive semidefinite matrix, which pairs pull and a graph of
neighbors keeps smooth. It comes as a factor n x r.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.validation import (
    check_choice,
    check_count,
    check_extent,
    check_flag,
    check_positive,
    generator,
)
from gramlearn._base.warnings import warn
from gramlearn.estimators._given_points import GivenPoints
from gramlearn.estimators._learning import side_of
from gramlearn.estimators._points import validated
from gramlearn.estimators._precision import FLOATS, KeepsPrecision
from gramlearn.estimators._whole import so_far, whole
from gramlearn.graphs.extension import extended
from gramlearn.graphs.neighbors import (
    check_graph,
    check_weights,
    laplacian,
    weighted_graph,
    weights_to,
)
from gramlearn.methods.nonparametric.problem import solve_nonparametric
from gramlearn.side_information import Pairs, SideInformation
from gramlearn.side_information.sampling import read_labels
from gramlearn.solvers.progress import progress_bar

__all__ = ["NonparametricKernel"]

_AFFINITIES = {"neighbors": None, "precomputed": None}
_RANK = 1e-10  # eigenvalues below this share of the largest are zero


class NonparametricKernel(
    KeepsPrecision,
    GivenPoints,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """A kernel over the rows of X that must-links and cannot-links shape, and a graph of neighbors carries on.

    For clusters, maps and "more like this" among given points: `fit_predict`, `embedding_`, `similar_to`. New
    points are placed by their neighbors (`transform`).

    Parameters
    ----------
    loss : {"linear", "squared_hinge", "hinge", "square"}
        What a pair asks for: K_ij as large (or, of cannot-links, as small) as possible, in closed form; at
        least 1 (at most -1), or a price for the difference; exactly 1 (-1), or a price.
    p : float
        Of the capacity tr K^p; larger ones spread it over more dimensions. 1 with the linear loss and B only.
    B, G : float, optional
        The capacity, tr K^p <= B, or its price (G/p) tr K^p. Each B belongs to one G. By default G = 1.
    C : float
        What pairs weigh beside the graph.
    n_neighbors, join, weights, width :
        The graph, as in `neighbor_graph`.
    affinity : {"neighbors", "precomputed"}
        With "precomputed" X is the graph: a symmetric matrix n x n of weights, dense or sparse, such as who
        knows whom.
    rank : int or "auto"
        The most dimensions; "auto" takes as many as the optimum has.
    basis : {"graph", "statements"}
        Of a given rank with losses other than the linear one: what K is sought over. The smoothest functions on
        the graph, or the leading dimensions of the linear loss, which know the pairs.
    n_components : int, optional
        How many columns `embedding_` and `transform` have (default: all).
    n_clusters : int, optional
        For `fit_predict` (default: the number of classes, where there are labels).
    n_pairs : int, optional
        How many pairs are drawn from labels (default: 40 c^2 for c classes).
    tol, max_iter, random_state, verbose :
        As in `MetricLearner`.

    Attributes
    ----------
    embedding_ : array n x n_components
        The leading columns of `factor_`: coordinates whose products are K, or nearly.
    factor_ : array n x r
        F with K = F F', its columns orthogonal, the longest first.
    eigenvalues_ : vector of r
        Of K, in descending order.
    solution_ : CapacityAnswer
        The certificate: `value`, `gap`, `relative_gap`, `capacity`, `G`.
    graph_ : sparse matrix n x n
    labels_ : vector of n
        The clusters, where `n_clusters` is given, or after `fit_predict`; `predict` gives those of new points.
    """

    def __init__(
        self,
        loss: str = "linear",
        p: float = 2.0,
        B: float | None = None,
        G: float | None = None,
        C: float = 1.0,
        n_neighbors: int = 5,
        rank: int | str = "auto",
        *,
        join: str = "either",
        weights: str = "binary",
        width: float | None = None,
        affinity: str = "neighbors",
        basis: str = "graph",
        n_components: int | None = None,
        n_clusters: int | None = None,
        n_pairs: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.p = p
        self.B = B
        self.G = G
        self.C = C
        self.n_neighbors = n_neighbors
        self.rank = rank
        self.join = join
        self.weights = weights
        self.width = width
        self.affinity = affinity
        self.basis = basis
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.n_pairs = n_pairs
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
        return tags

    @whole
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side=Pairs(...)` over the rows of X."""
        check_choice(self.affinity, "affinity", _AFFINITIES)
        is_graph = self.affinity == "precomputed"
        X = validated(
            self, X, dtype=FLOATS, accept_sparse="csr" if is_graph else False, ensure_min_samples=2
        )
        known = side_of(side, y, X.shape[0], self.n_pairs, generator(self.random_state))
        if not isinstance(known, Pairs):
            raise TypeError(
                f"`side` is {type(known).__name__}, but this kernel is learned from Pairs alone; MetricLearner "
                "and KernelLearner take the others."
            )
        self._read_graph(X)
        self._warn_of_silence(known)
        tol = check_positive(self.tol, "tol", type(self).__name__, any_size=True)
        with progress_bar("learning", tol, check_flag(self.verbose, "verbose")) as callback:
            self.solution_ = so_far(
                self,
                solve_nonparametric,
                laplacian(self.graph_),
                known,
                loss=self.loss,
                C=self.C,
                p=self.p,
                B=self.B,
                G=self.G,
                rank=self.rank,
                basis=self.basis,
                tol=tol,
                max_iter=self.max_iter,
                callback=callback,
                owner=type(self).__name__,
            )
        self._known = known
        self._keep(self.solution_.factor, X.dtype)
        if self.n_clusters is not None:
            self._cluster(self.n_clusters)
        found = self.solution_.solution
        self.n_iter_ = 1 if found is None else max(1, found.iterations)
        return self

    def _read_graph(self, X: Any) -> None:
        """The graph, its degrees, and what joins new points to it."""
        if self.affinity == "precomputed":
            self.graph_ = check_graph(X, "X")
        else:
            self._points = check_extent(np.asarray(X, dtype=float), power=2)
            if not np.ptp(self._points, axis=0).any():
                raise ValueError(
                    f"all {len(X)} rows of `X` are equal, so none is nearer to another; pass points that "
                    'differ, or a graph with affinity="precomputed".'
                )
            self.graph_, self.width_ = weighted_graph(
                self._points, self.n_neighbors, self.join, self.weights, self.width
            )
        if self.graph_.nnz == np.count_nonzero(self.graph_.diagonal()):
            advice = (
                "pass a graph that has some"
                if self.affinity == "precomputed"
                else 'raise `n_neighbors`, or pass join="either"'
            )
            raise ValueError(
                f"the graph of {self.graph_.shape[0]} points has no edges, so that pairs teach nothing about "
                f"others; {advice}."
            )

    def _warn_of_silence(self, known: Pairs) -> None:
        """Say which points no pair reaches: their rows of K are zero."""
        from scipy.sparse.csgraph import connected_components

        _, piece = connected_components(self.graph_, directed=False)
        touched = np.zeros(piece.max() + 1, dtype=bool)
        touched[piece[np.asarray(known.involved())]] = True
        silent = ~touched[piece]
        if silent.any():
            warn(
                f"{silent.sum()} of {len(piece)} points lie in {np.sum(~touched)} pieces of the graph that no "
                "pair touches, and their rows of the kernel are zero; raise `n_neighbors`, pass "
                f'join="either", or add pairs with them, such as row {int(np.argmax(silent))}.'
            )

    def _keep(self, F: np.ndarray, dtype: Any) -> None:
        """The factor, with orthogonal columns in the order of their lengths, and as many as were asked for."""
        _, s, rotation = np.linalg.svd(F.T @ F, hermitian=True)
        kept = s > _RANK * s.max(initial=0.0)
        rank = int(kept.sum())
        self.factor_, self.eigenvalues_ = F @ rotation[kept].T, s[kept]
        if rank == 0:
            warn(
                "the kernel is zero: the graph outweighs the pairs; raise `C`, or add pairs of what is alike."
            )
            rank, self.factor_, self.eigenvalues_ = 1, np.zeros((len(F), 1)), np.zeros(1)
        asked = self.n_components
        count = rank if asked is None else check_count(asked, "n_components")
        if count > rank:
            raise ValueError(
                f"`n_components={count}` asks for more than the rank of the kernel, {rank}; pass at most "
                f"{rank}, or add pairs."
            )
        self.embedding_ = self.factor_[:, :count].astype(dtype)

    def fit_predict(
        self, X: Any, y: Any = None, *, side: SideInformation | None = None
    ) -> np.ndarray:
        """Learn, and cluster the points by k-means with the kernel K_ij / sqrt(K_ii K_jj).

        Points without pairs have short rows; of the length of a row, k-means would make more than it means.
        """
        self.fit(X, y, side=side)
        if self.n_clusters is None:
            if y is None:
                raise ValueError(
                    "`n_clusters` is not known: pass NonparametricKernel(n_clusters=...), or labels as `y`."
                )
            labels, labeled = read_labels(y)
            self._add_clusters(len(np.unique(labels[labeled])))
        return self.labels_

    @whole
    def _add_clusters(self, count: int) -> Self:
        return self._cluster(count)

    def fit_transform(
        self, X: Any, y: Any = None, *, side: SideInformation | None = None
    ) -> np.ndarray:
        """Learn, and give `embedding_`: the places of the points themselves, not of new ones like them."""
        return self.fit(X, y, side=side).embedding_.copy()

    def transform(self, X: Any) -> np.ndarray:
        """Place new points by their neighbors, as the Nystroem formula on the kernel of the graph does.

        With affinity="precomputed", X holds the weights of new points to those learned from, m x n. A point
        equal to one of those has its row of `embedding_`. This extension is not in the paper.
        """
        rows, dtype = self._placed(X)
        return rows[:, : self._n_features_out].astype(dtype, copy=False)

    def _placed(self, X: Any) -> tuple[np.ndarray, Any]:
        """The rows of new points beside those of `factor_`, and the type that X has."""
        check_is_fitted(self)
        is_graph = self.affinity == "precomputed"
        X = validated(
            self, X, dtype=FLOATS, accept_sparse="csr" if is_graph else False, reset=False
        )
        if is_graph:
            weights = check_weights(X, "X")
            same = 0 * weights
        else:
            new = np.asarray(X, dtype=float)
            weights, same = weights_to(
                self._points, new, self.n_neighbors, self.weights, self.width_
            )
        degrees = np.asarray(self.graph_.sum(axis=1)).ravel()
        return extended(weights, same, degrees, self.factor_), X.dtype

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
