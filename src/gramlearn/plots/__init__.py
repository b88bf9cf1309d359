"""Pictures: of an answer, of pairs, of points before and after, of a kernel design, of what was learned.

`report` writes all that was learned into one page.
"""

from gramlearn.plots.answers import plot_before_after, plot_history, plot_map, plot_pairs
from gramlearn.plots.design import plot_design_path
from gramlearn.plots.explanations import (
    plot_feature_importances,
    plot_feature_stretch,
    plot_statements,
)
from gramlearn.plots.report import report

__all__ = [
    "plot_before_after",
    "plot_design_path",
    "plot_feature_importances",
    "plot_feature_stretch",
    "plot_history",
    "plot_map",
    "plot_pairs",
    "plot_statements",
    "report",
]
