"""D(W, W0) + sum loss -> min: from the words of an estimator's parameters to a problem and its answer."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from gramlearn._base.validation import (
    check_choice,
    check_flag,
    check_positive,
)
from gramlearn._base.warnings import warn
from gramlearn.estimators._whole import so_far
from gramlearn.problem.losses import (
    BoundedLoss,
    Hard,
    Hinge,
    LogDetSlack,
    Loss,
    Square,
    SquaredHinge,
)
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.solution import Solution, unless_infeasible
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import Status
from gramlearn.side_information import Bounds, Pairs, SideInformation, Triplets
from gramlearn.side_information.base import Coincide
from gramlearn.side_information.percentiles import check_bounds, check_not_crossed, percentiles_of
from gramlearn.side_information.sampling import read_labels
from gramlearn.side_information.triplets import check_triplets
from gramlearn.solvers import warn_unless_solved
from gramlearn.solvers.progress import progress_bar
from gramlearn.solvers.solve import attempt

__all__ = [
    "bounds_of",
    "check_not_side",
    "drop_impossible_statements",
    "loss_of",
    "side_of",
    "solved",
    "triplets_of",
    "warn_if_all_hold",
]

_LOSSES: Mapping[str, Callable[[float], BoundedLoss]] = {
    "slack": LogDetSlack,
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "square": Square,
    "hard": lambda gamma: Hard(),
}


def loss_of(estimator: Any, regularizer: Regularizer, side: SideInformation) -> BoundedLoss:
    """The loss of one statement, without its bound: by its name with the price `gamma`, or as it is.

    "slack" is the loss that belongs to the regularizer: LogDetSlack, KLSlack for von Neumann, and SquaredHinge
    for the others. The first two measure t by its logarithm, which a difference of distances has not always:
    comparisons take a Hinge.
    """
    loss = estimator.loss
    if not isinstance(loss, BoundedLoss):
        kind = check_choice(loss, "loss", _LOSSES)
        if loss == "slack" and isinstance(side, Triplets):
            kind = Hinge
        elif loss == "slack":
            kind = regularizer.slack_loss
        loss = kind(check_positive(estimator.gamma, "gamma", type(estimator).__name__))
    if isinstance(loss, Square) and not (isinstance(side, Bounds) and side.are_targets):
        raise ValueError(
            '`loss="square"` is the squared difference from a target, which only Bounds with equal upper and '
            f'lower have; got {side!r}. Use loss="squared_hinge", or side=Bounds(i, j, upper=t, lower=t, ...).'
        )
    return loss


def side_of(
    side: Any,
    y: Any,
    n_points: int,
    n_drawn: int | None,
    rng: np.random.Generator,
    draw: Callable[..., SideInformation] = Pairs.from_labels,
) -> SideInformation:
    """What is known of the points: as given, or so many pairs, or what `draw` draws, of the labels."""
    check_not_side(y)
    if y is not None and (count := read_labels(y)[0].size) != n_points:
        raise ValueError(f"`y` has {count} labels, but `X` has {n_points} rows; pass one for each.")
    if side is None:
        if y is None:
            raise ValueError(
                "nothing is known about the points: this estimator requires y to be passed, but the target y "
                "is None; pass labels as `y`, or `side=Pairs(...)`, Triplets or Bounds."
            )
        return draw(y, n_drawn, random_state=rng)
    if not isinstance(side, SideInformation):
        raise TypeError(
            f"`side` must be Pairs, Triplets or Bounds; got {type(side).__name__}. Pairs of row numbers become "
            "Pairs(similar=..., dissimilar=..., n_points=len(X))."
        )
    side.check_fits(n_points)
    side.check_not_empty()
    return side


def triplets_of(
    side: Any, y: Any, n_points: int, n_drawn: int | None, rng: np.random.Generator
) -> Triplets:
    """Comparisons, as given, or so many drawn from the labels."""
    check_not_side(y)
    if side is None and y is None:
        raise ValueError(
            "nothing is known about the points: this estimator requires y to be passed, but the target y is "
            "None; pass labels as `y`, or `side=Triplets(rows of (i, j, k), n_points=len(X))`."
        )
    if side is not None:
        check_triplets(side, "side", n_points)
    return cast(Triplets, side_of(side, y, n_points, n_drawn, rng, Triplets.from_labels))


def check_not_side(y: Any) -> None:
    """Refuse pairs in the place of labels."""
    if isinstance(y, SideInformation):
        raise TypeError(f"{type(y).__name__} is side information; pass it as `side=`, not as `y`.")


def drop_impossible_statements(
    side: SideInformation, coincide: Coincide, loss: BoundedLoss
) -> SideInformation:
    """Leave out, with a warning, what asks equal points to lie apart; hard bounds stay, and are refused."""
    mask = side.find_impossible(coincide)
    count = int(np.sum(mask))
    if count == 0 or isinstance(loss, Hard):
        return side
    first = side.describe(int(np.argmax(mask)))
    if count == side.size:
        raise ValueError(
            f"all statements ask points that are equal to lie apart, such as {first}; no metric can do that. "
            "Check X for duplicates."
        )
    warn(
        f"{count} of {side.size} statements ask points that are equal to lie apart, such as {first}; no metric "
        "can do that, and they take no part."
    )
    return side.drop(mask)


def bounds_of(
    known: SideInformation, given: Any, percentiles: Any, points: Any, rng: Any
) -> tuple[float | None, float | None] | None:
    """(upper, lower) of pairs that have none of their own: as given, or percentiles of squared distances."""
    if not isinstance(known, Pairs) or (known.upper is not None and known.lower is not None):
        return None
    upper, lower = check_bounds(given)
    if upper is not None and lower is not None:
        return upper, lower
    if points.shape[1] == 0:
        raise ValueError(
            "`prior` is zero, and bounds are percentiles of distances under it; pass `bounds=(upper, lower)`, "
            "or another `prior`."
        )
    low, high = percentiles_of(points, percentiles, random_state=rng, name="X")
    both = (low if upper is None else upper, high if lower is None else lower)
    check_not_crossed(*both, f"; `bounds={given!r}` leaves one to the percentiles: pass both")
    return both


def solved(estimator: Any, regularizer: Regularizer, prior: Any, terms: list[Term]) -> Solution:
    """Solve as the estimator's `solver`, `tol` and `max_iter` say, with a bar where it is `verbose`.

    What there is to say of the answer is said in the estimator's words. Contradictions raise InfeasibleError.
    """
    for term in terms:
        _check_positive_bounds(term.loss)
    problem = Problem(regularizer, prior, terms)
    tol = check_positive(estimator.tol, "tol", type(estimator).__name__, any_size=True)
    with progress_bar("learning", tol, check_flag(estimator.verbose, "verbose")) as callback:

        def search() -> Solution:
            solution, limits = attempt(problem, estimator.solver, tol, estimator.max_iter, callback)
            warn_unless_solved(solution, limits, "raise tol")
            return solution

        solution = so_far(estimator, search)
    return unless_infeasible(solution, 'loss="slack" or "hinge"', 'loss="hinge" or "squared_hinge"')


def warn_if_all_hold(side: SideInformation, solution: Solution) -> None:
    """Say so where there was nothing to learn: no statement has a price, and the answer is the prior."""
    if solution.status is not Status.OPTIMAL or any(np.any(prices) for prices in solution.duals):
        return
    advice = (
        "raise the margin of the triplets" if isinstance(side, Triplets) else "tighten the bounds"
    )
    warn(
        f"all {side.size} statements hold under the prior already, so the metric is the prior; {advice}."
    )


def _check_positive_bounds(loss: Loss) -> None:
    """A slack measures the ratio of a distance to its bound."""
    if not isinstance(loss, BoundedLoss) or not loss.needs_positive_bound:
        return
    if (least := float(np.min(loss.bound))) <= 0:
        raise ValueError(
            f"a slack is a ratio to its bound, so bounds must be positive; the least is {least:.6g}. Use "
            'loss="hinge" or "squared_hinge", or other bounds.'
        )
