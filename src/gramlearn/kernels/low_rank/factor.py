"""K ~= G G' with G = K_np W: n points as coordinates in r dimensions, and the residual of K.

A new point x has the coordinates g(x) = W' k(X_p, x), and g(x)' G_i approximates k(x, x_i).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from gramlearn._base.arrays import Array, machine_eps, namespace, placed_like, read
from gramlearn._base.points import row_squares
from gramlearn._base.validation import check_count
from gramlearn.kernels.low_rank.psd_checks import check_entries, check_left
from gramlearn.kernels.matrix import KernelMatrix


@final
@dataclass(frozen=True, eq=False)
class LowRankKernel:
    """K ~= G G', and k(x, x_i) ~= g(x)' G_i for new points x.

    Attributes
    ----------
    factor : array n x r
        G. Its rows are coordinates of the points: squared distances between them are those of the
        kernel, K_ii + K_jj - 2 K_ij, up to the error.
    error : float
        tr(K - G G'), the trace that is left.
    trace : float
        tr K.
    landmarks : vector of row indices
        The points that new ones are compared with; for incomplete Cholesky the pivots in their order. None
        where the features of the points are coordinates of the kernel themselves.
    compare : callable
        Gives the kernel values of new points with the landmarks, or the features of new points.
    weights : array of a row a landmark, or a feature, and r columns
        W in G = K_np W, or in G = X W.
    """

    factor: Array
    error: float
    trace: float
    landmarks: Array
    compare: Callable[[Any], Array]
    weights: Array

    def transform(self, X_new: Any) -> Array:
        """Give g(x) for each row of X_new.

        Parameters
        ----------
        X_new : array m x d
            New points; for a precomputed kernel their kernel values with all n points, m x n.

        Returns
        -------
        array m x r
            New rows of the factor; for the points it was made of, those it has.
        """
        return placed_like(self.compare(X_new), self.weights) @ self.weights

    def __repr__(self) -> str:
        n, r = self.factor.shape
        return (
            f"LowRankKernel({n} points, rank {r}, error {self.error:.3g}, "
            f"{self.error / self.trace:.2g} of the trace)"
        )


def rounding(size: int, diagonal: Array, source: KernelMatrix) -> float:
    """What rounding of its entries can add to a size x size part of K, in the spectral norm."""
    return size * source.eps * read(namespace(diagonal).max(diagonal))


def rounding_of_spectrum(size: int, s: Array, diagonal: Array, source: KernelMatrix) -> float:
    """The same of its eigenvalues, which are rounded once more when they are computed."""
    of_eigenvalues = size * machine_eps(s) * read(namespace(s).max(s))
    return max(rounding(size, diagonal, source), of_eigenvalues)


def finish_factor(
    source: KernelMatrix,
    G: Array,
    diagonal: Array,
    landmarks: Array,
    weights: Array,
    compare: Callable[[Any], Array] | None = None,
) -> LowRankKernel:
    """Measure the residual, K - G G', which is positive semidefinite where K is.

    New points are compared with the landmarks unless `compare` says otherwise.
    """
    left, xp = diagonal - row_squares(G), namespace(G)
    check_left(left, diagonal, source)
    check_entries(G, left, source)
    error = max(read(xp.sum(left)), 0.0)
    compare = source.comparison(landmarks) if compare is None else compare
    return LowRankKernel(G, error, read(xp.sum(diagonal)), landmarks, compare, weights)


def check_rank(rank: Any, n: int) -> int:
    """A number of columns that n points can have."""
    rank = check_count(rank, "rank")
    if rank > n:
        raise ValueError(f"`rank={rank}` is more than the {n} points have; pass at most {n}.")
    return rank
