"""minimize D(M, M0) + sum_k loss_k(d_M(i, j)) over PSD M: from what is known of points to a learned M.

    d_M(i, j) = (p_i - p_j)' M (p_i - p_j) + rest(i, j)

The rows p of P are the points as M sees them: themselves, or coordinates of them in a basis or in the feature
space of a kernel; `rest` is what the coordinates leave out. Every estimator that learns a metric follows the
same steps: `ask` makes statements of the side information, with bounds and the price of a violation, `learn`
solves for M, and the estimator makes a map of new points of it. All of it works on values, so a fit that fails
or is interrupted has changed nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, final

import numpy as np

from gramlearn._base.arrays import (
    Array,
    as_index,
    count_true,
    inverse_or_zero,
    machine_eps,
    namespace,
    read,
    to_numpy,
)
from gramlearn._base.distances import squared_distances
from gramlearn._base.matrices import svd
from gramlearn._base.moving import beside
from gramlearn._base.points import rows_at
from gramlearn._base.validation import check_choice, check_positive
from gramlearn._base.warnings import warn
from gramlearn.problem.losses import BoundedLoss, Hard, Hinge, Square, SquaredHinge
from gramlearn.problem.losses.bounded import PricedLoss
from gramlearn.problem.problem import Term
from gramlearn.problem.solution import Solution
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import Status
from gramlearn.side_information import Bounds, Pairs, SideInformation, Triplets
from gramlearn.side_information.base import Coincide
from gramlearn.side_information.indexing import distinct_numbers
from gramlearn.side_information.percentiles import check_bounds, check_not_crossed, percentiles_of
from gramlearn.side_information.stated import Offset

PERCENTILES = (5.0, 95.0)  # that replace bounds, where no others are given
_MEASURED = 500_000  # pairs that tell what distance parts those that are alike from the others

_LOSSES: Mapping[str, Callable[[float], BoundedLoss]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "square": Square,
    "hard": lambda C: Hard(),
}


def read_loss(
    loss: Any, C: Any, regularizer: Regularizer, side: SideInformation, owner: str
) -> BoundedLoss:
    """The loss of one statement, without its bound: by its name with the price `C`, or as it is.

    "slack" is the loss that belongs to the regularizer: LogDetSlack, KLSlack for von Neumann, and SquaredHinge
    for the others. The first two measure t by its logarithm, and a difference of distances may be negative:
    comparisons take a Hinge.
    """
    if not isinstance(loss, BoundedLoss):
        slack: Any = Hinge if isinstance(side, Triplets) else regularizer.slack_loss
        kinds = {"slack": slack, **_LOSSES}
        price = 1.0 if C is None else check_positive(C, "C", owner)
        loss = check_choice("slack" if loss is None else loss, "loss", kinds)(price)
    if loss.needs_target and not (isinstance(side, Bounds) and side.are_targets):
        raise ValueError(
            '`loss="square"` is the squared difference from a target, which only Bounds with equal upper and '
            f'lower have; got {side!r}. Use loss="squared_hinge", or side=Bounds(i, j, upper=t, lower=t, ...).'
        )
    return loss


def read_template(loss: Any, regularizer: Regularizer, side: SideInformation | None) -> PricedLoss:
    """The loss at the price 1 where the price is to be chosen; SquaredHinge where the loss is, too.

    Without `side`, statements are comparisons of near points.
    """
    if loss is None:
        return SquaredHinge(1.0)
    known = Triplets([[0, 1, 2]], n_points=3) if side is None else side
    return cast(PricedLoss, read_loss(loss, 1.0, regularizer, known, ""))


@final
@dataclass(frozen=True, eq=False)
class Statements:
    """What is asked of squared distances: the side information, what a violation costs, and the bounds.

    `bounds` are (upper, lower) of pairs that have none of their own, or None where all have some.
    """

    side: SideInformation
    loss: BoundedLoss
    bounds: tuple[float | None, float | None] | None

    def terms(self, points: Any = None, rest: Offset | None = None) -> list[Term]:
        """The terms of a problem over M, which measures these points; without points, over their kernel."""
        terms = self.side.bind(self.loss, points, self.bounds, offset=rest)
        if self.loss.needs_positive_bound:
            bounds = [cast(BoundedLoss, term.loss).bound for term in terms]
            if (least := min((read(namespace(b).min(b)) for b in bounds), default=1.0)) <= 0:
                raise ValueError(
                    f"a slack is a ratio to its bound, so bounds must be positive; the least is {least:.6g}. "
                    'Use loss="hinge" or "squared_hinge", or other bounds.'
                )
        return terms


def ask(
    side: SideInformation,
    loss: BoundedLoss,
    coincide: Coincide,
    points: Any,
    bounds: Any,
    percentiles: Any,
    rng: np.random.Generator,
) -> Statements:
    """Make statements of side information: without what no metric can do, and with bounds.

    `points` are those of X as the prior sees them: bounds that are not given are percentiles of the squared
    distances between them. Statements go where these are. `coincide(i, j)` tells which pairs are of two equal
    points.
    """
    side = drop_impossible_statements(beside(side, points), coincide, loss)
    return Statements(side, loss, _find_bounds(side, bounds, percentiles, points, rng))


def drop_impossible_statements(
    side: SideInformation, coincide: Coincide, loss: BoundedLoss
) -> SideInformation:
    """Leave out, with a warning, what asks equal points to lie apart; hard bounds stay, and are refused."""
    mask = side.find_impossible(coincide)
    count = count_true(mask)
    if count == 0 or loss.is_hard:
        return side
    first = side.describe(int(np.argmax(to_numpy(mask))))
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


def _find_bounds(
    side: SideInformation, given: Any, percentiles: Any, points: Any, rng: np.random.Generator
) -> tuple[float | None, float | None] | None:
    if not isinstance(side, Pairs) or (side.upper is not None and side.lower is not None):
        return None
    upper, lower = check_bounds(given)
    if upper is not None and lower is not None:
        return upper, lower
    if points.shape[1] == 0:
        raise ValueError(
            "`prior` is zero, and bounds are percentiles of distances under it; pass `bounds=(upper, lower)`, "
            "or another `prior`."
        )
    chosen = PERCENTILES if percentiles is None else percentiles
    low, high = percentiles_of(points, chosen, random_state=rng, name="X")
    both = (low if upper is None else upper, high if lower is None else lower)
    check_not_crossed(*both, f"; `bounds={given!r}` leaves one to the percentiles: pass both")
    return both


class Learned(NamedTuple):
    """M = F F', its certificate, and the learned distances (not squared) of pairs called near or far."""

    root: Array  # F
    matrix: Array
    solution: Solution
    lengths: Array
    alike: np.ndarray  # whether a pair was called near
    weights: np.ndarray  # how much a pair counts


