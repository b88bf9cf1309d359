"""gramlearn: the solver that the library chooses itself."""

from benchmarks.contestants._ours import LibrarySolver

CONTESTANT = LibrarySolver("auto", "gramlearn, solver=auto to 1e-6")
