"""k(x, y) = alpha k0(x, y) + p(x)' (F - alpha I) p(y): a learned kernel as a function of new points (J12 3.4).

p(x) are coordinates of x in an orthonormal basis of k directions of feature space, p(x) = W' k0(X_p, x), so
this is alpha k0 + k1' S k2 with S = W (F - alpha I) W'. It is the kernel of the map alpha I + U (F - alpha I)U'
of that space: what lies outside the basis is only scaled. Without its complement the kernel is p(x)' F p(y),
of rank k.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import Array, clipped, eye
from gramlearn._base.points import row_squares
from gramlearn.kernels.low_rank.factor import LowRankKernel
from gramlearn.kernels.low_rank.spectral import spectral_factor_of
from gramlearn.kernels.matrix import KernelMatrix
from gramlearn.methods.metric.maps import symmetric_root


@final
@dataclass(frozen=True, eq=False)
class KernelMap:
    """The learned kernel.

    Attributes
    ----------
    base : KernelMatrix
        k0, and the training points.
    coordinates : LowRankKernel
        p, and its rows for the training points.
    inner : array k x k
        F.
    alpha : float
        What the complement of the basis is scaled by; 0 where the kernel has none.
    """

    base: KernelMatrix
    coordinates: LowRankKernel
    inner: Array
    alpha: float

    @cached_property
    def root(self) -> Array:
        """F^(1/2)."""
        return symmetric_root(self.inner)

    def with_training(self, X: Any) -> Array:
        """k(x, x_i) for each row x of X, and all training points x_i."""
        p = self.coordinates.transform(X)
        values = p @ self._shifted @ self.coordinates.factor.T
        if self.alpha:
            every = np.arange(self.base.n_points)
            values = values + self.alpha * self.base.comparison(every)(X)
        return values

    def between(self, X: Any, Y: Any) -> Array:
        """k(x, y) for each row x of X and y of Y."""
        first, second = (self.coordinates.transform(Z) for Z in (X, Y))
        values = first @ self._shifted @ second.T
        if self.alpha:
            values = values + self.alpha * self.base.between(X, Y)
        return values

    def training_matrix(self) -> Array:
        """K of the training points."""
        P = self.coordinates.factor
        values = P @ self._shifted @ P.T
        return values + self.alpha * self.base.matrix() if self.alpha else values

    def squared_distances(self, X: Any, Y: Any) -> Array:
        """k(x, x) + k(y, y) - 2 k(x, y) of row k of X with row k of Y."""
        difference = self.coordinates.transform(X) - self.coordinates.transform(Y)
        learned = row_squares(difference @ self.root)
        if not self.alpha:
            return learned
        base = self.base
        plain = base.paired(X, X) + base.paired(Y, Y) - 2 * base.paired(X, Y)
        return learned + self.alpha * clipped(plain - row_squares(difference), low=0.0)

    def transform(self, X: Any) -> Array:
        """Coordinates with the learned kernel as inner products, within the span of the training points."""
        if not self.needs_points:
            return self.coordinates.transform(X) @ self.root
        return self.whole_factor.transform(self.with_training(X))

    @property
    def training_coordinates(self) -> Array:
        """What `transform` gives for the training points."""
        if not self.needs_points:
            return self.coordinates.factor @ self.root
        return self.whole_factor.factor

    @property
    def n_coordinates(self) -> int:
        """The columns of what `transform` gives."""
        found = self.inner if not self.needs_points else self.whole_factor.weights
        return int(found.shape[1])

    @property
    def _shifted(self) -> Array:
        return self.inner - self.alpha * eye(self.inner.shape[0], self.inner)

    @property
    def needs_points(self) -> bool:
        """Whether `transform` asks for all training points: where the rest of them counts, beyond the basis."""
        return bool(self.alpha) and self.coordinates.error > 1e-9 * self.coordinates.trace

    @cached_property
    def whole_factor(self) -> LowRankKernel:
        """Coordinates of all points, n x n or fewer."""
        # The complement has as many dimensions as there are points: a factor of the whole matrix has them.
        return spectral_factor_of(KernelMatrix.precomputed(self.training_matrix(), self.base.eps))
