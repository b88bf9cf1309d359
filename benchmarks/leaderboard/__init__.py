"""Boards on which methods compete at their defaults: who helps most, on how many sets, and whom it harms."""

from benchmarks.leaderboard.neighbors import Neighbors

BOARDS = {"neighbors": Neighbors}
