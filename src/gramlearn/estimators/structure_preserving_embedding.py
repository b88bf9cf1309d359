"""minimize -<W, K> + C xi,  d_ik <= d_ij + xi for neighbors k of i and others j: a graph as points (Z11 6.3).

Neighbors come to lie near, and none of them farther than a point that is no neighbor, so that the graph can
be read off the points again; see `methods.unfolding.structure_preserving`.
"""

from typing import Any, Self

from scipy.sparse import csr_array

from gramlearn._base.validation import LARGEST_EXPONENT, check_choice, check_positive
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._embedding import PointEmbedding
from gramlearn.estimators._inputs import FLOATS, check_components, validated
from gramlearn.graphs.neighbors import check_graph, neighbor_graph
from gramlearn.methods.nonparametric.capacity import check_capacity
from gramlearn.methods.unfolding.structure_preserving import structure_preserving


class StructurePreservingEmbedding(PointEmbedding):
    """minimize -<W, K> + C xi over centered K, tr K^p <= B,  d_ik <= d_ij + xi where W_ik = 1 and W_ij = 0.

    Parameters
    ----------
    n_components : int
        The number of columns that `transform` gives. The graph is preserved in all dimensions of K, of which
        these are the first.
    n_neighbors : int
        The number of nearest neighbors of each point in the graph. A new point is put between as many. The
        graph need not be connected: comparisons are with all other points.
    graph : {"neighbors", "precomputed"}
        Whether to make the graph of nearest neighbors, or to read X as the graph. X is then a symmetric matrix,
        dense or sparse, whose entries other than zero are edges.
    join : {"either", "mutual"}
        Whether one of two points must be among the nearest of the other to join them, or both.
    C : float, optional
        The price of a violation: the larger, the more it counts. All comparisons share one slack at this price;
        they hold exactly if None, or if C is large enough.
    p : float
        The exponent p of tr K^p. At least 1.01. A smaller p puts more of K into the first dimensions: 2 is that
        of the paper, 1.1 is near to the trace.
    capacity : float, optional
        The bound B on the learned kernel: tr K^p <= B. Without it or a price, B = n. Either scales the
        embedding, no more.
    capacity_price : float, optional
        The price G in place of a capacity: (G/p) tr K^p is added to the objective.
    tol : float
        The relative gap at which to stop. Without C it is the largest violation as well, relative to the mean
        squared distance.
    max_iter : int, optional
        The largest number of iterations.
    time_limit : float, optional
        Seconds after which to stop, at the end of an iteration.
    callback : function of a Record, optional
        Called with the Record of every iteration; returning True stops the fit.
    verbose : int
        Whether to show a progress bar, on a terminal or in a notebook.

    Attributes
    ----------
    embedding_ : array n x n_components
    eigenvalues_ : vector
        The spectrum of K, in descending order; its first are the squared lengths of the embedding's columns.
    factor_ : array n x r
        All dimensions, in which the graph is preserved.
    graph_ : sparse matrix n x n
        W.
    solution_ : StructureAnswer
        The certificate, over all comparisons: `relative_gap`, `status`, `history`; and the `slack`, the
        comparisons `made`, and the `rounds` in which they were made.
    """

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int = 5,
        graph: str = "neighbors",
        join: str = "either",
        C: float | None = None,
        p: float = 2.0,
        capacity: float | None = None,
        capacity_price: float | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.join = join
        self.C = C
        self.p = p
        self.capacity = capacity
        self.capacity_price = capacity_price
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self.graph == "precomputed"
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X, or the graph X; y is ignored."""
        del y
        name = type(self).__name__
        is_graph = check_choice(self.graph, "graph", {"neighbors": False, "precomputed": True})
        X = self._read_graph(X) if is_graph else self._read(X)
        check_capacity(self.capacity, self.capacity_price, name)
        has_none = self.capacity is None and self.capacity_price is None
        check_positive(self.p, "p", name, largest=LARGEST_EXPONENT)
        if self.C is not None:
            check_positive(self.C, "C", name)
        self.graph_ = _with_comparisons(
            _edges(X) if is_graph else neighbor_graph(X, self.n_neighbors, join=self.join)
        )
        tol = check_positive(self.tol, "tol", name, any_size=True)
        answer = self._solve(
            X.shape[0],
            tol / 4,
            structure_preserving,
            self.graph_,
            C=self.C,
            p=self.p,
            capacity=float(X.shape[0]) if has_none else self.capacity,
            capacity_price=self.capacity_price,
            tol=tol,
        )
        if not answer.capacity:
            raise ValueError(
                "no centered kernel has neighbors on the same side of its mean, as for a star, so that the "
                "best embedding of this graph is one point; pass a graph with more edges."
            )
        self.factor_ = answer.factor
        self._keep_embedding(answer.factor, tol)
        return self

    def _read_graph(self, X: Any) -> Any:
        X = validated(self, X, dtype=FLOATS, ensure_min_samples=2, accept_sparse="csr")
        self._dtype, self._points = X.dtype, None
        check_components(self.n_components, X.shape[0] - 1, f"{X.shape[0]} points")
        return X


def _edges(X: Any) -> Any:
    """W of a matrix whose entries that are not zero are edges."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f'`X` has shape {tuple(X.shape)}, but with graph="precomputed" it is a graph, n x n; for points '
            'pass graph="neighbors".'
        )
    A = check_graph(csr_array(X), "X")
    W = csr_array(A + A.T)
    W.setdiag(0.0)
    W.eliminate_zeros()
    W.data[:] = 1.0
    return W


def _with_comparisons(W: Any) -> Any:
    """A graph that has edges, and pairs that are none."""
    n = int(W.shape[0])
    if not W.nnz:
        raise ValueError("the graph has no edges, so that there is nothing to preserve; add some.")
    if W.nnz == n * (n - 1):
        raise ValueError(
            f"all {n} points are neighbors of each other, so that there is nothing to preserve; pass fewer "
            "neighbors, or a graph with fewer edges."
        )
    return W
