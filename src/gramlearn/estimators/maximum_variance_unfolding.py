"""maximize tr K over centered PSD K with K_ii + K_jj - 2 K_ij = |x_i - x_j|^2 for neighbors (Z11 6.1)."""

from typing import Any, Self

import numpy as np

from gramlearn._base.validation import check_positive
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._embedding import PointEmbedding
from gramlearn.methods.unfolding.max_variance import unfold


class MaximumVarianceUnfolding(PointEmbedding):
    """Pull points apart as far as the distances of neighbors allow, and look at the result.

    Maximum variance unfolding of Weinberger, Sha and Saul (2004), solved by interior points with a certificate:
    no kernel that keeps the distances of neighbors has a trace above `solution_.bound`.

    Parameters
    ----------
    n_components : int
        The number of columns that `transform` gives. Those of largest variance.
    n_neighbors : int
        The number of nearest neighbors of each point in the graph. Costs grow as the cube of the number of
        points times neighbors: 44 seconds of one ARM core at 1000 points with 5 neighbors.
    connect : bool
        Whether to join the pieces of the graph by the shortest edges between them. Otherwise pieces are an
        error: nothing keeps them from flying apart.
    distances : {"equal", "at_most"}
        Whether the distances of neighbors are kept, or may shrink. The second gives flatter embeddings of noisy
        points, and is better conditioned.
    tol : float
        The relative gap at which to stop. It is the largest error of a squared distance as well, in units of
        their mean. Of nearly flat neighborhoods 1e-4 may be out of reach.
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
        The spectrum of K, in descending order: the variance, times n, along each dimension.
    solution_ : Unfolding
        K as a factor, its trace, the bound, gap and violation, and the multipliers of distances.

    Scaling X scales the embedding. There is nothing random: the same X gives the same embedding.
    """

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int = 5,
        connect: bool = False,
        distances: str = "equal",
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.connect = connect
        self.distances = distances
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Unfold the rows of X; y is ignored."""
        X = self._read(X)
        tol = check_positive(self.tol, "tol", "MaximumVarianceUnfolding", any_size=True)
        edges = self._connected_edges(X, self.connect)
        pairs = np.column_stack([edges.i, edges.j])
        answer = self._solve(len(X), tol, unfold, X, pairs, distances=self.distances, tol=tol)
        self._keep_embedding(answer.factor, tol)
        return self
