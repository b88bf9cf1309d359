"""sum over some constraints of stride * ramp(t_k), and nu D_LogDet(X, X0): the problem of a stage of the path.

It has every `stride`-th constraint, a barrier, and ramps of some width in place of kinks.
"""

from dataclasses import dataclass, replace
from typing import final

from gramlearn._base.arrays import Array, scatter
from gramlearn.problem.dual import Dual
from gramlearn.problem.primal import PrimalPoint
from gramlearn.solvers.primal_newton.smoothing import smoothed

REFINEMENT = 4  # how many times more constraints are looked at next
ENOUGH = 0.95  # share of the tolerated gap at which X is certified; rounding may add the rest
LAST = 0.3  # share of the tolerated gap that the barrier may make in the end
NEGLIGIBLE = 0.5  # a barrier of this share of the divergence's second derivative is left out


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """Which problem is being solved: some of the constraints, a barrier, and ramps of some width."""

    stride: int  # only every `stride`-th constraint is looked at, with that many times its weight
    nu: float
    width: float  # 0 where no loss has a kink
    rows: list[Array]
    exact: Dual  # the losses as they are
    is_whole: bool = False  # whether these are all constraints
    centers: list[Array] | None = None  # prices of all constraints, through which the ramps go

    def over(self, rows: list[Array], dual: Dual) -> "Stage":
        """The same stage over these rows of the dual."""
        exact = _weighted(dual.materialize_rows(rows), self.stride)
        return replace(self, rows=rows, exact=exact, is_whole=exact.size == dual.size)

    def smooth(self) -> Dual:
        """The losses of the stage, with ramps in place of kinks."""
        if not self.width:
            return self.exact
        centers = None
        if self.centers is not None:
            centers = [c[rows] for c, rows in zip(self.centers, self.rows, strict=True)]
        return smoothed(self.exact, self.width, centers)

    def all_prices(self, primal: PrimalPoint, dual: Dual) -> list[Array]:
        """The prices of all constraints of the dual, zero where they were not looked at."""
        pieces = zip(self.exact.split(primal.lam), self.rows, dual.parts, strict=True)
        return [scatter(values, rows, part.size) for values, rows, part in pieces]


def _weighted(dual: Dual, factor: float) -> Dual:
    """The dual with so many times the weight on every loss."""
    if factor == 1:
        return dual
    parts = (replace(p, loss=replace(p.loss, weight=factor * p.loss.weight)) for p in dual.parts)
    return replace(dual, parts=tuple(parts))
