"""lambda_1 + ... + lambda_d - lambda_(d+1) - ... - lambda_n -> max, distances of neighbors kept (Z11 6.2).

Unfolding asks for a large trace, which may lie in many dimensions. Minimum volume embedding puts it into
the first d, by rounds of a convex problem, see `special.minimum_volume`.
"""

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn._progress import progress_bar
from gramlearn._validation import check_choice, check_count, check_positive
from gramlearn._warnings import warn
from gramlearn.estimators._embedded import EmbedsPoints, check_components, coordinates
from gramlearn.estimators._points import validated
from gramlearn.estimators._precision import FLOATS
from gramlearn.graphs import connected, neighbor_graph
from gramlearn.special.minimum_volume import Distances, minimum_volume, signs_of

__all__ = ["MinimumVolumeEmbedding"]

_PRICE = 0.01  # of capacity: little beside that of distances, and enough for quick rounds


class MinimumVolumeEmbedding(EmbedsPoints):
    """-f(K) + C/2 sum_ij (d_ij - |x_i - x_j|^2)^2 -> min, f = first d eigenvalues of K less the others.

    Squared distances are measured in units of their mean over the neighbors, so that C, B and G mean the same
    whatever the units of X are; the embedding is in the units of X.

    Parameters
    ----------
    n_components : int
        d.
    n_neighbors : int
        Of the graph whose edges keep their lengths, and of the points that a new one is put between.
    join : {"either", "mutual"}
        As in `neighbor_graph`.
    connect : bool
        Whether pieces of the graph are joined by the shortest edges between them; otherwise they are an
        error.
    C : float
        The price of a wrong distance.
    B : float, optional
        The capacity, tr K^2 <= B.
    G : float, optional
        The price of capacity instead, G/2 tr K^2 (default, without B: 0.01). The less it is, and the larger C,
        the better distances are kept and the farther things unfold, and the longer it takes.
    init : {"linear", "unfolding"}
        What the first round favors: the first d principal components of the points, or variance in all
        directions alike.
    tol : float
        A round that improves the objective by less than this, relative to its size, is the last. Each is
        solved to a relative gap of a tenth of it.
    max_iter : int
        The largest number of rounds.
    verbose : int
        Whether a bar shows the gap of the rounds.

    Attributes
    ----------
    embedding_ : array n x n_components
    eigenvalues_ : vector
        The squared lengths of its columns, in descending order: the first eigenvalues of the kernel.
    share_ : float
        Of the trace of the kernel that they have.
    history_ : tuple of Round
        objective, share and relative gap of every round. The objective never grows.
    solution_ : Solution
        The certificate of the round that the embedding is from, the last that improved.
    relative_gap_ : float
        Its gap, with that of the capacity where B was given.
    capacity_, G_ : float
        tr K^2, and the price at which it is optimal.
    unit_ : float
        The mean squared length of an edge.
    """

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int = 5,
        join: str = "either",
        connect: bool = True,
        C: float = 1.0,
        B: float | None = None,
        G: float | None = None,
        init: str = "linear",
        tol: float = 1e-3,
        max_iter: int = 100,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.join = join
        self.connect = connect
        self.C = C
        self.B = B
        self.G = G
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        del y
        name = type(self).__name__
        X = validated(self, X, dtype=FLOATS, ensure_min_samples=2)
        self._dtype, X = X.dtype, X.astype(np.float64)
        d = check_components(self.n_components, len(X))
        tol = check_positive(self.tol, "tol", name)
        check_choice(self.init, "init", {"linear": None, "unfolding": None})
        distances, unit = self._distances(X)
        n, G = len(X), _PRICE if self.B is None and self.G is None else self.G
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        V = U[:, : min(d, int(np.sum(s > 1e-8 * s[0])))]
        with progress_bar("embedding", tol / 10, bool(self.verbose)) as callback:
            answer = minimum_volume(
                distances,
                signs_of(V) if self.init == "linear" else np.eye(n) - 1 / n,
                d,
                C=check_positive(self.C, "C", name),
                B=self.B,
                G=G,
                tol=tol,
                max_rounds=check_count(self.max_iter, "max_iter"),
                smallest=1e-3 * _PRICE,
                callback=callback,
                owner=name,
            )
        if not answer.is_converged:
            warn(
                f"the rounds of {name} still improved after max_iter={self.max_iter} of them, by more than "
                f"tol={tol:g}; raise max_iter, or tol.",
                ConvergenceWarning,
            )
        self.history_ = answer.rounds
        self.n_iter_ = len(answer.rounds)
        kernel = answer.kernel
        self.solution_, self.relative_gap_ = kernel.solution, kernel.relative_gap
        self.capacity_, self.G_, self.unit_ = kernel.capacity, kernel.G, unit
        self.embedding_, self.eigenvalues_ = coordinates(kernel.factor * unit**0.5, d, name)
        self.share_ = float(np.sum(self.eigenvalues_) / (unit * np.sum(answer.eigenvalues)))
        self._points = X
        return self

    def _distances(self, X: np.ndarray) -> tuple[Distances, float]:
        """The edges with their squared lengths, and the mean of these, which is their unit."""
        from scipy.sparse import triu
        from scipy.sparse.csgraph import connected_components

        graph = neighbor_graph(X, self.n_neighbors, join=self.join)
        pieces = connected_components(graph, directed=False)[0]
        if pieces > 1 and not self.connect:
            raise ValueError(
                f"the graph of `n_neighbors={self.n_neighbors}` and `join={self.join!r}` is in {pieces} "
                "pieces, and nothing holds them at a distance from each other; pass more neighbors, or "
                "connect=True."
            )
        edges = triu(connected(graph, X), 1).tocoo()
        i, j = edges.coords
        squared = np.sum((X[i] - X[j]) ** 2, axis=1)
        unit = float(np.mean(squared))
        if not unit > 0:
            raise ValueError(
                "all rows of `X` are equal, so that there is nothing to embed; pass points that differ."
            )
        return Distances(len(X), i, j, squared / unit), unit
