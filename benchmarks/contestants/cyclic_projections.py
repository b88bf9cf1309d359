"""gramlearn: cyclic Bregman projections with slack, as published (K09 5.1, 6.2.1), LogDet.

The cycles are those of `Projections("cyclic")`, without its certificate after each: the judge has its own, the
same for all contestants.
"""

import time
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from benchmarks.contestants import _ours
from benchmarks.contestants._base import Answer, Contestant, refuse_all_but_itml
from benchmarks.instance import Instance, Spec

_SETTLED = 1e-12  # the relative change of the duals over a cycle below which nothing more happens


@final
class CyclicProjections(Contestant):
    """One projection after another, in one order for all cycles; an answer after a cycle."""

    summary = "gramlearn, cyclic Bregman projections (Kulis et al. 2009, 5.1 and 6.2.1)"
    packages = ("gramlearn", "numpy", "scipy", "numba")

    def refuses(self, spec: Spec) -> str | None:
        return refuse_all_but_itml(spec)

    def warm_up(self, instance: Instance) -> None:
        _Cycles(instance).run()

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        began = time.perf_counter()
        cycles = _Cycles(instance)
        count, shown, change = 0, 0, np.inf
        while change > _SETTLED:
            change = cycles.run()
            count += 1
            seconds = time.perf_counter() - began
            late = seconds > limit
            if count <= 10 or count >= 1.1 * shown or late or change <= _SETTLED:
                shown = count
                yield Answer(seconds, cycles.matrix, note=f"cycle {count}")
                # What the receiver did meanwhile is not counted.
                began = time.perf_counter() - seconds
            if late:
                return


@final
class _Cycles:
    """X and the duals, changed by one cycle after another."""

    def __init__(self, instance: Instance) -> None:
        from gramlearn.solvers.projections.constraint_table import table_of
        from gramlearn.solvers.projections.forms import FORMS_OF_X

        dual = _ours.make_problem(instance).dual
        self._lam = np.zeros(dual.size)
        self._order = np.arange(dual.size)
        self._table = table_of(dual)
        self._X: Any = FORMS_OF_X["inverse"](dual.at(self._lam).conjugate, 1, False)
        self._counts = np.zeros(2, dtype=np.int64)

    def run(self) -> float:
        """Project once on every pair; gives the relative change of the duals."""
        before = self._lam.copy()
        self._X.run(self._order, self._table, self._lam, self._counts)
        return float(np.abs(self._lam - before).sum() / max(np.abs(self._lam).sum(), 1e-300))

    @property
    def matrix(self) -> np.ndarray:
        return np.asarray(self._X.factor @ self._X.factor.T)


CONTESTANT = CyclicProjections()
