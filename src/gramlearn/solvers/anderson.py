"""x = sum_i a_i T(x_i),    minimize |sum_i a_i (T(x_i) - x_i)| with sum_i a_i = 1: Anderson's acceleration.

Where T is linear around its fixed point, this is what GMRES finds over the last few points: a slow direction of
T costs one of them, in place of many applications. Only the inner products of the residuals T(x_i) - x_i are
needed, scaled to residuals of length one, since the last residuals are far smaller than the first.
"""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from gramlearn._base.arrays import Array, namespace, read

_MOST = 10  # points that are remembered
_RIDGE = 1e-12  # of squared lengths: residuals that are equal up to rounding share their weight


@final
@dataclass(frozen=True, eq=False)
class Memory:
    """The last images T(x_i) with their residuals, and the inner products of these."""

    images: tuple[Array, ...] = ()
    residuals: tuple[Array, ...] = ()
    products: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def with_point(self, x: Array, image: Array) -> "Memory":
        """Remember one more point, in the place of the oldest where there are many."""
        residual = image - x
        xp = namespace(residual)
        kept = self.residuals[-_MOST + 1 :]
        size = len(kept) + 1
        products = np.empty((size, size))
        products[:-1, :-1] = self.products[-size + 1 :, -size + 1 :] if kept else 0.0
        row = [read(xp.sum(other * residual)) for other in (*kept, residual)]
        products[-1], products[:, -1] = row, row
        return Memory((*self.images[-_MOST + 1 :], image), (*kept, residual), products)

    def combine(self) -> Array:
        """The point to go to; the last image itself where a residual is zero."""
        lengths = np.sqrt(np.diag(self.products))
        if not np.all(lengths > 0):
            return self.images[-1]
        scaled = self.products / np.outer(lengths, lengths) + _RIDGE * np.eye(len(lengths))
        a = np.linalg.solve(scaled, 1 / lengths) / lengths
        total = float(np.sum(a))
        # The sum is that of a positive definite form; no number where lengths overflow.
        if not (0 < total < float("inf")):
            return self.images[-1]
        return sum(
            float(weight) * image for weight, image in zip(a / total, self.images, strict=True)
        )
