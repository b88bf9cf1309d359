"""K_ij = k(x_i, x_j): a kernel given as a matrix, a name or a function, read a few columns at a time.

Low-rank factors need the diagonal of K and some of its columns. A function is asked for just those, so
that K is never formed; a matrix is looked up.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import (
    check_choice,
    check_either_way,
    check_host_points,
    check_no_class,
    check_number,
    check_positive,
    check_symmetric,
)

__all__ = ["FunctionKernel", "Kernel", "PrecomputedKernel", "read_kernel", "read_new_points"]

_PRECOMPUTED = "precomputed"
_POSITIVE = frozenset({"degree", "gamma"})  # parameters of named kernels
_LOST = 1e-12  # of a Gaussian, to rounding of squared distances
_DIAGONAL_BLOCK = 64  # rows a call: few calls, and no more work than 64 columns


class Kernel(ABC):
    """The n x n matrix K of k over n points, and k between those and new ones."""

    eps: float
    """The rounding unit of its values, as they came."""

    @property
    @final
    def tolerance(self) -> float:
        """Half of the digits: a difference below this share of the largest entry may be rounding."""
        return math.sqrt(self.eps)

    @property
    @abstractmethod
    def n_points(self) -> int:
        """How many points there are."""

    @property
    @abstractmethod
    def stored(self) -> np.ndarray | None:
        """K, where it is in memory."""

    @property
    @abstractmethod
    def features(self) -> np.ndarray | None:
        """Points whose inner products K holds, n x d, where they are at hand."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The kernel in the user's words, to begin a sentence with."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """All k(x_i, x_i)."""

    @abstractmethod
    def columns(self, rows: np.ndarray) -> np.ndarray:
        """k(x_i, x_p) for all i, and the p in `rows`: n x len(rows)."""

    @abstractmethod
    def matrix(self) -> np.ndarray:
        """K itself, n x n."""

    @abstractmethod
    def entries(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """k(x_i, x_j) of pairs."""

    @abstractmethod
    def between(self, A: Any, B: Any) -> np.ndarray:
        """All k(a, b) of points that need not be among the n; raises where there is no telling."""

    @abstractmethod
    def paired(self, A: Any, B: Any) -> np.ndarray:
        """k(a, b) of row k of A with row k of B; raises likewise."""

    @abstractmethod
    def comparison(self, rows: np.ndarray) -> Callable[[Any], np.ndarray]:
        """A function of new points x that gives k(x, x_p), for the p in `rows`, and keeps no others."""


@final
@dataclass(frozen=True, eq=False)
class PrecomputedKernel(Kernel):
    """K as it is; a new point is given by its kernel values with all n points."""

    K: np.ndarray
    eps: float

    @property
    def n_points(self) -> int:
        return len(self.K)

    @property
    def stored(self) -> np.ndarray:
        return self.K

    @property
    def features(self) -> None:
        return None

    @property
    def words(self) -> str:
        return "the precomputed kernel `X`"

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.K).copy()

    def columns(self, rows: np.ndarray) -> np.ndarray:
        return self.K[:, rows]

    def matrix(self) -> np.ndarray:
        return self.K

    def entries(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return self.K[i, j]

    def between(self, A: Any, B: Any) -> np.ndarray:
        del A, B
        raise ValueError(
            "a precomputed kernel says nothing about two new points; pass new points by their kernel values "
            "with the training points, and no second set."
        )

    paired = between

    def comparison(self, rows: np.ndarray) -> Callable[[Any], np.ndarray]:
        return partial(_look_up, rows=rows, n_points=self.n_points)


@final
@dataclass(frozen=True, eq=False)
class FunctionKernel(Kernel):
    """k as a function of two sets of points, A and B, that gives the matrix of all k(a, b)."""

    points: np.ndarray
    function: Callable[[np.ndarray, np.ndarray], Any]
    name: str
    eps: float
    is_linear: bool = False

    @property
    def stored(self) -> None:
        return None

    @property
    def features(self) -> np.ndarray | None:
        return self.points if self.is_linear else None

    @property
    def n_points(self) -> int:
        return len(self.points)

    @property
    def words(self) -> str:
        return self.name

    def diagonal(self) -> np.ndarray:
        return self.paired(self.points, self.points)

    def columns(self, rows: np.ndarray) -> np.ndarray:
        return self._values(self.points, self.points[rows])

    def matrix(self) -> np.ndarray:
        return self._values(self.points, self.points)

    def entries(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        # The columns of the second points, so many at a time as a scan of K would take.
        values = np.empty(len(i))
        columns, place = np.unique(j, return_inverse=True)
        for start in range(0, len(columns), _DIAGONAL_BLOCK):
            block = self.columns(columns[start : start + _DIAGONAL_BLOCK])
            inside = np.flatnonzero((place >= start) & (place < start + _DIAGONAL_BLOCK))
            values[inside] = block[i[inside], place[inside] - start]
        return values

    def between(self, A: Any, B: Any) -> np.ndarray:
        return self._values(A, B)

    def paired(self, A: Any, B: Any) -> np.ndarray:
        values = np.empty(len(A))
        for start in range(0, len(A), _DIAGONAL_BLOCK):
            some = slice(start, start + _DIAGONAL_BLOCK)
            first = A[some]
            second = first if A is B else B[some]
            block = self._values(first, second)
            if second is first:
                check_either_way(block, self.words, self.tolerance)
            values[some] = np.diagonal(block)
        return values

    def comparison(self, rows: np.ndarray) -> Callable[[Any], np.ndarray]:
        return replace(self, points=self.points[rows])._with_new

    def _with_new(self, X_new: Any) -> np.ndarray:
        return self._values(read_new_points(X_new, self.points.shape[1]), self.points)

    def _values(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        values = _called(self.function, self.name, A, B).astype(np.float64, copy=False)
        if values.shape != (len(A), len(B)):
            raise ValueError(
                f"{self.name} gave an array of shape {values.shape} for {len(A)} and {len(B)} points; it "
                f"must give one number for each two of them, shape ({len(A)}, {len(B)})."
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"{self.name} gave NaN or infinity; its values must be finite: check its parameters, and the "
                "scale of `X`."
            )
        return values


def read_kernel(X: Any, kernel: Any, params: Mapping[str, Any]) -> Kernel:
    """Read what users pass: points X with a name or a function, or K itself with "precomputed".

    A name is one of `sklearn.metrics.pairwise.pairwise_kernels`, and `params` are its parameters. A
    function k(A, B, **params) gives the matrix of all k(a, b), a row for each row of A.
    """
    points = check_host_points(X, "X")
    if callable(check_no_class(kernel, "kernel")):
        name = f"the kernel function `{getattr(kernel, '__name__', type(kernel).__name__)}`"
        function = partial(kernel, **params)
        value = _called(function, name, points[:1], points[:1])
        return FunctionKernel(points, function, name, _rounding_unit(value))
    known = {_PRECOMPUTED: frozenset[str](), **_parameters_by_name()}
    allowed = check_choice(kernel, "kernel", known)
    unknown = sorted(set(params) - allowed)
    if unknown:
        takes = ", ".join(sorted(allowed)) or "no parameters"
        raise TypeError(f"the kernel {kernel!r} takes {takes}; got {', '.join(unknown)}.")
    for parameter in _POSITIVE & {name for name, value in params.items() if value is not None}:
        check_positive(params[parameter], parameter, kernel, any_size=True)
    if "coef0" in params:
        check_number(params["coef0"], "coef0")
    if kernel == _PRECOMPUTED:
        eps = _rounding_unit(X)
        check_symmetric(points, "X", tolerance=math.sqrt(eps))
        return PrecomputedKernel(points, eps)
    function = partial(_named, name=kernel, **params)
    name = f"the kernel {kernel!r}"
    return FunctionKernel(points, function, name, _rounding_unit(points), kernel == "linear")


def _called(function: Callable[..., Any], name: str, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """k(A, B), numbers; a function of two vectors, as some libraries want it, is told what it was given."""
    try:
        given = function(A, B)
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(
            f"{name} failed on arrays of {len(A)} and {len(B)} points, one row each ({type(error).__name__}: "
            f"{error}); it must give the matrix of all k(a, b), such as lambda A, B: A @ B.T."
        ) from error
    try:
        values = to_numpy(given)
        values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} gave {given!r:.60}; it must give numbers, one for each two points."
        ) from None
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


def _look_up(X_new: Any, rows: np.ndarray, n_points: int) -> np.ndarray:
    values = check_host_points(X_new, "X_new")
    if values.shape[1] != n_points:
        raise ValueError(
            f"`X_new` has {values.shape[1]} columns, but the kernel was precomputed for {n_points} points; "
            "pass the kernel of the new points with all of those, one row a new point."
        )
    return values[:, rows]


def _named(A: np.ndarray, B: np.ndarray, name: str, **params: Any) -> np.ndarray:
    import sklearn
    from sklearn.metrics.pairwise import pairwise_kernels

    # Points were checked when they came in, and values are when they come out.
    with sklearn.config_context(assume_finite=True), np.errstate(over="ignore", invalid="ignore"):
        if name == "rbf":
            return _gaussian(A, B, params.get("gamma"))
        # Told that the two are one, scikit-learn gives the diagonal without rounding.
        values = pairwise_kernels(A, None if A is B else B, metric=name, **params)
    return np.asarray(values)


def _gaussian(A: np.ndarray, B: np.ndarray, gamma: float | None) -> np.ndarray:
    """exp(-gamma |a - b|^2), wherever the points lie: |a|^2 + |b|^2 - 2 a'b loses what it has in common.

    So the mean is subtracted first, and where points are far from it beside 1 / gamma, differences are formed.
    """
    from scipy.spatial.distance import cdist
    from sklearn.metrics.pairwise import rbf_kernel

    gamma = 1 / A.shape[1] if gamma is None else float(gamma)
    origin = B.mean(axis=0)
    first = A - origin
    second = first if A is B else B - origin
    farthest = max(float(np.max(np.sum(x**2, axis=1), initial=0.0)) for x in (first, second))
    if gamma * farthest * np.finfo(float).eps > _LOST:
        return np.asarray(np.exp(-gamma * cdist(A, B, "sqeuclidean")))
    return np.asarray(rbf_kernel(first, None if A is B else second, gamma=gamma))


def _parameters_by_name() -> dict[str, frozenset[str]]:
    from sklearn.metrics.pairwise import KERNEL_PARAMS, kernel_metrics

    return {name: frozenset(KERNEL_PARAMS.get(name, ())) for name in sorted(kernel_metrics())}


def _rounding_unit(values: Any) -> float:
    dtype = to_numpy(values).dtype
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
