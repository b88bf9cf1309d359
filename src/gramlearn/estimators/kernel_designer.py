"""minimize sum_t eps_t + sparsity |alpha| + trace_price tr K: a kernel from "i is more like j than k" (F07)."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.validation import (
    check_choice,
    check_count,
    check_flag,
    check_positive,
    generator,
)
from gramlearn._base.warnings import warn
from gramlearn.estimators._all_or_nothing import (
    all_or_nothing,
    is_interrupted,
    run_search,
)
from gramlearn.estimators._design_points import (
    DesignPoints,
    FeaturePoints,
    is_precomputed,
    read_design_points,
    rows_of_dominance,
)
from gramlearn.estimators._inputs import KeepsPrecision
from gramlearn.estimators._learned_from import is_from_file, learned_from
from gramlearn.estimators._learning import triplets_of
from gramlearn.estimators._parts.answers import INPUT, OUTCOME
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.learned import KERNEL
from gramlearn.estimators._parts.nested import Many, Struct
from gramlearn.estimators._parts.words import Number, Whole
from gramlearn.estimators._saving_methods import SavesModel
from gramlearn.estimators._scoring import ScoresInPipelines, guessed
from gramlearn.evaluation.triplets import share_kept
from gramlearn.methods.kernel_design.answer import KernelDesign
from gramlearn.methods.kernel_design.kernel import (
    Coordinates,
    DesignedKernel,
    PointSet,
    least_dominance,
    least_eigenvalue,
    shares_of,
    shift_for,
)
from gramlearn.methods.kernel_design.path import DesignPath, path_of
from gramlearn.methods.kernel_design.problem import DesignProblem
from gramlearn.side_information import SideInformation, Triplets
from gramlearn.solvers.progress import progress_bar

_ROUNDING = 1e-9  # of the size of the kernel
_COMPARISONS = 1000  # drawn from labels, as F07 3.1 judges
_MENDS = {"nonnegative": True, "shift": False}


class KernelDesigner(
    SavesModel,
    ScoresInPipelines,
    KeepsPrecision,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """K = sum_p alpha_p K_p + beta I: the combination of base kernels that keeps comparisons best.

    The base kernels need not be positive semidefinite, and may get negative weights: K is diagonally dominant
    on the points of the comparisons, and so positive semidefinite (PSD) there. With `weak=True` each base
    kernel is of one feature alone, and K reads few of them.

    Parameters
    ----------
    kernels : list, "precomputed" or None
        The base kernels to combine. Kernels such as GaussianKernel(0.1), names, or functions k(A, B) that give
        all k(a, b). With "precomputed" X holds m matrices n x n, in a list or along its last axis, and new
        points are their values with all training points. None takes Gaussians of three widths, 0.1, 1 and 10
        over the variance, and, unless `weak`, a polynomial of degree two.
    weak : bool
        Whether each base kernel reads one feature alone. There is one of every kernel for every feature, and
        features of no weight are never read.
    sparsity : float
        The price of the weights of the base kernels. It is paid for |alpha_p|, or for the largest |alpha_p| of
        each feature where `weak`.
    trace_price : float, optional
        The price of the trace of K over S. If None, the sum of the weights of the comparisons over 100 |S|^2,
        since the trace grows with |S|^2.
    n_triplets : int, optional
        The number of triplets to draw from labels; see `Triplets.from_labels` if None.
    psd_points : "triplets", "all", int or row numbers
        The points S on which K is made diagonally dominant, and so PSD. The points in the comparisons, all, so
        many drawn from those in the comparisons, for many points, or these.
    mend : None, "nonnegative" or "shift"
        How to make K PSD on points outside S. "nonnegative" allows weights of at least 0 only, for kernels that
        are PSD on all points. "shift" adds to the identity what makes K PSD on all rows of X, as `shift_`,
        above 3000 points by Gershgorin's bound; for new points there is `mended_kernel`.
    identity : bool
        Whether `kernel_matrix` and `transform` contain the multiple of the identity that makes K PSD. It is
        mostly much larger than all else in K. Leave it out for support vectors, neighbors and clusters:
        coordinates are then those of the positive part of the similarity.
    n_components : int, optional
        The number of columns that `transform` gives. All that the kernel has on S if None.
    tol : float
        The relative gap at which to stop.
    max_iter : int, optional
        The largest number of iterations. An iteration is a round of cuts.
    time_limit : float, optional
        Seconds after which to stop, at the end of an iteration.
    callback : function of a Record, optional
        Called with the Record of every iteration; returning True stops the fit.
    random_state : int, RandomState, Generator or None
        Seeds everything random.
    verbose : int
        Whether to show a progress bar, on a terminal or in a notebook.

    Attributes
    ----------
    weights_, kernels_ :
        alpha, and the base kernels in this order.
    identity_weight_, shift_ : float
        beta, and what mend="shift" added to it.
    selected_features_ : vector of column numbers
        The features that the kernel reads.
    feature_importances_ : vector of d
        Of weak kernels: the share each feature has in the comparisons, mean_t |sum_p alpha_p D_tp|, normalized.
    solution_ : KernelDesign
        The certificate.
    learned_from_ : dict
        Kind, number and digest of what was learned from, as in `MetricLearner`.
    psd_points_ : row numbers
        S, less the points that are equal to others of it in all that the kernel reads.
    smallest_eigenvalue_ : float
        Of K on S, at least 0 but for rounding; above 3000 points a lower bound of it.
    n_contradictions_, n_iter_, n_features_in_ : int
        Comparisons whose opposite was given as well, rounds of cuts, and columns of X.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> designer = KernelDesigner(weak=True, sparsity=10.0, random_state=0).fit(X, y)
    >>> designer.kernel_matrix(X[:2], X[:3]).shape
    (2, 3)
    """

    _requires_y = True
    _kind: ClassVar[str] = "KernelDesigner"
    _needs_points: ClassVar[str] = "coordinates of new points are made of their kernel with them"
    _saved: ClassVar[dict[str, FilePart]] = {
        **INPUT,
        **OUTCOME,
        "weights_": Array("kernels"),
        "kernels_": Many(KERNEL, "kernels"),
        "shift_": Number(0.0),
        "selected_features_": Array("selected?", kind="i"),
        "psd_points_": Array("landmarks", kind="i"),
        "smallest_eigenvalue_": Number(),
        "n_contradictions_": Whole(),
        "_importances": Array("d", least=0.0),
        "_kernel": Struct(
            DesignedKernel,
            {"weights": Array("kernels"), "identity": Number(), "reads": Array("read?", kind="i")},
        ),
        "_landmarks": Array("landmarks", "d", points=True),
        "_spread": Array("landmarks", "columns"),
    }
    _kernel: DesignedKernel
    _given: DesignPoints
    _coordinates: Coordinates

    def __init__(
        self,
        kernels: Any = None,
        weak: bool = False,
        sparsity: float = 1.0,
        trace_price: float | None = None,
        n_triplets: int | None = None,
        psd_points: Any = "triplets",
        mend: str | None = None,
        identity: bool = True,
        n_components: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.weak = weak
        self.sparsity = sparsity
        self.trace_price = trace_price
        self.n_triplets = n_triplets
        self.psd_points = psd_points
        self.mend = mend
        self.identity = identity
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernels)
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, from which triplets are drawn, or from `side`: Triplets over the rows of X.

        Labels of -1 (integer), NaN or None mean unknown, and such points take no part.
        """
        given = read_design_points(self, X)
        problem, triplets, rows = self._problem(given, y, side)
        tol = check_positive(self.tol, "tol", "KernelDesigner", any_size=True)
        with progress_bar(
            "designing", tol, check_flag(self.verbose, "verbose"), self.callback
        ) as callback:
            design = run_search(
                self,
                problem.solve,
                self.sparsity,
                self._trace_price(problem),
                tol=tol,
                max_iter=self.max_iter,
                callback=callback,
                time_limit=self.time_limit,
                owner="KernelDesigner",
            )
        if not (design.weights.any() or is_interrupted(self)):
            _warn_of_zeros(design, problem)
        self.solution_, self.weights_ = design, design.weights
        self.kernels_ = given.training.kernels
        self.n_iter_ = design.iterations
        self.learned_from_ = learned_from(side, y, len(given.training.points))
        self.n_contradictions_ = int(triplets.contradictions().size)
        self._given = given
        self._set_features(given, problem)
        self._set_kernel(given, rows)
        return self

    def kernel_matrix(self, X: Any, Y: Any = None) -> np.ndarray:
        """All k(x, y) of the designed kernel; without Y those with the training points."""
        check_is_fitted(self)
        reads = self._kernel.reads
        if Y is None and is_from_file(self):
            raise ValueError(
                "`kernel_matrix(X)` is about the points learned from, which a model file does not hold; "
                "pass them as `Y`."
            )
        if Y is None:
            return self._kernel(self._given.new(self, X, reads), self._given.training)
        return self._kernel(*self._given.two_new(self, X, Y, reads))

    def mended_kernel(self, X: Any) -> tuple[np.ndarray, float]:
        """(K, shift): the kernel of these points, with beta raised by the shift that makes it PSD."""
        check_is_fitted(self)
        point_set, _ = self._given.two_new(self, X, X, self._kernel.reads)
        shift = shift_for(self._kernel, point_set)
        return replace(self._kernel, identity=self._kernel.identity + shift)(
            point_set, point_set
        ), shift

    def transform(self, X: Any) -> np.ndarray:
        """k(x, S) V diag(s)^(-1/2) with K = V diag(s) V' on S: coordinates whose inner products are the kernel.

        That is so of two points of S, and of one of them and any other; of two others as far as points of S
        can tell.
        """
        check_is_fitted(self)
        point_set = self._given.new(self, X, self._kernel.reads)
        return self._coordinates(point_set).astype(point_set.precision, copy=False)

    def pair_score(self, pairs: Any) -> np.ndarray:
        """sum_p alpha_p k_p(x, y) of each pair, the larger the more alike: what comparisons are about.

        Parameters
        ----------
        pairs : array m x 2 x d, or (A, B) or [A, B] of two arrays m x d
            The points of the pairs.
        """
        check_is_fitted(self)
        sides = self._given.new_pairs(self, pairs, self._kernel.reads)
        return self._kernel.paired_similarity(*sides)

    def score(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> float:
        """The share of comparisons kept: of the Triplets `side`, or of 1000 that are drawn from labels y.

        Equal scores keep none. A fold without a comparison scores 1/2, as a guess would, with a warning.
        Of precomputed kernels X is that of the training points; of others there is no telling.
        """
        check_is_fitted(self)
        point_set = self._given.new(self, X, self._kernel.reads)
        n = len(point_set.points)
        if isinstance(side, SideInformation) and not side.size:
            return guessed(f"`side` says nothing about these {n} rows")
        known = triplets_of(side, y, n, _COMPARISONS, generator(0))
        i, j, _ = (to_numpy(rows) for rows in known.near_and_far())
        first, second = self._given.pairs_of(point_set, i, j)
        near, far = np.split(self._kernel.paired_similarity(first, second), 2)
        return share_kept(near, far, known)

    def path(
        self, X: Any, y: Any = None, *, side: SideInformation | None = None, sparsity: Any = None
    ) -> DesignPath:
        """Designs for many sparsity, each begun where the one before ended; this estimator does not change.

        Without `sparsity`, 25 values from where all weights are zero down to a ten-thousandth of that.
        """
        other = type(self)(**self.get_params(deep=False))
        given = read_design_points(other, X)
        problem = other._problem(given, y, side)[0]
        return path_of(
            problem,
            sparsity,
            self._trace_price(problem),
            [kernel.words for kernel in given.training.kernels],
            given.features,
            other.n_features_in_,
            getattr(other, "feature_names_in_", None),
            tol=check_positive(self.tol, "tol", "KernelDesigner", any_size=True),
            max_iter=self.max_iter,
        )

    def _to_keep(self) -> dict[str, Any]:
        S = self._coordinates.S
        return vars(self) | {"_landmarks": S.points, "_spread": self._coordinates.weights}

    def _take_back(self, kept: dict[str, Any]) -> None:
        S, spread, kernel = kept.pop("_landmarks"), kept.pop("_spread"), kept["_kernel"]
        d = kept["n_features_in_"]
        features = [getattr(one, "feature", 0) for one in kept["kernels_"]]
        if max([*features, *kernel.reads], default=0) >= d:
            raise ValueError(f"it reads features beyond the {d} that points have")
        points = PointSet(kept["kernels_"], S, S)
        self._given = FeaturePoints(points.subset(np.zeros(0, dtype=int)))
        self._coordinates = Coordinates(kernel, points, self.n_components)
        self._coordinates.__dict__["weights"] = spread
        super()._take_back(kept)

    def _trace_price(self, problem: DesignProblem) -> float:
        return problem.usual_trace_price if self.trace_price is None else self.trace_price

    @property
    def identity_weight_(self) -> float:
        """The weight beta of the identity."""
        check_is_fitted(self)
        return self._kernel.identity

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each feature in the comparisons."""
        check_is_fitted(self)
        if not self.weak:
            raise AttributeError(
                "`feature_importances_` are of kernels of one feature each; pass weak=True."
            )
        return self._importances.copy()

    @property
    def _n_features_out(self) -> int:
        return int(self._coordinates.weights.shape[1])

    def _problem(
        self, given: DesignPoints, y: Any, side: Any
    ) -> tuple[DesignProblem, Triplets, np.ndarray]:
        """The problem, its comparisons, and the rows of S, without those that are equal to others."""
        kernels, points, identity_key, _ = given.training
        rng = generator(self.random_state)
        triplets = triplets_of(side, y, len(points), self.n_triplets, rng)
        rows = rows_of_dominance(self.psd_points, triplets, len(points), rng)
        rows = rows[np.sort(distinct_rows(identity_key[rows]).first)]
        nonnegative = self.mend is not None and check_choice(self.mend, "mend", _MENDS)
        if nonnegative and (unknown := [k.words for k in kernels if not k.is_psd]):
            raise ValueError(
                f'`mend="nonnegative"` needs kernels that are positive semidefinite on all points, and '
                f'{unknown[0]} is not known to be; use mend="shift", or kernels that are, of a class of yours '
                "those whose is_psd is True."
            )
        groups = given.features if self.weak else None
        problem = DesignProblem(
            kernels, points, triplets, rows, groups=groups, nonnegative=nonnegative
        )
        return problem, triplets, rows

    def _set_features(self, given: DesignPoints, problem: DesignProblem) -> None:
        """Which features have a weight, and their share in the comparisons."""
        d = self.n_features_in_
        reads = given.reads(self.weights_)
        self.selected_features_ = reads if given.has_features else np.zeros(0, dtype=int)
        self._importances = shares_of(given.features, d, problem.differences * self.weights_)

    def _set_kernel(self, given: DesignPoints, rows: np.ndarray) -> None:
        """The kernel as a function, mended where that is asked for, and checked on S."""
        training = given.training
        beta = self.solution_.identity
        kernel = DesignedKernel(
            self.weights_,
            beta if check_flag(self.identity, "identity") else 0.0,
            given.reads(self.weights_),
        )
        self.shift_ = shift_for(kernel, training) if self.mend == "shift" else 0.0
        self._kernel = replace(kernel, identity=kernel.identity + self.shift_)
        self.psd_points_ = rows[kernel.distinct(training.subset(rows))]
        S = training.subset(self.psd_points_)
        count = self.n_components
        n_components = None if count is None else check_count(count, "n_components")
        # What was designed has the identity, whether or not it is handed on.
        whole = replace(kernel, identity=beta)
        K = whole(S, S)
        # Parts may cancel, and what rounding leaves of them is measured by the parts.
        missing, size = -least_dominance(K), whole.size_on(S)
        if missing > _ROUNDING * size:
            raise RuntimeError(
                f"the designed kernel is not diagonally dominant: a row lacks {missing:.3g}, and its parts are "
                f"as large as {size:.3g}; please report it, with the data."
            )
        self.smallest_eigenvalue_ = least_eigenvalue(K)
        self._coordinates = Coordinates(self._kernel, S, n_components)


def _warn_of_zeros(design: KernelDesign, problem: DesignProblem) -> None:
    """Say which price is to blame, where one is."""
    if not np.any(problem.differences):
        advice = "no kernel tells the points of a comparison apart: pass other `kernels`, or standardize X"
    elif design.sparsity >= problem.largest_sparsity:
        advice = f"from `sparsity={problem.largest_sparsity:.3g}` on nothing else is worth its price; lower it"
    else:
        advice = "no kernel keeps comparisons well enough for its price; lower `trace_price`, then `sparsity`"
    warn(f"all weights are zero: {advice}.")
