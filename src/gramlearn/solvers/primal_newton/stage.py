"""sum over some constraints of stride * ramp(t_k), and nu D_LogDet(X, X0): the problem of a stage of the path.

It has every `stride`-th constraint, a barrier, and ramps of some width in place of kinks.
"""

from dataclasses import dataclass
from typing import Any, final

from gramlearn.problem.pool import Working

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
    prices: Any = None  # of all constraints, through which the ramps go
    working: Working | Any = None  # the constraints at hand, once they have been looked for

    @property
    def is_whole(self) -> bool:
        """Whether these are all constraints."""
        return bool(self.working.is_whole)
