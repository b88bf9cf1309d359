"""Newton on the dual of the constraints that matter; a start for it, or a proof that there is none."""

from gramlearn.solvers.working_set.solver import WorkingSet, WorkingSetState

__all__ = ["WorkingSet", "WorkingSetState"]
