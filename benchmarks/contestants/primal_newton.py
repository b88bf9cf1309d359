"""gramlearn: Newton on X itself."""

from benchmarks.contestants._ours import LibrarySolver

CONTESTANT = LibrarySolver("primal_newton", "gramlearn, Newton on X to 1e-6")
