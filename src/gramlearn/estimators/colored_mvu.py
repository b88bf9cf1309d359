"""-<H Y H, K> + (C/2) sum over neighbors (t_ij - d_ij)^2 -> min over PSD K with tr K^2 <= B (Z11 6.1)."""

from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import type_of_target

from gramlearn._validation import check_choice, check_count, check_finite, check_positive
from gramlearn.estimators._embedding import PointEmbedding, edges_of
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.low_rank import incomplete_cholesky
from gramlearn.side_information.labels import read_labels
from gramlearn.special.colored_unfolding import colored_unfolding, smooth_basis

__all__ = ["ColoredMVU"]

_CLASSES = ("binary", "multiclass")
_LANDMARKS = 100  # columns of a Gaussian kernel over labels


class ColoredMVU(PointEmbedding):
    """Unfold points along what is said about them: colored maximum variance unfolding (Song et al. 2008).

    K depends on the labels as much as it can, by the Hilbert-Schmidt independence criterion, while distances of
    neighbors are kept at a price.

    Parameters
    ----------
    n_components : int
        Dimensions of the embedding: those of largest variance.
    n_neighbors : int
        Two points are joined if one is among so many nearest of the other. Pieces of the graph are no matter:
        labels hold them together.
    labels : {"auto", "delta", "linear", "rbf"}
        The kernel over y: 1 where labels are equal; the inner product of centered numbers or tags; a Gaussian
        of their distance. Each has a mean diagonal of 1. "auto" is the first for classes, and else the second.
    C : float
        The price of errors of squared distances, (C/2) (t - d)^2, with d in units of their mean.
    capacity : float
        tr K^2 is at most this times the number of points, in the same units. The larger, the nearer distances
        come to what they were, and the longer it takes.
    rank : int, optional
        Look for K = V E V' only, with V the smoothest so many eigenvectors of the graph (Z11 5.4): an
        approximation whose cost hardly depends on the number of points. Without it all of K is learned, at the
        cost of some eigendecompositions: at 2000 points half a minute to a minute for tol=0.01.
    tol : float
        The relative gap to stop at.
    max_iter : int, optional
    verbose : int

    Attributes
    ----------
    embedding_ : array n x n_components
    eigenvalues_ : vector
        The spectrum of K, in descending order.
    solution_ : CapacityAnswer
        K as a factor in units of the mean squared distance of neighbors, the objective and its gap.

    Notes
    -----
    Scaling X scales the embedding and changes nothing else. There is nothing random.
    """

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int = 5,
        labels: str = "auto",
        C: float = 1.0,
        capacity: float = 1.0,
        rank: int | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.labels = labels
        self.C = C
        self.capacity = capacity
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Unfold the rows of X along y: classes, numbers, or a matrix of tags with a row for each.

        Of classes, the integer -1, NaN and None mean unlabeled, as in `from_labels`: such points follow their
        neighbors alone.
        """
        X = self._read(X)
        tol = check_positive(self.tol, "tol", "ColoredMVU")
        room = check_positive(self.capacity, "capacity", "ColoredMVU") * len(X)
        L = _label_factor(y, len(X), self.labels)
        graph = neighbor_graph(X, self.n_neighbors, join="either")
        edges = edges_of(X, graph)
        basis = None
        if self.rank is not None:
            rank = min(check_count(self.rank, "rank"), len(X) - 1)
            basis = smooth_basis(laplacian(graph, normalized=False), rank)
        with self._watched("unfolding", tol, len(X)) as callback:
            self.solution_ = colored_unfolding(
                edges.squared,
                np.column_stack([edges.i, edges.j]),
                L,
                C=self.C,
                B=room,
                basis=basis,
                tol=tol,
                max_iter=self.max_iter,
                callback=callback,
                owner="ColoredMVU",
            )
        assert self.solution_.solution is not None
        self.n_iter_ = max(1, self.solution_.solution.iterations)
        self._keep(self.solution_.factor * edges.unit**0.5, tol)
        return self


def _codes(y: Any, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the classes, and the rows that have one; rows of a matrix of tags are classes as they are."""
    if values.ndim > 1:
        return np.unique(values, axis=0, return_inverse=True)[1].ravel(), np.arange(len(values))
    named, labeled = read_labels(y)
    return np.unique(named[labeled], return_inverse=True)[1], labeled


def _label_factor(y: Any, n: int, labels: str) -> np.ndarray:
    """L with Y = L L', one row for each label."""
    check_choice(labels, "labels", dict.fromkeys(("auto", "delta", "linear", "rbf")))
    if y is None:
        raise ValueError(
            "nothing is known about the points: this estimator requires y to be passed, but the target y is "
            "None; pass labels, numbers or tags, or use MaximumVarianceUnfolding."
        )
    values = np.asarray(y)
    if values.shape[0] != n:
        raise ValueError(
            f"`y` has {values.shape[0]} labels, but `X` has {n} rows; pass one for each."
        )
    if labels == "auto":
        known = values[read_labels(y)[1]] if values.ndim == 1 else values
        labels = "delta" if type_of_target(known, input_name="y") in _CLASSES else "linear"
    if labels == "delta":
        codes, labeled = _codes(y, values)
        L = np.zeros((n, codes.max(initial=-1) + 1))
        L[labeled, codes] = 1.0
    else:
        numbers = check_finite(values.astype(float).reshape(n, -1), "y")
        numbers = numbers - numbers.mean(axis=0)
        size = float(np.sqrt(np.mean(np.sum(numbers**2, axis=1))))
        L = numbers / (size or 1.0)
        if labels == "rbf":
            L = incomplete_cholesky(L, "rbf", rank=min(n, _LANDMARKS), tol=0.0, gamma=0.5).factor
    if not np.any(L[0] != L):
        raise ValueError(
            "all labels in `y` are equal, so there is nothing to unfold along; pass others."
        )
    return np.asarray(L)
