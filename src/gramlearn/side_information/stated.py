"""What statements ask for: columns of row numbers, and a loss with its bound; a term for each kind.

It is the same for statements in memory and for a chunk of those on a disk, so that a sum over chunks is the sum
over all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._base.arrays import Array
from gramlearn._base.validation import describe_value
from gramlearn.problem.constraints import DistanceComparisons, PointConstraints, SquaredDistances
from gramlearn.problem.constraints.indexed import IndexedTerm
from gramlearn.problem.losses import BoundedLoss, Loss
from gramlearn.problem.problem import Term
from gramlearn.side_information.percentiles import check_bounds, check_not_crossed

Offset = Callable[[Array, Array], Any]
Columns = tuple[Array, ...]
# Pairs of one kind: their columns, their bound and their weight.
PairsOfOneKind = tuple[Columns, Any, Any]


@final
@dataclass(frozen=True, eq=False)
class Stated:
    """loss(t_k), t_k what `kind` of constraint makes of the points in these columns."""

    kind: type[PointConstraints]
    columns: Columns
    loss: BoundedLoss

    def term(self, points: Any, n_points: int, offset: Offset) -> Term:
        """As a term over points, or over kernels without any; `offset` gives the fixed part of distances."""
        i = self.columns
        parts = [d.weight * offset(i[d.first], i[d.second]) for d in self.indexed(0).directions]
        fixed = sum(parts[1:], start=parts[0])
        return Term(self.kind(*i, points=points, n_points=n_points, offset=fixed), self.loss)

    def indexed(self, start: int) -> IndexedTerm:
        """As a part of the terms over all chunks, whose first constraint has this place."""
        # The table is that of any constraints of this kind over so many columns.
        directions = self.kind(*([] for _ in self.columns)).directions
        rows = slice(start, start + int(self.columns[0].shape[0]))
        return IndexedTerm(self.columns, directions, self.loss, rows)


def state_pairs(
    loss: BoundedLoss, similar: PairsOfOneKind | None, dissimilar: PairsOfOneKind | None
) -> list[Stated]:
    """d(i, j) <= upper for similar pairs, d(i, j) >= lower for dissimilar ones, where there are such."""
    lists = (("upper", similar), ("lower", dissimilar))
    return [
        Stated(SquaredDistances, given[0], complete(loss, side, *given[1:]))
        for side, given in lists
        if given is not None
    ]


def state_comparisons(
    loss: BoundedLoss, columns: Columns, margin: Any, weight: Any
) -> list[Stated]:
    """d(i, j) - d(i, k) <= -margin, or d(i, j) - d(k, l)."""
    return [Stated(DistanceComparisons, columns, complete(loss, "upper", -margin, weight))]


def own_or_given(own: tuple[Any, Any], bounds: Any) -> tuple[Any, Any]:
    """(upper, lower) of the statements, and those of `bounds` where they have none; None where nobody has."""
    given = check_bounds(bounds)
    check_not_crossed(*given, " in `bounds=(upper, lower)`")
    upper, lower = (other if mine is None else mine for mine, other in zip(own, given, strict=True))
    return upper, lower


def missing_bounds(upper: Any, lower: Any, needed: tuple[bool, bool]) -> str:
    """The names of the bounds that are needed and not known."""
    known = (("upper", upper), ("lower", lower))
    return " and ".join(
        name
        for (name, bound), is_needed in zip(known, needed, strict=True)
        if is_needed and bound is None
    )


def complete(loss: BoundedLoss, kind: str, bound: Any, weight: Any) -> BoundedLoss:
    """The template `loss` with bound and weight; `kind` is "upper", "lower" or "equal"."""
    given: object = loss
    if not isinstance(given, BoundedLoss):
        hint = (
            "It takes none: make a Term(constraints, loss) of it."
            if isinstance(given, Loss)
            else "Pass an object: neither its name nor its class."
        )
        raise TypeError(
            "`loss` must be a loss that takes a bound, such as Hinge(C=1.0); "
            f"got {describe_value(given)}. {hint}"
        )
    if not (loss.upper is None and loss.lower is None and loss.equal is None):
        raise ValueError(
            f"`loss` already has a bound; pass `{type(loss).__name__}` without upper=, lower= and "
            "equal=, which come from the side information."
        )
    return replace(
        loss, **{kind: bound, "weight": loss.weight if weight is None else loss.weight * weight}
    )
