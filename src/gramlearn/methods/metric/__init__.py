"""Learned metrics as maps of new points (J12), and metrics by semidefinite programs."""

from gramlearn.methods.metric.lmnn_mcml import collapsing_classes_problem, large_margin_problem

__all__ = ["collapsing_classes_problem", "large_margin_problem"]
