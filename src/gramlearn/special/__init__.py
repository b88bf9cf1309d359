"""Problems with names of their own, as special cases of the one problem."""

from gramlearn.special.balanced_cut import BalancedCut, balanced_cut
from gramlearn.special.nearest_correlation import nearest_correlation

__all__ = ["BalancedCut", "balanced_cut", "nearest_correlation"]