def learn(
    asked: Statements,
    regularizer: Regularizer,
    solve: Callable[[Regularizer, Any, list[Term]], Solution],
    P: Array,
    prior: Any,
    *,
    rest: Offset | None = None,
    of_kernel: bool = False,
) -> Learned:
    """Learn M from statements about points with coordinates P, n x k; `solve` solves as the user asked for.

    With `of_kernel` the regularizer is applied to the kernel K = P M P' of the points instead of to M, and
    `prior` is the prior of K; P has independent columns then, so that K tells what M is.
    """
    terms = asked.terms(None if of_kernel else P, rest)
    solution = solve(regularizer, prior, terms)
    warn_if_all_hold(asked.side, solution)
    return measured(asked, solution, root_of(solution, P, of_kernel), P, rest)


def keep_prior(
    asked: Statements,
    regularizer: Regularizer,
    solve: Callable[[Regularizer, Any, list[Term]], Solution],
    P: Array,
    prior: Any,
    *,
    rest: Offset | None = None,
    of_kernel: bool = False,
) -> Learned:
    """The prior as an answer of its own, with the distances of what was asked: nothing is learned from it."""
    solution = solve(regularizer, prior, [])
    return measured(asked, solution, root_of(solution, P, of_kernel), P, rest)


def root_of(solution: Solution, P: Array, of_kernel: bool) -> Array:
    """F of M = F F', from M itself or from the kernel P M P' of the points, by least squares."""
    if not of_kernel:
        return solution.factor
    U, s, Vt = svd(P)
    kept = s > max(P.shape) * machine_eps(s) * s[0]
    return Vt.T @ (inverse_or_zero(s, kept)[:, None] * (U.T @ solution.factor))


def measured(
    asked: Statements, solution: Solution, F: Array, P: Array, rest: Offset | None
) -> Learned:
    """What was learned, with the learned distances of the pairs called near or far, or of some of very many."""
    i, j, alike = asked.side.near_and_far()
    alike, weights = to_numpy(alike), asked.side.pair_weights()
    if (count := len(alike)) > _MEASURED:
        some = np.sort(distinct_numbers(np.random.default_rng(0), count, _MEASURED))
        alike, weights = alike[some], weights[some]
        i, j = (rows_at(column, as_index(some, column)) for column in (i, j))
    squared = squared_distances(P @ F, i, j)
    lengths = namespace(F).sqrt(squared if rest is None else squared + rest(i, j))
    return Learned(F, F @ F.T, solution, lengths, alike, weights)


def warn_if_all_hold(side: SideInformation, solution: Any) -> None:
    """Say so where there was nothing to learn: no statement has a price, and the answer is the prior."""
    if solution.status is not Status.OPTIMAL or any(
        namespace(prices).any(prices != 0) for prices in solution.duals
    ):
        return
    is_relative = isinstance(side, Triplets)
    advice = "raise the margin of the triplets" if is_relative else "tighten the bounds"
    warn(
        f"all {side.size} statements hold under the prior already, so the metric is the prior; {advice}."
    )
