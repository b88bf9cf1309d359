"""K_ij = k(x_i, x_j): the matrix of a kernel over n points, read a few columns at a time.

Low-rank factors need the diagonal of K and some of its columns. A kernel is asked for just those, so that K is
never formed; a precomputed one is looked up.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, final

from gramlearn._base.arrays import (
    Array,
    as_index,
    as_real,
    concat,
    entries_at,
    every_row,
    namespace,
    where_true,
)
from gramlearn._base.points import rows_at
from gramlearn._base.validation import check_points, check_symmetric
from gramlearn.kernels.families import check_name, read_kernel
from gramlearn.kernels.kernel import Kernel, PrecomputedKernel, rounding_unit

_COLUMNS_AT_ONCE = 64


@final
@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """The n x n matrix K of k over n points, and k between those and new ones.

    Attributes
    ----------
    kernel : Kernel
    points : array n x d
        Row numbers, n x 1, where the kernel is precomputed.
    eps : float
        The rounding unit of the kernel's values, as they came.
    """

    kernel: Kernel
    points: Array
    eps: float

    @classmethod
    def precomputed(cls, K: Array, eps: float) -> Self:
        """K as it is."""
        return cls(PrecomputedKernel(K), every_row(K.shape[0], K)[:, None], eps)

    @property
    def tolerance(self) -> float:
        """Half of the digits: a difference below this share of the largest entry may be rounding."""
        return math.sqrt(self.eps)

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.points.shape[0])

    @property
    def stored(self) -> Array | None:
        """K, where it is in memory."""
        return self.kernel.stored

    @property
    def features(self) -> Array | None:
        """Points whose inner products K holds, n x d, where they are at hand."""
        return self.points if self.kernel.is_linear else None

    @property
    def words(self) -> str:
        """The kernel as error messages name it."""
        return f"the kernel {self.kernel.words}"

    def diagonal(self) -> Array:
        """All k(x_i, x_i)."""
        return self.kernel.paired(self.points, self.points)

    def columns(self, rows: Array) -> Array:
        """k(x_i, x_p) for all i, and the p in `rows`: n x len(rows)."""
        return self.kernel(self.points, rows_at(self.points, rows))

    def matrix(self) -> Array:
        """K itself, n x n."""
        return self.kernel(self.points, self.points) if self.stored is None else self.stored

    def entries(self, i: Array, j: Array) -> Array:
        """k(x_i, x_j) of pairs."""
        i, j = (as_index(rows, self.points) for rows in (i, j))
        if self.stored is not None:
            return self.kernel.paired(i[:, None], j[:, None])
        # From columns of the second points, some at a time, so that K is never formed.
        xp = namespace(j)
        columns, place = xp.unique_inverse(j)
        order, found = [], []
        for start in range(0, columns.shape[0], _COLUMNS_AT_ONCE):
            end = min(start + _COLUMNS_AT_ONCE, columns.shape[0])
            block = self.columns(columns[start:end])
            inside = where_true((place >= start) & (place < end))
            order.append(inside)
            of_block = xp.take(i, inside), xp.take(place, inside) - start
            found.append(entries_at(block, *of_block))
        values = concat(found, as_real(self.points))
        return xp.take(values, xp.argsort(xp.concat(order))) if found else values

    def between(self, A: Any, B: Any) -> Array:
        """All k(a, b) of any points; a precomputed kernel does not know them, and raises."""
        self._check_is_function()
        return self.kernel(A, B)

    def paired(self, A: Any, B: Any) -> Array:
        """k(a, b) of row t of A with row t of B; raises likewise."""
        self._check_is_function()
        return self.kernel.paired(A, B)

    def comparison(self, rows: Array) -> Callable[[Any], Array]:
        """A function of new points x that gives k(x, x_p), for the p in `rows`, and keeps no others."""
        return self.kernel.comparison(rows_at(self.points, rows))

    def _check_is_function(self) -> None:
        if self.stored is not None:
            raise ValueError(
                "a precomputed kernel says nothing about two new points; pass new points by their kernel "
                "values with the training points, and no second set."
            )


def read_kernel_matrix(X: Any, kernel: Any, params: Mapping[str, Any]) -> KernelMatrix:
    """Points X with a kernel, its name or a function, or K itself as X with "precomputed"."""
    points = as_real(check_points(X, "X"))
    if isinstance(kernel, str) and kernel == "precomputed":
        check_name(kernel, params)
        eps = rounding_unit(X)
        check_symmetric(points, "X", tolerance=math.sqrt(eps))
        return KernelMatrix.precomputed(points, eps)
    function = read_kernel(kernel, params)
    return KernelMatrix(function, points, function.rounding_unit(points))
