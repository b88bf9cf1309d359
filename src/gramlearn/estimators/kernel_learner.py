"""D(K, K0) + sum_k loss_k(K_ii + K_jj - 2 K_ij) -> min over K: a kernel that works on new points (J12 3, 4)."""

from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.distances import squared_distances
from gramlearn._base.validation import check_choice, check_flag, check_positive, generator
from gramlearn.estimators._feature_space import (
    coincide_in,
    coordinates_of,
    read_points,
    to_rounding,
    with_defaults,
)
from gramlearn.estimators._inputs import FLOATS, validated
from gramlearn.estimators._learning import (
    bounds_of,
    drop_impossible_statements,
    loss_of,
    side_of,
    solved,
    warn_if_all_hold,
)
from gramlearn.estimators._pair_methods import PairMethods, best_threshold
from gramlearn.estimators._whole import whole
from gramlearn.kernels.low_rank.columns import LowRankKernel
from gramlearn.kernels.low_rank.spectral import spectral_factor_of
from gramlearn.kernels.matrix import KernelMatrix, read_kernel_matrix
from gramlearn.methods.metric.kernel_map import KernelMap
from gramlearn.methods.metric.maps import symmetric_root
from gramlearn.problem.prior import Factor
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation

__all__ = ["KernelLearner"]

_SAMPLE = (
    1000  # points from whose distances the bounds are found, where all are too many; rows at a time
)


