"""minimize <L, K> + C sum_ij loss(T_ij K_ij), tr K^p <= B: a kernel of the points at hand alone (Z11).

Nothing is said of the form of K: it is any positive semidefinite matrix, which pairs pull and a graph of
neighbors keeps smooth. It comes as a factor n x r.
"""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.validation import (
    check_choice,
    check_count,
    check_extent,
    check_flag,
    check_indices,
    check_positive,
    generator,
)
from gramlearn._base.warnings import warn
from gramlearn.estimators._all_or_nothing import all_or_nothing, run_search
from gramlearn.estimators._inputs import FLOATS, KeepsPrecision, validated
from gramlearn.estimators._learned_from import is_from_file, learned_from
from gramlearn.estimators._learning import check_labels, side_of
from gramlearn.estimators._parts.answers import INPUT, OUTCOME
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import IfThere
from gramlearn.estimators._parts.words import Number
from gramlearn.estimators._saving_methods import SavesModel
from gramlearn.estimators._scoring import ScoresByTransform
from gramlearn.graphs.neighbors import (
    build_graph,
    check_graph,
    check_weights,
    laplacian,
)
from gramlearn.graphs.out_of_sample import extend_along_graph, join_new_points
from gramlearn.methods.clustering.kernel_kmeans import kernel_kmeans, nearest_centers
from gramlearn.methods.nonparametric.problem import solve_nonparametric
from gramlearn.side_information import Pairs, SideInformation
from gramlearn.side_information.active import pairs_to_ask, unit_rows
from gramlearn.solvers.progress import progress_bar

_RANK = 1e-10  # eigenvalues below this share of the largest are zero


