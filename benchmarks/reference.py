"""A lower bound for contestants that have none of their own: a dual value, found by gramlearn to 1e-9.

A lam proves its bound whoever found it, and the judge computes the bound from lam alone; so it does
no harm that one of the contestants finds it.
"""

from dataclasses import dataclass
from typing import Any, final

from benchmarks import judge
from benchmarks.contestants._ours import make_problem, solve_quietly
from benchmarks.instance import Instance

__all__ = ["Reference", "find_reference"]

_TOL = 1e-9


@final
@dataclass(frozen=True)
class Reference:
    """dual <= every primal value; relative_gap says how far below the best known X it lies."""

    dual: float
    relative_gap: float
    status: str


def find_reference(instance: Instance, limit: float = 600.0) -> Reference:
    """Solve to a relative gap of 1e-9, or as near as rounding and `limit` seconds allow."""
    try:
        return _solve(instance, limit)
    except Exception as error:  # answers are then recorded without a bound, and not lost
        return Reference(-float("inf"), float("inf"), f"{type(error).__name__}: {error}")


def _solve(instance: Instance, limit: float) -> Reference:
    solution = solve_quietly(make_problem(instance), tol=_TOL, time_limit=limit)
    lam: Any = instance.xp.concat(solution.duals)
    if instance.spec.is_on_gpu:
        instance.xp.cuda.empty_cache()  # the contestants are other processes on the same device
    bound = judge.dual(instance, lam)
    value = judge.primal(instance, solution.matrix)
    return Reference(bound, judge.relative_gap(value, bound), solution.status.name)
