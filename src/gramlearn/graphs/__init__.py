"""Graphs of neighbors, their Laplacians, and new points among old ones."""

from gramlearn.graphs.neighbors import laplacian, neighbor_graph

__all__ = ["laplacian", "neighbor_graph"]
