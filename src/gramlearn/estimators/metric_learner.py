"""D(W, W0) + sum_k loss_k((x_i - x_j)' W (x_i - x_j)) -> min over W: a Mahalanobis metric (J12 3)."""

from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from gramlearn._validation import check_choice, check_count, generator
from gramlearn.bases import basis_of, orthonormal
from gramlearn.estimators._learning import (
    bounds_of,
    loss_of,
    prior_of,
    reachable,
    regularizer_of,
    side_of,
    solved,
)
from gramlearn.estimators._pair_methods import MahalanobisMethods, best_threshold
from gramlearn.estimators._precision import FLOATS
from gramlearn.maps import FullMap, LowRankMap, MetricMap, distances_beyond, symmetric_root
from gramlearn.side_information import SideInformation
from gramlearn.side_information.labels import read_labels
from gramlearn.solution import Solution
from gramlearn.space import Factor

__all__ = ["MetricLearner"]

_LARGEST_OUTPUT = 10**9  # numbers of a transformed sparse X: 8 GB


class MetricLearner(MahalanobisMethods, BaseEstimator):
    """d(x, y) = (x - y)' W (x - y), with W the nearest to W0 that honours what is known of pairs.

    With `LogDet` and `loss="slack"` this is information-theoretic metric learning (ITML), solved to optimality.

    Parameters
    ----------
    regularizer : {"logdet", "von_neumann", "frobenius"} or Regularizer
        How far W is from the prior.
    prior : {"identity", "inverse_covariance"} or array d x d
        W0, positive semidefinite. "inverse_covariance" measures directions that X does not vary in by zero.
    loss : {"slack", "hinge", "squared_hinge", "square", "hard"} or loss
        What a violated bound costs. "slack" belongs to the regularizer: LogDetSlack, KLSlack or SquaredHinge,
        and Hinge for triplets. "hard" bounds hold, or InfeasibleError names those that contradict each other.
    gamma : float
        The price of a violation: the larger, the more it counts beside the distance from the prior.
    bounds : (upper, lower), optional
        Squared distances: pairs that are alike shall be at most `upper` apart, others at least `lower`. The
        `percentiles` of all squared distances under the prior where it is not given.
    percentiles : (low, high)
    rank : int, optional
        Learn W = I + R (F - I) R' with a basis R of at most so many columns, for many features: nothing of
        size d x d is made, and X may be sparse.
    basis : {"svd", "means", "class_means", "subset"} or array d x k
        R, where there is a rank: leading singular vectors of X, means of clusters, of clusters of each class,
        a random subset of the points, or the columns of a matrix.
    regularize : {"map", "kernel"}
        Which matrix the regularizer is applied to: W itself, or the kernel X W X' of the training points. For
        LogDet both give the same metric, for all others they do not.
    n_pairs : int, optional
        How many pairs to draw from labels; 40 c^2 for c classes where it is not given.
    solver, tol, max_iter :
        See `solve`.
    random_state : int, RandomState, Generator or None
        Seeds the draws of pairs and of the basis.
    verbose : int
        1 shows a bar, on a terminal.

    Attributes
    ----------
    components_ : array d x d
        L, the symmetric root of W. With a rank it is made when asked for; `basis_` and `inner_` are kept.
    basis_, inner_ : array d x k, array k x k
        R and F, where a rank was given.
    solution_ : Solution
        The certificate: `solution_.relative_gap`, `solution_.status`, ...
    n_iter_ : int
        The iterations of the solver.
    bounds_ : (upper, lower)
        The squared distances that were asked of pairs without bounds of their own; None where all had some.
    threshold_ : float
        The distance, not squared, that tells alike pairs from others best, of those learned from.
    n_features_in_, feature_names_in_ :
        Of X.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> learner = MetricLearner(random_state=0).fit(X, y)
    >>> bool(learner.solution_.relative_gap < 1e-6)
    True
    """

    _judges_pairs: bool

    def __init__(
        self,
        regularizer: Any = "logdet",
        prior: Any = "identity",
        loss: Any = "slack",
        gamma: float = 1.0,
        bounds: tuple[float, float] | None = None,
        rank: int | None = None,
        basis: Any = "svd",
        regularize: str = "map",
        percentiles: tuple[float, float] = (5, 95),
        n_pairs: int | None = None,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.regularizer = regularizer
        self.prior = prior
        self.loss = loss
        self.gamma = gamma
        self.bounds = bounds
        self.rank = rank
        self.basis = basis
        self.regularize = regularize
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
        tags.input_tags.sparse = self.rank is not None
        return tags

    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, Triplets or Bounds over the rows of X.

        Labels of -1 (integer), NaN or None mean unknown, and such points take no part.
        """
        X = self._checked(X, reset=True)
        rng = generator(self.random_state)
        known = side_of(side, y, X.shape[0], self.n_pairs, rng)
        regularizer = regularizer_of(self.regularizer)
        loss = loss_of(self.loss, self.gamma, regularizer, known)
        known = reachable(known, X, loss)
        check_choice(self.regularize, "regularize", {"map": None, "kernel": None})
        prior = self._prior(X)
        points = X if prior is None else X @ symmetric_root(prior)
        bounds = bounds_of(known, self.bounds, self.percentiles, points, rng)
        for name in ("basis_", "inner_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        R = self._basis(X, known, prior, y, rng)
        if R is None:
            W, solution = self._learned(X, prior, known, regularizer, loss, bounds)
            self._map: MetricMap = FullMap(W)
        else:
            F, solution = self._learned_within(R, X, known, regularizer, loss, bounds)
            self._map = LowRankMap(R, F)
            if self.rank is not None:
                self.basis_, self.inner_ = R, F
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.bounds_ = bounds
        i, j, alike = (np.asarray(v) for v in known.judged())
        self._judges_pairs = side is not None and i.size > 0
        self.__dict__.pop("threshold_", None)
        if i.size:
            lengths = np.sqrt(self._map.squared_distances(X, i, j))
            self.threshold_ = best_threshold(lengths, alike)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """X L': points whose plain distances are the learned ones; float32 stays float32."""
        check_is_fitted(self)
        X = self._checked(X, reset=False, dtype=FLOATS)
        if issparse(X) and X.shape[0] * X.shape[1] > _LARGEST_OUTPUT:
            raise ValueError(
                f"`X` is sparse, and transformed it would be dense, {X.shape[0]} x {X.shape[1]}; "
                "use pair_distance, transform fewer rows at a time, or keep X @ basis_ alone."
            )
        return self._map.transform(X)

    def _checked(self, X: Any, reset: bool, dtype: Any = np.float64) -> Any:
        if issparse(X) and self.rank is None:
            raise TypeError(
                "`X` is sparse, and the metric of all its features is a dense matrix; pass `rank=`, such as "
                "rank=100, to learn a part of low rank, or X.toarray()."
            )
        return validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=reset)

    def _rank(self, d: int) -> int:
        rank = check_count(self.rank, "rank")
        if rank > d:
            raise ValueError(
                f"`rank={rank}` is more than the {d} features of X; pass at most that many, or None."
            )
        return rank

    def _basis(
        self, X: Any, known: SideInformation, prior: Any, y: Any, rng: Any
    ) -> np.ndarray | None:
        """R of W = I + R (F - I) R': as the rank says, or the span of points that are few; None for all of W.

        Outside the span of what side information is about, W is the identity (J12 Lemma 6), and with d in the
        thousands that is most of it.
        """
        if self.rank is not None:
            return basis_of(self.basis, X, _classes(y), self._rank(X.shape[1]), rng)
        rows = np.asarray(known.involved())
        if prior is not None or self.regularize == "kernel" or 2 * rows.size > X.shape[1]:
            return None
        spread = X[rows] - X[rows].mean(axis=0)
        return orthonormal(spread.T) if spread.any() else None

    def _prior(self, X: Any) -> np.ndarray | None:
        """W0, or None for the identity."""
        is_identity = isinstance(self.prior, str) and self.prior == "identity"
        if not is_identity and self.rank is not None:
            raise ValueError(
                '`prior` must be "identity" where there is a rank: the metric is the identity and a part of '
                "low rank. Transform X by the root of the prior first."
            )
        return prior_of(self.prior, X)

    def _learned(
        self, X: Any, prior: Any, known: Any, regularizer: Any, loss: Any, bounds: Any
    ) -> tuple[np.ndarray, Solution]:
        """(W, the solution), d x d."""
        W0 = np.eye(X.shape[1]) if prior is None else prior
        if self.regularize == "map":
            solution = solved(self, regularizer, W0, known.bind(loss, X, bounds))
            return solution.matrix, solution
        # K = G M G' with G = X W0^(1/2): only what M does to the row space of G is learned.
        root = symmetric_root(W0)
        G = X @ root
        solution = solved(self, regularizer, Factor(G), known.bind(loss, bounds=bounds))
        V = orthonormal(G.T)
        inner = np.linalg.lstsq(G @ V, solution.factor, rcond=None)[0]
        return root @ LowRankMap(V, inner @ inner.T).matrix @ root, solution

    def _learned_within(
        self, R: np.ndarray, X: Any, known: Any, regularizer: Any, loss: Any, bounds: Any
    ) -> tuple[np.ndarray, Solution]:
        """(F, the solution) of W = I + R (F - I) R', k x k."""
        points = np.asarray(X @ R)

        if self.regularize == "kernel" and not regularizer.is_invariant:
            raise ValueError(
                '`regularize="kernel"` with a rank is for LogDet alone, where it makes no difference; use '
                'regularize="map".'
            )
        beyond = partial(distances_beyond, X, points)
        terms = known.bind(loss, points, bounds, beyond=beyond)
        solution = solved(self, regularizer, np.eye(R.shape[1]), terms)
        return solution.matrix, solution


def _classes(y: Any) -> list[np.ndarray] | None:
    """The rows of each class; points without a label are in none."""
    if y is None:
        return None
    labels, labeled = read_labels(y)
    return [labeled[labels[labeled] == label] for label in np.unique(labels[labeled])]
