"""minimize |W|^2 / 2 + b^2 / 2 + C sum max(0, 1 - s (b - d_W)) over W and b >= 1: POLA as a batch (J12 5.2).

s is 1 for pairs that are alike, which shall be nearer than the threshold b by 1, in squared distance, and -1
for the others, which shall be farther by 1. Shalev-Shwartz, Singer and Ng (2004) learn W and b from nothing.

The threshold is an entry of a larger matrix: diag(W, b - 1), whose last entry cannot be negative, and two more
points that are sqrt(b - 1) apart. What is asked of pairs are then comparisons, d(i, j) - (b - 1) <= 0 or >= 2,
and b^2 / 2 = 1/2 + (b - 1) + (b - 1)^2 / 2. No constraint is left that has to hold.
"""

import math
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from gramlearn._base.arrays import Array, constant, count_true, eye, read, to_numpy
from gramlearn._base.matrices import svd
from gramlearn._base.points import centered
from gramlearn._base.validation import check_extent, check_positive, generator
from gramlearn._base.warnings import warn
from gramlearn.estimators._all_or_nothing import all_or_nothing
from gramlearn.estimators._inputs import validated
from gramlearn.estimators._learning import SolvesProblems, side_of
from gramlearn.estimators._pair_methods import MahalanobisMethods
from gramlearn.methods.metric.maps import FullMap
from gramlearn.problem.constraints import DistanceComparisons, SquaredDistances
from gramlearn.problem.losses import Hinge, Linear
from gramlearn.problem.problem import Term
from gramlearn.problem.regularizers import Frobenius
from gramlearn.side_information import SideInformation, Triplets

_ROUNDING = 1e-14  # of the longest extent


class POLA(SolvesProblems, MahalanobisMethods, BaseEstimator):
    """A metric and the threshold that goes with it, learned together from pairs.

    Parameters
    ----------
    C : float
        The price of a violation: the larger, the more it counts. It is paid for a pair that is not on its side
        of the threshold by 1.
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
    threshold_ : float
        sqrt(b): pairs at most so far apart are alike.
    components_ : array d x d
        L, the symmetric root of W.
    solution_ : Solution
        The certificate, of diag(W, b - 1), with W in an orthonormal basis of the points' span where there are
        more features than points; the objective is `solution_.primal` + 1/2.

    The scale of the points matters, as the margin of 1 does: bring features to one scale, and squared
    distances to about 1, first. It is many times as fast, too.
    """

    _requires_y = True
    _judges_pairs: bool
    _takes_tensors: ClassVar[bool] = True

    def __init__(
        self,
        C: float = 1.0,
        n_pairs: int | None = None,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.n_pairs = n_pairs
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> Self:
        """Learn from labels y, or from `side`: Pairs, or Bounds, of which only near and far counts."""
        X = check_extent(validated(self, X, dtype=np.float64))
        coordinates, basis = _reduce_to_span(X)
        n, d = coordinates.shape
        C = check_positive(self.C, "C", "POLA")
        known = side_of(side, y, n, self.n_pairs, generator(self.random_state))
        i, j, alike = _near_and_far(known)
        weights = known.pair_weights()
        # Rows n and n + 1 are b - 1 apart: the last coordinate is theirs alone.
        points = constant(0.0, coordinates, (n + 2, d + 1))
        points[:n, :d] = coordinates
        points[n + 1, d] = 1.0
        terms = [Term(SquaredDistances([n], [n + 1], points=points), Linear(1.0))]
        for rows, bound in (
            (np.flatnonzero(alike), {"upper": 0.0}),
            (np.flatnonzero(~alike), {"lower": 2.0}),
        ):
            if rows.size:
                ends = (np.full(rows.size, n), np.full(rows.size, n + 1))
                comparisons = DistanceComparisons(i[rows], j[rows], *ends, points=points)
                terms.append(Term(comparisons, Hinge(C, weight=weights[rows], **bound)))
        solution = self._solve(Frobenius(), constant(0.0, points, (d + 1, d + 1)), terms)
        F = solution.factor
        self._map = FullMap((basis @ F[:d, :]).T)
        self.threshold_ = math.sqrt(1 + read(F[d, :] @ F[d, :]))
        self.solution_, self.n_iter_ = solution, max(1, solution.iterations)
        self._judges_pairs = side is not None
        return self


def _reduce_to_span(X: Array) -> tuple[Array, Array]:
    """Points as they are; of more features than points, coordinates in their span, and its basis V, d x r.

    W = V S V': what is asked of W sees no other directions, and in those the least norm is zero.
    """
    n, d = X.shape
    if d <= n:
        return X, eye(d, X)
    U, s, Vt = svd(centered(X))
    kept = count_true(s > _ROUNDING * s[0])
    return U[:, :kept] * s[:kept], Vt[:kept, :].T


def _near_and_far(known: SideInformation) -> tuple[np.ndarray, ...]:
    """(i, j, alike) of the pairs called near or far; warns of others, and raises without both kinds."""
    if isinstance(known, Triplets):
        raise ValueError(
            "`side` holds Triplets, which compare distances with each other and not with a threshold; POLA "
            "learns one, and needs Pairs or Bounds. MetricLearner learns from triplets."
        )
    i, j, alike = (to_numpy(v) for v in known.near_and_far())
    neither = known.size - i.size
    if neither and not i.size:
        raise ValueError(
            f"all {neither} pairs of `side` have an upper and a lower bound, which calls them neither near "
            "nor far; POLA needs pairs with one of the two, or Pairs."
        )
    if neither:
        warn(
            f"{neither} of {known.size} pairs of `side` have an upper and a lower bound, or none, which calls "
            "them neither near nor far; they take no part."
        )
    if alike.all() or not alike.any():
        kind = "alike" if alike.all() else "unlike"
        raise ValueError(
            f"`side` calls all pairs {kind}, which leaves no threshold to learn; POLA needs pairs of both "
            "kinds."
        )
    return i, j, alike
