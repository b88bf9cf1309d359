"""Constraints in shards that stay where they are: on disk, on a device, on the machines of a cluster.

A `Site` has some of the shards, and answers a solve's questions in sums and small matrices. A `PoolOfShards`
asks all sites, through a crew of workers, so that Newton on X works as it does in one memory.
"""

from gramlearn.solvers.shards.checkpoint import Checkpoint
from gramlearn.solvers.shards.forecast import Forecast, Needed
from gramlearn.solvers.shards.pool import PoolOfShards
from gramlearn.solvers.shards.recovering import Recovering
from gramlearn.solvers.shards.site import Site
from gramlearn.solvers.shards.source import Source, Statements

__all__ = [
    "Checkpoint",
    "Forecast",
    "Needed",
    "PoolOfShards",
    "Recovering",
    "Site",
    "Source",
    "Statements",
]
