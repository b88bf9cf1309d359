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
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_either_way, check_host_points

_PAIRS_AT_ONCE = 64  # few calls, and no more work than 64 columns


class Kernel(ABC):
    """k(x, y). A class of yours has `words`, `is_psd` and `__call__`, and `paired` where that can be faster."""

    words: str
    """The kernel in a user's words, as in "the kernel ... is not symmetric"."""

    is_psd: bool
    """Whether it is known to be positive semidefinite for all points."""

    is_linear = False
    """Whether it is x'y, so that the features of points are coordinates in its feature space."""

    @property
    def stored(self) -> np.ndarray | None:
        """K, where the kernel is a matrix in memory, which says nothing about two new points."""
        return None

    @abstractmethod
    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """All k(a, b): a row for each row of A, a column for each of B."""

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """k(a, b) of row t of A with row t of B."""
        values = np.empty(len(A))
        for start in range(0, len(A), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            first = A[some]
            values[some] = np.diagonal(self(first, first if A is B else B[some]))
        return values

    def rounding_unit(self, points: np.ndarray) -> float:
        """The rounding unit of its values."""
        return rounding_unit(self(points[:1], points[:1]))

    def comparison(self, points: np.ndarray) -> Callable[[Any], np.ndarray]:
        """A function of new points x, as users give them, that gives k(x, p) for these points p."""
        return Comparison(self, points)


@final
@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function k(A, B) that gives the matrix of all k(a, b)."""

    function: Callable[[np.ndarray, np.ndarray], Any]
    words: str
    is_psd: bool = False

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        name, values = f"the kernel {self.words}", self._given(A, B)
        if values.shape != (len(A), len(B)):
            raise ValueError(
                f"{name} gave an array of shape {values.shape} for {len(A)} and {len(B)} points; it must give "
                f"one number for each two of them, shape ({len(A)}, {len(B)})."
            )
        check_finite_values(values, self.words)
        if A is B and A.size:
            check_either_way(values, name, rounding_unit(values) ** 0.5)
        return values.astype(np.float64, copy=False)

    def rounding_unit(self, points: np.ndarray) -> float:
        return rounding_unit(self._given(points[:1], points[:1]))

    def _given(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Numbers, as they came; a function of two vectors, as some libraries want it, is told what it got."""
        try:
            given = self.function(A, B)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise ValueError(
                f"the kernel {self.words} failed on arrays of {len(A)} and {len(B)} points, one row each "
                f"({type(error).__name__}: {error}); it must give the matrix of all k(a, b), such as "
                "lambda A, B: A @ B.T."
            ) from error
        try:
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

    K: np.ndarray
    words: str = "matrix `X`"
    is_psd: bool = False

    @property
    def stored(self) -> np.ndarray:
        return self.K

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(self.K[np.ix_(A[:, 0], B[:, 0])])

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(self.K[A[:, 0], B[:, 0]])

    def comparison(self, points: np.ndarray) -> Callable[[Any], np.ndarray]:
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

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        first = self._of(A)
        return self.kernel(first, first if A is B else self._of(B))

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        first = self._of(A)
        return self.kernel.paired(first, first if A is B else self._of(B))

    def _of(self, points: np.ndarray) -> np.ndarray:
        return points[:, self.feature : self.feature + 1]


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """x -> k(x, p) for these points p."""

    kernel: Kernel
    points: np.ndarray

    def __call__(self, X_new: Any) -> np.ndarray:
        """A row for each new point."""
        return self.kernel(read_new_points(X_new, self.points.shape[1]), self.points)


@final
@dataclass(frozen=True, eq=False)
class LookUp:
    """The same, where new points are given by their kernel values with n points: those of some rows of them."""

    rows: np.ndarray
    n_points: int

    def __call__(self, X_new: Any) -> np.ndarray:
        """A row for each new point."""
        values = check_host_points(X_new, "X_new")
        if values.shape[1] != self.n_points:
            raise ValueError(
                f"`X_new` has {values.shape[1]} columns, but the kernel was precomputed for {self.n_points} "
                "points; pass the kernel of the new points with all of those, one row a new point."
            )
        return values[:, self.rows]


@final
@dataclass(frozen=True)
class Features:
    """x -> x, of d features: what a linear kernel compares new points by."""

    d: int

    def __call__(self, X_new: Any) -> np.ndarray:
        """The new points, read."""
        return read_new_points(X_new, self.d)


def rounding_unit(values: Any) -> float:
    """The distance from 1 to the next number, of the type that values came in."""
    dtype = to_numpy(values).dtype
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


def check_finite_values(values: np.ndarray, words: str) -> np.ndarray:
    """Refuse NaN and infinity among the values of a kernel."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"the kernel {words} gave NaN or infinity; its values must be finite: check its parameters, and "
            "the scale of `X`."
        )
    return values


def read_new_points(X_new: Any, d: int) -> np.ndarray:
    """New points, with as many features as those of the kernel."""
    new = check_host_points(X_new, "X_new")
    if new.shape[1] != d:
        raise ValueError(
            f"`X_new` has {new.shape[1]} columns, but the points of the kernel have {d}; pass new points in "
            "the same coordinates."
        )
    return new
