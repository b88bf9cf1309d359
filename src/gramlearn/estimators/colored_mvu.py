"""minimize -<H Y H, K> + (C/2) sum over neighbors (t_ij - d_ij)^2 over PSD K, tr K^2 <= B (Z11 6.1)."""

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import type_of_target

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import check_choice, check_count, check_finite, check_positive
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._embedding import PointEmbedding
from gramlearn.graphs.edges import measure_edges
from gramlearn.graphs.neighbors import laplacian, neighbor_graph
from gramlearn.kernels.low_rank.columns import incomplete_cholesky
from gramlearn.methods.unfolding.colored import colored_unfolding, smooth_basis
from gramlearn.side_information.sampling import read_labels

_CLASSES = ("binary", "multiclass")
_LANDMARKS = 100  # columns of a Gaussian kernel over labels


class ColoredMVU(PointEmbedding):
    """Unfold points along what is said about them: colored maximum variance unfolding (Song et al. 2008).

    K depends on the labels as much as it can, by the Hilbert-Schmidt independence criterion, while distances of
    neighbors are kept at a price.

    Parameters
    ----------
    n_components : int
        The number of columns that `transform` gives. Those of largest variance.
    n_neighbors : int
        The number of nearest neighbors of each point in the graph. The graph need not be connected: labels hold
        its pieces together.
    label_kernel : {"auto", "delta", "linear", "rbf"}
        The kernel over y. 1 where labels are equal; the inner product of centered numbers or tags; a Gaussian
        of their distance. Each has a mean diagonal of 1, before it is centered. "auto" is the first for
        classes, and else the second.
    C : float
        The price of a violation: the larger, the more it counts. An error of a squared distance costs (C/2) (t
        - d)^2, with d in units of their mean.
    capacity : float, optional
        The bound B on the learned kernel: tr K^p <= B. Here p = 2, in the same units, and B = n if None. The
        larger, the better distances are kept, and the longer it takes.
    rank : int, optional
        The largest number of directions to learn in; no limit if None. They are the smoothest eigenvectors of
        the graph (Z11 5.4): the cost then hardly depends on the number of points. Without a limit 2000 points
        take half a minute to a minute for tol=0.01.
    tol : float
        The relative gap at which to stop.
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
        The spectrum of K, in descending order.
    solution_ : CapacityAnswer
        K as a factor in units of the mean squared distance of neighbors, the objective and its gap.

    Scaling X scales the embedding and changes nothing else. There is nothing random.
    """

    _requires_y = True

    def __init__(
        self,
        n_components: int = 2,
        n_neighbors: int = 5,
        label_kernel: str = "auto",
        C: float = 1.0,
        capacity: float | None = None,
        rank: int | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.label_kernel = label_kernel
        self.C = C
        self.capacity = capacity
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Unfold the rows of X along y: classes, numbers, or a matrix of tags with a row for each.

        Of classes, the integer -1, NaN and None mean unlabeled, as in `Pairs.from_labels`: such points follow
        their neighbors alone, and the kernel over labels is centered over the others.
        """
        X = self._read(X)
        tol = check_positive(self.tol, "tol", "ColoredMVU", any_size=True)
        room = float(len(X)) if self.capacity is None else self.capacity
        L = _label_factor(y, len(X), self.label_kernel)
        graph = neighbor_graph(X, self.n_neighbors)
        edges = measure_edges(X, graph)
        basis = None
        if self.rank is not None:
            rank = min(check_count(self.rank, "rank"), len(X) - 1)
            basis = smooth_basis(laplacian(graph, normalized=False), rank)
        answer = self._solve(
            len(X),
            tol,
            colored_unfolding,
            edges.squared,
            np.column_stack([edges.i, edges.j]),
            L,
            C=self.C,
            capacity=room,
            basis=basis,
            tol=tol,
        )
        self._keep_embedding(answer.factor * edges.unit**0.5, tol)
        return self


def _label_factor(y: Any, n: int, labels: str) -> np.ndarray:
    """L with H Y H = L L', a row for each point; H centers those that have a label, and the others are zero."""
    check_choice(labels, "label_kernel", dict.fromkeys(("auto", "delta", "linear", "rbf")))
    if y is None:
        raise ValueError(
            "nothing is known about the points: this estimator requires y to be passed, but the target y is "
            "None; pass labels, numbers or tags, or use MaximumVarianceUnfolding."
        )
    values = _values(y, n)
    known, labeled = _labels(y, values)
    if labels == "auto":
        with np.errstate(invalid="ignore"):  # whether a large number is whole
            labels = "delta" if type_of_target(known, input_name="y") in _CLASSES else "linear"
    if labels == "delta":
        codes = distinct_rows(known).kind
        L = np.eye(codes.max(initial=-1) + 1)[codes]
    else:
        labeled, L = np.arange(n), _numbers(values, labels)
        if labels == "rbf":
            L = incomplete_cholesky(L, "rbf", rank=min(n, _LANDMARKS), tol=0.0, gamma=0.5).factor
    if not np.any(L[:1] != L):
        besides = f" beside the {n - len(labeled)} of -1, NaN or None, which mean unlabeled"
        raise ValueError(
            f"all labels in `y` are equal{besides if len(labeled) < n else ''}, so there is nothing to unfold "
            "along; pass others, and if -1 is a class of yours, y.astype(str)."
        )
    centered = np.zeros((n, L.shape[1]))
    centered[labeled] = L - L.mean(axis=0)
    return centered


def _values(y: Any, n: int) -> np.ndarray:
    """One label for each point, or one row of tags."""
    y = check_unmasked(y, "y")
    try:
        values = to_numpy(y.toarray() if issparse(y) else y)
    except ValueError:
        raise ValueError(
            "`y` holds lists of different lengths; pass one label for each point, or a matrix of tags, n x c."
        ) from None
    if values.ndim not in (1, 2):
        raise ValueError(
            f"`y` has shape {values.shape}; pass one label for each point, or a matrix of tags, n x c."
        )
    if len(values) != n:
        raise ValueError(f"`y` has {len(values)} labels, but `X` has {n} rows; pass one for each.")
    return values[:, 0] if values.shape[1:] == (1,) else values


def _labels(y: Any, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The known labels, and their rows; all rows of a matrix of tags."""
    if values.ndim == 2:
        return _numbers(values, "tags"), np.arange(len(values))
    named, labeled = read_labels(y if np.asarray(y).ndim == 1 else values)
    # Numbers among which None stood are objects, of which nothing says that they are numbers.
    known = np.asarray(named[labeled].tolist())
    if known.dtype.kind == "c":
        raise ValueError("Complex data not supported: `y` holds complex numbers; pass real ones.")
    return (check_finite(known, "y") if known.dtype.kind == "f" else known), labeled


def _numbers(values: np.ndarray, way: str) -> np.ndarray:
    """Numbers, n x c: tags as they are, others centered and of a mean square of 1."""
    try:
        numbers = values.astype(float).reshape(len(values), -1)
    except OverflowError:
        raise ValueError(
            "`y` holds a whole number that is beyond the range of numbers, 1.8e308; pass smaller ones, or "
            'label_kernel="delta", for which they are names.'
        ) from None
    except (TypeError, ValueError):
        raise ValueError(
            f"`y` holds {values.dtype} where numbers are needed; pass numbers, or one name for each point and "
            'label_kernel="delta".'
        ) from None
    check_finite(numbers, "y")
    if way == "tags":
        return numbers
    # Rescale so that squares cannot overflow.
    numbers = numbers / (float(np.abs(numbers).max()) or 1.0)
    numbers = numbers - numbers.mean(axis=0)
    return np.asarray(numbers / (float(np.sqrt(np.mean(np.sum(numbers**2, axis=1)))) or 1.0))
