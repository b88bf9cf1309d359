"""Problems with names of their own, as special cases of the one problem."""

from gramlearn.special.nearest_correlation import nearest_correlation

__all__ = ["nearest_correlation"]
