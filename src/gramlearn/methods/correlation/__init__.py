"""The nearest correlation matrix."""

from gramlearn.methods.correlation.nearest import nearest_correlation
from gramlearn.methods.correlation.splitting import NearestCorrelation

__all__ = ["NearestCorrelation", "nearest_correlation"]