class KernelLearner(PairMethods, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k(x, y) = alpha k0(x, y) + k1' S k2: the kernel nearest to k0 that honours what is known of pairs.

    A metric in the feature space of k0, which may have any dimension. With `LogDet` this is kernelized
    information-theoretic metric learning.

    Parameters
    ----------
    kernel : str, Kernel, callable or "precomputed"
        k0: a name of scikit-learn's `pairwise_kernels`, a kernel such as GaussianKernel(0.1), a function
        k(A, B) that gives the matrix of all k(a, b), or the kernel itself as X; new points are then given by
        their kernel values with all of X.
    kernel_params : dict, optional
        Parameters of the kernel, such as {"gamma": 0.1}. Without one, gamma is 1 / (d var X), as in
        scikit-learn's SVC.
    rank : int, optional
        Learn within so many directions of feature space, for many points; all that the points span where it is
        not given.
    basis : {"cholesky", "subset", "spectral", "random", "kmeans"} or array n x k
        Those directions: the points that incomplete Cholesky picks, points drawn at random, the leading
        eigenvectors, random combinations of the points, means of clusters by kernel k-means, or the columns of
        a matrix J of weights of the points, all of them, with which no rank is needed.
    complement : bool
        Keep alpha k0 in the directions that the basis leaves out (J12), or leave them out of the kernel, which
        then has this rank (K09); that is for many points, as nothing of size n x n is made (for
        basis="spectral", above 10,000 points).
    alpha : float
        The prior is alpha k0.
    regularizer, loss, gamma, bounds, percentiles, n_pairs, solver, tol, max_iter, random_state, verbose :
        As in `MetricLearner`; distances are those of k0 in feature space.
    regularize : {"kernel", "map"}
        Which matrix the regularizer is applied to: the kernel matrix of the training points (K09), or the
        linear map of feature space whose kernel it is (J12). For LogDet both give the same kernel, for all
        others they do not. With a rank and its complement it is the map.

    Attributes
    ----------
    kernel_matrix(X, Y) : method
        The learned kernel, for any points.
    coordinates_ : LowRankKernel
        Coordinates of points in the basis.
    inner_ : array k x k
        F, the learned inner product of these coordinates.
    solution_ : Solution
        The certificate.
    bounds_, threshold_, n_iter_, n_features_in_ :
        As in `MetricLearner`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = KernelLearner("rbf", rank=20, random_state=0).fit(X, y)
    >>> learner.kernel_matrix(X[:2], X[:3]).shape
    (2, 3)
    """

    _judges_pairs: bool

    def __init__(
        self,
        kernel: Any = "rbf",
        kernel_params: dict[str, Any] | None = None,
        rank: int | None = None,
        basis: Any = "cholesky",
        complement: bool = True,
        alpha: float = 1.0,
        regularizer: Any = "logdet",
        regularize: str = "kernel",
        loss: Any = "slack",
        gamma: float = 1.0,
        bounds: tuple[float, float] | None = None,
        percentiles: tuple[float, float] = (5, 95),
        n_pairs: int | None = None,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.rank = rank
        self.basis = basis
        self.complement = complement
        self.alpha = alpha
        self.regularizer = regularizer
        self.regularize = regularize
        self.loss = loss
        self.gamma = gamma
        self.bounds = bounds
        self.percentiles = percentiles
        self.n_pairs = n_pairs
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @whole
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, Triplets or Bounds over the rows of X.

        Labels of -1 (integer), NaN or None mean unknown, and such points take no part.
        """
        X = read_points(self, X)
        rng = generator(self.random_state)
        known = side_of(side, y, X.shape[0], self.n_pairs, rng)
        regularizer = read_regularizer(self.regularizer)
        loss = loss_of(self, regularizer, known)
        alpha = self._alpha(regularizer)
        params = with_defaults(X, self.kernel, self.kernel_params)
        base = read_kernel_matrix(X, self.kernel, params)
        coordinates = coordinates_of(X, self.kernel, params, self.rank, self.basis, rng)
        # A basis without its complement may not tell points apart that differ.
        is_whole = check_flag(self.complement, "complement") or not self._has_basis
        known = drop_impossible_statements(known, coincide_in(base, coordinates, is_whole), loss)
        offset = partial(_distances_beyond, base, coordinates, alpha) if self._has_rest else None
        bounds = self._bounds(known, base, coordinates, alpha, rng)
        F, solution = self._learned(
            coordinates.factor, known, regularizer, loss, bounds, alpha, offset
        )
        warn_if_all_hold(known, solution)
        complement = alpha if is_whole else 0.0
        self._map = KernelMap(base, coordinates, F, complement)
        self.coordinates_, self.inner_, self.solution_ = coordinates, F, solution
        self.bounds_ = bounds
        self.n_iter_ = max(1, solution.iterations)
        i, j, alike = (np.asarray(v) for v in known.near_and_far())
        self._judges_pairs = side is not None and i.size > 0
        self.__dict__.pop("threshold_", None)
        if i.size:
            squared = squared_distances(coordinates.factor @ symmetric_root(F), i, j)
            lengths = np.sqrt(squared if offset is None else squared + offset(i, j))
            self.threshold_ = best_threshold(lengths, alike, known.pair_weights())
        return self

    def kernel_matrix(self, X: Any, Y: Any = None) -> np.ndarray:
        """All k(x, y) of the learned kernel; without Y those with the training points."""
        check_is_fitted(self)
        X = validated(self, X, dtype=np.float64, reset=False)
        if Y is None:
            return self._map.with_training(X)
        return self._map.between(X, validated(self, Y, "Y", dtype=np.float64, reset=False))

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates with the learned kernel as inner products, within the span of the training points."""
        check_is_fitted(self)
        X = validated(self, X, dtype=FLOATS, reset=False)
        return self._map.transform(X.astype(np.float64, copy=False)).astype(X.dtype, copy=False)

    def _squared_distances(self, first: Any, second: Any) -> np.ndarray:
        if not issparse(first):
            return self._map.squared_distances(first, second)
        # Kernels are functions of dense points: some rows at a time.
        found = [np.zeros(0)]
        for start in range(0, first.shape[0], _SAMPLE):
            some = slice(start, start + _SAMPLE)
            dense = (side[some].toarray() for side in (first, second))
            found.append(self._map.squared_distances(*dense))
        return np.concatenate(found)

    @property
    def _n_features_out(self) -> int:
        return self._map.n_coordinates

    @property
    def _has_basis(self) -> bool:
        return self.rank is not None or not isinstance(self.basis, str)

    @property
    def _has_rest(self) -> bool:
        """Whether there are directions outside the basis that the kernel keeps."""
        return self._has_basis and check_flag(self.complement, "complement")

    def _alpha(self, regularizer: Regularizer) -> float:
        if regularizer.keeps_range or self.alpha != 0:
            return check_positive(self.alpha, "alpha", "KernelLearner")
        return 0.0

    def _bounds(
        self, known: Any, base: KernelMatrix, coordinates: LowRankKernel, alpha: float, rng: Any
    ) -> Any:
        """The bounds of pairs that have none of their own: of squared distances under the prior."""
        # With no prior to speak of, under the kernel.
        scale = np.sqrt(alpha or 1.0)
        points = coordinates.factor
        if self._has_rest:
            rows = np.sort(rng.permutation(base.n_points)[:_SAMPLE])
            sample = KernelMatrix.precomputed(base.columns(rows)[rows], base.eps)
            points = spectral_factor_of(sample).factor
        return bounds_of(known, self.bounds, self.percentiles, scale * to_rounding(points), rng)

    def _learned(
        self,
        P: np.ndarray,
        known: SideInformation,
        regularizer: Regularizer,
        loss: Any,
        bounds: Any,
        alpha: float,
        offset: Any,
    ) -> tuple[np.ndarray, Solution]:
        """(F, the solution), k x k."""
        choices = {"map": False, "kernel": not regularizer.is_invariant}
        of_kernel = check_choice(self.regularize, "regularize", choices)
        if of_kernel and self._has_rest:
            raise ValueError(
                '`regularize="kernel"` with a rank and its complement is for LogDet alone, where it makes no '
                'difference; use regularize="map", or complement=False.'
            )
        if not of_kernel:
            terms = known.bind(loss, P, bounds, offset=offset)
            solution = solved(self, regularizer, alpha * np.eye(P.shape[1]), terms)
            return solution.matrix, solution
        if not alpha:
            raise ValueError(
                '`alpha=0` leaves no kernel to stay within the span of; use regularize="map", as POLA does.'
            )
        terms = known.bind(loss, bounds=bounds)
        solution = solved(self, regularizer, Factor(alpha**0.5 * P), terms)
        root = np.linalg.lstsq(P, solution.factor, rcond=None)[0]
        return root @ root.T, solution


def _distances_beyond(
    base: KernelMatrix, coordinates: LowRankKernel, alpha: float, i: Any, j: Any
) -> np.ndarray:
    """alpha times the squared distances of k0 less what the coordinates have of them."""
    diagonal = base.diagonal()
    plain = diagonal[i] + diagonal[j] - 2 * base.entries(i, j)
    inside = np.asarray(squared_distances(coordinates.factor, i, j))
    return alpha * np.maximum(plain - inside, 0.0)
