"""k(x, y) = f(x'y), f(|x - y|^2) or f(|x - y|_1): base kernels, of all features or of one each.

    gaussian_kernel(mu)                        exp(-mu |x - y|^2)
    laplacian_kernel(mu)                       exp(-mu |x - y|_1)
    linear_kernel()                            x'y
    polynomial_kernel(degree, scale, offset)   (scale x'y + offset)^degree
    sigmoid_kernel(scale, offset)              tanh(scale x'y + offset), which is not positive semidefinite

A family for `KernelDesigner` is a list of them, and of functions k(A, B) that give the matrix of all k(a, b).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import (
    as_numbers,
    check_count,
    check_no_class,
    check_number,
    check_positive,
)
from gramlearn.kernels.kernel import FunctionKernel

__all__ = [
    "BaseKernel",
    "LookedUp",
    "OneFeature",
    "gaussian_kernel",
    "laplacian_kernel",
    "linear_kernel",
    "polynomial_kernel",
    "read_kernels",
    "sigmoid_kernel",
]


class BaseKernel(ABC):
    """k(x, y), for all points of two sets or for one of each."""

    words: str
    """The kernel in a user's words."""

    is_psd: bool
    """Whether it is known to be positive semidefinite, whichever the points are."""

    @abstractmethod
    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """All k(a, b): a row for each row of A, a column for each of B."""

    @abstractmethod
    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """k(a, b) of row t of A with row t of B."""

    def __repr__(self) -> str:
        return self.words


