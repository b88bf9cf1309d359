"""gramlearn: Newton on the dual of a working set, LogDet with its slack."""

from collections.abc import Iterator
from typing import final

from benchmarks.contestants import _ours
from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance


@final
class WorkingSet(Contestant):
    """minimise D_logdet(X, I) + LogDetSlack; the gaps are the certificates of the solution."""

    summary = "gramlearn, LogDet + LogDetSlack, working-set Newton to 1e-6"
    libraries = ("numpy", "torch:cpu", "torch:cuda")
    packages = ("gramlearn", "numpy", "scipy", "numba", "torch")

    def warm_up(self, instance: Instance) -> None:
        _ours.warm_up(instance, self.objective, "working_set")

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        return _ours.iterate_answers(instance, limit, self.objective, "working_set")


CONTESTANT = WorkingSet()
