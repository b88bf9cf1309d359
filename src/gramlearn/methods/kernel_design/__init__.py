"""A kernel as a weighted sum of base kernels that keeps comparisons, by linear programs (F07)."""

from gramlearn.methods.kernel_design.answer import KernelDesign
from gramlearn.methods.kernel_design.path import DesignPath
from gramlearn.methods.kernel_design.problem import DesignProblem

__all__ = ["DesignPath", "DesignProblem", "KernelDesign"]
