"""maximize lambda_1 + ... + lambda_d - lambda_(d+1) - ... - lambda_n, distances of neighbors kept (Z11 6.2).

Unfolding asks for a large trace, which may lie in many dimensions. Minimum volume embedding puts it into
the first d, by rounds of a convex problem, see `methods.unfolding.minimum_volume`.
"""

from typing import Any, Self

import numpy as np

from gramlearn._base.validation import check_choice, check_positive
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._embedding import PointEmbedding
from gramlearn.methods.unfolding.minimum_volume import minimum_volume, signs_of

_PRICE = 0.01  # of capacity: little beside that of distances, and enough for quick rounds


class MinimumVolumeEmbedding(PointEmbedding):
    """minimize -f(K) + C/2 sum_ij (d_ij - |x_i - x_j|^2)^2, f = first d eigenvalues of K less the others.

    Squared distances are measured in units of their mean over the neighbors, so that prices mean the same
    whatever the units of X are; the embedding is in the units of X.

    Parameters
    ----------
    n_components : int
        The number of columns that `transform` gives. It is the d of the objective.
    n_neighbors : int
        The number of nearest neighbors of each point in the graph. A new point is put between as many.
    join : {"either", "mutual"}
        Whether one of two points must be among the nearest of the other to join them, or both.
    connect : bool
        Whether to join the pieces of the graph by the shortest edges between them. Otherwise pieces are an
        error: nothing keeps them from flying apart, up to the capacity.
    C : float
        The price of a violation: the larger, the more it counts. It is that of a wrong distance.
    capacity : float, optional
        The bound B on the learned kernel: tr K^p <= B. Here p = 2.
    capacity_price : float, optional
        The price G in place of a capacity: (G/p) tr K^p is added to the objective. Without either, G = 0.01.
        The lower G and the larger C, the better distances are kept and the farther things unfold, and the
        longer it takes.
    init : {"linear", "unfolding"}
        What the first round favors: the leading principal components, or all directions alike.
    tol : float
        The relative gap at which to stop. The last round is the one that improves the objective by less than
        this, relative to its size; it is solved to a tenth of it.
    max_rounds : int
        The largest number of rounds, each of which solves a convex problem.
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
    share_ : float
        Of the trace of K that these have.
    solution_ : VolumeAnswer
        The certificate of the last round that improved; its `capacity` and `capacity_price`; and of all
        `rounds` their objective, share and relative gap. The objective never grows by more than the gap.
    unit_ : float
        The mean squared length of an edge.
    """

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int = 5,
        join: str = "either",
        connect: bool = False,
        C: float = 1.0,
        capacity: float | None = None,
        capacity_price: float | None = None,
        init: str = "linear",
        tol: float = 1e-3,
        max_rounds: int = 100,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.join = join
        self.connect = connect
        self.C = C
        self.capacity = capacity
        self.capacity_price = capacity_price
        self.init = init
        self.tol = tol
        self.max_rounds = max_rounds
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X; y is ignored."""
        del y
        name = type(self).__name__
        X = self._read(X)
        d = int(self.n_components)
        tol = check_positive(self.tol, "tol", name, any_size=True)
        check_choice(self.init, "init", {"linear": None, "unfolding": None})
        edges = self._connected_edges(X, self.connect, self.join)
        n, price = len(X), self.capacity_price
        if self.capacity is None and price is None:
            price = _PRICE
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        V = U[:, : min(d, int(np.sum(s > 1e-8 * s[0])))]
        answer = self._solve(
            n,
            tol / 10,
            minimum_volume,
            edges,
            signs_of(V) if self.init == "linear" else np.eye(n) - 1 / n,
            d,
            C=check_positive(self.C, "C", name),
            capacity=self.capacity,
            capacity_price=price,
            tol=tol,
            max_rounds=self.max_rounds,
            smallest=1e-3 * _PRICE,
        )
        self.unit_ = edges.unit
        self._keep_embedding(answer.factor * edges.unit**0.5, tol / 10)
        whole = float(np.sum(self.eigenvalues_))
        self.share_ = float(np.sum(self.eigenvalues_[:d])) / whole if whole > 0 else 1.0
        return self
