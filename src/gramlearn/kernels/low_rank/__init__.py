"""K ~= G G': kernels as coordinates in few dimensions."""

from gramlearn.kernels.low_rank.columns import LowRankKernel, incomplete_cholesky, nystroem
from gramlearn.kernels.low_rank.spectral import spectral_factor

__all__ = ["LowRankKernel", "incomplete_cholesky", "nystroem", "spectral_factor"]
