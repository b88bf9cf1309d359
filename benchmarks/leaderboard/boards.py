"""The boards, by their names."""

from benchmarks.leaderboard.clusters import Clusters
from benchmarks.leaderboard.neighbors import Neighbors
from benchmarks.leaderboard.search import Search

BOARDS = {"neighbors": Neighbors, "search": Search, "clusters": Clusters}
