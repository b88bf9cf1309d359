"""CVXPY with Clarabel, an interior-point conic solver, at its own tolerance and looser ones."""

from collections.abc import Iterator
from typing import final

from benchmarks.contestants import _cvxpy
from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance, Spec


@final
class CvxpyClarabel(Contestant):
    """The model of `_cvxpy`, solved by Clarabel; the seconds include the modelling."""

    summary = "CVXPY with Clarabel, at tolerances 1e-1, 1e-3, 1e-5 and 1e-8 (its default)"
    solves = 4
    packages = ("cvxpy", "clarabel", "numpy")

    def refuses(self, spec: Spec) -> str | None:
        return _cvxpy.refuses(spec)

    def warm_up(self, instance: Instance) -> None:
        import cvxpy  # noqa: F401 - loading it is all there is to do once

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        plan = [
            (f"tol {tol:.0e}", {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol})
            for tol in (1e-1, 1e-3, 1e-5, 1e-8)
        ]
        return _cvxpy.iterate_answers(instance, limit, "CLARABEL", plan, "time_limit")


CONTESTANT = CvxpyClarabel()
