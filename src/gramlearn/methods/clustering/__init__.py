"""Clusters in feature space, and clusters that keep what is known of pairs."""

from gramlearn.methods.clustering.constrained import constrained_kmeans
from gramlearn.methods.clustering.kernel_kmeans import Clustering, kernel_kmeans

__all__ = ["Clustering", "constrained_kmeans", "kernel_kmeans"]
