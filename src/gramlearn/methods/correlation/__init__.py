"""The nearest correlation matrix."""

from gramlearn.methods.correlation.answer import NearestCorrelation
from gramlearn.methods.correlation.nearest import nearest_correlation

__all__ = ["NearestCorrelation", "nearest_correlation"]
