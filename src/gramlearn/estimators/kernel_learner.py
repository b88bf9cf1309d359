"""minimize D(K, K0) + sum_k loss_k(K_ii + K_jj - 2 K_ij) over K: a kernel for new points, too (J12 3, 4)."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import as_real, eye, namespace, together
from gramlearn._base.moving import beside, in_host_memory
from gramlearn._base.validation import check_choice, check_flag, check_positive, generator
from gramlearn.estimators._choosing import DIRECTIONS
from gramlearn.estimators._going_on import GoesOn
from gramlearn.estimators._inputs import FLOATS, check_components, validated, validated_for_kernel
from gramlearn.estimators._learning import side_of
from gramlearn.estimators._pair_methods import PairMethods
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.learned import KERNEL_MAP, without_points
from gramlearn.estimators._parts.nested import Maybe
from gramlearn.estimators._saving_methods import SavesModel
from gramlearn.kernels.families import works_on_numpy_alone
from gramlearn.kernels.low_rank.factor import LowRankKernel
from gramlearn.methods.metric.feature_space import FeatureSpace
from gramlearn.methods.metric.fitting import (
    ask,
    drop_impossible_statements,
    learn,
    read_loss,
)
from gramlearn.methods.metric.kernel_map import KernelMap
from gramlearn.methods.metric.maps import principal_directions
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.prior import Factor
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation

_ROWS = 1000  # of sparse pairs, at a time


class KernelLearner(
    SavesModel,
    GoesOn,
    PairMethods,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """k(x, y) = alpha k0(x, y) + k1' S k2: the kernel nearest to k0 that honors what is known of pairs.

    A metric in the feature space of k0, which may have any dimension. With `LogDet` this is kernelized
    information-theoretic metric learning.

    Parameters
    ----------
    kernel : str, Kernel, callable or "precomputed"
        The kernel k0 whose feature space is learned in. A name of scikit-learn's `pairwise_kernels`, a Kernel,
        a function k(A, B) that gives all k(a, b), or "precomputed": X is the kernel matrix, and new points are
        their kernel values with all of X.
    kernel_params : dict, optional
        Parameters of the kernel by name, such as {"gamma": 0.1}. Without a gamma it is 1 / (d var X), as in
        scikit-learn's SVC.
    rank : int, optional
        The largest number of directions to learn in; no limit if None. For many points. Without C, None is 100
        where there are more points and the complement is kept.
    basis : {"cholesky", "subset", "spectral", "random", "kmeans"} or array n x k
        The directions to learn in, where `rank` limits their number. Points that incomplete Cholesky picks, or
        drawn at random, leading eigenvectors, random combinations of points, means of clusters, or the columns
        of a matrix of weights of the points, which need no rank.
    n_components : int, optional
        The number of columns that `transform` gives. They are the leading principal directions of the
        transformed training points. None is all of them, or c - 1 or 2 (c - 1) for c classes where that was
        chosen with the price. What is chosen without C is judged in so many columns.
    complement : bool
        Whether the kernel keeps alpha k0 in the directions that the basis leaves out. Without it the kernel has
        the rank of the basis (K09), and nothing of size n x n is made.
    alpha : float
        The weight of k0 in the prior, alpha k0.
    regularizer : {"logdet", "von_neumann", "frobenius"} or Regularizer
        The divergence that measures how far the answer is from the prior.
    regularize : {"kernel", "map"}
        The matrix that the regularizer is applied to: the learned map, or the kernel matrix of the training
        points. For LogDet both give the same kernel. With a rank and its complement it is the map.
    loss : {"slack", "hinge", "squared_hinge", "square", "hard"} or loss, optional
        What a violated statement costs. "slack" is that of the regularizer, and Hinge for triplets. "hard"
        bounds hold, or InfeasibleError names those that contradict each other. "square" is for Bounds whose
        upper and lower are equal. None is "slack" where C is given; where it is not, "squared_hinge", and
        labels and pairs are learned from as comparisons of distances.
    C : float, optional
        The price of a violation: the larger, the more it counts. ITML and K09 call it gamma. None chooses it
        by what is held back, and with it the prior, the kind of statements and the columns; where nothing
        beats the kernel as it is, that is kept, and a warning says so. A loss that is an object has a price of
        its own.
    bounds : (upper, lower), optional
        Squared distances: alike pairs shall be at most `upper` apart, others at least `lower`. What is None is
        a percentile. Distances are those of k0.
    percentiles : (low, high), optional
        The percentiles of squared distances under the prior that replace bounds of None. Without them (5, 95)
        of pairs of X; where the price is chosen they are of the pairs that are judged, (25, 75) if None.
    n_pairs : int, optional
        The number of pairs to draw from labels; 40 c^2 for c classes if None. Where the price is chosen, labels
        are learned from as comparisons of near points instead, unless this is given.
    normalize : bool
        Whether to scale each point to length one before all else. The kernel is that of scaled points.
    warm_start : bool
        Whether a further fit starts at the last answer. What it finds is the same, sooner where little has
        changed.
    solver : str or Solver
        The solver, by name or as an object; see `solve`.
    tol : float
        The relative gap at which to stop.
    max_iter : int, optional
        The largest number of iterations.
    time_limit : float, optional
        Seconds after which to stop, at the end of an iteration. Where the price is chosen, half of them are for
        the choice, which then goes by what was tried, and a warning says so.
    callback : function of a Record, optional
        Called with the Record of every iteration; returning True stops the fit. Where the price is chosen, of
        every iteration after that.
    random_state : int, RandomState, Generator or None
        Seeds everything random.
    verbose : int
        Whether to show a progress bar, on a terminal or in a notebook.

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
    C_, strength_, prior_, prior_share_, statements_, cv_results_, verdict_ :
        Where the price was chosen, as in `MetricLearner`.
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

    _requires_y = True
    _judges_pairs: bool
    _directions: Any
    _map: KernelMap
    _kind: ClassVar[str] = "KernelLearner"
    _takes_tensors: ClassVar[bool] = True
    _needs_points: ClassVar[str] = "the kernel compares new points with them"
    _saved: ClassVar[dict[str, FilePart]] = {
        "_map": KERNEL_MAP,
        "_directions": Maybe(Array("all columns", "columns")),
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        kernel_params: dict[str, Any] | None = None,
        rank: int | None = None,
        basis: Any = "cholesky",
        n_components: int | None = None,
        complement: bool = True,
        alpha: float = 1.0,
        regularizer: Any = "logdet",
        regularize: str = "kernel",
        loss: Any = None,
        C: float | None = None,
        bounds: tuple[float, float] | None = None,
        percentiles: tuple[float, float] | None = None,
        n_pairs: int | None = None,
        normalize: bool = False,
        warm_start: bool = False,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.rank = rank
        self.basis = basis
        self.n_components = n_components
        self.complement = complement
        self.alpha = alpha
        self.regularizer = regularizer
        self.regularize = regularize
        self.loss = loss
        self.C = C
        self.bounds = bounds
        self.percentiles = percentiles
        self.n_pairs = n_pairs
        self.normalize = normalize
        self.warm_start = warm_start
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    @property
    def _needs_numpy(self) -> str:
        if not works_on_numpy_alone(self.kernel):
            return ""
        name = self.kernel if isinstance(self.kernel, str) else self.kernel.words
        return f"the kernel {name}"

    def _checked_points(self, X: Any, reset: bool) -> Any:
        options: dict[str, Any] = {"reset": reset, "method": "partial_fit"}
        return self._as_measured(validated_for_kernel(self, X, self.kernel, **options))

    def _as_measured(self, X: Any, name: str = "X") -> Any:
        is_kernel = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if is_kernel and check_flag(self.normalize, "normalize"):
            raise ValueError(
                '`normalize=True` scales points, and kernel="precomputed" has none; divide K_ij by the root of '
                "K_ii K_jj, and leave normalize=False."
            )
        return super()._as_measured(X, name)

    def _learn_from(self, X: Any, y: Any, side: SideInformation | None) -> Self:
        rng = generator(self.random_state)
        if self._chooses:
            return self._fit_best(X, y, side, rng)
        known = side_of(side, y, X.shape[0], self.n_pairs, rng)
        regularizer = read_regularizer(self.regularizer)
        loss = read_loss(self.loss, self.C, regularizer, known, "KernelLearner")
        is_zero = not regularizer.keeps_range and self.alpha == 0
        alpha = 0.0 if is_zero else check_positive(self.alpha, "alpha", "KernelLearner")
        complement = check_flag(self.complement, "complement")
        space = FeatureSpace.of(
            X, self.kernel, self.kernel_params, self.rank, self.basis, complement, rng
        )
        of_kernel = self._is_of_kernel(regularizer, space, alpha)
        # Distances under the prior; with no prior to speak of, under the kernel.
        points = (alpha or 1.0) ** 0.5 * space.sample(rng)
        asked = ask(known, loss, space.coincide, points, self.bounds, self.percentiles, rng)
        P = space.coordinates.factor
        self._check_components(space)
        prior = Factor(alpha**0.5 * P) if of_kernel else alpha * eye(P.shape[1], P)
        rest = (lambda i, j: alpha * space.rest(i, j)) if space.keeps_rest else None
        learned = learn(asked, regularizer, self._solve, P, prior, rest=rest, of_kernel=of_kernel)
        self._keep_map(space, learned.matrix, alpha, self.n_components)
        self._keep_answer(learned, asked, judges_pairs=side is not None)
        return self

    def _fit_best(self, X: Any, y: Any, side: SideInformation | None, rng: Any) -> Self:
        """Choose what was not given by what is held back, and learn from all that is known."""
        n = int(X.shape[0])
        known = self._known(side, y, n, rng)
        regularizer = read_regularizer(self.regularizer)
        alpha = check_positive(self.alpha, "alpha", "KernelLearner")
        complement = check_flag(self.complement, "complement")
        is_large = self.rank is None and isinstance(self.basis, str) and n > DIRECTIONS
        # Without the complement nothing would be left of the other directions.
        is_cut = is_large and regularizer.is_invariant and complement
        rank = DIRECTIONS if is_cut else self.rank
        space = FeatureSpace.of(
            X, self.kernel, self.kernel_params, rank, self.basis, complement, rng
        )
        of_kernel = self._is_of_kernel(regularizer, space, alpha)
        self._check_components(space)
        places = space.places(alpha)

        def settle(known: SideInformation, loss: BoundedLoss) -> SideInformation:
            kept = beside(known, space.coordinates.factor)
            return in_host_memory(drop_impossible_statements(kept, space.coincide, loss))

        final, chosen = self._learn_best(places, known, regularizer, of_kernel, settle, rng)
        # In coordinates times sqrt(alpha), M measures what alpha M measures in plain ones.
        count = chosen.n_components if self.n_components is None else self.n_components
        self._keep_map(space, alpha * final.learned.matrix, alpha, count)
        self._keep_answer(final.learned, final.asked, judges_pairs=side is not None)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All but the points learned from, where `transform` does not need them."""
        state = dict(super().__getstate__())
        return state | {"_map": without_points(state["_map"])} if "_map" in state else state

    def _work_out(self) -> None:
        # The signs of its columns are a matter of the library.
        if self._map.needs_points:
            self._map.whole_factor  # noqa: B018

    def _check_components(self, space: FeatureSpace) -> None:
        """No more columns than there can be."""
        if self.n_components is not None:
            n, k = space.coordinates.factor.shape
            most = n if space.keeps_rest else k
            check_components(self.n_components, most, "the points in the span of the basis")

    def _keep_map(self, space: FeatureSpace, inner: Any, alpha: float, count: int | None) -> None:
        """The learned kernel, and the directions of the columns that `transform` gives."""
        scale = alpha if space.is_whole else 0.0
        self._map = KernelMap(space.base, space.coordinates, inner, scale)
        self._directions = None
        if count is not None:
            places = self._map.training_coordinates
            count = check_components(count, places.shape[1], "the learned kernel")
            self._directions = principal_directions(places, count).T

    @property
    def coordinates_(self) -> LowRankKernel:
        """Coordinates of points in the basis."""
        check_is_fitted(self)
        return self._map.coordinates

    @property
    def inner_(self) -> Any:
        """F, the learned inner product of these coordinates, k x k."""
        check_is_fitted(self)
        return self._map.inner

    def kernel_matrix(self, X: Any, Y: Any = None) -> Any:
        """All k(x, y) of the learned kernel; without Y those with the training points."""
        check_is_fitted(self)
        if Y is None and not self._map.coordinates.factor.shape[0]:
            raise ValueError(
                "`kernel_matrix(X)` is about the points learned from, which a model file or a pickle does not "
                "hold; pass them as `Y`."
            )
        options: dict[str, Any] = {"dtype": np.float64, "reset": False, "method": "kernel_matrix"}
        X = self._as_measured(validated(self, X, **options))
        if Y is None:
            return self._beside(self._map, X).with_training(X)
        Y = self._as_measured(validated(self, Y, "Y", **options), "Y")
        X, Y = together(X, Y, ("`X`", "`Y`"))
        return self._beside(self._map, X).between(X, Y)

    def transform(self, X: Any) -> Any:
        """Coordinates with the learned kernel as inner products, within the span of the training points."""
        check_is_fitted(self)
        X = self._as_measured(validated(self, X, dtype=FLOATS, reset=False))
        learned, directions = self._beside((self._map, self._directions), X)
        found = learned.transform(as_real(X))
        found = found if directions is None else found @ directions
        return namespace(found).astype(found, X.dtype, copy=False)

    def _squared_distances(self, first: Any, second: Any) -> Any:
        if not issparse(first):
            return self._beside(self._map, first).squared_distances(first, second)
        # Kernels are functions of dense points: some rows at a time.
        found = [np.zeros(0)]
        for start in range(0, first.shape[0], _ROWS):
            some = slice(start, start + _ROWS)
            dense = (side[some].toarray() for side in (first, second))
            found.append(self._map.squared_distances(*dense))
        return np.concatenate(found)

    @property
    def _n_features_out(self) -> int:
        if self._directions is None:
            return self._map.n_coordinates
        return int(self._directions.shape[1])

    def _is_of_kernel(self, regularizer: Regularizer, space: FeatureSpace, alpha: float) -> bool:
        """Whether the regularizer is applied to the kernel matrix, where that makes a difference."""
        choices = {"map": False, "kernel": not regularizer.is_invariant}
        of_kernel = check_choice(self.regularize, "regularize", choices)
        if of_kernel and space.keeps_rest:
            raise ValueError(
                '`regularize="kernel"` with a rank and its complement is for LogDet alone, where it makes no '
                'difference; use regularize="map", or complement=False.'
            )
        if of_kernel and not alpha:
            raise ValueError(
                '`alpha=0` leaves no kernel to stay within the span of; use regularize="map", as POLA does.'
            )
        return of_kernel
