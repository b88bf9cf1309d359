"""gramlearn: Newton on the dual of a working set."""

from benchmarks.contestants._ours import LibrarySolver

CONTESTANT = LibrarySolver("working_set", "gramlearn, working-set Newton on the dual to 1e-6")
