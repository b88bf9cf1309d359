"""gramlearn: quasi-Newton on a sparse dual; it objects to constraints on points."""

from benchmarks.contestants._ours import LibrarySolver

CONTESTANT = LibrarySolver(
    "quasi_newton", "gramlearn, quasi-Newton on a sparse dual to 1e-6", ("numpy",)
)
