"""Kernels of points: given, named, of families, along a manifold, and of low rank."""

from gramlearn.kernels.families import (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from gramlearn.kernels.kernel import Kernel, OneFeature
from gramlearn.kernels.low_rank import LowRankKernel, incomplete_cholesky, nystroem, spectral_factor
from gramlearn.kernels.manifold import ManifoldKernel

__all__ = [
    "GaussianKernel",
    "Kernel",
    "LaplacianKernel",
    "LinearKernel",
    "LowRankKernel",
    "ManifoldKernel",
    "OneFeature",
    "PolynomialKernel",
    "SigmoidKernel",
    "incomplete_cholesky",
    "nystroem",
    "spectral_factor",
]
