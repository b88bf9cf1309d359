"""The mathematics of every part, written again from its definition: h and h*, losses and conjugates, the A_k.

Whoever adds a part to the library adds its row to one of the three tables here; a test compares their keys with
the catalogue of the library.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from stress.arithmetic import Arithmetic

__all__ = ["LOSSES", "MATRICES", "REGULARIZERS", "LossFormula", "RegularizerFormula"]

INF = float("inf")
Reals = np.ndarray


# -- regularizers: phi(X) = sum of h over the eigenvalues ---------------------------------------------


class RegularizerFormula(ABC):
    """h, h' and its growth h'', and h*."""

    keeps_range = False
    needs_interior = False
    is_superlinear = (
        True  # h grows faster than x: no linear term sends the objective to minus infinity
    )

    @abstractmethod
    def h(self, a: Arithmetic, x: Reals) -> Reals:
        """h(x) of x >= 0."""

    @abstractmethod
    def slope(self, a: Arithmetic, x: Reals) -> Reals:
        """h'(x)."""

    @abstractmethod
    def curvature(self, a: Arithmetic, x: Reals) -> Reals:
        """h''(x)."""

    @abstractmethod
    def conjugate(self, a: Arithmetic, y: Reals) -> Reals:
        """h*(y) = sup_x x y - h(x), +inf outside its domain."""

    def prior_rounding(self, a: Arithmetic, size: float) -> float:
        """h* of an eigenvalue that is zero but for rounding, where h*(0) = 0."""
        return 0.0


def _where_positive(x: Reals, function: Callable[[Reals], Reals], otherwise: float) -> Reals:
    positive = x > 0
    return np.where(positive, function(np.where(positive, x, x * 0 + 1)), otherwise)


def _above_minus_one(u: Reals, function: Callable[[Reals], Reals], otherwise: float) -> Reals:
    inside = u > -1
    return np.where(inside, function(np.where(inside, u, u * 0)), otherwise)


@final
class _LogDet(RegularizerFormula):
    """h = -log x, h* = -1 - log(-y)."""

    keeps_range = True
    needs_interior = True
    is_superlinear = False

    def h(self, a: Arithmetic, x: Reals) -> Reals:
        return _where_positive(x, lambda v: -a.log(v), INF)

    def slope(self, a: Arithmetic, x: Reals) -> Reals:
        return -1 / x

    def curvature(self, a: Arithmetic, x: Reals) -> Reals:
        return 1 / (x * x)

    def conjugate(self, a: Arithmetic, y: Reals) -> Reals:
        return _where_positive(-y, lambda v: -a.log(v) - 1, INF)


@final
class _VonNeumann(RegularizerFormula):
    """h = x log x - x, h* = exp y."""

    keeps_range = True

    def h(self, a: Arithmetic, x: Reals) -> Reals:
        return _where_positive(x, lambda v: v * a.log(v) - v, 0.0)

    def slope(self, a: Arithmetic, x: Reals) -> Reals:
        return a.log(x)

    def curvature(self, a: Arithmetic, x: Reals) -> Reals:
        return 1 / x

    def conjugate(self, a: Arithmetic, y: Reals) -> Reals:
        return a.exp(y)


@final
class _Schatten(RegularizerFormula):
    """h = x^p / p, h* = max(y, 0)^q / q with 1/p + 1/q = 1."""

    def __init__(self, p: float = 2.0) -> None:
        self.p = p

    def h(self, a: Arithmetic, x: Reals) -> Reals:
        return a.power(np.maximum(x, 0), self.p) / self.p

    def slope(self, a: Arithmetic, x: Reals) -> Reals:
        return a.power(np.maximum(x, 0), self.p - 1)

    def curvature(self, a: Arithmetic, x: Reals) -> Reals:
        return _where_positive(x, lambda v: (self.p - 1) * a.power(v, self.p - 2), 0.0)

    def conjugate(self, a: Arithmetic, y: Reals) -> Reals:
        p = a.real(self.p)[()]
        q = p / (p - 1)
        return a.power(np.maximum(y, 0), q) / q

    def prior_rounding(self, a: Arithmetic, size: float) -> float:
        return float(self.conjugate(a, a.real([size]))[0])


REGULARIZERS: Mapping[str, Callable[..., RegularizerFormula]] = {
    "LogDet": _LogDet,
    "VonNeumann": _VonNeumann,
    "Frobenius": _Schatten,
    "Schatten": _Schatten,
}


# -- losses: a penalty on the wrong side of b, of strength g ------------------------------------------


class LossFormula(ABC):
    """The two-sided penalty with its conjugate; the side of the bound cuts both to one half."""

    strength: str | None = None  # the parameter that is multiplied by the weight
    is_fixed = False
    open_domain = False  # infinite at the end of the domain, too

    @abstractmethod
    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        """Of t inside the domain."""

    @abstractmethod
    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        """Of lam inside the reach."""

    def reach(self, b: Reals, g: Reals) -> tuple[Reals, Reals]:
        """(least, largest) lam of the two-sided penalty."""
        return -INF + 0 * b, INF + 0 * b

    def domain(self, b: Reals, side: str | None) -> tuple[Reals, Reals]:
        """(least, largest) t at which it is finite."""
        return -INF + 0 * b, INF + 0 * b


