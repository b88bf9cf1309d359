"""K ~= G G': kernels as coordinates in few dimensions."""

from gramlearn.kernels.low_rank.columns import incomplete_cholesky, nystroem
from gramlearn.kernels.low_rank.factor import LowRankKernel
from gramlearn.kernels.low_rank.spectral import spectral_factor

__all__ = ["LowRankKernel", "incomplete_cholesky", "nystroem", "spectral_factor"]
