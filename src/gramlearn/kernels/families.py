"""k(x, y) = f(x'y), f(|x - y|^2) or f(|x - y|_1): the kernels that have names.

    GaussianKernel(gamma)                    "rbf"           exp(-gamma |x - y|^2)
    LaplacianKernel(gamma)                   "laplacian"     exp(-gamma |x - y|_1)
    LinearKernel()                           "linear"        x'y
    PolynomialKernel(degree, gamma, coef0)   "polynomial"    (gamma x'y + coef0)^degree
    SigmoidKernel(gamma, coef0)              "sigmoid"       tanh(gamma x'y + coef0), which is not PSD

Names, parameters and their defaults are those of scikit-learn; without one, gamma is 1 / d for d features.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from gramlearn._base.arrays import (
    Array,
    as_real,
    decay_over,
    is_elsewhere,
    namespace,
    read,
    together,
)
from gramlearn._base.distances import powers_between
from gramlearn._base.matrices import zero_diagonal
from gramlearn._base.points import row_squares
from gramlearn._base.validation import (
    as_numbers,
    check_choice,
    check_no_class,
    check_number,
    check_positive,
)
from gramlearn.kernels.kernel import FunctionKernel, Kernel, NumPyOnlyError, check_finite_values

_FEW_FEATURES = 8  # up to which differences of points are formed as fast as products of matrices
_LOST = 1e-12  # of a Gaussian, to rounding of squared distances


@dataclass(frozen=True)
class _Family(Kernel):
    """A function of one measure of two points: their inner product, or a distance."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "coef0":
                check_number(value, "coef0")
            elif value is not None:
                check_positive(value, field.name, self.name, any_size=True)

    @property
    def words(self) -> str:  # type: ignore[override]  # derived from the parameters
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        shown = (f"{name}={value:.4g}" for name, value in given.items() if value is not None)
        return f"{self.name}({', '.join(shown)})"

    def __call__(self, A: Array, B: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return check_finite_values(self._of_all(*_two_sets(A, B)), self.words)

    def paired(self, A: Array, B: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return check_finite_values(self._of_pairs(*_two_sets(A, B)), self.words)

    @abstractmethod
    def _of_all(self, A: Array, B: Array) -> Array: ...

    @abstractmethod
    def _of_pairs(self, A: Array, B: Array) -> Array: ...


@dataclass(frozen=True)
class _InnerProductKernel(_Family):
    """A function of x'y."""

    def _of_all(self, A: Array, B: Array) -> Array:
        return self._profile(A @ B.T, A.shape[1])

    def _of_pairs(self, A: Array, B: Array) -> Array:
        return self._profile(namespace(A).vecdot(A, B), A.shape[1])

    @abstractmethod
    def _profile(self, inner: Array, d: int) -> Array: ...


@final
@dataclass(frozen=True)
class GaussianKernel(_Family):
    """exp(-gamma |x - y|^2): the larger gamma, which F07 calls mu, the narrower."""

    gamma: float | None = None
    name = "rbf"
    is_psd = True

    def _of_all(self, A: Array, B: Array) -> Array:
        # |a|^2 + |b|^2 - 2 a'b loses what the points have in common: so the mean is subtracted first, and
        # where points are far from it, relative to 1 / gamma, differences are formed.
        gamma = _rate(self.gamma, A.shape[1])
        if A.shape[1] > _FEW_FEATURES:
            xp = namespace(A)
            origin = xp.mean(B, axis=0)
            first = A - origin
            second = first if A is B else B - origin
            norms = [row_squares(x) for x in (first, second)]
            farthest = max(read(xp.max(x)) if x.shape[0] else 0.0 for x in norms)
            if gamma * farthest * np.finfo(float).eps <= _LOST:
                return _gaussian_of_products(first, second, norms[0], norms[1], gamma)
        return namespace(A).exp(-gamma * powers_between(A, B, 2))

    def _of_pairs(self, A: Array, B: Array) -> Array:
        return namespace(A).exp(-_rate(self.gamma, A.shape[1]) * row_squares(A - B))


@final
@dataclass(frozen=True)
class LaplacianKernel(_Family):
    """exp(-gamma |x - y|_1)."""

    gamma: float | None = None
    name = "laplacian"
    is_psd = True

    def _of_all(self, A: Array, B: Array) -> Array:
        return namespace(A).exp(-_rate(self.gamma, A.shape[1]) * powers_between(A, B, 1))

    def _of_pairs(self, A: Array, B: Array) -> Array:
        xp = namespace(A)
        return xp.exp(-_rate(self.gamma, A.shape[1]) * xp.sum(xp.abs(A - B), axis=1))


@final
@dataclass(frozen=True)
class LinearKernel(_InnerProductKernel):
    """x'y."""

    name = "linear"
    is_psd = True
    is_linear = True

    def _profile(self, inner: Array, d: int) -> Array:
        del d
        return inner


@final
@dataclass(frozen=True)
class PolynomialKernel(_InnerProductKernel):
    """(gamma x'y + coef0)^degree."""

    degree: float = 3
    gamma: float | None = None
    coef0: float = 1.0
    name = "polynomial"

    @property
    def is_psd(self) -> bool:  # type: ignore[override]  # depends on the parameters
        # The powers of x'y that it is a sum of have coefficients >= 0 only where coef0 has.
        return self.coef0 >= 0 and float(self.degree).is_integer()

    def _profile(self, inner: Array, d: int) -> Array:
        return (_rate(self.gamma, d) * inner + self.coef0) ** self.degree


@final
@dataclass(frozen=True)
class SigmoidKernel(_InnerProductKernel):
    """tanh(gamma x'y + coef0): a similarity that is not positive semidefinite."""

    gamma: float | None = None
    coef0: float = 1.0
    name = "sigmoid"
    is_psd = False

    def _profile(self, inner: Array, d: int) -> Array:
        return namespace(inner).tanh(_rate(self.gamma, d) * inner + self.coef0)


_NAMED: dict[str, type[_Family]] = {
    "laplacian": LaplacianKernel,
    "linear": LinearKernel,
    "poly": PolynomialKernel,
    "polynomial": PolynomialKernel,
    "rbf": GaussianKernel,
    "sigmoid": SigmoidKernel,
}
_OTHERS_ARE_PSD = {"additive_chi2": False, "chi2": True, "cosine": True}  # of scikit-learn's
_PARAMETERS: dict[str, frozenset[str]] = {
    "precomputed": frozenset(),
    **dict.fromkeys(_OTHERS_ARE_PSD, frozenset()),
    "chi2": frozenset({"gamma"}),
    **{name: frozenset(f.name for f in fields(family)) for name, family in _NAMED.items()},
}


@final
@dataclass(frozen=True)
class OfScikitLearn:
    """k(A, B) of a kernel that scikit-learn alone has; a gamma of None is its own."""

    name: str
    gamma: float | None = None

    def __call__(self, A: Array, B: Array) -> Array:
        """All k(a, b)."""
        if is_elsewhere(A):
            raise NumPyOnlyError(
                f"the kernel {self.name!r} is scikit-learn's, and works on NumPy arrays alone; pass "
                f"X.cpu().numpy(), or one of {', '.join(map(repr, sorted(_NAMED)))}."
            )
        import sklearn
        from sklearn.metrics.pairwise import pairwise_kernels

        params = {} if self.gamma is None else {"gamma": self.gamma}
        with (
            sklearn.config_context(assume_finite=True),
            np.errstate(over="ignore", invalid="ignore"),
        ):
            return np.asarray(
                pairwise_kernels(A, None if A is B else B, metric=self.name, **params)
            )


def read_kernel(kernel: Any, params: Mapping[str, Any]) -> Kernel:
    """Read what users pass: a kernel, a name of scikit-learn's, or a function k(A, B, **params)."""
    if isinstance(kernel, Kernel):
        if params:
            raise TypeError(
                f"the kernel {kernel.words} has its parameters already; leave out {', '.join(sorted(params))}."
            )
        return kernel
    if callable(check_no_class(kernel, "kernel")):
        name = getattr(kernel, "__name__", type(kernel).__name__)
        return FunctionKernel(partial(kernel, **params) if params else kernel, f"function `{name}`")
    check_name(kernel, params)
    if kernel in _NAMED:
        return _NAMED[kernel](**params)
    if params.get("gamma") is not None:
        check_positive(params["gamma"], "gamma", kernel, any_size=True)
    function = OfScikitLearn(kernel, params.get("gamma"))
    return FunctionKernel(function, repr(kernel), is_psd=_OTHERS_ARE_PSD[kernel])


def works_on_numpy_alone(kernel: Any) -> bool:
    """Whether a kernel, as users give it, compares points in host memory only."""
    is_of_scikit_learn = isinstance(kernel, str) and kernel in _OTHERS_ARE_PSD
    return is_of_scikit_learn or (isinstance(kernel, Kernel) and kernel.needs_numpy)


def check_name(kernel: Any, params: Mapping[str, Any]) -> None:
    """A name that is known, with parameters that it takes."""
    allowed = check_choice(kernel, "kernel", _PARAMETERS)
    unknown = sorted(set(params) - allowed)
    if unknown:
        takes = ", ".join(sorted(allowed)) or "no parameters"
        raise TypeError(f"the kernel {kernel!r} takes {takes}; got {', '.join(unknown)}.")


def read_kernels(kernels: Any) -> tuple[Kernel, ...]:
    """A family as users give it: kernels, names and functions, one or a list of them."""
    given = [kernels] if isinstance(kernels, str) or callable(kernels) else kernels
    if not isinstance(given, Sequence) or not len(given):
        raise TypeError(
            "`kernels` must list base kernels, such as [GaussianKernel(0.1), LinearKernel()]; got "
            f"{kernels!r:.60}."
        )
    names = sorted([*_NAMED, *_OTHERS_ARE_PSD])
    for one in given:
        if not (
            callable(check_no_class(one, "kernels")) or (isinstance(one, str) and one in names)
        ):
            raise ValueError(
                f"`kernels` contains {one!r:.60}, which is no kernel; pass GaussianKernel(gamma), one of "
                f"{', '.join(map(repr, names))}, or a function k(A, B). Matrices are passed as X, with "
                'kernels="precomputed".'
            )
    return tuple(read_kernel(one, {}) for one in given)


def _rate(gamma: float | None, d: int) -> float:
    return 1 / d if gamma is None else float(gamma)


def _gaussian_of_products(A: Array, B: Array, a: Array, b: Array, gamma: float) -> Array:
    """exp(-gamma (|x|^2 + |y|^2 - 2 x'y)), from the squares a and b of the rows; of one set with itself, 1."""
    squared = A @ B.T
    squared *= -2.0
    squared += a[:, None]
    squared += b[None, :]
    squared *= -gamma
    return decay_over(zero_diagonal(squared) if A is B else squared)


def _two_sets(A: Any, B: Any) -> tuple[Array, Array]:
    """Points with the same features, one row a point."""
    first = _points(A, "A")
    second = first if A is B else _points(B, "B")
    if A is not B:
        first, second = together(first, second, ("`A`", "`B`"))
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"`A` has {first.shape[1]} columns and `B` has {second.shape[1]}; pass points with the same "
            "features."
        )
    return first, second


def _points(x: Any, name: str) -> Array:
    points = as_real(as_numbers(x, name))
    if points.ndim != 2:
        raise ValueError(
            f"`{name}` must be two-dimensional, one row a point; got shape {tuple(points.shape)}."
        )
    return points
