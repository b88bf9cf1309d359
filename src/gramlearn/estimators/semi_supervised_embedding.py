"""minimize tau tr W + |W|^2 / 2 + sum_k loss_k(p' W p) over W: few dimensions from what is known (J12 5.4).

p are coordinates of the points in the feature space of a kernel. The trace drives eigenvalues of W to zero, as
it does singular values in the completion of matrices, and W^(1/2) p(x) is the embedding of any point x. This
is Trace-SSIKDR, solved with a certificate instead of by Uzawa's steps.
"""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import concat
from gramlearn._base.validation import check_choice, check_count, check_positive, generator
from gramlearn._base.warnings import warn
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._inputs import FLOATS, KeepsPrecision, validated, validated_for_kernel
from gramlearn.estimators._learned_from import learned_from
from gramlearn.estimators._learning import SolvesProblems, side_of
from gramlearn.estimators._parts.answers import INPUT, OUTCOME
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.learned import COORDINATES, without_rows
from gramlearn.estimators._saving_methods import SavesModel
from gramlearn.estimators._scoring import ScoresByTransform
from gramlearn.methods.metric.feature_space import FeatureSpace
from gramlearn.methods.metric.fitting import ask
from gramlearn.problem.constraints import Trace
from gramlearn.problem.dual import Part
from gramlearn.problem.losses import Hinge, Linear, SquaredHinge
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius
from gramlearn.problem.solution import Solution
from gramlearn.problem.status import Status
from gramlearn.side_information import SideInformation

_RANK = 1e-6  # eigenvalues below this share of the largest are zero