class NonparametricKernel(
    SavesModel,
    ScoresByTransform,
    KeepsPrecision,
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
        What a violated statement costs. A pair asks for a K_ij as large as possible, in closed form; for at
        least 1; or for exactly 1; of cannot-links, for the opposite.
    p : float
        The exponent p of tr K^p. A larger p spreads the capacity over more dimensions. 1 with the linear loss
        and a capacity only.
    capacity : float, optional
        The bound B on the learned kernel: tr K^p <= B.
    capacity_price : float, optional
        The price G in place of a capacity: (G/p) tr K^p is added to the objective. Each capacity has one price.
        Without either, G = 1.
    C : float
        The price of a violation: the larger, the more it counts.
    n_neighbors : int
        The number of nearest neighbors of each point in the graph.
    rank : int, optional
        The largest number of directions to learn in; no limit if None.
    join : {"either", "mutual"}
        Whether one of two points must be among the nearest of the other to join them, or both.
    weights : {"binary", "heat"}
        The weights of the edges: all 1, or falling with their lengths. "heat": exp(-|x - y|^2 / (2 width^2)).
    width : float, optional
        The width of "heat" weights; the root of the mean squared length of the edges if None.
    graph : {"neighbors", "precomputed"}
        Whether to make the graph of nearest neighbors, or to read X as the graph. X is then a symmetric matrix
        n x n of weights, dense or sparse, such as who knows whom.
    basis : {"graph", "statements"}
        The directions to learn in, where `rank` limits their number. The smoothest functions on the graph, or
        the leading dimensions of the linear loss, which know the pairs. With the linear loss no basis is
        needed.
    n_components : int, optional
        The number of columns that `transform` gives. All that the kernel has if None.
    n_clusters : int, optional
        The number of clusters. For `fit_predict` and `predict`; the number of classes if None and there are
        labels.
    n_pairs : int, optional
        The number of pairs to draw from labels; 40 c^2 for c classes if None.
    tol : float
        The relative gap at which to stop.
    max_iter : int, optional
        The largest number of iterations.
    time_limit : float, optional
        Seconds after which to stop, at the end of an iteration.
    callback : function of a Record, optional
        Called with the Record of every iteration; returning True stops the fit.
    random_state : int, RandomState, Generator or None
        Seeds everything random.
    verbose : int
        Whether to show a progress bar, on a terminal or in a notebook.

    Attributes
    ----------
    embedding_ : array n x n_components
        The leading columns of `factor_`: coordinates whose products are K, or nearly.
    factor_ : array n x r
        F with K = F F', its columns orthogonal, the longest first.
    eigenvalues_ : vector of r
        Of K, in descending order.
    solution_ : CapacityAnswer
        The certificate: `primal`, `gap`, `relative_gap`, `capacity`, `capacity_price`.
    graph_ : sparse matrix n x n
    learned_from_ : dict
        Kind, number and digest of what was learned from, as in `MetricLearner`.
    labels_ : vector of n
        The clusters, where `n_clusters` is given, or after `fit_predict`; `predict` gives those of new points.
    """

    _requires_y = True
    _kind: ClassVar[str] = "NonparametricKernel"
    _needs_points: ClassVar[str] = "new points are placed by those of them that are near"
    _saved: ClassVar[dict[str, FilePart]] = {
        **INPUT,
        **OUTCOME,
        "factor_": Array("n", "r"),
        "eigenvalues_": Array("r", least=0.0),
        "embedding_": Array("n", "columns"),
        "labels_": IfThere(Array("n", kind="i")),
        "width_": IfThere(Number(0.0)),
        "_centers": IfThere(Array("clusters", "r")),
        "_degrees": Array("n", least=0.0),
        "_points": IfThere(Array("n", "d", points=True)),
    }

    def __init__(
        self,
        loss: str = "linear",
        p: float = 2.0,
        capacity: float | None = None,
        capacity_price: float | None = None,
        C: float = 1.0,
        n_neighbors: int = 5,
        rank: int | None = None,
        *,
        join: str = "either",
        weights: str = "binary",
        width: float | None = None,
        graph: str = "neighbors",
        basis: str = "graph",
        n_components: int | None = None,
        n_clusters: int | None = None,
        n_pairs: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.p = p
        self.capacity = capacity
        self.capacity_price = capacity_price
        self.C = C
        self.n_neighbors = n_neighbors
        self.rank = rank
        self.join = join
        self.weights = weights
        self.width = width
        self.graph = graph
        self.basis = basis
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.n_pairs = n_pairs
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self.graph == "precomputed"
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side=Pairs(...)` over the rows of X."""
        is_graph = check_choice(self.graph, "graph", {"neighbors": False, "precomputed": True})
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
        self._warn_of_unreached_points(known)
        tol = check_positive(self.tol, "tol", type(self).__name__, any_size=True)
        with progress_bar(
            "learning", tol, check_flag(self.verbose, "verbose"), self.callback
        ) as callback:
            self.solution_ = run_search(
                self,
                solve_nonparametric,
                laplacian(self.graph_),
                known,
                loss=self.loss,
                C=self.C,
                p=self.p,
                capacity=self.capacity,
                capacity_price=self.capacity_price,
                rank=self.rank,
                basis=self.basis,
                tol=tol,
                max_iter=self.max_iter,
                callback=callback,
                time_limit=self.time_limit,
                owner=type(self).__name__,
            )
        self._known = known
        self.learned_from_ = learned_from(side, y, int(X.shape[0]))
        self._keep_factor(self.solution_.factor, X.dtype)
        if self.n_clusters is not None:
            self._cluster(self.n_clusters)
        self.n_iter_ = max(1, self.solution_.iterations)
        return self

    def _take_back(self, kept: dict[str, Any]) -> None:
        is_graph = self.graph == "precomputed"
        if is_graph != ("_points" not in kept) or is_graph != ("width_" not in kept):
            raise ValueError("points and a width go with a graph of neighbors, and with no other")
        if is_graph and kept["n_features_in_"] != len(kept["factor_"]):
            raise ValueError("a graph has as many columns as points")
        super()._take_back(kept)

    def _read_graph(self, X: Any) -> None:
        """The graph, its degrees, and what joins new points to it."""
        if self.graph == "precomputed":
            self.graph_ = check_graph(X, "X")
            for name in ("_points", "width_"):
                self.__dict__.pop(name, None)  # of an earlier fit
        else:
            self._points = check_extent(np.asarray(X, dtype=float), power=2)
            if not np.ptp(self._points, axis=0).any():
                raise ValueError(
                    f"all {len(X)} rows of `X` are equal, so none is nearer to another; pass points that "
                    'differ, or a graph with graph="precomputed".'
                )
            self.graph_, self.width_ = build_graph(
                self._points, self.n_neighbors, self.join, self.weights, self.width
            )
        self._degrees = np.asarray(self.graph_.sum(axis=1)).ravel()
        if self.graph_.nnz == np.count_nonzero(self.graph_.diagonal()):
            advice = (
                "pass a graph that has some"
                if self.graph == "precomputed"
                else 'raise `n_neighbors`, or pass join="either"'
            )
            raise ValueError(
                f"the graph of {self.graph_.shape[0]} points has no edges, so that pairs teach nothing about "
                f"others; {advice}."
            )

    def _warn_of_unreached_points(self, known: Pairs) -> None:
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

    def _keep_factor(self, F: np.ndarray, dtype: Any) -> None:
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
        if self.n_clusters is not None:
            return self.fit(X, y, side=side).labels_
        if y is None:
            raise ValueError(
                "`n_clusters` is not known: pass NonparametricKernel(n_clusters=...), or labels as `y`."
            )
        # Beside `side`, labels say how many classes there are, and nothing else.
        self.fit(X, y if side is None else None, side=side)
        labels, labeled = check_labels(y, len(self.factor_))
        return self._add_clusters(len(np.unique(labels[labeled]))).labels_

    def _cluster(self, count: int) -> Self:
        """Clusters of the kernel K_ij / sqrt(K_ii K_jj)."""
        rows = unit_rows(self.factor_)
        found = run_search(self, kernel_kmeans, rows, count, random_state=self.random_state)
        self.labels_, self._centers = found.labels, found.centers
        return self

    @all_or_nothing
    def _add_clusters(self, count: int) -> Self:
        return self._cluster(count)

    def fit_transform(
        self, X: Any, y: Any = None, *, side: SideInformation | None = None
    ) -> np.ndarray:
        """Learn, and give `embedding_`: the places of the points themselves, not of new ones like them."""
        return self.fit(X, y, side=side).embedding_.copy()

    def transform(self, X: Any) -> np.ndarray:
        """Place new points by their neighbors, as the Nystroem formula on the kernel of the graph does.

        With graph="precomputed", X holds the weights of new points to those learned from, m x n. A point
        equal to one of those has its row of `embedding_`. This extension is not in the paper.
        """
        rows, dtype = self._place(X)
        return rows[:, : self._n_features_out].astype(dtype, copy=False)

    @available_if(lambda self: self.n_clusters is not None)
    def predict(self, X: Any) -> np.ndarray:
        """The clusters of new points, as `transform` places them; there is one where `n_clusters` is given."""
        return nearest_centers(unit_rows(self._place(X)[0]), self._centers)

    def kernel_entries(self, i: Any, j: Any = None) -> Any:
        """K_ij of the points learned from; i and j numbers or arrays of the same shape. Without j, rows i."""
        left = self._rows(i, "i")
        if j is None:
            return left @ self.factor_.T
        right = self._rows(j, "j")
        if np.ndim(i) and np.ndim(j) and np.shape(i) != np.shape(j):
            raise ValueError(
                f"`i` has shape {np.shape(i)} and `j` has shape {np.shape(j)}; pass one j for each i, or one "
                "for all."
            )
        entries = np.sum(left * right, axis=-1)
        return float(entries) if entries.ndim == 0 else entries

    def _rows(self, points: Any, name: str) -> np.ndarray:
        check_is_fitted(self)
        numbers = check_indices(np.ravel(points), name, len(self.factor_))
        return np.asarray(self.factor_[np.reshape(numbers, np.shape(points))])

    def similar_to(self, i: Any, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The k points most similar to point i, the most similar first: their row numbers, and K_ij.

        An array of m points i gives arrays m x k.
        """
        if np.ndim(i) > 1:
            raise ValueError(
                f"`i` must be a row number or a vector of them; got shape {np.shape(i)}."
            )
        points = np.atleast_1d(np.asarray(i, dtype=None if np.size(i) else int))
        rows = self.kernel_entries(points)
        count = min(check_count(k, "k"), rows.shape[1] - 1)
        rows[np.arange(len(rows)), points] = -np.inf
        order = np.argsort(-rows, axis=1, kind="stable")[:, :count]
        values = np.take_along_axis(rows, order, axis=1)
        return (order, values) if np.ndim(i) else (order[0], values[0])

    def ask(self, n: int = 10) -> np.ndarray:
        """The n pairs of points to ask a person about next, m x 2: those the kernel leaves most open.

        Each point is in one of them at most, and pairs that are known do not come again. Add the answers to the
        pairs, and fit again.
        """
        check_is_fitted(self)
        if is_from_file(self):
            raise ValueError(
                "`ask` leaves out the pairs that are known, and a model file does not hold them; fit again, or "
                "keep the estimator as a pickle."
            )
        return pairs_to_ask(self.factor_, n, known=self._known, random_state=self.random_state)

    def _place(self, X: Any) -> tuple[np.ndarray, Any]:
        """The rows of new points beside those of `factor_`, and the type that X has."""
        check_is_fitted(self)
        is_graph = self.graph == "precomputed"
        X = validated(
            self, X, dtype=FLOATS, accept_sparse="csr" if is_graph else False, reset=False
        )
        if is_graph:
            weights = check_weights(X, "X")
            same = 0 * weights
        else:
            new = np.asarray(X, dtype=float)
            weights, same = join_new_points(
                self._points, new, self.n_neighbors, self.weights, self.width_
            )
        return extend_along_graph(weights, same, self._degrees, self.factor_), X.dtype

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
