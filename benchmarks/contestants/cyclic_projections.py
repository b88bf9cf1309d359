"""gramlearn: cyclic Bregman projections with slack, as published (K09 5.1, 6.2.1), LogDet."""

from collections.abc import Iterator
from typing import Any, final

from benchmarks.contestants import _ours
from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance

_UNLIMITED = 10**9  # cycles: the clock alone ends it


@final
class CyclicProjections(Contestant):
    """One projection after another, in one order for all cycles; an answer after every cycle."""

    summary = "gramlearn, cyclic Bregman projections (Kulis et al. 2009, 5.1 and 6.2.1) to 1e-6"
    packages = ("gramlearn", "numpy", "scipy", "numba")

    def warm_up(self, instance: Instance) -> None:
        _ours.warm_up(instance, self.objective, _solver())

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        return _ours.answers(instance, limit, self.objective, _solver(), max_iter=_UNLIMITED)


def _solver() -> Any:
    from gramlearn.solvers import Projections

    return Projections("cyclic")


CONTESTANT = CyclicProjections()
