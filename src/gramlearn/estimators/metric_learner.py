"""D(W, W0) + sum_k loss_k((x_i - x_j)' W (x_i - x_j)) -> min over W: a Mahalanobis metric (J12 3)."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.distances import coincide_under
from gramlearn._base.validation import check_choice, check_count, check_extent, generator
from gramlearn.estimators._inputs import FLOATS, validated
from gramlearn.estimators._learning import (
    bounds_of,
    drop_impossible_statements,
    loss_of,
    side_of,
    solved,
    warn_if_all_hold,
)
from gramlearn.estimators._pair_methods import MahalanobisMethods, best_threshold
from gramlearn.estimators._whole import whole
from gramlearn.methods.metric.bases import basis_of, check_basis_name, orthonormal
from gramlearn.methods.metric.maps import FullMap, LowRankMap, MetricMap, distances_beyond
from gramlearn.methods.metric.prior import Prior, read_prior
from gramlearn.problem.prior import Factor
from gramlearn.problem.problem import Term
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.sampling import classes_of

__all__ = ["MetricLearner"]

_LARGEST_OUTPUT = 10**9  # numbers of a transformed sparse X: 8 GB


class MetricLearner(MahalanobisMethods, BaseEstimator):
    """d(x, y) = (x - y)' W (x - y), with W the nearest to W0 that honours what is known of pairs.

    With `LogDet` and `loss="slack"` this is information-theoretic metric learning (ITML), solved to optimality.
    Where features come in different units, standardize them first: the prior then sees all of them, and the
    few pairs that are drawn by default need not teach the units. In raw units ask for more, and a larger gamma.

    Parameters
    ----------
    regularizer : {"logdet", "von_neumann", "frobenius"} or Regularizer
        How far W is from the prior.
    prior : {"identity", "inverse_covariance"} or array d x d
        W0, positive semidefinite. "inverse_covariance" measures directions that X does not vary in by zero;
        with it and LogDet the metric does not depend on the units of the features.
    loss : {"slack", "hinge", "squared_hinge", "square", "hard"} or loss
        What a violated bound costs. "slack" belongs to the regularizer: LogDetSlack, KLSlack or SquaredHinge,
        and Hinge for triplets. "hard" bounds hold, or InfeasibleError names those that contradict each other.
        "square" is for targets alone, Bounds whose upper and lower are equal.
    gamma : float
        The price of a violation: the larger, the more it counts beside the distance from the prior.
    bounds : (upper, lower), optional
        Squared distances: pairs that are alike shall be at most `upper` apart, others at least `lower`. The
        `percentiles` of all squared distances under the prior where it, or one of the two, is None.
    percentiles : (low, high)
    rank : int, optional
        Learn W = I + R (F - I) R' with a basis R of at most so many columns, for many features: nothing of
        size d x d is made, and X may be sparse.
    basis : {"svd", "means", "class_means", "subset"} or array d x k
        R, where there is a rank: leading singular vectors of X, means of clusters, of clusters of each class,
        or a random subset of the points. Or the span of the columns of a matrix, all of them: with it no rank
        is needed.
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
        1 shows a bar, on a terminal or in a notebook.

    Attributes
    ----------
    components_ : array d x d
        L, the symmetric root of W. With a rank it is made when asked for; `basis_` and `inner_` are kept.
    basis_, inner_ : array d x k, array k x k
        R and F of W = I + R (F - I) R': where a rank was given, or the points learned from are few beside
        the features, so that W is the identity outside their span.
    solution_ : Solution
        The certificate: `solution_.relative_gap`, `solution_.status`, ... With LogDet and a prior W0 = A'A it
        is that of M in W = A' M A, which has the same value.
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
        tags.input_tags.sparse = self._has_basis
        return tags

    @whole
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, Triplets or Bounds over the rows of X.

        Labels of -1 (integer), NaN or None mean unknown, and such points take no part.
        """
        X = check_extent(self._checked(X, reset=True))
        rng = generator(self.random_state)
        known = side_of(side, y, X.shape[0], self.n_pairs, rng)
        regularizer = read_regularizer(self.regularizer)
        loss = loss_of(self, regularizer, known)
        check_choice(self.regularize, "regularize", {"map": None, "kernel": None})
        check_basis_name(self.basis)
        stays = regularizer.keeps_range or self.regularize == "kernel"
        prior = self._prior(X, stays)
        # The points as the prior sees them: what it measures are their plain distances.
        root = None if prior is None else prior.root
        points = X if root is None else (X - self._origin(X)) @ root.T
        known = drop_impossible_statements(
            known, partial(coincide_under, X, points, root if stays else None), loss
        )
        bounds = bounds_of(known, self.bounds, self.percentiles, points, rng)
        for name in ("basis_", "inner_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        R = self._basis(X, known, prior, y, rng)
        if R is None:
            bind = partial(known.bind, loss, bounds=bounds)
            A, solution = self._learned(X, points, prior, regularizer, bind)
            self._map: MetricMap = FullMap(A)
        else:
            F, solution = self._learned_within(R, X, known, regularizer, loss, bounds)
            self._map, self.basis_, self.inner_ = LowRankMap(R, F), R, F
        warn_if_all_hold(known, solution)
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.bounds_ = bounds
        i, j, alike = (np.asarray(v) for v in known.near_and_far())
        self._judges_pairs = side is not None and i.size > 0
        self.__dict__.pop("threshold_", None)
        if i.size:
            lengths = np.sqrt(self._map.squared_distances(X, i, j))
            self.threshold_ = best_threshold(lengths, alike, known.pair_weights())
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

    @property
    def _has_basis(self) -> bool:
        """Whether the metric is the identity and a part of low rank."""
        return self.rank is not None or not isinstance(self.basis, str)

    def _checked(self, X: Any, reset: bool, dtype: Any = np.float64) -> Any:
        if issparse(X) and not self._has_basis:
            raise TypeError(
                "`X` is sparse, and the metric of all its features is a dense matrix; pass `rank=`, such as "
                "rank=100, to learn a part of low rank, or X.toarray()."
            )
        return validated(self, X, accept_sparse="csr", dtype=dtype, reset=reset)

    def _rank(self, d: int) -> int | None:
        if self.rank is None:
            return None
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
        if self._has_basis:
            return basis_of(self.basis, X, classes_of(y), self._rank(X.shape[1]), rng)
        rows = np.asarray(known.involved())
        if prior is not None or self.regularize == "kernel" or 2 * rows.size > X.shape[1]:
            return None
        spread = X[rows] - X[rows].mean(axis=0)
        return orthonormal(spread.T) if spread.any() else None

    def _prior(self, X: Any, stays: bool) -> Prior | None:
        """W0, or None for the identity."""
        is_identity = isinstance(self.prior, str) and self.prior == "identity"
        if not is_identity and self._has_basis:
            raise ValueError(
                '`prior` must be "identity" where there is a rank or a basis: the metric is the identity and '
                "a part of low rank. Transform X by the root of the prior first."
            )
        return read_prior(self.prior, X, may_be_zero=not stays)

    def _origin(self, X: np.ndarray) -> Any:
        """What may be subtracted of all points, to lose fewer digits: distances do not see it, kernels do."""
        return X.mean(axis=0) if self.regularize == "map" else 0.0

    def _learned(
        self,
        X: np.ndarray,
        points: np.ndarray,
        prior: Prior | None,
        regularizer: Regularizer,
        bind: Callable[..., list[Term]],
    ) -> tuple[np.ndarray, Solution]:
        """(A with W = A'A, the solution)."""
        root = None if prior is None else prior.root
        if self.regularize == "kernel":
            # K = G M G' with G the points as the prior sees them: M is learned on their row space.
            solution = solved(self, regularizer, Factor(points), bind())
            V = orthonormal(points.T)
            inner = np.linalg.lstsq(points @ V, solution.factor, rcond=None)[0]
            A = LowRankMap(V, inner @ inner.T).components
        elif prior is None or regularizer.is_invariant:
            # D(W, W0) = D(M, I) with W = A0' M A0 and W0 = A0' A0.
            solution = solved(self, regularizer, np.eye(points.shape[1]), bind(points))
            A = solution.factor.T
        else:
            solution = solved(self, regularizer, prior.matrix, bind(X))
            return solution.factor.T, solution
        return A if root is None else A @ root, solution

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
        offset = partial(distances_beyond, X, points)
        terms = known.bind(loss, points, bounds, offset=offset)
        solution = solved(self, regularizer, np.eye(R.shape[1]), terms)
        return solution.matrix, solution
