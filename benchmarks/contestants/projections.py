"""gramlearn: Bregman projections in random order, with a certificate now and then."""

from benchmarks.contestants._ours import LibrarySolver

CONTESTANT = LibrarySolver(
    "projections", "gramlearn, random Bregman projections to 1e-6", ("numpy",)
)
