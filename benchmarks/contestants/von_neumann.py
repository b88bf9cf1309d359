"""gramlearn: the same solver on the von Neumann divergence, which is another objective."""

from collections.abc import Iterator
from typing import final

from benchmarks.contestants import _ours
from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance


@final
class VonNeumannWorkingSet(Contestant):
    """minimise D_vonNeumann(X, I) + KLSlack; the gaps are the certificates of the solution."""

    summary = "gramlearn, VonNeumann + KLSlack (another objective), working-set Newton to 1e-6"
    objective = "von_neumann"
    libraries = ("numpy", "torch:cpu", "torch:cuda")
    packages = ("gramlearn", "numpy", "scipy", "numba", "torch")

    def warm_up(self, instance: Instance) -> None:
        _ours.warm_up(instance, self.objective)

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        return _ours.iterate_answers(instance, limit, self.objective)


CONTESTANT = VonNeumannWorkingSet()
