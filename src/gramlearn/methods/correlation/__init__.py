"""The nearest correlation matrix."""

from gramlearn.methods.correlation.nearest import nearest_correlation

__all__ = ["nearest_correlation"]