@final
@dataclass(frozen=True, repr=False)
class ProfileKernel(BaseKernel):
    """A function of one measure of two points: their inner product, or a distance."""

    words: str
    measure: str
    profile: Callable[[np.ndarray], np.ndarray]
    is_psd: bool

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._values(_OF_ALL[self.measure](*_two_sets(A, B)))

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._values(_OF_PAIRS[self.measure](*_two_sets(A, B)))

    def _values(self, measured: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.profile(measured)
        if not np.isfinite(values).all():
            raise ValueError(
                f"the kernel {self.words} gave NaN or infinity; its values must be finite: check its "
                "parameters, and the scale of `X`."
            )
        return values


@final
@dataclass(frozen=True, repr=False)
class UsersKernel(BaseKernel):
    """A function k(A, B) of the user's, whose values are checked."""

    function: Callable[[np.ndarray, np.ndarray], Any]
    is_psd: bool = False

    @property
    def words(self) -> str:  # type: ignore[override]  # derived from the function
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._kernel(A).between(A, B)

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._kernel(A).paired(A, B)

    def _kernel(self, points: np.ndarray) -> FunctionKernel:
        name = f"the kernel function `{self.words}`"
        return FunctionKernel(points, self.function, name, float(np.finfo(float).eps))


@final
@dataclass(frozen=True, repr=False)
class OneFeature(BaseKernel):
    """A weak kernel: that of one feature alone (F07 2.2)."""

    kernel: BaseKernel
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
@dataclass(frozen=True, eq=False, repr=False)
class LookedUp(BaseKernel):
    """A kernel that is given as a matrix K; its points are row numbers, n x 1."""

    K: np.ndarray
    words: str
    is_psd: bool = False

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(self.K[np.ix_(A[:, 0], B[:, 0])])

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(self.K[A[:, 0], B[:, 0]])


def gaussian_kernel(mu: float = 1.0) -> BaseKernel:
    """exp(-mu |x - y|^2): the larger mu, the narrower."""
    mu = check_positive(mu, "mu", "gaussian", any_size=True)
    profile = partial(_exponential, rate=mu)
    return ProfileKernel(f"gaussian({mu:.4g})", "squared", profile, is_psd=True)


def laplacian_kernel(mu: float = 1.0) -> BaseKernel:
    """exp(-mu |x - y|_1)."""
    mu = check_positive(mu, "mu", "laplacian", any_size=True)
    profile = partial(_exponential, rate=mu)
    return ProfileKernel(f"laplacian({mu:.4g})", "absolute", profile, is_psd=True)


def linear_kernel() -> BaseKernel:
    """x'y."""
    return ProfileKernel("linear()", "inner", np.asarray, is_psd=True)


def polynomial_kernel(degree: int = 2, scale: float = 1.0, offset: float = 1.0) -> BaseKernel:
    """(scale x'y + offset)^degree."""
    degree = check_count(degree, "degree")
    scale = check_positive(scale, "scale", "polynomial", any_size=True)
    offset = check_number(offset, "offset")
    profile = partial(_power, degree=degree, scale=scale, offset=offset)
    words = f"polynomial({degree}, {scale:.4g}, {offset:.4g})"
    # The powers of x'y that it is a sum of have coefficients >= 0 only where the offset has.
    return ProfileKernel(words, "inner", profile, is_psd=offset >= 0)


def sigmoid_kernel(scale: float = 1.0, offset: float = 0.0) -> BaseKernel:
    """tanh(scale x'y + offset): of use as a similarity, though not positive semidefinite."""
    scale = check_positive(scale, "scale", "sigmoid", any_size=True)
    offset = check_number(offset, "offset")
    profile = partial(_tanh, scale=scale, offset=offset)
    return ProfileKernel(f"sigmoid({scale:.4g}, {offset:.4g})", "inner", profile, is_psd=False)


_NAMED: dict[str, Callable[[], BaseKernel]] = {
    "gaussian": gaussian_kernel,
    "rbf": gaussian_kernel,
    "laplacian": laplacian_kernel,
    "linear": linear_kernel,
    "polynomial": polynomial_kernel,
    "poly": polynomial_kernel,
    "sigmoid": sigmoid_kernel,
}


def read_kernels(kernels: Any) -> tuple[BaseKernel, ...]:
    """A family as users give it: base kernels, names and functions, one or a list of them."""
    given = [kernels] if isinstance(kernels, str) or callable(kernels) else kernels
    if not isinstance(given, Sequence) or not (family := tuple(_read(one) for one in given)):
        raise TypeError(
            f"`kernels` must list base kernels, such as [gaussian_kernel(0.1), linear_kernel()]; got "
            f"{kernels!r:.60}."
        )
    return family


def _read(one: Any) -> BaseKernel:
    if isinstance(one, BaseKernel):
        return one
    if isinstance(one, str) and one in _NAMED:
        return _NAMED[one]()
    if any(one is maker for maker in _NAMED.values()):
        raise TypeError(
            f"`kernels` contains the function {one.__name__} and no kernel; call it: {one.__name__}()."
        )
    if callable(one):
        return UsersKernel(check_no_class(one, "kernels"))
    raise ValueError(
        f"`kernels` contains {one!r:.60}, which is no kernel; pass gaussian_kernel(mu), one of "
        f"{', '.join(map(repr, _NAMED))}, or a function k(A, B). Matrices are passed as X, with "
        'kernels="precomputed".'
    )


def _two_sets(A: Any, B: Any) -> list[np.ndarray]:
    """Points with the same features, one row a point."""
    sets = [
        np.asarray(to_numpy(as_numbers(x, name)), dtype=np.float64)
        for x, name in ((A, "A"), (B, "B"))
    ]
    for x, name in zip(sets, "AB", strict=True):
        if x.ndim != 2:
            raise ValueError(
                f"`{name}` must be two-dimensional, one row a point; got shape {x.shape}."
            )
    if sets[0].shape[1] != sets[1].shape[1]:
        raise ValueError(
            f"`A` has {sets[0].shape[1]} columns and `B` has {sets[1].shape[1]}; pass points with the same "
            "features."
        )
    return sets


def _exponential(distance: np.ndarray, rate: float) -> np.ndarray:
    return np.exp(-rate * distance)


def _power(inner: np.ndarray, degree: int, scale: float, offset: float) -> np.ndarray:
    return np.asarray((scale * inner + offset) ** degree)


def _tanh(inner: np.ndarray, scale: float, offset: float) -> np.ndarray:
    return np.tanh(scale * inner + offset)


def _squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(A, B, "sqeuclidean"))


def _absolute_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(A, B, "cityblock"))


_OF_ALL: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "inner": lambda A, B: A @ B.T,
    "squared": _squared_distances,
    "absolute": _absolute_distances,
}
_OF_PAIRS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "inner": np.vecdot,
    "squared": lambda A, B: np.vecdot(A - B, A - B),
    "absolute": lambda A, B: np.abs(A - B).sum(axis=1),
}
