"""minimize sum_f D(w_f, w0_f) + sum_k loss_k(d_w(i, j)) over w >= 0: from what is known of points to weights.

The same steps as for a matrix (`metric/fitting`): statements of the side information, with bounds from
distances under the prior, and then the weights.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distances import equal_rows, squared_distances
from gramlearn._base.validation import as_numbers, check_choice, check_finite
from gramlearn.methods.metric.diagonal.method import WeightSolution
from gramlearn.methods.metric.diagonal.problem import WeightProblem
from gramlearn.methods.metric.fitting import Statements, ask, warn_if_all_hold
from gramlearn.methods.metric.maps import column_variances, scaled_columns
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation


class LearnedWeights(NamedTuple):
    """w, its certificate, and the learned distances (not squared) of pairs called near or far."""

    feature_weights: np.ndarray
    solution: WeightSolution
    lengths: np.ndarray
    alike: np.ndarray  # whether a pair was called near
    weights: np.ndarray  # how much a pair counts

    @property
    def root(self) -> np.ndarray:
        """f of diag(w) = diag(f) diag(f)'."""
        return np.sqrt(self.feature_weights)


def learn_weights(
    side: SideInformation,
    loss: BoundedLoss,
    regularizer: Regularizer,
    solve: Callable[[WeightProblem], WeightSolution],
    X: Any,
    prior: np.ndarray,
    bounds: Any,
    percentiles: Any,
    rng: np.random.Generator,
) -> tuple[Statements, LearnedWeights]:
    """What was asked, and the weights learned from it; X may be sparse."""
    points = scaled_columns(X, np.sqrt(prior))
    # A feature without weight keeps none where the range is kept: then points differ by the others alone.
    coincide = partial(equal_rows, points if regularizer.keeps_range else X)
    asked = ask(side, loss, coincide, points, bounds, percentiles, rng)
    return asked, weigh(asked, regularizer, solve, X, prior)


def weigh(
    asked: Statements,
    regularizer: Regularizer,
    solve: Callable[[WeightProblem], WeightSolution],
    X: Any,
    prior: np.ndarray,
) -> LearnedWeights:
    """The weights learned from statements about X, which may be sparse."""
    solution = solve(WeightProblem.of(regularizer, prior, X, asked.terms()))
    warn_if_all_hold(asked.side, solution)
    return measured(asked, solution, solution.weights, X)


def measured(asked: Statements, solution: WeightSolution, w: np.ndarray, X: Any) -> LearnedWeights:
    """What was learned, with the learned distances of the pairs that were called near or far."""
    i, j, alike = (np.asarray(v) for v in asked.side.near_and_far())
    lengths = np.sqrt(squared_distances(scaled_columns(X, np.sqrt(w)), i, j))
    return LearnedWeights(w, solution, lengths, alike, asked.side.pair_weights())


def read_weights(prior: Any, X: Any, *, may_be_zero: bool = False) -> np.ndarray:
    """w0: 1 for each feature, one over its variance, or numbers, as a vector or on a diagonal.

    A feature that does not vary has no inverse variance: its weight is 0. Zero weights alone are for
    regularizers that may leave the range of the prior.
    """
    d = X.shape[1]
    if prior is None:
        return np.ones(d)
    if isinstance(prior, str):
        if not check_choice(prior, "prior", {"identity": False, "inverse_covariance": True}):
            return np.ones(d)
        variances = column_variances(X)
        if not variances.any():
            raise ValueError(
                "`X` does not vary, so it has no inverse covariance; pass points that differ, or another "
                "`prior`."
            )
        return np.divide(1.0, variances, out=np.zeros(d), where=variances > 0)
    given = prior.toarray() if issparse(prior) else prior
    w0 = np.array(to_numpy(as_numbers(given, "prior")), dtype=np.float64)
    if w0.shape not in ((d,), (d, d)):
        raise ValueError(
            f"`prior` has shape {w0.shape}, but X has {d} features; a diagonal metric takes {d} weights, a "
            f"diagonal matrix {d} x {d}, or a name."
        )
    check_finite(w0, "prior")
    if w0.ndim == 2:
        diagonal = w0.diagonal().copy()
        if np.count_nonzero(w0) > np.count_nonzero(diagonal):
            raise ValueError(
                '`prior` has entries off its diagonal, and with `shape="diagonal"` the metric has none; pass '
                "the weights of the features as a vector."
            )
        w0 = diagonal
    if w0.min() < 0:
        raise ValueError(
            f"`prior` has a negative weight ({w0.min():.6g}, of feature {int(np.argmin(w0))}); weights of "
            "features must be at least 0."
        )
    if not (may_be_zero or w0.any()):
        raise ValueError(
            "`prior` is zero, and a metric that stays within its range is zero, too; pass weights of which "
            'some are positive, or "identity".'
        )
    return w0
