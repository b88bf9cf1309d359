"""k(x, y): a kernel as a function of two sets of points.

    GaussianKernel(gamma), ...      one of the families, see `families`
    FunctionKernel(function)        a function k(A, B) of the user's, whose values are checked
    PrecomputedKernel(K)            a matrix, whose points are row numbers
    OneFeature(kernel, feature)     a kernel of one feature alone

`KernelMatrix` is the matrix of a kernel over given points.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from gramlearn._base.arrays import (
    Array,
    as_index,
    as_real,
    concat,
    entries_at,
    is_array,
    is_elsewhere,
    is_finite,
    is_numpy,
    machine_eps,
    namespace,
    placed_like,
    to_numpy,
)
from gramlearn._base.points import rows_at
from gramlearn._base.validation import check_either_way, check_points

_PAIRS_AT_ONCE = 64  # few calls, and no more work than 64 columns


class Kernel(ABC):
    """k(x, y). A class of yours has `words`, `is_psd` and `__call__`, and `paired` where that can be faster."""

    words: str
    """The kernel in a user's words, as in "the kernel ... is not symmetric"."""

    is_psd: bool
    """Whether it is known to be positive semidefinite for all points."""

    is_linear = False
    """Whether it is x'y, so that the features of points are coordinates in its feature space."""

    needs_numpy: ClassVar[bool] = False
    """Whether it compares points in host memory only."""

    @property
    def stored(self) -> Array | None:
        """K, where the kernel is a matrix in memory, which says nothing about two new points."""
        return None

    @abstractmethod
    def __call__(self, A: Array, B: Array) -> Array:
        """All k(a, b): a row for each row of A, a column for each of B."""

    def paired(self, A: Array, B: Array) -> Array:
        """k(a, b) of row t of A with row t of B."""
        xp, parts = namespace(A), []
        for start in range(0, A.shape[0], _PAIRS_AT_ONCE):
            some = slice(start, min(start + _PAIRS_AT_ONCE, A.shape[0]))
            first = A[some, :]
            parts.append(xp.linalg.diagonal(self(first, first if A is B else B[some, :])))
        return concat(parts, as_real(A))

    def rounding_unit(self, points: Array) -> float:
        """The rounding unit of its values."""
        return rounding_unit(self(points[:1, :], points[:1, :]))

    def comparison(self, points: Array) -> Callable[[Any], Array]:
        """A function of new points x, as users give them, that gives k(x, p) for these points p."""
        return Comparison(self, points)


class NumPyOnlyError(TypeError):
    """A kernel that computes with NumPy was given points of another library."""


