"""Pictures: of an answer, of pairs, of points before and after, of a kernel design."""

from gramlearn.plots.answers import plot_before_after, plot_history, plot_map, plot_pairs
from gramlearn.plots.design import plot_design_path

__all__ = ["plot_before_after", "plot_design_path", "plot_history", "plot_map", "plot_pairs"]
