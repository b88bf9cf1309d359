"""minimize D(W, W0) + sum_k loss_k((x_i - x_j)' W (x_i - x_j)) over W: a Mahalanobis metric (J12 3)."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from gramlearn._base.arrays import as_real, eye, namespace
from gramlearn._base.distances import coincide_under
from gramlearn._base.moving import beside, in_host_memory
from gramlearn._base.points import centered, rows_at
from gramlearn._base.validation import check_choice, check_extent, generator
from gramlearn.estimators._at_scale import LearnsAtScale
from gramlearn.estimators._choosing import DIRECTIONS, numbered_classes
from gramlearn.estimators._html import ShowsVerdict
from gramlearn.estimators._inputs import validated
from gramlearn.estimators._learning import side_of
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import IfThere
from gramlearn.estimators._saving_methods import SavesModel
from gramlearn.methods.choosing.candidates import PRIORS, prior_root
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import differences_from_means, differences_of_alike
from gramlearn.methods.metric.bases import basis_of, check_basis_name, orthonormal
from gramlearn.methods.metric.fitting import (
    ask,
    drop_impossible_statements,
    learn,
    read_loss,
)
from gramlearn.methods.metric.maps import (
    FullMap,
    LowRankMap,
    MetricMap,
    distances_beyond,
    distances_beyond_between,
)
from gramlearn.methods.metric.prior import Prior, read_prior
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.prior import Factor
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.sampling import classes_of

_PRIORS = dict.fromkeys((*PRIORS, "inverse_covariance"))


class MetricLearner(ShowsVerdict, SavesModel, LearnsAtScale, BaseEstimator):
    """d(x, y) = (x - y)' W (x - y), with W the nearest to W0 that honors what is known of pairs.

    With `LogDet` and `loss="slack"` this is information-theoretic metric learning (ITML), solved to optimality.
    Where features come in different units, a fit without C tries standardized ones, too. With C, standardize
    them first: the few pairs that are drawn need not teach the units then.

    Parameters
    ----------
    regularizer : {"logdet", "von_neumann", "frobenius"} or Regularizer
        The divergence that measures how far the answer is from the prior.
    prior : {"identity", "standardized", "inverse_within", "inverse_covariance"} or array d x d, optional
        The metric W0 before anything is learned. Positive semidefinite. "standardized" divides each feature by
        its standard deviation. "inverse_within" is the inverse covariance of points that are alike, about the
        means of their classes or between alike pairs, shrunk where they are few; of a diagonal metric it is
        one over the variances among them. With "inverse_covariance" and LogDet the metric does not depend on
        the units of the features. None chooses among the first three with the price, and is "identity" where
        C is given. Without C "inverse_within" is kept only where it helps, for it is learned from what is
        known; of any other prior that is given, `verdict_` says whether more can be learned.
    loss : {"slack", "hinge", "squared_hinge", "square", "hard"} or loss, optional
        What a violated statement costs. "slack" is that of the regularizer, and Hinge for triplets. "hard"
        bounds hold, or InfeasibleError names those that contradict each other. "square" is for Bounds whose
        upper and lower are equal. None is "slack" where C is given; where it is not, "squared_hinge", and
        labels and pairs are learned from as comparisons of distances.
    C : float, optional
        The price of a violation: the larger, the more it counts. ITML and K09 call it gamma. None chooses it
        by what is held back, and with it what was not given of prior, kind of statements and columns; where
        nothing beats the plain distance, that is kept, and a warning says so. A loss that is an object has a
        price of its own, and with basis="class_means", which knows the classes, nothing can be held back: None
        is 1 there.
    bounds : (upper, lower), optional
        Squared distances: alike pairs shall be at most `upper` apart, others at least `lower`. What is None is
        a percentile.
    rank : int, optional
        The largest number of directions to learn in; no limit if None. W = I + R (F - I) R' with a basis R:
        nothing is d x d, and X may be sparse. Without C, None is 100 where there are more features.
    basis : {"svd", "means", "class_means", "subset"} or array d x k
        The directions to learn in, where `rank` limits their number. Leading singular vectors of X, means of
        clusters, or of clusters of each class, points drawn at random, or the columns of a matrix, which need
        no rank.
    n_components : int, optional
        The number of columns that `transform` gives. They are the leading principal directions of the
        transformed training points (of a diagonal metric, the features that vary most in them). None is all of
        them, or c - 1 or 2 (c - 1) for c classes where that was chosen with the price. What is chosen without C
        is judged in so many columns. `pair_distance` is always that of all directions.
    regularize : {"map", "kernel"}
        The matrix that the regularizer is applied to: the learned map, or the kernel matrix of the training
        points. For LogDet both give the same metric.
    percentiles : (low, high), optional
        The percentiles of squared distances under the prior that replace bounds of None. Without them (5, 95)
        of pairs of X; where the price is chosen they are of the pairs that are judged, (25, 75) if None, or
        (5, 95) if they are in files.
    n_pairs : int, optional
        The number of pairs to draw from labels; 40 c^2 for c classes if None. Where the price is chosen, labels
        are learned from as comparisons of near points instead, unless this is given.
    shape : {"full", "diagonal"}
        All of W, or a weight for each feature, d(x, y) = sum_f w_f (x_f - y_f)^2: quicker, and readable. X may
        be sparse then, and the prior a vector; "inverse_covariance" is one over the variance of each feature.
        Without C it chooses as a full metric does, and from labels of very many features it learns from fewer
        comparisons.
    normalize : bool
        Whether to scale each point to length one before all else. Plain squared distances are then
        2 - 2 cos(x, y). L goes with scaled points, too.
    warm_start : bool
        Whether a further fit starts at the last answer. What it finds is the same, sooner where little has
        changed. A diagonal metric begins anew.
    solver : str or Solver
        The solver, by name or as an object; see `solve`.
    tol : float
        The relative gap at which to stop. Where it is not reached there is a ConvergenceWarning.
    max_iter : int, optional
        The largest number of iterations.
    time_limit : float, optional
        Seconds after which to stop, at the end of an iteration. Where the price is chosen, half of them are for
        the choice, which then goes by what was tried, and a warning says so; with a checkpoint it is not cut
        short, so that the same call chooses the same.
    callback : function of a Record, optional
        Called with the Record of every iteration; returning True stops the fit. Where the price is chosen, of
        every iteration after that. Of statements in files its gap is finite from the first step on, and an
        estimate as long as `record.details["is_estimate"]` is set.
    random_state : int, RandomState, Generator or None
        Seeds everything random.
    verbose : int
        Whether to show a progress bar, on a terminal or in a notebook.
    memory_limit : str or number, optional
        What learning from statements in files may take beside X, such as "4GB", or a number of bytes; on a
        cluster each worker. What does not fit is read in every pass. None is half of what is available. Where X
        is on a GPU, it is of the memory there, of which no more is taken than is free. See `forecast`.
    checkpoint : path, optional
        A folder in which a fit to statements in files, or on a cluster, leaves how far it has come, after each
        step. The same call goes on from there, after Ctrl-C or a lost machine.

    Attributes
    ----------
    components_ : array d x d, or n_components x d
        L with X L' the transformed points: the symmetric root of W, or its leading part.
    columns_share_ : float
        The share of the learned squared distances of the training points that the columns of `transform` keep:
        1 where there are all of them.
    basis_, inner_ : array d x k, array k x k
        R and F of W = I + R (F - I) R': where a rank was given, or the points learned from are few beside
        the features, or it is their kernel that is regularized, so that W is the identity outside their span.
    feature_weights_ : array d
        w of a diagonal metric.
    solution_ : Solution
        The certificate: `solution_.relative_gap`, `solution_.status`, ... With LogDet and a prior W0 = A'A it
        is that of M in W = A' M A, which has the same value.
    n_iter_ : int
        The iterations of the solver.
    C_, strength_ : float or None
        Where the price was chosen, that price, and the same without units; None where nothing beyond the prior
        was learned.
    prior_, statements_ : str, str or None
        The prior that was chosen, and what was learned from: "neighbors" (comparisons of near points), "others"
        (alike pairs compared with other points), "given" (statements as they are), "drawn" (pairs in files as
        they are, beside as many drawn at random as unlike), or None.
    prior_share_ : float
        The share of squared distances that is the prior's, on average: a quarter where statements are "others",
        or were chosen by a sample of those in files, without bounds or a loss, so that groups which none
        is about can still be told apart, else 0. `solution_` is what was learned before it was mixed with the
        prior.
    cv_results_ : dict
        All that was tried, with its score on what was held back and the gain over the plain distance.
    verdict_ : str
        Whether what was chosen helps, and how much, in a sentence; it is about the fit that chose it. Not there
        where C was given.
    bounds_ : (upper, lower)
        The squared distances that were asked of pairs without bounds of their own; None where all had some.
    threshold_ : float
        The distance, not squared, that tells alike pairs from others best, of those learned from: of 500,000 of
        them, drawn at random, where there are more.
    feature_importances_ : vector of d numbers
        The share of each feature in the learned squared distances; they sum to one.
    class_feature_importances_ : array c x d
        Which features tell each of `classes_` from the others, after a fit to labels.
    feature_stretch_ : vector of d numbers
        By what the squared distance of points that differ in one feature alone was multiplied, beside the
        prior that was given; beside the plain distance where it was chosen.
    learned_from_ : dict
        What was learned from, in numbers: "kind", "count" and "n_points" of the statements or labels, a
        "digest" that is the same for the same ones, and "words".
    bytes_moved_ : int
        What a fit on a cluster has sent and received, the points aside.
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

    _requires_y = True
    _judges_pairs: bool
    _kind: ClassVar[str] = "MetricLearner"
    _takes_tensors: ClassVar[bool] = True
    _saved: ClassVar[dict[str, FilePart]] = {
        "basis_": IfThere(Array("d", "k")),
        "inner_": IfThere(Array("k", "k")),
    }

    def __init__(
        self,
        regularizer: Any = "logdet",
        prior: Any = None,
        loss: Any = None,
        C: float | None = None,
        bounds: tuple[float, float] | None = None,
        rank: int | None = None,
        basis: Any = "svd",
        n_components: int | None = None,
        regularize: str = "map",
        percentiles: tuple[float, float] | None = None,
        n_pairs: int | None = None,
        shape: str = "full",
        normalize: bool = False,
        warm_start: bool = False,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        memory_limit: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.regularizer = regularizer
        self.prior = prior
        self.loss = loss
        self.C = C
        self.bounds = bounds
        self.rank = rank
        self.basis = basis
        self.n_components = n_components
        self.regularize = regularize
        self.percentiles = percentiles
        self.n_pairs = n_pairs
        self.shape = shape
        self.normalize = normalize
        self.warm_start = warm_start
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def _checked_points(self, X: Any, reset: bool) -> Any:
        return check_extent(self._checked(X, reset=reset, method="partial_fit"))

    def _learn_from(self, X: Any, y: Any, side: SideInformation | None) -> Self:
        self._check_n_components(X)
        if isinstance(self.prior, str):
            check_choice(self.prior, "prior", _PRIORS)
        rng = generator(self.random_state)
        for name in ("basis_", "inner_", "feature_weights_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if self._is_diagonal:
            return self._learn_weights(X, y, side, rng)
        check_basis_name(self.basis)
        fit = self._fit_best if self._chooses else self._fit_given
        return fit(X, y, side, rng)

    def _fit_given(self, X: Any, y: Any, side: SideInformation | None, rng: Any) -> Self:
        """Learn at the price given, from the prior given."""
        of_classes = isinstance(self.basis, str) and self.basis == "class_means"
        known = side_of(side, y, X.shape[0], self.n_pairs, rng, uses_both=of_classes)
        regularizer = read_regularizer(self.regularizer)
        loss = read_loss(self.loss, self.C, regularizer, known, "MetricLearner")
        of_kernel = self._is_of_kernel(regularizer)
        stays = regularizer.keeps_range or of_kernel
        prior = self._prior(X, stays, known, y if side is None else None)
        # The points as the prior sees them: what it measures are their plain distances. Distances do not see
        # the origin, and have more digits near it; kernels see it.
        root = None if prior is None else prior.root
        points = X if root is None else (X if of_kernel else centered(X)) @ root.T
        coincide = partial(coincide_under, X, points, root if stays else None)
        asked = ask(known, loss, coincide, points, self.bounds, self.percentiles, rng)
        learn_on = partial(learn, asked, regularizer, self._solve)
        R = self._basis(points, asked.side, prior is None, of_kernel, y, rng)
        if R is not None:
            P = points @ R
            inner_prior = Factor(P) if of_kernel else eye(R.shape[1], R)
            rest = None if of_kernel else partial(distances_beyond, X, P)
            learned = learn_on(P, inner_prior, rest=rest, of_kernel=of_kernel)
            found: MetricMap = LowRankMap(R, learned.matrix)
            found = found if prior is None else FullMap(found.components @ prior.root)
        elif prior is None or regularizer.is_invariant:
            # D(W, W0) = D(M, I) with W = A0' M A0 and W0 = A0' A0.
            learned = learn_on(points, eye(points.shape[1], points))
            found = FullMap(learned.root.T if prior is None else learned.root.T @ prior.root)
        else:
            learned = learn_on(X, prior.matrix)
            found = FullMap(learned.root.T)
        if R is not None and prior is None:
            self.basis_, self.inner_ = R, learned.matrix
        self._keep_map(X, found, self.n_components)
        self._keep_answer(learned, asked, judges_pairs=side is not None)
        self._keep_explanation(X, y if side is None else None, asked, root)
        return self

    def _fit_best(self, X: Any, y: Any, side: SideInformation | None, rng: Any) -> Self:
        """Choose what was not given by what is held back, and learn from all that is known."""
        known = self._known(side, y, X.shape[0], rng)
        regularizer = read_regularizer(self.regularizer)
        of_kernel = self._is_of_kernel(regularizer)
        prior = None if self._tries_prior else self._prior(X, True, side, y)
        points = X if prior is None else centered(X) @ prior.root.T
        R = self._basis_of_choice(points, y, rng)
        P = points if R is None else points @ R
        places = Places(P)
        if R is not None and not of_kernel:
            beyond = partial(distances_beyond, points, P)
            places = Places(P, beyond, partial(distances_beyond_between, points, P))
        coincide = partial(coincide_under, X, points, None if prior is None else prior.root)

        def settle(known: SideInformation, loss: BoundedLoss) -> SideInformation:
            kept = drop_impossible_statements(beside(known, points), coincide, loss)
            return in_host_memory(kept)

        final, chosen = self._learn_best(
            places, known, regularizer, of_kernel, settle, rng, are_features=R is None
        )
        found: MetricMap = FullMap(final.learned.root.T)
        if R is not None:
            found = LowRankMap(R, final.learned.matrix)
            self.basis_, self.inner_ = R, final.learned.matrix
        if prior is not None:
            found = FullMap(found.components @ prior.root)
        count = chosen.n_components if self.n_components is None else self.n_components
        self._keep_map(X, found, count)
        self._keep_answer(final.learned, final.asked, judges_pairs=side is not None)
        root = None if prior is None else prior.root
        self._keep_explanation(X, y if side is None else None, final.asked, root)
        return self

    def _is_of_kernel(self, regularizer: Regularizer) -> bool:
        """Whether the regularizer is applied to the kernel matrix, where that makes a difference."""
        # For an invariant regularizer there is none, and W is the smaller matrix.
        choices = {"map": False, "kernel": not regularizer.is_invariant}
        return check_choice(self.regularize, "regularize", choices)

    def _basis_of_choice(self, points: Any, y: Any, rng: Any) -> np.ndarray | None:
        """R, as given; of many features the leading directions."""
        if self._has_basis:
            return basis_of(self.basis, points, classes_of(y), self.rank, rng)
        if points.shape[1] <= DIRECTIONS:
            return None
        return basis_of("svd", points, None, min(DIRECTIONS, *points.shape), rng)

    @property
    def _has_basis(self) -> bool:
        """Whether the metric is the identity and a part of low rank."""
        return self.rank is not None or not isinstance(self.basis, str)

    @property
    def _takes_sparse(self) -> bool:
        return self._has_basis or self.shape == "diagonal"

    def _checked(
        self, X: Any, reset: bool, dtype: Any = np.float64, method: str = "transform"
    ) -> Any:
        if issparse(X) and not self._takes_sparse:
            raise TypeError(
                "`X` is sparse, and the metric of all its features is a dense matrix; pass `rank=`, such as "
                'rank=100, to learn a part of low rank, shape="diagonal", or X.toarray().'
            )
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": dtype, "reset": reset}
        return self._as_measured(validated(self, X, method=method, **options))

    def _points(self, X: Any, method: str) -> Any:
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "reset": False}
        return self._as_measured(validated(self, X, method=method, **options))

    def _basis(
        self, X: Any, known: SideInformation, is_identity: bool, of_kernel: bool, y: Any, rng: Any
    ) -> np.ndarray | None:
        """R of W = I + R (F - I) R': as the rank says, or the span of the points; None for all of W.

        Outside the span of what side information is about, W is the identity (J12 Lemma 6), and with d in the
        thousands that is most of it. A kernel of the points knows W on their span alone.
        """
        if self._has_basis and of_kernel:
            raise ValueError(
                '`regularize="kernel"` with a rank is for LogDet alone, where it makes no difference; use '
                'regularize="map".'
            )
        if self._has_basis:
            return basis_of(self.basis, X, classes_of(y), self.rank, rng)
        if of_kernel:
            return orthonormal(X.T)
        rows = known.involved()
        if not is_identity or 2 * rows.shape[0] > X.shape[1]:
            return None
        spread = centered(rows_at(X, rows))
        return orthonormal(spread.T) if namespace(spread).any(spread != 0) else None

    def _prior(self, X: Any, stays: bool, known: Any, y: Any) -> Prior | None:
        """W0, or None for the identity; what is alike is told by labels, or else by what is known."""
        given = PRIORS[0] if self.prior is None else self.prior
        is_named = isinstance(given, str)
        if is_named:
            check_choice(given, "prior", _PRIORS)
        if is_named and given == "identity":
            return None
        if self._has_basis:
            raise ValueError(
                '`prior` must be "identity" where there is a rank or a basis: the metric is the identity and '
                "a part of low rank. Transform X by the root of the prior first."
            )
        if is_named and given in PRIORS:
            root = prior_root(given, Places(X), _differences_of_alike(X, known, y))
            return Prior(as_real(root, X))
        return read_prior(given, X, may_be_zero=not stays)


def _differences_of_alike(X: Any, known: SideInformation, y: Any) -> Any:
    """Of points from the means of their classes, or of pairs that are called near."""
    if y is None:
        return differences_of_alike(X, known)
    classes = numbered_classes(y, X.shape[0])
    rows = np.flatnonzero(classes >= 0)
    return differences_from_means(rows_at(X, rows), classes[rows])