@final
@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function k(A, B) that gives the matrix of all k(a, b)."""

    function: Callable[[Array, Array], Any]
    words: str
    is_psd: bool = False

    def __call__(self, A: Array, B: Array) -> Array:
        name, values = f"the kernel {self.words}", self._given(A, B)
        n, m = A.shape[0], B.shape[0]
        if tuple(values.shape) != (n, m):
            raise ValueError(
                f"{name} gave an array of shape {tuple(values.shape)} for {n} and {m} points; it must give one "
                f"number for each two of them, shape ({n}, {m})."
            )
        numbers = as_real(check_finite_values(values, self.words))
        if A is B and n:
            check_either_way(numbers, name, rounding_unit(values) ** 0.5)
        return numbers

    def rounding_unit(self, points: Array) -> float:
        return rounding_unit(self._given(points[:1, :], points[:1, :]))

    def _given(self, A: Array, B: Array) -> Array:
        """Numbers, as they came; a function of two vectors, as some libraries want it, is told what it got."""
        try:
            given = self.function(A, B)
        except NumPyOnlyError:
            raise
        except (TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
            raise ValueError(
                f"the kernel {self.words} failed on arrays of {A.shape[0]} and {B.shape[0]} points, one row "
                f"each ({type(error).__name__}: {error}); it must give the matrix of all k(a, b), such as "
                "lambda A, B: A @ B.T."
            ) from error
        try:
            if is_elsewhere(A):  # numbers in host memory go where the points are
                return given if is_elsewhere(given) else placed_like(given, A)
            values = to_numpy(given)
            values.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise TypeError(
                f"the kernel {self.words} gave {given!r:.60}; it must give numbers, one for each two points."
            ) from None
        return values


@final
@dataclass(frozen=True, eq=False, repr=False)
class PrecomputedKernel(Kernel):
    """K as it is. Its points are row numbers, n x 1, and a new point is its kernel values with all of them."""

    K: Array
    words: str = "matrix `X`"
    is_psd: bool = False

    @property
    def stored(self) -> Array:
        return self.K

    def __call__(self, A: Array, B: Array) -> Array:
        rows, columns, xp = A[:, 0], B[:, 0], namespace(self.K)
        if is_numpy(self.K):
            return np.asarray(self.K[np.ix_(rows, columns)])
        if rows.shape[0] < columns.shape[0]:
            return xp.take(rows_at(self.K, rows), as_index(columns, self.K), axis=1)
        return rows_at(xp.take(self.K, as_index(columns, self.K), axis=1), rows)

    def paired(self, A: Array, B: Array) -> Array:
        return entries_at(self.K, A[:, 0], B[:, 0])

    def comparison(self, points: Array) -> Callable[[Any], Array]:
        return LookUp(points[:, 0], self.K.shape[1])

    def __repr__(self) -> str:
        return f"PrecomputedKernel({self.words})"


@final
@dataclass(frozen=True)
class OneFeature(Kernel):
    """A weak kernel: that of one feature alone (F07 2.2)."""

    kernel: Kernel
    feature: int

    @property
    def words(self) -> str:  # type: ignore[override]  # derived from the kernel
        return f"{self.kernel.words} of feature {self.feature}"

    @property
    def is_psd(self) -> bool:  # type: ignore[override]  # as the kernel is
        return self.kernel.is_psd

    def __call__(self, A: Array, B: Array) -> Array:
        first = self._of(A)
        return self.kernel(first, first if A is B else self._of(B))

    def paired(self, A: Array, B: Array) -> Array:
        first = self._of(A)
        return self.kernel.paired(first, first if A is B else self._of(B))

    def _of(self, points: Array) -> Array:
        return points[:, self.feature : self.feature + 1]


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """x -> k(x, p) for these points p."""

    kernel: Kernel
    points: Array

    def __call__(self, X_new: Any) -> Array:
        """A row for each new point."""
        new = read_new_points(X_new, self.points.shape[1])
        return self.kernel(placed_like(new, self.points), self.points)


@final
@dataclass(frozen=True, eq=False)
class LookUp:
    """The same, where new points are given by their kernel values with n points: those of some rows of them."""

    rows: Array
    n_points: int

    def __call__(self, X_new: Any) -> Array:
        """A row for each new point."""
        values = as_real(check_points(X_new, "X_new"))
        if values.shape[1] != self.n_points:
            raise ValueError(
                f"`X_new` has {values.shape[1]} columns, but the kernel was precomputed for {self.n_points} "
                "points; pass the kernel of the new points with all of those, one row a new point."
            )
        return namespace(values).take(values, placed_rows(self.rows, values), axis=1)


@final
@dataclass(frozen=True)
class Features:
    """x -> x, of d features: what a linear kernel compares new points by."""

    d: int

    def __call__(self, X_new: Any) -> Array:
        """The new points, read."""
        return read_new_points(X_new, self.d)


def rounding_unit(values: Any) -> float:
    """The distance from 1 to the next number, of the type that values came in."""
    x = values if is_array(values) else to_numpy(values)
    is_real = not is_numpy(x) or x.dtype.kind in "fiub"
    is_floating = is_real and namespace(x).isdtype(x.dtype, "real floating")
    return machine_eps(x) if is_floating else float(np.finfo(np.float64).eps)


def placed_rows(rows: Array, like: Array) -> Array:
    """Row numbers, where the numbers are that they are taken from."""
    return to_numpy(rows) if is_numpy(like) else as_index(rows, like)


def check_finite_values(values: Array, words: str) -> Array:
    """Refuse NaN and infinity among the values of a kernel."""
    if not is_finite(values):
        raise ValueError(
            f"the kernel {words} gave NaN or infinity; its values must be finite: check its parameters, and "
            "the scale of `X`."
        )
    return values


def read_new_points(X_new: Any, d: int) -> Array:
    """New points, with as many features as those of the kernel."""
    new = as_real(check_points(X_new, "X_new"))
    if new.shape[1] != d:
        raise ValueError(
            f"`X_new` has {new.shape[1]} columns, but the points of the kernel have {d}; pass new points in "
            "the same coordinates."
        )
    return new
