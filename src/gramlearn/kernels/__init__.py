"""Kernels of points: given, named, of families, along a manifold, and of low rank."""

from gramlearn.kernels.families import (
    BaseKernel,
    gaussian_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    sigmoid_kernel,
)
from gramlearn.kernels.low_rank import LowRankKernel, incomplete_cholesky, nystroem, spectral_factor
from gramlearn.kernels.manifold import ManifoldKernel

__all__ = [
    "BaseKernel",
    "LowRankKernel",
    "ManifoldKernel",
    "gaussian_kernel",
    "incomplete_cholesky",
    "laplacian_kernel",
    "linear_kernel",
    "nystroem",
    "polynomial_kernel",
    "sigmoid_kernel",
    "spectral_factor",
]