@final
class _Hard(LossFormula):
    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        return 0 * t

    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        return lam * b

    def domain(self, b: Reals, side: str | None) -> tuple[Reals, Reals]:
        return (b if side != "upper" else -INF + 0 * b), (b if side != "lower" else INF + 0 * b)


class _Positive(LossFormula):
    """Divergences of t from b, for t > 0; an upper bound never looks at the others."""

    strength = "C"

    @final
    def domain(self, b: Reals, side: str | None) -> tuple[Reals, Reals]:
        return (-INF + 0 * b if side == "upper" else 0 * b), INF + 0 * b


def _log_of_ratio(a: Arithmetic, t: Reals, b: Reals) -> Reals:
    """log(t / b): by log1p where t is near b, and where it is far, t / b - 1 may have lost t to rounding."""
    u = (t - b) / b
    near = abs(u) < 0.5
    return np.where(near, a.log1p(np.where(near, u, 0 * u)), a.log(t / b))


@final
class _LogDetSlack(_Positive):
    open_domain = True

    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        return g * ((t - b) / b - _where_positive(t, lambda v: _log_of_ratio(a, v, b), -INF))

    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        return g * _above_minus_one(-lam * b / g, lambda v: -a.log1p(v), INF)

    def reach(self, b: Reals, g: Reals) -> tuple[Reals, Reals]:
        return -INF + 0 * b, g / b


@final
class _KLSlack(_Positive):
    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        u = (t - b) / b
        return g * b * (_above_minus_one(u, lambda v: (1 + v) * a.log1p(v), 0.0) - u)

    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        return g * b * a.expm1(lam / g)


@final
class _Hinge(LossFormula):
    strength = "C"

    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        return g * abs(t - b)

    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        return lam * b

    def reach(self, b: Reals, g: Reals) -> tuple[Reals, Reals]:
        return -g, g


@final
class _Quadratic(LossFormula):
    strength = "C"

    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        return g * (t - b) * (t - b) / 2

    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        return lam * b + lam * lam / (2 * g)


@final
class _Linear(LossFormula):
    """slope t: the price is the slope, and b is not there."""

    strength = "slope"
    is_fixed = True

    def penalty(self, a: Arithmetic, t: Reals, b: Reals, g: Reals) -> Reals:
        return g * t

    def conjugate(self, a: Arithmetic, lam: Reals, b: Reals, g: Reals) -> Reals:
        return 0 * lam

    def reach(self, b: Reals, g: Reals) -> tuple[Reals, Reals]:
        return g, g


LOSSES: Mapping[str, LossFormula] = {
    "Hard": _Hard(),
    "LogDetSlack": _LogDetSlack(),
    "KLSlack": _KLSlack(),
    "Hinge": _Hinge(),
    "SquaredHinge": _Quadratic(),
    "Square": _Quadratic(),
    "Linear": _Linear(),
}


# -- constraints: t_k = offset_k + <A_k, X>, A_k written out -------------------------------------------


def _outer(x: Any, y: Any) -> Any:
    """The symmetric part of x y', row by row."""
    product = x[:, :, None] * y[:, None, :] + y[:, :, None] * x[:, None, :]
    return product.halved() if hasattr(product, "halved") else product / 2


def _rows(arguments: Mapping[str, Any], dimension: int, a: Arithmetic) -> Callable[[str], Any]:
    """p_i of an index array; without points, the rows of the identity."""
    given = arguments.get("points")
    points = a.data(np.eye(dimension) if given is None else given)
    return lambda name: points[np.asarray(arguments[name], dtype=int)]


def _distances(p: Callable[[str], Any], i: str, j: str) -> Any:
    z = p(i) - p(j)
    return _outer(z, z)


def _second(arguments: Mapping[str, Any]) -> tuple[str, str]:
    return ("i", "k") if arguments.get("l") is None else ("k", "l")


def _squared_distances(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    return _distances(_rows(arguments, n, a), "i", "j")


def _similarities(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    p = _rows(arguments, n, a)
    return _outer(p("i"), p("j"))


def _diagonal(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    p = _rows(arguments, n, a)
    return _outer(p("i"), p("i"))


def _distance_comparisons(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    p = _rows(arguments, n, a)
    return _distances(p, "i", "j") - _distances(p, *_second(arguments))


def _similarity_comparisons(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    p = _rows(arguments, n, a)
    first, second = _second(arguments)
    return _outer(p("i"), p("j")) - _outer(p(first), p(second))


def _trace(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    return a.data(np.eye(n)[None])


def _given(arguments: Mapping[str, Any], n: int, a: Arithmetic) -> Any:
    return a.data(np.asarray(arguments["matrices"], dtype=float).reshape(-1, n, n))


MATRICES: Mapping[str, Callable[[Mapping[str, Any], int, Arithmetic], Any]] = {
    "SquaredDistances": _squared_distances,
    "Similarities": _similarities,
    "DiagonalEntries": _diagonal,
    "DistanceComparisons": _distance_comparisons,
    "SimilarityComparisons": _similarity_comparisons,
    "Trace": _trace,
    "DenseMatrices": _given,
    "SparseMatrices": _given,
}