class SemiSupervisedEmbedding(
    SavesModel,
    SolvesProblems,
    ScoresByTransform,
    KeepsPrecision,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """x -> W^(1/2) p(x), with W of low rank: a map for looking at, from pairs, triplets or labels.

    Parameters
    ----------
    n_components : int, optional
        The number of columns that `transform` gives. All that the trace leaves if None, and no more than those.
    tau : float, between 0 and 1
        The price of the trace, as a share of the price at which nothing is learned. The larger, the fewer
        dimensions.
    kernel : str, Kernel, callable or "precomputed"
        The kernel k0 whose feature space is learned in. A name of scikit-learn's `pairwise_kernels`, a Kernel,
        a function k(A, B) that gives all k(a, b), or "precomputed": X is the kernel matrix, and new points are
        their kernel values with all of X.
    kernel_params : dict, optional
        Parameters of the kernel by name, such as {"gamma": 0.1}. Without a gamma it is 1 / (d var X), as in
        scikit-learn's SVC.
    rank : int, optional
        The largest number of directions to learn in; no limit if None. The embedding is of what the basis
        spans.
    basis : {"cholesky", "subset", "spectral", "random", "kmeans"} or array n x k
        The directions to learn in, where `rank` limits their number. Points that incomplete Cholesky picks, or
        drawn at random, leading eigenvectors, random combinations of points, means of clusters, or the columns
        of a matrix of weights of the points, which need no rank.
    loss : {"hinge", "squared_hinge"}
        What a violated statement costs.
    C : float
        The price of a violation: the larger, the more it counts. In units of squared distances, beside the
        squared norm of W.
    bounds : (upper, lower), optional
        Squared distances: alike pairs shall be at most `upper` apart, others at least `lower`. What is None is
        a percentile.
    percentiles : (low, high)
        The percentiles of squared distances under the prior that replace bounds of None.
    n_pairs : int, optional
        The number of pairs to draw from labels; 40 c^2 for c classes if None.
    solver : str or Solver
        The solver, by name or as an object; see `solve`.
    tol : float
        The relative gap at which to stop.
    max_iter : int, optional
        The largest number of iterations.
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
    eigenvalues_ : vector
        Of W, of the dimensions kept, in descending order.
    embedding_ : array n x n_components
        Of the points learned from.
    solution_ : Solution
        The certificate.
    learned_from_ : dict
        Kind, number and digest of what was learned from, as in `MetricLearner`.
    """

    _requires_y = True
    _kind: ClassVar[str] = "SemiSupervisedEmbedding"
    _needs_points: ClassVar[str] = "the kernel compares new points with them"
    _saved: ClassVar[dict[str, FilePart]] = {
        **INPUT,
        **OUTCOME,
        "coordinates_": COORDINATES,
        "eigenvalues_": Array("m", least=0.0),
        "_directions": Array("k", "m"),
    }

    def __init__(
        self,
        n_components: int | None = None,
        tau: float = 0.1,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        rank: int | None = None,
        basis: Any = "cholesky",
        loss: str = "hinge",
        C: float = 1.0,
        bounds: tuple[float, float] | None = None,
        percentiles: tuple[float, float] = (5, 95),
        n_pairs: int | None = None,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.tau = tau
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.rank = rank
        self.basis = basis
        self.loss = loss
        self.C = C
        self.bounds = bounds
        self.percentiles = percentiles
        self.n_pairs = n_pairs
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

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, Triplets or Bounds over the rows of X."""
        if self.n_components is not None:
            check_count(self.n_components, "n_components")
        X = validated_for_kernel(self, X, self.kernel)
        rng = generator(self.random_state)
        known = side_of(side, y, X.shape[0], self.n_pairs, rng)
        kind = check_choice(self.loss, "loss", {"hinge": Hinge, "squared_hinge": SquaredHinge})
        loss = kind(check_positive(self.C, "C", "SemiSupervisedEmbedding"))
        space = FeatureSpace.of(
            X, self.kernel, self.kernel_params, self.rank, self.basis, False, rng
        )
        points = space.sample(rng)
        asked = ask(known, loss, space.coincide, points, self.bounds, self.percentiles, rng)
        P = space.coordinates.factor
        terms = asked.terms(P)
        zero = np.zeros((P.shape[1], P.shape[1]))
        terms.append(Term(Trace(), Linear(self._price_of_trace(zero, terms))))
        solution = self._solve(Frobenius(), zero, terms)
        self.eigenvalues_, directions = self._leading(solution)
        self._directions = directions * np.sqrt(self.eigenvalues_)
        self.embedding_ = P @ self._directions
        self.coordinates_, self.solution_ = space.coordinates, solution
        self.n_iter_ = max(1, solution.iterations)
        self.learned_from_ = learned_from(side, y, len(X))
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All but coordinates of the points learned from, beside `embedding_`."""
        state = dict(super().__getstate__())
        kept = state.get("coordinates_")
        return state if kept is None else state | {"coordinates_": without_rows(kept)}

    def _to_keep(self) -> dict[str, Any]:
        return vars(self) | {"coordinates_": without_rows(self.coordinates_)}

    def _leading(self, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
        """The largest eigenvalues of W, as many as there are or were asked for, and their eigenvectors."""
        s, V = np.linalg.eigh(solution.matrix)
        s, V = s[::-1], V[:, ::-1]
        spectra = [s]
        if solution.status is Status.OPTIMAL:
            # A solver may come next to the boundary of the cone and not onto it; W(lam) is on it. Away from the
            # optimum the two have little to do with each other.
            spectra.append(_spectrum_at_prices(solution))
        count = max(1, min(int(np.sum(x > _RANK * np.max(x))) for x in spectra))
        if self.n_components is not None:
            asked = int(self.n_components)
            if asked > count:
                warn(
                    f"n_components={asked} dimensions were asked for, but W has rank {count}, and so has the "
                    "embedding; a smaller tau leaves more."
                )
            count = min(count, asked)
        return np.maximum(s[:count], 0.0), V[:, :count]

    def _price_of_trace(self, zero: np.ndarray, terms: list[Term]) -> float:
        """tau times the least price at which W = 0 is optimal: the largest pull that the losses have there."""
        tau = check_positive(self.tau, "tau", "SemiSupervisedEmbedding")
        if tau >= 1:
            raise ValueError(
                f"`SemiSupervisedEmbedding(tau={tau})`: tau is a share, below 1, of the price at which nothing "
                "is learned."
            )
        dual = Problem(Frobenius(), zero, terms).dual
        prices = dual.each(_price_at_zero)
        pull = -np.linalg.eigvalsh(dual.adjoint(prices))[0]
        if not pull > 0:
            raise ValueError(
                "nothing in `side` asks any two points to lie apart, so the best embedding is one point; add "
                "dissimilar pairs, lower bounds or triplets."
            )
        return tau * float(pull)

    def transform(self, X: Any) -> np.ndarray:
        """The embedding of new points."""
        check_is_fitted(self)
        X = validated(self, X, dtype=FLOATS, reset=False)
        coordinates = self.coordinates_.transform(X.astype(np.float64, copy=False))
        return np.asarray(coordinates @ self._directions, dtype=X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self._directions.shape[1])


def _price_at_zero(part: Part) -> np.ndarray:
    """loss' where W = 0; of a hinge, the end of its box."""
    t = np.zeros(part.size) + part.offset
    if part.loss.is_smooth:
        return np.asarray(part.loss.price(t))
    lo, hi = part.loss.box(t, part.size)
    # On which side of its bound t = 0 is, the kink tells: loss*' is the bound itself.
    above = t > np.asarray(part.loss.conjugate_derivative(np.zeros(part.size)))
    return np.where(part.loss.is_slack(t, t), 0.0, np.where(above, hi, lo))


def _spectrum_at_prices(solution: Solution) -> np.ndarray:
    """The eigenvalues of W(lam) for the duals lam of the solution."""
    dual = solution.problem.dual
    lam = solution.problem.free_duals(solution.duals) or []
    return np.asarray(dual.at(concat(lam, dual.like)).conjugate.spectrum)
