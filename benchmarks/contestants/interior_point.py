"""gramlearn: interior points, along a path on which no price is at a kink."""

from benchmarks.contestants._ours import LibrarySolver

CONTESTANT = LibrarySolver("interior_point", "gramlearn, interior points to 1e-6")
