"""CVXPY with SCS, a first-order conic solver, at several tolerances."""

from collections.abc import Iterator
from typing import final

from benchmarks.contestants import _cvxpy
from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance, Spec


@final
class CvxpySCS(Contestant):
    """The model of `_cvxpy`, solved by SCS; the seconds include the modelling."""

    summary = "CVXPY with SCS, at eps 1e-1, 1e-2, 1e-3, 1e-5 and 1e-7"
    solves = 5
    packages = ("cvxpy", "scs", "numpy")

    def refuses(self, spec: Spec) -> str | None:
        return _cvxpy.refuses(spec)

    def warm_up(self, instance: Instance) -> None:
        import cvxpy  # noqa: F401 - loading it is all there is to do once

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        plan = [
            (f"eps {eps:.0e}", {"eps_abs": eps, "eps_rel": eps, "max_iters": 10_000_000})
            for eps in (1e-1, 1e-2, 1e-3, 1e-5, 1e-7)
        ]
        return _cvxpy.iterate_answers(instance, limit, "SCS", plan, "time_limit_secs")


CONTESTANT = CvxpySCS()
