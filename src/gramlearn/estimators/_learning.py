"""D(W, W0) + sum loss -> min: from the words of an estimator's parameters to a problem and its answer."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from gramlearn._progress import progress_bar
from gramlearn._validation import check_choice, check_finite, check_positive, check_symmetric
from gramlearn.losses import (
    BoundedLoss,
    Hard,
    Hinge,
    KLSlack,
    LogDetSlack,
    Square,
    SquaredHinge,
)
from gramlearn.problem import Problem, Term
from gramlearn.regularizers import Frobenius, LogDet, VonNeumann
from gramlearn.side_information import (
    Pairs,
    SideInformation,
    Triplets,
    from_labels,
    percentile_bounds,
)
from gramlearn.side_information.labels import read_labels
from gramlearn.solution import Solution
from gramlearn.solve import solve
from gramlearn.spectral import Regularizer

__all__ = [
    "bounds_of",
    "loss_of",
    "prior_of",
    "reachable",
    "regularizer_of",
    "side_of",
    "solved",
]

_REGULARIZERS: Mapping[str, Regularizer] = {
    "logdet": LogDet(),
    "von_neumann": VonNeumann(),
    "frobenius": Frobenius(),
}
_LOSSES: Mapping[str, Callable[[float], BoundedLoss]] = {
    "slack": LogDetSlack,
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "square": Square,
    "hard": lambda gamma: Hard(),
}
_SLACKS: Mapping[str | None, Callable[[float], BoundedLoss]] = {
    "inverse": LogDetSlack,
    "exponential": KLSlack,
}


def regularizer_of(regularizer: Any) -> Regularizer:
    """A regularizer by its name, or as it is."""
    if isinstance(regularizer, Regularizer):
        return regularizer
    if not isinstance(regularizer, str) or regularizer not in _REGULARIZERS:
        raise ValueError(
            f"`regularizer={regularizer!r}` is not known; choose one of "
            f"{', '.join(map(repr, _REGULARIZERS))}, or pass an object such as Schatten(1.5)."
        )
    return _REGULARIZERS[regularizer]


def loss_of(loss: Any, gamma: Any, regularizer: Regularizer, side: SideInformation) -> BoundedLoss:
    """The loss of one statement, without its bound: by its name with the price gamma, or as it is.

    "slack" is the loss that belongs to the regularizer: LogDetSlack, KLSlack for von Neumann, and SquaredHinge
    for the others. The first two measure t by its logarithm, which a difference of distances has not always:
    comparisons take a Hinge.
    """
    if isinstance(loss, BoundedLoss):
        return loss
    kind = check_choice(loss, "loss", _LOSSES)
    if loss == "slack" and isinstance(side, Triplets):
        kind = Hinge
    elif loss == "slack":
        kind = _SLACKS.get(regularizer.form, SquaredHinge)
    return kind(gamma)


def prior_of(prior: Any, X: Any) -> np.ndarray | None:
    """W0 by its name or as a matrix; None for the identity, which is never written out."""
    d = X.shape[1]
    if isinstance(prior, str):
        check_choice(prior, "prior", {"identity": None, "inverse_covariance": None})
        if prior == "identity":
            return None
        covariance = np.cov(X, rowvar=False) if X.shape[0] > 1 else np.zeros((d, d))
        # A direction in which X does not vary has no inverse variance: it is left out, not made infinite.
        return np.linalg.pinv(np.atleast_2d(covariance), hermitian=True, rtol=1e-12)
    W0 = np.asarray(prior, dtype=np.float64)
    if W0.shape != (d, d):
        raise ValueError(
            f"`prior` has shape {W0.shape}, but X has {d} features; pass a {d} x {d} matrix, or a name."
        )
    check_symmetric(check_finite(W0, "prior"), "prior")
    s = np.linalg.eigvalsh(W0)
    if s[0] < -1e-10 * max(abs(s[-1]), abs(s[0])):
        raise ValueError(
            f"`prior` is not positive semidefinite (least eigenvalue {s[0]:.6g}); clip its negative "
            "eigenvalues."
        )
    return W0


def side_of(
    side: Any, y: Any, n_points: int, n_pairs: int | None, rng: np.random.Generator
) -> SideInformation:
    """What is known of the points: as given, or pairs drawn from the labels."""
    if isinstance(y, SideInformation):
        raise TypeError(f"{type(y).__name__} is side information; pass it as `side=`, not as `y`.")
    if y is not None and (count := read_labels(y)[0].size) != n_points:
        raise ValueError(f"`y` has {count} labels, but `X` has {n_points} rows; pass one for each.")
    if side is None:
        if y is None:
            raise ValueError(
                "nothing is known about the points: this estimator requires y to be passed, but the target y "
                "is None; pass labels as `y`, or `side=Pairs(...)`, Triplets or Bounds."
            )
        return from_labels(y, n_pairs, random_state=rng)
    if not isinstance(side, SideInformation):
        raise TypeError(
            f"`side` must be Pairs, Triplets or Bounds; got {type(side).__name__}. Pairs of row numbers become "
            "Pairs(similar=..., dissimilar=..., n_points=len(X))."
        )
    side.check_fits(n_points)
    return side


def reachable(side: SideInformation, X: Any, loss: BoundedLoss) -> SideInformation:
    """Leave out, with a warning, what asks equal points to lie apart; hard bounds stay, and are refused."""
    mask = side.hopeless(X)
    count = int(np.sum(mask))
    if count == 0 or isinstance(loss, Hard):
        return side
    first = side.describe(int(np.argmax(mask)))
    if count == len(side):
        raise ValueError(
            f"all statements ask points that are equal to lie apart, such as {first}; no metric can do that. "
            "Check X for duplicates."
        )
    warnings.warn(
        f"{count} of {len(side)} statements ask points that are equal to lie apart, such as {first}; no metric "
        "can do that, and they take no part.",
        UserWarning,
        stacklevel=3,
    )
    return side.without(mask)


def bounds_of(
    known: SideInformation, given: Any, percentiles: Any, points: Any, rng: Any
) -> tuple[float, float] | None:
    """(upper, lower) of pairs that have none of their own: as given, or percentiles of squared distances."""
    if not isinstance(known, Pairs) or (known.upper is not None and known.lower is not None):
        return None
    if given is not None:
        return cast(tuple[float, float], given)
    return percentile_bounds(points, percentiles, random_state=rng)


def solved(estimator: Any, regularizer: Regularizer, prior: Any, terms: list[Term]) -> Solution:
    """Solve as the estimator's `solver`, `tol` and `max_iter` say, with a bar where it is `verbose`.

    Contradictions raise InfeasibleError.
    """
    problem = Problem(regularizer, prior, terms)
    tol = check_positive(estimator.tol, "tol", type(estimator).__name__)
    with progress_bar("learning", tol, bool(estimator.verbose)) as callback:
        solution = solve(
            problem, estimator.solver, tol=tol, max_iter=estimator.max_iter, callback=callback
        )
    return solution.or_raise()
